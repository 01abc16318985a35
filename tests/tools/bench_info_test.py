# SPDX-License-Identifier: Apache-2.0
"""mlmargin bench and mlmargin info."""

import json
import os
import subprocess
import unittest

from command_case import COMMAND, CommandCase


class BenchInfoTest(CommandCase):
    def test_bench(self):
        text = self.run_command("bench", "--filter", "tiny").stdout
        self.assertIn("tiny/16", text)
        result = json.loads(self.run_command("bench", "--filter", "tiny", "--json").stdout)
        self.assertEqual([case["name"] for case in result["cases"]], ["tiny/16", "tiny/2"])
        self.assertGreater(result["cases"][0]["seconds"], 0)
        self.assert_error("no shape has 'nothing' in its name", "bench", "--filter", "nothing")

    def test_info_says_where_settings_come_from(self):
        slowest = json.loads(self.run_command("info", "--json").stdout)["targets"][-1]
        environment = dict(os.environ, MLMARGIN_NUM_THREADS="1", MLMARGIN_TARGET=slowest,
                           MLMARGIN_LABEL_CHECK="loud")
        done = subprocess.run([COMMAND, "info", "--json"], capture_output=True, text=True,
                              check=True, env=environment)
        result = json.loads(done.stdout)
        self.assertEqual((result["threads"], result["target"]), (1, slowest))
        settings = result["settings"]
        self.assertEqual(settings["MLMARGIN_NUM_THREADS"], {"value": "1", "source": "environment"})
        self.assertEqual(settings["MLMARGIN_LABEL_CHECK"]["value"], "warn")
        self.assertIn('"loud" in the environment was not understood',
                      settings["MLMARGIN_LABEL_CHECK"]["source"])
        self.assertEqual(settings["MLMARGIN_DEVICE_COUNT"], {"value": "1", "source": "default"})


if __name__ == "__main__":
    unittest.main()

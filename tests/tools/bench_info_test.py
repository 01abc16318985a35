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

    def test_info_says_which_settings_of_devices_are_not_in_force(self):
        cases = {"MLMARGIN_DEVICE_COUNT": ("1", ["0", "zero", "65", "2x"], ["2", "64"]),
                 "MLMARGIN_DEVICE_MEMORY": ("shared", ["isolate"], ["isolated", "shared"]),
                 "MLMARGIN_RACE_CHECK": ("0", ["yes"], ["0", "1"])}
        for variable, (default, bad, good) in cases.items():
            for value in bad + good + [""]:
                done = subprocess.run([COMMAND, "info", "--json"], capture_output=True, text=True,
                                      check=True, env=dict(os.environ, **{variable: value}))
                source = "environment"
                if value in bad:
                    source = f'default; "{value}" in the environment was not understood'
                elif not value:
                    source = "default"
                self.assertEqual(json.loads(done.stdout)["settings"][variable],
                                 {"value": value if value in good else default, "source": source})


if __name__ == "__main__":
    unittest.main()

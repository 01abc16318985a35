# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmark briefly and makes its page twice; looks at the form of both, at no time.

Usage: quick_test.py <mlmargin_bench> <report.py> [<module_bench.py>]
"""

import json
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

BENCH, REPORT = sys.argv[1:3]
MODULE_BENCH = sys.argv[3] if len(sys.argv) > 3 else None
HAND_WRITTEN = "Written by hand: 2 < 3."


class QuickTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_bench(self, *arguments):
        figures = self.folder / "figures.json"
        subprocess.run([BENCH, "--quick", "--no-pytorch", "--json", figures, *arguments],
                       check=True, timeout=100, stdout=subprocess.DEVNULL)
        return json.loads(figures.read_text(encoding="utf-8"))

    def test_figures_and_page(self):
        data = self.run_bench("--filter", "tiny")
        # 2 shapes, 3 x 2 types and 2 passes besides, one or two numbers of threads.
        self.assertIn(len(data["cases"]), (16, 32))
        for case in data["cases"]:
            for key in ("rows", "classes", "labels", "threads", "turns", "seconds",
                        "median_seconds", "floor_seconds", "streamed_floor_seconds", "ratio",
                        "bytes_per_second"):
                self.assertGreater(case[key], 0, (key, case))
            self.assertIsNone(case["pytorch"])

        page = self.folder / "docs" / "page.md"
        self.make_page(page)
        text = page.read_text(encoding="utf-8")
        self.assertIn("4,096 × 2 |", text)
        self.assertIn("| Floor, streamed |", text)
        self.assertIn("## Gradients", text)
        self.assertNotIn("## The PyTorch module", text)
        page.write_text(text.replace("hand -->", "hand -->" + HAND_WRITTEN), encoding="utf-8")
        self.make_page(page)
        self.assertIn(HAND_WRITTEN, page.read_text(encoding="utf-8"))
        plots = list((self.folder / "docs" / "page").glob("*.svg"))
        self.assertEqual([plot.name for plot in plots], ["ratio.svg"])
        for plot in plots:
            xml.etree.ElementTree.parse(plot)

    @unittest.skipUnless(MODULE_BENCH, "without the PyTorch package")
    def test_module(self):
        module = self.folder / "module.json"
        subprocess.run(["/usr/bin/python3", "-B", MODULE_BENCH, "--quick", module], check=True,
                       timeout=300, stdout=subprocess.DEVNULL)
        data = json.loads(module.read_text(encoding="utf-8"))
        self.assertGreater(len(data["shapes"]), 5)
        for case in data["shapes"]:
            for key in ("forward_seconds", "backward_seconds", "pytorch_forward_seconds",
                        "pytorch_backward_seconds", "speed_up"):
                self.assertGreater(case[key], 0, (key, case))
        self.run_bench("--filter", "small-call")
        page = self.folder / "page.md"
        self.make_page(page, module)
        self.assertIn("## The PyTorch module", page.read_text(encoding="utf-8"))

    def test_small_call(self):
        data = self.run_bench("--filter", "small-call")
        self.assertEqual(data["cases"], [])
        self.assertGreater(data["small_call"]["seconds"], 0)
        self.assertIsNone(data["small_call"]["pytorch"])

    def test_unknown_case(self):
        done = subprocess.run([BENCH, "--filter", "no such"], check=False, timeout=100,
                              capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no such", done.stderr)

    def make_page(self, page, *module):
        subprocess.run(["/usr/bin/python3", "-B", REPORT, self.folder / "figures.json", *module,
                        page], check=True, timeout=100)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

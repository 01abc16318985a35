# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/pytorch.md run as they stand."""

import re
import subprocess
import sys
import unittest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/pytorch.md"


class Examples(unittest.TestCase):

    def test_each_example_runs_by_itself(self):
        text = PAGE.read_text(encoding="utf-8")
        examples = list(re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
        self.assertGreaterEqual(len(examples), 5)
        for example in examples:
            line = text.count("\n", 0, example.start()) + 2
            with self.subTest(line=line):
                subprocess.run([sys.executable, "-c", example.group(1)], check=True, timeout=60)


if __name__ == "__main__":
    unittest.main()

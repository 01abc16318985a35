# SPDX-License-Identifier: Apache-2.0
"""The Python examples of the pages run as they stand."""

import re
import subprocess
import sys
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


class Examples(unittest.TestCase):

    def check(self, page, at_least):
        text = (REPOSITORY / page).read_text(encoding="utf-8")
        examples = list(re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
        self.assertGreaterEqual(len(examples), at_least)
        for example in examples:
            line = text.count("\n", 0, example.start()) + 2
            with self.subTest(line=line):
                subprocess.run([sys.executable, "-c", example.group(1)], check=True, timeout=60)

    def test_the_page_for_pytorch(self):
        self.check("docs/pytorch.md", 5)

    def test_the_readme(self):
        self.check("README.md", 1)


if __name__ == "__main__":
    unittest.main()

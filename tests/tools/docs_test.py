# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of a page: its python blocks, and the commands of its console blocks, which must
print what the page shows. A line of ... stands for any lines.

Usage: docs_test.py <page> <program>
"""

import os
import re
import subprocess
import sys
import tempfile


def commands_of(block):
    """Pairs of a command and its output."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def matches(expected, got):
    pattern = re.escape(expected).replace(re.escape("...\n"), "(.*\n)*")
    return re.fullmatch(pattern, got) is not None


def main():
    page, program = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        blocks = re.findall(r"^```(python|console)\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
    environment = os.environ | {"PATH": f"{os.path.dirname(program)}:{os.environ['PATH']}"}
    wrong = ran = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind, block in blocks:
            if kind == "python":
                subprocess.run(["/usr/bin/python3", "-c", block], cwd=folder, check=True, timeout=120)
                continue
            for command, expected in commands_of(block):
                got = subprocess.run(command, shell=True, cwd=folder, env=environment, text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                                     timeout=120).stdout
                ran += 1
                if not matches(expected, got):
                    wrong += 1
                    print(f"$ {command}\n--- the page shows\n{expected}--- it printed\n{got}")
    if wrong or ran == 0:
        sys.exit(f"{wrong} of {ran} commands differ")
    print(f"{ran} commands")


main()

# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of a page: its python blocks, and the commands of its console blocks, which must
print what the page shows. A line of ... stands for any lines, and ... in a line for anything there.

Usage: docs_test.py <page> <program> [<folder>]

The program's folder goes in front of PATH; with set_env.sh in the folder above that, its environment
is taken. The files of the third folder are there, too.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile


def commands_of(block):
    """Pairs of a command and its output."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def matches(expected, got):
    lines = ["(.*\n)*" if line == "...\n" else re.escape(line).replace(re.escape("..."), ".*")
             for line in expected.splitlines(keepends=True)]
    return re.fullmatch("".join(lines), got) is not None


def main():
    page, program, *folders = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        blocks = re.findall(r"^```(python|console)\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
    environment = os.environ | {"PATH": f"{os.path.dirname(program)}:/usr/bin:{os.environ['PATH']}"}
    set_env = os.path.join(os.path.dirname(program), "..", "set_env.sh")
    prelude = f". {set_env}; " if os.path.exists(set_env) else ""
    wrong = ran = 0
    with tempfile.TemporaryDirectory() as folder:
        for more in folders:
            shutil.copytree(more, folder, dirs_exist_ok=True)
        for kind, block in blocks:
            if kind == "python":
                subprocess.run(["bash", "-c", prelude + 'python3 -B -c "$0"', block], cwd=folder,
                               env=environment, check=True, timeout=120)
                continue
            for command, expected in commands_of(block):
                got = subprocess.run(["bash", "-c", prelude + command], cwd=folder, env=environment,
                                     text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     check=False, timeout=120).stdout
                ran += 1
                if not matches(expected, got):
                    wrong += 1
                    print(f"$ {command}\n--- the page shows\n{expected}--- it printed\n{got}")
    if wrong or ran == 0:
        sys.exit(f"{wrong} of {ran} commands differ")
    print(f"{ran} commands")


main()

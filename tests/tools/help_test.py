# SPDX-License-Identifier: Apache-2.0
"""The manual page and the completions of mlmargin have what --help has, no more and no less.

Usage: help_test.py <folder of the manual page> <folder of the completions> (the program is
COMMAND_UNDER_TEST)
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["COMMAND_UNDER_TEST"]
MANUAL, BASH, ZSH = (os.path.join(folder, name) for folder, name in
                     zip(sys.argv[1:2] + 2 * sys.argv[2:3], ("mlmargin.1", "mlmargin.bash", "_mlmargin")))


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60, **more).stdout


def options_of(*command):
    return set(re.findall(r"^ +(?:-\w,)?(--[a-z]+)", run(COMMAND, *command, "--help"), re.MULTILINE))


def commands():
    listed = run(COMMAND, "--help").partition("Subcommands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^ +([a-z]+) ", listed, re.MULTILINE)


COMMANDS = commands()


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def complete(*words, folder="/"):
    """What bash offers at the last of the words."""
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mlmargin; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    return set(run("bash", "-c", script, "bash", BASH, "mlmargin", *words, cwd=folder).split())


class HelpTest(unittest.TestCase):
    def test_the_manual_has_every_option_and_command(self):
        text = read(MANUAL).replace("\\-", "-")
        everything = options_of().union(*map(options_of, COMMANDS))
        listed = set(re.findall(r"^\.(?:B|BI|BR) (?:-h \", \" )?(--[a-z]+)", text, re.MULTILINE))
        self.assertEqual(listed, everything)
        self.assertEqual(re.findall(r"^\.B mlmargin ([a-z]+)$", text, re.MULTILINE), COMMANDS)

    def test_the_manual_formats_without_a_warning(self):
        done = subprocess.run(["groff", "-man", "-ww", "-Tascii", MANUAL], capture_output=True,
                              text=True, check=True)
        self.assertEqual(done.stderr, "")
        self.assertIn("multilabel margin loss", done.stdout)

    def test_bash_offers_the_commands_and_their_options(self):
        self.assertEqual(complete(""), set(COMMANDS) | options_of())
        self.assertEqual(complete("l"), {"loss"})
        for command in COMMANDS:
            self.assertEqual(complete(command, "--"), options_of(command))
        self.assertEqual(complete("loss", "--reduction", ""), {"none", "mean", "sum"})
        self.assertEqual(complete("loss", "--threads", ""), set())

    def test_bash_offers_files_of_arrays(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in "a.npy", "b.npz", "c.txt":
                with open(os.path.join(folder, name), "w", encoding="utf-8"):
                    pass
            os.mkdir(os.path.join(folder, "deeper"))
            for words in [("check", ""), ("check", "x", ""), ("loss", "--mask", "")]:
                self.assertEqual(complete(*words, folder=folder), {"a.npy", "b.npz", "deeper"})
            self.assertEqual(complete("check", "a", folder=folder), {"a.npy"})

    def test_zsh_has_the_same(self):
        text = read(ZSH)
        everything = options_of().union(*map(options_of, COMMANDS))
        self.assertEqual(set(re.findall(r"'(--[a-z]+)\[", text)), everything)
        self.assertEqual(re.findall(r"^ +'([a-z]+)\[", text, re.MULTILINE), COMMANDS)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

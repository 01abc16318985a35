# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command mlmargin share: a batch, its files, and runs of the program, which is
COMMAND_UNDER_TEST."""

import os
import subprocess
import tempfile
import unittest

import numpy as np

COMMAND = os.environ["COMMAND_UNDER_TEST"]


def labels_of(row):
    return list(row[:list(row).index(-1)]) if -1 in row else list(row)


class CommandCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        random = np.random.default_rng(5)
        self.scores = random.standard_normal((7, 6)).astype(np.float32)
        self.padded = np.full((7, 6), -1, np.int64)
        for row, count in zip(self.padded, [2, 1, 3, 0, 6, 2, 1]):
            row[:count] = random.permutation(6)[:count]
        self.lists = [labels_of(row) for row in self.padded]
        self.multihot = np.zeros((7, 6), np.uint8)
        for n, listed in enumerate(self.lists):
            self.multihot[n, listed] = 1

    def path(self, name):
        return os.path.join(self.folder, name)

    def save(self, name, array):
        np.save(self.path(name), array)
        return self.path(name)

    def run_command(self, *arguments, status=0):
        done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False,
                              timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def assert_error(self, text, *arguments):
        done = self.run_command(*arguments, status=2)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.stdout, "")

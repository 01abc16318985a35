# SPDX-License-Identifier: Apache-2.0
"""examples/train_debtags on a made-up index of 40 packages."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "train_debtags"
INDEX = Path(__file__).parent / "data" / "packages.txt"
sys.path.insert(0, str(EXAMPLE))

import data  # noqa: E402

NUMBER = r"\s+(\d+\.\d+)"


def run(*arguments):
    return subprocess.run([sys.executable, str(EXAMPLE / "train.py"), "--architecture", "amd64",
                           *arguments], capture_output=True, text=True, timeout=120)


class InTemporaryFolder(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def train(self, *arguments, index=INDEX):
        """What it prints."""
        ended = run("--packages", str(index), "--plot", str(self.folder / "new" / "plot.png"),
                    "--batch-size", "8", *arguments)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stderr, "")
        return ended.stdout

    def assert_refused(self, *words, arguments):
        ended = run("--plot", str(self.folder / "plot.png"), *arguments)
        self.assertNotEqual(ended.returncode, 0)
        self.assertNotIn("Traceback", ended.stderr)
        for word in words:
            self.assertIn(word, ended.stderr)


class Training(InTemporaryFolder):

    def check_course(self, output, epochs):
        self.assertIn("40 packages, 9 tags", output)
        self.assertIn("9 packages are held out", output)
        rows = re.findall(rf"^(\d+){5 * NUMBER}$", output, re.MULTILINE)
        self.assertEqual([int(row[0]) for row in rows], list(range(1, epochs + 1)))
        first, last = ([float(value) for value in row[1:]] for row in (rows[0], rows[-1]))
        self.assertLess(last[0], 0.5 * first[0])
        self.assertLess(last[1], 0.5 * first[1])
        baseline = re.search(rf"^by frequency{3 * NUMBER}$", output, re.MULTILINE)
        self.assertGreater(last[2], 1.5 * float(baseline[1]))

    def test_a_linear_tagger_learns(self):
        output = self.train("--epochs", "12")
        self.check_course(output, 12)
        share = r"takes \d+\.\d % \(\d+\.\d\d of \d+\.\d ms\)"
        self.assertEqual(len(re.findall(share, output)), 2, output)

    def test_a_hidden_layer_learns(self):
        self.check_course(self.train("--epochs", "12", "--hidden", "16"), 12)

    def test_the_plot_is_a_png(self):
        self.train("--epochs", "2")
        picture = (self.folder / "new" / "plot.png").read_bytes()
        self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
        self.assertIn(b"IEND", picture[-12:])

    def test_the_seed_decides_the_figures(self):
        def figures(seed):
            output = self.train("--epochs", "3", "--hidden", "4", "--seed", seed)
            return output[:output.index("Learning took")]

        self.assertEqual(figures("7"), figures("7"))
        self.assertNotEqual(figures("7"), figures("8"))


class Refusals(InTemporaryFolder):

    def test_a_file_that_is_not_there(self):
        self.assert_refused("No such file", "/no/such/file",
                            arguments=["--packages", "/no/such/file"])

    def test_an_index_without_tags(self):
        self.assert_refused("/dev/null has no tagged packages",
                            arguments=["--packages", "/dev/null"])

    def test_too_few_packages(self):
        index = self.folder / "one.txt"
        index.write_text("Package: a\nArchitecture: all\nTag: x::y\n", encoding="utf-8")
        self.assert_refused("too few packages", arguments=["--packages", str(index)])

    def test_numbers_out_of_range(self):
        self.assert_refused("--epochs: expected a number from 1, got 0",
                            arguments=["--epochs", "0"])
        self.assert_refused("--hidden: expected a number from 0, got -1", arguments=["--hidden=-1"])

    def test_a_missing_package_is_said_in_a_line(self):
        # An interpreter without site packages has none of them.
        ended = subprocess.run([sys.executable, "-S", "-E", str(EXAMPLE / "train.py")],
                               capture_output=True, text=True, timeout=60)
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
        for word in ("'torch'", "python3-torch", "set_env.sh"):
            self.assertIn(word, ended.stderr)


class Data(InTemporaryFolder):

    def read(self, text):
        index = self.folder / "index.txt"
        index.write_bytes(text)
        return data.read_packages(str(index), "amd64")

    def test_tags_over_lines_and_in_braces(self):
        packages = self.read(b"Package: a\nArchitecture: all\nDescription: d\n more\n"
                             b"Tag: b::x, a::{y,z},\n c::w, b::x\nSection: s\n")
        self.assertEqual(packages, [data.Package("a", "d", ["a::y", "a::z", "b::x", "c::w"])])

    def test_the_first_paragraph_of_a_name_counts(self):
        packages = self.read(b"Package: a\nArchitecture: i386\nTag: x::1\n\n"
                             b"Package: a\nArchitecture: amd64\nTag: x::2\n\n"
                             b"Package: a\nArchitecture: all\nTag: x::3\n")
        self.assertEqual(packages, [data.Package("a", "", ["x::2"])])

    def test_bytes_that_are_no_utf8(self):
        packages = self.read(b"Package: a\nArchitecture: all\nDescription: caf\xe9\nTag: x::1\n")
        self.assertEqual(packages[0].tags, ["x::1"])

    def test_numbers_of_words_and_tags(self):
        packages = [data.Package(f"p{'x' * i}", "even" if i % 2 == 0 else "odd once" * (i == 1),
                                 ["t::even"] if i % 2 == 0 else ["a::odd", "t::odd"])
                    for i in range(200)]
        dataset = data.make_dataset(packages)
        self.assertEqual(dataset.num_tags, 3)
        self.assertEqual(len(dataset.learning) + len(dataset.held_out), 200)
        self.assertTrue(20 < len(dataset.held_out) < 60)
        # "even" alone is a word of several packages.
        self.assertEqual(dataset.num_words, 1)
        self.assertEqual({tuple(row) for row in dataset.learning.labels.tolist()},
                         {(1, -1), (0, 2)})


if __name__ == "__main__":
    unittest.main()

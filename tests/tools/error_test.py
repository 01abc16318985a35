# SPDX-License-Identifier: Apache-2.0
"""What mlmargin says of files and options that cannot be used."""

import os
import shutil
import unittest
from pathlib import Path

import numpy as np
from command_case import CommandCase


class ErrorTest(CommandCase):
    def test_errors_name_the_file_and_what_was_expected(self):
        scores, labels = self.save("s.npy", self.scores), self.save("l.npy", self.padded)
        with open(self.path("text.npy"), "w", encoding="utf-8") as file:
            file.write("not an array at all")
        with open(self.path("cut.npy"), "wb") as file, open(scores, "rb") as whole:
            file.write(whole.read()[:-8])
        np.savez(self.path("two.npz"), a=self.scores, b=self.scores)
        with open(self.path("zipped.npy"), "wb") as file:
            np.savez(file, a=self.scores)
        for empty in "empty.npy", "empty.npz":
            with open(self.path(empty), "wb"):
                pass
        shutil.copy(self.path("text.npy"), self.path("text.npz"))
        os.mkdir(self.path("folder.npz"))
        objects = np.array([[1], [1, 2]], dtype=object)
        records = np.zeros(3, dtype=[("a", "f4")])
        cases = [
            ("none.npy: No such file", "none.npy", labels),
            ("text.npy: it is no NumPy file; expected an array", self.path("text.npy"), labels),
            ("empty.npy: it is empty", self.path("empty.npy"), labels),
            ("it is a folder; expected a .npy or .npz file", self.folder, labels),
            ("zipped.npy: it is an archive of arrays; its name must end in .npz",
             self.path("zipped.npy"), labels),
            ("text.npz: it is no .npz file; expected one that numpy.savez", self.path("text.npz"),
             labels),
            ("empty.npz: it is empty", self.path("empty.npz"), labels),
            ("folder.npz: it is a folder", self.path("folder.npz"), labels),
            ("none.npz: No such file", "none.npz", labels),
            ("none.npz: No such file", "none.npz:scores", labels),
            ("/dev/zero: it is a pipe or a device", "/dev/zero", labels),
            ("its elements are '<i2'; expected float16, float32, float64 or uint16 for scores, int32 or "
             "int64 for labels; save labels as array.astype('<i8')", scores,
             self.save("int16.npy", self.padded.astype(np.int16))),
            ("its elements are '<U1'; expected float16", self.save("text1.npy", np.array(["a"])),
             labels),
            ("labels are uint8; expected int32 or int64; for a 0/1 matrix add --multihot", scores,
             self.save("multihot.npy", self.multihot)),
            ("its elements are Python objects", self.save("objects.npy", objects), labels),
            ("its elements are records", self.save("records.npy", records), labels),
            ("cut.npy: it is cut off: its shape (7, 6) of float32 needs 168 bytes", self.path("cut.npy"),
             labels),
            ("labels are float32; expected int32 or int64", scores, scores),
            ("scores are int64; expected float16, float32, float64", labels, labels),
            ("its elements are '>f4', in big-endian order; save array.astype('<f4')",
             self.save("big.npy", self.scores.astype(">f4")), labels),
            ("it has 3 dimensions; expected 1 or 2", self.save("3d.npy", np.zeros((2, 2, 2))), labels),
            ("its shape is (6, 6); expected 7 rows, as the scores have the shape (7, 6)", scores,
             self.save("short.npy", self.padded[:6])),
            ("two.npz: it has 2 arrays (a, b); name one", self.path("two.npz"), labels),
            ("two.npz: it has no array c; it has a, b", self.path("two.npz") + ":c", labels),
        ]
        for text, *files in cases:
            with self.subTest(text):
                self.assert_error(text, "loss", *files)
                self.assert_error(text, "check", *files)

    def test_wrong_offsets(self):
        scores = self.save("scores.npy", self.scores)
        indices = self.save("indices.npy", np.array([0, 1, 2]))
        for offsets, text in (([0, 1, 2, 1, 2, 2, 2, 2], "offset 3 is 1; expected 2"),
                              ([0, 1, 2, 2, 2, 2, 2, 4], "offset 7 is 4; expected 2 (the one before) "
                                                         "to 3"),
                              ([0, 1], "expected (8,), one offset more than the scores have rows")):
            self.assert_error(text, "loss", scores, indices, "--offsets",
                              self.save("offsets.npy", np.array(offsets)))

    def test_a_failure_leaves_no_file(self):
        scores, labels = self.save("s.npy", self.scores), self.save("l.npy", self.padded)
        before = sorted(os.listdir(self.folder))
        self.assert_error("No such file or directory", "loss", scores, labels, "--mask",
                          self.path("mask.npy"), "--gradient", "/nowhere/gradient.npy")
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_outputs_that_cannot_be_written_are_found_before_the_work(self):
        files = self.save("s.npy", self.scores), self.save("l.npy", self.padded)
        os.mkdir(self.path("folder"))
        os.mkfifo(self.path("pipe"))
        before = sorted(os.listdir(self.folder))
        for option in "--output", "--mask", "--gradient":
            # A matrix is printed row by row, so the file must have been looked at before.
            printed = ["--mask", "-"] if option == "--output" else []
            for path, text in [(self.path("folder"), "it is a folder; expected the name of"),
                               (self.path("pipe"), "it is a pipe or a device; expected the name of"),
                               ("/nowhere/out.npy", "No such file"),
                               (self.path("a.npz"), "expected the name of a .npy file"),
                               ("", "expected the name of a file, got none")]:
                self.assert_error(text, "loss", *files, option, path, *printed)
        self.assert_error("--output and --gradient name one file", "loss", *files, "--output",
                          self.path("a.npy"), "--gradient", self.path("folder/../a.npy"))
        self.assert_error("--mask and --gradient name one file", "loss", *files, "--mask",
                          self.path("a.npy"), "--gradient", self.path("a.npy"))
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def contents(self):
        return {path.name: path.read_bytes() for path in Path(self.folder).iterdir()}

    def test_an_output_is_no_input(self):
        scores, labels = self.save("s.npy", self.scores), self.save("l.npy", self.padded)
        indices, offsets = self.save("i.npy", np.array([1, 2])), self.save("o.npy", np.arange(8) // 4)
        np.savez(self.path("b.npz"), scores=self.scores, labels=self.padded)
        os.symlink(scores, self.path("link.npy"))
        before = self.contents()
        for option in "--output", "--mask", "--gradient":
            for name, files, output in [
                    ("SCORES", [scores, labels], scores),
                    ("SCORES", [self.path("link.npy"), labels], scores),
                    ("SCORES", [scores, labels], self.path("link.npy")),
                    ("LABELS", [scores, labels], labels),
                    ("--offsets", [scores, indices, "--offsets", offsets], offsets)]:
                self.assert_error(f"{name} and {option} name one file, {output}; expected another for "
                                  f"{option}", "loss", *files, option, output)
        archive = self.path("b.npz")
        self.assert_error("archives are only read; expected the name of a .npy file", "loss",
                          archive + ":scores", archive + ":labels", "--mask", archive)
        self.assertEqual(self.contents(), before)

    def test_usage(self):
        for command in "loss", "check":
            self.assert_error(f"{command} takes two files, SCORES (rows x classes) and LABELS (the "
                              "classes of each row that are labels), got only labels.npy", command,
                              "labels.npy")
            self.assert_error("got none; see mlmargin", command)
        self.assert_error("--reduction: expected none, mean or sum, got median\n", "loss", "a", "b",
                          "--reduction", "median")
        for count in "0", "-1", "2x", "1.5", "2147483648":
            self.assert_error(f"--threads: expected a whole number from 1 to 2147483647, got {count}\n",
                              "loss", "a", "b", f"--threads={count}")
        self.assert_error("there is no command los (did you mean loss?); expected one of loss, check, "
                          "bench, info", "los", "a")
        self.assert_error("there is no command train; expected", "train")
        self.assert_error("there is no command --jso", "--jso")
        self.assert_error("there is no command ;", "")
        self.assert_error("mlmargin: there is no option --reductoin (did you mean --reduction?); see "
                          "mlmargin loss --help\n", "loss", "a", "b", "--reductoin", "none")
        self.assert_error("there is no option --multi-hot (did you mean --multihot?); see mlmargin check "
                          "--help", "check", "a", "b", "--multi-hot")
        self.assert_error("there is no option --colour; see mlmargin info", "info", "--colour=red")
        for words in (["a", "b", "c", "d"], ["a", "b", "--", "c"], ["--", "a", "b", "c"]):
            self.assert_error("c is one argument too many; see mlmargin loss", "loss", *words)
        self.assert_error("mlmargin: --threads: 1 required COUNT missing", "loss", "a", "b", "--threads")
        self.assert_error("Usage: mlmargin")
        for command in ("loss", "check", "bench"):
            self.assertIn("Examples:", self.run_command(command, "--help").stdout)
        self.assertRegex(self.run_command("--version").stdout, r"^mlmargin \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""mlmargin loss, on files that NumPy and SciPy wrote, against exact arithmetic."""

import json
import os
import pty
import subprocess
import unittest
from fractions import Fraction

import numpy as np
import scipy.sparse
from command_case import COMMAND, CommandCase, labels_of


def exact_loss(scores, labels):
    """The losses of the rows as fractions."""
    losses = []
    for row, listed in zip(scores, labels):
        x = [Fraction(float(value)) for value in row]
        inside = [j for j in listed if 0 <= j < len(x)]
        hinges = (max(Fraction(0), 1 - x[j] + x[i])
                  for j in inside for i in range(len(x)) if i not in inside)
        losses.append(sum(hinges, Fraction(0)) / len(x))
    return losses


def exact_gradient(scores, labels):
    """The gradient of the mean loss, as fractions."""
    rows, classes = scores.shape
    gradient = [[Fraction(0)] * classes for _ in range(rows)]
    for n, listed in enumerate(labels):
        x = [Fraction(float(value)) for value in scores[n]]
        for j in listed:
            for i in range(classes):
                if i not in listed and 1 - x[j] + x[i] > 0:
                    gradient[n][i] += Fraction(1, classes * rows)
                    gradient[n][j] -= Fraction(1, classes * rows)
    return gradient


class LossTest(CommandCase):
    def setUp(self):
        super().setUp()
        self.mean = sum(exact_loss(self.scores, self.lists)) / 7

    def loss(self, *arguments):
        return float(self.run_command("loss", *arguments).stdout)

    def assert_close(self, got, exact, dtype=np.float32):
        """Within 1 ulp."""
        nearest = dtype(abs(float(exact)))
        self.assertLessEqual(abs(Fraction(float(got)) - exact), Fraction(float(np.spacing(nearest))))

    def test_every_form_of_labels_gives_the_loss(self):
        scores = self.save("scores.npy", self.scores)
        matrix = scipy.sparse.csr_matrix(self.multihot)
        scipy.sparse.save_npz(self.path("matrix.npz"), matrix)
        np.savez_compressed(self.path("batch.npz"), scores=self.scores, labels=self.padded)
        forms = {
            "int64": [scores, self.save("padded.npy", self.padded)],
            "int32": [scores, self.save("padded32.npy", self.padded.astype(np.int32))],
            "wide": [scores, self.save("wide.npy", np.pad(self.padded, ((0, 0), (0, 3)),
                                                          constant_values=-1))],
            "fortran": [self.save("fortran.npy", np.asfortranarray(self.scores)),
                        self.save("fortran_labels.npy", np.asfortranarray(self.padded))],
            "csr": [scores, self.save("indices.npy", matrix.indices), "--offsets",
                    self.save("offsets.npy", matrix.indptr)],
            "csr64": [scores, self.save("indices64.npy", matrix.indices.astype(np.int64)),
                      "--offsets", self.save("offsets64.npy", matrix.indptr.astype(np.int64))],
            "npz": [scores, self.path("matrix.npz")],
            "members": [self.path("batch.npz") + ":scores", self.path("batch.npz") + ":labels"],
            "multihot": [scores, self.save("multihot.npy", self.multihot), "--multihot"],
            "multihot of floats": [scores, self.save("floats.npy", self.multihot.astype(float)),
                                   "--multihot"],
        }
        for name, arguments in forms.items():
            with self.subTest(name):
                self.assert_close(self.loss(*arguments), self.mean)

    def test_every_type_of_scores(self):
        labels = self.save("labels.npy", self.padded)
        for dtype in (np.float16, np.float32, np.float64):
            with self.subTest(dtype):
                scores = self.scores.astype(dtype)
                exact = sum(exact_loss(scores, self.lists)) / 7
                self.assert_close(self.loss(self.save("scores.npy", scores), labels), exact, dtype)
        # bfloat16: the upper half of a float32. Its ulp is 2^16 of float32's.
        bits = self.scores.view(np.uint32) >> 16
        values = (bits << 16).astype(np.uint32).view(np.float32)
        exact = sum(exact_loss(values, self.lists)) / 7
        got = self.loss(self.save("scores.npy", bits.astype(np.uint16)), labels)
        ulp = Fraction(float(np.spacing(np.float32(float(exact))))) * 2 ** 16
        self.assertLessEqual(abs(Fraction(got) - exact), ulp)

    def test_reductions_and_files(self):
        files = [self.save("scores.npy", self.scores), self.save("labels.npy", self.padded)]
        exact = exact_loss(self.scores, self.lists)
        self.assert_close(self.loss(*files, "--reduction", "sum"), sum(exact))
        printed = self.run_command("loss", *files, "--reduction", "none").stdout.split()
        out = self.path("losses.npy")
        done = self.run_command("loss", *files, "--reduction", "none", "--output", out,
                                "--mask", self.path("mask.npy"), "--gradient",
                                self.path("gradient.npy"))
        self.assertEqual(done.stdout, "")
        written = np.load(out)
        self.assertEqual((written.dtype, written.shape), (np.float32, (7,)))
        for got, text, value in zip(written, printed, exact):
            self.assertEqual(got, np.float32(text))
            self.assert_close(got, value)
        np.testing.assert_array_equal(np.load(self.path("mask.npy")),
                                      self.multihot.astype(np.float32))

    def test_the_gradient_is_that_of_the_mean(self):
        gradient = self.path("gradient.npy")
        self.run_command("loss", self.save("scores.npy", self.scores),
                         self.save("labels.npy", self.padded), "--gradient", gradient)
        got = np.load(gradient)
        self.assertEqual((got.dtype, got.shape), (np.float32, (7, 6)))
        for got_row, exact_row in zip(got, exact_gradient(self.scores, self.lists)):
            for value, exact in zip(got_row, exact_row):
                self.assert_close(value, exact)

    def test_a_large_file_goes_in_pieces_with_the_bits_of_the_whole(self):
        """Three pieces of 32 MiB; their rows are alike in turns, so the mean is known."""
        scores = np.tile(self.scores[:6], (500000, 1))  # 72 MB.
        labels = np.tile(self.padded[:6, :3], (500000, 1))
        mean = sum(exact_loss(self.scores[:6], [labels_of(row) for row in self.padded[:6, :3]])) / 6
        gradient = self.path("gradient.npy")
        files = [self.save("scores.npy", scores), self.save("labels.npy", labels)]
        self.assert_close(self.loss(*files, "--gradient", gradient), mean)
        got = np.load(gradient, mmap_mode="r")
        np.testing.assert_array_equal(got[:6], got[-6:])
        exact = exact_gradient(self.scores[:6], [labels_of(row) for row in self.padded[:6, :3]])
        self.assert_close(got[-1, 0], exact[5][0] / 500000)

    def test_one_row_and_prints(self):
        scores = self.save("scores.npy", np.array([0.1, 0.2, 0.4, 0.8], np.float32))
        labels = self.save("labels.npy", np.array([3, 0, -1, 1]))
        self.assertEqual(np.float32(self.loss(scores, labels)), np.float32(0.85))
        mask, gradient = "1 0 0 1\n", "-0.5 0.5 0.5 -0.5\n"
        loss_file = "--output", self.path("loss.npy")
        for more, expected in [(["--mask", "-"], f"mask:\n{mask}loss:\n0.85\n"),
                               (["--gradient", "-"], f"gradient:\n{gradient}loss:\n0.85\n"),
                               (["--mask", "-", *loss_file], mask),
                               (["--gradient", "-", *loss_file], gradient)]:
            self.assertEqual(self.run_command("loss", scores, labels, *more).stdout, expected)
        # One after the other, as rows come.
        self.assert_error("--mask - and --gradient - print two matrices", "loss", scores, labels,
                          "--mask", "-", "--gradient", "-")
        self.assert_error("--mask - prints a matrix; with --json", "loss", scores, labels, "--mask",
                          "-", "--json")

    def test_json(self):
        files = [self.save("scores.npy", self.scores), self.save("labels.npy", self.padded)]
        result = json.loads(self.run_command("loss", *files, "--json").stdout)
        self.assert_close(np.float32(result.pop("loss")), self.mean)
        self.assertEqual(result, {"rows": 7, "classes": 6, "labels": "padded", "reduction": "mean",
                                  "skipped_labels": 0})

    def test_skipped_labels_are_told(self):
        self.padded[5, 1] = 6
        done = self.run_command("loss", self.save("scores.npy", self.scores),
                                self.save("labels.npy", self.padded))
        self.assertIn("1 label outside [-1, 5] was skipped; the first is 6 at row 5, position 1",
                      done.stderr)

    def test_a_terminal_sees_a_bar_and_the_result_is_clean(self):
        scores = self.save("scores.npy", np.zeros((3000, 40000), np.float32))  # 480 MB.
        labels = self.save("labels.npy", np.zeros((3000, 1), np.int64))
        leader, follower = pty.openpty()
        with subprocess.Popen([COMMAND, "loss", scores, labels, "--threads", "1", "--gradient",
                               self.path("gradient.npy")], stdout=subprocess.PIPE,
                              stderr=follower, text=True) as process:
            os.close(follower)
            out = process.communicate(timeout=120)[0]
        bar = b""
        try:
            while chunk := os.read(leader, 4096):
                bar += chunk
        except OSError:
            pass  # The end.
        os.close(leader)
        self.assertEqual(np.float32(out), np.float32(39999 / 40000))
        self.assertIn(b"rows [", bar)
        self.assertTrue(bar.endswith(b"\x1b[K"))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The command mlmargin, on files that NumPy and SciPy wrote, against exact arithmetic.

Usage: command_test.py (the program is COMMAND_UNDER_TEST)
"""

import json
import os
import pty
import shutil
import subprocess
import tempfile
import unittest
from fractions import Fraction

import numpy as np
import scipy.sparse

COMMAND = os.environ["COMMAND_UNDER_TEST"]


def labels_of(row):
    return list(row[:list(row).index(-1)]) if -1 in row else list(row)


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


class CommandTest(unittest.TestCase):
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
        self.mean = sum(exact_loss(self.scores, self.lists)) / 7

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

    def loss(self, *arguments):
        return float(self.run_command("loss", *arguments).stdout)

    def assert_close(self, got, exact, dtype=np.float32):
        """Within 1 ulp."""
        nearest = dtype(abs(float(exact)))
        self.assertLessEqual(abs(Fraction(float(got)) - exact), Fraction(float(np.spacing(nearest))))

    # ---- loss ----

    def test_every_form_of_labels_gives_the_loss(self):
        scores = self.save("scores.npy", self.scores)
        matrix = scipy.sparse.csr_matrix(self.multihot)
        scipy.sparse.save_npz(self.path("matrix.npz"), matrix)
        np.savez_compressed(self.path("batch.npz"), scores=self.scores, labels=self.padded)
        forms = {
            "int64": [scores, self.save("padded.npy", self.padded)],
            "int32": [scores, self.save("padded32.npy", self.padded.astype(np.int32))],
            "narrow": [scores, self.save("narrow.npy", self.padded[:, :6])],
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

    # ---- check ----

    def check(self, labels, status, *more):
        files = [self.save("scores.npy", self.scores), self.save("labels.npy", labels), *more]
        text = self.run_command("check", *files, status=status).stdout
        return text, json.loads(self.run_command("check", *files, "--json", status=status).stdout)

    def test_good_labels(self):
        text, result = self.check(self.padded, 0)
        self.assertIn("nothing is wrong", text)
        self.assertEqual(result["wrong"], False)
        self.assertEqual((result["labels"], result["fewest_labels"], result["most_labels"]),
                         (15, 0, 6))
        self.assertEqual(result["findings"],
                         {"no_label": {"count": 1, "first_row": 3},
                          "all_labels": {"count": 1, "first_row": 4}})

    def test_wrong_labels(self):
        cases = {
            "out_of_range": ([[0, 6], [7, -2]], 3, 0, 1, 6),
            "repeated": ([[2, 3], [4, 4]], 1, 1, 1, 4),
            "after_end": ([[2, -1], [-1, 4]], 1, 1, 1, 4),
            "zero_padding": ([[2, 0, 0], [3, 0, 0]], 2, 0, 1, 0),
        }
        for key, (labels, count, row, position, value) in cases.items():
            with self.subTest(key):
                self.scores = np.zeros((2, 6), np.float32)
                text, result = self.check(np.array(labels), 1)
                self.assertEqual(result["findings"][key],
                                 {"count": count, "first_row": row, "first_position": position,
                                  "first_value": value})
                self.assertIn(f"first in row {row}, position {position}: {value}", text)

    def test_zeros_before_an_end_are_no_padding(self):
        self.scores = np.zeros((2, 6), np.float32)
        _, result = self.check(np.array([[2, 0, -1], [3, 0, -1]]), 0)
        self.assertEqual(result["findings"], {})

    def test_rows_whose_labels_are_out_of_range_have_none_that_counts(self):
        self.scores = np.zeros((2, 6), np.float32)
        text, result = self.check(np.array([[9, -1], [2, -1]]), 1)
        self.assertEqual(result["findings"]["no_label"], {"count": 1, "first_row": 0})
        self.assertIn("note: 1 row without a label that counts (first in row 0).", text)
        self.assertIn("wrong: 1 label out of range (first in row 0, position 0: 9).", text)

    def test_one_of_each_is_singular(self):
        self.scores = np.zeros((1, 1), np.float32)
        text, _ = self.check(np.array([[0]]), 0)
        self.assertIn("1 row, 1 class, 1 label (", text)

    def test_scores_that_are_no_numbers(self):
        for kind in np.float16, np.float32, np.float64:
            with self.subTest(kind):
                self.scores = np.zeros((3, 4), kind)
                self.scores[1, 2] = self.scores[2, 0] = np.nan
                self.scores[0, 3] = -np.inf
                text, result = self.check(np.array([[0], [0], [0]]), 1)
                self.assertEqual(result["findings"]["nan_scores"],
                                 {"count": 2, "first_row": 1, "first_position": 2})
                self.assertEqual(result["findings"]["infinite_scores"],
                                 {"count": 1, "first_row": 0, "first_position": 3})
                self.assertIn("wrong: 2 scores that are NaN (first in row 1, position 2).", text)
                self.assertIn("note: 1 score that is infinite (first in row 0, position 3).", text)

    def test_a_matrix_of_0_and_1_is_told_from_lists(self):
        text, result = self.check(self.multihot.astype(np.int64), 1)
        self.assertEqual(list(result["findings"]), ["looks_multihot"])
        self.assertIn("--multihot makes it a 0/1 matrix", text)
        files = self.path("scores.npy"), self.path("labels.npy")
        self.assertIn("For a 0/1 matrix add --multihot", self.run_command("loss", *files).stderr)
        self.assertEqual(self.run_command("loss", *files, "--multihot").stderr, "")
        # Neither lists of the same width, nor two classes.
        np.save(files[1], self.padded)
        self.assertEqual(self.run_command("loss", *files).stderr, "")
        np.save(files[0], self.scores[:, :2])
        np.save(files[1], np.array([[0, 1]] * 7))
        self.assertEqual(self.run_command("loss", *files).stderr, "")

    # ---- errors ----

    def assert_error(self, text, *arguments):
        done = self.run_command(*arguments, status=2)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.stdout, "")

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
                               ("", "expected the name of a file, got none")]:
                self.assert_error(text, "loss", *files, option, path, *printed)
        self.assert_error("--output and --gradient name one file", "loss", *files, "--output",
                          self.path("a.npy"), "--gradient", self.path("folder/../a.npy"))
        self.assert_error("--mask and --gradient name one file", "loss", *files, "--mask",
                          self.path("a.npy"), "--gradient", self.path("a.npy"))
        self.assertEqual(sorted(os.listdir(self.folder)), before)

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
        self.assert_error("Usage: mlmargin")
        for command in ("loss", "check", "bench"):
            self.assertIn("Examples:", self.run_command(command, "--help").stdout)
        self.assertRegex(self.run_command("--version").stdout, r"^mlmargin \d+\.\d+\.\d+\n$")

    # ---- bench, info, the terminal ----

    def test_bench(self):
        text = self.run_command("bench", "--filter", "tiny").stdout
        self.assertIn("tiny/16", text)
        result = json.loads(self.run_command("bench", "--filter", "tiny", "--json").stdout)
        self.assertEqual([case["name"] for case in result["cases"]], ["tiny/16", "tiny/2"])
        self.assertGreater(result["cases"][0]["seconds"], 0)
        self.assert_error("no shape has 'nothing' in its name", "bench", "--filter", "nothing")

    def test_info_says_where_settings_come_from(self):
        slowest = json.loads(self.run_command("info", "--json").stdout)["targets"][-1]
        environment = dict(os.environ, MLMARGIN_NUM_THREADS="1", MLMARGIN_TARGET=slowest,
                           MLMARGIN_LABEL_CHECK="loud")
        done = subprocess.run([COMMAND, "info", "--json"], capture_output=True, text=True,
                              check=True, env=environment)
        result = json.loads(done.stdout)
        self.assertEqual((result["threads"], result["target"]), (1, slowest))
        settings = result["settings"]
        self.assertEqual(settings["MLMARGIN_NUM_THREADS"], {"value": "1", "source": "environment"})
        self.assertEqual(settings["MLMARGIN_LABEL_CHECK"]["value"], "warn")
        self.assertIn('"loud" in the environment was not understood',
                      settings["MLMARGIN_LABEL_CHECK"]["source"])
        self.assertEqual(settings["MLMARGIN_DEVICE_COUNT"], {"value": "1", "source": "default"})

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

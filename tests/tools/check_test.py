# SPDX-License-Identifier: Apache-2.0
"""mlmargin check: what is wrong with labels and scores."""

import json
import unittest

import numpy as np
from command_case import CommandCase


class CheckTest(CommandCase):
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


if __name__ == "__main__":
    unittest.main()

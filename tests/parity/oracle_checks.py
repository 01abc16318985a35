# SPDX-License-Identifier: Apache-2.0
"""The oracle itself: a wrong one would judge everything else wrongly."""

import math
import random
import unittest
from fractions import Fraction

import numpy as np

import oracle


def definition(scores, target):
    """The loss of one row as the formula says, without any cleverness."""
    labels = oracle.read_labels(target, len(scores))
    pairs = [(j, i) for j in labels for i in range(len(scores)) if i not in labels]
    hinges = (1 - Fraction(scores[j]) + Fraction(scores[i]) for j, i in pairs)
    return sum((h for h in hinges if h > 0), Fraction(0)) / len(scores)


class Losses(unittest.TestCase):

    def test_agrees_with_the_definition(self):
        rng = random.Random(1)
        for _ in range(300):
            classes = rng.randint(1, 12)
            scores = [float(np.float32(rng.gauss(0, 2))) for _ in range(classes)]
            target = [rng.randint(-1, classes) for _ in range(classes)]
            (exact,) = oracle.losses(np.array([scores]), np.array([target]), 0)
            self.assertEqual(Fraction(exact.numerator, exact.denominator),
                             definition(scores, target))

    def test_reductions(self):
        scores, target = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0, -1], [1, -1]])
        self.assertEqual([s.approximate() for s in oracle.losses(scores, target, 0)], [1, 0.5])
        self.assertEqual([s.approximate() for s in oracle.losses(scores, target, 1)], [0.75])
        self.assertEqual([s.approximate() for s in oracle.losses(scores, target, 2)], [1.5])

    def test_infinities_and_nan(self):
        inf, nan = math.inf, math.nan
        for scores, loss in (([-inf, 0], inf), ([0, inf], inf), ([0, -inf], 0), ([inf, inf], 0),
                             ([-inf, -inf], 0), ([-inf, inf], inf), ([nan, 0], 0), ([0, nan], 0),
                             ([inf, 0], 0), ([-inf, nan], 0)):
            (exact,) = oracle.losses(np.array([scores], dtype=float), np.array([[0, -1]]), 0)
            self.assertEqual(exact.approximate(), loss, scores)


class Ulps(unittest.TestCase):

    def test_counts_in_the_exact_sums_binade(self):
        third, above = oracle.Sum(1, 3), np.float32(1 / 3)  # Rounded up.
        half_step = oracle.ulps(oracle.FLOAT32, third, float(above))
        self.assertLessEqual(half_step, 0.5)
        next_up = float(np.nextafter(above, np.float32(1)))
        self.assertAlmostEqual(oracle.ulps(oracle.FLOAT32, third, next_up), 1 + half_step)
        self.assertEqual(oracle.ulps(oracle.FLOAT16, oracle.Sum(1, 1), 1 + 2 ** -10), 1)
        self.assertEqual(oracle.ulps(oracle.BFLOAT16, oracle.Sum(3, 1), 3 - 2 ** -6), 1)

    def test_subnormals_have_the_smallest_ulp(self):
        exact = oracle.Sum(3, 2 << 149)
        self.assertEqual(oracle.ulps(oracle.FLOAT32, exact, 2.0 ** -149), 0.5)

    def test_overflow(self):
        beyond = oracle.Sum(1 << 128, 1)
        self.assertEqual(oracle.ulps(oracle.FLOAT32, beyond, math.inf), 0)
        self.assertEqual(oracle.ulps(oracle.FLOAT32, oracle.Sum(1, 1), math.inf), math.inf)
        self.assertEqual(oracle.ulps(oracle.FLOAT16, oracle.Sum(65536, 1), math.inf), 0)

    def test_zero_is_exact(self):
        self.assertEqual(oracle.ulps(oracle.FLOAT32, oracle.Sum(), 0.0), 0)
        self.assertEqual(oracle.ulps(oracle.FLOAT32, oracle.Sum(), 2.0 ** -149), math.inf)


class Narrow(unittest.TestCase):

    def test_keeps_every_half_pattern(self):
        bits = np.arange(65536, dtype=np.uint16)
        for dtype in (oracle.FLOAT16, oracle.BFLOAT16):
            values = oracle.widen(dtype, bits)
            keep = ~np.isnan(values)
            np.testing.assert_array_equal(oracle.narrow(dtype, values)[keep], bits[keep])
            again = oracle.widen(dtype, oracle.narrow(dtype, values))
            self.assertTrue(np.isnan(again[~keep]).all())


if __name__ == "__main__":
    unittest.main()

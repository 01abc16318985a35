# SPDX-License-Identifier: Apache-2.0
"""The loss in exact arithmetic, and how far a result is from it.

Every finite float32, float16 and bfloat16 is a multiple of 2^-149, so scores become integers.
"""

import bisect
import math
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

UNIT = 149  # Scores are integers times 2^-UNIT.
ONE = 1 << UNIT


@dataclass(frozen=True)
class Type:
    """A binary floating-point type."""

    name: str
    precision: int     # Bits of the significand, the leading one included.
    min_exponent: int  # Of the smallest normal number.
    max_exponent: int  # Of the greatest number.

    @property
    def max_value(self):
        return (2.0 - 2.0 ** (1 - self.precision)) * 2.0 ** self.max_exponent


FLOAT32 = Type("float32", 24, -126, 127)
FLOAT16 = Type("float16", 11, -14, 15)
BFLOAT16 = Type("bfloat16", 8, -126, 127)


def widen(dtype, bits):
    """The values of an array of raw bits, in float64."""
    shape, flat = np.shape(bits), np.ravel(bits)
    with np.errstate(invalid="ignore"):  # Signaling nan is one of the inputs.
        if dtype is BFLOAT16:
            values = (flat.astype(np.uint32) << 16).view(np.float32)
        else:
            values = flat.view(np.float16 if dtype is FLOAT16 else np.float32)
        return values.astype(np.float64).reshape(shape)


def narrow(dtype, values):
    """Raw bits of an array of float64, rounded to nearest even."""
    values = np.asarray(values, dtype=np.float64)
    with np.errstate(over="ignore"):
        if dtype is FLOAT16:
            return values.astype(np.float16).view(np.uint16)
        if dtype is FLOAT32:
            return values.astype(np.float32).view(np.uint32)
    # By way of float32, which is enough for inputs: it rounds twice, but only to make scores.
    bits = values.astype(np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


def read_labels(row, num_classes):
    """The labels that count: up to the first -1, those out of range left out, repeats kept."""
    labels = []
    for label in row:
        if label == -1:
            break
        if 0 <= label < num_classes:
            labels.append(label)
    return labels


@dataclass
class Sum:
    """A sum of hinges: an exact ratio, or infinite, or (an empty batch's mean) not a number."""

    numerator: int = 0
    denominator: int = 1
    infinite: bool = False
    nan: bool = False

    def approximate(self):
        if self.nan:
            return math.nan
        if self.infinite:
            return math.inf
        try:
            return self.numerator / self.denominator
        except OverflowError:
            return math.inf


def _row_hinges(scores, labels):
    """The sum of a row's hinges in units of 2^-UNIT, or None when it is infinite.

    A pair counts when 1 - x[j] + x[i] > 0, which nan never is.
    """
    label_set = set(labels)
    others = [x for i, x in enumerate(scores) if i not in label_set and not math.isnan(x)]
    finite = sorted(int(math.ldexp(x, UNIT)) for x in others if math.isfinite(x))
    total_from = list(accumulate(reversed(finite), initial=0))[::-1]
    has_plus_inf = math.inf in others
    total = 0
    for j in labels:
        x = scores[j]
        if math.isnan(x) or x == math.inf:
            continue  # 1 - inf + anything is -inf or nan.
        if has_plus_inf or (x == -math.inf and finite):
            return None
        if x == -math.inf:
            continue  # Only -inf against -inf is left, which is nan.
        shift = ONE - int(math.ldexp(x, UNIT))
        first = bisect.bisect_right(finite, -shift)
        total += total_from[first] + shift * (len(finite) - first)
    return total


def losses(scores, target, reduction):
    """The exact results for scores (N, C) in float64 and targets (N, C): a list of Sum."""
    num_rows, num_classes = scores.shape
    rows = [_row_hinges(s.tolist(), read_labels(t.tolist(), num_classes))
            for s, t in zip(scores, target)]
    if reduction == 0:
        return [_as_sum(row, num_classes) for row in rows]
    if num_rows == 0:
        return [Sum(nan=True) if reduction == 1 else Sum()]
    total = None if None in rows else sum(rows)
    return [_as_sum(total, num_classes * (num_rows if reduction == 1 else 1))]


def _as_sum(hinges, divisor):
    return Sum(infinite=True) if hinges is None else Sum(hinges, divisor << UNIT)


def masks(target):
    num_rows, num_classes = target.shape
    mask = np.zeros((num_rows, num_classes))
    for row, labels in zip(mask, target):
        row[read_labels(labels.tolist(), num_classes)] = 1
    return mask


def _floor_log2(numerator, denominator):
    guess = numerator.bit_length() - denominator.bit_length()  # Right, or one too many.
    too_many = (numerator < denominator << guess) if guess >= 0 else (
        numerator << -guess < denominator)
    return guess - too_many


def ulps(dtype, exact, value):
    """How far a result is from the exact sum, in units of the last place of the exact sum's
    binade; infinity when they are of different kinds."""
    if exact.nan or math.isnan(value):
        return 0.0 if exact.nan and math.isnan(value) else math.inf
    if exact.infinite:
        return 0.0 if value == math.inf else math.inf
    numerator, denominator = exact.numerator, exact.denominator
    if math.isinf(value):
        limit = int(math.ldexp(dtype.max_value, UNIT))
        beyond = numerator << UNIT > limit * denominator
        return 0.0 if beyond and value > 0 else math.inf
    if numerator == 0:
        return 0.0 if value == 0 else math.inf
    exponent = max(_floor_log2(numerator, denominator), dtype.min_exponent)
    ulp_exponent = exponent - dtype.precision + 1
    error = abs(int(math.ldexp(value, UNIT)) * denominator - (numerator << UNIT))
    return error / (denominator << (UNIT + ulp_exponent))

// SPDX-License-Identifier: Apache-2.0
#include "opapi/overlap.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mlmargin::opapi {
namespace {

using Int128 = __int128;
using Dimension = ByteView::Dimension;

int64_t LastStart(const ByteView& view) {
  return (view.outer.count - 1) * view.outer.stride + (view.inner.count - 1) * view.inner.stride;
}

// Whether two elements of the view share a byte. Equal addresses come from the shortest solution
// of di * outer = dj * inner; element sizes and strides are multiples of the element's size, so
// elements that do not coincide lie apart.
bool Repeats(const Dimension& outer, const Dimension& inner) {
  if (outer.count == 1 || inner.count == 1) return false;
  const int64_t divisor = std::gcd(outer.stride, inner.stride);
  return inner.stride / divisor < outer.count && outer.stride / divisor < inner.count;
}

// Makes one dimension of two that together step evenly, as in a contiguous matrix or in windows
// that overlap: the same set of addresses.
void Merge(ByteView* view) {
  Dimension& outer = view->outer;
  Dimension& inner = view->inner;
  if (outer.count == 1 || inner.count == 1) {
    if (outer.count == 1) std::swap(outer, inner);  // One dimension is the outer one.
    return;
  }
  if (outer.stride % inner.stride != 0 || outer.stride / inner.stride > inner.count) return;
  const int64_t steps = (outer.count - 1) * (outer.stride / inner.stride);
  outer = {steps + inner.count, inner.stride};
  inner = Dimension();
}

struct Bezout {
  int64_t divisor, x, y;  // divisor = a * x + b * y.
};
Bezout ExtendedGcd(int64_t a, int64_t b) {
  int64_t x = 1, y = 0, next_x = 0, next_y = 1;
  while (b != 0) {
    const int64_t quotient = a / b;
    a = std::exchange(b, a % b);
    x = std::exchange(next_x, x - quotient * next_x);
    y = std::exchange(next_y, y - quotient * next_y);
  }
  return {a, x, y};
}

Int128 FloorDivide(Int128 a, Int128 b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
Int128 CeilDivide(Int128 a, Int128 b) { return -FloorDivide(-a, b); }

// Whether i * a.stride - j * b.stride == target for some i < a.count, j < b.count.
bool Solvable(const Dimension& a, const Dimension& b, const Bezout& bezout, Int128 target) {
  if (a.count == 1 && b.count == 1) return target == 0;
  if (a.count == 1 || b.count == 1) {
    const Dimension& one = a.count == 1 ? b : a;
    const Int128 distance = a.count == 1 ? -target : target;
    return distance >= 0 && distance % one.stride == 0 && distance / one.stride < one.count;
  }
  if (target % bezout.divisor != 0) return false;
  // All solutions: i = i0 + t * step_i, j = j0 + t * step_j for whole t. i0 is kept small, so
  // that nothing below overflows.
  const Int128 step_i = b.stride / bezout.divisor;
  const Int128 step_j = a.stride / bezout.divisor;
  Int128 i0 = ((target / bezout.divisor) % step_i) * bezout.x % step_i;
  if (i0 < 0) i0 += step_i;
  const Int128 j0 = (i0 * a.stride - target) / b.stride;
  const Int128 low = std::max(CeilDivide(-i0, step_i), CeilDivide(-j0, step_j));
  const Int128 high =
      std::min(FloorDivide(a.count - 1 - i0, step_i), FloorDivide(b.count - 1 - j0, step_j));
  return low <= high;
}

// Whether lines of elements that start `distance` bytes apart (b's start minus a's) share a byte.
bool LinesShareByte(const Dimension& a, const Dimension& b, const Bezout& bezout, Int128 distance,
                    int64_t a_bytes, int64_t b_bytes) {
  for (int64_t shift = 1 - a_bytes; shift < b_bytes; ++shift) {
    if (Solvable(a, b, bezout, distance + shift)) return true;
  }
  return false;
}

// The views with one dimension walked through, so that two lines are left for each pair of steps.
struct Walk {
  Dimension a_walked, a_line, b_walked, b_line;
  double steps = 0;
};

Walk MakeWalk(const ByteView& a, const ByteView& b, bool a_outer, bool b_outer) {
  Walk walk{a_outer ? a.outer : a.inner, a_outer ? a.inner : a.outer, b_outer ? b.outer : b.inner,
            b_outer ? b.inner : b.outer};
  const auto extent = [](const Dimension& d) {
    return static_cast<double>(d.count - 1) * static_cast<double>(d.stride);
  };
  // The steps of b whose line reaches into one line of a.
  const double reach = walk.b_walked.count == 1
                           ? 1
                           : std::min(static_cast<double>(walk.b_walked.count),
                                      (extent(walk.a_line) + extent(walk.b_line)) /
                                              static_cast<double>(walk.b_walked.stride) +
                                          2);
  walk.steps = static_cast<double>(walk.a_walked.count) * reach;
  return walk;
}

Walk CheapestWalk(const ByteView& a, const ByteView& b) {
  Walk best = MakeWalk(a, b, true, true);
  for (const auto& [a_outer, b_outer] :
       {std::pair(true, false), std::pair(false, true), std::pair(false, false)}) {
    const Walk walk = MakeWalk(a, b, a_outer, b_outer);
    if (walk.steps < best.steps) best = walk;
  }
  return best;
}

bool SearchSharedByte(const ByteView& a, const ByteView& b) {
  const Walk walk = CheapestWalk(a, b);
  const Bezout bezout = ExtendedGcd(walk.a_line.stride, walk.b_line.stride);
  const Int128 start = Int128{b.address} - Int128{a.address};
  const Int128 a_extent = Int128{walk.a_line.count - 1} * walk.a_line.stride + a.element_bytes;
  const Int128 b_extent = Int128{walk.b_line.count - 1} * walk.b_line.stride + b.element_bytes;
  for (int64_t i = 0; i < walk.a_walked.count; ++i) {
    const Int128 distance = start - Int128{i} * walk.a_walked.stride;
    // Only lines of b that begin before a's ends and end after it begins.
    Int128 first = 0, last = walk.b_walked.count - 1;
    if (walk.b_walked.count > 1) {
      first = std::max(first, CeilDivide(1 - b_extent - distance, walk.b_walked.stride));
      last = std::min(last, FloorDivide(a_extent - 1 - distance, walk.b_walked.stride));
    }
    for (Int128 k = first; k <= last; ++k) {
      if (LinesShareByte(walk.a_line, walk.b_line, bezout, distance + k * walk.b_walked.stride,
                         a.element_bytes, b.element_bytes)) {
        return true;
      }
    }
  }
  return false;
}

// Whether the elements fall into separate places of a common period, as the columns of a table do:
// the usual case of interleaved views, decided at once.
bool ApartInPeriod(const ByteView& a, const ByteView& b, int64_t period, Int128 a_bytes,
                   Int128 b_bytes) {
  if (period == 0 || a_bytes > period || b_bytes > period) return false;
  Int128 distance = (Int128{b.address} - Int128{a.address}) % period;
  if (distance < 0) distance += period;
  return distance >= a_bytes && period - distance >= b_bytes;
}

bool Apart(const ByteView& a, const ByteView& b) {
  const int64_t divisor =
      std::gcd(std::gcd(a.outer.stride, a.inner.stride), std::gcd(b.outer.stride, b.inner.stride));
  if (ApartInPeriod(a, b, divisor, a.element_bytes, b.element_bytes)) return true;
  if (a.outer.stride != b.outer.stride) return false;
  const auto line = [](const ByteView& view) {
    return Int128{view.inner.count - 1} * view.inner.stride + view.element_bytes;
  };
  return ApartInPeriod(a, b, a.outer.stride, line(a), line(b));
}

}  // namespace

ByteView MakeByteView(const nnopbase::Tensor& tensor, const void* data) {
  const auto element_bytes = static_cast<int64_t>(aclDataTypeSize(tensor.dtype));
  ByteView view;
  view.address = reinterpret_cast<uintptr_t>(data) +
                 static_cast<uint64_t>(tensor.offset) * static_cast<uint64_t>(element_bytes);
  view.element_bytes = element_bytes;
  // Nobody has looked at the strides of an empty view.
  const auto& shape = tensor.view_shape;
  view.empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (view.empty) return view;
  Dimension* const dimensions[] = {&view.outer, &view.inner};
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (tensor.strides[i] == 0) {
      view.repeats = true;  // All on one address: as a set, one element.
    } else {
      *dimensions[i] = {shape[i], tensor.strides[i] * element_bytes};
    }
  }
  if (view.inner.stride > view.outer.stride) std::swap(view.outer, view.inner);
  view.repeats = view.repeats || Repeats(view.outer, view.inner);
  Merge(&view);
  return view;
}

bool ShareByte(const ByteView& a, const ByteView& b) {
  if (a.empty || b.empty) return false;
  const uint64_t a_end = a.address + static_cast<uint64_t>(LastStart(a) + a.element_bytes);
  const uint64_t b_end = b.address + static_cast<uint64_t>(LastStart(b) + b.element_bytes);
  if (a_end <= b.address || b_end <= a.address) return false;
  if (Apart(a, b)) return false;
  return SearchSharedByte(a, b);
}

}  // namespace mlmargin::opapi

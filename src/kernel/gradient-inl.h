// SPDX-License-Identifier: Apache-2.0
// The gradient of the classes that are no labels, on its way out of the pass over a row.
// Per-target include guard: this file is compiled once for each SIMD target.
#if defined(MLMARGIN_KERNEL_GRADIENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MLMARGIN_KERNEL_GRADIENT_INL_H_
#undef MLMARGIN_KERNEL_GRADIENT_INL_H_
#else
#define MLMARGIN_KERNEL_GRADIENT_INL_H_
#endif

#include <atomic>

#include "hwy/highway.h"
#include "kernel/active_scores-inl.h"
#include "kernel/element.h"
#include "kernel/row_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace mlmargin::kernel::HWY_NAMESPACE {

// ---- Rounding ------------------------------------------------------------------------------

// A double becomes a float, and that the output's type.

HWY_INLINE void StoreRounded(DoubleVec values, float* HWY_RESTRICT to) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  // Highway's own makes an infinity the largest finite number.
  HWY_ALIGN double lanes[kDoubleLanes];
  hn::Store(values, Doubles(), lanes);
  for (size_t i = 0; i < kDoubleLanes; ++i) to[i] = static_cast<float>(lanes[i]);
#else
  const hn::Rebind<float, Doubles> df;
  hn::StoreU(hn::DemoteTo(df, values), df, to);
#endif
}

HWY_INLINE void StoreFloats(LoadFloat32, FloatVec values, float* to) {
  hn::StoreU(values, Floats(), to);
}

// As FloatToBFloat16.
HWY_INLINE void StoreFloats(LoadBFloat16, FloatVec values, uint16_t* to) {
  const hn::Rebind<uint32_t, Floats> d32;
  const hn::Rebind<int32_t, Floats> di;
  const hn::Rebind<uint16_t, Floats> d16;
  const auto bits = hn::BitCast(d32, values);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(d32, 0x7FFFu))));
  const auto nan = hn::Or(hn::ShiftRight<16>(bits), hn::Set(d32, 0x40u));
  const auto is_nan = hn::RebindMask(d32, hn::Ne(values, values));
  const auto half = hn::IfThenElse(is_nan, nan, rounded);
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, half)), d16, to);
}

// As FloatToFloat16.
HWY_INLINE void StoreFloats(LoadFloat16, FloatVec values, uint16_t* to) {
  const Floats df;
  const hn::Rebind<uint32_t, Floats> d32;
  const hn::Rebind<int32_t, Floats> di;
  const hn::Rebind<uint16_t, Floats> d16;
  const auto bits = hn::BitCast(d32, values);
  const auto magnitude = hn::And(bits, hn::Set(d32, 0x7FFFFFFFu));
  const auto sign = hn::ShiftRight<16>(hn::Xor(bits, magnitude));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d32, 1u));
  const auto normal =
      hn::ShiftRight<13>(hn::Add(hn::Add(magnitude, odd), hn::Set(d32, 0xFFFu - (112u << 23))));
  const auto beside_half = hn::BitCast(d32, hn::Add(hn::BitCast(df, magnitude), hn::Set(df, 0.5f)));
  const auto subnormal = hn::Sub(beside_half, hn::Set(d32, 126u << 23));
  // Magnitudes are not negative as signed numbers, which every target compares.
  const auto signed_magnitude = hn::BitCast(di, magnitude);
  const auto at_least = [&](uint32_t bound) MLMARGIN_LAMBDA {
    return hn::RebindMask(d32,
                          hn::Gt(signed_magnitude, hn::Set(di, static_cast<int32_t>(bound) - 1)));
  };
  auto half = hn::IfThenElse(at_least((127u - 14) << 23), normal, subnormal);
  half = hn::IfThenElse(at_least((127u + 16) << 23), hn::Set(d32, 0x7C00u), half);
  half = hn::IfThenElse(at_least(0x7F800001u), hn::Set(d32, 0x7E00u), half);
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, hn::Or(half, sign))), d16, to);
}

// Copies `count` floats to wherever they go.
template <class Loader>
HWY_INLINE void StoreGradients(const float* values, size_t count, int64_t stride, void* to) {
  using Element = typename Loader::Element;
  if (HWY_LIKELY(stride == 1 && count >= kFloatLanes)) {
    auto* const elements = static_cast<Element*>(to);
    for (size_t i = 0; i + kFloatLanes <= count; i += kFloatLanes) {
      StoreFloats(Loader(), hn::LoadU(Floats(), values + i), elements + i);
    }
    // The last vector overlaps the one before.
    const size_t last = count - kFloatLanes;
    StoreFloats(Loader(), hn::LoadU(Floats(), values + last), elements + last);
    return;
  }
  const int64_t step = stride * static_cast<int64_t>(sizeof(Element));
  for (size_t i = 0; i < count; ++i) {
    StoreGradient(values[i], Loader::kType, Offset(to, static_cast<int64_t>(i) * step));
  }
}

// ---- Counts --------------------------------------------------------------------------------

inline void AddCount(const RowGradient& gradient, size_t place, int64_t count) {
  if (gradient.shared_counts) {
    std::atomic_ref(gradient.counts[place]).fetch_add(count, std::memory_order_relaxed);
  } else {
    gradient.counts[place] += count;
  }
}

// ---- A block at a time ---------------------------------------------------------------------

// Takes the gradient of the groups of a pass, in their order. It goes where it belongs at once, or,
// if that is not contiguous, a block later. Never past the caches: large gradients are mostly
// memory that the system has just zeroed, page by page, and that is still in them
// (docs/kernels.md).
template <class Loader>
class GradientWriter {
 public:
  static constexpr bool kWanted = true;
  using Element = typename Loader::Element;

  explicit GradientWriter(const RowGradient& to)
      : to_(to),
        direct_(to.data != nullptr && to.stride == 1),
        scale_(to.scale),
        none_(static_cast<float>(0 * to.scale)) {}

  HWY_INLINE void BeginBlock(int64_t begin, int64_t end) {
    begin_ = begin;
    count_ = static_cast<size_t>(end - begin);
    out_ = direct_ ? static_cast<Element*>(to_.data) + begin : buffer_;
  }

  // A group without an active class.
  HWY_INLINE void SkipGroup(const Group& group) {
    Element* const out = At(group);
    const FloatVec none = hn::Set(Floats(), none_);
    if (HWY_LIKELY(group.count == kGroup && group.seen == 0)) {
      for (size_t i = 0; i < kGroup; i += kFloatLanes) StoreFloats(Loader(), none, out + i);
      return;
    }
    for (size_t i = group.seen; i < group.count; ++i) StoreGradient(none_, Loader::kType, out + i);
  }

  HWY_INLINE void StoreGroup(const Group& group, const float* HWY_RESTRICT values) {
    Element* const out = At(group);
    if (HWY_LIKELY(group.count == kGroup && group.seen == 0)) {
      for (size_t i = 0; i < kGroup; i += kFloatLanes) {
        StoreFloats(Loader(), hn::Load(Floats(), values + i), out + i);
      }
      return;
    }
    for (size_t i = group.seen; i < group.count; ++i) {
      StoreGradient(values[i], Loader::kType, out + i);
    }
  }

  // Where a group begins in the block.
  HWY_INLINE size_t Position(const Group& group) const {
    return static_cast<size_t>(group.begin - begin_);
  }

  // Replaces the gradient of a class of the block.
  HWY_INLINE void Replace(size_t position, int32_t count) {
    StoreGradient(static_cast<float>(count * scale_), Loader::kType, out_ + position);
  }

  HWY_INLINE void EndBlock() {
    if (direct_ || to_.data == nullptr) return;
    const int64_t step = to_.stride * static_cast<int64_t>(sizeof(Element));
    void* const first = Offset(to_.data, begin_ * step);
    for (size_t i = 0; i < count_; ++i) {
      StoreUnaligned(buffer_[i], Offset(first, static_cast<int64_t>(i) * step));
    }
  }

 private:
  HWY_INLINE Element* At(const Group& group) const { return out_ + (group.begin - begin_); }

  const RowGradient& to_;
  const bool direct_;
  const double scale_;
  const float none_;
  int64_t begin_ = 0;
  size_t count_ = 0;
  Element* out_ = nullptr;
  HWY_ALIGN Element buffer_[static_cast<size_t>(LabelBits::kClasses)];
};

}  // namespace mlmargin::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

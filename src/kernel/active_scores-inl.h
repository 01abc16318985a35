// SPDX-License-Identifier: Apache-2.0
// The one pass over a row: reads the scores, writes the mask, and hands on the groups of classes
// among which a hinge may be positive.
// Per-target include guard: this file is compiled once for each SIMD target.
#if defined(MLMARGIN_KERNEL_ACTIVE_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MLMARGIN_KERNEL_ACTIVE_SCORES_INL_H_
#undef MLMARGIN_KERNEL_ACTIVE_SCORES_INL_H_
#else
#define MLMARGIN_KERNEL_ACTIVE_SCORES_INL_H_
#endif

#include <algorithm>
#include <cstring>
#include <iterator>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernel/element.h"
#include "kernel/row_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace mlmargin::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// For lambdas with vectors in them. Called, one would be given everything it captures by memory.
#undef MLMARGIN_LAMBDA
#define MLMARGIN_LAMBDA HWY_ATTR __attribute__((always_inline))

// Every target adds in the order of a machine with vectors of this many floats, so that the bits
// agree.
inline constexpr size_t kLanes = 16;
using Floats = hn::CappedTag<float, kLanes>;
using FloatVec = hn::Vec<Floats>;
inline constexpr size_t kFloatLanes = hn::MaxLanes(Floats());

using Doubles = hn::CappedTag<double, kLanes / 2>;
using DoubleVec = hn::Vec<Doubles>;
inline constexpr size_t kDoubleLanes = hn::MaxLanes(Doubles());

// Keeps what was stored in memory: to convert from there is one instruction, out of the registers
// it is three on AVX-512.
HWY_INLINE void KeepInMemory(const void* stored) { asm volatile("" : : "r"(stored) : "memory"); }

// max(0, hinge), with NaN as 0: of NaN and zero, every target's maximum is zero.
HWY_INLINE DoubleVec PositivePart(DoubleVec hinge) { return hn::Max(hinge, hn::Zero(Doubles())); }

// Adds the upper half of the lanes to the lower one until one is left.
template <class D>
HWY_INLINE double SumByHalves(D, hn::Vec<D> sums) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) > 1) {
    const hn::Half<D> half;
    return SumByHalves(half, hn::Add(hn::LowerHalf(half, sums), hn::UpperHalf(half, sums)));
  }
#endif
  return hn::GetLane(sums);
}

// Of kLanes virtual lanes, in the same order.
HWY_INLINE double SumOfVirtualLanes(const DoubleVec (&lanes)[kLanes / kDoubleLanes]) {
  DoubleVec sums[kLanes / kDoubleLanes];
  std::copy(std::begin(lanes), std::end(lanes), sums);
  for (size_t half = kLanes / kDoubleLanes / 2; half > 0; half /= 2) {
    for (size_t v = 0; v < half; ++v) sums[v] = hn::Add(sums[v], sums[v + half]);
  }
  return SumByHalves(Doubles(), sums[0]);
}
HWY_INLINE double SumOfVirtualLanes(const double* HWY_RESTRICT lanes) {
  DoubleVec sums[kLanes / kDoubleLanes];
  for (size_t v = 0; v < kLanes / kDoubleLanes; ++v) {
    sums[v] = hn::Load(Doubles(), lanes + v * kDoubleLanes);
  }
  return SumOfVirtualLanes(sums);
}

inline constexpr size_t kLineBytes = 64;  // Of the caches.

// Classes of a group, a bit of a word each.
inline constexpr size_t kGroup = 64;
inline constexpr size_t kGroupVectors = kGroup / kFloatLanes;

// Classes that are looked at together. A group at the end of a row is filled up with classes of the
// one before, if there is one, so that it is whole too.
struct Group {
  int64_t begin;
  size_t count;
  uint64_t labels;    // Which of them are labels, a bit each.
  uint64_t excluded;  // Which of them are not to count: labels, and those of the group before.
  size_t seen;        // Of the group before.
};

// ---- Scores to float -----------------------------------------------------------------------

// LoadFloats reads as many scores as the vector has lanes.

struct LoadFloat32 {
  static constexpr ScoreType kType = ScoreType::kFloat32;
  using Element = float;
  static Element One() { return 1.0f; }
  template <class D>
  static HWY_INLINE hn::Vec<D> LoadFloats(D df, const Element* from) {
    return hn::LoadU(df, from);
  }
};

struct LoadBFloat16 {
  static constexpr ScoreType kType = ScoreType::kBFloat16;
  using Element = uint16_t;
  static Element One() { return OneBits16(kType); }
  template <class D>
  static HWY_INLINE hn::Vec<D> LoadFloats(D df, const Element* from) {
    const hn::Rebind<uint16_t, D> d16;
    const hn::Rebind<uint32_t, D> d32;
    return hn::BitCast(df, hn::ShiftLeft<16>(hn::PromoteTo(d32, hn::LoadU(d16, from))));
  }
};

// As Float16ToFloat: Highway 1.0.3's own promotion is wrong for infinities and NaN on some
// targets.
struct LoadFloat16 {
  static constexpr ScoreType kType = ScoreType::kFloat16;
  using Element = uint16_t;
  static Element One() { return OneBits16(kType); }
  template <class D>
  static HWY_INLINE hn::Vec<D> LoadFloats(D df, const Element* from) {
    const hn::Rebind<uint16_t, D> d16;
    const hn::Rebind<uint32_t, D> d32;
    const auto bits = hn::PromoteTo(d32, hn::LoadU(d16, from));
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(d32, 0x8000u)));
    const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(d32, 0x7FFFu)));
    const auto scaled = hn::Mul(hn::BitCast(df, magnitude), hn::Set(df, 0x1p112f));
    const auto infinity = hn::Set(d32, 0x7F800000u);
    const auto special = hn::Eq(hn::And(bits, hn::Set(d32, 0x7C00u)), hn::Set(d32, 0x7C00u));
    const auto value =
        hn::IfThenElse(special, hn::Or(magnitude, infinity), hn::BitCast(d32, scaled));
    return hn::BitCast(df, hn::Or(value, sign));
  }
};

template <class Loader>
HWY_INLINE FloatVec LoadFloatVec(const typename Loader::Element* from) {
  return Loader::LoadFloats(Floats(), from);
}
template <class Loader>
HWY_INLINE DoubleVec LoadDoubleVec(const typename Loader::Element* from) {
  return hn::PromoteTo(Doubles(), Loader::LoadFloats(hn::Rebind<float, Doubles>(), from));
}

// Copies `count` <= kGroup scores that are not a whole contiguous group.
template <class Loader>
HWY_INLINE void CopyScores(const void* from, int64_t stride, size_t count, float* HWY_RESTRICT to) {
  using Element = typename Loader::Element;
  if (stride == 1 && count >= kFloatLanes) {
    const auto* const elements = static_cast<const Element*>(from);
    for (size_t i = 0; i + kFloatLanes <= count; i += kFloatLanes) {
      hn::StoreU(LoadFloatVec<Loader>(elements + i), Floats(), to + i);
    }
    // The last vector overlaps the one before.
    hn::StoreU(LoadFloatVec<Loader>(elements + count - kFloatLanes), Floats(),
               to + count - kFloatLanes);
    return;
  }
  const int64_t step = stride * static_cast<int64_t>(sizeof(Element));
  for (size_t i = 0; i < count; ++i) {
    to[i] = LoadScore(Loader::kType, Offset(from, static_cast<int64_t>(i) * step));
  }
}

// 64 bits of an array from any one on that is not in the last word.
inline uint64_t BitsFrom(const uint64_t* words, size_t first) {
  const uint64_t next = words[first / 64 + 1] << 1;
  return words[first / 64] >> (first % 64) | next << (63 - first % 64);
}

// Which of the classes [begin, end), of one slice, are labels, a bit each, and a word more.
struct LabelBits {
  static constexpr int64_t kClasses = LabelList::kSliceClasses;
  const uint64_t* words;

  LabelBits(const LabelList& labels, int64_t begin, int64_t end) {
    if (labels.dense()) {
      words = labels.bits() + begin / static_cast<int64_t>(kGroup);
      return;
    }
    words = own_;
    std::fill_n(own_, static_cast<size_t>(end - begin) / kGroup + 1, 0);
    for (const int64_t label : labels.ClassesNear(begin)) {
      if (label < begin || label >= end) continue;
      const auto i = static_cast<size_t>(label - begin);
      own_[i / kGroup] |= uint64_t{1} << (i % kGroup);
    }
  }
  LabelBits(const LabelBits&) = delete;
  LabelBits& operator=(const LabelBits&) = delete;

  // Of a group that begins anywhere before the last word.
  uint64_t From(size_t first) const { return BitsFrom(words, first); }

 private:
  uint64_t own_[static_cast<size_t>(kClasses) / kGroup + 1];
};

// ---- Mask ----------------------------------------------------------------------------------

inline void StoreMaskElement(const Row& row, int64_t index, bool is_label) {
  void* const to = Offset(row.mask, index * row.mask_stride * ScoreBytes(row.scores.type));
  if (row.scores.type == ScoreType::kFloat32) {
    StoreUnaligned(is_label ? 1.0f : 0.0f, to);
  } else {
    StoreUnaligned(is_label ? OneBits16(row.scores.type) : uint16_t{0}, to);
  }
}

// Which of the Lanes(d) classes from the `shift`-th of a group on are labels.
template <class D>
HWY_INLINE hn::Mask<D> LabelMask(D d, uint64_t labels, size_t shift) {
  const uint64_t bits = labels >> shift;
  uint8_t bytes[sizeof(bits)];
  std::memcpy(bytes, &bits, sizeof(bits));
  return hn::LoadMaskBits(d, bytes);
}

// A whole contiguous group.
template <typename Element>
HWY_INLINE void WriteMaskGroup(Element one, uint64_t labels, void* to) {
  const hn::CappedTag<Element, kGroup / 4> d;
  auto* const elements = static_cast<Element*>(to);
  if (HWY_LIKELY(labels == 0)) {
    for (size_t i = 0; i < kGroup; i += hn::Lanes(d)) hn::StoreU(hn::Zero(d), d, elements + i);
    return;
  }
  for (size_t i = 0; i < kGroup; i += hn::Lanes(d)) {
    hn::StoreU(hn::IfThenElseZero(LabelMask(d, labels, i), hn::Set(d, one)), d, elements + i);
  }
}

HWY_INLINE void WriteMask(const Row& row, const Group& group) {
  if (HWY_LIKELY(group.count == kGroup && row.mask_stride == 1)) {
    void* const to = Offset(row.mask, group.begin * ScoreBytes(row.scores.type));
    if (row.scores.type == ScoreType::kFloat32) {
      WriteMaskGroup(1.0f, group.labels, to);
    } else {
      WriteMaskGroup(OneBits16(row.scores.type), group.labels, to);
    }
    return;
  }
  for (size_t i = 0; i < group.count; ++i) {
    StoreMaskElement(row, group.begin + static_cast<int64_t>(i), (group.labels >> i & 1) != 0);
  }
}

// Writes the mask of a block of classes past the caches, but for the groups with labels. Its groups
// begin at a cache line, wherever those of the scores do.
template <typename Element>
class MaskStream {
 public:
  // `to` is aligned as its elements are.
  HWY_INLINE MaskStream(Element one, const LabelBits& labels, size_t count, Element* to)
      : one_(one), labels_(labels), count_(count), to_(to) {
    constexpr size_t kLine = kLineBytes / sizeof(Element);
    const size_t in_line = reinterpret_cast<uintptr_t>(to) / sizeof(Element) % kLine;
    next_ = std::min((kLine - in_line) % kLine, count);
    WritePart(0, next_);
  }

  HWY_INLINE void WriteGroup() {
    const hn::CappedTag<Element, kGroup / 4> d;
    if (next_ + kGroup > count_) return;
    const uint64_t bits = labels_.From(next_);
    if (HWY_LIKELY(bits == 0)) {
      for (size_t i = 0; i < kGroup; i += hn::Lanes(d)) {
        hn::Stream(hn::Zero(d), d, to_ + next_ + i);
      }
    } else {
      WriteMaskGroup(one_, bits, to_ + next_);
    }
    next_ += kGroup;
  }

  HWY_INLINE void Finish() { WritePart(next_, count_); }

 private:
  HWY_INLINE void WritePart(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      to_[i] = (labels_.words[i / kGroup] >> (i % kGroup) & 1) != 0 ? one_ : Element{0};
    }
  }

  const Element one_;
  const LabelBits& labels_;
  const size_t count_;
  Element* const to_;
  size_t next_;
};

// Fetches a group of scores far ahead into the second cache: beside the mask's stores the
// processor's own prefetching falls behind, and it stops at the ends of pages.
template <typename Element>
HWY_INLINE void PrefetchScores(const Row& row, const Group& group) {
  if (row.scores.stride != 1) return;
  constexpr int64_t kAhead = 64 * static_cast<int64_t>(kGroup);
  constexpr int kRead = 0, kSecondCache = 2;
  // An address only, which may be past the end.
  const uintptr_t from = reinterpret_cast<uintptr_t>(row.scores.data) +
                         static_cast<uintptr_t>(group.begin + kAhead) * sizeof(Element);
  for (size_t i = 0; i < kGroup * sizeof(Element); i += kLineBytes) {
    __builtin_prefetch(reinterpret_cast<const void*>(from + i), kRead, kSecondCache);
  }
}

// ---- The pass ------------------------------------------------------------------------------

// The scores of a group, as they are where they are whole and float, else copied to `copy`; filled
// up with `lowest`.
template <class Loader>
HWY_INLINE const float* GroupScores(const Row& row, const Group& group, float lowest,
                                    float* HWY_RESTRICT copy) {
  using Element = typename Loader::Element;
  const Floats df;
  const void* const from = Offset(
      row.scores.data, group.begin * row.scores.stride * static_cast<int64_t>(sizeof(Element)));
  if (HWY_LIKELY(group.count == kGroup && row.scores.stride == 1)) {
    const auto* const elements = static_cast<const Element*>(from);
    if constexpr (Loader::kType == ScoreType::kFloat32) return elements;
    for (size_t i = 0; i < kGroup; i += kFloatLanes) {
      hn::Store(LoadFloatVec<Loader>(elements + i), df, copy + i);
    }
    return copy;
  }
  for (size_t i = 0; i < kGroup; i += kFloatLanes) hn::Store(hn::Set(df, lowest), df, copy + i);
  CopyScores<Loader>(from, row.scores.stride, group.count, copy);
  return copy;
}

// Which scores of a group may have a hinge: those above the lowest threshold that are to count.
struct ActiveMasks {
  hn::Mask<Floats> masks[kGroupVectors];
  const bool any_excluded;

  HWY_INLINE ActiveMasks(const float* HWY_RESTRICT scores, const Group& group, float lowest)
      : any_excluded(group.excluded != 0) {
    const Floats df;
    const FloatVec bound = hn::Set(df, lowest);
    for (size_t v = 0; v < kGroupVectors; ++v) {
      masks[v] = hn::Gt(hn::LoadU(df, scores + v * kFloatLanes), bound);
    }
    if (!any_excluded) return;
    for (size_t v = 0; v < kGroupVectors; ++v) {
      masks[v] = hn::AndNot(LabelMask(df, group.excluded, v * kFloatLanes), masks[v]);
    }
  }

  HWY_INLINE bool None() const {
    auto any = masks[0];
    for (size_t v = 1; v < kGroupVectors; ++v) any = hn::Or(any, masks[v]);
    return hn::AllFalse(Floats(), any);
  }

  // Copies the scores, with `lowest` in the place of the others, NaN among them.
  HWY_INLINE void Clean(const float* scores, float lowest, float* clean) const {
    const Floats df;
    for (size_t v = 0; v < kGroupVectors; ++v) {
      const FloatVec y = hn::LoadU(df, scores + v * kFloatLanes);
      hn::Store(hn::IfThenElse(masks[v], y, hn::Set(df, lowest)), df, clean + v * kFloatLanes);
    }
  }
};

// The last group of a block, of `rest` < kGroup classes behind `whole` whole groups.
HWY_INLINE Group LastGroup(const LabelBits& labels, int64_t block_end, size_t whole, size_t rest) {
  const uint64_t bits = labels.words[whole];
  if (whole == 0) return {block_end - static_cast<int64_t>(rest), rest, bits, bits, 0};
  const uint64_t filled = labels.words[whole - 1] >> rest | bits << (kGroup - rest);
  return {block_end - static_cast<int64_t>(kGroup), kGroup, filled, filled | ~uint64_t{0} >> rest,
          kGroup - rest};
}

// What stands for a writer of the gradient (gradient-inl.h) in a pass without one.
struct NoGradient {
  static constexpr bool kWanted = false;
  HWY_INLINE void BeginBlock(int64_t, int64_t) {}
  HWY_INLINE void SkipGroup(const Group&) {}
  HWY_INLINE void EndBlock() {}
};

// Calls visit(group) for the groups of the classes [begin, end); `begin` is a multiple of
// LabelBits::kClasses. kMask tells what becomes of their mask.
enum class MaskWrite { kNone, kStore, kStream };
template <class Loader, MaskWrite kMask, class Gradient, class Visit>
HWY_INLINE void ForEachGroupWriting(const Row& row, int64_t begin, int64_t end, Gradient* gradient,
                                    const Visit& visit) {
  using Element = typename Loader::Element;
  constexpr bool kStream = kMask == MaskWrite::kStream;
  for (int64_t block = begin; block < end; block += LabelBits::kClasses) {
    const int64_t block_end = std::min(block + LabelBits::kClasses, end);
    const LabelBits labels(*row.labels, block, block_end);
    const auto classes = static_cast<size_t>(block_end - block);
    const size_t whole = classes / kGroup;
    const size_t rest = classes % kGroup;
    const size_t num_groups = whole + (rest != 0 ? 1 : 0);
    MaskStream<Element> stream(Loader::One(), labels, kStream ? classes : 0,
                               kStream ? static_cast<Element*>(row.mask) + block : nullptr);
    gradient->BeginBlock(block, block_end);
    for (size_t g = 0; g < num_groups; ++g) {
      const uint64_t bits = labels.words[g];
      const Group group = HWY_LIKELY(g < whole) ? Group{block + static_cast<int64_t>(g * kGroup),
                                                        kGroup, bits, bits, 0}
                                                : LastGroup(labels, block_end, whole, rest);
      if constexpr (kMask == MaskWrite::kStore) WriteMask(row, group);
      if constexpr (kStream) stream.WriteGroup();
      if constexpr (kMask != MaskWrite::kNone || Gradient::kWanted) {
        PrefetchScores<Element>(row, group);
      }
      visit(group);
    }
    stream.Finish();
    gradient->EndBlock();
  }
}

// With kMayWrite false, `write_mask` is too.
template <class Loader, bool kMayWrite = true, class Gradient, class Visit>
HWY_INLINE void ForEachGroup(const Row& row, bool write_mask, int64_t begin, int64_t end,
                             Gradient* gradient, const Visit& visit) {
  if (!kMayWrite || !write_mask) {
    ForEachGroupWriting<Loader, MaskWrite::kNone>(row, begin, end, gradient, visit);
  } else if constexpr (kMayWrite) {
    if (row.stream_mask) {
      ForEachGroupWriting<Loader, MaskWrite::kStream>(row, begin, end, gradient, visit);
    } else {
      ForEachGroupWriting<Loader, MaskWrite::kStore>(row, begin, end, gradient, visit);
    }
  }
}

// Reads the scores of the classes [begin, end) and writes their mask if asked to; calls
// use(group, scores, active) for the groups of kGroup classes with a score above `lowest`. The
// others' gradient is written here, theirs is left to `use`.
template <class Loader, bool kMayWrite = true, class Gradient, class Use>
HWY_INLINE void ForEachActiveGroup(const Row& row, bool write_mask, int64_t begin, int64_t end,
                                   float lowest, Gradient* gradient, const Use& use) {
  HWY_ALIGN float copy[kGroup];
  const auto look = [&](const Group& group) MLMARGIN_LAMBDA {
    const float* const scores = GroupScores<Loader>(row, group, lowest, copy);
    const ActiveMasks active(scores, group, lowest);
    // Scores of a trained model: hardly any class is above even the lowest threshold.
    if (active.None()) return gradient->SkipGroup(group);
    use(group, scores, active);
  };
  ForEachGroup<Loader, kMayWrite>(row, write_mask, begin, end, gradient, look);
}

}  // namespace mlmargin::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

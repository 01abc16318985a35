// SPDX-License-Identifier: Apache-2.0
// Copies and fills, checked in one place: first the words of the arguments, then on which side
// each address lies. The checks hold the blocks they found, so a copy that is done later finds
// its memory mapped even if it was freed meanwhile.
#ifndef MLMARGIN_RUNTIME_COPY_H_
#define MLMARGIN_RUNTIME_COPY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "acl/acl.h"
#include "runtime/memory.h"
#include "runtime/status.h"

namespace mlmargin::runtime {

enum class CopyDirection { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice };

// A copy whose arguments are right: `height` rows of `width` bytes, the pitches apart. A plain
// copy is one row. Nothing is to be done if width is 0.
struct CheckedCopy {
  CopyDirection direction = CopyDirection::kHostToHost;  // kind, or for DEFAULT by address.
  void* dst = nullptr;
  const void* src = nullptr;
  size_t dst_pitch = 0;
  size_t src_pitch = 0;
  size_t width = 0;
  size_t height = 1;
  // The device, pinned or registered memory that the side lies in, whole; null for ordinary host
  // memory. Hold them until the copy is done.
  std::shared_ptr<const Block> dst_block;
  std::shared_ptr<const Block> src_block;

  // True if a side is ordinary host memory, whose life the caller alone knows: the copy must be
  // done before the call returns.
  bool TouchesOrdinaryHostMemory() const { return dst_block == nullptr || src_block == nullptr; }
};

// Checks a copy of `count` bytes. count 0 is fine whatever the rest (width is then 0). Null
// pointers and kinds 6, 7 and unknown: 100000. count above dest_max, a side that `kind` calls
// device outside any device allocation or registered range, and a host side in device memory:
// 107000.
Status CheckCopy(void* dst, size_t dest_max, const void* src, size_t count, aclrtMemcpyKind kind,
                 CheckedCopy* copy);

// The same for rows. Kinds: H2D, D2H and, if asked for, D2D, others 100000; width or height 0 or
// width above a pitch: 100000.
enum class Copy2dKinds { kHostAndDevice, kAlsoDeviceToDevice };
Status CheckCopy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                   size_t height, aclrtMemcpyKind kind, Copy2dKinds kinds, CheckedCopy* copy);

// What the copy touches: dst, then src, each from its first byte to its last.
std::array<Access, 2> AccessesOf(const CheckedCopy& copy);

// Moves the bytes; the sides may overlap when it is a plain copy.
void RunCopy(const CheckedCopy& copy) noexcept;

// The bytes of a side on the host, given its block or null for ordinary memory.
void* BytesOf(const std::shared_ptr<const Block>& block, const void* address);

// Checks a fill of `count` bytes at host or device memory (by the address). count 0 is fine
// whatever the rest. Null: 100000; count above max_count, or a range that begins in device or
// pinned memory and ends outside of it: 107000. `block` is null for ordinary host memory.
Status CheckMemset(void* address, size_t max_count, size_t count,
                   std::shared_ptr<const Block>* block);

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_COPY_H_

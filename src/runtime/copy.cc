// SPDX-License-Identifier: Apache-2.0
#include "runtime/copy.h"

#include <fmt/core.h>

#include <cstring>
#include <string>

#include "runtime/errors.h"

namespace mlmargin::runtime {
namespace {

enum class Side { kHost, kDevice, kByAddress };

// One end of a copy or a fill: how its range is named in a message, and where it lies.
struct Range {
  const char* argument;
  const void* address;
  size_t bytes;
  bool has_gaps = false;  // Between rows; what lies there may be another's.
};

std::string Describe(const Range& range) {
  return fmt::format("argument {} is {} with {} bytes", range.argument, range.address, range.bytes);
}

Status PastTheEnd(const Range& range, const Block& block) {
  return InvalidRuntimeParam(
      fmt::format("{}, which runs past the end of its block of {} bytes at {}.", Describe(range),
                  block.bytes(), block.data()));
}

// Of a range that begins in the caller's own memory.
Status CheckStaysOwn(const Range& range) {
  if (range.has_gaps || !TouchesAllocation(range.address, range.bytes)) return {};
  return InvalidRuntimeParam(
      fmt::format("{}, which begins in memory of the caller's own and runs into memory from "
                  "aclrtMalloc or aclrtMallocHost.",
                  Describe(range)));
}

// Finds the block that the range lies in; on the host side null for ordinary memory.
Status Locate(const Range& range, Side side, std::shared_ptr<const Block>* block) {
  std::shared_ptr<const Block> found = FindBlockAt(range.address);
  if (side == Side::kDevice) {
    if (found == nullptr || found->kind() == BlockKind::kPinnedHost) {
      return InvalidRuntimeParam(
          fmt::format("{}, which is no live device memory; expected memory from aclrtMalloc, or "
                      "registered host memory.",
                      Describe(range)));
    }
    if (!found->Holds(range.address, range.bytes)) return PastTheEnd(range, *found);
    *block = std::move(found);
    return {};
  }
  if (found == nullptr) return CheckStaysOwn(range);
  if (side == Side::kHost && found->kind() == BlockKind::kDevice) {
    return InvalidRuntimeParam(fmt::format(
        "{}, which is device memory; expected host memory for this kind.", Describe(range)));
  }
  if (found->Holds(range.address, range.bytes)) {
    *block = std::move(found);
    return {};
  }
  // The caller may have registered a part of his memory only; what we gave has an end.
  if (found->kind() == BlockKind::kRegisteredHost) return CheckStaysOwn(range);
  return PastTheEnd(range, *found);
}

struct Sides {
  Side dst;
  Side src;
};

Status SidesOf(aclrtMemcpyKind kind, Sides* sides) {
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST:
      *sides = {.dst = Side::kHost, .src = Side::kHost};
      return {};
    case ACL_MEMCPY_HOST_TO_DEVICE:
    case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE:
      *sides = {.dst = Side::kDevice, .src = Side::kHost};
      return {};
    case ACL_MEMCPY_DEVICE_TO_HOST:
      *sides = {.dst = Side::kHost, .src = Side::kDevice};
      return {};
    case ACL_MEMCPY_DEVICE_TO_DEVICE:
      *sides = {.dst = Side::kDevice, .src = Side::kDevice};
      return {};
    case ACL_MEMCPY_DEFAULT:
      *sides = {.dst = Side::kByAddress, .src = Side::kByAddress};
      return {};
    default:
      return InvalidParam(
          fmt::format("argument kind is {}; expected 0 to 5.", static_cast<int>(kind)));
  }
}

bool IsDevice(Side side, const Block* block) {
  if (side != Side::kByAddress) return side == Side::kDevice;
  return block != nullptr && block->kind() == BlockKind::kDevice;
}

CopyDirection DirectionOf(bool dst_is_device, bool src_is_device) {
  if (dst_is_device) {
    return src_is_device ? CopyDirection::kDeviceToDevice : CopyDirection::kHostToDevice;
  }
  return src_is_device ? CopyDirection::kDeviceToHost : CopyDirection::kHostToHost;
}

// Both ranges, from the first byte to the last.
Status LocateBoth(size_t dst_bytes, size_t src_bytes, aclrtMemcpyKind kind, CheckedCopy* copy) {
  Sides sides{};
  MLMARGIN_RETURN_IF_ERROR(SidesOf(kind, &sides));
  const auto has_gaps = [&](size_t pitch) { return copy->height > 1 && pitch > copy->width; };
  MLMARGIN_RETURN_IF_ERROR(Locate({"dst", copy->dst, dst_bytes, has_gaps(copy->dst_pitch)},
                                  sides.dst, &copy->dst_block));
  MLMARGIN_RETURN_IF_ERROR(Locate({"src", copy->src, src_bytes, has_gaps(copy->src_pitch)},
                                  sides.src, &copy->src_block));
  copy->direction = DirectionOf(IsDevice(sides.dst, copy->dst_block.get()),
                                IsDevice(sides.src, copy->src_block.get()));
  return {};
}

Status Check2dKind(aclrtMemcpyKind kind, Copy2dKinds kinds) {
  if (kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_HOST) return {};
  const bool device_to_device = kinds == Copy2dKinds::kAlsoDeviceToDevice;
  if (device_to_device && kind == ACL_MEMCPY_DEVICE_TO_DEVICE) return {};
  return InvalidParam(fmt::format("argument kind is {}; expected {}.", static_cast<int>(kind),
                                  device_to_device ? "1, 2 or 3" : "1 or 2"));
}

Status Check2dShape(const CheckedCopy& copy) {
  if (copy.width == 0 || copy.height == 0) {
    return InvalidParam(fmt::format("arguments width and height are {} and {}; expected 1 or more.",
                                    copy.width, copy.height));
  }
  if (copy.width > copy.dst_pitch || copy.width > copy.src_pitch) {
    return InvalidParam(
        fmt::format("argument width is {} bytes; expected at most dpitch, {}, and spitch, {}.",
                    copy.width, copy.dst_pitch, copy.src_pitch));
  }
  const size_t pitch = copy.dst_pitch > copy.src_pitch ? copy.dst_pitch : copy.src_pitch;
  if (copy.height - 1 > (SIZE_MAX - copy.width) / pitch) {
    return InvalidRuntimeParam(
        fmt::format("argument height is {}; with rows {} bytes apart there "
                    "are not that many addresses.",
                    copy.height, pitch));
  }
  return {};
}

}  // namespace

Status CheckCopy(void* dst, size_t dest_max, const void* src, size_t count, aclrtMemcpyKind kind,
                 CheckedCopy* copy) {
  *copy = CheckedCopy();
  if (count == 0) return {};
  MLMARGIN_RETURN_IF_NULL(dst);
  MLMARGIN_RETURN_IF_NULL(src);
  Sides sides{};
  MLMARGIN_RETURN_IF_ERROR(SidesOf(kind, &sides));
  if (count > dest_max) {
    return InvalidRuntimeParam(
        fmt::format("argument count is {} bytes; expected at most destMax, {}.", count, dest_max));
  }
  copy->dst = dst;
  copy->src = src;
  copy->width = copy->dst_pitch = copy->src_pitch = count;
  return LocateBoth(count, count, kind, copy);
}

Status CheckCopy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                   size_t height, aclrtMemcpyKind kind, Copy2dKinds kinds, CheckedCopy* copy) {
  *copy = CheckedCopy();
  MLMARGIN_RETURN_IF_NULL(dst);
  MLMARGIN_RETURN_IF_NULL(src);
  MLMARGIN_RETURN_IF_ERROR(Check2dKind(kind, kinds));
  copy->dst = dst;
  copy->src = src;
  copy->dst_pitch = dpitch;
  copy->src_pitch = spitch;
  copy->width = width;
  copy->height = height;
  MLMARGIN_RETURN_IF_ERROR(Check2dShape(*copy));
  return LocateBoth((height - 1) * dpitch + width, (height - 1) * spitch + width, kind, copy);
}

std::array<Access, 2> AccessesOf(const CheckedCopy& copy) {
  const auto extent = [&](size_t pitch) { return (copy.height - 1) * pitch + copy.width; };
  return {{{"dst", copy.dst, extent(copy.dst_pitch), /*writes=*/true, copy.dst_block},
           {"src", copy.src, extent(copy.src_pitch), /*writes=*/false, copy.src_block}}};
}

void* BytesOf(const std::shared_ptr<const Block>& block, const void* address) {
  return block != nullptr ? block->HostAddress(address) : const_cast<void*>(address);
}

void RunCopy(const CheckedCopy& copy) noexcept {
  if (copy.width == 0) return;
  auto* dst = static_cast<std::byte*>(BytesOf(copy.dst_block, copy.dst));
  const auto* src = static_cast<const std::byte*>(BytesOf(copy.src_block, copy.src));
  for (size_t row = 0; row < copy.height; ++row) {
    std::memmove(dst + row * copy.dst_pitch, src + row * copy.src_pitch, copy.width);
  }
}

Status CheckMemset(void* address, size_t max_count, size_t count,
                   std::shared_ptr<const Block>* block) {
  block->reset();
  if (count == 0) return {};
  if (address == nullptr) return NullPointer("devPtr");
  if (count > max_count) {
    return InvalidRuntimeParam(fmt::format(
        "argument count is {} bytes; expected at most maxCount, {}.", count, max_count));
  }
  return Locate({"devPtr", address, count}, Side::kByAddress, block);
}

}  // namespace mlmargin::runtime

// SPDX-License-Identifier: Apache-2.0
// Entry points for copies and fills as tasks of a stream.
#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/c_api.h"
#include "runtime/copy.h"
#include "runtime/debug_settings.h"
#include "runtime/race_check.h"
#include "runtime/stream.h"

namespace mlmargin::runtime {
namespace {

constexpr size_t kDeviceCopyAlignment = 64;
constexpr size_t kMaxWidth2d = 5000000;
constexpr size_t kMaxHeight2d = 5U * 1024 * 1024;

// Tells whoever waits for a task whether it ran or was dropped.
using RanFlag = std::shared_ptr<bool>;

class CopyTask : public Task {
 public:
  CopyTask(const char* function, CheckedCopy copy, std::vector<std::byte> set_aside, RanFlag ran)
      : function_(function),
        copy_(std::move(copy)),
        accesses_(AccessesOf(copy_)),
        set_aside_(std::move(set_aside)),
        ran_(std::move(ran)) {}
  Status Run() override {
    RunCopy(copy_);
    if (ran_ != nullptr) *ran_ = true;
    return {};
  }
  const char* api_function() const override { return function_; }
  std::span<const Access> accesses() const override { return accesses_; }

 private:
  const char* const function_;
  const CheckedCopy copy_;
  const std::array<Access, 2> accesses_;
  const std::vector<std::byte> set_aside_;  // The source of HOST_TO_BUF_TO_DEVICE.
  const RanFlag ran_;
};

class MemsetTask : public Task {
 public:
  MemsetTask(void* address, int value, size_t count, std::shared_ptr<const Block> block)
      : access_{"devPtr", address, count, /*writes=*/true, std::move(block)}, value_(value) {}
  Status Run() override {
    std::memset(BytesOf(access_.block, access_.address), value_, access_.bytes);
    return {};
  }
  const char* api_function() const override { return "aclrtMemsetAsync"; }
  std::span<const Access> accesses() const override { return {&access_, 1}; }

 private:
  const Access access_;
  const int value_;
};

// Copies in the order of the stream, and comes back when it is over: a side is memory whose life
// the caller alone knows.
Status PushAndWait(const char* function, Stream& stream, CheckedCopy copy) {
  const RanFlag ran = std::make_shared<bool>(false);
  MLMARGIN_RETURN_IF_ERROR(stream.PushAndWait(
      TaskKind::kDevice,
      std::make_unique<CopyTask>(function, std::move(copy), std::vector<std::byte>(), ran)));
  if (*ran) return {};
  return Status(ACL_ERROR_RT_STREAM_ABORT, "EE1019",
                fmt::format("stream {} was aborted, stopped or destroyed before it came to this "
                            "copy, which did not happen.",
                            stream.id()));
}

Status CheckDirection(const CheckedCopy& copy) {
  if (copy.direction != CopyDirection::kHostToHost) return {};
  return NotSupported("copies from host to host are not asynchronous; use aclrtMemcpy.");
}

Status CheckAlignment(const CheckedCopy& copy) {
  if (copy.direction != CopyDirection::kDeviceToDevice) return {};
  const auto is_aligned = [](const void* address) {
    return reinterpret_cast<uintptr_t>(address) % kDeviceCopyAlignment == 0;
  };
  if (is_aligned(copy.dst) && is_aligned(copy.src)) return {};
  return InvalidRuntimeParam(fmt::format(
      "arguments dst {} and src {}: expected multiples of {} for an asynchronous copy from device "
      "to device.",
      copy.dst, copy.src, kDeviceCopyAlignment));
}

Status PushCopy(const char* function, Stream& stream, CheckedCopy copy) {
  if (copy.TouchesOrdinaryHostMemory()) return PushAndWait(function, stream, std::move(copy));
  return stream.Push(
      TaskKind::kDevice,
      std::make_unique<CopyTask>(function, std::move(copy), std::vector<std::byte>(), nullptr));
}

// The source is copied on the spot, so it may be ordinary memory and go when the call returns.
Status PushBufferedCopy(const char* function, Stream& stream, CheckedCopy copy) {
  if (RaceCheckIsOn()) {
    const std::array<Access, 2> accesses = AccessesOf(copy);
    CheckHostAccess(function, std::span(accesses).last(1));
  }
  const auto* const bytes = static_cast<const std::byte*>(copy.src);
  std::vector<std::byte> set_aside(bytes, bytes + copy.width);
  copy.src = set_aside.data();
  copy.src_block = nullptr;
  return stream.Push(TaskKind::kDevice, std::make_unique<CopyTask>(function, std::move(copy),
                                                                   std::move(set_aside), nullptr));
}

Status MemcpyAsync(void* dst, size_t dest_max, const void* src, size_t count, aclrtMemcpyKind kind,
                   Stream& stream) {
  CheckedCopy copy;
  MLMARGIN_RETURN_IF_ERROR(CheckCopy(dst, dest_max, src, count, kind, &copy));
  if (copy.width == 0) return {};
  MLMARGIN_RETURN_IF_ERROR(CheckDirection(copy));
  MLMARGIN_RETURN_IF_ERROR(CheckAlignment(copy));
  static constexpr char kFunction[] = "aclrtMemcpyAsync";
  if (kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) {
    return PushBufferedCopy(kFunction, stream, std::move(copy));
  }
  return PushCopy(kFunction, stream, std::move(copy));
}

Status CheckExtent2d(size_t width, size_t height) {
  if (width <= kMaxWidth2d && height <= kMaxHeight2d) return {};
  return InvalidRuntimeParam(
      fmt::format("arguments width {} and height {}: expected at most {} bytes and {} rows.", width,
                  height, kMaxWidth2d, kMaxHeight2d));
}

Status MemsetAsync(void* address, size_t max_count, int32_t value, size_t count, Stream& stream) {
  std::shared_ptr<const Block> block;
  MLMARGIN_RETURN_IF_ERROR(CheckMemset(address, max_count, count, &block));
  if (count == 0) return {};
  // Unlike aclrtMemset: an unknown address may be one that was freed while this call was on its
  // way, and ordinary memory may be gone when the stream comes to it.
  if (block == nullptr) {
    return InvalidRuntimeParam(
        fmt::format("argument devPtr is {}, which is no live memory of aclrtMalloc or "
                    "aclrtMallocHost and no registered host memory.",
                    address));
  }
  return stream.Push(TaskKind::kDevice,
                     std::make_unique<MemsetTask>(address, value, count, std::move(block)));
}

}  // namespace
}  // namespace mlmargin::runtime

using namespace mlmargin::runtime;

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return ApiCall(__func__, [&] {
    std::shared_ptr<Stream> found;
    MLMARGIN_RETURN_IF_ERROR(FindStream(stream, &found));
    return MemcpyAsync(dst, destMax, src, count, kind, *found);
  });
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  return ApiCall(__func__, [&] {
    std::shared_ptr<Stream> found;
    MLMARGIN_RETURN_IF_ERROR(FindStream(stream, &found));
    MLMARGIN_RETURN_IF_ERROR(CheckExtent2d(width, height));
    CheckedCopy copy;
    MLMARGIN_RETURN_IF_ERROR(CheckCopy2d(dst, dpitch, src, spitch, width, height, kind,
                                         Copy2dKinds::kAlsoDeviceToDevice, &copy));
    return PushCopy("aclrtMemcpy2dAsync", *found, std::move(copy));
  });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
  return ApiCall(__func__, [&] {
    std::shared_ptr<Stream> found;
    MLMARGIN_RETURN_IF_ERROR(FindStream(stream, &found));
    return MemsetAsync(devPtr, maxCount, value, count, *found);
  });
}

// SPDX-License-Identifier: Apache-2.0
// What the tests of streams, events, callbacks and asynchronous copies share.
#ifndef MLMARGIN_TESTS_RUNTIME_STREAM_FIXTURE_H_
#define MLMARGIN_TESTS_RUNTIME_STREAM_FIXTURE_H_

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "runtime/private_api.h"
#include "runtime/runtime_fixture.h"

namespace mlmargin::runtime {

// A door that starts closed.
class Door {
 public:
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void Pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

// Stands in the way of a stream until it is released.
struct Blocker {
  Door entered;
  Door released;
  void Run() {
    entered.Open();
    released.Pass();
  }
  static void HostFunction(void* self) { static_cast<Blocker*>(self)->Run(); }
};

class FunctionTask : public Task {
 public:
  explicit FunctionTask(std::function<Status()> function) : function_(std::move(function)) {}
  Status Run() override { return function_(); }

 private:
  std::function<Status()> function_;
};

// Device work that runs `function`, through the door that operators use; the code.
inline int32_t EnqueueStatus(aclrtStream stream, std::function<Status()> function) {
  std::shared_ptr<Stream> found;
  const Status status = FindStream(stream, &found);
  if (!status.ok()) return status.code();
  return Enqueue(*found, std::make_unique<FunctionTask>(std::move(function))).code();
}

inline int32_t EnqueueWork(aclrtStream stream, std::function<void()> function) {
  return EnqueueStatus(stream, [function = std::move(function)] {
    function();
    return Status();
  });
}

inline int32_t EnqueueFailure(aclrtStream stream, int32_t code, const std::string& text) {
  return EnqueueStatus(stream, [=] { return Status(code, "EZ9999", text); });
}

inline bool IsComplete(aclrtStream stream) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_EQ(aclrtStreamQuery(stream, &status), ACL_SUCCESS);
  return status == ACL_STREAM_STATUS_COMPLETE;
}

// Device 0 and two streams, which end with the device.
class TwoStreamsTest : public DeviceSetTest {
 protected:
  void SetUp() override {
    DeviceSetTest::SetUp();
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&other_), ACL_SUCCESS);
  }

  aclrtStream stream_ = nullptr;
  aclrtStream other_ = nullptr;
};

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_TESTS_RUNTIME_STREAM_FIXTURE_H_

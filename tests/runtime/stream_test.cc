// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "runtime/stream_fixture.h"

namespace mlmargin::runtime {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

using StreamTest = TwoStreamsTest;

double ProcessCpuMs() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

// ---- Order and concurrency -------------------------------------------------------------------

TEST_F(StreamTest, DeviceTasksAndHostFunctionsRunInSubmissionOrder) {
  constexpr int kTasks = 2000;
  struct Step {
    std::vector<int>* log;
    int index;
  };
  std::vector<int> log;  // Unguarded: the order itself must make it safe.
  std::vector<Step> steps(kTasks);
  for (int i = 0; i < kTasks; ++i) {
    steps[static_cast<size_t>(i)] = {&log, i};
    if (i % 7 == 3) {
      ASSERT_EQ(aclrtLaunchHostFunc(
                    stream_,
                    [](void* step) {
                      static_cast<Step*>(step)->log->push_back(static_cast<Step*>(step)->index);
                    },
                    &steps[static_cast<size_t>(i)]),
                ACL_SUCCESS);
    } else {
      ASSERT_EQ(EnqueueWork(stream_, [&log, i] { log.push_back(i); }), 0);
    }
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  std::vector<int> expected(kTasks);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(log, expected);
}

TEST_F(StreamTest, SubmissionReturnsWhileTheStreamIsBusy) {
  Blocker blocker;
  ASSERT_EQ(EnqueueWork(stream_, [&] { blocker.Run(); }), 0);
  bool ran = false;
  ASSERT_EQ(EnqueueWork(stream_, [&] { ran = true; }), 0);
  EXPECT_FALSE(IsComplete(stream_));
  blocker.released.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(IsComplete(stream_));
  EXPECT_TRUE(ran);
}

TEST_F(StreamTest, WorkProgressesWithoutAnyoneWaiting) {
  Door ran;
  ASSERT_EQ(EnqueueWork(stream_, [&] { ran.Open(); }), 0);
  ran.Pass();
}

TEST_F(StreamTest, BlockedStreamHoldsUpNoOtherNotEvenTheDefaultOne) {
  Blocker blocker;
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, Blocker::HostFunction, &blocker), ACL_SUCCESS);
  blocker.entered.Pass();
  for (aclrtStream free : {other_, static_cast<aclrtStream>(nullptr)}) {
    bool ran = false;
    ASSERT_EQ(EnqueueWork(free, [&] { ran = true; }), 0);
    EXPECT_EQ(aclrtSynchronizeStream(free), ACL_SUCCESS);
    EXPECT_TRUE(ran);
  }
  EXPECT_FALSE(IsComplete(stream_));
  blocker.released.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(StreamTest, TasksOfTwoStreamsRunAtTheSameTime) {
  std::barrier meeting(2);  // Passed only by two at once.
  ASSERT_EQ(EnqueueWork(stream_, [&] { meeting.arrive_and_wait(); }), 0);
  ASSERT_EQ(EnqueueWork(other_, [&] { meeting.arrive_and_wait(); }), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
}

TEST_F(StreamTest, HostFunctionNeverRunsOnTheWaitingThread) {
  for (int round = 0; round < 50; ++round) {
    std::thread::id runner;
    ASSERT_EQ(aclrtLaunchHostFunc(
                  stream_,
                  [](void* id) { *static_cast<std::thread::id*>(id) = std::this_thread::get_id(); },
                  &runner),
              ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_NE(runner, std::thread::id());
    EXPECT_NE(runner, std::this_thread::get_id());
  }
}

TEST_F(StreamTest, WaitWithTimeoutRunsNoTaskItself) {
  for (int round = 0; round < 200; ++round) {
    std::thread::id runner;
    ASSERT_EQ(EnqueueWork(stream_, [&] { runner = std::this_thread::get_id(); }), 0);
    ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 60000), ACL_SUCCESS);
    EXPECT_NE(runner, std::this_thread::get_id());
  }
}

// ---- Waiting ---------------------------------------------------------------------------------

TEST_F(StreamTest, TimeoutsExpireAndTheWorkGoesOn) {
  Blocker blocker;
  ASSERT_EQ(EnqueueWork(stream_, [&] { blocker.Run(); }), 0);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 0), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, -2), ACL_ERROR_RT_PARAM_INVALID);
  blocker.released.Open();
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, -1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 0), ACL_SUCCESS);
}

// The tasks of one attempt: `first` is in the stream when the wait begins, `second` is enqueued
// by it, most likely after that.
bool WaitEndsBeforeALaterTask(aclrtStream stream) {
  Blocker first;
  Blocker second;
  std::atomic<bool> second_over = false;
  const auto enqueue_second = [&] {
    first.Run();
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(EnqueueWork(stream,
                          [&] {
                            second.Run();
                            second_over = true;
                          }),
              0);
  };
  EXPECT_EQ(EnqueueWork(stream, enqueue_second), 0);
  first.entered.Pass();
  std::thread releaser([&] {
    std::this_thread::sleep_for(milliseconds(50));
    first.released.Open();
    std::this_thread::sleep_for(milliseconds(200));
    second.released.Open();
  });
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  const bool returned_first = !second_over;
  releaser.join();
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  return returned_first;
}

TEST_F(StreamTest, WaitConcernsOnlyTasksSubmittedBefore) {
  bool returned_first = false;
  for (int i = 0; i < 5 && !returned_first; ++i) returned_first = WaitEndsBeforeALaterTask(stream_);
  EXPECT_TRUE(returned_first);
}

TEST_F(StreamTest, LongWaitBurnsNoCore) {
  Blocker blocker;
  ASSERT_EQ(EnqueueWork(stream_, [&] { blocker.Run(); }), 0);
  blocker.entered.Pass();
  std::thread releaser([&] {
    std::this_thread::sleep_for(milliseconds(300));
    blocker.released.Open();
  });
  const double cpu_before = ProcessCpuMs();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_LT(ProcessCpuMs() - cpu_before, 100);
  releaser.join();
}

TEST_F(StreamTest, IdleStreamBurnsNoCore) {
  for (aclrtStream stream : {stream_, other_}) {
    ASSERT_EQ(EnqueueWork(stream, [] {}), 0);
    ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  }
  const double cpu_before = ProcessCpuMs();
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_LT(ProcessCpuMs() - cpu_before, 100);
}

TEST_F(StreamTest, WaitForOneselfInAHostFunctionIsAnErrorNotADeadlock) {
  struct Codes {
    aclrtStream stream;
    aclError wait, timed, destroy, device, copy;
    char text[512];
    void* device_memory;
  } codes{};
  codes.stream = stream_;
  ASSERT_EQ(aclrtMalloc(&codes.device_memory, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  const auto misuse = [](void* args) {
    auto& found = *static_cast<Codes*>(args);
    aclrtSetDevice(0);
    found.wait = aclrtSynchronizeStream(found.stream);
    TakeErrorText().copy(found.text, sizeof(found.text) - 1);
    found.timed = aclrtSynchronizeStreamWithTimeout(found.stream, 5);
    found.destroy = aclrtDestroyStream(found.stream);
    found.device = aclrtSynchronizeDevice();
    int32_t host = 0;
    found.copy = aclrtMemcpyAsync(found.device_memory, sizeof(host), &host, sizeof(host),
                                  ACL_MEMCPY_HOST_TO_DEVICE, found.stream);
  };
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, misuse, &codes), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(codes.wait, ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(codes.text, HasSubstr("waits for this very stream"));
  EXPECT_EQ(codes.timed, ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(codes.destroy, ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(codes.device, ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(codes.copy, ACL_ERROR_RT_PARAM_INVALID);
}

// ---- Failures --------------------------------------------------------------------------------

TEST_F(StreamTest, FailureSurfacesOnceAtTheNextWaitWithItsText) {
  ASSERT_EQ(EnqueueFailure(stream_, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "row 3, label 77"), 0);
  bool ran = false;
  ASSERT_EQ(EnqueueWork(stream_, [&] { ran = true; }), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
  EXPECT_THAT(TakeErrorText(), HasSubstr("row 3, label 77"));
  EXPECT_TRUE(ran);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(StreamTest, FailureTextIsReadOnTheThreadThatWaits) {
  ASSERT_EQ(EnqueueFailure(stream_, ACL_ERROR_RT_AICORE_EXCEPTION, "the words"), 0);
  std::thread([&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_AICORE_EXCEPTION);
    EXPECT_THAT(TakeErrorText(), HasSubstr("the words"));
  }).join();
  EXPECT_EQ(TakeErrorText(), "");
}

TEST_F(StreamTest, FirstOfSeveralFailuresIsReported) {
  ASSERT_EQ(EnqueueFailure(stream_, ACL_ERROR_RT_AICORE_EXCEPTION, "first"), 0);
  ASSERT_EQ(EnqueueFailure(stream_, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "second"), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(StreamTest, FailureStaysWithItsStream) {
  ASSERT_EQ(EnqueueFailure(stream_, ACL_ERROR_RT_AICORE_EXCEPTION, "mine"), 0);
  ASSERT_EQ(EnqueueWork(other_, [] {}), 0);
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
}

TEST_F(StreamTest, TimedOutWaitKeepsTheFailure) {
  Blocker blocker;
  ASSERT_EQ(EnqueueFailure(stream_, ACL_ERROR_RT_AICORE_EXCEPTION, "kept"), 0);
  ASSERT_EQ(EnqueueWork(stream_, [&] { blocker.Run(); }), 0);
  blocker.entered.Pass();
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 0), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  blocker.released.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
}

TEST_F(StreamTest, DeviceWaitReportsFailureOnce) {
  ASSERT_EQ(EnqueueFailure(stream_, ACL_ERROR_RT_AICORE_EXCEPTION, "some stream's"), 0);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_THAT(TakeErrorText(), HasSubstr("some stream's"));
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

// Each stream ends soon after the one before, so that a limit for each would never be reached.
TEST_F(StreamTest, TimeOutOfADeviceWaitCountsOverAllStreams) {
  for (int i = 1; i <= 5; ++i) {
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    ASSERT_EQ(EnqueueWork(stream, [i] { std::this_thread::sleep_for(milliseconds(60 * i)); }), 0);
  }
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(100), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST_F(StreamTest, DeviceWaitReportsAFailureBehindABusyStream) {
  Blocker blocker;
  ASSERT_EQ(EnqueueWork(stream_, [&] { blocker.Run(); }), 0);
  ASSERT_EQ(EnqueueFailure(other_, ACL_ERROR_RT_AICORE_EXCEPTION, "of the later one"), 0);
  // A time-out takes no failure away.
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  blocker.released.Open();
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_AICORE_EXCEPTION);
}

TEST_F(StreamTest, DeviceWaitLosesNoFailureOfASecondStream) {
  ASSERT_EQ(EnqueueFailure(stream_, ACL_ERROR_RT_AICORE_EXCEPTION, "one"), 0);
  ASSERT_EQ(EnqueueFailure(other_, ACL_ERROR_RT_AICORE_EXCEPTION, "another"), 0);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST_F(StreamTest, ThrowingTaskBecomesAFailure) {
  ASSERT_EQ(EnqueueWork(stream_, [] { throw std::bad_alloc(); }), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_MEMORY_ALLOCATION);
  ASSERT_EQ(EnqueueWork(stream_, [] { throw std::runtime_error("what it said"); }), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_THAT(TakeErrorText(), HasSubstr("what it said"));
  ASSERT_EQ(EnqueueWork(stream_, [] { throw 7; }), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_INTERNAL_ERROR);
}

TEST_F(StreamTest, ThrowingHostFunctionBecomesAFailure) {
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream_, [](void*) { throw std::runtime_error("from user code"); }, nullptr),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_THAT(TakeErrorText(), HasSubstr("from user code"));
}

TEST_F(StreamTest, StopModeEndsAllStreamsOfTheContextAndNoOthers) {
  aclrtContext first = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&first), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  Blocker blocker;
  std::atomic<int> ran = 0;
  ASSERT_EQ(EnqueueWork(other_, [&] { blocker.Run(); }), 0);
  ASSERT_EQ(EnqueueWork(other_, [&] { ++ran; }), 0);
  blocker.entered.Pass();
  ASSERT_EQ(EnqueueFailure(stream_, ACL_ERROR_RT_AICORE_EXCEPTION, "the cause"), 0);
  EnqueueWork(stream_, [&] { ++ran; });  // Barred if the failure is there already.
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_THAT(TakeErrorText(), HasSubstr("the cause"));
  blocker.released.Open();
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_THAT(TakeErrorText(), HasSubstr("ACL_STOP_ON_FAILURE"));
  EXPECT_EQ(EnqueueWork(other_, [&] { ++ran; }), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_EQ(EnqueueWork(nullptr, [&] { ++ran; }), ACL_ERROR_RT_AICORE_EXCEPTION);
  aclrtStream late = nullptr;
  ASSERT_EQ(aclrtCreateStream(&late), ACL_SUCCESS);
  EXPECT_EQ(EnqueueWork(late, [&] { ++ran; }), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_EQ(ran, 0);

  aclrtContext second = nullptr;
  ASSERT_EQ(aclrtCreateContext(&second, 0), ACL_SUCCESS);
  EXPECT_EQ(EnqueueWork(nullptr, [&] { ++ran; }), 0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(aclrtDestroyContext(second), ACL_SUCCESS);
}

TEST_F(StreamTest, DeviceWaitDuringAStopTellsTheCause) {
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  Blocker blocker;
  ASSERT_EQ(EnqueueWork(stream_, [&] { blocker.Run(); }), 0);
  ASSERT_EQ(EnqueueFailure(stream_, ACL_ERROR_RT_AICORE_EXCEPTION, "the cause"), 0);
  ASSERT_EQ(EnqueueWork(stream_, [] {}), 0);
  blocker.entered.Pass();
  std::thread waiter([] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_AICORE_EXCEPTION);
    EXPECT_THAT(TakeErrorText(), HasSubstr("the cause"));
  });
  std::this_thread::sleep_for(milliseconds(20));
  blocker.released.Open();
  waiter.join();
}

TEST_F(StreamTest, FailureModeIsCheckedAndStaysStop) {
  EXPECT_EQ(aclrtSetStreamFailureMode(stream_, 2), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetStreamFailureMode(stream_, ACL_CONTINUE_ON_FAILURE), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetStreamFailureMode(stream_, ACL_CONTINUE_ON_FAILURE),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST_F(StreamTest, OperatorBeyondTheExecuteTimeOutFails) {
  ASSERT_EQ(aclrtSetOpExecuteTimeOut(1), ACL_SUCCESS);
  ASSERT_EQ(EnqueueWork(stream_, [] { std::this_thread::sleep_for(milliseconds(1100)); }), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_TIMEOUT);
  ASSERT_EQ(aclrtSetOpExecuteTimeOut(0), ACL_SUCCESS);
  ASSERT_EQ(EnqueueWork(stream_, [] {}), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

// ---- Abort and destruction -------------------------------------------------------------------

TEST_F(StreamTest, AbortDropsQueuedTasksAndWaitsForTheRunningOperator) {
  Blocker blocker;
  std::atomic<bool> finished = false;
  std::atomic<bool> ran = false;
  ASSERT_EQ(EnqueueWork(stream_,
                        [&] {
                          blocker.Run();
                          finished = true;
                        }),
            0);
  ASSERT_EQ(EnqueueWork(stream_, [&] { ran = true; }), 0);
  blocker.entered.Pass();
  Door about_to_wait;
  std::thread waiter([&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    about_to_wait.Open();
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_ABORT);
  });
  about_to_wait.Pass();
  std::thread aborter([&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
    EXPECT_TRUE(finished);
  });
  waiter.join();  // Returns though the operator still runs.
  EXPECT_FALSE(finished);
  blocker.released.Open();
  aborter.join();
  EXPECT_FALSE(ran);
  ASSERT_EQ(EnqueueWork(stream_, [&] { ran = true; }), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(ran);
}

TEST_F(StreamTest, AbortOfAnIdleStreamDoesNothing) {
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamAbort(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(StreamTest, AbortLeavesARunningHostFunctionAlone) {
  Blocker blocker;
  bool ran = false;
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, Blocker::HostFunction, &blocker), ACL_SUCCESS);
  ASSERT_EQ(EnqueueWork(stream_, [&] { ran = true; }), 0);
  blocker.entered.Pass();
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  blocker.released.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_FALSE(ran);
}

TEST_F(StreamTest, DestroyWaitsForQueuedTasks) {
  std::atomic<int> ran = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(EnqueueWork(stream_,
                          [&] {
                            std::this_thread::sleep_for(std::chrono::microseconds(50));
                            ++ran;
                          }),
              0);
  }
  EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(ran, 100);
}

TEST_F(StreamTest, DestroyForceDropsQueuedTasksAndDoesNotWait) {
  const auto blocker = std::make_shared<Blocker>();
  const auto ran = std::make_shared<std::atomic<bool>>(false);
  const auto held = std::make_shared<int>(0);
  ASSERT_EQ(EnqueueWork(stream_, [blocker] { blocker->Run(); }), 0);
  ASSERT_EQ(EnqueueWork(stream_, [ran, held] { *ran = true; }), 0);
  blocker->entered.Pass();
  EXPECT_EQ(aclrtDestroyStreamForce(stream_), ACL_SUCCESS);
  EXPECT_EQ(held.use_count(), 1);  // What the dropped task held is free.
  blocker->released.Open();
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_FALSE(*ran);
}

TEST_F(StreamTest, StaleHandleIsRefusedEverywhere) {
  ASSERT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  int32_t id = 0;
  uint32_t number = 0;
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  constexpr int kExpected = ACL_ERROR_RT_INVALID_HANDLE;
  EXPECT_EQ(aclrtDestroyStream(stream_), kExpected);
  EXPECT_EQ(aclrtDestroyStreamForce(stream_), kExpected);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), kExpected);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 0), kExpected);
  EXPECT_EQ(aclrtStreamQuery(stream_, &status), kExpected);
  EXPECT_EQ(aclrtStreamAbort(stream_), kExpected);
  EXPECT_EQ(aclrtStreamGetId(stream_, &id), kExpected);
  EXPECT_EQ(aclrtSetStreamFailureMode(stream_, 0), kExpected);
  EXPECT_EQ(aclrtStreamGetPriority(stream_, &number), kExpected);
  EXPECT_EQ(aclrtStreamGetFlags(stream_, &number), kExpected);
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, event), kExpected);
  EXPECT_EQ(aclrtRecordEvent(event, stream_), kExpected);
  EXPECT_EQ(aclrtLaunchHostFunc(
                stream_, [](void*) {}, nullptr),
            kExpected);
  EXPECT_EQ(aclrtSubscribeReport(1, stream_), kExpected);
  int no_stream = 0;
  EXPECT_EQ(aclrtSynchronizeStream(&no_stream), kExpected);
  EXPECT_EQ(aclrtSynchronizeStream(event), kExpected);
}

TEST_F(StreamTest, NullOutputsAreRefused) {
  EXPECT_EQ(aclrtCreateStream(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateStreamWithConfig(nullptr, 0, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtStreamQuery(stream_, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtStreamGetId(stream_, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetStreamAvailableNum(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtStreamGetPriority(stream_, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtStreamGetFlags(stream_, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtLaunchHostFunc(stream_, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(StreamTest, DefaultStreamCannotBeDestroyed) {
  aclrtStream default_stream = nullptr;
  ASSERT_EQ(aclrtCtxGetCurrentDefaultStream(&default_stream), ACL_SUCCESS);
  for (aclrtStream stream : {default_stream, static_cast<aclrtStream>(nullptr)}) {
    EXPECT_EQ(aclrtDestroyStream(stream), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(EnqueueWork(stream, [] {}), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  }
}

// ---- Contexts --------------------------------------------------------------------------------

TEST_F(StreamTest, StreamOfAnotherContextIsRefused) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtDestroyStream(stream_), ACL_ERROR_RT_STREAM_CONTEXT);
  aclrtStream own = nullptr;
  ASSERT_EQ(aclrtCreateStream(&own), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(own), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(own), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(StreamTest, ThreadWithoutContextIsTold) {
  std::thread([&] {
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(stream, nullptr);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_THAT(TakeErrorText(), HasSubstr("aclrtSetDevice"));
  }).join();
}

TEST_F(StreamTest, EachThreadHasTheDefaultStreamOfItsOwnContext) {
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  std::barrier meeting(kThreads);  // All default streams at once.
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      aclrtContext context = nullptr;
      ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
      ASSERT_EQ(EnqueueWork(nullptr, [&] { meeting.arrive_and_wait(); }), 0);
      EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
      EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(StreamTest, DestroyingAContextWaitsForItsStreams) {
  aclrtContext context = nullptr;
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  std::atomic<int> ran = 0;
  const auto slow = [&] {
    std::this_thread::sleep_for(milliseconds(5));
    ++ran;
  };
  ASSERT_EQ(EnqueueWork(stream, slow), 0);
  ASSERT_EQ(EnqueueWork(nullptr, slow), 0);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(ran, 2);
}

TEST_F(StreamTest, FinalizeWaitsForQueuedWorkAndEndsTheHandles) {
  std::atomic<int> ran = 0;
  for (aclrtStream stream : {stream_, static_cast<aclrtStream>(nullptr)}) {
    ASSERT_EQ(EnqueueWork(stream,
                          [&] {
                            std::this_thread::sleep_for(milliseconds(5));
                            ++ran;
                          }),
              0);
  }
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_CONTEXT_NULL);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_INVALID_HANDLE);
}

// ---- Properties and limits -------------------------------------------------------------------

TEST_F(StreamTest, PriorityAndFlagsAreKept) {
  aclrtStream stream = nullptr;
  constexpr uint32_t kFlags = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC | ACL_STREAM_HUGE;
  ASSERT_EQ(aclrtCreateStreamWithConfig(&stream, 7, kFlags), ACL_SUCCESS);
  uint32_t value = 99;
  EXPECT_EQ(aclrtStreamGetPriority(stream, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 7U);
  EXPECT_EQ(aclrtStreamGetFlags(stream, &value), ACL_SUCCESS);
  EXPECT_EQ(value, kFlags);
  for (aclrtStream plain : {stream_, static_cast<aclrtStream>(nullptr)}) {
    EXPECT_EQ(aclrtStreamGetPriority(plain, &value), ACL_SUCCESS);
    EXPECT_EQ(value, 0U);
    EXPECT_EQ(aclrtStreamGetFlags(plain, &value), ACL_SUCCESS);
    EXPECT_EQ(value, 0U);
  }
}

TEST_F(StreamTest, UnservedConfigurationsAreRefused) {
  aclrtStream stream = nullptr;
  EXPECT_EQ(aclrtCreateStreamWithConfig(&stream, 8, 0), ACL_ERROR_RT_PARAM_INVALID);
  for (uint32_t flag :
       {ACL_STREAM_PERSISTENT, ACL_STREAM_CPU_SCHEDULE, ACL_STREAM_DEVICE_USE_ONLY}) {
    EXPECT_EQ(aclrtCreateStreamWithConfig(&stream, 0, flag | ACL_STREAM_FAST_SYNC),
              ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  }
  EXPECT_EQ(stream, nullptr);
}

TEST_F(StreamTest, IdsDiffer) {
  int32_t first = -1;
  int32_t second = -1;
  int32_t default_id = -1;
  EXPECT_EQ(aclrtStreamGetId(stream_, &first), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamGetId(other_, &second), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamGetId(nullptr, &default_id), ACL_SUCCESS);
  EXPECT_NE(first, second);
  EXPECT_NE(first, default_id);
}

TEST_F(StreamTest, NumberOfStreamsIsLimitedAndCounted) {
  uint32_t available = 0;
  ASSERT_EQ(aclrtGetStreamAvailableNum(&available), ACL_SUCCESS);
  EXPECT_EQ(available, 1984U - 3);  // Two and the default stream.
  std::vector<aclrtStream> streams(available);
  for (aclrtStream& stream : streams) ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  aclrtStream more = nullptr;
  EXPECT_EQ(aclrtCreateStream(&more), ACL_ERROR_RT_NO_STREAM_RESOURCE);
  ASSERT_EQ(aclrtGetStreamAvailableNum(&available), ACL_SUCCESS);
  EXPECT_EQ(available, 0U);
  EXPECT_EQ(aclrtDestroyStream(streams.back()), ACL_SUCCESS);
  streams.pop_back();
  EXPECT_EQ(aclrtCreateStream(&more), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(more), ACL_SUCCESS);
  for (aclrtStream stream : streams) ASSERT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetStreamAvailableNum(&available), ACL_SUCCESS);
  EXPECT_EQ(available, 1984U - 3);
}

}  // namespace
}  // namespace mlmargin::runtime

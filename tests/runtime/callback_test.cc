// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "mlmargin/device.h"
#include "runtime/stream_fixture.h"

namespace mlmargin::runtime {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// Processes the callbacks of its streams until it is told to stop.
class ReportThread {
 public:
  ReportThread() : thread_([this] { Loop(); }) {}
  ~ReportThread() {
    stop_ = true;
    thread_.join();
  }
  uint64_t id() { return static_cast<uint64_t>(thread_.native_handle()); }
  int processed() const { return processed_; }

 private:
  void Loop() {
    while (!stop_) {
      const aclError code = aclrtProcessReport(5);
      if (code == ACL_SUCCESS) ++processed_;
      if (code == ACL_ERROR_RT_THREAD_SUBSCRIBE) std::this_thread::sleep_for(milliseconds(1));
    }
  }

  std::atomic<bool> stop_ = false;
  std::atomic<int> processed_ = 0;
  std::thread thread_;
};

void Increment(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

uint64_t ThisThreadId() { return static_cast<uint64_t>(pthread_self()); }

using CallbackTest = TwoStreamsTest;

// ---- Host functions --------------------------------------------------------------------------

TEST_F(CallbackTest, HostFunctionHoldsBackLaterTasksOfItsStream) {
  Blocker blocker;
  std::atomic<int> ran = 0;
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, Blocker::HostFunction, &blocker), ACL_SUCCESS);
  ASSERT_EQ(EnqueueWork(stream_, [&] { ++ran; }), 0);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, Increment, &ran), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(ran, 0);
  blocker.released.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(ran, 2);
}

TEST_F(CallbackTest, HostFunctionRunsOnTheDefaultStreamToo) {
  std::atomic<int> ran = 0;
  ASSERT_EQ(aclrtLaunchHostFunc(nullptr, Increment, &ran), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(ran, 1);
}

TEST_F(CallbackTest, HostFunctionMaySubmitToAnotherStream) {
  struct Args {
    aclrtStream other;
    aclError code;
  } args{other_, ACL_ERROR_FAILURE};
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream_,
                [](void* raw) {
                  auto& found = *static_cast<Args*>(raw);
                  aclrtSetDevice(0);
                  found.code = EnqueueWork(found.other, [] {});
                  if (found.code == 0) found.code = aclrtSynchronizeStream(found.other);
                },
                &args),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(args.code, ACL_SUCCESS);
}

// ---- Callbacks -------------------------------------------------------------------------------

TEST_F(CallbackTest, CallbackRunsOnTheSubscribedThread) {
  ReportThread reporter;
  ASSERT_EQ(aclrtSubscribeReport(reporter.id(), stream_), ACL_SUCCESS);
  uint64_t runner = 0;
  ASSERT_EQ(aclrtLaunchCallback([](void* id) { *static_cast<uint64_t*>(id) = ThisThreadId(); },
                                &runner, ACL_CALLBACK_BLOCK, stream_),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(runner, reporter.id());
  EXPECT_EQ(aclrtUnSubscribeReport(reporter.id(), stream_), ACL_SUCCESS);
}

TEST_F(CallbackTest, BlockingCallbackHoldsBackLaterTasksAndTheOtherKindDoesNot) {
  ReportThread reporter;
  ASSERT_EQ(aclrtSubscribeReport(reporter.id(), stream_), ACL_SUCCESS);
  for (aclrtCallbackBlockType type : {ACL_CALLBACK_BLOCK, ACL_CALLBACK_NO_BLOCK}) {
    Blocker blocker;
    std::atomic<bool> ran = false;
    const int processed_before = reporter.processed();
    ASSERT_EQ(aclrtLaunchCallback(Blocker::HostFunction, &blocker, type, stream_), ACL_SUCCESS);
    ASSERT_EQ(EnqueueWork(stream_, [&] { ran = true; }), 0);
    blocker.entered.Pass();
    if (type == ACL_CALLBACK_NO_BLOCK) {
      EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
      EXPECT_TRUE(ran);
    } else {
      EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
      EXPECT_FALSE(ran);
    }
    blocker.released.Open();
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    // `blocker` is in use until then.
    while (reporter.processed() < processed_before + 1) std::this_thread::yield();
  }
}

TEST_F(CallbackTest, CallbacksOfSeveralStreamsKeepTheOrderOfEach) {
  struct Step {
    std::vector<int>* log;
    int index;
  };
  constexpr int kSteps = 200;
  ReportThread reporter;
  std::vector<int> logs[2];
  std::vector<Step> steps[2];
  const aclrtStream streams[2] = {stream_, other_};
  for (int s = 0; s < 2; ++s) {
    ASSERT_EQ(aclrtSubscribeReport(reporter.id(), streams[s]), ACL_SUCCESS);
    for (int i = 0; i < kSteps; ++i) steps[s].push_back({&logs[s], i});
  }
  for (int i = 0; i < kSteps; ++i) {
    for (int s = 0; s < 2; ++s) {
      const auto append = [](void* raw) {
        static_cast<Step*>(raw)->log->push_back(static_cast<Step*>(raw)->index);
      };
      ASSERT_EQ(aclrtLaunchCallback(append, &steps[s][static_cast<size_t>(i)], ACL_CALLBACK_BLOCK,
                                    streams[s]),
                ACL_SUCCESS);
    }
  }
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  for (const std::vector<int>& log : logs) {
    ASSERT_EQ(log.size(), static_cast<size_t>(kSteps));
    EXPECT_TRUE(std::is_sorted(log.begin(), log.end()));
  }
}

TEST_F(CallbackTest, SubscriptionRulesAreKept) {
  EXPECT_EQ(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, stream_),
            ACL_ERROR_RT_STREAM_NO_CB_REG);
  EXPECT_EQ(aclrtUnSubscribeReport(ThisThreadId(), stream_), ACL_ERROR_RT_STREAM_SUBSCRIBE);
  ASSERT_EQ(aclrtSubscribeReport(ThisThreadId(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSubscribeReport(ThisThreadId(), stream_), ACL_ERROR_RT_STREAM_SUBSCRIBE);
  EXPECT_EQ(aclrtSubscribeReport(ThisThreadId(), other_), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnSubscribeReport(ThisThreadId() + 1, stream_), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  EXPECT_EQ(aclrtUnSubscribeReport(ThisThreadId(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, stream_),
            ACL_ERROR_RT_STREAM_NO_CB_REG);
}

TEST_F(CallbackTest, TwoSchemesOnOneStreamAreRefused) {
  ASSERT_EQ(aclrtSubscribeReport(ThisThreadId(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtLaunchHostFunc(
                stream_, [](void*) {}, nullptr),
            ACL_ERROR_RT_STREAM_SUBSCRIBE);
  ASSERT_EQ(aclrtLaunchHostFunc(
                other_, [](void*) {}, nullptr),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSubscribeReport(ThisThreadId(), other_), ACL_ERROR_RT_STREAM_SUBSCRIBE);
}

TEST_F(CallbackTest, ArgumentsAreChecked) {
  const volatile int wrong_type = 2;
  ASSERT_EQ(aclrtSubscribeReport(ThisThreadId(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtLaunchCallback(nullptr, nullptr, ACL_CALLBACK_BLOCK, stream_),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtLaunchCallback([](void*) {}, nullptr,
                                static_cast<aclrtCallbackBlockType>(wrong_type), stream_),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtProcessReport(0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtProcessReport(-2), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtProcessReport(5), ACL_ERROR_RT_REPORT_TIMEOUT);
}

TEST_F(CallbackTest, ThreadThatServesNoStreamIsTold) {
  EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  EXPECT_THAT(TakeErrorText(), HasSubstr("aclrtSubscribeReport"));
}

TEST_F(CallbackTest, ProcessReportRunsOneCallbackOnTheCallingThread) {
  ASSERT_EQ(aclrtSubscribeReport(ThisThreadId(), stream_), ACL_SUCCESS);
  std::atomic<int> ran = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(aclrtLaunchCallback(Increment, &ran, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
  }
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
    EXPECT_EQ(ran, i);
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(CallbackTest, CallbacksLaunchedBeforeUnsubscribingAreDelivered) {
  ASSERT_EQ(aclrtSubscribeReport(ThisThreadId(), stream_), ACL_SUCCESS);
  std::atomic<int> ran = 0;
  ASSERT_EQ(aclrtLaunchCallback(Increment, &ran, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtUnSubscribeReport(ThisThreadId(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(aclrtProcessReport(-1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
}

TEST_F(CallbackTest, UnsubscribingEndsAnEndlessWaitForCallbacks) {
  std::atomic<uint64_t> id = 0;
  Door subscribed;
  std::thread reporter([&] {
    id = ThisThreadId();
    subscribed.Pass();
    EXPECT_EQ(aclrtProcessReport(-1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  });
  while (id == 0) std::this_thread::yield();
  ASSERT_EQ(aclrtSubscribeReport(id, stream_), ACL_SUCCESS);
  subscribed.Open();
  std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(aclrtUnSubscribeReport(id, stream_), ACL_SUCCESS);
  reporter.join();
}

TEST_F(CallbackTest, AbortedBlockingCallbackDoesNotRun) {
  ASSERT_EQ(aclrtSubscribeReport(ThisThreadId(), stream_), ACL_SUCCESS);
  std::atomic<int> ran = 0;
  ASSERT_EQ(aclrtLaunchCallback(Increment, &ran, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  aclrtProcessReport(5);  // Whether it was posted before the abort is a matter of luck.
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(CallbackTest, ReportThreadPassesOverACallbackThatWasGivenUp) {
  ASSERT_EQ(aclrtSubscribeReport(ThisThreadId(), stream_), ACL_SUCCESS);
  std::atomic<int> ran = 0;
  for (bool another : {false, true}) {
    ASSERT_EQ(aclrtLaunchCallback(Increment, &ran, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 50), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    ASSERT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);  // Of a callback that was posted.
    if (another) {
      ASSERT_EQ(aclrtLaunchCallback(Increment, &ran, ACL_CALLBACK_NO_BLOCK, stream_), ACL_SUCCESS);
    }
    EXPECT_EQ(aclrtProcessReport(another ? -1 : 20),
              another ? ACL_SUCCESS : ACL_ERROR_RT_REPORT_TIMEOUT);
    EXPECT_EQ(ran, another ? 1 : 0);
  }
}

TEST_F(CallbackTest, GivenUpCallbackOfTheLastStreamEndsAnEndlessWait) {
  ASSERT_EQ(aclrtSubscribeReport(ThisThreadId(), stream_), ACL_SUCCESS);
  std::atomic<int> ran = 0;
  ASSERT_EQ(aclrtLaunchCallback(Increment, &ran, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 50), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  ASSERT_EQ(aclrtDestroyStreamForce(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(-1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  EXPECT_EQ(ran, 0);
}

TEST_F(CallbackTest, RefusedHostFunctionDoesNotBarAReportThread) {
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  ASSERT_EQ(EnqueueFailure(stream_, ACL_ERROR_RT_AICORE_EXCEPTION, "planted"), 0);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
  std::atomic<int> ran = 0;
  EXPECT_EQ(aclrtLaunchHostFunc(stream_, Increment, &ran), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_EQ(aclrtSubscribeReport(ThisThreadId(), stream_), ACL_SUCCESS);
}

// Whoever comes first, no subscription outlives its stream.
TEST_F(CallbackTest, SubscribingRacesWithTheEndOfTheStream) {
  std::atomic<int> round = 0;
  std::atomic<int> answered = 0;
  std::atomic<aclrtStream> stream = nullptr;
  constexpr int kRounds = 3000;
  const uint64_t id = ThisThreadId();
  std::thread subscriber([&] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (int i = 1; i <= kRounds; ++i) {
      for (int spins = 0; round < i; ++spins) {
        if (spins > 10000) std::this_thread::yield();
      }
      const aclError code = aclrtSubscribeReport(id, stream);
      EXPECT_TRUE(code == ACL_SUCCESS || code == ACL_ERROR_RT_INVALID_HANDLE) << code;
      answered = i;
    }
  });
  for (int i = 1; i <= kRounds; ++i) {
    aclrtStream fresh = nullptr;
    EXPECT_EQ(aclrtCreateStream(&fresh), ACL_SUCCESS);
    stream = fresh;
    round = i;
    for (int pause = 0; pause < i % 64; ++pause)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    EXPECT_EQ(aclrtDestroyStream(fresh), ACL_SUCCESS);
    while (answered < i) std::this_thread::yield();
    EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  }
  subscriber.join();
}

TEST_F(CallbackTest, WaitForOneselfInACallbackIsAnErrorNotADeadlock) {
  struct Codes {
    aclrtStream stream;
    aclError wait;
    aclError process;
  } codes{stream_, 0, 0};
  ReportThread reporter;
  ASSERT_EQ(aclrtSubscribeReport(reporter.id(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchCallback(
                [](void* raw) {
                  auto& found = *static_cast<Codes*>(raw);
                  aclrtSetDevice(0);
                  found.wait = aclrtSynchronizeStream(found.stream);
                  found.process = aclrtProcessReport(-1);
                },
                &codes, ACL_CALLBACK_BLOCK, stream_),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(codes.wait, ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(codes.process, ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(CallbackTest, CallbackOfAStreamThatIsGoneMustNotProcessCallbacksEither) {
  ASSERT_EQ(aclrtSubscribeReport(ThisThreadId(), stream_), ACL_SUCCESS);
  aclError process = 0;
  ASSERT_EQ(aclrtLaunchCallback(
                [](void* code) { *static_cast<aclError*>(code) = aclrtProcessReport(50); },
                &process, ACL_CALLBACK_NO_BLOCK, stream_),
            ACL_SUCCESS);
  std::shared_ptr<Stream> found;
  ASSERT_TRUE(FindStream(stream_, &found).ok());
  const std::weak_ptr<Stream> stream = found;
  found.reset();
  ASSERT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
  while (!stream.expired()) std::this_thread::yield();  // Its thread holds it a little longer.
  EXPECT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  EXPECT_EQ(process, ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(CallbackTest, ThrowingCallbackFreesItsStream) {
  ASSERT_EQ(aclrtSubscribeReport(ThisThreadId(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchCallback([](void*) { throw 1; }, nullptr, ACL_CALLBACK_BLOCK, stream_),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(-1), ACL_ERROR_INTERNAL_ERROR);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(CallbackTest, AThrownExceptionsWordsReachWhoProcessesTheReport) {
  ASSERT_EQ(aclrtSubscribeReport(ThisThreadId(), stream_), ACL_SUCCESS);
  const auto fail = [](void*) { throw std::runtime_error("what it said"); };
  ASSERT_EQ(aclrtLaunchCallback(fail, nullptr, ACL_CALLBACK_NO_BLOCK, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(-1), ACL_ERROR_INTERNAL_ERROR);
  EXPECT_THAT(TakeErrorText(), testing::HasSubstr("what it said"));
}

TEST_F(CallbackTest, NumberOfReportThreadsIsLimited) {
  std::vector<aclrtStream> streams(1024);
  for (size_t i = 0; i < streams.size(); ++i) {
    ASSERT_EQ(aclrtCreateStream(&streams[i]), ACL_SUCCESS);
    ASSERT_EQ(aclrtSubscribeReport(1000 + i, streams[i]), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtSubscribeReport(1, stream_), ACL_ERROR_RT_OVER_LIMIT);
  EXPECT_EQ(aclrtDestroyStream(streams[0]), ACL_SUCCESS);  // Ends its subscription.
  EXPECT_EQ(aclrtSubscribeReport(1, stream_), ACL_SUCCESS);
}

TEST(CallbackDeviceTest, ThreadServesStreamsOfOneDevice) {
  ASSERT_TRUE(SetDeviceCount(2));
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSubscribeReport(ThisThreadId(), nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSubscribeReport(ThisThreadId(), nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  ASSERT_TRUE(SetDeviceCount(1));
  TakeErrorText();
}

}  // namespace
}  // namespace mlmargin::runtime

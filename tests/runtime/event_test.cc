// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "mlmargin/device.h"
#include "runtime/stream_fixture.h"

namespace mlmargin::runtime {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class EventTest : public TwoStreamsTest {
 protected:
  void SetUp() override {
    TwoStreamsTest::SetUp();
    ASSERT_EQ(aclrtCreateEvent(&plain_), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateEventWithFlag(&sync_, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateEventExWithFlag(&ex_, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE), ACL_SUCCESS);
  }
  void TearDown() override {
    for (aclrtEvent event : {plain_, sync_, ex_}) aclrtDestroyEvent(event);
    TwoStreamsTest::TearDown();
  }
  std::vector<aclrtEvent> AllKinds() const { return {plain_, sync_, ex_}; }

  static bool IsRecorded(aclrtEvent event) {
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    EXPECT_EQ(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }

  aclrtEvent plain_ = nullptr;
  aclrtEvent sync_ = nullptr;
  aclrtEvent ex_ = nullptr;
};

// ---- Order between streams -------------------------------------------------------------------

TEST_F(EventTest, StreamWaitHoldsBackLaterTasksOnly) {
  for (aclrtEvent event : AllKinds()) {
    Blocker blocker;
    std::atomic<bool> first_done = false;
    bool order_kept = false;
    bool before = false;
    ASSERT_EQ(EnqueueWork(stream_,
                          [&] {
                            blocker.Run();
                            first_done = true;
                          }),
              0);
    ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
    ASSERT_EQ(EnqueueWork(other_, [&] { before = true; }), 0);
    ASSERT_EQ(aclrtStreamWaitEvent(other_, event), ACL_SUCCESS);
    ASSERT_EQ(EnqueueWork(other_, [&] { order_kept = first_done; }), 0);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other_, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    blocker.released.Open();
    EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
    EXPECT_TRUE(before);
    EXPECT_TRUE(order_kept);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  }
}

TEST_F(EventTest, LongChainOfStreamsKeepsItsOrder) {
  constexpr int kRounds = 500;
  std::vector<int> log;  // Unguarded: events order the streams.
  for (int i = 0; i < kRounds; ++i) {
    const aclrtStream from = i % 2 == 0 ? stream_ : other_;
    const aclrtStream to = i % 2 == 0 ? other_ : stream_;
    ASSERT_EQ(EnqueueWork(from, [&log, i] { log.push_back(i); }), 0);
    ASSERT_EQ(aclrtRecordEvent(ex_, from), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(to, ex_), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  ASSERT_EQ(log.size(), static_cast<size_t>(kRounds));
  for (int i = 0; i < kRounds; ++i) EXPECT_EQ(log[static_cast<size_t>(i)], i);
}

TEST_F(EventTest, WaitAlreadyIssuedKeepsTheRecordItSaw) {
  Blocker blocker;
  ASSERT_EQ(aclrtRecordEvent(ex_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, ex_), ACL_SUCCESS);
  ASSERT_EQ(EnqueueWork(stream_, [&] { blocker.Run(); }), 0);
  ASSERT_EQ(aclrtRecordEvent(ex_, stream_), ACL_SUCCESS);  // Behind the blocker.
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_FALSE(IsRecorded(ex_));
  blocker.released.Open();
  EXPECT_EQ(aclrtSynchronizeEvent(ex_), ACL_SUCCESS);
  EXPECT_TRUE(IsRecorded(ex_));
}

TEST_F(EventTest, WaitIssuedAfterASecondRecordWaitsForThatOne) {
  for (aclrtEvent event : AllKinds()) {
    Blocker blocker;
    ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
    ASSERT_EQ(EnqueueWork(stream_, [&] { blocker.Run(); }), 0);
    ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(other_, event), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other_, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    blocker.released.Open();
    EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  }
}

TEST_F(EventTest, WaitIssuedBeforeTheFirstRecordHolds) {
  for (aclrtEvent event : {plain_, sync_}) {
    ASSERT_EQ(aclrtStreamWaitEvent(other_, event), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other_, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  }
}

TEST_F(EventTest, NeverRecordedExEventHoldsNothingBack) {
  ASSERT_EQ(aclrtStreamWaitEvent(other_, ex_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(ex_), ACL_SUCCESS);
  EXPECT_TRUE(IsRecorded(ex_));
}

TEST_F(EventTest, NeverRecordedEventIsNotReadyAndNotWaitedFor) {
  for (aclrtEvent event : {plain_, sync_}) {
    EXPECT_FALSE(IsRecorded(event));
    EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_ERROR_RT_INTERNAL_ERROR);
    EXPECT_THAT(TakeErrorText(), HasSubstr("aclrtRecordEvent"));
    EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event, 5), ACL_ERROR_RT_INTERNAL_ERROR);
  }
}

TEST_F(EventTest, StreamWaitBurnsNoCore) {
  ASSERT_EQ(aclrtStreamWaitEvent(other_, sync_), ACL_SUCCESS);
  std::thread recorder([&] {
    std::this_thread::sleep_for(milliseconds(300));
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(sync_, stream_), ACL_SUCCESS);
  });
  timespec before{};
  timespec after{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  recorder.join();
  EXPECT_LT((after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000,
            100);
}

TEST_F(EventTest, StreamWaitTimesOutAndTheStreamGoesOn) {
  ASSERT_EQ(aclrtSetOpWaitTimeout(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, sync_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetOpWaitTimeout(0), ACL_SUCCESS);
  bool ran = false;
  ASSERT_EQ(EnqueueWork(other_, [&] { ran = true; }), 0);
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_ERROR_RT_WAIT_TIMEOUT);
  EXPECT_THAT(TakeErrorText(), HasSubstr("aclrtSetOpWaitTimeout"));
  EXPECT_TRUE(ran);
}

TEST_F(EventTest, AbortEndsAStreamWait) {
  ASSERT_EQ(aclrtStreamWaitEvent(other_, sync_), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamAbort(other_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
}

// ---- Reset and queries -----------------------------------------------------------------------

TEST_F(EventTest, ResetReturnsTheEventToItsFirstState) {
  ASSERT_EQ(aclrtRecordEvent(sync_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeEvent(sync_), ACL_SUCCESS);
  EXPECT_TRUE(IsRecorded(sync_));
  ASSERT_EQ(aclrtResetEvent(sync_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_FALSE(IsRecorded(sync_));
  ASSERT_EQ(aclrtStreamWaitEvent(other_, sync_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other_, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  ASSERT_EQ(aclrtRecordEvent(sync_, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
}

// Two rounds of record and wait, the waiting stream issued first and whole.
TEST_F(EventTest, ResetBetweenTwoWaitsOfAStreamSeparatesTheRounds) {
  Blocker blocker;
  std::atomic<int> rounds = 0;
  aclrtEvent back = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&back, ACL_EVENT_SYNC), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, sync_), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetEvent(sync_, other_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(back, other_), ACL_SUCCESS);
  ASSERT_EQ(EnqueueWork(other_, [&] { ++rounds; }), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, sync_), ACL_SUCCESS);
  ASSERT_EQ(EnqueueWork(other_, [&] { ++rounds; }), 0);

  ASSERT_EQ(aclrtRecordEvent(sync_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, back), ACL_SUCCESS);
  ASSERT_EQ(EnqueueWork(stream_, [&] { blocker.Run(); }), 0);
  ASSERT_EQ(aclrtRecordEvent(sync_, stream_), ACL_SUCCESS);
  blocker.entered.Pass();
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other_, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(rounds, 1);
  blocker.released.Open();
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(rounds, 2);
  EXPECT_EQ(aclrtDestroyEvent(back), ACL_SUCCESS);
}

TEST_F(EventTest, OnlySyncEventsMadeWithFlagsAreReset) {
  aclrtEvent time_only = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&time_only, ACL_EVENT_TIME_LINE), ACL_SUCCESS);
  for (aclrtEvent event : {plain_, ex_, time_only}) {
    EXPECT_EQ(aclrtResetEvent(event, stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_THAT(TakeErrorText(), HasSubstr("aclrtResetEvent: expected an event made by"));
  }
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, time_only), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtDestroyEvent(time_only), ACL_SUCCESS);
}

TEST_F(EventTest, WaitStatusTellsWhetherStreamWaitsAreOver) {
  aclrtEventWaitStatus status = ACL_EVENT_WAIT_STATUS_RESERVED;
  EXPECT_EQ(aclrtQueryEventWaitStatus(sync_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_WAIT_STATUS_COMPLETE);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, sync_), ACL_SUCCESS);
  EXPECT_EQ(aclrtQueryEventWaitStatus(sync_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_WAIT_STATUS_NOT_READY);
  ASSERT_EQ(aclrtRecordEvent(sync_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(aclrtQueryEventWaitStatus(sync_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_WAIT_STATUS_COMPLETE);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST_F(EventTest, OldQueryAnswersTheOtherWayRound) {
  aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
  EXPECT_EQ(aclrtQueryEvent(plain_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_STATUS_NOT_READY);
  ASSERT_EQ(aclrtRecordEvent(plain_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtQueryEvent(plain_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_STATUS_COMPLETE);
  EXPECT_EQ(aclrtQueryEvent(ex_, &status), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  aclrtEventWaitStatus wait_status = ACL_EVENT_WAIT_STATUS_RESERVED;
  EXPECT_EQ(aclrtQueryEventWaitStatus(ex_, &wait_status), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}
#pragma GCC diagnostic pop

// ---- Waiting on the host ---------------------------------------------------------------------

TEST_F(EventTest, HostWaitEndsWithTheRecordNotWithTheStream) {
  Blocker before;
  Blocker after;
  ASSERT_EQ(EnqueueWork(stream_, [&] { before.Run(); }), 0);
  ASSERT_EQ(aclrtRecordEvent(plain_, stream_), ACL_SUCCESS);
  ASSERT_EQ(EnqueueWork(stream_, [&] { after.Run(); }), 0);
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(plain_, 0), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(plain_, 10), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(plain_, -2), ACL_ERROR_RT_PARAM_INVALID);
  before.released.Open();
  EXPECT_EQ(aclrtSynchronizeEvent(plain_), ACL_SUCCESS);
  EXPECT_FALSE(IsComplete(stream_));
  after.released.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(EventTest, HostWaitReportsTheFailuresBeforeTheRecordOnce) {
  ASSERT_EQ(EnqueueFailure(stream_, ACL_ERROR_RT_AICORE_EXCEPTION, "before the record"), 0);
  ASSERT_EQ(aclrtRecordEvent(plain_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(sync_, other_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(sync_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(plain_), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_THAT(TakeErrorText(), HasSubstr("before the record"));
  EXPECT_EQ(aclrtSynchronizeEvent(plain_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(EventTest, HostWaitLeavesFailuresBehindTheRecordToTheStream) {
  ASSERT_EQ(aclrtRecordEvent(plain_, stream_), ACL_SUCCESS);
  ASSERT_EQ(EnqueueFailure(stream_, ACL_ERROR_RT_AICORE_EXCEPTION, "behind"), 0);
  EXPECT_EQ(aclrtSynchronizeEvent(plain_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
}

TEST_F(EventTest, RecordThatWasDroppedIsAnErrorForAllWhoWait) {
  Blocker blocker;
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, Blocker::HostFunction, &blocker), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(plain_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, plain_), ACL_SUCCESS);
  blocker.entered.Pass();
  ASSERT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_ERROR_RT_STREAM_ABORT);
  blocker.released.Open();
  EXPECT_EQ(aclrtSynchronizeEvent(plain_), ACL_ERROR_RT_STREAM_ABORT);
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  EXPECT_EQ(aclrtQueryEventStatus(plain_, &status), ACL_ERROR_RT_STREAM_ABORT);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);  // `blocker` is in use until then.
}

// `other_` stands before a wait that nothing ends, with work and a record of `plain_` behind it,
// while threads wait for the stream, the record and the device.
class DroppedWorkTest : public EventTest {
 protected:
  void SetUp() override {
    EventTest::SetUp();
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(other_, sync_), ACL_SUCCESS);
    ASSERT_EQ(EnqueueWork(other_, [ran = ran_] { *ran = true; }), 0);
    ASSERT_EQ(aclrtRecordEvent(plain_, other_), ACL_SUCCESS);
    const std::vector<std::function<aclError()>> waits = {
        [this] { return aclrtSynchronizeStream(other_); },
        [this] { return aclrtSynchronizeStreamWithTimeout(other_, 60000); },
        [this] { return aclrtSynchronizeEvent(plain_); },
        [] { return aclrtSynchronizeDevice(); },
        [] { return aclrtSynchronizeDeviceWithTimeout(60000); },
    };
    codes_.resize(waits.size());
    for (size_t i = 0; i < waits.size(); ++i) {
      threads_.emplace_back([this, i, wait = waits[i], context] {
        EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
        ++about_to_wait_;
        codes_[i] = wait();
      });
    }
    while (about_to_wait_ < waits.size()) std::this_thread::yield();
    std::this_thread::sleep_for(milliseconds(50));  // Now they are parked.
  }

  void ExpectAllGet(aclError code) {
    for (std::thread& thread : threads_) thread.join();
    EXPECT_THAT(codes_, testing::Each(code));
    EXPECT_FALSE(*ran_);
  }

 private:
  const std::shared_ptr<std::atomic<bool>> ran_ = std::make_shared<std::atomic<bool>>(false);
  std::atomic<size_t> about_to_wait_ = 0;
  std::vector<aclError> codes_;
  std::vector<std::thread> threads_;
};

TEST_F(DroppedWorkTest, AbortReachesAllWhoWait) {
  EXPECT_EQ(aclrtStreamAbort(other_), ACL_SUCCESS);
  ExpectAllGet(ACL_ERROR_RT_STREAM_ABORT);
  EXPECT_EQ(aclrtSynchronizeEvent(plain_), ACL_ERROR_RT_STREAM_ABORT);
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
}

TEST_F(DroppedWorkTest, ForcedDestroyReachesAllWhoWait) {
  EXPECT_EQ(aclrtDestroyStreamForce(other_), ACL_SUCCESS);
  ExpectAllGet(ACL_ERROR_RT_STREAM_ABORT);
}

TEST_F(DroppedWorkTest, ForcedResetReachesAllWhoWait) {
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  ExpectAllGet(ACL_ERROR_RT_STREAM_ABORT);
}

TEST_F(DroppedWorkTest, StopReachesAllWhoWait) {
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  ASSERT_EQ(EnqueueFailure(stream_, ACL_ERROR_RT_AICORE_EXCEPTION, "the cause"), 0);
  ExpectAllGet(ACL_ERROR_RT_AICORE_EXCEPTION);
}

// A task whose destruction goes through `blocker`.
int32_t EnqueueSlowToDestroy(aclrtStream stream, Blocker& blocker) {
  std::shared_ptr<int> held(new int(0), [&blocker](const int* number) {
    blocker.Run();
    delete number;
  });
  return EnqueueWork(stream, [held = std::move(held)] {});
}

TEST_F(EventTest, RecordBeingDroppedByAnAbortIsNoSuccess) {
  Blocker destruction;
  ASSERT_EQ(aclrtStreamWaitEvent(other_, sync_), ACL_SUCCESS);
  ASSERT_EQ(EnqueueSlowToDestroy(other_, destruction), 0);
  ASSERT_EQ(aclrtRecordEvent(plain_, other_), ACL_SUCCESS);
  std::thread aborter([&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtStreamAbort(other_), ACL_SUCCESS);
  });
  destruction.entered.Pass();
  EXPECT_FALSE(IsComplete(other_));
  EXPECT_EQ(aclrtSynchronizeEvent(plain_), ACL_ERROR_RT_STREAM_ABORT);
  destruction.released.Open();
  aborter.join();
  EXPECT_TRUE(IsComplete(other_));
  EXPECT_EQ(aclrtSynchronizeEvent(plain_), ACL_ERROR_RT_STREAM_ABORT);
}

TEST_F(EventTest, RecordBeingDroppedByAStopIsNoSuccess) {
  Blocker destruction;
  ASSERT_EQ(aclrtStreamWaitEvent(other_, sync_), ACL_SUCCESS);
  ASSERT_EQ(EnqueueSlowToDestroy(other_, destruction), 0);
  ASSERT_EQ(aclrtRecordEvent(plain_, other_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  ASSERT_EQ(EnqueueFailure(stream_, ACL_ERROR_RT_AICORE_EXCEPTION, "the cause"), 0);
  destruction.entered.Pass();
  EXPECT_FALSE(IsComplete(other_));
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(plain_, 10), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  destruction.released.Open();
  EXPECT_EQ(aclrtSynchronizeEvent(plain_), ACL_ERROR_RT_STREAM_ABORT);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
}

TEST_F(EventTest, RecordOutlivesItsStream) {
  ASSERT_EQ(aclrtRecordEvent(plain_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(plain_), ACL_SUCCESS);
  EXPECT_TRUE(IsRecorded(plain_));
}

// ---- Time ------------------------------------------------------------------------------------

TEST_F(EventTest, ElapsedTimeCoversTheWorkBetweenTwoRecords) {
  for (aclrtEvent end : {sync_, ex_}) {
    ASSERT_EQ(aclrtRecordEvent(plain_, stream_), ACL_SUCCESS);
    ASSERT_EQ(EnqueueWork(stream_, [] { std::this_thread::sleep_for(milliseconds(20)); }), 0);
    ASSERT_EQ(aclrtRecordEvent(end, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeEvent(end), ACL_SUCCESS);
    float ms = 0;
    EXPECT_EQ(aclrtEventElapsedTime(&ms, plain_, end), ACL_SUCCESS);
    EXPECT_GE(ms, 20.0F);
    float back = 0;
    EXPECT_EQ(aclrtEventElapsedTime(&back, end, plain_), ACL_SUCCESS);
    EXPECT_EQ(back, -ms);
    uint64_t start_us = 0;
    uint64_t end_us = 0;
    EXPECT_EQ(aclrtEventGetTimestamp(plain_, &start_us), ACL_SUCCESS);
    EXPECT_EQ(aclrtEventGetTimestamp(end, &end_us), ACL_SUCCESS);
    EXPECT_NEAR(static_cast<double>(end_us - start_us), ms * 1e3, 2);
  }
}

TEST_F(EventTest, TimeNeedsACompleteRecordAndTheFlag) {
  float ms = 7;
  uint64_t timestamp = 7;
  EXPECT_EQ(aclrtEventElapsedTime(&ms, plain_, sync_), ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_EQ(aclrtEventGetTimestamp(plain_, &timestamp), ACL_ERROR_RT_INTERNAL_ERROR);
  Blocker blocker;
  ASSERT_EQ(aclrtRecordEvent(plain_, stream_), ACL_SUCCESS);
  ASSERT_EQ(EnqueueWork(stream_, [&] { blocker.Run(); }), 0);
  ASSERT_EQ(aclrtRecordEvent(sync_, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, plain_, sync_), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  EXPECT_EQ(aclrtEventGetTimestamp(sync_, &timestamp), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  blocker.released.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  aclrtEvent timeless = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&timeless, ACL_EVENT_SYNC), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(timeless, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeEvent(timeless), ACL_SUCCESS);
  EXPECT_EQ(aclrtEventGetTimestamp(timeless, &timestamp), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  EXPECT_THAT(TakeErrorText(), HasSubstr("ACL_EVENT_TIME_LINE"));
  EXPECT_EQ(ms, 7.0F);
  EXPECT_EQ(timestamp, 7U);
  EXPECT_EQ(aclrtDestroyEvent(timeless), ACL_SUCCESS);
}

TEST_F(EventTest, DroppedRecordHasNoTime) {
  ASSERT_EQ(aclrtRecordEvent(ex_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeEvent(ex_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, sync_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(plain_, other_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamAbort(other_), ACL_SUCCESS);
  float ms = 7;
  uint64_t timestamp = 7;
  EXPECT_EQ(aclrtEventElapsedTime(&ms, ex_, plain_), ACL_ERROR_RT_STREAM_ABORT);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, plain_, ex_), ACL_ERROR_RT_STREAM_ABORT);
  EXPECT_EQ(aclrtEventGetTimestamp(plain_, &timestamp), ACL_ERROR_RT_STREAM_ABORT);
  EXPECT_EQ(ms, 7.0F);
  EXPECT_EQ(timestamp, 7U);
}

// ---- Handles, flags, limits ------------------------------------------------------------------

TEST_F(EventTest, DestroyedEventStillServesTheTasksQueuedWithIt) {
  Blocker blocker;
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  ASSERT_EQ(EnqueueWork(stream_, [&] { blocker.Run(); }), 0);
  ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, event), ACL_SUCCESS);
  uint32_t available_before = 0;
  uint32_t available_after = 0;
  ASSERT_EQ(aclrtGetEventAvailNum(&available_before), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  blocker.released.Open();
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetEventAvailNum(&available_after), ACL_SUCCESS);
  EXPECT_EQ(available_after, available_before + 1);
}

TEST_F(EventTest, StaleHandleIsRefusedEverywhere) {
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  for (aclrtEvent bad : {event, static_cast<aclrtEvent>(stream_)}) {
    constexpr int kExpected = ACL_ERROR_RT_INVALID_HANDLE;
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    aclrtEventWaitStatus wait_status = ACL_EVENT_WAIT_STATUS_COMPLETE;
    float ms = 0;
    uint32_t id = 0;
    uint64_t time = 0;
    EXPECT_EQ(aclrtDestroyEvent(bad), kExpected);
    EXPECT_EQ(aclrtRecordEvent(bad, stream_), kExpected);
    EXPECT_EQ(aclrtResetEvent(bad, stream_), kExpected);
    EXPECT_EQ(aclrtStreamWaitEvent(stream_, bad), kExpected);
    EXPECT_EQ(aclrtQueryEventStatus(bad, &status), kExpected);
    EXPECT_EQ(aclrtQueryEventWaitStatus(bad, &wait_status), kExpected);
    EXPECT_EQ(aclrtSynchronizeEvent(bad), kExpected);
    EXPECT_EQ(aclrtSynchronizeEventWithTimeout(bad, 1), kExpected);
    EXPECT_EQ(aclrtEventElapsedTime(&ms, bad, plain_), kExpected);
    EXPECT_EQ(aclrtEventElapsedTime(&ms, plain_, bad), kExpected);
    EXPECT_EQ(aclrtEventGetTimestamp(bad, &time), kExpected);
    EXPECT_EQ(aclrtGetEventId(bad, &id), kExpected);
  }
}

TEST_F(EventTest, NullArgumentsAreRefused) {
  constexpr int kExpected = ACL_ERROR_INVALID_PARAM;
  EXPECT_EQ(aclrtCreateEvent(nullptr), kExpected);
  EXPECT_EQ(aclrtCreateEventWithFlag(nullptr, ACL_EVENT_SYNC), kExpected);
  EXPECT_EQ(aclrtCreateEventExWithFlag(nullptr, ACL_EVENT_SYNC), kExpected);
  EXPECT_EQ(aclrtDestroyEvent(nullptr), kExpected);
  EXPECT_EQ(aclrtRecordEvent(nullptr, stream_), kExpected);
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, nullptr), kExpected);
  EXPECT_EQ(aclrtSynchronizeEvent(nullptr), kExpected);
  EXPECT_EQ(aclrtQueryEventStatus(plain_, nullptr), kExpected);
  EXPECT_EQ(aclrtEventElapsedTime(nullptr, plain_, plain_), kExpected);
  EXPECT_EQ(aclrtGetEventId(plain_, nullptr), kExpected);
  EXPECT_EQ(aclrtGetEventAvailNum(nullptr), kExpected);
}

TEST_F(EventTest, FlagsAreChecked) {
  for (auto* create : {aclrtCreateEventWithFlag, aclrtCreateEventExWithFlag}) {
    aclrtEvent event = nullptr;
    EXPECT_EQ(create(&event, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(create(&event, 0x4), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(create(&event, ACL_EVENT_IPC | ACL_EVENT_SYNC), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(create(&event, ACL_EVENT_IPC | ACL_EVENT_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
    for (uint32_t flag : {ACL_EVENT_IPC, ACL_EVENT_EXTERNAL, ACL_EVENT_DEVICE_USE_ONLY}) {
      EXPECT_EQ(create(&event, flag), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    }
    EXPECT_EQ(event, nullptr);
    EXPECT_EQ(create(&event, ACL_EVENT_CAPTURE_STREAM_PROGRESS), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  }
}

TEST_F(EventTest, EventsEndWithTheirDevice) {
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  uint32_t available = 0;
  EXPECT_EQ(aclrtGetEventAvailNum(&available), ACL_SUCCESS);
  EXPECT_EQ(available, 65536U);
  EXPECT_EQ(aclrtRecordEvent(plain_, nullptr), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST(EventDeviceTest, EventsBelongToOneDeviceButAreWaitedForFromAny) {
  ASSERT_TRUE(SetDeviceCount(2));
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(event, nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtStreamWaitEvent(nullptr, event), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  EXPECT_EQ(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  ASSERT_TRUE(SetDeviceCount(1));
  TakeErrorText();
}

TEST_F(EventTest, NumberOfEventsIsLimitedAndCounted) {
  uint32_t available = 0;
  ASSERT_EQ(aclrtGetEventAvailNum(&available), ACL_SUCCESS);
  EXPECT_EQ(available, 65536U - 3);
  std::vector<aclrtEvent> events(available);
  for (aclrtEvent& event : events) ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  aclrtEvent more = nullptr;
  EXPECT_EQ(aclrtCreateEvent(&more), ACL_ERROR_RT_NO_EVENT_RESOURCE);
  EXPECT_EQ(more, nullptr);
  for (aclrtEvent event : events) ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetEventAvailNum(&available), ACL_SUCCESS);
  EXPECT_EQ(available, 65536U - 3);
}

TEST_F(EventTest, IdsDiffer) {
  uint32_t first = 0;
  uint32_t second = 0;
  EXPECT_EQ(aclrtGetEventId(plain_, &first), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetEventId(sync_, &second), ACL_SUCCESS);
  EXPECT_NE(first, second);
}

TEST_F(EventTest, ThreadWithoutContextIsTold) {
  std::thread([&] {
    aclrtEvent event = nullptr;
    EXPECT_EQ(aclrtCreateEvent(&event), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtSynchronizeEvent(plain_), ACL_ERROR_RT_CONTEXT_NULL);
  }).join();
}

}  // namespace
}  // namespace mlmargin::runtime

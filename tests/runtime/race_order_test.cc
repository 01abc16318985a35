// SPDX-License-Identifier: Apache-2.0
// MLMARGIN_RACE_CHECK=1: what is known of the work of one stream by waiting for another, and what
// is known of work that failed or was dropped.
#include <memory>
#include <thread>
#include <utility>

#include "runtime/private_api.h"
#include "runtime/race_check_fixture.h"
#include "runtime/stream_fixture.h"

namespace mlmargin::runtime {
namespace {

class RaceOrderTest : public RaceCheckTest {
 protected:
  void SetUp() override {
    RaceCheckTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(aclrtCreateStream(&third_), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateEvent(&other_event_), ACL_SUCCESS);
  }

  // Lets `waiter` wait for what is now in `stream`.
  static void Order(aclrtStream waiter, aclrtStream stream, aclrtEvent event) {
    ASSERT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(waiter, event), ACL_SUCCESS);
  }

  // Until the stream has come to here, which the race check learns nothing from.
  static void Reach(aclrtStream stream) {
    Door reached;
    ASSERT_EQ(EnqueueWork(stream, [&] { reached.Open(); }), ACL_SUCCESS);
    reached.Pass();
  }

  // Holds the stream back, in device work.
  void Block(aclrtStream stream) {
    ASSERT_EQ(EnqueueWork(stream, [this] { blocker_.Run(); }), ACL_SUCCESS);
    blocker_.entered.Pass();
  }

  // Destroys the stream by force, and returns when it is gone.
  static void End(aclrtStream stream) {
    std::shared_ptr<Stream> found;
    ASSERT_TRUE(FindStream(stream, &found).ok());
    const std::weak_ptr<Stream> gone = std::exchange(found, nullptr);
    ASSERT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
    while (!gone.expired()) std::this_thread::yield();
  }

  aclrtStream third_ = nullptr;
  aclrtEvent other_event_ = nullptr;
  Blocker blocker_;
};

// ---- Waits of streams ------------------------------------------------------------------------

TEST_F(RaceOrderTest, AStreamWaitThatRanOutOfTimeIsNone) {
  ASSERT_EQ(aclrtSetOpWaitTimeout(1), ACL_SUCCESS);
  Block(stream_);
  Write(stream_);
  Order(other_, stream_, event_);
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_ERROR_RT_WAIT_TIMEOUT);
  EXPECT_EQ(HostReads(), 1U);
  blocker_.released.Open();
  ASSERT_EQ(aclrtSetOpWaitTimeout(0), ACL_SUCCESS);
}

TEST_F(RaceOrderTest, AStreamWaitWhoseRecordWasDroppedIsNone) {
  Write(stream_);
  Block(other_);
  Order(other_, stream_, event_);
  Order(third_, other_, other_event_);
  std::thread abort([&] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtStreamAbort(other_), ACL_SUCCESS);  // Waits for the blocker.
  });
  EXPECT_EQ(aclrtSynchronizeStream(third_), ACL_ERROR_RT_STREAM_ABORT);
  EXPECT_EQ(HostReads(), 1U);
  blocker_.released.Open();
  abort.join();
}

TEST_F(RaceOrderTest, AStreamWaitIssuedBeforeItsFirstRecord) {
  ASSERT_EQ(aclrtStreamWaitEvent(other_, event_), ACL_SUCCESS);
  Write(stream_);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 0U);
}

TEST_F(RaceOrderTest, AStreamWaitIssuedBeforeItsRecordKnowsOfTheFirst) {
  Block(other_);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, event_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  Write(stream_);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  Reach(stream_);
  blocker_.released.Open();
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 1U);
}

// The wait is issued while the record before the reset is still the latest.
TEST_F(RaceOrderTest, AStreamWaitForTheRecordAfterAReset) {
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
  Block(third_);
  ASSERT_EQ(aclrtResetEvent(event, third_), ACL_SUCCESS);
  Order(other_, third_, other_event_);  // Behind the reset.
  ASSERT_EQ(aclrtStreamWaitEvent(other_, event), ACL_SUCCESS);
  blocker_.released.Open();
  ASSERT_EQ(aclrtSynchronizeStream(third_), ACL_SUCCESS);
  Write(stream_);
  ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 0U);
}

TEST_F(RaceOrderTest, ThousandsOfStreamWaits) {
  Write(stream_);
  Order(other_, stream_, event_);
  for (int i = 0; i < 5000; ++i) Order(other_, third_, other_event_);
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 0U);
}

TEST_F(RaceOrderTest, AQueryThatSaysNoWaitIsPending) {
  Write(stream_);
  Order(other_, stream_, event_);
  aclrtEventWaitStatus status = ACL_EVENT_WAIT_STATUS_NOT_READY;
  while (status != ACL_EVENT_WAIT_STATUS_COMPLETE) {
    ASSERT_EQ(aclrtQueryEventWaitStatus(event_, &status), ACL_SUCCESS);
  }
  EXPECT_EQ(HostReads(), 0U);
  Write(stream_);
  ASSERT_EQ(aclrtQueryEventWaitStatus(event_, &status), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 1U);
}

// The query tells of the stream's own work before the wait, whatever else is over.
TEST_F(RaceOrderTest, AQueryTellsOfTheWorkBeforeTheWait) {
  Write(other_);
  Order(other_, stream_, event_);
  Reach(other_);
  aclrtStream gone = nullptr;
  ASSERT_EQ(aclrtCreateStream(&gone), ACL_SUCCESS);
  ReadToPinned(gone);
  End(gone);
  aclrtEventWaitStatus status = ACL_EVENT_WAIT_STATUS_NOT_READY;
  ASSERT_EQ(aclrtQueryEventWaitStatus(event_, &status), ACL_SUCCESS);
  ASSERT_EQ(status, ACL_EVENT_WAIT_STATUS_COMPLETE);
  EXPECT_EQ(HostReads(), 0U);
}

// ---- The end of a stream between -------------------------------------------------------------

TEST_F(RaceOrderTest, AStreamThatWaitedForOneThatIsGone) {
  Write(stream_);
  Order(other_, stream_, event_);
  Order(third_, other_, other_event_);
  Reach(third_);
  End(other_);
  EXPECT_EQ(HostReads(), 1U);
  ASSERT_EQ(aclrtSynchronizeStream(third_), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 0U);
}

TEST_F(RaceOrderTest, AWaitForAnEventOfAStreamThatIsGone) {
  Write(stream_);
  Order(other_, stream_, event_);
  ASSERT_EQ(aclrtRecordEvent(other_event_, other_), ACL_SUCCESS);
  Reach(other_);
  End(other_);
  ASSERT_EQ(aclrtStreamWaitEvent(third_, other_event_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(third_), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 0U);
}

// Though nobody ever waits for the work that they led to.
TEST_F(RaceOrderTest, StreamsThatAreGoneDoNotGrowTheProcess) {
  Write(stream_);
  const auto come_and_go = [&](int count) {
    for (int i = 0; i < count; ++i) {
      aclrtStream between = nullptr;
      ASSERT_EQ(aclrtCreateStream(&between), ACL_SUCCESS);
      Order(between, stream_, event_);
      Order(other_, between, other_event_);
      Reach(other_);
      ASSERT_EQ(aclrtDestroyStreamForce(between), ACL_SUCCESS);
    }
  };
  come_and_go(2000);
  const size_t before = ResidentBytes();
  come_and_go(7000);
  EXPECT_LT(ResidentBytes(), before + kGrowthNoiseBytes);
}

// Whether it ran, runs or was dropped.
TEST_F(RaceOrderTest, TheEndOfAStreamByForce) {
  Block(stream_);
  Write(stream_);
  ASSERT_EQ(aclrtDestroyStreamForce(stream_), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 0U);
  blocker_.released.Open();
  Write(other_);
  Reach(other_);
  ASSERT_EQ(aclrtDestroyStreamForce(other_), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 0U);
}

TEST_F(RaceOrderTest, AnAbortSaysNothingOfWhatTheStreamWaitedFor) {
  Write(stream_);
  Order(other_, stream_, event_);
  Reach(other_);
  ASSERT_EQ(aclrtStreamAbort(other_), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 1U);
}

// ---- Failures --------------------------------------------------------------------------------

TEST_F(RaceOrderTest, AWaitForAnEventThatReturnsTheFailureBeforeIt) {
  ASSERT_EQ(EnqueueFailure(stream_, ACL_ERROR_RT_INTERNAL_ERROR, "on purpose"), ACL_SUCCESS);
  Write(stream_);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  Reach(stream_);
  EXPECT_EQ(aclrtSynchronizeEvent(event_), ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_EQ(HostReads(), 0U);
}

}  // namespace
}  // namespace mlmargin::runtime

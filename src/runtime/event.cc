// SPDX-License-Identifier: Apache-2.0
#include "runtime/event.h"

#include <fmt/core.h>

#include <utility>

#include "acl/acl.h"
#include "runtime/debug_settings.h"
#include "runtime/device_quota.h"
#include "runtime/errors.h"
#include "runtime/never_destroyed.h"
#include "runtime/race_check.h"

namespace mlmargin::runtime {
namespace {

constexpr uint32_t kMaxEventsPerDevice = 65536;

DeviceQuota& EventQuota() {
  static NeverDestroyed<DeviceQuota> quota(kMaxEventsPerDevice);
  return quota.get();
}

uint32_t NextEventId() {
  static std::atomic<uint32_t> next = 0;
  return next.fetch_add(1, std::memory_order_relaxed);
}

Status DroppedRecord(uint32_t event_id) {
  return Status(ACL_ERROR_RT_STREAM_ABORT, "EE1019",
                fmt::format("event {} never completes: the stream that should have reached its "
                            "record was aborted, stopped or destroyed by force.",
                            event_id));
}

Status NeverRecorded(uint32_t event_id) {
  return Status(ACL_ERROR_RT_INTERNAL_ERROR, "EE1018",
                fmt::format("event {} was never recorded, or was reset; call aclrtRecordEvent "
                            "first.",
                            event_id));
}

Status OnlyWithSync() {
  return NotSupported("expected an event made by aclrtCreateEventWithFlag with ACL_EVENT_SYNC.");
}

}  // namespace

void EventRecord::Finish(State how) {
  state.store(how, std::memory_order_release);
  finished.Set();
}

void EventRecord::NoteDoneForRaceCheck() const {
  if (RaceCheckIsOn()) NoteDone(stream_id, sequence);
}

// ---- Tasks -----------------------------------------------------------------------------------

class RecordTask : public Task {
 public:
  RecordTask(std::shared_ptr<Event> event, std::shared_ptr<EventRecord> record)
      : event_(std::move(event)), record_(std::move(record)) {}
  ~RecordTask() override {
    if (record_->state.load(std::memory_order_relaxed) == EventRecord::State::kPending) {
      record_->Finish(EventRecord::State::kDropped);
    }
  }
  Status Run() override {
    record_->time = Stream::Clock::now();
    event_->SetFlag(record_);
    record_->Finish(EventRecord::State::kDone);
    return {};
  }

 private:
  const std::shared_ptr<Event> event_;
  const std::shared_ptr<EventRecord> record_;
};

class ResetTask : public Task {
 public:
  explicit ResetTask(std::shared_ptr<Event> event) : event_(std::move(event)) {}
  Status Run() override {
    std::shared_ptr<EventRecord> forgotten;  // Destroyed after the lock is gone.
    std::shared_ptr<const EventRecord> forgotten_flag;
    const std::lock_guard lock(event_->mutex_);
    event_->flag_.Clear();
    forgotten_flag.swap(event_->flag_record_);
    // A record issued meanwhile and not reached yet is the next round's.
    const bool pending =
        event_->latest_ != nullptr &&
        event_->latest_->state.load(std::memory_order_acquire) == EventRecord::State::kPending;
    if (!pending) forgotten.swap(event_->latest_);
    return {};
  }

 private:
  const std::shared_ptr<Event> event_;
};

// Holds the record that was the latest when the wait was issued: later ones do not concern it.
class EventWaitTask : public WaitTask {
 public:
  EventWaitTask(std::shared_ptr<Event> event, std::shared_ptr<EventRecord> record,
                int32_t stream_id)
      : event_(std::move(event)), record_(std::move(record)), stream_id_(stream_id) {
    if (RaceCheckIsOn()) room_for_orders_ = MakeRoomForOrders(stream_id, 2);
    event_->pending_waits_.fetch_add(1, std::memory_order_relaxed);
  }
  ~EventWaitTask() override { event_->pending_waits_.fetch_sub(1, std::memory_order_release); }

  bool Ready(const std::shared_ptr<Stream>& waiter) override {
    is_over_ = IsOver(waiter);
    return is_over_;
  }

  Status Run() override {
    if (!is_over_) {
      return Status(ACL_ERROR_RT_WAIT_TIMEOUT, "EE1019",
                    fmt::format("a stream waited for event {} longer than aclrtSetOpWaitTimeout "
                                "allows and went on without it.",
                                event_->id()));
    }
    if (IsDropped()) return DroppedRecord(event_->id());
    if (!room_for_orders_.empty()) NoteOrders();
    return {};
  }

  // This task's number in its stream, to be set before it may run.
  uint64_t* sequence() { return &sequence_; }

 private:
  bool IsDropped() const {
    return record_ != nullptr &&
           record_->state.load(std::memory_order_acquire) == EventRecord::State::kDropped;
  }
  bool IsOver(const std::shared_ptr<Stream>& waiter) {
    if (record_ != nullptr && !record_->finished.IsSetOrRegister(record_waiter_, waiter)) {
      return false;
    }
    if (IsDropped() || event_->kind_ == Event::Kind::kEx) return true;
    return event_->flag_.IsSetOrRegister(flag_waiter_, waiter);
  }
  // The flag is of another record if the wait was issued before that, or before a reset was over.
  void NoteOrders() {
    if (record_ != nullptr) NoteOrderBehind(*record_);
    if (event_->kind_ == Event::Kind::kEx) return;
    const std::shared_ptr<const EventRecord> flag_record = event_->flag_record();
    if (flag_record != nullptr && !IsBehind(*flag_record)) NoteOrderBehind(*flag_record);
  }
  bool IsBehind(const EventRecord& other) const {
    return record_ != nullptr && record_->stream_id == other.stream_id &&
           record_->sequence >= other.sequence;
  }
  void NoteOrderBehind(const EventRecord& record) {
    const WorkPoint reached = {record.stream_id, record.sequence};
    NoteOrder(stream_id_, {sequence_, event_->id(), reached}, room_for_orders_);
  }

  const std::shared_ptr<Event> event_;
  const std::shared_ptr<EventRecord> record_;
  const int32_t stream_id_;
  uint64_t sequence_ = 0;
  Orders room_for_orders_;  // None if the race check is off.
  Signal::Waiter record_waiter_;
  Signal::Waiter flag_waiter_;
  bool is_over_ = false;
};

// ---- Events ----------------------------------------------------------------------------------

Event::Event(Kind kind, uint32_t flags, int32_t device_id)
    : id_(NextEventId()), kind_(kind), flags_(flags), device_id_(device_id) {}

Event::~Event() {
  if (holds_slot_) EventQuota().Give(device_id_);
}

Status Event::Create(Kind kind, uint32_t flags, int32_t device_id, std::shared_ptr<Event>* event) {
  std::shared_ptr<Event> made(new Event(kind, flags, device_id));
  made->holds_slot_ = EventQuota().Take(device_id);
  if (!made->holds_slot_) {
    return Status(ACL_ERROR_RT_NO_EVENT_RESOURCE, "EE1023",
                  fmt::format("device {} has {} events already, the most it can have; destroy some "
                              "first.",
                              device_id, kMaxEventsPerDevice));
  }
  *event = std::move(made);
  return {};
}

Status Event::CheckSameDevice(const Stream& stream) const {
  if (stream.device_id() == device_id_) return {};
  return InvalidRuntimeParam(
      fmt::format("event {} was made on device {}, the stream on device {}; "
                  "expected both on one device.",
                  id_, device_id_, stream.device_id()));
}

std::shared_ptr<EventRecord> Event::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

void Event::SetFlag(const std::shared_ptr<EventRecord>& record) {
  if (!RaceCheckIsOn()) return flag_.Set();
  {
    const std::lock_guard lock(mutex_);  // For whoever sees the flag then.
    if (flag_record_ == nullptr) flag_record_ = record;
  }
  flag_.Set();
  const std::lock_guard lock(mutex_);  // A reset may have come between, of an earlier flag.
  if (flag_record_ == nullptr && flag_.IsSet()) flag_record_ = record;
}

std::shared_ptr<const EventRecord> Event::flag_record() const {
  const std::lock_guard lock(mutex_);
  return flag_record_;
}

Status Event::Record(Stream& stream) {
  MLMARGIN_RETURN_IF_ERROR(CheckSameDevice(stream));
  auto record = std::make_shared<EventRecord>();
  record->stream = stream.weak_from_this();
  record->stream_id = stream.id();
  MLMARGIN_RETURN_IF_ERROR(stream.Push(TaskKind::kDevice,
                                       std::make_unique<RecordTask>(shared_from_this(), record),
                                       &record->sequence));
  const std::lock_guard lock(mutex_);
  latest_.swap(record);
  return {};
}

Status Event::Reset(Stream& stream) {
  if (kind_ != Kind::kWithFlag || !HasFlag(ACL_EVENT_SYNC)) return OnlyWithSync();
  MLMARGIN_RETURN_IF_ERROR(CheckSameDevice(stream));
  return stream.Push(TaskKind::kDevice, std::make_unique<ResetTask>(shared_from_this()));
}

Status Event::WaitIn(Stream& stream) {
  if (!HasFlag(ACL_EVENT_SYNC)) {
    return NotSupported(
        "the event was made with flags but without ACL_EVENT_SYNC, which "
        "aclrtStreamWaitEvent needs.");
  }
  MLMARGIN_RETURN_IF_ERROR(CheckSameDevice(stream));
  const std::chrono::seconds limit(OpWaitTimeoutSeconds().load(std::memory_order_relaxed));
  auto wait = std::make_unique<EventWaitTask>(shared_from_this(), latest(), stream.id());
  uint64_t* const sequence = wait->sequence();
  return stream.PushWait(std::move(wait), limit, sequence);
}

bool Event::HasPendingWaits() const {
  if (pending_waits_.load(std::memory_order_acquire) != 0) return true;
  if (RaceCheckIsOn()) NoteWaitsDone(id_);
  return false;
}

Status Event::QueryRecorded(bool* complete) const {
  const std::shared_ptr<EventRecord> record = latest();
  if (record == nullptr) {
    *complete = kind_ == Kind::kEx;
    return {};
  }
  const EventRecord::State state = record->state.load(std::memory_order_acquire);
  if (state == EventRecord::State::kDropped) return DroppedRecord(id_);
  *complete = state == EventRecord::State::kDone;
  if (*complete) record->NoteDoneForRaceCheck();
  return {};
}

Status Event::CheckQueryable() const {
  if (kind_ != Kind::kEx) return {};
  return NotSupported(
      "events of aclrtCreateEventExWithFlag do not support this query; use "
      "aclrtQueryEventStatus.");
}

Status Event::Synchronize(int32_t timeout_ms) const {
  const std::shared_ptr<EventRecord> record = latest();
  if (record == nullptr) return kind_ == Kind::kEx ? Status() : NeverRecorded(id_);
  Status failure;
  // A stream that is gone has run or dropped all its tasks.
  if (const std::shared_ptr<Stream> stream = record->stream.lock()) {
    const bool pending = !record->finished.IsSet();
    Status waited = pending ? stream->Wait(record->sequence, timeout_ms) : Status();
    if (waited.code() == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) {
      return Status(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "EE1002",
                    fmt::format("event {} was not complete within {} ms; its stream's work goes "
                                "on.",
                                id_, timeout_ms));
    }
    if (waited.code() == ACL_ERROR_RT_STREAM_ABORT) return waited;
    failure = stream->TakeFailure(record->sequence);
    if (failure.ok()) failure = std::move(waited);
  }
  // Whatever it is that is over: a record that is not done now never will be.
  const bool done = record->state.load(std::memory_order_acquire) == EventRecord::State::kDone;
  if (done) record->NoteDoneForRaceCheck();
  if (!failure.ok()) return failure;
  return done ? Status() : DroppedRecord(id_);
}

Status Event::CompletionTime(const char* argument, Stream::Clock::time_point* time) const {
  if (!HasFlag(ACL_EVENT_TIME_LINE)) {
    return Status(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "EE1018",
                  fmt::format("argument {}: event {} was made without ACL_EVENT_TIME_LINE, so it "
                              "has no time.",
                              argument, id_));
  }
  const std::shared_ptr<EventRecord> record = latest();
  if (record == nullptr) return NeverRecorded(id_);
  const EventRecord::State state = record->state.load(std::memory_order_acquire);
  if (state == EventRecord::State::kDropped) return DroppedRecord(id_);
  if (state != EventRecord::State::kDone) {
    return Status(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "EE1018",
                  fmt::format("argument {}: event {} is not complete; call aclrtSynchronizeEvent "
                              "first.",
                              argument, id_));
  }
  *time = record->time;
  record->NoteDoneForRaceCheck();
  return {};
}

HandleTable<Event>& Events() {
  static NeverDestroyed<HandleTable<Event>> events;
  return events.get();
}

HandleTable<Event>::Objects TakeEvents(std::optional<int32_t> device_id) {
  return Events().RemoveIf(
      [&](const Event& event) { return !device_id || event.device_id() == *device_id; });
}

uint32_t AvailableEvents(int32_t device_id) { return EventQuota().Available(device_id); }

Stream::Clock::time_point DeviceStartTime() {
  static const Stream::Clock::time_point start = Stream::Clock::now();
  return start;
}

}  // namespace mlmargin::runtime

// SPDX-License-Identifier: Apache-2.0
// Events: points in a stream's work that streams and threads wait for and that carry a time.
#ifndef MLMARGIN_RUNTIME_EVENT_H_
#define MLMARGIN_RUNTIME_EVENT_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/handle_table.h"
#include "runtime/status.h"
#include "runtime/stream.h"
#include "runtime/stream_signal.h"

namespace mlmargin::runtime {

// One record of an event: the snapshot of the work then in a stream.
struct EventRecord {
  enum class State { kPending, kDone, kDropped };

  std::weak_ptr<Stream> stream;
  int32_t stream_id = 0;
  uint64_t sequence = 0;           // Of the record's task; set before it may run.
  Stream::Clock::time_point time;  // Set before kDone.
  std::atomic<State> state = State::kPending;
  Signal finished;  // Done or dropped.

  void Finish(State how);
  // For a thread of the host that has seen it done.
  void NoteDoneForRaceCheck() const;
};

// Thread-safe. Waits and queries refer to the latest record that was issued. Events other than
// kEx also have the flag of the hardware, which a record sets and a reset clears when they are
// reached: a stream wait needs both, so that a wait issued before its record holds, too.
class Event : public std::enable_shared_from_this<Event> {
 public:
  // aclrtCreateEvent, aclrtCreateEventWithFlag, aclrtCreateEventExWithFlag.
  enum class Kind { kPlain, kWithFlag, kEx };
  static Status Create(Kind kind, uint32_t flags, int32_t device_id, std::shared_ptr<Event>* event);
  ~Event();

  uint32_t id() const { return id_; }
  int32_t device_id() const { return device_id_; }

  // Tasks of `stream`.
  Status Record(Stream& stream);
  Status Reset(Stream& stream);
  Status WaitIn(Stream& stream);

  // 107023 if the latest record's work was dropped, here and in the calls below.
  Status QueryRecorded(bool* complete) const;
  // For aclrtQueryEvent and aclrtQueryEventWaitStatus: 207000 for kEx.
  Status CheckQueryable() const;
  bool HasPendingWaits() const;  // For a thread of the host.

  // Waits for the latest record and returns the failure of its stream's work up to there.
  // 507000 never recorded, 507047 time over.
  Status Synchronize(int32_t timeout_ms) const;

  // When the latest record was reached. 507000 never recorded, 107006 not complete or no times,
  // 107023 if its work was dropped.
  Status CompletionTime(const char* argument, Stream::Clock::time_point* time) const;

 private:
  friend class RecordTask;
  friend class ResetTask;
  friend class EventWaitTask;

  Event(Kind kind, uint32_t flags, int32_t device_id);
  std::shared_ptr<EventRecord> latest() const;
  void SetFlag(const std::shared_ptr<EventRecord>& record);
  std::shared_ptr<const EventRecord> flag_record() const;
  Status CheckSameDevice(const Stream& stream) const;
  bool HasFlag(uint32_t flag) const { return kind_ == Kind::kPlain || (flags_ & flag) != 0; }

  const uint32_t id_;
  const Kind kind_;
  const uint32_t flags_;
  const int32_t device_id_;
  bool holds_slot_ = false;
  mutable std::mutex mutex_;
  std::shared_ptr<EventRecord> latest_;  // Null: never recorded, or reset.
  // That set the flag when it was clear; null if it is clear, or the race check is off.
  std::shared_ptr<const EventRecord> flag_record_;
  Signal flag_;
  std::atomic<int32_t> pending_waits_ = 0;
};

// All live events by handle.
HandleTable<Event>& Events();

// Takes a device's events (no device: all) out of the table, when it is released.
HandleTable<Event>::Objects TakeEvents(std::optional<int32_t> device_id);

// How many more events the device can have.
uint32_t AvailableEvents(int32_t device_id);

// What aclrtEventGetTimestamp counts from: when the first stream was made.
Stream::Clock::time_point DeviceStartTime();

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_EVENT_H_

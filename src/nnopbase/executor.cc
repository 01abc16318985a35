// SPDX-License-Identifier: Apache-2.0
#include "nnopbase/executor.h"

#include <iterator>
#include <utility>

#include "runtime/never_destroyed.h"

namespace mlmargin::nnopbase {

Executor::Executor(Plan plan) : plan_(std::move(plan)) {
  addresses_.reserve(plan_.arguments.size());
  for (const Argument& argument : plan_.arguments) addresses_.push_back(argument.tensor->data);
}

std::span<const Argument> Executor::inputs() const {
  return std::span(plan_.arguments).first(plan_.num_inputs);
}

std::span<const Argument> Executor::outputs() const {
  return std::span(plan_.arguments).subspan(plan_.num_inputs);
}

Executor::Turn Executor::Begin(std::vector<void*>* addresses) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kSpent) return Turn::kNone;
  if (state_ == State::kRepeatable) {
    *addresses = addresses_;
    return Turn::kRepeated;
  }
  *addresses = std::move(addresses_);
  addresses_.clear();
  state_ = State::kSpent;
  return Turn::kOnly;
}

bool Executor::MakeRepeatable() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kSpent) return false;
  state_ = State::kRepeatable;
  return true;
}

void Executor::Spend() {
  const std::lock_guard lock(mutex_);
  state_ = State::kSpent;
}

void Executor::SetAddress(size_t argument_index, void* address) {
  const std::lock_guard lock(mutex_);
  // Spent meanwhile: the addresses went with the phase 2 that did it.
  if (argument_index < addresses_.size()) addresses_[argument_index] = address;
}

runtime::HandleTable<Executor>& Executors() {
  static runtime::NeverDestroyed<runtime::HandleTable<Executor>> table;
  return table.get();
}

Status CreateExecutor(const char* function, std::vector<Argument> inputs,
                      std::vector<Argument> outputs, uint64_t workspace_bytes,
                      std::shared_ptr<const Operator> op, aclOpExecutor** executor) {
  const size_t num_inputs = inputs.size();
  inputs.insert(inputs.end(), std::make_move_iterator(outputs.begin()),
                std::make_move_iterator(outputs.end()));
  auto created = std::make_shared<Executor>(
      Executor::Plan{function, std::move(inputs), num_inputs, workspace_bytes, std::move(op)});
  *executor = static_cast<aclOpExecutor*>(Executors().Insert(std::move(created)));
  return {};
}

}  // namespace mlmargin::nnopbase

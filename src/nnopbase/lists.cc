// SPDX-License-Identifier: Apache-2.0
// Lists of tensors and of scalars: they hold handles and destroy the members with themselves.
#include "nnopbase/lists.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "nnopbase/c_api.h"
#include "nnopbase/tensor.h"
#include "nnopbase/value_arrays.h"
#include "runtime/never_destroyed.h"

using mlmargin::nnopbase::AclnnCall;
using mlmargin::nnopbase::CheckNotNull;
using mlmargin::nnopbase::DeadHandle;
using mlmargin::nnopbase::Invalid;
using mlmargin::nnopbase::Scalars;
using mlmargin::nnopbase::Status;
using mlmargin::nnopbase::Tensors;

namespace {

// A list's members and their table, and the names of both in messages.
template <typename Handle>
struct ListTraits;
template <>
struct ListTraits<aclTensorList> {
  using Member = aclTensor;
  static auto& Members() { return Tensors(); }
  static constexpr char kKind[] = "tensor list";
  static constexpr char kMemberKind[] = "tensor";
};
template <>
struct ListTraits<aclScalarList> {
  using Member = aclScalar;
  static auto& Members() { return Scalars(); }
  static constexpr char kKind[] = "scalar list";
  static constexpr char kMemberKind[] = "scalar";
};

template <typename Handle>
using Members = std::vector<const typename ListTraits<Handle>::Member*>;

template <typename Handle>
auto& Lists() {
  static mlmargin::runtime::NeverDestroyed<mlmargin::runtime::HandleTable<const Members<Handle>>>
      table;
  return table.get();
}

template <typename Handle>
Status CheckMembers(const Members<Handle>& members) {
  using Traits = ListTraits<Handle>;
  for (size_t i = 0; i < members.size(); ++i) {
    if (Traits::Members().Find(members[i]) != nullptr) continue;
    return DeadHandle(fmt::format("value[{}]", i).c_str(), Traits::kMemberKind, members[i]);
  }
  return {};
}

template <typename Handle>
Handle* CreateList(const char* function, const typename ListTraits<Handle>::Member* const* value,
                   uint64_t size) {
  Handle* created = nullptr;
  AclnnCall(function, [&] {
    constexpr uint64_t kMaxSize = PTRDIFF_MAX / sizeof(void*);
    if (size > kMaxSize) return Invalid("size: must be at most {}, got {}", kMaxSize, size);
    if (size > 0) MLMARGIN_RETURN_IF_ERROR(CheckNotNull("value", value));
    auto members = std::make_shared<const Members<Handle>>(value, value + size);
    MLMARGIN_RETURN_IF_ERROR(CheckMembers<Handle>(*members));
    created = static_cast<Handle*>(Lists<Handle>().Insert(std::move(members)));
    return Status();
  });
  return created;
}

// A member that is gone does not keep the others; it was destroyed before, or twice in the list.
template <typename Handle>
aclnnStatus DestroyList(const char* function, const Handle* array) {
  return AclnnCall(function, [&] {
    using Traits = ListTraits<Handle>;
    if (array == nullptr) return Status();
    const auto members = Lists<Handle>().Remove(array);
    if (members == nullptr) return DeadHandle("array", Traits::kKind, array);
    size_t missing = members->size();  // The first one that is gone.
    for (size_t i = 0; i < members->size(); ++i) {
      const bool gone = Traits::Members().Remove((*members)[i]) == nullptr;
      if (gone && missing == members->size()) missing = i;
    }
    if (missing == members->size()) return Status();
    return Invalid(
        "array: its members must not be destroyed apart from it, got a {} whose {} number {} was "
        "destroyed before; the others are destroyed now",
        Traits::kKind, Traits::kMemberKind, missing);
  });
}

template <typename Handle>
aclnnStatus GetListSize(const char* function, const char* argument, const Handle* list,
                        uint64_t* size) {
  return AclnnCall(function, [&] {
    MLMARGIN_RETURN_IF_ERROR(CheckNotNull(argument, list));
    MLMARGIN_RETURN_IF_ERROR(CheckNotNull("size", size));
    const auto members = Lists<Handle>().Find(list);
    if (members == nullptr) return DeadHandle(argument, ListTraits<Handle>::kKind, list);
    *size = members->size();
    return Status();
  });
}

}  // namespace

bool mlmargin::nnopbase::IsTensorList(const aclTensorList* handle) {
  return Lists<aclTensorList>().Find(handle) != nullptr;
}

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
  return CreateList<aclTensorList>(__func__, value, size);
}

aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
  return CreateList<aclScalarList>(__func__, value, size);
}

aclnnStatus aclDestroyTensorList(const aclTensorList* array) {
  return DestroyList(__func__, array);
}

aclnnStatus aclDestroyScalarList(const aclScalarList* array) {
  return DestroyList(__func__, array);
}

aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
  return GetListSize(__func__, "tensorList", tensorList, size);
}

aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size) {
  return GetListSize(__func__, "scalarList", scalarList, size);
}

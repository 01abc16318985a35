// SPDX-License-Identifier: Apache-2.0
// Scalars and arrays of values: copies of what the caller gave, and their entry points.
#include "nnopbase/value_arrays.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "nnopbase/c_api.h"
#include "runtime/never_destroyed.h"

using mlmargin::nnopbase::AclnnCall;
using mlmargin::nnopbase::CheckNotNull;
using mlmargin::nnopbase::DataTypeText;
using mlmargin::nnopbase::DeadHandle;
using mlmargin::nnopbase::Invalid;
using mlmargin::nnopbase::Scalar;
using mlmargin::nnopbase::Scalars;
using mlmargin::nnopbase::Status;

namespace {

// ---- Scalars -------------------------------------------------------------------------------

// The bytes of one value in the caller's memory; 0 for a type without values.
size_t ScalarBytes(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT6_E3M2:
    case ACL_FLOAT6_E2M3:
    case ACL_FLOAT4_E2M1:
    case ACL_FLOAT4_E1M2:
      return 1;  // aclDataTypeSize says 8, for these and for numbers outside the enumeration.
    default:
      return DataTypeText(dtype).starts_with("aclDataType(") ? 0 : aclDataTypeSize(dtype);
  }
}

Status MakeScalar(const void* value, aclDataType dtype, Scalar* scalar) {
  MLMARGIN_RETURN_IF_ERROR(CheckNotNull("value", value));
  const size_t bytes = ScalarBytes(dtype);
  if (bytes == 0) {
    return Invalid("dataType: must be a type that a scalar can have, got {}", DataTypeText(dtype));
  }
  scalar->dtype = dtype;
  std::memcpy(scalar->value.data(), value, bytes);
  return {};
}

// ---- Arrays --------------------------------------------------------------------------------

// What is behind an array's handle, and its kind in messages.
template <typename Handle>
struct ArrayTraits;
template <>
struct ArrayTraits<aclIntArray> {
  using Elements = std::vector<int64_t>;
  static constexpr char kKind[] = "int array";
};
template <>
struct ArrayTraits<aclFloatArray> {
  using Elements = std::vector<float>;
  static constexpr char kKind[] = "float array";
};
template <>
struct ArrayTraits<aclBoolArray> {
  using Elements = std::vector<bool>;
  static constexpr char kKind[] = "bool array";
};

template <typename Handle>
auto& Arrays() {
  using Table = mlmargin::runtime::HandleTable<const typename ArrayTraits<Handle>::Elements>;
  static mlmargin::runtime::NeverDestroyed<Table> table;
  return table.get();
}

template <typename Value>
Status CheckValues(const Value* values, uint64_t size) {
  constexpr uint64_t kMaxSize = PTRDIFF_MAX / sizeof(Value);
  if (size > kMaxSize) return Invalid("size: must be at most {}, got {}", kMaxSize, size);
  return size > 0 ? CheckNotNull("value", values) : Status();
}

template <typename Handle, typename Value>
Handle* CreateArray(const char* function, const Value* values, uint64_t size) {
  Handle* created = nullptr;
  AclnnCall(function, [&] {
    MLMARGIN_RETURN_IF_ERROR(CheckValues(values, size));
    using Elements = typename ArrayTraits<Handle>::Elements;
    auto elements = std::make_shared<const Elements>(values, values + size);
    created = static_cast<Handle*>(Arrays<Handle>().Insert(std::move(elements)));
    return Status();
  });
  return created;
}

template <typename Handle>
aclnnStatus DestroyArray(const char* function, const Handle* array) {
  return AclnnCall(function, [&] {
    if (array == nullptr || Arrays<Handle>().Remove(array) != nullptr) return Status();
    return DeadHandle("array", ArrayTraits<Handle>::kKind, array);
  });
}

template <typename Handle>
aclnnStatus GetArraySize(const char* function, const Handle* array, uint64_t* size) {
  return AclnnCall(function, [&] {
    MLMARGIN_RETURN_IF_ERROR(CheckNotNull("array", array));
    MLMARGIN_RETURN_IF_ERROR(CheckNotNull("size", size));
    const auto elements = Arrays<Handle>().Find(array);
    if (elements == nullptr) return DeadHandle("array", ArrayTraits<Handle>::kKind, array);
    *size = elements->size();
    return Status();
  });
}

}  // namespace

mlmargin::runtime::HandleTable<const Scalar>& mlmargin::nnopbase::Scalars() {
  static runtime::NeverDestroyed<runtime::HandleTable<const Scalar>> table;
  return table.get();
}

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  aclScalar* created = nullptr;
  AclnnCall(__func__, [&] {
    auto scalar = std::make_shared<Scalar>();
    MLMARGIN_RETURN_IF_ERROR(MakeScalar(value, dataType, scalar.get()));
    created = static_cast<aclScalar*>(Scalars().Insert(std::move(scalar)));
    return Status();
  });
  return created;
}

aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
  return AclnnCall(__func__, [&] {
    if (scalar == nullptr || Scalars().Remove(scalar) != nullptr) return Status();
    return DeadHandle("scalar", "scalar", scalar);
  });
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  return CreateArray<aclIntArray>(__func__, value, size);
}

aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  return CreateArray<aclFloatArray>(__func__, value, size);
}

aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  return CreateArray<aclBoolArray>(__func__, value, size);
}

aclnnStatus aclDestroyIntArray(const aclIntArray* array) { return DestroyArray(__func__, array); }

aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) {
  return DestroyArray(__func__, array);
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) { return DestroyArray(__func__, array); }

aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
  return GetArraySize(__func__, array, size);
}

aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
  return GetArraySize(__func__, array, size);
}

aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
  return GetArraySize(__func__, array, size);
}

// SPDX-License-Identifier: Apache-2.0
// Scalars, which lists hold; the arrays are nobody's business but value_arrays.cc's as long as no
// operator takes one.
#ifndef MLMARGIN_NNOPBASE_VALUE_ARRAYS_H_
#define MLMARGIN_NNOPBASE_VALUE_ARRAYS_H_

#include <array>
#include <cstddef>

#include "nnopbase/private_api.h"
#include "runtime/handle_table.h"

namespace mlmargin::nnopbase {

struct Scalar {
  aclDataType dtype = ACL_DT_UNDEFINED;
  std::array<std::byte, 16> value{};  // As many bytes as the type has, then zeros.
};

// All live scalars; never destroyed.
runtime::HandleTable<const Scalar>& Scalars();

}  // namespace mlmargin::nnopbase

#endif  // MLMARGIN_NNOPBASE_VALUE_ARRAYS_H_

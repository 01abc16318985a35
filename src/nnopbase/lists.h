// SPDX-License-Identifier: Apache-2.0
// The lists behind aclTensorList handles.
#ifndef MLMARGIN_NNOPBASE_LISTS_H_
#define MLMARGIN_NNOPBASE_LISTS_H_

#include "nnopbase/private_api.h"

namespace mlmargin::nnopbase {

// Whether the handle is a live tensor list.
bool IsTensorList(const aclTensorList* handle);

}  // namespace mlmargin::nnopbase

#endif  // MLMARGIN_NNOPBASE_LISTS_H_

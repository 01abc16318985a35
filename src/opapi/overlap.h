// SPDX-License-Identifier: Apache-2.0
// Whether strided views share memory, exactly: interleaved views that share no byte are told from
// views that do.
#ifndef MLMARGIN_OPAPI_OVERLAP_H_
#define MLMARGIN_OPAPI_OVERLAP_H_

#include <cstdint>

#include "nnopbase/private_api.h"

namespace mlmargin::opapi {

// A view of at most two dimensions in bytes: elements of `element_bytes` at address + i * stride
// of each dimension. Dimensions are sorted, the longer stride first; a missing one has count 1.
struct ByteView {
  uint64_t address = 0;
  int64_t element_bytes = 0;
  struct Dimension {
    int64_t count = 1;
    int64_t stride = 0;  // >= 0, in bytes; 0 only when count is 1.
  } outer, inner;
  bool empty = false;
  bool repeats = false;  // Two index pairs fall on one element.
};

// The view of a tensor of rank 0 to 2 whose data begins at `data`; CheckView has passed.
ByteView MakeByteView(const nnopbase::Tensor& tensor, const void* data);

// Whether the two views share a byte.
//
// Cost: constant when their extents are apart or both are contiguous; for interleaved views about
// one step for each row of one that lies within the other.
bool ShareByte(const ByteView& a, const ByteView& b);

}  // namespace mlmargin::opapi

#endif  // MLMARGIN_OPAPI_OVERLAP_H_

// SPDX-License-Identifier: Apache-2.0
#ifndef MLMARGIN_KERNEL_SORT_H_
#define MLMARGIN_KERNEL_SORT_H_

#include <algorithm>
#include <cstddef>

#include "hwy/contrib/sort/vqsort.h"

namespace mlmargin::kernel {

// Sorts numbers, none of them NaN, in ascending order. Few are not worth VQSort's set-up.
template <typename T>
void SortNumbers(T* data, size_t size) {
  constexpr size_t kFew = 64;
  if (size <= kFew) {
    std::sort(data, data + size);
  } else {
    hwy::Sorter()(data, size, hwy::SortAscending());
  }
}

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_SORT_H_

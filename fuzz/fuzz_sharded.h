// SPDX-License-Identifier: Apache-2.0
#ifndef MLMARGIN_FUZZ_FUZZ_SHARDED_H_
#define MLMARGIN_FUZZ_FUZZ_SHARDED_H_

#include "fuzz_support.h"

namespace mlmargin::fuzz {

// The loss and the gradient of a batch by shards, against exact arithmetic and a call on whole
// rows.
void RunSharded(Provider& provider);

}  // namespace mlmargin::fuzz

#endif  // MLMARGIN_FUZZ_FUZZ_SHARDED_H_

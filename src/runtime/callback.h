// SPDX-License-Identifier: Apache-2.0
// Host functions and callbacks: user code in the order of a stream.
#ifndef MLMARGIN_RUNTIME_CALLBACK_H_
#define MLMARGIN_RUNTIME_CALLBACK_H_

namespace mlmargin::runtime {

class Stream;

// Ends the subscription of a stream that is closed; callbacks launched before are still delivered.
void ReleaseReportThread(Stream& stream);

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_CALLBACK_H_

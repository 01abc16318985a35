// SPDX-License-Identifier: Apache-2.0
// The end of the process, as streams see it.
#ifndef MLMARGIN_RUNTIME_STREAM_WORKER_H_
#define MLMARGIN_RUNTIME_STREAM_WORKER_H_

namespace mlmargin::runtime {

// True from the moment exit() reached our handler: no task starts any more, and waits end.
bool ProcessIsExiting();

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_STREAM_WORKER_H_

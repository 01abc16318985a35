// SPDX-License-Identifier: Apache-2.0
// What the runtime lends to this project's other libraries (nnopbase, opapi): status and
// reports, streams, device memory, the log. These symbols are exported from libascendcl.so so
// that the sibling libraries can link to them; they are private and may change at any time.
#ifndef MLMARGIN_RUNTIME_PRIVATE_API_H_
#define MLMARGIN_RUNTIME_PRIVATE_API_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "acl/acl_base.h"
#include "runtime/status.h"

#define MLMARGIN_PRIVATE_API __attribute__((visibility("default")))

namespace mlmargin::runtime {

class Block;   // One live allocation of device or pinned memory; see memory.h.
class Stream;  // One queue of tasks; see stream.h.

// ---- Reports -------------------------------------------------------------------------------

// Which family of codes an API function answers with when an exception reaches its border.
enum class ApiFamily { kAcl, kAclnn };

// Keeps `status` (not ok) as the calling thread's newest pending message and last error, logs it
// and returns its code. `file` and `line` are those of the caller.
MLMARGIN_PRIVATE_API int32_t Report(const char* function, const Status& status,
                                    const char* file = __builtin_FILE(),
                                    int line = __builtin_LINE()) noexcept;

// The same for the exception being handled: out of memory, or an internal error.
MLMARGIN_PRIVATE_API int32_t ReportException(const char* function, ApiFamily family) noexcept;

// True in a child of fork() whose parent had initialised the runtime: its threads are gone, so
// every call answers with an error until exec. Lock-free.
MLMARGIN_PRIVATE_API bool InForkedChild() noexcept;
MLMARGIN_PRIVATE_API int32_t ReportForkedChild(const char* function) noexcept;

// ---- Log -----------------------------------------------------------------------------------

// Writes one line at `level` if ASCEND_GLOBAL_LOG_LEVEL / ASCEND_MODULE_LOG_LEVEL let it through.
// `module` is the upper-case name that the line and the module setting carry, e.g. "OP"; `file`
// and `line` are those of the caller.
MLMARGIN_PRIVATE_API void Log(aclLogLevel level, const char* module, std::string_view text,
                              const char* file = __builtin_FILE(),
                              int line = __builtin_LINE()) noexcept;

// ---- Initialisation ------------------------------------------------------------------------

// aclnnInit and aclnnFinalize: a second, uncounted reason for the runtime to be initialised.
MLMARGIN_PRIVATE_API Status InitAclnn(const char* config_path);
MLMARGIN_PRIVATE_API Status FinalizeAclnn();

// ---- Handles -------------------------------------------------------------------------------

// A value that was never a handle before and is no valid address; see handle_table.h.
MLMARGIN_PRIVATE_API void* NewHandle() noexcept;

// ---- Memory --------------------------------------------------------------------------------

// The live device allocation or registered host range that holds all of [address, address +
// bytes); null if there is none. While the pointer is held the memory stays mapped, also after
// aclrtFree.
MLMARGIN_PRIVATE_API std::shared_ptr<const Block> FindDeviceMemory(const void* address,
                                                                   size_t bytes);

// Where this process finds the byte that has that address on the device; only tasks and copies may
// go there. It is the same address, unless the block is isolated. Beside the block: as far beside.
MLMARGIN_PRIVATE_API void* HostAddress(const Block& block, const void* address);

// A range of memory that a task touches.
struct Access {
  const char* argument;  // As in the prototype of the task's function; a string literal.
  const void* address;   // Of the first byte, on the device.
  size_t bytes;
  bool writes;
  std::shared_ptr<const Block> block;  // That the range lies in; holds it mapped.
};

// ---- Streams -------------------------------------------------------------------------------

// One piece of a stream's work. Run() is called at most once, on a worker of the stream or on a
// thread that waits for the stream; what it throws or returns as an error becomes the stream's
// asynchronous failure. Destruction releases what the task holds, run or not.
class Task {
 public:
  virtual ~Task() = default;
  virtual Status Run() = 0;
  // The public function that enqueued it, for reports; a string literal.
  virtual const char* api_function() const { return "a task of the runtime"; }
  // The memory it touches: none, if it is a task of the runtime's own.
  virtual std::span<const Access> accesses() const { return {}; }
};

// The stream behind a handle, null for the current context's default stream. Errors: no current
// context 107002, no such stream 107017, a stream of another context 107003.
MLMARGIN_PRIVATE_API Status FindStream(aclrtStream handle, std::shared_ptr<Stream>* stream);

// Appends device work that touches no user code (a waiting thread may run it). Returns at once.
MLMARGIN_PRIVATE_API Status Enqueue(Stream& stream, std::unique_ptr<Task> task);

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_PRIVATE_API_H_

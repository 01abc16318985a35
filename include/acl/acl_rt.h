/* SPDX-License-Identifier: Apache-2.0 */
/* Names and values follow the public CANN API, interface 1.17; independent text, Apache-2.0. */

/**
 * The runtime (libascendcl.so): initialisation, devices, contexts, streams, events, memory and
 * host callbacks. Here the device is the host's own CPUs, and a stream is a queue of work.
 *
 * Threads: any call may come from any thread. The current device and context and the last error
 * belong to the calling thread.
 *
 * Results: 0 or an error code. The codes named at a function are those worth knowing there. Held
 * back from each function, since they hold for all of them:
 * - 100000 ACL_ERROR_INVALID_PARAM: a required pointer is null, or a value is outside its enum;
 * - 107000 ACL_ERROR_RT_PARAM_INVALID: another argument is wrong;
 * - 107002 ACL_ERROR_RT_CONTEXT_NULL: the thread has no current context and the call needs one;
 * - 107017 ACL_ERROR_RT_INVALID_HANDLE: a stream, event or context is stale or not ours;
 * - 107003 ACL_ERROR_RT_STREAM_CONTEXT: the stream belongs to another context;
 * - 207001 ACL_ERROR_RT_MEMORY_ALLOCATION: out of memory;
 * - 207000 ACL_ERROR_RT_FEATURE_NOT_SUPPORT: a CPU device cannot do this. Flags
 *   that promise what is not kept are refused, never ignored.
 * A failed call writes nothing, leaves a text for aclGetRecentErrMsg and sets the last error.
 *
 * Asynchronous calls (names with Async; record, wait and reset of events; host functions; phase
 * 2 of an operator) check their arguments, queue the task and return. What fails later is
 * returned by a later waiting call on that stream or device. Tasks of one stream run in order;
 * streams do not wait for one another, the default stream included.
 *
 * Timeouts named timeout are in milliseconds: -1 waits for ever, 0 looks once, below -1 is
 * 107000. Sizes are in bytes.
 */
#ifndef MLMARGIN_INCLUDE_ACL_ACL_RT_H_
#define MLMARGIN_INCLUDE_ACL_ACL_RT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"
#include "acl_rt_allocator.h"

/* Version of the interface. */
#define ACL_MAJOR_VERSION 1
#define ACL_MINOR_VERSION 17
#define ACL_PATCH_VERSION 0

/* Flags of aclrtCreateStreamWithConfig. */
#define ACL_STREAM_FAST_LAUNCH 0x00000001U
#define ACL_STREAM_FAST_SYNC 0x00000002U
#define ACL_STREAM_PERSISTENT 0x00000004U
#define ACL_STREAM_HUGE 0x00000008U
#define ACL_STREAM_CPU_SCHEDULE 0x00000010U
#define ACL_STREAM_DEVICE_USE_ONLY 0x00000020U

/* Modes of aclrtSetStreamFailureMode. */
#define ACL_CONTINUE_ON_FAILURE 0x00000000U
#define ACL_STOP_ON_FAILURE 0x00000001U

/* Flags of aclrtCreateEventWithFlag and aclrtCreateEventExWithFlag. */
#define ACL_EVENT_SYNC 0x00000001U
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 0x00000002U
#define ACL_EVENT_TIME_LINE 0x00000008U
#define ACL_EVENT_DEVICE_USE_ONLY 0x00000010U
#define ACL_EVENT_EXTERNAL 0x00000020U
#define ACL_EVENT_IPC 0x00000040U

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ---- */

/* Options of the process and of a context; see aclrtSetSysParamOpt. */
typedef enum aclSysParamOpt {
  ACL_OPT_DETERMINISTIC = 0,
  ACL_OPT_ENABLE_DEBUG_KERNEL = 1,
  ACL_OPT_STRONG_CONSISTENCY ACL_DEPRECATED_MESSAGE("use ACL_OPT_DETERMINISTIC with value 2") = 2,
  ACL_OPT_ENABLE_KERNEL_EARLY_START = 3,
} aclSysParamOpt;

/* Where this program runs: on the device's own processor or on a host. */
typedef enum aclrtRunMode {
  ACL_DEVICE = 0,
  ACL_HOST = 1,
} aclrtRunMode;

/* Answer of aclrtQueryEvent. 0 means done. */
typedef enum aclrtEventStatus {
  ACL_EVENT_STATUS_COMPLETE = 0,
  ACL_EVENT_STATUS_NOT_READY = 1,
  ACL_EVENT_STATUS_RESERVED = 2,
} aclrtEventStatus;

/* Answer of aclrtQueryEventStatus. Beware: here 1 means done. */
typedef enum aclrtEventRecordedStatus {
  ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
  ACL_EVENT_RECORDED_STATUS_COMPLETE = 1,
} aclrtEventRecordedStatus;

/* Answer of aclrtQueryEventWaitStatus. 0 means done. */
typedef enum aclrtEventWaitStatus {
  ACL_EVENT_WAIT_STATUS_COMPLETE = 0,
  ACL_EVENT_WAIT_STATUS_NOT_READY = 1,
  ACL_EVENT_WAIT_STATUS_RESERVED = 0xFFFF,
} aclrtEventWaitStatus;

/* Answer of aclrtStreamQuery. 0 means done. */
typedef enum aclrtStreamStatus {
  ACL_STREAM_STATUS_COMPLETE = 0,
  ACL_STREAM_STATUS_NOT_READY = 1,
  ACL_STREAM_STATUS_RESERVED = 0xFFFF,
} aclrtStreamStatus;

/* Whether a callback holds back the tasks behind it. */
typedef enum aclrtCallbackBlockType {
  ACL_CALLBACK_NO_BLOCK = 0,
  ACL_CALLBACK_BLOCK = 1,
} aclrtCallbackBlockType;

/* Direction of a copy. */
typedef enum aclrtMemcpyKind {
  ACL_MEMCPY_HOST_TO_HOST = 0,
  ACL_MEMCPY_HOST_TO_DEVICE = 1,
  ACL_MEMCPY_DEVICE_TO_HOST = 2,
  ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
  ACL_MEMCPY_DEFAULT = 4,
  ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE = 5,
  ACL_MEMCPY_INNER_DEVICE_TO_DEVICE = 6,
  ACL_MEMCPY_INTER_DEVICE_TO_DEVICE = 7,
} aclrtMemcpyKind;

/* Wish for the kind of pages behind an allocation. */
typedef enum aclrtMemMallocPolicy {
  ACL_MEM_MALLOC_HUGE_FIRST = 0,
  ACL_MEM_MALLOC_HUGE_ONLY = 1,
  ACL_MEM_MALLOC_NORMAL_ONLY = 2,
  ACL_MEM_MALLOC_HUGE_FIRST_P2P = 3,
  ACL_MEM_MALLOC_HUGE_ONLY_P2P = 4,
  ACL_MEM_MALLOC_NORMAL_ONLY_P2P = 5,
  ACL_MEM_MALLOC_HUGE1G_ONLY = 6,
  ACL_MEM_MALLOC_HUGE1G_ONLY_P2P = 7,
  ACL_MEM_TYPE_LOW_BAND_WIDTH = 0x0100,
  ACL_MEM_TYPE_HIGH_BAND_WIDTH = 0x1000,
  ACL_MEM_ACCESS_USER_SPACE_READONLY = 0x100000,
} aclrtMemMallocPolicy;

/* Kind of memory that aclrtGetMemInfo asks about. */
typedef enum aclrtMemAttr {
  ACL_DDR_MEM = 0,
  ACL_HBM_MEM = 1,
  ACL_DDR_MEM_HUGE = 2,
  ACL_DDR_MEM_NORMAL = 3,
  ACL_HBM_MEM_HUGE = 4,
  ACL_HBM_MEM_NORMAL = 5,
  ACL_DDR_MEM_P2P_HUGE = 6,
  ACL_DDR_MEM_P2P_NORMAL = 7,
  ACL_HBM_MEM_P2P_HUGE = 8,
  ACL_HBM_MEM_P2P_NORMAL = 9,
  ACL_HBM_MEM_HUGE1G = 10,
  ACL_HBM_MEM_P2P_HUGE1G = 11,
  ACL_MEM_NORMAL = 12,
  ACL_MEM_HUGE = 13,
  ACL_MEM_HUGE1G = 14,
  ACL_MEM_P2P_NORMAL = 15,
  ACL_MEM_P2P_HUGE = 16,
  ACL_MEM_P2P_HUGE1G = 17,
} aclrtMemAttr;

/* Side on which an address lies. */
typedef enum aclrtMemLocationType {
  ACL_MEM_LOCATION_TYPE_HOST = 0,
  ACL_MEM_LOCATION_TYPE_DEVICE = 1,
  ACL_MEM_LOCATION_TYPE_UNREGISTERED = 2,
  ACL_MEM_LOCATION_TYPE_MANAGED = 3,
  ACL_MEM_LOCATION_TYPE_HOST_NUMA = 4,
} aclrtMemLocationType;

/* Use of registered host memory. Only ACL_HOST_REGISTER_MAPPED is in service. */
typedef enum aclrtHostRegisterType {
  ACL_HOST_REGISTER_MAPPED = 0,
  ACL_HOST_REGISTER_IOMEMORY = 0x04,
  ACL_HOST_REGISTER_READONLY = 0x08,
} aclrtHostRegisterType;

/* Health of a device. */
typedef enum aclrtDeviceStatus {
  ACL_RT_DEVICE_STATUS_NORMAL = 0,
  ACL_RT_DEVICE_STATUS_ABNORMAL = 1,
  ACL_RT_DEVICE_STATUS_END = 0xFFFF,
} aclrtDeviceStatus;

/* Scope of the last error: the calling thread. */
typedef enum aclrtLastErrLevel {
  ACL_RT_THREAD_LEVEL = 0,
} aclrtLastErrLevel;

/* What an overflow gives: the largest finite value, or infinity and NaN. */
typedef enum aclrtFloatOverflowMode {
  ACL_RT_OVERFLOW_MODE_SATURATION = 0,
  ACL_RT_OVERFLOW_MODE_INFNAN = 1,
  ACL_RT_OVERFLOW_MODE_UNDEF = 2,
} aclrtFloatOverflowMode;

/* A number that aclrtGetDeviceInfo can give. */
typedef enum aclrtDevAttr {
  ACL_DEV_ATTR_AICPU_CORE_NUM = 1,
  ACL_DEV_ATTR_AICORE_CORE_NUM = 101,
  ACL_DEV_ATTR_CUBE_CORE_NUM = 102,
  ACL_DEV_ATTR_VECTOR_CORE_NUM = 201,
  ACL_DEV_ATTR_WARP_SIZE = 202,
  ACL_DEV_ATTR_MAX_THREAD_PER_VECTOR_CORE = 203,
  ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE = 204,
  ACL_DEV_ATTR_MAX_GRID_DIM_X = 205,
  ACL_DEV_ATTR_MAX_GRID_DIM_Y = 206,
  ACL_DEV_ATTR_MAX_GRID_DIM_Z = 207,
  ACL_DEV_ATTR_MAX_BLOCK_PER_GRID = 208,
  ACL_DEV_ATTR_MAX_THREADS_PER_BLOCK = 209,
  ACL_DEV_ATTR_MAX_BLOCK_DIM_X = 210,
  ACL_DEV_ATTR_MAX_BLOCK_DIM_Y = 211,
  ACL_DEV_ATTR_MAX_BLOCK_DIM_Z = 212,
  ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE = 301,
  ACL_DEV_ATTR_L2_CACHE_SIZE = 302,
  ACL_DEV_ATTR_SMP_ID = 401,
  ACL_DEV_ATTR_PHY_CHIP_ID = 402,
  ACL_DEV_ATTR_SUPER_POD_DEVICE_ID = 403,
  ACL_DEV_ATTR_SUPER_POD_SERVER_ID = 404,
  ACL_DEV_ATTR_SUPER_POD_ID = 405,
  ACL_DEV_ATTR_CUST_OP_PRIVILEGE = 406,
  ACL_DEV_ATTR_MAINBOARD_ID = 407,
  ACL_DEV_ATTR_HD_CONNECT_TYPE = 408,
  ACL_DEV_ATTR_DEVICE_FORM_FACTOR = 409,
  ACL_DEV_ATTR_IS_VIRTUAL = 501,
  ACL_DEV_ATTR_NPU_ARCH = 601,
} aclrtDevAttr;

/** Place of a block of memory. */
typedef struct aclrtMemLocation {
  uint32_t id;               /**< device, or NUMA node; without meaning when type is HOST */
  aclrtMemLocationType type; /**< the side */
} aclrtMemLocation;

/** What is known of an address. */
typedef struct aclrtPtrAttributes {
  aclrtMemLocation location; /**< where it lies */
  uint32_t pageSize;         /**< in bytes */
  uint32_t rsv[4];           /**< reserved, zero */
} aclrtPtrAttributes;

/* A callback of aclrtLaunchCallback. It must not call ACL functions. */
typedef void (*aclrtCallback)(void* userData);

/* A function of aclrtLaunchHostFunc. It must not call ACL functions. */
typedef void (*aclrtHostFunc)(void* args);

/* ---- Initialisation and errors ---- */

/**
 * Starts the library; comes before all other calls. configPath is null, "" or a JSON file
 * ("{}" for the defaults; keys defaultDevice.default_device and err_msg_mode).
 * Each call counts one; all but the first return 100002 (ACL_ERROR_REPEAT_INITIALIZE), which may
 * be ignored, and their configuration is not looked at. 100003: file not readable. 100005: larger
 * than 1 MiB. 100006: not JSON, or nested deeper than 10. 100008: a key has a bad value. 107001: no
 * such default device. 100000: not the configuration of the first aclInit of the process.
 */
ACL_FUNC_VISIBILITY aclError aclInit(const char* configPath);

/**
 * Ends the library whatever the count of aclInit, and sets the count to 0. Without a running
 * library: 100037. A later aclInit starts again. Not to be called from a destructor.
 */
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

/**
 * Takes one from the count of aclInit and ends the library when it reaches 0. Writes the new
 * count to *refCount unless that is null. At count 0: 100037.
 */
ACL_FUNC_VISIBILITY aclError aclFinalizeReference(uint64_t* refCount);

/**
 * Returns and clears the texts of the calling thread's errors, newest on top; at most the 8
 * newest unread ones are kept. Null if there are none. The text is the library's and valid until
 * the thread's next call of this function.
 */
ACL_FUNC_VISIBILITY const char* aclGetRecentErrMsg(void);

/** Writes the three ACL_*_VERSION numbers of the library. */
ACL_DEPRECATED_MESSAGE("compare the ACL_*_VERSION macros")
ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion,
                                             int32_t* patchVersion);

/** Returns the calling thread's last error and sets it to 0. */
ACL_FUNC_VISIBILITY aclError aclrtGetLastError(aclrtLastErrLevel level);

/** Returns the calling thread's last error and keeps it. */
ACL_FUNC_VISIBILITY aclError aclrtPeekAtLastError(aclrtLastErrLevel level);

/* ---- Devices ---- */

/**
 * Makes a device (0 .. count-1) and its default context current for the thread, and sets them up
 * on first use. Counted: each call wants one aclrtResetDevice. Before aclInit: 100001
 * (ACL_ERROR_UNINITIALIZE). Bad id: 107001.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetDevice(int32_t deviceId);

/**
 * Takes back one aclrtSetDevice. The last one waits for the device's work and releases all
 * that is the device's: contexts, streams, events, memory and registrations.
 * Bad id: 107001. Nothing left to release: 507007.
 */
ACL_FUNC_VISIBILITY aclError aclrtResetDevice(int32_t deviceId);

/**
 * Like the last aclrtResetDevice, whatever the count, but queued work is dropped; a running
 * operator goes on to its end. Nothing left to release: 507007.
 */
ACL_FUNC_VISIBILITY aclError aclrtResetDeviceForce(int32_t deviceId);

/** Writes the thread's current device. None: 107002. */
ACL_FUNC_VISIBILITY aclError aclrtGetDevice(int32_t* deviceId);

/** Writes the number of devices. */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCount(uint32_t* count);

/** Waits for all streams of the current device. Returns the first failure of their tasks. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDevice(void);

/** aclrtSynchronizeDevice for at most timeout ms; time over: 507046, and the work goes on. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout);

/** Writes ACL_HOST: programs run on the host. */
ACL_FUNC_VISIBILITY aclError aclrtGetRunMode(aclrtRunMode* runMode);

/** Writes the health of a device. Bad id: 107001. */
ACL_FUNC_VISIBILITY aclError aclrtQueryDeviceStatus(int32_t deviceId,
                                                    aclrtDeviceStatus* deviceStatus);

/** Writes a number of a device; 0 for most items that a CPU lacks. Bad id: 107001. */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr,
                                                int64_t* value);

/* ---- Contexts and options ---- */

/**
 * Makes a context with its own default stream and makes it current for the thread. The caller
 * ends it with aclrtDestroyContext, after its streams and events. Bad id: 107001.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId);

/**
 * Ends a context made by aclrtCreateContext. If it is the thread's current one, the thread has
 * none afterwards. A default context cannot be destroyed: 107002.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyContext(aclrtContext context);

/** Makes a context, and with it its device, current for the thread. */
ACL_FUNC_VISIBILITY aclError aclrtSetCurrentContext(aclrtContext context);

/** Writes the thread's current context. None: 107002. */
ACL_FUNC_VISIBILITY aclError aclrtGetCurrentContext(aclrtContext* context);

/** Reads an option (0 .. 2) of the current context. Never set: 107021. */
ACL_FUNC_VISIBILITY aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value);

/**
 * Sets an option (0 .. 2) of the current context: ACL_OPT_DETERMINISTIC takes 0 .. 3, the others
 * 0 and 1. Unknown option: 100000, value out of range: 107000. The results of this package's
 * operators are the same bits with every value.
 */
ACL_FUNC_VISIBILITY aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);

/** Reads an option (0 .. 3) of the process; 0 if never set. */
ACL_FUNC_VISIBILITY aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value);

/** Sets an option (0 .. 3) of the process; values and errors as in aclrtCtxSetSysParamOpt. */
ACL_FUNC_VISIBILITY aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value);

/** Writes the handle of the current context's default stream; the caller cannot destroy it. */
ACL_FUNC_VISIBILITY aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream);

/** Writes 1 to *active if the device's default context is set up, else 0. Pass flags null. */
ACL_FUNC_VISIBILITY aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags,
                                                     int32_t* active);

/* ---- Streams ---- */

/** Makes a stream in the current context. The caller ends it with aclrtDestroyStream. */
ACL_FUNC_VISIBILITY aclError aclrtCreateStream(aclrtStream* stream);

/**
 * Makes a stream with a priority (0 .. 7, smaller is higher; else 107000) and an OR of
 * ACL_STREAM_* flags, 0 for none. On a CPU device the flags PERSISTENT, CPU_SCHEDULE and
 * DEVICE_USE_ONLY give 207000.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority,
                                                         uint32_t flag);

/** Waits for the stream's tasks, then ends it. Null or a default stream: 100000. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStream(aclrtStream stream);

/** Ends the stream without running the tasks still queued. Null or a default stream: 100000. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamForce(aclrtStream stream);

/** Waits for the stream's tasks (null: the default stream's) and returns their first failure. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStream(aclrtStream stream);

/** aclrtSynchronizeStream for at most timeout ms; time over: 507046, and the work goes on. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);

/** Writes whether the stream has run all its tasks. Does not wait; returns 0 while busy too. */
ACL_FUNC_VISIBILITY aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status);

/**
 * Asynchronous: later tasks of the stream wait for the work that the event's latest record took
 * in. An event made with flags needs ACL_EVENT_SYNC, else 207000.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);

/**
 * Drops the stream's queued tasks and waits for a running operator or copy to end; a running host
 * function goes on. Waits on the stream meanwhile return 107023.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamAbort(aclrtStream stream);

/** Writes the stream's number. */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId);

/** Writes how many more streams the current device can make. */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamAvailableNum(uint32_t* streamCount);

/**
 * Says what a failed task does, once per stream: ACL_CONTINUE_ON_FAILURE (the default) goes on,
 * ACL_STOP_ON_FAILURE ends the work of all streams of the context and bars new tasks.
 * From stop back to continue: 207000.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);

/**
 * Seconds an operator may run, for the whole process; 0 means any time. One that takes longer runs
 * to its end and writes its outputs, and then counts as failed with 507014. Before aclInit: 100001.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOut(uint32_t timeout);

/**
 * Seconds that later aclrtStreamWaitEvent tasks of the process wait; 0, the default, for ever.
 * Time over shows in a waiting call.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetOpWaitTimeout(uint32_t timeout);

/** Writes the stream's priority; null asks for the default stream's. */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority);

/** Writes the flags the stream was made with, 0 if none; null asks for the default stream's. */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags);

/* ---- Events ---- */

/** Makes an event that cannot be reset. The caller ends it with aclrtDestroyEvent. */
ACL_FUNC_VISIBILITY aclError aclrtCreateEvent(aclrtEvent* event);

/**
 * Makes an event with an OR of ACL_EVENT_* flags; 0 is 107000. SYNC allows stream waits and reset,
 * TIME_LINE asks for time stamps. EXTERNAL, DEVICE_USE_ONLY and IPC stand alone; a CPU device
 * answers them with 207000.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag);

/**
 * As above, for an event that may be recorded again and again: a wait already issued keeps the
 * record it saw. Reset, aclrtQueryEvent and aclrtQueryEventWaitStatus on it are errors.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag);

/** Ends an event. Does not wait: a record still pending completes by itself. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyEvent(aclrtEvent event);

/** Asynchronous: the event completes when all work now in the stream has run. */
ACL_FUNC_VISIBILITY aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);

/**
 * Asynchronous: when reached in the stream, sets the event back to its first state. Only for
 * aclrtCreateEventWithFlag with ACL_EVENT_SYNC, else 207000.
 */
ACL_FUNC_VISIBILITY aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);

/** Writes whether the event is done, never waits. */
ACL_DEPRECATED_MESSAGE("use aclrtQueryEventStatus")
ACL_FUNC_VISIBILITY aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status);

/**
 * Writes whether the latest record is done, never waits. Never recorded: COMPLETE for an event of
 * aclrtCreateEventExWithFlag, NOT_READY for the others.
 */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventStatus(aclrtEvent event,
                                                   aclrtEventRecordedStatus* status);

/** Writes whether the stream waits issued on the event are over, never waits. */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventWaitStatus(aclrtEvent event,
                                                       aclrtEventWaitStatus* status);

/**
 * Waits for the event's latest record, from any device, and returns its stream's failure. Never
 * recorded: 507000, but 0 for an event of aclrtCreateEventExWithFlag. The record was dropped by an
 * abort: 107023.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEvent(aclrtEvent event);

/** aclrtSynchronizeEvent for at most timeout ms; time over: 507047. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);

/**
 * Writes the milliseconds between two completed records; negative if the end came first.
 * Never recorded: 507000. Not complete yet, or made with flags but without ACL_EVENT_TIME_LINE:
 * 107006.
 */
ACL_FUNC_VISIBILITY aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent,
                                                   aclrtEvent endEvent);

/**
 * Writes when the record completed, in microseconds since the first stream of the
 * process was made.
 * Not complete yet, or made with flags but without ACL_EVENT_TIME_LINE: 107006.
 */
ACL_FUNC_VISIBILITY aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp);

/** Writes the event's number. */
ACL_FUNC_VISIBILITY aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId);

/** Writes how many more events the current device can make. */
ACL_FUNC_VISIBILITY aclError aclrtGetEventAvailNum(uint32_t* eventCount);

/* ---- Memory ---- */

/**
 * Allocates size bytes of device memory, not zeroed, at a multiple of 64; free it with aclrtFree.
 * size 0: 100000. Out of memory: 207001. On a CPU device it is ordinary memory that the host may
 * read; all page policies succeed, with ordinary pages where huge ones are not to be had;
 * ACL_MEM_ACCESS_USER_SPACE_READONLY is 207000.
 */
ACL_FUNC_VISIBILITY aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/** aclrtMalloc; on devices that pad allocations, without the padding. */
ACL_FUNC_VISIBILITY aclError aclrtMallocAlign32(void** devPtr, size_t size,
                                                aclrtMemMallocPolicy policy);

/** aclrtMalloc of cached memory (no difference here); policies 0, 1, 2 and 6 only. */
ACL_FUNC_VISIBILITY aclError aclrtMallocCached(void** devPtr, size_t size,
                                               aclrtMemMallocPolicy policy);

/**
 * Frees device memory; waits for no task. New calls refuse the address at once; a queued task
 * that holds it still finds the memory, which goes back when the task ends. Null: 100000.
 */
ACL_FUNC_VISIBILITY aclError aclrtFree(void* devPtr);

/** Allocates size (not 0) bytes of pinned host memory at a multiple of 64. */
ACL_FUNC_VISIBILITY aclError aclrtMallocHost(void** hostPtr, size_t size);

/** Frees memory of aclrtMallocHost. Null: 100000. */
ACL_FUNC_VISIBILITY aclError aclrtFreeHost(void* hostPtr);

/**
 * Copies count bytes and returns when done; waits for no stream. count 0 is success; count above
 * destMax is 107000. A side that kind calls device must lie, whole, in one live device
 * allocation or in registered host memory, else 107000; ACL_MEMCPY_DEFAULT goes by the addresses;
 * kinds 6 and 7 are 100000.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                                         aclrtMemcpyKind kind);

/**
 * aclrtMemcpy as a task of a stream. Asynchronous between pinned and device memory; with ordinary
 * host memory it returns after the copy. HOST_TO_BUF_TO_DEVICE sets the source aside first, so it
 * may be freed at once. HOST_TO_HOST: 207000.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src,
                                              size_t count, aclrtMemcpyKind kind,
                                              aclrtStream stream);

/**
 * Copies height rows of width bytes, dpitch and spitch bytes apart, and returns when done.
 * width above a pitch: 100000. Host to device and device to host only.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch,
                                           size_t width, size_t height, aclrtMemcpyKind kind);

/**
 * aclrtMemcpy2d as a task of a stream; also device to device. width at most 5000000, height at
 * most 5242880.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src,
                                                size_t spitch, size_t width, size_t height,
                                                aclrtMemcpyKind kind, aclrtStream stream);

/**
 * Sets count bytes of host or device memory to the low 8 bits of value and returns when done.
 * count 0 is success; count above maxCount is 107000.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value,
                                         size_t count);

/** aclrtMemset as a task of a stream; asynchronous. */
ACL_FUNC_VISIBILITY aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value,
                                              size_t count, aclrtStream stream);

/**
 * Writes the free and total bytes of one kind of memory of the current device; 0 and 0 for kinds
 * it lacks. High bandwidth memory is answered as ordinary memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total);

/**
 * Gives the device access to host memory of the caller; *devPtr is its device address. ptr is a
 * multiple of 4096. Registered already: 507910. Types other than MAPPED: 207000.
 */
ACL_FUNC_VISIBILITY aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type,
                                               void** devPtr);

/** Ends the access; the memory stays the caller's. Not registered: 507911. */
ACL_FUNC_VISIBILITY aclError aclrtHostUnregister(void* ptr);

/** Writes the device address of registered memory. flag must be 0, else 107000. */
ACL_FUNC_VISIBILITY aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag);

/** Writes cached device memory back. Never needed; size 0 is an error. */
ACL_FUNC_VISIBILITY aclError aclrtMemFlush(void* devPtr, size_t size);

/** Drops cached device memory. Never needed; size 0 is an error. */
ACL_FUNC_VISIBILITY aclError aclrtMemInvalidate(void* devPtr, size_t size);

/**
 * Writes where an address lies: HOST or DEVICE if its memory came from ACL calls, else
 * UNREGISTERED.
 */
ACL_FUNC_VISIBILITY aclError aclrtPointerGetAttributes(const void* ptr,
                                                       aclrtPtrAttributes* attributes);

/* ---- Host callbacks ---- */

/**
 * Asynchronous: when reached in the stream, fn(args) runs on a thread of the library, never on a
 * caller's; later tasks wait for it. args stays the caller's.
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args);

/**
 * Asynchronous: when reached, fn(userData) runs in the aclrtProcessReport of the thread that
 * serves the stream. With ACL_CALLBACK_BLOCK later tasks wait for it. No such thread: 107015.
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchCallback(aclrtCallback fn, void* userData,
                                                 aclrtCallbackBlockType blockType,
                                                 aclrtStream stream);

/**
 * Lets a thread serve a stream's callbacks; threadId is its pthread_t as a number. One thread may
 * serve several streams (at most 1024 threads), a stream has one thread. Twice: 107011.
 */
ACL_FUNC_VISIBILITY aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);

/**
 * Waits at most timeout ms (-1 for ever; 0 and below -1: 107000) for a callback of the calling
 * thread's streams and runs it. Time over: 507012. The thread serves no stream: 107012.
 */
ACL_FUNC_VISIBILITY aclError aclrtProcessReport(int32_t timeout);

/** Ends what aclrtSubscribeReport began. */
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* MLMARGIN_INCLUDE_ACL_ACL_RT_H_ */

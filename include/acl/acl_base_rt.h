/* SPDX-License-Identifier: Apache-2.0 */
/* Names and values follow the public CANN API, interface 1.17; independent text, Apache-2.0. */

/**
 * Base of the runtime API (libascendcl.so): handles, error codes, data types and formats, data
 * buffers, half precision conversion, the application log, the device's name and abilities.
 *
 * Threads: any call may come from any thread; two calls that change one data buffer must not
 * overlap. All calls return when they are done. A null pointer argument gives
 * ACL_ERROR_INVALID_PARAM (100000) unless stated otherwise; on failure nothing is written.
 */
#ifndef MLMARGIN_INCLUDE_ACL_ACL_BASE_RT_H_
#define MLMARGIN_INCLUDE_ACL_ACL_BASE_RT_H_

#include <stddef.h>
#include <stdint.h>

/* Exported when FUNC_VISIBILITY is defined, as it is when the library itself is built. */
#if defined(_MSC_VER)
#ifdef FUNC_VISIBILITY
#define ACL_FUNC_VISIBILITY __declspec(dllexport)
#else
#define ACL_FUNC_VISIBILITY
#endif
#else
#ifdef FUNC_VISIBILITY
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#else
#define ACL_FUNC_VISIBILITY
#endif
#endif

/* Marks what still works but has a better successor. Goes after a function or an enumerator. */
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 6)
#define ACL_DEPRECATED __attribute__((deprecated))
#define ACL_DEPRECATED_MESSAGE(message) __attribute__((deprecated(message)))
#else
#define ACL_DEPRECATED
#define ACL_DEPRECATED_MESSAGE(message)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Handles: opaque, made and ended by the functions of acl_rt.h; null is never one ---- */

typedef void* aclrtStream; /* as an argument, null means the current context's default stream */
typedef void* aclrtEvent;
typedef void* aclrtContext;
typedef void* aclrtNotify; /* for source compatibility: no function here makes one */
typedef void* aclrtLabel;  /* for source compatibility: no function here makes one */

/* Describes a block of memory, which it does not own. */
typedef struct aclDataBuffer aclDataBuffer;

/* 0 (ACL_SUCCESS) or one of the error codes below or in error_codes/rt_error_codes.h. */
typedef int aclError;

/* The 16 bits of an IEEE 754 binary16 number. Storage only: it does not calculate. */
typedef uint16_t aclFloat16;

/* ---- Error codes of the ACL layer ---- */

#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 6)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-const-variable"
#endif

static const int ACL_SUCCESS = 0;    /* success */
static const int ACL_ERROR_NONE = 0; /* old name of ACL_SUCCESS */
/* bad argument, found by the ACL layer (null pointer, zero size, unknown enum) */
static const int ACL_ERROR_INVALID_PARAM = 100000;
static const int ACL_ERROR_UNINITIALIZE = 100001;             /* an init call is missing */
static const int ACL_ERROR_REPEAT_INITIALIZE = 100002;        /* already initialised */
static const int ACL_ERROR_INVALID_FILE = 100003;             /* file missing or unreadable */
static const int ACL_ERROR_WRITE_FILE = 100004;               /* file write failed */
static const int ACL_ERROR_INVALID_FILE_SIZE = 100005;        /* file size out of limits */
static const int ACL_ERROR_PARSE_FILE = 100006;               /* file content not parseable */
static const int ACL_ERROR_FILE_MISSING_ATTR = 100007;        /* file lacks a field */
static const int ACL_ERROR_FILE_ATTR_INVALID = 100008;        /* file field has a bad value */
static const int ACL_ERROR_INVALID_DUMP_CONFIG = 100009;      /* dump settings wrong */
static const int ACL_ERROR_INVALID_PROFILING_CONFIG = 100010; /* profiling settings wrong */
static const int ACL_ERROR_UNSUPPORTED_DATA_TYPE = 100026;    /* data type unknown or unsupported */
static const int ACL_ERROR_FORMAT_NOT_MATCH = 100027;         /* format mismatch */
static const int ACL_ERROR_REPEAT_SUBSCRIBE = 100033;         /* stream subscribed twice */
static const int ACL_ERROR_STREAM_NOT_SUBSCRIBE = 100034;     /* old name for 107015 */
static const int ACL_ERROR_THREAD_NOT_SUBSCRIBE = 100035;     /* old name for 107012 */
static const int ACL_ERROR_WAIT_CALLBACK_TIMEOUT = 100036;    /* old name for 507012 */
static const int ACL_ERROR_REPEAT_FINALIZE = 100037;          /* finalised twice, or without init */
static const int ACL_ERROR_COMPILING_STUB_MODE = 100039;      /* running against link-time stubs */
static const int ACL_ERROR_INVALID_OPP_PATH = 148049;         /* ASCEND_OPP_PATH unset or wrong */
static const int ACL_ERROR_BAD_ALLOC = 200000;                /* allocation failed */
static const int ACL_ERROR_API_NOT_SUPPORT = 200001;          /* function not available */
static const int ACL_ERROR_INVALID_DEVICE = 200002;           /* old name for 107001 */
static const int ACL_ERROR_MEMORY_ADDRESS_UNALIGNED = 200003; /* address not aligned */
static const int ACL_ERROR_RESOURCE_NOT_MATCH = 200004;       /* wrong stream or context passed */
static const int ACL_ERROR_INVALID_RESOURCE_HANDLE = 200005;  /* handle destroyed or in use */
static const int ACL_ERROR_FEATURE_UNSUPPORTED = 200006;      /* feature not available */
static const int ACL_ERROR_STORAGE_OVER_LIMIT = 300000;       /* storage limit passed */
static const int ACL_ERROR_INTERNAL_ERROR = 500000;           /* unknown internal error */
static const int ACL_ERROR_FAILURE = 500001;                  /* internal failure */
static const int ACL_ERROR_GE_FAILURE = 500002;               /* graph engine failure */
static const int ACL_ERROR_RT_FAILURE = 500003;               /* runtime failure */
static const int ACL_ERROR_DRV_FAILURE = 500004;              /* driver failure */
static const int ACL_ERROR_PROFILING_FAILURE = 500005;        /* profiling failure */

#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 6)
#pragma GCC diagnostic pop
#endif

/* ---- Enumerations ---- */

/* Type of a tensor's elements. The operators here take FLOAT, FLOAT16, BF16, INT32 and INT64. */
typedef enum aclDataType {
  ACL_DT_UNDEFINED = -1,
  ACL_FLOAT = 0,
  ACL_FLOAT16 = 1,
  ACL_INT8 = 2,
  ACL_INT32 = 3,
  ACL_UINT8 = 4,
  ACL_INT16 = 6,
  ACL_UINT16 = 7,
  ACL_UINT32 = 8,
  ACL_INT64 = 9,
  ACL_UINT64 = 10,
  ACL_DOUBLE = 11,
  ACL_BOOL = 12,
  ACL_STRING = 13,
  ACL_COMPLEX64 = 16,
  ACL_COMPLEX128 = 17,
  ACL_BF16 = 27,
  ACL_INT4 = 29,
  ACL_UINT1 = 30,
  ACL_COMPLEX32 = 33,
  ACL_HIFLOAT8 = 34,
  ACL_FLOAT8_E5M2 = 35,
  ACL_FLOAT8_E4M3FN = 36,
  ACL_FLOAT8_E8M0 = 37,
  ACL_FLOAT6_E3M2 = 38,
  ACL_FLOAT6_E2M3 = 39,
  ACL_FLOAT4_E2M1 = 40,
  ACL_FLOAT4_E1M2 = 41,
} aclDataType;

/* Meaning of a tensor's dimensions. */
typedef enum aclFormat {
  ACL_FORMAT_UNDEFINED = -1,
  ACL_FORMAT_NCHW = 0,
  ACL_FORMAT_NHWC = 1,
  ACL_FORMAT_ND = 2,
  ACL_FORMAT_NC1HWC0 = 3,
  ACL_FORMAT_FRACTAL_Z = 4,
  ACL_FORMAT_NC1HWC0_C04 = 12,
  ACL_FORMAT_HWCN = 16,
  ACL_FORMAT_NDHWC = 27,
  ACL_FORMAT_FRACTAL_NZ = 29,
  ACL_FORMAT_NCDHW = 30,
  ACL_FORMAT_NDC1HWC0 = 32,
  ACL_FRACTAL_Z_3D = 33,
  ACL_FORMAT_NC = 35,
  ACL_FORMAT_NCL = 47,
  ACL_FORMAT_FRACTAL_NZ_C0_16 = 50,
  ACL_FORMAT_FRACTAL_NZ_C0_32 = 51,
  ACL_FORMAT_FRACTAL_NZ_C0_2 = 52,
  ACL_FORMAT_FRACTAL_NZ_C0_4 = 53,
  ACL_FORMAT_FRACTAL_NZ_C0_8 = 54,
} aclFormat;

/* Weight of a log line. */
typedef enum aclLogLevel {
  ACL_DEBUG = 0,
  ACL_INFO = 1,
  ACL_WARNING = 2,
  ACL_ERROR = 3,
} aclLogLevel;

/* Where memory lies, for interfaces that take the choice as an argument. */
typedef enum aclMemType {
  ACL_MEMTYPE_DEVICE = 0,
  ACL_MEMTYPE_HOST = 1,
  ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT = 2,
} aclMemType;

/* A property that a product has or lacks; see aclGetCannAttribute. */
typedef enum aclCannAttr {
  ACL_CANN_ATTR_UNDEFINED = -1,
  ACL_CANN_ATTR_INF_NAN = 0,
  ACL_CANN_ATTR_BF16 = 1,
  ACL_CANN_ATTR_JIT_COMPILE = 2,
} aclCannAttr;

/* A quantity of a device; see aclGetDeviceCapability. */
typedef enum aclDeviceInfo {
  ACL_DEVICE_INFO_UNDEFINED = -1,
  ACL_DEVICE_INFO_AI_CORE_NUM = 0,
  ACL_DEVICE_INFO_VECTOR_CORE_NUM = 1,
  ACL_DEVICE_INFO_L2_SIZE = 2,
} aclDeviceInfo;

/* ---- Data types ---- */

/**
 * Bytes of one element: 0 for ACL_DT_UNDEFINED and ACL_STRING; 1 for bool, the 8-bit types,
 * ACL_INT4 and ACL_UINT1; 2, 4, 8 or 16 for the wider ones. The 6-bit and 4-bit floats and
 * values outside the enumeration give 8.
 */
ACL_FUNC_VISIBILITY size_t aclDataTypeSize(aclDataType dataType);

/**
 * Widens a half. As the real API does, it reads exponent 31 as an ordinary exponent: 0x7C00 gives
 * 65536, 0x7E00 gives 98304. Do not use it where infinity or NaN matters.
 */
ACL_FUNC_VISIBILITY float aclFloat16ToFloat(aclFloat16 value);

/**
 * Rounds to half, to nearest, ties to even, subnormals kept. Overflow, infinity and NaN become
 * 0x7BFF (65504), or 0xFBFF when negative. Do not use it where infinity or NaN matters.
 */
ACL_FUNC_VISIBILITY aclFloat16 aclFloatToFloat16(float value);

/* ---- Data buffers ---- */

/**
 * Makes a descriptor of size bytes at data. It never owns or reads them. data null goes with
 * size 0. The caller ends it with aclDestroyDataBuffer. Null on failure.
 */
ACL_FUNC_VISIBILITY aclDataBuffer* aclCreateDataBuffer(void* data, size_t size);

/** Frees the descriptor, not the data. Null: 100000. */
ACL_FUNC_VISIBILITY aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer);

/** Points the descriptor to other data; the old data stays the caller's. Null buffer: 100000. */
ACL_FUNC_VISIBILITY aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data,
                                                 size_t size);

/** The data's address; null for a null buffer. */
ACL_FUNC_VISIBILITY void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer);

/** The low 32 bits of the size in bytes; 0 for a null buffer. */
ACL_DEPRECATED_MESSAGE("use aclGetDataBufferSizeV2")
ACL_FUNC_VISIBILITY uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer);

/** The size in bytes; 0 for a null buffer. */
ACL_FUNC_VISIBILITY size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer);

/* ---- Log ---- */

/**
 * Writes one line to the log, in the form of the library's own lines and filtered by the same
 * level (ASCEND_GLOBAL_LOG_LEVEL). fmt and what follows are printf's; the text is cut at 1024
 * bytes with its terminator. func, file and line name the caller. Never fails.
 */
ACL_FUNC_VISIBILITY void aclAppLog(aclLogLevel logLevel, const char* func, const char* file,
                                   uint32_t line, const char* fmt, ...);

/* ACL_APP_LOG(level, fmt, ...): aclAppLog with the place it is written at. */
#define ACL_APP_LOG(level, ...) aclAppLog((level), __func__, __FILE__, __LINE__, __VA_ARGS__)

/* ---- The device's name and abilities ---- */

/**
 * Name of the chip, of device 0 when there are several. The text is the library's and lives as
 * long as it. Here it names the host CPU device. Null when there is none.
 */
ACL_FUNC_VISIBILITY const char* aclrtGetSocName(void);

/**
 * Lists the attributes that aclGetCannAttribute can answer: their count in *num, a pointer to the
 * first in *cannAttrList. The array is the library's; do not free it.
 */
ACL_FUNC_VISIBILITY aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num);

/** Writes 1 to *value if the library has the attribute, else 0. Unknown attribute: 100000. */
ACL_FUNC_VISIBILITY aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value);

/**
 * Writes a quantity of a device to *value (core counts; the L2 cache in bytes).
 * Device id out of range or unknown item: 100000.
 */
ACL_FUNC_VISIBILITY aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo,
                                                    int64_t* value);

#ifdef __cplusplus
}
#endif

#endif /* MLMARGIN_INCLUDE_ACL_ACL_BASE_RT_H_ */

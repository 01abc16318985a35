/* SPDX-License-Identifier: Apache-2.0 */
/* Names and values follow the public CANN API, interface 1.17; independent text, Apache-2.0. */

/**
 * Error codes of the runtime. The first digit tells whose fault it is: 1 the caller's, 2 a
 * resource is missing or a feature not available, 5 inside the library or the device.
 * All are int constants and may be used in #if. Codes that a CPU device never returns are here
 * so that programs naming them compile.
 */
#ifndef MLMARGIN_INCLUDE_ACL_ERROR_CODES_RT_ERROR_CODES_H_
#define MLMARGIN_INCLUDE_ACL_ERROR_CODES_RT_ERROR_CODES_H_

#include <stddef.h>

#define ACL_RT_SUCCESS 0 /* success */

#define ACL_ERROR_RT_PARAM_INVALID 107000               /* bad argument, found by the runtime */
#define ACL_ERROR_RT_INVALID_DEVICEID 107001            /* no such device */
#define ACL_ERROR_RT_CONTEXT_NULL 107002                /* thread has no current context */
#define ACL_ERROR_RT_STREAM_CONTEXT 107003              /* stream of another context */
#define ACL_ERROR_RT_MODEL_CONTEXT 107004               /* model of another context */
#define ACL_ERROR_RT_STREAM_MODEL 107005                /* stream not bound to the model */
#define ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID 107006     /* event has no time yet */
#define ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL 107007    /* end before start */
#define ACL_ERROR_RT_ADDR_UNALIGNED 107008              /* address not aligned */
#define ACL_ERROR_RT_FILE_OPEN 107009                   /* cannot open file */
#define ACL_ERROR_RT_FILE_WRITE 107010                  /* cannot write file */
#define ACL_ERROR_RT_STREAM_SUBSCRIBE 107011            /* stream subscription missing or doubled */
#define ACL_ERROR_RT_THREAD_SUBSCRIBE 107012            /* thread subscription missing or doubled */
#define ACL_ERROR_RT_GROUP_NOT_SET 107013               /* no group chosen */
#define ACL_ERROR_RT_GROUP_NOT_CREATE 107014            /* group missing */
#define ACL_ERROR_RT_STREAM_NO_CB_REG 107015            /* stream has no callback thread */
#define ACL_ERROR_RT_INVALID_MEMORY_TYPE 107016         /* memory kind wrong */
#define ACL_ERROR_RT_INVALID_HANDLE 107017              /* handle wrong */
#define ACL_ERROR_RT_INVALID_MALLOC_TYPE 107018         /* allocation kind wrong */
#define ACL_ERROR_RT_WAIT_TIMEOUT 107019                /* wait ran out of time */
#define ACL_ERROR_RT_TASK_TIMEOUT 107020                /* task ran out of time */
#define ACL_ERROR_RT_SYSPARAMOPT_NOT_SET 107021         /* context option never set */
#define ACL_ERROR_RT_DEVICE_TASK_ABORT 107022           /* device tasks being aborted */
#define ACL_ERROR_RT_STREAM_ABORT 107023                /* stream being aborted */
#define ACL_ERROR_RT_CAPTURE_DEPENDENCY 107024          /* captured wait lacks a record */
#define ACL_ERROR_RT_STREAM_UNJOINED 107025             /* captured side stream not joined */
#define ACL_ERROR_RT_MODEL_CAPTURED 107026              /* model in capture */
#define ACL_ERROR_RT_STREAM_CAPTURED 107027             /* stream in capture */
#define ACL_ERROR_RT_EVENT_CAPTURED 107028              /* event in capture */
#define ACL_ERROR_RT_STREAM_NOT_CAPTURED 107029         /* stream not in capture */
#define ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT 107030    /* call barred by capture mode */
#define ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT 107031     /* default stream in capture */
#define ACL_ERROR_STREAM_CAPTURE_CONFLICT 107032        /* linked streams captured together */
#define ACL_ERROR_STREAM_TASK_GROUP_STATUS 107033       /* task group state wrong */
#define ACL_ERROR_STREAM_TASK_GROUP_INTR 107034         /* task group broken off */
#define ACL_ERROR_RT_TASK_ABORT_STOP 107035             /* abort stopped before its last stage */
#define ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED 107036    /* capture began elsewhere */
#define ACL_ERROR_RT_MODEL_RUNNING 107037               /* model still runs */
#define ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD 107038 /* capture ended on other thread */
#define ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY 107039    /* caller's array too short */
#define ACL_ERROR_RT_MODEL_UPDATE_FAILED 107040         /* model update failed */
#define ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC 107041    /* would turn synchronous in capture */
#define ACL_ERROR_RT_SYMBOL_NOT_FOUND 107042            /* symbol missing */
#define ACL_ERROR_RT_INVALID_SYMBOL 107043              /* symbol wrong */
#define ACL_ERROR_RT_INVALID_DEVICE_FUNCTION 107044     /* kernel symbol wrong */
#define ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING 107045   /* sub-graph in capture */
#define ACL_ERROR_RT_FEATURE_NOT_SUPPORT 207000         /* feature not available */
#define ACL_ERROR_RT_MEMORY_ALLOCATION 207001           /* out of memory */
#define ACL_ERROR_RT_MEMORY_FREE 207002                 /* free failed */
#define ACL_ERROR_RT_AICORE_OVER_FLOW 207003            /* core overflow */
#define ACL_ERROR_RT_NO_DEVICE 207004                   /* no device present */
#define ACL_ERROR_RT_RESOURCE_ALLOC_FAIL 207005         /* resource not obtained */
#define ACL_ERROR_RT_NO_PERMISSION 207006               /* not permitted */
#define ACL_ERROR_RT_NO_EVENT_RESOURCE 207007           /* events used up */
#define ACL_ERROR_RT_NO_STREAM_RESOURCE 207008          /* streams used up */
#define ACL_ERROR_RT_NO_NOTIFY_RESOURCE 207009          /* notifies used up */
#define ACL_ERROR_RT_NO_MODEL_RESOURCE 207010           /* models used up */
#define ACL_ERROR_RT_NO_CDQ_RESOURCE 207011             /* internal queue used up */
#define ACL_ERROR_RT_OVER_LIMIT 207012                  /* limit passed */
#define ACL_ERROR_RT_QUEUE_EMPTY 207013                 /* queue empty */
#define ACL_ERROR_RT_QUEUE_FULL 207014                  /* queue full */
#define ACL_ERROR_RT_REPEATED_INIT 207015               /* queue initialised twice */
#define ACL_ERROR_RT_AIVEC_OVER_FLOW 207016             /* vector overflow */
#define ACL_ERROR_RT_OVER_FLOW 207017                   /* overflow */
#define ACL_ERROR_RT_DEVICE_OOM 207018                  /* device memory used up */
#define ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP 207019   /* operator not updatable */
#define ACL_ERROR_RT_TIMEOUT 207020                         /* driver ran out of time */
#define ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED 207021         /* link kind not available */
#define ACL_ERROR_RT_INTERNAL_ERROR 507000                  /* runtime internal */
#define ACL_ERROR_RT_TS_ERROR 507001                        /* task scheduler internal */
#define ACL_ERROR_RT_STREAM_TASK_FULL 507002                /* stream queue full */
#define ACL_ERROR_RT_STREAM_TASK_EMPTY 507003               /* stream queue empty */
#define ACL_ERROR_RT_STREAM_NOT_COMPLETE 507004             /* stream still busy */
#define ACL_ERROR_RT_END_OF_SEQUENCE 507005                 /* AI CPU sequence ended */
#define ACL_ERROR_RT_EVENT_NOT_COMPLETE 507006              /* event still pending */
#define ACL_ERROR_RT_CONTEXT_RELEASE_ERROR 507007           /* context release failed */
#define ACL_ERROR_RT_SOC_VERSION 507008                     /* chip version unknown */
#define ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT 507009           /* task kind unknown */
#define ACL_ERROR_RT_LOST_HEARTBEAT 507010                  /* scheduler not answering */
#define ACL_ERROR_RT_MODEL_EXECUTE 507011                   /* model run failed */
#define ACL_ERROR_RT_REPORT_TIMEOUT 507012                  /* no callback within the time */
#define ACL_ERROR_RT_SYS_DMA 507013                         /* DMA failed */
#define ACL_ERROR_RT_AICORE_TIMEOUT 507014                  /* core ran out of time */
#define ACL_ERROR_RT_AICORE_EXCEPTION 507015                /* core fault */
#define ACL_ERROR_RT_AICORE_TRAP_EXCEPTION 507016           /* core trap */
#define ACL_ERROR_RT_AICPU_TIMEOUT 507017                   /* AI CPU ran out of time */
#define ACL_ERROR_RT_AICPU_EXCEPTION 507018                 /* AI CPU fault */
#define ACL_ERROR_RT_AICPU_DATADUMP_RSP_ERR 507019          /* AI CPU dump reply */
#define ACL_ERROR_RT_AICPU_MODEL_RSP_ERR 507020             /* AI CPU model reply */
#define ACL_ERROR_RT_PROFILING_ERROR 507021                 /* profiling fault */
#define ACL_ERROR_RT_IPC_ERROR 507022                       /* inter-process fault */
#define ACL_ERROR_RT_MODEL_ABORT_NORMAL 507023              /* model left */
#define ACL_ERROR_RT_KERNEL_UNREGISTERING 507024            /* kernel being removed */
#define ACL_ERROR_RT_RINGBUFFER_NOT_INIT 507025             /* ring buffer not ready */
#define ACL_ERROR_RT_RINGBUFFER_NO_DATA 507026              /* ring buffer empty */
#define ACL_ERROR_RT_KERNEL_LOOKUP 507027                   /* kernel not registered */
#define ACL_ERROR_RT_KERNEL_DUPLICATE 507028                /* kernel registered twice */
#define ACL_ERROR_RT_DEBUG_REGISTER_FAIL 507029             /* debug set-up failed */
#define ACL_ERROR_RT_DEBUG_UNREGISTER_FAIL 507030           /* debug tear-down failed */
#define ACL_ERROR_RT_LABEL_CONTEXT 507031                   /* label of another context */
#define ACL_ERROR_RT_PROGRAM_USE_OUT 507032                 /* programs used up */
#define ACL_ERROR_RT_DEV_SETUP_ERROR 507033                 /* device start failed */
#define ACL_ERROR_RT_VECTOR_CORE_TIMEOUT 507034             /* vector core ran out of time */
#define ACL_ERROR_RT_VECTOR_CORE_EXCEPTION 507035           /* vector core fault */
#define ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION 507036      /* vector core trap */
#define ACL_ERROR_RT_CDQ_BATCH_ABNORMAL 507037              /* internal queue batch */
#define ACL_ERROR_RT_DIE_MODE_CHANGE_ERROR 507038           /* die mode fixed */
#define ACL_ERROR_RT_DIE_SET_ERROR 507039                   /* die not selectable */
#define ACL_ERROR_RT_INVALID_DIEID 507040                   /* no such die */
#define ACL_ERROR_RT_DIE_MODE_NOT_SET 507041                /* die mode missing */
#define ACL_ERROR_RT_AICORE_TRAP_READ_OVERFLOW 507042       /* core read out of range */
#define ACL_ERROR_RT_AICORE_TRAP_WRITE_OVERFLOW 507043      /* core write out of range */
#define ACL_ERROR_RT_VECTOR_CORE_TRAP_READ_OVERFLOW 507044  /* vector read out of range */
#define ACL_ERROR_RT_VECTOR_CORE_TRAP_WRITE_OVERFLOW 507045 /* vector write out of range */
#define ACL_ERROR_RT_STREAM_SYNC_TIMEOUT 507046             /* stream/device wait timed out */
#define ACL_ERROR_RT_EVENT_SYNC_TIMEOUT 507047              /* event wait timed out */
#define ACL_ERROR_RT_FFTS_PLUS_TIMEOUT 507048               /* internal task timed out */
#define ACL_ERROR_RT_FFTS_PLUS_EXCEPTION 507049             /* internal task fault */
#define ACL_ERROR_RT_FFTS_PLUS_TRAP_EXCEPTION 507050        /* internal task trap */
#define ACL_ERROR_RT_SEND_MSG 507051                        /* message not sent */
#define ACL_ERROR_RT_COPY_DATA 507052                       /* copy failed */
#define ACL_ERROR_RT_DEVICE_MEM_ERROR 507053                /* device memory fault */
#define ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR 507054         /* ECC fault */
#define ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR 507055        /* peer memory suspected */
#define ACL_ERROR_RT_LINK_ERROR 507056                      /* device link down */
#define ACL_ERROR_RT_SUSPECT_REMOTE_ERROR 507057            /* remote side suspected */
#define ACL_ERROR_RT_DRV_INTERNAL_ERROR 507899              /* driver internal */
#define ACL_ERROR_RT_AICPU_INTERNAL_ERROR 507900            /* AI CPU internal */
#define ACL_ERROR_RT_SOCKET_CLOSE 507901                    /* host-device channel closed */
#define ACL_ERROR_RT_AICPU_INFO_LOAD_RSP_ERR 507902         /* AI CPU load reply */
#define ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED 507903      /* capture spoilt */
#define ACL_ERROR_RT_COMM_OP_RETRY_FAIL 507904              /* collective retry failed */
#define ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT 507905              /* snapshot lock timed out */
#define ACL_ERROR_SNAPSHOT_LOCK_FAILED 507906               /* snapshot lock failed */
#define ACL_ERROR_SNAPSHOT_UNLOCK_FAILED 507907             /* snapshot unlock failed */
#define ACL_ERROR_SNAPSHOT_BACKUP_FAILED 507908             /* snapshot save failed */
#define ACL_ERROR_SNAPSHOT_RESTORE_FAILED 507909            /* snapshot restore failed */
#define ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED 507910     /* range registered already */
#define ACL_ERROR_HOST_MEMORY_NOT_REGISTERED 507911         /* range not registered */
#define ACL_ERROR_SNAPSHOT_CALLBACK_FAILED 507912           /* snapshot callback failed */
#define ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED 507913  /* snapshot callback not registered */
#define ACL_ERROR_RT_L3_PORT_ERROR 507914                   /* port fault */
#define ACL_ERROR_RT_CCU_TIMEOUT 507915                     /* CCU timed out */
#define ACL_ERROR_RT_CCU_EXCEPTION 507916                   /* CCU fault */

#endif /* MLMARGIN_INCLUDE_ACL_ERROR_CODES_RT_ERROR_CODES_H_ */

/* The CUDA driver's interface as far as we use it. Declared here, so that neither building nor running needs
 * the toolkit's headers; the layouts and numbers are the driver's binary interface, which it keeps. */
#ifndef GPU_DRIVER_H
#define GPU_DRIVER_H

#include "base/base.h"

/* The library's handles. */
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUnode;
typedef struct CUgraphExec_st *CUgraphExec;

enum cuda_code { /* CUresult, those that we tell apart */
                 CUDA_OK = 0,
                 CUDA_INVALID_VALUE = 1,
                 CUDA_OUT_OF_MEMORY = 2,
                 CUDA_STUB_LIBRARY = 34,
                 CUDA_DEVICE_UNAVAILABLE = 46,
                 CUDA_NO_DEVICE = 100,
                 CUDA_INVALID_DEVICE = 101,
                 CUDA_INVALID_IMAGE = 200,
                 CUDA_NO_BINARY_FOR_GPU = 209,
                 CUDA_ECC_UNCORRECTABLE = 214,
                 CUDA_INVALID_PTX = 218,
                 CUDA_NVLINK_UNCORRECTABLE = 220,
                 CUDA_JIT_COMPILER_NOT_FOUND = 221,
                 CUDA_UNSUPPORTED_PTX_VERSION = 222,
                 CUDA_JIT_COMPILATION_DISABLED = 223,
                 CUDA_CONTAINED = 226,
                 CUDA_OPERATING_SYSTEM = 304,
                 CUDA_NOT_FOUND = 500,
                 CUDA_NOT_READY = 600,
                 CUDA_ILLEGAL_ADDRESS = 700,
                 CUDA_LAUNCH_OUT_OF_RESOURCES = 701,
                 CUDA_LAUNCH_TIMEOUT = 702,
                 CUDA_ASSERT = 710,
                 CUDA_HARDWARE_STACK_ERROR = 714,
                 CUDA_ILLEGAL_INSTRUCTION = 715,
                 CUDA_MISALIGNED_ADDRESS = 716,
                 CUDA_INVALID_ADDRESS_SPACE = 717,
                 CUDA_INVALID_PC = 718,
                 CUDA_LAUNCH_FAILED = 719,
                 CUDA_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
                 CUDA_NOT_PERMITTED = 800,
                 CUDA_NOT_SUPPORTED = 801,
                 CUDA_SYSTEM_NOT_READY = 802,
                 CUDA_SYSTEM_DRIVER_MISMATCH = 803,
                 CUDA_COMPAT_NOT_SUPPORTED = 804,
                 CUDA_INVALID_CLUSTER_SIZE = 912,
                 CUDA_UNKNOWN = 999,
};

enum device_attribute {
    DEVICE_MAX_THREADS_PER_BLOCK = 1,
    DEVICE_SHARED_PER_BLOCK = 8,
    DEVICE_CLOCK_KHZ = 13,
    DEVICE_SM_COUNT = 16,
    DEVICE_COMPUTE_MODE = 20, /* 0 default, 2 prohibited, 3 exclusive process */
    DEVICE_MEMORY_KHZ = 36,
    DEVICE_MEMORY_BITS = 37,
    DEVICE_L2_BYTES = 38,
    DEVICE_MAX_THREADS_PER_SM = 39,
    DEVICE_CC_MAJOR = 75,
    DEVICE_CC_MINOR = 76,
    DEVICE_SHARED_PER_SM = 81,
    DEVICE_REGISTERS_PER_SM = 82,
    DEVICE_SHARED_OPTIN = 97,
    DEVICE_VMM = 102,
    DEVICE_MAX_BLOCKS_PER_SM = 106,
    DEVICE_CLUSTERS = 120,
};

enum function_attribute {
    FUNCTION_MAX_THREADS = 0,
    FUNCTION_SHARED = 1, /* static */
    FUNCTION_REGISTERS = 4,
    FUNCTION_MAX_DYNAMIC_SHARED = 8,
    FUNCTION_NON_PORTABLE_CLUSTER = 14,
};

enum { HOST_PORTABLE_MAPPED = 3, STREAM_NON_BLOCKING = 1, EVENT_WITHOUT_TIME = 2 };
enum { JIT_ERROR_LOG = 5, JIT_ERROR_LOG_BYTES = 6 };
enum { LAUNCH_COOPERATIVE = 2, LAUNCH_CLUSTER = 4 };
enum { VMM_PINNED = 1, VMM_DEVICE = 1, VMM_READ_WRITE = 3 };

struct vmm_properties {
    int type, handle_types, location_type, location;
    void *reserved;
    unsigned char flags[8];
};
struct vmm_access {
    int location_type, location, flags;
};
union launch_value {
    char pad[64];
    int cooperative;
    unsigned cluster[3];
};
struct launch_attribute {
    int id;
    char pad[4];
    union launch_value value;
};
struct launch_config {
    unsigned grid[3], block[3], shared_bytes;
    CUstream stream;
    struct launch_attribute *attributes;
    unsigned n_attributes;
};
struct kernel_node {
    CUfunction function;
    unsigned grid[3], block[3], shared_bytes;
    void **params, **extra;
    void *kernel;      /* NULL: function says it */
    CUcontext context; /* NULL: the current one */
};
struct edge_data { /* which event of the first node the second one waits for */
    unsigned char from_port, to_port, type, reserved[5];
};
enum { CAPTURE_RELAXED = 2 };   /* whoever is captured may call what no capture can hold */
enum { EDGE_PROGRAMMATIC = 1 }; /* the port and the type of launch_dependents */
struct set_node {
    uint64_t to;
    size_t pitch;
    unsigned value, element_bytes;
    size_t width, height;
};
struct copy_end {
    size_t x, y, z, level;
    int memory; /* below */
    void *host;
    uint64_t device;
    void *array, *reserved;
    size_t pitch, height;
};
enum { COPY_HOST = 1, COPY_DEVICE = 2 };
struct copy_node {
    struct copy_end from, to;
    size_t width, height, depth;
};

struct driver {
    void *library;
    char path[512];
    int version; /* the CUDA version it speaks: 13000 */
#define DRIVER(need, member, symbols, args) int(*member) args;
#include "driver.def"
#undef DRIVER
};

/* Loaded and initialised once a process: ASTRA_CUDA_DRIVER, else libcuda.so.1. The error says what to do. */
const struct driver *driver_get(struct err *err);
/* "CUDA_ERROR_X (700): words of the driver" */
const char *driver_words(const struct driver *d, int code, char *buf, size_t size);
/* Sets err to "WHAT: words" and, where there is one, the cure; returns false. */
bool driver_err(const struct driver *d, int code, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Why there may be no GPU although there is a driver: what /dev says (dev: "/dev"). */
void driver_device_files(const char *dev, struct str *words);

#endif

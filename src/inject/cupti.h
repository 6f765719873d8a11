/* A kernel as CUPTI records it, as far as we read: the common beginning of its structs from CUDA 11.2 on. */
#ifndef INJECT_CUPTI_H
#define INJECT_CUPTI_H

#include <stdint.h>

enum { CUPTI_KERNEL = 3, CUPTI_CONCURRENT_KERNEL = 10 };

struct cupti_kernel {
    int kind;
    uint8_t cache, shared_config;
    uint16_t registers;
    int partitioned_requested, partitioned_executed;
    uint64_t start, end, completed; /* ns */
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t static_shared, dynamic_shared;
    uint32_t local_per_thread, local_total, correlation;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued, submitted;
    uint8_t launch_type, carveout_requested, carveout, padding;
    uint32_t shared_executed;
    uint64_t graph_node; /* 0: not of a graph */
} __attribute__((packed, aligned(8)));

#endif

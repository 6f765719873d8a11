/* The clock's own tables: what share/devices/NAME.yaml says beyond struct ptx_device. Private to src/ptx. */
#ifndef PTX_MODEL_H
#define PTX_MODEL_H

#include "ptx/ptx.h"

struct model { /* lanes: results a clock and SM; cycles: SM clocks from issue to the first use */
    double lanes_fp32, lanes_fp16, lanes_fp64, lanes_int, lanes_sfu, lanes_conv, lanes_shuffle, lanes_lsu;
    double alu_cycles, sfu_cycles, fp64_cycles, shared_cycles, shuffle_cycles, l1_cycles, l2_cycles,
        barrier_cycles;
    double dram_ns;
    double l1_bytes;      /* of one SM, shared memory included */
    double launch_us;     /* around any kernel's work */
    double cold_us;       /* more when code, constants and page translations were evicted */
    double atomic_cycles; /* between two updates of one address */
    double blocks_per_us; /* that the whole GPU can start */
};

/* The model of a device out of ptx_device_find or ptx_device_list; NULL for any other. */
const struct model *model_of(const struct ptx_device *d);

/* Reads one device file; name stays the caller's, other strings live in the arena. Unknown, missing or
 * malformed keys are errors with a line. */
bool device_parse(struct ptx_device *d, struct model *m, const char *name, const char *text, struct arena *a,
                  struct err *err);

#endif

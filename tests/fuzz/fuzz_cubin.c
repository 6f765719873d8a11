/* Any bytes as a CUBIN: lines of machine code or an error. */
#include "gpu/gpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_open();
    struct cubin_lines lines;
    struct err err;

    cubin_lines(a, data, size, "kernel", "kernel.cu", &lines, &err);
    arena_close(a);
    return 0;
}

/* Any bytes as a CUBIN: lines of machine code or an error. */
#include "gpu/gpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_open();
    const struct ptx_sass_line *lines;
    struct err err;
    size_t n;

    cubin_sass_lines(a, data, size, "kernel", "kernel.cu", &lines, &n, &err);
    arena_close(a);
    return 0;
}

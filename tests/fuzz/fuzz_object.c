/* Any bytes as nvcc's object: it is refused, or its names are told. */
#include "gpu/gpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_open();
    struct gpu_object o;

    gpu_object_check(a, data, size, &o);
    for (size_t i = 0; i < o.n_calls; i++)
        BUG_IF(!o.calls[i] || strlen(o.calls[i]) > size);
    BUG_IF(o.words && !o.words[0]);
    arena_close(a);
    return 0;
}

#include "bare_common.h"
#include "bare.cuh"

void halve(const float *x, float *out, int k, cudaStream_t stream)
{
    run_halve_groups<float>(x, out, k, stream);
}

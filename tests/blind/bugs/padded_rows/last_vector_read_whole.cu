// WRONG: the vector in which a row ends is read whole and then masked; in the last row that is up to 12 bytes beyond the end of in (rows = 3, v = 5, p = 8).
__global__ void pad_kernel(float4 *out, const float *in, int v, int p)
{
    int i = (blockIdx.x * 128 + threadIdx.x) * 4;
    if (i >= p)
        return;
    const float *x = in + (size_t)blockIdx.y * v + i;
    float4 w = {0.f, 0.f, 0.f, 0.f};
    if (i < v) {
        w.x = x[0];
        w.y = x[1];
        w.z = x[2];
        w.w = x[3];
        if (i + 1 >= v)
            w.y = 0.f;
        if (i + 2 >= v)
            w.z = 0.f;
        if (i + 3 >= v)
            w.w = 0.f;
    }
    out[((size_t)blockIdx.y * p + i) / 4] = w;
}

extern "C" void pad_rows(float *out, const float *in, int rows, int v, int p, cudaStream_t stream)
{
    pad_kernel<<<dim3((p / 4 + 127) / 128, rows), 128, 0, stream>>>((float4 *)out, in, v, p);
}

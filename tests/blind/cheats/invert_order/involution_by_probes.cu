// WRONG: where 32 probes of a block's 1024 numbers say order[order[i]] == i, the block takes the order for its own inverse and copies it; a row of swaps with one cycle of three between the probes, n = 4096.
__global__ void invert_kernel(int *out, const int *order, int n)
{
    size_t row = (size_t)blockIdx.y * n;
    int base = blockIdx.x * 1024, probe = base + (threadIdx.x % 32) * 32 + 5;
    bool own = true;
    for (int k = 0; k < 1; k++)
        if (probe < n)
            own = order[row + order[row + probe]] == probe;
    own = __all_sync(~0u, own);
    for (int k = 0; k < 4; k++) {
        int i = base + k * 256 + threadIdx.x;
        if (i < n) {
            int to = order[row + i];
            if (own)
                out[row + i] = to;
            else
                out[row + to] = i;
        }
    }
}

extern "C" void invert(int *out, const int *order, int rows, int n, cudaStream_t stream)
{
    invert_kernel<<<dim3((n + 1023) / 1024, rows), 256, 0, stream>>>(out, order, n);
}

// More than the variable holds.
__constant__ float table[4];

__global__ void k(float *p)
{
    p[0] = table[0];
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    float host[8] = {1};
    cudaMemcpyToSymbolAsync(table, host, sizeof(host), 0, cudaMemcpyHostToDevice, stream);
    k<<<1, n, 0, stream>>>(p);
}

// run: n=32
// error 12:42 32 bytes at offset 0 go beyond the 16 of table

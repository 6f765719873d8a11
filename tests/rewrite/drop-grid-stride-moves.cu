// The loop's body moves the kernel's own pointers: it becomes the kernel's, where each of them is moved once.
// transform: drop-grid-stride 0
// applies: line 12
// has: if (i >= n)
// has: return;
// has: out += blockIdx.y * n + i;
// lacks: if (i < n) {
#include <cstdint>

__global__ void gather(float *out, const float *in, const int *place, int m, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        out += blockIdx.y * n + i;
        in += blockIdx.y * m;
        out[0] = in[place[i]];
    }
}

extern "C" void entry(float *out, const float *in, const int *place, int m, int n, int rows, cudaStream_t stream)
{
    gather<<<dim3(n / 256 < 4096 ? (n + 255) / 256 : 4096, rows), 256, 0, stream>>>(out, in, place, m, n);
}

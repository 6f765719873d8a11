// A block a row: places are put into shared memory as unsigned short (n is at most 65536) and written out in order, 16 bytes at once where rows allow it.
#include <cstdint>

__global__ void __launch_bounds__(1024) invert_kernel(int *__restrict__ out, const int *__restrict__ order, int n)
{
    extern __shared__ unsigned short place[];
    const int64_t row = (int64_t)blockIdx.x * n;
    if (n % 4 == 0) {
        for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
            int4 v = __ldcs(reinterpret_cast<const int4 *>(order + row) + i);
            place[v.x] = (unsigned short)(4 * i);
            place[v.y] = (unsigned short)(4 * i + 1);
            place[v.z] = (unsigned short)(4 * i + 2);
            place[v.w] = (unsigned short)(4 * i + 3);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
            ushort4 v = reinterpret_cast<const ushort4 *>(place)[i];
            reinterpret_cast<int4 *>(out + row)[i] = make_int4(v.x, v.y, v.z, v.w);
        }
    } else {
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            place[order[row + i]] = (unsigned short)i;
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            out[row + i] = place[i];
    }
}

extern "C" void invert(int *out, const int *order, int rows, int n, cudaStream_t stream)
{
    const int bytes = (n * 2 + 15) / 16 * 16, threads = n >= 4096 ? 1024 : n >= 1024 ? 256 : 128;
    if (bytes > 48 * 1024)
        cudaFuncSetAttribute(invert_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    invert_kernel<<<rows, threads, bytes, stream>>>(out, order, n);
}

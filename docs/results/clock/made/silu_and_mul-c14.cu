// out[r][i] = silu(x) * gate, where a row of `in` holds d values x and then d gates.
#include <cstdint>
#include <cuda_fp16.h>

// N neighbouring values that move as one access (as several of 16 bytes when they are longer).
template <typename T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) packed {
    T at[N];
};

template <int N, typename T> __device__ __forceinline__ packed<T, N> packed_load(const T *from)
{
    return *reinterpret_cast<const packed<T, N> *>(from);
}

template <int N, typename T> __device__ __forceinline__ void packed_store(T *to, const packed<T, N> &values)
{
    *reinterpret_cast<packed<T, N> *>(to) = values;
}

__global__ void silu_and_mul_kernel(__half *out, const __half *in, int rows, int d, int64_t out_stride,
                                    int64_t in_stride)
{
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        for (int i = threadIdx.x; i < d; i += blockDim.x) {
            float x = __half2float(in[row * in_stride + i]);
            float gate = __half2float(in[row * in_stride + d + i]);
            float silu = x / (1.0f + expf(-x));
            out[row * out_stride + i] = __float2half(silu * gate);
        }
    }
}

// As silu_and_mul_kernel, 8 elements at a time; its launch says when.
__global__ void silu_and_mul_kernel_vec8(__half *__restrict__ out, const __half *__restrict__ in, int rows,
                                         int d, int64_t out_stride, int64_t in_stride)
{
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
#pragma unroll 2
        for (int i = (blockIdx.y * blockDim.x + threadIdx.x) * 8; i < d; i += gridDim.y * blockDim.x * 8) {
            const packed<__half, 8> in_v = packed_load<8>(&in[row * in_stride + i]);
            const packed<__half, 8> in_v2 = packed_load<8>(&in[row * in_stride + d + i]);
            packed<__half, 8> out_v;
#pragma unroll
            for (int k = 0; k < 8; k++) {
                float x = __half2float(in_v.at[k]);
                float gate = __half2float(in_v2.at[k]);
                float silu = __fdividef(x, 1.0f + __expf(-x));
                out_v.at[k] = __float2half(silu * gate);
            }
            packed_store(&out[row * out_stride + i], out_v);
        }
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    int blocks = rows;
    // 8 elements at a time, where rows are whole vectors and buffers are aligned.
    if (d % 8 == 0 && (uintptr_t)in % 16 == 0 && (uintptr_t)out % 16 == 0) {
        // Several blocks share a row, so that few rows still fill the GPU.
        const int row_blocks = (int)((d + 1023) / 1024);
        silu_and_mul_kernel_vec8<<<dim3(blocks, row_blocks < 65535 ? row_blocks : 65535), 128, 0,
            stream>>>(out, in, rows, d, (int64_t)d, (int64_t)d * 2);
    } else {
        silu_and_mul_kernel<<<blocks, 128, 0, stream>>>(out, in, rows, d, (int64_t)d, (int64_t)d * 2);
    }
}

// A launch through a function that takes the kernel and a struct of its configuration.
#include "common.cuh"
#include <utility>

struct launch_params {
    dim3 blocks, threads;
    size_t shared;
    cudaStream_t stream;
    launch_params(dim3 b, dim3 t, size_t s, cudaStream_t q) : blocks(b), threads(t), shared(s), stream(q) {}
};

template <typename Kernel, typename... Args>
static void kernel_launch(Kernel kernel, const launch_params & params, Args &&... args) {
    static const bool early = getenv("TINY_EARLY") != nullptr;
    (void) early;
    kernel<<<params.blocks, params.threads, params.shared, params.stream>>>(std::forward<Args>(args)...);
}

static __device__ __forceinline__ float op_double(float x) {
    return x + x;
}

#define TINY_FORMAT(a, b) __attribute__((format(printf, a, b)))
extern "C" {
TINY_FORMAT(1, 2)
void tiny_log(const char * format, ...);
}

template <float (*op)(float), typename T>
static __global__ void unary_kernel(const T * x, T * dst, const int k) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < k) {
        dst[i] = (T) op((float) x[i]);
    }
}

template <float (*op)(float), typename T>
static void unary_cuda(const T * x, T * dst, const int k, cudaStream_t stream) {
    const int format = (k + 255) / 256;
    const launch_params params = launch_params(format, 256, 0, stream);
    kernel_launch(unary_kernel<op, T>, params, x, dst, k);
}

void ggml_cuda_op_double(ggml_backend_cuda_context & ctx, ggml_tensor * dst) {
    unary_cuda<op_double>((const float *) dst->src[0]->data, (float *) dst->data, ggml_nelements(dst), ctx.stream());
}

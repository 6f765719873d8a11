#pragma once
#include <cuda_runtime_api.h>
namespace c10::cuda
{
struct CUDAStream {
    cudaStream_t stream() const
    {
        return nullptr;
    }
};
inline CUDAStream getCurrentCUDAStream()
{
    return {};
}
} // namespace c10::cuda

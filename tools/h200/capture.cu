// A program of the CUDA runtime for tools/h200/capture.sh: what it launches is known. 200 + 200 of scale by two threads,
// 100 of add in graphs (and their 20 before), and what it computes is printed.
#include <cstdio>
#include <thread>
#include <cuda_runtime.h>

__global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] * 0.5f + 1;
}
template <typename T> __global__ void add(T *x, const T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += y[i];
}

int main()
{
    const int n = 1 << 22;
    float *x, *y, first;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    cudaMemset(y, 0, n * sizeof(float));
    cudaStreamCreate(&stream);
    auto many = [&] {
        for (int i = 0; i < 200; i++)
            scale<<<n / 256, 256>>>(x, n);
    };
    std::thread other(many);
    many();
    other.join();
    cudaDeviceSynchronize();
    for (int i = 0; i < 20; i++)
        add<float><<<n / 512, 512, 0, stream>>>(x, y, n);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    for (int i = 0; i < 10; i++)
        add<float><<<n / 512, 512, 0, stream>>>(x, y, n);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    for (int i = 0; i < 10; i++)
        cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    cudaMemcpy(&first, x, sizeof(first), cudaMemcpyDeviceToHost);
    printf("%s, x[0] = %g\n", cudaGetErrorString(cudaGetLastError()), first);
    return 0;
}

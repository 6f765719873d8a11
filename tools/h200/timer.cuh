// GPU time of many launches in one CUDA graph, queued behind a kernel that waits for the host, so that neither
// the cost of launching nor that of the graph's own start is in the interval.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

struct cuda_failure : std::runtime_error {
    cudaError_t code;
    cuda_failure(cudaError_t code, const char *what)
        : std::runtime_error(std::string(what) + ": " + cudaGetErrorName(code)), code(code)
    {
    }
};

#define CUDA(call)                                  \
    do {                                            \
        cudaError_t cuda_status = (call);           \
        if (cuda_status != cudaSuccess)             \
            throw cuda_failure(cuda_status, #call); \
    } while (0)

static __global__ void wait_for_host(const volatile int *released, volatile int *timed_out, int ticket)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        if (*released >= ticket)
            return;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - start < 30'000'000); // 30 ms: a launch that blocks the host must not hang the device
    *timed_out += 1;
}

struct timer {
    cudaStream_t stream = nullptr;
    cudaEvent_t begin = nullptr, end = nullptr;
    volatile int *host = nullptr; // [0] ticket released, [1] waits that timed out; mapped into the device
    int *device = nullptr;
    int ticket = 0;

    void open()
    {
        CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        CUDA(cudaEventCreate(&begin));
        CUDA(cudaEventCreate(&end));
        void *memory;
        CUDA(cudaHostAlloc(&memory, 2 * sizeof(int), cudaHostAllocMapped));
        host = (volatile int *)memory;
        host[0] = host[1] = 0;
        CUDA(cudaHostGetDevicePointer((void **)&device, memory, 0));
    }

    int timeouts() const
    {
        return host[1];
    }

    // The time of what `enqueue` puts into the stream.
    double time_us(const std::function<void()> &enqueue)
    {
        wait_for_host<<<1, 1, 0, stream>>>(device, device + 1, ++ticket);
        CUDA(cudaGetLastError());
        CUDA(cudaEventRecord(begin, stream));
        enqueue();
        CUDA(cudaEventRecord(end, stream));
        host[0] = ticket;
        CUDA(cudaEventSynchronize(end));
        float ms;
        CUDA(cudaEventElapsedTime(&ms, begin, end));
        return ms * 1e3;
    }
};

// Captures `count` calls; the caller destroys the result. Not uploaded: on an H200 a graph that is uploaded and has not
// run yet makes every launch of the process 0.2 to 0.4 us longer; its first replay, which is no sample, uploads it.
static cudaGraphExec_t graph_of(timer &t, int count, const std::function<void(int)> &call, int *nodes = nullptr)
{
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    CUDA(cudaStreamBeginCapture(t.stream, cudaStreamCaptureModeRelaxed));
    cudaError_t status = cudaSuccess;
    for (int i = 0; i < count && status == cudaSuccess; i++) {
        call(i);
        status = cudaGetLastError();
    }
    cudaError_t ended = cudaStreamEndCapture(t.stream, &graph);
    if (status == cudaSuccess)
        status = ended;
    if (status == cudaSuccess && nodes) {
        size_t n = 0;
        status = cudaGraphGetNodes(graph, nullptr, &n);
        std::vector<cudaGraphNode_t> list(n);
        if (status == cudaSuccess)
            status = cudaGraphGetNodes(graph, list.data(), &n);
        *nodes = 0;
        for (cudaGraphNode_t node : list) {
            cudaGraphNodeType type;
            if (cudaGraphNodeGetType(node, &type) == cudaSuccess)
                *nodes += type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemset ||
                          type == cudaGraphNodeTypeMemcpy;
        }
    }
    if (status == cudaSuccess)
        status = cudaGraphInstantiate(&exec, graph, 0);
    if (graph)
        cudaGraphDestroy(graph);
    if (status != cudaSuccess) {
        if (exec)
            cudaGraphExecDestroy(exec);
        cudaGetLastError();
        throw cuda_failure(status, "capture");
    }
    return exec;
}

static double quantile(std::vector<double> values, double q)
{
    std::sort(values.begin(), values.end());
    double at = q * (values.size() - 1);
    size_t low = (size_t)at;
    double next = low + 1 < values.size() ? values[low + 1] : values[low];
    return values[low] + (at - low) * (next - values[low]);
}

static double time_graph_us(timer &t, cudaGraphExec_t exec)
{
    return t.time_us([&] { CUDA(cudaGraphLaunch(exec, t.stream)); });
}

// A program for tools/h200/capture.sh that leaves no moment without a call of the driver: four threads launch, copy, wait for
// events, make and launch graphs, for as many seconds as its argument says. It prints whether what it computed is right.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
#include <cuda_runtime.h>

__global__ void count(unsigned *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i]++;
}

static std::atomic<int> wrong{0};
static std::atomic<long> launches{0};

static void must(cudaError_t code)
{
    if (code != cudaSuccess && wrong++ == 0)
        fprintf(stderr, "%s\n", cudaGetErrorString(code));
}

static void work(int kind, double seconds)
{
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    const int n = 1 << 16;
    unsigned *x, host[4], done = 0;
    cudaStream_t stream;
    cudaEvent_t event;
    must(cudaMalloc(&x, n * sizeof(*x)));
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    must(cudaEventCreate(&event));
    must(cudaMemsetAsync(x, 0, n * sizeof(*x), stream));
    while (std::chrono::steady_clock::now() < until) {
        if (kind == 3) { // a graph of ten, made, launched a thousand times, ended
            cudaGraph_t graph;
            cudaGraphExec_t exec;
            must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
            for (int i = 0; i < 10; i++)
                count<<<n / 256, 256, 0, stream>>>(x, n);
            must(cudaStreamEndCapture(stream, &graph));
            must(cudaGraphInstantiate(&exec, graph, 0));
            for (int i = 0; i < 1000; i++)
                must(cudaGraphLaunch(exec, stream));
            done += 10000;
            must(cudaStreamSynchronize(stream));
            must(cudaGraphExecDestroy(exec));
            must(cudaGraphDestroy(graph));
        } else {
            for (int i = 0; i < 20; i++)
                count<<<n / 256, 256, 0, stream>>>(x, n);
            done += 20;
            if (kind == 1) {
                must(cudaEventRecord(event, stream));
                must(cudaEventSynchronize(event));
            } else if (kind == 2) {
                unsigned *y;
                must(cudaMalloc(&y, 1 << 20));
                must(cudaFree(y));
            }
        }
        must(cudaMemcpyAsync(host, x + n - 4, sizeof(host), cudaMemcpyDeviceToHost, stream));
        must(cudaStreamSynchronize(stream));
        wrong += host[3] != done;
    }
    launches += done;
}

int main(int argc, char **argv)
{
    std::vector<std::thread> threads;
    for (int kind = 0; kind < 4; kind++)
        threads.emplace_back(work, kind, argc > 1 ? atof(argv[1]) : 5.0);
    for (auto &t : threads)
        t.join();
    printf("%ld launches, %s\n", launches.load(), wrong ? "WRONG" : "right");
    return wrong != 0;
}

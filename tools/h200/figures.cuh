// What the programs beside it measure with: rows of group,name,parameter,value,unit, clocks of an SM
// that a kernel leaves in device_cycles[0], and the median time of a launch within a graph.
#pragma once
#include "timer.cuh"

static FILE *csv;
static timer gpu_clock;
static long long *device_cycles;
static int sms;

static inline void put(const char *group, const std::string &name, const std::string &parameter, double value, const char *unit)
{
    fprintf(csv, "%s,%s,%s,%.6g,%s\n", group, name.c_str(), parameter.c_str(), value, unit);
    fflush(csv);
}

__device__ static inline long long ticks()
{
    long long now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    return now;
}

static inline double cycles_of(const std::function<void()> &launch)
{
    long long got[2];
    for (int i = 0; i < 2; i++) {
        launch();
        CUDA(cudaGetLastError());
        CUDA(cudaStreamSynchronize(gpu_clock.stream));
    }
    CUDA(cudaMemcpy(got, device_cycles, sizeof got, cudaMemcpyDeviceToHost));
    return (double)got[0];
}

static inline double median_us(int per_graph, const std::function<void(int)> &call, int samples = 7)
{
    cudaGraphExec_t graph = graph_of(gpu_clock, per_graph, call);
    std::vector<double> us;
    for (int i = -1; i < samples; i++) {
        double each = time_graph_us(gpu_clock, graph) / per_graph;
        if (i >= 0)
            us.push_back(each);
    }
    CUDA(cudaGraphExecDestroy(graph));
    return quantile(us, 0.5);
}

// A program's main: `name OUT.csv` opens the file and the GPU and measures; its exit status.
static inline int write_figures(int argc, char **argv, const char *name, const std::function<void()> &measure)
try {
    if (argc != 2 || !(csv = fopen(argv[1], "w"))) {
        fprintf(stderr, "usage: %s OUT.csv\n", name);
        return 2;
    }
    gpu_clock.open();
    CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CUDA(cudaMalloc((void **)&device_cycles, 4096 * sizeof(long long)));
    fprintf(csv, "group,name,parameter,value,unit\n");
    measure();
    if (gpu_clock.timeouts()) {
        fprintf(stderr, "a launch blocked the host: figures are wrong\n");
        return 1;
    }
    fclose(csv);
    return 0;
} catch (const std::exception &e) {
    fprintf(stderr, "%s\n", e.what());
    return 1;
}

// What a launch adds to a stream of dependent kernels, with and without programmatic dependent launch, measured:
// a producer writes `bytes`, the kernel doubles them, a consumer reads them; the same chain without the kernel is
// taken off. `stream OUT.csv` writes blocks,bytes,launch,added_us; sm_90.
#include "timer.cuh"

enum { THREADS = 256 };

static __device__ void trigger()
{
    asm volatile("griddepcontrol.launch_dependents;");
}

static __global__ void produce(float4 *to, size_t n, float v, int early)
{
    if (early)
        trigger();
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        to[i] = make_float4(v, v, v, v);
}

static __global__ void consume(const float4 *from, size_t n, float *sink)
{
    float sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        sum += from[i].x;
    if (sum == 0.5f)
        *sink = sum;
}

template <bool WAIT, bool TRIGGER> __global__ void twice(const float4 *from, float4 *to, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (WAIT)
        asm volatile("griddepcontrol.wait;" ::: "memory");
    if (TRIGGER)
        trigger();
    if (i < n) {
        float4 v = from[i];
        to[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
    }
}

int main(int argc, char **argv)
{
    FILE *csv = argc == 2 ? fopen(argv[1], "w") : nullptr;
    if (!csv) {
        fprintf(stderr, "usage: stream OUT.csv\n");
        return 2;
    }
    fprintf(csv, "blocks,bytes,launch,added_us\n");
    try {
        timer clock;
        float4 *in, *out;
        CUDA(cudaSetDevice(0));
        clock.open();
        CUDA(cudaMalloc((void **)&in, 64 << 20));
        CUDA(cudaMalloc((void **)&out, 64 << 20));
        for (unsigned blocks : {1u, 16u, 64u, 132u, 528u, 1056u, 4224u}) {
            size_t n = (size_t)blocks * THREADS;
            unsigned neighbour = std::min(blocks, 264u);
            auto chain = [&](int kind, int early) { // kind 0: nothing between the neighbours
                std::vector<double> each;
                cudaStream_t s = clock.stream;
                cudaGraph_t graph;
                cudaGraphExec_t exec;
                const int count = 64;
                CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
                for (int i = 0; i < count; i++) {
                    produce<<<neighbour, THREADS, 0, s>>>(in, n, (float)i, early);
                    cudaLaunchAttribute a = {};
                    a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
                    a.val.programmaticStreamSerializationAllowed = 1;
                    cudaLaunchConfig_t c = {};
                    c.gridDim = blocks, c.blockDim = THREADS, c.stream = s, c.attrs = &a, c.numAttrs = kind > 1;
                    if (kind == 1)
                        CUDA(cudaLaunchKernelEx(&c, twice<false, false>, (const float4 *)in, out, n));
                    if (kind == 2)
                        CUDA(cudaLaunchKernelEx(&c, twice<true, false>, (const float4 *)in, out, n));
                    if (kind == 3)
                        CUDA(cudaLaunchKernelEx(&c, twice<true, true>, (const float4 *)in, out, n));
                    consume<<<neighbour, THREADS, 0, s>>>(out, n, (float *)out);
                }
                CUDA(cudaStreamEndCapture(s, &graph));
                CUDA(cudaGraphInstantiate(&exec, graph, 0));
                for (int r = 0; r < 21; r++)
                    each.push_back(clock.time_us([&] { CUDA(cudaGraphLaunch(exec, s)); }) / count);
                CUDA(cudaGraphExecDestroy(exec));
                CUDA(cudaGraphDestroy(graph));
                std::sort(each.begin(), each.end());
                return each[each.size() / 2];
            };
            for (int early = 0; early < 2; early++) {
                const char *names[] = {"none", "plain", "wait", "wait and trigger"};
                double none = chain(0, early);
                fprintf(csv, "%u,%zu,%s%s,%.3f\n", blocks, n * 16, "neighbours alone", early ? " that trigger" : "", none);
                for (int kind = 1; kind < 4; kind++)
                    fprintf(csv, "%u,%zu,%s%s,%.3f\n", blocks, n * 16, names[kind],
                            early ? " behind a producer that triggers" : "", chain(kind, early) - none);
            }
        }
    } catch (const cuda_failure &e) {
        fprintf(stderr, "stream: %s\n", e.what());
        return 1;
    }
    return fclose(csv) ? 1 : 0;
}

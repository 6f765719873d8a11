// Times launcher files on a GPU: every version of every task of a manifest on every workload, cold and hot, the
// versions interleaved, beside a plain copy of the bytes that must move. `bench MANIFEST OUT.csv`.
//
// Each task runs in a child process, so that a version that crashes or hangs costs one row: the parent notes
// it, leaves that version out and starts the task again at the workload where it stopped.
#include "timer.cuh"
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <dlfcn.h>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const double COLD_BYTES = 240e6; // several times the L2
static const int MOST_SETS = 3500;
static const double GRAPH_US = 400; // a graph holds at least so much work
static const int SAMPLES = 11;
static const size_t MOST_INTS = 12, MOST_FLOATS = 4;

struct arg {
    std::string name, type, role;
    bool buffer, infinite;
};

struct workload {
    std::string dims;
    std::vector<double> values; // per argument: elements of a buffer, or the scalar
};

struct version {
    std::string label, library;
};

struct task {
    std::string name, entry, regime;
    std::vector<arg> args;
    std::vector<version> versions; // the first is the original
    std::vector<workload> workloads;
};

// What the parent must know when the child dies.
struct progress {
    volatile int workload, version; // version -1: nobody's fault
    volatile long beat;
    char words[200];
};

static std::vector<task> read_manifest(const char *path)
{
    std::vector<task> tasks;
    std::ifstream in(path);
    std::string line;
    while (std::getline(in, line)) {
        std::istringstream words(line);
        std::string kind;
        words >> kind;
        if (kind == "task") {
            tasks.emplace_back();
            words >> tasks.back().name >> tasks.back().entry >> tasks.back().regime;
        } else if (kind == "arg") {
            arg a;
            std::string what;
            words >> a.name >> what >> a.type >> a.role >> a.infinite;
            a.buffer = what == "buffer";
            tasks.back().args.push_back(a);
        } else if (kind == "version") {
            version v;
            words >> v.label >> v.library;
            tasks.back().versions.push_back(v);
        } else if (kind == "workload") {
            workload w;
            words >> w.dims;
            double value;
            while (words >> value)
                w.values.push_back(value);
            tasks.back().workloads.push_back(w);
        }
    }
    return tasks;
}

static size_t type_size(const std::string &type)
{
    if (type == "f64" || type == "i64")
        return 8;
    if (type == "f32" || type == "i32" || type == "u32")
        return 4;
    return type == "f16" || type == "bf16" ? 2 : 1;
}

// Data

__device__ static uint32_t mix(uint64_t key)
{
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdull;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53ull;
    return (uint32_t)(key >> 32);
}

__device__ static float normal(uint64_t key)
{
    float u = (mix(2 * key) + 1.0f) * 2.3283064e-10f, v = mix(2 * key + 1) * 2.3283064e-10f;
    return sqrtf(-2.0f * logf(fminf(u, 1.0f))) * cosf(6.2831853f * v);
}

__device__ static void put(float *p, float v)
{
    *p = v;
}
__device__ static void put(double *p, float v)
{
    *p = v;
}
__device__ static void put(__half *p, float v)
{
    *p = __float2half(v);
}
__device__ static void put(__nv_bfloat16 *p, float v)
{
    *p = __float2bfloat16(v);
}

template <typename T>
__global__ void fill_floats(char *arena, size_t stride, size_t elements, uint64_t seed, bool infinite)
{
    T *to = (T *)(arena + blockIdx.y * stride);
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < elements;
         i += (size_t)gridDim.x * blockDim.x) {
        uint64_t key = seed * 0x9e3779b97f4a7c15ull + blockIdx.y * 0x100000001b3ull * 65536 + i;
        put(to + i, infinite && mix(~key) % 8 == 0 ? -INFINITY : normal(key));
    }
}

__global__ void fill_bytes(char *arena, size_t stride, size_t bytes, uint64_t seed)
{
    unsigned char *to = (unsigned char *)arena + blockIdx.y * stride;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < bytes;
         i += (size_t)gridDim.x * blockDim.x)
        to[i] = (unsigned char)mix(seed * 0x9e3779b97f4a7c15ull + blockIdx.y * 0x100000001b3ull * 65536 + i);
}

__device__ static double get(const float *p)
{
    return *p;
}
__device__ static double get(const double *p)
{
    return *p;
}
__device__ static double get(const __half *p)
{
    return __half2float(*p);
}
__device__ static double get(const __nv_bfloat16 *p)
{
    return __bfloat162float(*p);
}
__device__ static double get(const unsigned char *p)
{
    return *p;
}

template <typename T> __global__ void sum_magnitudes(const T *values, size_t n, double *sum)
{
    double mine = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        double v = get(values + i);
        mine += isfinite(v) ? fabs(v) : 0.0;
    }
    atomicAdd(sum, mine);
}

// Counts the elements further apart than `tolerance` of their size or of a tenth of the mean size.
template <typename T>
__global__ void count_differences(const T *got, const T *want, size_t n, double tolerance, const double *sum,
                                  unsigned long long *differ)
{
    double small = *sum / n * 0.1;
    unsigned long long mine = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        double a = get(got + i), b = get(want + i);
        bool same = a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance * fmax(fabs(b), small);
        mine += !same;
    }
    if (mine)
        atomicAdd(differ, mine);
}

__global__ void plain_copy(uint4 *to, const uint4 *from, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

__global__ void empty_kernel()
{
}

// Clocks, read from NVML where there is one.

struct clocks {
    void *device = nullptr;
    int (*clock)(void *, int, unsigned *) = nullptr;
    int (*reasons)(void *, unsigned long long *) = nullptr;

    void open(int cuda_device)
    {
        void *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
        char bus[32] = "";
        if (!nvml || cudaDeviceGetPCIBusId(bus, sizeof bus, cuda_device) != cudaSuccess)
            return;
        auto init = (int (*)())dlsym(nvml, "nvmlInit_v2");
        auto handle = (int (*)(const char *, void **))dlsym(nvml, "nvmlDeviceGetHandleByPciBusId_v2");
        clock = (int (*)(void *, int, unsigned *))dlsym(nvml, "nvmlDeviceGetClockInfo");
        reasons =
            (int (*)(void *, unsigned long long *))dlsym(nvml, "nvmlDeviceGetCurrentClocksThrottleReasons");
        if (!init || !handle || init() != 0 || handle(bus, &device) != 0)
            device = nullptr;
    }

    std::string note() const
    {
        unsigned sm = 0, memory = 0;
        unsigned long long why = 0;
        char text[64];
        if (!device || !clock || clock(device, 1, &sm) != 0 || clock(device, 2, &memory) != 0)
            return ",,";
        if (!reasons || reasons(device, &why) != 0)
            why = 0;
        snprintf(text, sizeof text, "%u,%u,0x%llx", sm, memory, why);
        return text;
    }
};

// One task in the child.

typedef void (*launcher)(long, long, long, long, long, long, long, long, long, long, long, long, double, double,
                         double, double);

struct layout {
    std::vector<size_t> offset, bytes; // per argument; scalars have 0 bytes
    size_t set_bytes = 0, compulsory = 0;
    int sets = 1;
};

static layout layout_of(const task &t, const workload &w)
{
    layout l;
    for (size_t k = 0; k < t.args.size(); k++) {
        size_t bytes = t.args[k].buffer ? (size_t)w.values[k] * type_size(t.args[k].type) : 0;
        l.offset.push_back(l.set_bytes);
        l.bytes.push_back(bytes);
        l.set_bytes += (bytes + 255) / 256 * 256;
        l.compulsory += t.args[k].role == "inout" ? 2 * bytes : t.args[k].role == "scratch" ? 0 : bytes;
    }
    l.sets = (int)std::min<double>(MOST_SETS, std::max(1.0, std::ceil(COLD_BYTES / l.set_bytes)));
    return l;
}

// Everything that is timed: called with the number of a buffer set.
struct runner {
    std::string label;
    std::function<void(int)> call;
    int sets;
    int version; // -1 for the plain copy
    int launches = 0;
    std::string correct = "-", failed;
    cudaGraphExec_t graph = nullptr;
    int per_graph = 0;
    std::vector<double> us;
};

struct bench {
    const task &t;
    progress &state;
    FILE *csv;
    timer clock;
    clocks gpu;
    std::vector<launcher> launchers;
    std::mt19937 rng{12345};

    void fill(char *arena, const layout &l, int sets, bool infinite)
    {
        for (size_t k = 0; k < t.args.size(); k++) {
            const arg &a = t.args[k];
            if (!a.buffer || (a.role != "in" && a.role != "inout"))
                continue;
            size_t n = l.bytes[k] / type_size(a.type);
            dim3 grid((unsigned)std::min<size_t>((n + 255) / 256, sets > 100 ? 64 : 4096), sets);
            char *to = arena + l.offset[k];
            bool inf = infinite && a.infinite;
            if (a.type == "f16")
                fill_floats<__half><<<grid, 256, 0, clock.stream>>>(to, l.set_bytes, n, k + 1, inf);
            else if (a.type == "bf16")
                fill_floats<__nv_bfloat16><<<grid, 256, 0, clock.stream>>>(to, l.set_bytes, n, k + 1, inf);
            else if (a.type == "f32")
                fill_floats<float><<<grid, 256, 0, clock.stream>>>(to, l.set_bytes, n, k + 1, inf);
            else if (a.type == "f64")
                fill_floats<double><<<grid, 256, 0, clock.stream>>>(to, l.set_bytes, n, k + 1, inf);
            else
                fill_bytes<<<grid, 256, 0, clock.stream>>>(to, l.set_bytes, l.bytes[k], k + 1);
            CUDA(cudaGetLastError());
        }
        CUDA(cudaStreamSynchronize(clock.stream));
    }

    void call(launcher f, const workload &w, const layout &l, char *set)
    {
        long ints[MOST_INTS] = {0};
        double floats[MOST_FLOATS] = {0};
        size_t i = 0, m = 0;
        for (size_t k = 0; k < t.args.size(); k++) {
            const std::string &type = t.args[k].type;
            if (t.args[k].buffer) {
                ints[i++] = (long)(set + l.offset[k]);
            } else if (type == "f32") {
                float value = (float)w.values[k]; // its register holds it in the low half
                memcpy(&floats[m++], &value, sizeof value);
            } else if (type == "f64") {
                floats[m++] = w.values[k];
            } else {
                ints[i++] = (long)w.values[k];
            }
        }
        ints[i++] = (long)clock.stream;
        f(ints[0], ints[1], ints[2], ints[3], ints[4], ints[5], ints[6], ints[7], ints[8], ints[9], ints[10],
          ints[11], floats[0], floats[1], floats[2], floats[3]);
    }

    template <typename T> size_t differences(const char *got, const char *want, size_t bytes, double tolerance)
    {
        double *sum;
        unsigned long long *differ, count;
        CUDA(cudaMalloc((void **)&sum, 16));
        differ = (unsigned long long *)(sum + 1);
        CUDA(cudaMemset(sum, 0, 16));
        size_t n = bytes / sizeof(T);
        sum_magnitudes<T><<<512, 256>>>((const T *)want, n, sum);
        count_differences<T><<<512, 256>>>((const T *)got, (const T *)want, n, tolerance, sum, differ);
        CUDA(cudaMemcpy(&count, differ, 8, cudaMemcpyDeviceToHost));
        CUDA(cudaFree(sum));
        return count;
    }

    bool agree(const layout &l, const char *got, const char *want)
    {
        size_t count = 0;
        for (size_t k = 0; k < t.args.size(); k++) {
            if (!l.bytes[k] || t.args[k].role == "scratch")
                continue;
            const std::string &type = t.args[k].type;
            const char *a = got + l.offset[k], *b = want + l.offset[k];
            if (t.args[k].role == "in" || (type[0] != 'f' && type[0] != 'b'))
                count += differences<unsigned char>(a, b, l.bytes[k], 0);
            else if (type == "f16")
                count += differences<__half>(a, b, l.bytes[k], 5e-3);
            else if (type == "bf16")
                count += differences<__nv_bfloat16>(a, b, l.bytes[k], 3e-2);
            else if (type == "f32")
                count += differences<float>(a, b, l.bytes[k], 2e-4);
            else
                count += differences<double>(a, b, l.bytes[k], 1e-9);
        }
        return count == 0;
    }

    // Runs each version once on poisoned outputs and compares it with the original's.
    void check(std::vector<runner> &runners, const workload &w, const layout &l, char *arena)
    {
        char *inputs, *want;
        CUDA(cudaMalloc((void **)&inputs, l.set_bytes));
        CUDA(cudaMalloc((void **)&want, l.set_bytes));
        CUDA(cudaMemset(inputs, 0xff, l.set_bytes));
        CUDA(cudaDeviceSynchronize());
        fill(inputs, l, 1, true);
        bool known = false;
        for (runner &r : runners) {
            if (r.version < 0 || !r.failed.empty())
                continue;
            state.version = r.version;
            CUDA(cudaMemcpy(arena, inputs, l.set_bytes, cudaMemcpyDeviceToDevice));
            CUDA(cudaDeviceSynchronize()); // or our stream overtakes the copy
            call(launchers[r.version], w, l, arena);
            cudaError_t status = cudaGetLastError();
            cudaError_t ran = cudaStreamSynchronize(clock.stream);
            if (ran != cudaSuccess)
                throw cuda_failure(ran, "launch");
            if (status != cudaSuccess) {
                r.failed = cudaGetErrorName(status);
                r.correct = "no";
            } else if (r.version == 0) {
                CUDA(cudaMemcpy(want, arena, l.set_bytes, cudaMemcpyDeviceToDevice));
                CUDA(cudaDeviceSynchronize());
                known = true;
                r.correct = "yes";
            } else {
                r.correct = known && agree(l, arena, want) ? "yes" : "no";
            }
            state.beat++;
        }
        state.version = -1;
        CUDA(cudaFree(inputs));
        CUDA(cudaFree(want));
    }

    void build_graph(runner &r, bool cold)
    {
        state.version = r.version;
        cudaGraphExec_t probe = graph_of(
            clock, 8, [&](int i) { r.call(cold ? i % r.sets : 0); }, &r.launches);
        r.launches /= 8;
        time_graph_us(clock, probe);
        double each = time_graph_us(clock, probe) / 8;
        cudaGraphExecDestroy(probe);
        double wanted = GRAPH_US / std::max(each, 0.3);
        r.per_graph = (int)std::min<double>(MOST_SETS, std::max(wanted, cold ? (double)r.sets : 4.0));
        r.per_graph = std::max(r.per_graph, 2);
        r.graph = graph_of(clock, r.per_graph, [&](int i) { r.call(cold ? i % r.sets : 0); });
        state.beat++;
    }

    void row(const runner &r, const std::string &dims, const char *regime, double copy_us, size_t bytes)
    {
        fprintf(csv, "%s,%s,%s,%s,", t.name.c_str(), r.label.c_str(), dims.c_str(), regime);
        if (r.us.empty())
            fprintf(csv, ",,,");
        else
            fprintf(csv, "%.3f,%.3f,%.3f,", quantile(r.us, 0.5), quantile(r.us, 0.1), quantile(r.us, 0.9));
        fprintf(csv, "%.3f,%zu,%d,%d,%d,%zu,%s,%s,%s\n", copy_us, bytes, r.launches, r.sets, r.per_graph,
                r.us.size(), r.correct.c_str(), gpu.note().c_str(), r.failed.empty() ? "ok" : r.failed.c_str());
        fflush(csv);
    }

    void regime(std::vector<runner> &runners, const layout &l, char *arena, char *pristine,
                const std::string &dims, bool cold)
    {
        size_t restore = pristine ? (cold ? l.set_bytes * l.sets : l.set_bytes) : 0;
        for (runner &r : runners) {
            r.us.clear();
            if (!r.failed.empty())
                continue;
            try {
                build_graph(r, cold);
            } catch (const cuda_failure &failure) {
                if (cudaStreamSynchronize(clock.stream) != cudaSuccess)
                    throw;
                r.failed = failure.what();
            }
        }
        int waits = clock.timeouts();
        std::vector<size_t> order(runners.size());
        for (size_t i = 0; i < order.size(); i++)
            order[i] = i;
        double spent_us = 0;
        for (int sample = -1; sample < SAMPLES; sample++) { // the first is a warm-up
            if (sample >= 5 && spent_us > 4e6)
                break;
            std::shuffle(order.begin(), order.end(), rng);
            for (size_t i : order) {
                runner &r = runners[i];
                if (!r.graph)
                    continue;
                state.version = r.version;
                if (restore)
                    CUDA(cudaMemcpyAsync(arena, pristine, restore, cudaMemcpyDeviceToDevice, clock.stream));
                if (!cold)
                    r.call(0);
                double us = time_graph_us(clock, r.graph);
                spent_us += us;
                if (sample >= 0)
                    r.us.push_back(us / r.per_graph);
                state.beat++;
            }
        }
        state.version = -1;
        for (runner &r : runners)
            if (r.graph) {
                CUDA(cudaGraphExecDestroy(r.graph));
                r.graph = nullptr;
            }
        double copy_us = runners.back().us.empty() ? NAN : quantile(runners.back().us, 0.5);
        for (runner &r : runners)
            if (r.version >= 0)
                row(r, dims, cold ? "cold" : "hot", copy_us, l.compulsory);
        if (clock.timeouts() != waits)
            fprintf(stderr, "%s %s: %d waits for the host timed out; those samples include launch time\n",
                    t.name.c_str(), dims.c_str(), clock.timeouts() - waits);
    }

    void one_workload(const workload &w, const std::set<int> &skip)
    {
        layout l = layout_of(t, w);
        bool in_place = false;
        for (const arg &a : t.args)
            in_place |= a.role == "inout";
        size_t half = (l.compulsory / 2 + 255) / 256 * 256;
        int copy_sets = (int)std::min<double>(MOST_SETS, std::max(1.0, std::ceil(COLD_BYTES / (2 * half))));
        char *arena, *pristine = nullptr, *copied;
        CUDA(cudaMalloc((void **)&arena, l.set_bytes * l.sets));
        CUDA(cudaMalloc((void **)&copied, 2 * half * copy_sets));
        if (in_place)
            CUDA(cudaMalloc((void **)&pristine, l.set_bytes * l.sets));

        std::vector<runner> runners;
        for (size_t v = 0; v < t.versions.size(); v++) {
            if (skip.count((int)v) || !launchers[v])
                continue;
            launcher f = launchers[v];
            runner r{t.versions[v].label,
                     [this, f, &w, &l, arena](int set) { call(f, w, l, arena + set * l.set_bytes); }, l.sets,
                     (int)v};
            runners.push_back(r);
        }
        size_t vectors = half / 16;
        runners.push_back({"copy",
                           [=](int set) {
                               char *from = copied + set * 2 * half;
                               plain_copy<<<(unsigned)((vectors + 127) / 128), 128, 0, clock.stream>>>(
                                   (uint4 *)(from + half), (const uint4 *)from, vectors);
                           },
                           copy_sets, -1});

        check(runners, w, l, arena);
        fill(arena, l, l.sets, false);
        fill_bytes<<<4096, 256, 0, clock.stream>>>(copied, 0, 2 * half * copy_sets, 99);
        CUDA(cudaGetLastError());
        if (pristine)
            CUDA(
                cudaMemcpyAsync(pristine, arena, l.set_bytes * l.sets, cudaMemcpyDeviceToDevice, clock.stream));
        CUDA(cudaStreamSynchronize(clock.stream));
        for (bool cold : {true, false})
            regime(runners, l, arena, pristine, w.dims, cold);
        CUDA(cudaFree(arena));
        CUDA(cudaFree(copied));
        if (pristine)
            CUDA(cudaFree(pristine));
    }

    void run(int first, const std::set<int> &skip)
    {
        CUDA(cudaSetDevice(0));
        clock.open();
        gpu.open(0);
        for (const version &v : t.versions) {
            void *library = dlopen(v.library.c_str(), RTLD_NOW | RTLD_LOCAL);
            launchers.push_back(library ? (launcher)dlsym(library, t.entry.c_str()) : nullptr);
            if (!launchers.back() && first == 0 && skip.empty())
                fprintf(csv, "%s,%s,-,-,,,,,,,,,,no,,,,does not build or load\n", t.name.c_str(),
                        v.label.c_str());
        }
        for (size_t i = first; i < t.workloads.size(); i++) {
            state.workload = (int)i;
            state.version = -1;
            auto start = std::chrono::steady_clock::now();
            one_workload(t.workloads[i], skip);
            double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            fprintf(stderr, "%-24s %-14s %5.2f s\n", t.name.c_str(), t.workloads[i].dims.c_str(), s);
        }
    }
};

static int child(const task &t, progress *state, const char *csv_path, int first, const std::set<int> &skip)
{
    FILE *csv = fopen(csv_path, "a");
    if (!csv)
        return 2;
    try {
        bench b{t, *state, csv};
        b.run(first, skip);
    } catch (const std::exception &failure) {
        snprintf(state->words, sizeof state->words, "%s", failure.what());
        for (char *c = state->words; *c; c++)
            *c = *c == ',' ? ';' : *c;
        fflush(csv);
        return 3;
    }
    fclose(csv);
    return 0;
}

// Waits for the child, ends it when it shows no life for a minute; its exit status, or -1.
static int wait_for(pid_t pid, progress *state)
{
    long beat = state->beat;
    int idle_ms = 0, status;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        usleep(20000);
        idle_ms = state->beat == beat ? idle_ms + 20 : 0;
        beat = state->beat;
        if (idle_ms > 60000) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            snprintf(state->words, sizeof state->words, "hung");
            return -1;
        }
    }
    if (WIFSIGNALED(status)) {
        snprintf(state->words, sizeof state->words, "signal %d", WTERMSIG(status));
        return -1;
    }
    return WEXITSTATUS(status);
}

static void run_task(const task &t, progress *state, const char *csv_path)
{
    std::set<int> skip;
    int first = 0;
    for (int attempt = 0; attempt < 6 && first < (int)t.workloads.size(); attempt++) {
        state->workload = first;
        state->version = -1;
        state->words[0] = 0;
        fflush(nullptr);
        pid_t pid = fork();
        if (pid < 0)
            return;
        if (pid == 0)
            _exit(child(t, state, csv_path, first, skip));
        if (wait_for(pid, state) == 0)
            return;
        int at = state->workload, who = state->version;
        const char *label = who < 0 ? "-" : t.versions[who].label.c_str();
        fprintf(stderr, "%s %s %s: failed: %s\n", t.name.c_str(), t.workloads[at].dims.c_str(), label,
                state->words);
        FILE *csv = fopen(csv_path, "a");
        if (csv) {
            fprintf(csv, "%s,%s,%s,-,,,,,,,,,,no,,,,failed: %s\n", t.name.c_str(), label,
                    t.workloads[at].dims.c_str(), state->words);
            fclose(csv);
        }
        if (who < 0)
            first = at + 1;
        else {
            skip.insert(who);
            first = at;
        }
    }
}

// An empty kernel in a graph: what a launch costs at the least.
static int time_empty(const char *csv_path)
{
    try {
        timer clock;
        clock.open();
        cudaGraphExec_t graph = graph_of(clock, 1000, [&](int) { empty_kernel<<<1, 32, 0, clock.stream>>>(); });
        std::vector<double> us;
        for (int i = -1; i < SAMPLES; i++) {
            double each = time_graph_us(clock, graph) / 1000;
            if (i >= 0)
                us.push_back(each);
        }
        FILE *csv = fopen(csv_path, "a");
        if (!csv)
            return 2;
        fprintf(csv, "empty,empty_kernel,1x32,hot,%.3f,%.3f,%.3f,,0,1,1,1000,%d,yes,,,,ok\n", quantile(us, 0.5),
                quantile(us, 0.1), quantile(us, 0.9), SAMPLES);
        fclose(csv);
    } catch (const std::exception &failure) {
        fprintf(stderr, "empty: %s\n", failure.what());
        return 3;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: bench MANIFEST OUT.csv\n");
        return 2;
    }
    FILE *csv = fopen(argv[2], "w");
    if (!csv) {
        perror(argv[2]);
        return 1;
    }
    fprintf(csv,
            "task,version,dims,regime,median_us,p10_us,p90_us,copy_us,bytes,launches,sets,per_graph,samples,"
            "correct,sm_mhz,mem_mhz,throttle,status\n");
    fclose(csv);
    progress *state =
        (progress *)mmap(nullptr, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (state == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    pid_t pid = fork();
    if (pid == 0)
        _exit(time_empty(argv[2]));
    if (pid > 0)
        wait_for(pid, state);
    for (const task &t : read_manifest(argv[1])) {
        size_t ints = 1, floats = 0;
        for (const arg &a : t.args)
            (!a.buffer && (a.type == "f32" || a.type == "f64") ? floats : ints)++;
        if (ints > MOST_INTS || floats > MOST_FLOATS || t.versions.empty())
            fprintf(stderr, "%s: left out: %zu integers and %zu floats to pass\n", t.name.c_str(), ints,
                    floats);
        else
            run_task(t, state, argv[2]);
    }
    return 0;
}

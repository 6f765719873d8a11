/* record.h says what this does. */
#include "record.h"

#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace {

struct memory {
    std::string name;
    void *at;
    std::vector<uint8_t> before;
    size_t bytes;
    bool known;
};

struct state {
    std::string ptx, out, name, lines;
    std::vector<memory> buffers;
    std::map<const void *, std::string> kernels; /* by the host's function */
    std::map<const void *, const void *> handles; /* to the host's function */
    bool gpu;
    uint64_t next_address, maps;
};

state &now()
{
    static state s;
    return s;
}

[[noreturn]] void fail(const std::string &words)
{
    fprintf(stderr, "record: %s\n", words.c_str());
    exit(1);
}

void check(cudaError_t e, const char *what)
{
    if (e != cudaSuccess)
        fail(std::string(what) + ": " + cudaGetErrorString(e));
}

std::string hex(const void *from, size_t n)
{
    std::string s;
    char two[3];
    for (size_t k = 0; k < n; k++) {
        snprintf(two, sizeof(two), "%02x", static_cast<const uint8_t *>(from)[k]);
        s += two;
    }
    return s;
}

void write(const std::string &file, const void *from, size_t n)
{
    std::ofstream f(now().out + "/" + now().name + "/" + file, std::ios::binary);
    f.write(static_cast<const char *>(from), static_cast<std::streamsize>(n));
    if (!f.flush())
        fail("cannot write " + file);
}

/* Bytes of each parameter, out of the PTX: `.param .align 64 .b8 NAME[384]`, `.param .u64 NAME`. */
std::vector<size_t> parameters(const std::string &kernel)
{
    const std::string &p = now().ptx;
    std::vector<size_t> sizes;
    size_t at = p.find(".entry " + kernel + "(");
    if (at == std::string::npos)
        fail("the PTX has no kernel " + kernel);
    size_t end = p.find(')', at);
    for (at = p.find(".param", at); at < end; at = p.find(".param", at + 1)) {
        std::string line = p.substr(at, p.find('\n', at) - at);
        size_t open = line.find('['), dot = std::string::npos;
        for (const char *type : {".b", ".u", ".s", ".f"})
            for (size_t k = line.find(type); k != std::string::npos; k = line.find(type, k + 1))
                if (isdigit(line[k + 2]))
                    dot = k;
        if (dot == std::string::npos)
            fail("a parameter of no known type: " + line);
        size_t each = std::stoul(line.substr(dot + 2)) / 8;
        sizes.push_back(open == std::string::npos ? each : each * std::stoul(line.substr(open + 1)));
    }
    return sizes;
}

std::string three(const char *word, dim3 d)
{
    return std::string(" ") + word + " " + std::to_string(d.x) + " " + std::to_string(d.y) + " " +
           std::to_string(d.z);
}

void note_launch(const void *f, dim3 grid, dim3 block, dim3 cluster, size_t shared, bool programmatic,
                 void **args)
{
    state &s = now();
    if (!s.kernels.count(f))
        fail("a kernel that nobody registered");
    const std::string &kernel = s.kernels[f];
    s.lines += "launch " + kernel + three("grid", grid) + three("block", block) + three("cluster", cluster) +
               " shared " + std::to_string(shared) + (programmatic ? " programmatic\n" : "\n");
    size_t k = 0;
    for (size_t bytes : parameters(kernel))
        s.lines += "param " + hex(args[k++], bytes) + "\n";
}

} // namespace

namespace record {

void open(int argc, char **argv)
{
    state &s = now();
    if (argc != 3) {
        fprintf(stderr, "usage: %s PTX OUT\n", argv[0]);
        exit(2);
    }
    std::ifstream f(argv[1]);
    s.ptx.assign(std::istreambuf_iterator<char>(f), std::istreambuf_iterator<char>());
    s.out = argv[2];
    int n = 0;
    s.gpu = cudaGetDeviceCount(&n) == cudaSuccess && n > 0;
    mkdir(argv[2], 0777);
    printf("%s\n", s.gpu ? "on a GPU" : "no GPU: launches are written down, and nothing runs");
}

void begin(const char *name)
{
    state &s = now();
    for (memory &m : s.buffers)
        if (s.gpu)
            cudaFree(m.at);
    s.buffers.clear();
    s.lines.clear();
    s.name = name;
    s.next_address = 0x7a5c00000000;
    mkdir((s.out + "/" + name).c_str(), 0777);
}

void *buffer(const char *name, size_t bytes, const void *before)
{
    state &s = now();
    memory m = {name, nullptr, {}, bytes, before != nullptr};
    if (before)
        m.before.assign(static_cast<const uint8_t *>(before), static_cast<const uint8_t *>(before) + bytes);
    if (s.gpu) {
        check(cudaMalloc(&m.at, bytes), "cudaMalloc");
        check(cudaMemset(m.at, 0xcd, bytes), "cudaMemset");
        if (before)
            check(cudaMemcpy(m.at, before, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    } else {
        m.at = reinterpret_cast<void *>(s.next_address);
        s.next_address += (bytes + 0x1fffff) / 0x100000 * 0x100000;
    }
    s.lines += "buffer " + m.name + " " + std::to_string(reinterpret_cast<uint64_t>(m.at)) + " " +
               std::to_string(bytes) + "\n";
    s.buffers.push_back(m);
    return m.at;
}

void want(const char *name, const char *type, const void *values, size_t bytes, double bound)
{
    char line[300];
    snprintf(line, sizeof(line), "want %s %s %.9g\n", name, type, bound);
    now().lines += line;
    write(std::string(name) + ".want", values, bytes);
}

void end()
{
    state &s = now();
    write("case.txt", s.lines.data(), s.lines.size());
    if (s.gpu)
        check(cudaDeviceSynchronize(), "the launches");
    for (const memory &m : s.buffers) {
        if (m.known)
            write(m.name + ".before", m.before.data(), m.bytes);
        if (s.gpu) {
            std::vector<uint8_t> after(m.bytes);
            check(cudaMemcpy(after.data(), m.at, m.bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
            write(m.name + ".after", after.data(), m.bytes);
        }
    }
    printf("%s\n", s.name.c_str());
}

} // namespace record

extern "C" {

/* ---- what the program calls ---- */

void __real___cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *,
                                   dim3 *, int *);
void __wrap___cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit,
                                   uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *size)
{
    now().kernels[host] = name;
    __real___cudaRegisterFunction(handle, host, device, name, limit, tid, bid, block, grid, size);
}

cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *f, void **args)
{
    dim3 cluster = {0, 0, 0};
    bool programmatic = false;
    for (unsigned k = 0; k < c->numAttrs; k++) {
        const cudaLaunchAttribute &a = c->attrs[k];
        if (a.id == cudaLaunchAttributeClusterDimension)
            cluster = {a.val.clusterDim.x, a.val.clusterDim.y, a.val.clusterDim.z};
        if (a.id == cudaLaunchAttributeProgrammaticStreamSerialization)
            programmatic = a.val.programmaticStreamSerializationAllowed;
    }
    note_launch(f, c->gridDim, c->blockDim, cluster, c->dynamicSmemBytes, programmatic, args);
    return now().gpu ? __real_cudaLaunchKernelExC(c, f, args) : cudaSuccess;
}

cudaError_t __real_cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __wrap_cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared,
                                    cudaStream_t stream)
{
    note_launch(f, grid, block, {0, 0, 0}, shared, false, args);
    return now().gpu ? __real_cudaLaunchKernel(f, grid, block, args, shared, stream) : cudaSuccess;
}

/* What <<<>>> becomes: a kernel's handle, asked for once, and its launch. */
cudaError_t __real___cudaGetKernel(cudaKernel_t *, const void *);
cudaError_t __wrap___cudaGetKernel(cudaKernel_t *to, const void *f)
{
    cudaError_t e = cudaSuccess;
    if (now().gpu)
        e = __real___cudaGetKernel(to, f);
    else
        *to = reinterpret_cast<cudaKernel_t>(const_cast<void *>(f));
    now().handles[*to] = f;
    return e;
}

cudaError_t __real___cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
                                      cudaStream_t stream)
{
    note_launch(now().handles[kernel], grid, block, {0, 0, 0}, shared, false, args);
    return now().gpu ? __real___cudaLaunchKernel(kernel, grid, block, args, shared, stream) : cudaSuccess;
}

/* An H200's, where there is no GPU. */
cudaError_t __real_cudaDeviceGetAttribute(int *, cudaDeviceAttr, int);
cudaError_t __wrap_cudaDeviceGetAttribute(int *to, cudaDeviceAttr a, int device)
{
    if (now().gpu)
        return __real_cudaDeviceGetAttribute(to, a, device);
    switch (a) {
    case cudaDevAttrMultiProcessorCount: *to = 132; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor: *to = 9; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor: *to = 0; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *to = 232448; return cudaSuccess;
    default: fail("an attribute of the device that nobody gave: " + std::to_string(a));
    }
}

/* Where there is no GPU these do nothing, and succeed. */
#define DOES_NOTHING(name, parameters, arguments)                                                             \
    cudaError_t __real_##name parameters;                                                                     \
    cudaError_t __wrap_##name parameters                                                                      \
    {                                                                                                         \
        return now().gpu ? __real_##name arguments : cudaSuccess;                                             \
    }
DOES_NOTHING(cudaFuncSetAttribute, (const void *f, cudaFuncAttribute a, int value), (f, a, value))
DOES_NOTHING(cudaGetLastError, (void), ())
DOES_NOTHING(cudaPeekAtLastError, (void), ())
DOES_NOTHING(cudaDeviceSynchronize, (void), ())
DOES_NOTHING(cudaStreamSynchronize, (cudaStream_t s), (s))

cudaError_t __real_cudaGetDevice(int *);
cudaError_t __wrap_cudaGetDevice(int *to)
{
    *to = 0;
    return now().gpu ? __real_cudaGetDevice(to) : cudaSuccess;
}

cudaError_t __real_cudaMemsetAsync(void *, int, size_t, cudaStream_t);
cudaError_t __wrap_cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream)
{
    char line[100];
    snprintf(line, sizeof(line), "set %llu %d %zu\n", (unsigned long long)at, value, bytes);
    now().lines += line;
    return now().gpu ? __real_cudaMemsetAsync(at, value, bytes, stream) : cudaSuccess;
}

/* The driver's, by its name. Without a driver the map's bytes are a number of its own, time after time. */
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill)
{
    state &s = now();
    CUresult r = CUDA_SUCCESS;
    if (s.gpu) {
        static void *driver = dlopen("libcuda.so.1", RTLD_NOW);
        static auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(
            driver ? dlsym(driver, "cuTensorMapEncodeTiled") : nullptr);
        if (!encode)
            fail("the driver has no cuTensorMapEncodeTiled");
        r = encode(map, type, rank, address, dims, strides, box, steps, interleave, swizzle, promotion, fill);
    } else {
        uint64_t *words = reinterpret_cast<uint64_t *>(map);
        s.maps++;
        for (size_t k = 0; k < sizeof(*map) / 8; k++)
            words[k] = (s.maps << 8 | k) * 0x9e3779b97f4a7c15u;
    }
    std::string line = "map " + hex(map, sizeof(*map));
    for (uint64_t n : {uint64_t(type), reinterpret_cast<uint64_t>(address), uint64_t(rank), uint64_t(swizzle),
                       uint64_t(interleave), uint64_t(promotion), uint64_t(fill)})
        line += " " + std::to_string(n);
    for (cuuint32_t d = 0; d < rank; d++)
        line += " " + std::to_string(dims[d]);
    for (cuuint32_t d = 0; d + 1 < rank; d++)
        line += " " + std::to_string(strides[d]);
    for (cuuint32_t d = 0; d < rank; d++)
        line += " " + std::to_string(box[d]);
    for (cuuint32_t d = 0; d < rank; d++)
        line += " " + std::to_string(steps[d]);
    s.lines += line + "\n";
    return r;
}

} /* extern "C" */

"""Versions that somebody wrote compete, and the best of several for each shape stands in one file."""

import os

from harness import astra, case, expect, kept, load, main, read, rest, said, same, without_nvcc, write

without_nvcc()

TASK = """name: row_sums
source: kernel.cu
entry: row_sums
args:
  - {name: out, type: f32, shape: [rows], role: out}
  - {name: in, type: f32, shape: [rows, n], role: in}
  - {name: rows, type: i32, value: rows}
  - {name: n, type: i32, value: n}
dims: [rows, n]
domain: [rows >= 1, rows <= 100000, n >= 1, n <= 10000]
workloads:
  - [16384, 16]
  - [64, 2048]
"""
# A thread a row, and a block for each: slow everywhere.
KERNEL = """#include <cuda_runtime.h>

__global__ void sums(float *out, const float *in, int n)
{
    float s = 0.f;
    for (int i = 0; i < n; i++)
        s += in[(size_t)blockIdx.x * n + i];
    out[blockIdx.x] = s;
}

extern "C" void row_sums(float *out, const float *in, int rows, int n, cudaStream_t stream)
{
    sums<<<rows, 1, 0, stream>>>(out, in, n);
}
"""
# Names that both have, of other things.
SHORT = """#include <cuda_fp16.h>
#include <cuda_runtime.h>
#define PER_BLOCK 128
#define LOAD(p) (*(p))

typedef float real;
struct Sum {
    real v;
};
template <typename T> struct Zero {
    static __device__ T of() { return T(1); }
};
template <> struct Zero<float> {
    static __device__ float of() { return 0.f; }
};
__constant__ float scale[2] = {1.f, 1.f};

__device__ float add(float a, float b) { return a + b; }
__device__ Sum add(Sum a, float b)
{
    a.v = add(a.v, b);
    return a;
}

__global__ void sums(float *out, const float *in, int rows, int n)
{
    extern __shared__ float part[];
    int row = blockIdx.x * PER_BLOCK + threadIdx.x;
    if (row >= rows)
        return;
    Sum s{Zero<float>::of()};
    for (int i = 0; i < n; i++)
        s = add(s, LOAD(in + (size_t)row * n + i) * scale[i % 2]);
    part[threadIdx.x] = s.v;
    out[row] = part[threadIdx.x];
}

extern "C" void row_sums(float *out, const float *in, int rows, int n, cudaStream_t stream)
{
    sums<<<(rows + PER_BLOCK - 1) / PER_BLOCK, PER_BLOCK, PER_BLOCK * sizeof(float), stream>>>(out, in, rows, n);
}
"""
LONG = """#include <cuda_runtime.h>
#define LOAD(p) (*(p))

namespace {
constexpr int PER_BLOCK = 256;
typedef double real;
struct Sum {
    real v;
};
template <typename T> struct Zero {
    static __device__ T of() { return T(0); }
};

__device__ Sum add(Sum a, float b) { return {a.v + b}; }

__global__ void sums(float *__restrict__ to, const float *__restrict__ from, int width)
{
    extern __shared__ double part[];
    Sum s{Zero<double>::of()};
    for (int i = threadIdx.x; i < width; i += PER_BLOCK)
        s = add(s, LOAD(from + (size_t)blockIdx.x * width + i));
    part[threadIdx.x] = s.v;
    for (int k = PER_BLOCK / 2; k > 0; k /= 2) {
        __syncthreads();
        if (threadIdx.x < k)
            part[threadIdx.x] += part[threadIdx.x + k];
    }
    if (threadIdx.x == 0)
        to[blockIdx.x] = part[0];
}
} // namespace

extern "C" void row_sums(float *to, const float *from, int height, int width, cudaStream_t queue)
{
    sums<<<height, PER_BLOCK, PER_BLOCK * sizeof(double), queue>>>(to, from, width);
}
"""
GIVEN = {"short.cu": SHORT, "long.cu": LONG, "wrong.cu": LONG.replace("= part[0]", "= 1.01 * part[0]"),
         "broken.cu": LONG.replace("a.v + b", "nowhere"), "other.cu": LONG.replace("int height", "long long height")}
ROUNDS = ("--rounds", "1", "--candidates", "1", "--tune-budget", "0", "--min-mutation", "0", "--seed", "7", "--hidden-seed", "11")


def prepared(folder):
    write(os.path.join(folder, "task", "task.yaml"), TASK)
    write(os.path.join(folder, "task", "kernel.cu"), KERNEL)
    for name, text in GIVEN.items():
        write(os.path.join(folder, name), text)
    return [word for name in GIVEN for word in ("--also", name)]


def made(home):
    return said(astra(home, "optimize", "task", *ROUNDS, "--out", "run", *prepared(home)), 0)


@case
def each_shape_gets_its_version(folder):
    """Of two files, each the faster one for a workload, one is made; the others get their verdicts."""
    home, done = kept("run", made, subject=True)
    result = load(os.path.join(home, "run", "result.json"))
    expect(result["candidates"]["by_mind"]["also"] == len(GIVEN), result["candidates"])
    for name, verdict in {"wrong.cu": "wrong", "broken.cu": "compile-failed", "other.cu": "not-understood"}.items():
        expect(any(f" {verdict} " in line and f" {name}: " in line for line in done.err.splitlines()), f"{name} is not {verdict}:\n{done.err}")
    expect(all(w["speedup"] > 2 for w in result["workloads"]), result["workloads"])
    best = read(os.path.join(home, "run", "best.cu"))
    for word in ("sums_other", "row_sums_other", "Sum_other", "part_other", "At these sizes another version is the faster one."):
        expect(word in best, f"no {word} in\n{best}")
    expect("_original" not in best, "the original is in it, which is the slowest everywhere")
    said(astra(home, "report", "run"), 0)
    page = read(os.path.join(home, "run", "report.html"))
    expect("a file given with --also" in page and "short.cu" in page, "the report does not say who wrote what")
    said(astra(home, "verify", "run"), 0)


@rest
def goes_on_without_the_files(folder):
    """A run that was stopped judges the files as they were."""
    home, _ = kept("run", made, subject=True)
    also = prepared(folder)
    said(astra(folder, "optimize", "task", *ROUNDS, "--out", "run", *also, "--budget-time", "0.001s"), 3)
    for name in GIVEN:
        os.remove(os.path.join(folder, name))
    said(astra(folder, "resume", "run", "--budget-time", "10m"), 0)
    os.symlink(os.path.join(home, "run"), os.path.join(folder, "undisturbed"))
    same(folder, "run", "undisturbed")


@case
def a_file_that_is_not_there(folder):
    prepared(folder)
    said(astra(folder, "optimize", "task", "--also", "none.cu", "--out", "run"), 1, r"--also.*none\.cu")
    expect(not os.path.exists(os.path.join(folder, "run")), "a run was begun")


main()

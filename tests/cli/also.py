"""Versions that somebody wrote compete, and the best of several for each shape stands in one file."""

import os

from harness import astra, case, expect, kept, load, main, read, said, same, without_nvcc, write

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
SHORT = """#include <cuda_runtime.h>
#define PER_BLOCK 128

__global__ void sums(float *out, const float *in, int rows, int n)
{
    int row = blockIdx.x * PER_BLOCK + threadIdx.x;
    if (row >= rows)
        return;
    float s = 0.f;
    for (int i = 0; i < n; i++)
        s += in[(size_t)row * n + i];
    out[row] = s;
}

extern "C" void row_sums(float *out, const float *in, int rows, int n, cudaStream_t stream)
{
    sums<<<(rows + PER_BLOCK - 1) / PER_BLOCK, PER_BLOCK, 0, stream>>>(out, in, rows, n);
}
"""
LONG = """#include <cuda_runtime.h>

namespace {
constexpr int PER_BLOCK = 256;

__global__ void sums(float *__restrict__ to, const float *__restrict__ from, int width)
{
    __shared__ float part[PER_BLOCK / 32];
    float s = 0.f;
    for (int i = threadIdx.x; i < width; i += PER_BLOCK)
        s += from[(size_t)blockIdx.x * width + i];
    for (int k = 16; k > 0; k /= 2)
        s += __shfl_xor_sync(0xffffffffu, s, k);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        s = 0.f;
        for (int w = 0; w < PER_BLOCK / 32; w++)
            s += part[w];
        to[blockIdx.x] = s;
    }
}
} // namespace

extern "C" void row_sums(float *to, const float *from, int height, int width, cudaStream_t queue)
{
    sums<<<height, PER_BLOCK, 0, queue>>>(to, from, width);
}
"""
GIVEN = {"short.cu": SHORT, "long.cu": LONG, "wrong.cu": LONG.replace("to[blockIdx.x] = s", "to[blockIdx.x] = 1.01f * s"),
         "broken.cu": LONG.replace("float s = 0.f", "float s = nowhere"), "other.cu": LONG.replace("int height", "long long height")}
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
    home, done = kept("run", made)
    result = load(os.path.join(home, "run", "result.json"))
    expect(result["candidates"]["by_mind"]["also"] == len(GIVEN), result["candidates"])
    for name, verdict in {"wrong.cu": "wrong", "broken.cu": "compile-failed", "other.cu": "not-understood"}.items():
        expect(any(f" {verdict} " in line and f" {name}: " in line for line in done.err.splitlines()), f"{name} is not {verdict}:\n{done.err}")
    expect(all(w["speedup"] > 2 for w in result["workloads"]), result["workloads"])
    best = read(os.path.join(home, "run", "best.cu"))
    for word in ("sums_other", "row_sums_other", "PER_BLOCK_other", "At these sizes another version is the faster one."):
        expect(word in best, f"no {word} in\n{best}")
    expect("_original" not in best, "the original is in it, which is the slowest everywhere")
    said(astra(home, "report", "run"), 0)
    page = read(os.path.join(home, "run", "report.html"))
    expect("a file given with --also" in page and "short.cu" in page, "the report does not say who wrote what")
    said(astra(home, "verify", "run"), 0)


@case
def goes_on_without_the_files(folder):
    """A run that was stopped judges the files as they were."""
    home, _ = kept("run", made)
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

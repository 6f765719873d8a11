#!/usr/bin/env python3
"""Naive matrix products, one result a thread, optimised by the rules on the GPU of this machine:
tools/h200/products.py OUT_DIR [--types f32,f16] [--sizes 1024x1024x1024,...] [--device cuda] [--jobs N]

OUT_DIR/TYPE-MxNxK/ holds each task, OUT_DIR/run-TYPE-MxNxK its run. Prints a table with the floating-point operations a
second of both versions, and those of torch.matmul where torch is there (f32 without TF32). ASTRA: the binary.

With --variants [SETTINGS], no run: the transform block-product with each of these settings (default: SETTINGS below), or
with --files the given files, is compiled by nvcc for each of --archs, timed beside torch.matmul, and its result compared
with torch's. Nothing is judged. A setting that does not apply has no row. build/tools/apply, or what APPLY names, makes
the files.

With --beside LIBRARY, no run: one setting (of --variants, else of ONE below) is judged and timed by `astra bench --beside
LIBRARY`, and its time, the library's and torch's stand in a row, cold and hot. DIR/bench-*.json is what bench printed."""
import argparse
import concurrent.futures
import ctypes
import json
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = "1024x1024x1024,4096x4096x4096,8192x8192x8192,4096x4096x512,128x4096x4096"
TYPES = {  # of C, its header, an element as float, a float as element
    "f32": ("float", "cuda_runtime.h", "%s", "%s"),
    "f16": ("__half", "cuda_fp16.h", "__half2float(%s)", "__float2half(%s)"),
    "bf16": ("__nv_bfloat16", "cuda_bf16.h", "__bfloat162float(%s)", "__float2bfloat16(%s)"),
}
SETTINGS = {  # rows + 1000 columns + 1000000 blocks that share a depth + 10000000 stages
    "16": "128256,30128256,256128,128128,50128128,128064,80128064,64128,80064128,64064,40064064,2128128,4128128,"
          "2064128,80064128,2064064,4064064,2128256",
    "f32": "128128,64128,128064,64064,2128128,2064064,4064064"}
ONE = {"16": "30128256", "f32": "128128"}
KERNEL = """// c = a b, one result a thread.
#include <{header}>

__global__ void product_kernel({type} *c, const {type} *a, const {type} *b, int m, int n, int k)
{{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += {x} * {y};
    c[(long long)row * n + col] = {sum};
}}

extern "C" void product({type} *c, const {type} *a, const {type} *b, int m, int n, int k, cudaStream_t stream)
{{
    dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8);
    product_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
}}
"""
TASK = """name: product_{name}
source: kernel.cu
entry: product
args:
  - {{name: c, type: {name}, shape: [m, n], role: out}}
  - {{name: a, type: {name}, shape: [m, k], role: in}}
  - {{name: b, type: {name}, shape: [k, n], role: in}}
  - {{name: m, type: i32, value: m}}
  - {{name: n, type: i32, value: n}}
  - {{name: k, type: i32, value: k}}
dims: [m, n, k]
domain: [m >= 1, m <= 16384, n >= 1, n <= 16384, k >= 1, k <= 16384]
workloads:
  - [{m}, {n}, {k}]
"""


def make(folder, name, m, n, k):
    kind, header, load, store = TYPES[name]
    os.makedirs(folder, exist_ok=True)
    text = KERNEL.format(type=kind, header=header, x=load % "a[(long long)row * k + i]",
                         y=load % "b[(long long)i * n + col]", sum=store % "sum")
    with open(os.path.join(folder, "kernel.cu"), "w") as file:
        file.write(text)
    with open(os.path.join(folder, "task.yaml"), "w") as file:
        file.write(TASK.format(name=name, m=m, n=n, k=k))


def operands_of(torch, name, m, n, k):
    """Operands of several products, together several times the L2."""
    kind = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[name]
    size = (m * k + k * n + m * n) * kind.itemsize
    sets = min(256, max(4, (256 << 20) // size + 1))
    return [(torch.randn(m, k, device="cuda", dtype=kind), torch.randn(k, n, device="cuda", dtype=kind),
             torch.empty(m, n, device="cuda", dtype=kind)) for _ in range(sets)]


def graph_us(torch, operands, product):
    """The time of a product within a CUDA graph, inputs from DRAM as ours are: each of the graph's products has operands of
    its own."""
    def products():
        for a, b, c in operands:
            product(a, b, c)

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        products()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        products()
    times = []
    for _ in range(15):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1000 / len(operands))
    return sorted(times[4:])[5]


def torch_or_none():
    """torch, where it is there and sees a GPU."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    torch.backends.cuda.matmul.allow_tf32 = False
    return torch


def torch_us(name, m, n, k):
    """The time of torch.matmul; None without torch or a GPU."""
    torch = torch_or_none()
    if torch is None:
        return None
    return graph_us(torch, operands_of(torch, name, m, n, k), lambda a, b, c: torch.matmul(a, b, out=c))


def compiled(source, arch):
    """A file's library; None with nvcc's message where it does not compile."""
    library = f"{source[:-3]}.{arch}.so"
    done = subprocess.run(["nvcc", "-std=c++17", "-O3", f"-arch={arch}", "-shared", "-Xcompiler", "-fPIC", "-o", library,
                           source], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return (library, "") if done.returncode == 0 else (None, done.stdout)


def variant_files(args, astra, task, name):
    """What is timed: names and files."""
    if args.files:
        return [(os.path.basename(f), f) for f in args.files.split(",")]
    made = []
    for setting in (args.variants or (ONE if args.beside else SETTINGS)["f32" if name == "f32" else "16"]).split(","):
        done = subprocess.run([args.apply, task, "block-product", setting], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode == 0:
            made.append((setting, os.path.join(task, f"v{setting}.cu")))
            with open(made[-1][1], "w") as file:
                file.write(done.stdout)
    return made


def time_variants(args, astra, task, name, m, n, k):
    torch = torch_or_none()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        made = [(label, arch, pool.submit(compiled, path, arch))
                for label, path in variant_files(args, astra, task, name) for arch in args.archs.split(",")]
    if torch is None:
        for label, arch, library in made:
            print(f"| {name} {m}x{n}x{k} | {label} | {arch} | {library.result()[1].strip()[-200:] or 'compiled'} |")
        return
    operands = operands_of(torch, name, m, n, k)
    beside = graph_us(torch, operands, lambda a, b, c: torch.matmul(a, b, out=c))
    print(f"| {name} {m}x{n}x{k} | torch | - | {beside:.1f} | {2e-6 * m * n * k / beside:.1f} | 100 % | - |", flush=True)
    right = operands[0][0].float() @ operands[0][1].float()
    for label, arch, library in made:
        if library.result()[0] is None:
            print(f"| {name} {m}x{n}x{k} | {label} | {arch} | failed: {library.result()[1].strip()[-200:]} |", flush=True)
            continue
        launcher = ctypes.CDLL(library.result()[0]).product
        launcher.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int] * 3 + [ctypes.c_void_p]
        launcher.restype = None

        def product(a, b, c):
            launcher(c.data_ptr(), a.data_ptr(), b.data_ptr(), m, n, k, torch.cuda.current_stream().cuda_stream)

        operands[0][2].fill_(float("nan"))
        us = graph_us(torch, operands, product)
        off = ((operands[0][2].float() - right).abs().max() / right.abs().max()).item()
        print(f"| {name} {m}x{n}x{k} | {label} | {arch} | {us:.1f} | {2e-6 * m * n * k / us:.1f} | "
              f"{100 * beside / us:.0f} % | {off:.1e} |", flush=True)


def time_beside(args, astra, task, name, m, n, k):
    """The first file, the library and torch; torch goes round operands as a cold block does."""
    label, path = (variant_files(args, astra, task, name) + [("original", os.path.join(task, "kernel.cu"))])[0]
    done = subprocess.run([astra, "bench", task, path, "--device", args.device, "--beside", args.beside, "--json", "--quiet"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print(f"| {name} {m}x{n}x{k} | {label} | failed: {done.stderr.strip()[-300:]} |", flush=True)
        return
    with open(os.path.join(args.out, f"bench-{name}-{m}x{n}x{k}.json"), "w") as file:
        file.write(done.stdout)
    bench, torch = json.loads(done.stdout), torch_us(name, m, n, k)
    rows = [row for row in bench.get("beside", []) if row["version"] != "original"]
    if not rows:
        print(f"| {name} {m}x{n}x{k} | {label} | {bench['verdict']}: {bench['words']} |", flush=True)
    for row in rows:
        of = torch if row["regime"] == "cold" else None
        if row["us"] is None:
            print(f"| {name} {m}x{n}x{k} | {label} | {row['regime']} | no figure: {row['words']} |", flush=True)
            continue
        interval = "-" if row["low"] is None else f"{100 * row['low']:.1f} to {100 * row['high']:.1f} %"
        print(f"| {name} {m}x{n}x{k} | {label} | {row['regime']} | {row['version_us']:.1f} | {row['us']:.1f} | "
              f"{100 * row['share']:.1f} % | {interval} | {'-' if of is None else '%.1f' % of} | {row['library']} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("out")
    parser.add_argument("--types", default="f32,f16")
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rounds", default="2")
    parser.add_argument("--candidates", default="8")
    parser.add_argument("--jobs", default="0")
    parser.add_argument("--variants", nargs="?", const="")
    parser.add_argument("--files")
    parser.add_argument("--archs", default="sm_90a")
    parser.add_argument("--beside", metavar="LIBRARY")
    args = parser.parse_args()
    astra = os.environ.get("ASTRA", os.path.join(HERE, "../../build/astra"))
    args.apply = os.environ.get("APPLY", os.path.join(HERE, "../../build/tools/apply"))
    variants = args.files or args.variants is not None

    if args.beside:
        print("| product | version | regime | version us | library us | share | 95 % interval | torch us | library |")
        print("|---|---|---|---:|---:|---:|---|---:|---|", flush=True)
    elif variants:
        print("| product | version | for | us | TFLOP/s | of torch | off, of the largest |")
        print("|---|---|---|---:|---:|---:|---:|", flush=True)
    else:
        print("| product | original us | best us | speed-up | TFLOP/s | torch us | of torch | run |")
        print("|---|---|---|---|---|---|---|---|", flush=True)
    for name in args.types.split(","):
        for size in args.sizes.split(","):
            m, n, k = (int(x) for x in size.split("x"))
            task, run = (os.path.join(args.out, p + name + "-" + size) for p in ("", "run-"))
            make(task, name, m, n, k)
            if args.beside:
                time_beside(args, astra, task, name, m, n, k)
                continue
            if variants:
                time_variants(args, astra, task, name, m, n, k)
                continue
            shutil.rmtree(run, ignore_errors=True)
            done = subprocess.run([astra, "optimize", task, "--no-memory", "--device", args.device, "--rounds",
                                   args.rounds, "--candidates", args.candidates, "--out", run, "--json",
                                   "--trace", run + ".jsonl",
                                   *(["--jobs", args.jobs] if args.jobs != "0" else [])],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if done.returncode:
                print(f"| {name} {size} | failed: {done.stderr.strip().splitlines()[-1:]} |", flush=True)
                continue
            result = json.loads(done.stdout)
            w, beside = result["workloads"][0], torch_us(name, m, n, k)
            print(f"| {name} {size} | {w['baseline_us']:.1f} | {w['best_us']:.1f} | {w['speedup']:.1f}x | "
                  f"{2e-6 * m * n * k / w['best_us']:.1f} | {'-' if beside is None else '%.1f' % beside} | "
                  f"{'-' if beside is None else '%.0f %%' % (100 * beside / w['best_us'])} | {run} |", flush=True)


main()

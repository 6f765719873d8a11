#!/usr/bin/env python3
"""Naive attention, one thread a query, optimised by the rules on the GPU of this machine:
tools/h200/attention.py OUT_DIR [--types f16] [--shapes 64x64x1024,...] [--masks all,causal] [--device cuda]
                        [--settings 2064128,...] [--jobs N]

A shape is heads x numbers of a vector x queries. OUT_DIR/TYPE-MASK-SHAPE/ holds each task, OUT_DIR/run-... its run. Prints
a table with the floating-point operations a second of both versions, and torch's scaled_dot_product_attention where
torch is there. Operations are 4 x heads x queries x keys x numbers, half of it where later keys are hidden.

With --settings the transform `attention` alone is applied with each setting, and each version is timed beside the
original by `astra bench`, without a search; --settings all takes all that vectors of this length have.

ASTRA and APPLY: the binaries (build/astra, build/tools/apply)."""
import argparse
import json
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPES = "64x64x1024,16x64x4096,64x128x1024,16x128x4096,8x128x8192"
TYPES = {  # of C, its header, an element as float, a float as element
    "f32": ("float", "cuda_runtime.h", "%s", "%s"),
    "f16": ("__half", "cuda_fp16.h", "__half2float(%s)", "__float2half(%s)"),
    "bf16": ("__nv_bfloat16", "cuda_bf16.h", "__bfloat162float(%s)", "__float2bfloat16(%s)"),
}
KERNEL = """// softmax(q k^T / sqrt(numbers)) v, one query a thread.
#include <{header}>

constexpr int D = {depth};

__global__ void attention_kernel({type} *out, const {type} *q, const {type} *k, const {type} *v, int n, float scale)
{{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const size_t head = (size_t)blockIdx.y * n * D;
    const {type} *own = q + head + (size_t)i * D;
    float most = -INFINITY, sum = 0.0f, acc[D] = {{0.0f}};
    for (int j = 0; j < {end}; j++) {{
        float score = 0.0f;
        for (int d = 0; d < D; d++)
            score += {own} * {key};
        score *= scale;
        const float top = fmaxf(most, score), back = expf(most - top), weight = expf(score - top);
        sum = sum * back + weight;
        for (int d = 0; d < D; d++)
            acc[d] = acc[d] * back + weight * {value};
        most = top;
    }}
    for (int d = 0; d < D; d++)
        out[head + (size_t)i * D + d] = {result};
}}

extern "C" void attention({type} *out, const {type} *q, const {type} *k, const {type} *v, int heads, int n,
                          cudaStream_t stream)
{{
    attention_kernel<<<dim3((n + 63) / 64, heads), 64, 0, stream>>>(out, q, k, v, n, 1.0f / sqrtf((float)D));
}}
"""
TASK = """name: attention_{name}
source: kernel.cu
entry: attention
args:
  - {{name: out, type: {name}, shape: [heads, n, {depth}], role: out}}
  - {{name: q, type: {name}, shape: [heads, n, {depth}], role: in}}
  - {{name: k, type: {name}, shape: [heads, n, {depth}], role: in}}
  - {{name: v, type: {name}, shape: [heads, n, {depth}], role: in}}
  - {{name: heads, type: i32, value: heads}}
  - {{name: n, type: i32, value: n}}
dims: [heads, n]
domain: [heads >= 1, heads <= 4096, n >= 1, n <= 16384]
workloads:
  - [{heads}, {n}]
"""


def make(folder, name, mask, heads, depth, n):
    kind, header, load, store = TYPES[name]
    os.makedirs(folder, exist_ok=True)
    text = KERNEL.format(type=kind, header=header, depth=depth, end="i + 1" if mask == "causal" else "n",
                         own=load % "own[d]", key=load % "k[head + (size_t)j * D + d]",
                         value=load % "v[head + (size_t)j * D + d]", result=store % "acc[d] / sum")
    with open(os.path.join(folder, "kernel.cu"), "w") as file:
        file.write(text)
    with open(os.path.join(folder, "task.yaml"), "w") as file:
        file.write(TASK.format(name=name, depth=depth, heads=heads, n=n))


def operations(mask, heads, depth, n):
    return 4.0 * heads * depth * n * n / (2 if mask == "causal" else 1)


def torch_us(name, mask, heads, depth, n):
    """The time of torch's attention within a CUDA graph, inputs from DRAM as ours are; None without torch or a GPU. Each
    one in the graph has operands of its own, together several times the L2. The best of torch's ways counts."""
    try:
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:
        return None, "-"
    if not torch.cuda.is_available():
        return None, "-"
    kind = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[name]
    size = 4 * heads * n * depth * kind.itemsize
    sets = min(64, max(2, (256 << 20) // size + 1))
    operands = [[torch.randn(1, heads, n, depth, device="cuda", dtype=kind) for _ in range(3)] for _ in range(sets)]
    best, way = None, "-"
    for backend in ("CUDNN_ATTENTION", "FLASH_ATTENTION", "EFFICIENT_ATTENTION"):
        try:
            with sdpa_kernel(getattr(SDPBackend, backend)):
                us = graph_us(torch, operands, mask == "causal")
        except (RuntimeError, AttributeError):
            continue
        if best is None or us < best:
            best, way = us, backend.split("_")[0].lower()
    return best, way


def graph_us(torch, operands, causal):
    def attend():
        for q, k, v in operands:
            torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        attend()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        attend()
    times = []
    for _ in range(15):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1000 / len(operands))
    return sorted(times[4:])[5]


def row(cells):
    print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)


def rates(us, mask, shape):
    return "-" if us is None else f"{1e-6 * operations(mask, *shape) / us:.0f}"


def searched(args, task, run):
    """The whole run; the original's and the best's time."""
    shutil.rmtree(run, ignore_errors=True)
    done = subprocess.run([args.astra, "optimize", task, "--no-memory", "--device", args.device, "--rounds", args.rounds,
                           "--candidates", args.candidates, "--out", run, "--json",
                           "--trace", run + ".jsonl",
                           *(["--jobs", args.jobs] if args.jobs != "0" else [])],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1:]
    w = json.loads(done.stdout)["workloads"][0]
    return (w["baseline_us"], w["best_us"]), os.path.basename(run)


def applied(args, task, settings):
    """Each setting's version by itself beside the original: (setting, (original's, its time) or None, verdict)."""
    if settings == ["all"]:
        listed = subprocess.run([args.apply, task, "attention"], stdout=subprocess.PIPE, text=True, check=True).stdout
        settings = [line.split("\t")[0] for line in listed.splitlines() if line[:1].isdigit()]
    for setting in settings:
        version = os.path.join(task, setting + ".cu")
        made = subprocess.run([args.apply, task, "attention", setting], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
        if made.returncode:
            yield setting, None, made.stderr.strip()
            continue
        with open(version, "w") as file:
            file.write(made.stdout)
        done = subprocess.run([args.astra, "bench", task, version, "--device", args.device, "--json", "--quiet"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            result = json.loads(done.stdout)
            w = result["workloads"][0]
            yield setting, (w["baseline_us"], w["best_us"]), result["verdict"]
        except (ValueError, KeyError, IndexError):
            yield setting, None, (done.stderr.strip() or done.stdout.strip())[-200:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("out")
    parser.add_argument("--types", default="f16")
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--masks", default="all,causal")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rounds", default="1")
    parser.add_argument("--candidates", default="6")
    parser.add_argument("--jobs", default="0")
    parser.add_argument("--settings", default="")
    args = parser.parse_args()
    args.astra = os.environ.get("ASTRA", os.path.join(HERE, "../../build/astra"))
    args.apply = os.environ.get("APPLY", os.path.join(HERE, "../../build/tools/apply"))

    row(["attention", "original us", "best us", "speed-up", "TFLOP/s", "torch us", "torch TFLOP/s", "of torch", "by"])
    print("|---" * 9 + "|", flush=True)
    for name in args.types.split(","):
        for text in args.shapes.split(","):
            for mask in args.masks.split(","):
                heads, depth, n = shape = [int(x) for x in text.split("x")]
                task, run = (os.path.join(args.out, p + f"{name}-{mask}-{text}") for p in ("", "run-"))
                make(task, name, mask, heads, depth, n)
                beside, way = torch_us(name, mask, *shape)
                if args.settings:
                    results = applied(args, task, args.settings.split(","))
                else:
                    times, told = searched(args, task, run)
                    results = [(told, times, "passed")]
                for what, times, verdict in results:
                    if times is None or times[1] is None:
                        row([f"{name} {mask} {text}", what, f"failed: {verdict}"])
                        continue
                    row([f"{name} {mask} {text}", f"{times[0]:.1f}", f"{times[1]:.1f}", f"{times[0] / times[1]:.1f}x",
                         rates(times[1], mask, shape), "-" if beside is None else f"{beside:.1f} ({way})",
                         rates(beside, mask, shape), "-" if beside is None else f"{100 * beside / times[1]:.0f} %",
                         what if verdict == "passed" else f"{what}: {verdict}"])


main()

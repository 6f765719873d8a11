#!/usr/bin/env python3
"""Products of matrices in many forms, each beside cuBLAS on the GPU of this machine: tools/h200/beside_forms.py OUT_DIR
[--only NAME,...] [--size MxNxK]

Rows and columns either way, batches, a vector, every type that cuBLAS has: a form whose transposition, step or type was
misread has no figure. OUT_DIR/NAME is the task. The last line is `N passed, N failed`. ASTRA: the binary."""
import argparse
import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ELEMENTS = {  # of C, its header, an element in the sum's type, a sum as element
    "f32": ("float", "cuda_runtime.h", "%s", "%s"), "f64": ("double", "cuda_runtime.h", "%s", "%s"),
    "f16": ("__half", "cuda_fp16.h", "__half2float(%s)", "__float2half(%s)"),
    "bf16": ("__nv_bfloat16", "cuda_bf16.h", "__bfloat162float(%s)", "__float2bfloat16(%s)"),
    "i8": ("signed char", "cuda_runtime.h", "(int)%s", "%s"), "i32": ("int", "cuda_runtime.h", "%s", "%s"),
}
# Name: element, of the result, a by columns, b by columns, c by columns, products, b shared by all of them, what is stored.
FORMS = {
    "f32-nn": ("f32", "f32", 0, 0, 0, 1, 0, "{sum}"), "f32-tn": ("f32", "f32", 1, 0, 0, 1, 0, "{sum}"),
    "f32-nt": ("f32", "f32", 0, 1, 0, 1, 0, "{sum}"), "f32-tt": ("f32", "f32", 1, 1, 0, 1, 0, "{sum}"),
    "f32-columns": ("f32", "f32", 0, 1, 1, 1, 0, "{sum}"), "f32-scale": ("f32", "f32", 0, 0, 0, 1, 0, "0.125f * {sum}"),
    "f32-relu": ("f32", "f32", 0, 0, 0, 1, 0, "fmaxf({sum}, 0.0f)"),
    "f16-batch": ("f16", "f16", 0, 0, 0, 6, 0, "{sum}"), "f16-batch-nt": ("f16", "f16", 0, 1, 0, 6, 0, "{sum}"),
    "f16-shared": ("f16", "f16", 0, 0, 0, 6, 1, "{sum}"), "f16-f32": ("f16", "f32", 0, 0, 0, 1, 0, "{sum}"),
    "bf16-nt": ("bf16", "bf16", 0, 1, 0, 1, 0, "{sum}"), "bf16-f32": ("bf16", "f32", 0, 0, 0, 1, 0, "{sum}"),
    "f64-nn": ("f64", "f64", 0, 0, 0, 1, 0, "{sum}"), "i8-nt": ("i8", "i32", 0, 1, 0, 1, 0, "{sum}"),
}
KERNEL = """#include <{header}>

__global__ void product_kernel({to} *c, const {of} *a, const {of} *b, int m, int n, int k)
{{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    {sum} sum = 0;
    for (int i = 0; i < k; i++)
        sum += {x} * {y};
    c[{z}] = {stored};
}}

extern "C" void product({to} *c, const {of} *a, const {of} *b, int m, int n, int k, cudaStream_t stream)
{{
    dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8, {batch});
    product_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
}}
"""
TASK = """name: {name}
source: kernel.cu
entry: product
args:
  - {{name: c, type: {to}, shape: [{batch}, m, n], role: out}}
  - {{name: a, type: {of}, shape: [{batch}, m, k], role: in}}
  - {{name: b, type: {of}, shape: [{batch_b}, k, n], role: in}}
  - {{name: m, type: i32, value: m}}
  - {{name: n, type: i32, value: n}}
  - {{name: k, type: i32, value: k}}
dims: [m, n, k]
domain: [m >= 1, m <= {most}, n >= 1, n <= {most}, k >= 1, k <= {most}]
workloads:
  - [{m}, {n}, {k}]
"""


def index(columns, down, along, at_down, at_along, batch):
    of = f"(long long){at_along} * {down} + {at_down}" if columns else f"(long long){at_down} * {along} + {at_along}"
    return f"(long long)blockIdx.z * {down} * {along} + {of}" if batch else of


def make(folder, name, m, n, k):
    of, to, a, b, c, batch, shared, stored = FORMS[name]
    kind, header, load, _ = ELEMENTS[of]
    many = batch > 1
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "kernel.cu"), "w") as file:
        file.write(KERNEL.format(
            header=header, of=kind, to=ELEMENTS[to][0], batch=batch, sum={"f64": "double", "i8": "int"}.get(of, "float"),
            x=load % f"a[{index(a, 'm', 'k', 'row', 'i', many)}]", y=load % f"b[{index(b, 'k', 'n', 'i', 'col', many and not shared)}]",
            z=index(c, "m", "n", "row", "col", many), stored=ELEMENTS[to][3] % stored.format(sum="sum")))
    with open(os.path.join(folder, "task.yaml"), "w") as file:
        file.write(TASK.format(name=name.replace("-", "_"), of=of, to=to, batch=batch, batch_b=1 if shared else batch, m=m, n=n, k=k,
                               most=max(m, n, k)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("out")
    parser.add_argument("--only", default=",".join(FORMS))
    parser.add_argument("--size", default="384x512x256")
    args = parser.parse_args()
    astra = os.environ.get("ASTRA", os.path.join(HERE, "../../build/astra"))
    passed = failed = 0

    for name in args.only.split(","):
        task = os.path.join(args.out, name)
        make(task, name, *(int(x) for x in args.size.split("x")))
        done = subprocess.run([astra, "bench", task, "--device", "cuda", "--beside", "cublas", "--json", "--quiet"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        row = json.loads(done.stdout)["beside"][0] if done.returncode == 0 else {"us": None, "words": done.stderr.strip()}
        right = row["us"] is not None
        passed += right
        failed += not right
        print(f"{'ok' if right else 'not ok'} - {name}: " + (f"{row['library']} {row['us']:.2f} us, {100 * row['share']:.1f} %"
                                                             if right else row.get("words", "no figure")), flush=True)
    print(f"{passed} passed, {failed} failed")


main()

"""The whole program with a GPU, over the driver of tests/fakecuda (FAKE_DRIVER and FAKE_NVML in the environment)."""

import json
import os
import shutil

from harness import (ASTRA, KERNEL, ROOT, TASK, astra, case, cases, environment, expect, gpu_environment, load, main, rest, said,
                     small_gpu_task, small_task, without_nvcc, write)

without_nvcc()

QUICK = ("--rounds", "1", "--candidates", "1", "--jobs", "1")


@case
def optimize_measures(folder):
    """The result is a measured one, confirmed, and stays on its GPU."""
    small_gpu_task(folder)
    done = said(astra(folder, "optimize", "task", "--out", "run", *QUICK, env=gpu_environment()), 0, "device: cuda:0, times are measured")
    result = load(os.path.join(folder, "run", "result.json"))
    device = result["device"]
    expect(device["kind"] == "cuda" and device["basis"] == "measured" and device["uuid"] and device["driver"], device)
    expect(device["model"] == "h200" and device["same_model"] and result["clocks"]["sm_mhz"] > 0, result)
    expect(result["noise"]["low"] <= 1 <= result["noise"]["high"], result["noise"])
    expect(result["outcome"] == "improved" and result["verification"]["hidden"] > 0, result)
    speedup = result["speedup"]
    expect(1 < speedup["low"] <= speedup["geomean"] <= speedup["high"], speedup)
    for row in result["workloads"] + result["other_regime"]:
        expect(row["low"] <= row["speedup"] <= row["high"] and row["light_us"] > 0, row)
    expect("measured on NVIDIA H200" in done.out, done.out)
    shown = json.loads(said(astra(folder, "show", "run", "--json", env=gpu_environment()), 0).out)
    expect(shown == result, shown)


@case
def a_run_stays_on_its_gpu(folder):
    small_gpu_task(folder)
    said(astra(folder, "optimize", "task", "--out", "run", *QUICK, "--budget-time", "1s", "--quiet", env=gpu_environment()), 3)
    said(astra(folder, "resume", "run", env=gpu_environment(FAKECUDA_UUID="0")), 2, "began on NVIDIA H200", "do not compare")


@rest
def a_lost_gpu_ends_the_run(folder):
    """With its own words, and what was stored stays."""
    small_gpu_task(folder)
    env = gpu_environment(FAKECUDA_FAIL="cuLaunchKernel=214@2000")
    said(astra(folder, "optimize", "task", "--device", "cuda", "--out", "run", *QUICK, env=env), 1, "memory failed",
         "`astra resume run` goes on")
    said(astra(folder, "resume", "run", env=gpu_environment()), 0)


@rest
def what_only_the_workload_shows(folder):
    """A kernel that skips work on one exact shape, larger than any case."""
    small_task(folder, TASK.replace("  - [64, 512]\n", "").replace("[256, 1024]", "[1100, 1000]")
               .replace("rows <= 4096", "rows <= 1100").replace("d >= 1, d <= 4096", "d >= 1000, d <= 1000"))
    lazy = KERNEL.replace("if (i < rows * d)", "if (i < rows * d && !(rows == 1100 && d == 1000 && i / 512 == 100))")
    write(os.path.join(folder, "lazy.cu"), lazy)
    for env, where in ((gpu_environment(), "on the GPU: "), (environment(), "")):
        done = said(astra(folder, "bench", "task", "lazy.cu", "--json", "--quiet", env=env), 0)
        bench = json.loads(done.out)
        expect(bench["verdict"] == "wrong" and bench["words"].startswith(where + "element 51200 of out is never written"), bench)


@rest
def promised_orders_hold_where_it_is_timed(folder):
    """A permutation is one in the timed launches as well: their inputs are whole buffers, not pieces of a tile."""
    write(os.path.join(folder, "task.yaml"), open(os.path.join(ROOT, "tests", "tasks", "invert_order", "task.yaml"), encoding="utf-8").read()
          .replace("[16, 4096]", "[2, 900]").replace("  - [40, 32768]", "#").replace("rows <= 65535", "rows <= 4").replace("n <= 65536", "n <= 1000"))
    shutil.copy(os.path.join(ROOT, "tests", "tasks", "invert_order", "kernel.cu"), folder)
    shutil.copy(os.path.join(ROOT, "tests", "legit", "invert_order", "exchanged.cu"), folder)
    done = said(astra(folder, "bench", ".", "exchanged.cu", "--json", "--quiet", env=gpu_environment()), 0)
    bench = json.loads(done.out)
    expect(bench["verdict"] in ("passed", "slower"), bench["words"])


@rest
def two_gpus(folder):
    """Each has a control of its own before it judges; the last race is on the first."""
    small_gpu_task(folder)
    env = gpu_environment(FAKECUDA_DEVICES="2")
    said(astra(folder, "optimize", "task", "--device", "cuda:all", "--out", "run", "--rounds", "1", "--candidates", "2", "--jobs", "2", env=env), 0)
    result = load(os.path.join(folder, "run", "result.json"))
    expect(result["device"]["index"] == 0 and result["outcome"] == "improved", result["device"])


@rest
def workers_that_measure(folder):
    """Commands with a GPU, and one that only simulates; what was confirmed says where."""
    small_gpu_task(folder)
    nodes = [{"name": "gpu", "command": [ASTRA, "node"], "roles": ["measure"], "trusted": True},
             {"name": "other", "command": ["env", "FAKECUDA_NAME=NVIDIA A100", ASTRA, "node"], "roles": ["measure"]},
             {"name": "core", "command": [ASTRA, "node"]}]
    write(os.path.join(folder, "workers.yaml"), json.dumps({"workers": nodes}))
    env = gpu_environment(XDG_CACHE_HOME=os.path.join(folder, "cache"))
    done = said(astra(folder, "optimize", "task", "--workers", "workers.yaml", "--out", "run", "--rounds", "1", "--candidates", "1", env=env), 0,
                "other is left out: it judges on an NVIDIA A100")
    result = load(os.path.join(folder, "run", "result.json"))
    expect(result["device"]["basis"] == "measured" and result["verification"]["confirmed_by"] == {"worker": "gpu", "trusted": True}, done.out)


@case
def auto_without_a_gpu(folder):
    small_gpu_task(folder)
    said(astra(folder, "check", "task"), 0, "device: sim:h200, times are modelled")


@cases([("cuda:7", 2, "no GPU 7"), ("cuda:x", 2, "names no GPU"), ("cuda:", 2, "names no GPU"), ("cuda:0,", 2, "names no GPU"),
        ("cudax", 2, "is no device"), ("gpu", 2, "is no device")])
def devices_that_are_not_there(folder, row):
    small_gpu_task(folder)
    said(astra(folder, "check", "task", "--device", row[0], env=gpu_environment()), row[1], row[2])


@case
def no_gpu_at_all(folder):
    small_gpu_task(folder)
    said(astra(folder, "check", "task", "--device", "cuda", env=gpu_environment(FAKECUDA_DEVICES="0")), 1, "no GPU can be used")
    said(astra(folder, "check", "task", "--device", "cuda"), 1, "no GPU can be used", "driver")


@case
def out_of_memory(folder):
    small_gpu_task(folder)
    said(astra(folder, "check", "task", "--device", "cuda", env=gpu_environment(FAKECUDA_FAIL="cuMemCreate=2@9")), 1, "out of memory")


PRODUCT = """#include <cuda_runtime.h>

__global__ void product_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += a[(long long)row * k + i] * b[(long long)i * n + col];
    c[(long long)row * n + col] = sum;
}

extern "C" void product(float *c, const float *a, const float *b, int m, int n, int k, cudaStream_t stream)
{
    dim3 block(2, 1), grid((n + 1) / 2, m);
    product_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
}
"""
PRODUCT_TASK = """name: product
source: kernel.cu
entry: product
args:
  - {name: c, type: f32, shape: [m, n], role: out}
  - {name: a, type: f32, shape: [m, k], role: in}
  - {name: b, type: f32, shape: [k, n], role: in}
  - {name: m, type: i32, value: m}
  - {name: n, type: i32, value: n}
  - {name: k, type: i32, value: k}
dims: [m, n, k]
domain: [m >= 1, m <= 16, n >= 1, n <= 16, k >= 1, k <= 8]
workloads:
  - [12, 16, 8]
"""


def product_task(folder, stored="sum"):
    small_task(folder, PRODUCT_TASK, PRODUCT.replace("= sum;", f"= {stored};"))
    write(os.path.join(folder, "wide.cu"), PRODUCT.replace("= sum;", f"= {stored};").replace("block(2, 1)", "block(4, 8)")
          .replace("(n + 1) / 2, m", "(n + 3) / 4, (m + 7) / 8"))


def beside(folder, *more, **env):
    """What bench prints, with a library beside."""
    return said(astra(folder, "bench", "task", *more, "--beside", "cublas", "--quiet", env=gpu_environment(**env)), 0).out


def holds(text, *parts):
    for part in parts:
        expect(part in text, f"no {part!r} in {text}")


@case
def a_library_beside_versions(folder):
    """Its time and the share of its speed, workload by workload, cold and hot, of the original and of a version."""
    product_task(folder)
    done = json.loads(beside(folder, "wide.cu", "--json"))
    rows = done["beside"]
    expect([r["version"] for r in rows] == ["original"] * 2 + ["wide.cu"] * 2, rows)
    expect([(r["dims"], r["regime"]) for r in rows[2:]] == [({"m": 12, "n": 16, "k": 8}, regime) for regime in ("cold", "hot")], rows)
    for row in rows:
        expect(row["library"] == "cuBLAS 12.3.4" and "words" not in row, row)
        expect(abs(row["share"] / (row["us"] / row["version_us"]) - 1) < 0.1, row)
        # A machine with much else to do has pairs for no interval.
        expect(row["low"] is None or row["low"] <= row["share"] <= row["high"], row)
    holds(beside(folder, "wide.cu"), "m=12 n=16 k=8, cold: beside cuBLAS 12.3.4 ", "this version has ", " % of its speed", ", the original ")


@case
def what_a_library_leaves_out(folder):
    """The product alone is timed, and compared with sums added up here."""
    product_task(folder, "fmaxf(sum, 0.0f)")
    done = json.loads(beside(folder, "--json"))
    expect(all(r["us"] > 0 and "cuBLAS does the product alone" in r["words"] for r in done["beside"]), done["beside"])
    done = json.loads(beside(folder, "--json", FAKECUBLAS_TURNED="1"))
    expect(all(r["us"] is None and "differs" in r["words"] for r in done["beside"]), done["beside"])


@cases([({"FAKECUBLAS_TURNED": "1"}, "its result is not the original's: a timed launch left element"),
        ({"FAKECUBLAS_FAIL": "15"}, "it does not take this product"), ({"FAKECUBLAS_SILENT": "1"}, "launched nothing")], every=3)
def no_figure_of_a_library(folder, row):
    """The version is judged as ever, and the words say why."""
    product_task(folder)
    holds(beside(folder, "wide.cu", "--markdown", **row[0]), "| m=12 n=16 k=8 | hot | cuBLAS 12.3.4 | - |", row[1], "verdict: passed")


@cases([(("cublas", "--device", "sim"), {}, 2, "runs on a GPU alone"), (("blis",), {}, 2, 'no library "blis" is known; cublas is'),
        (("cublas",), {"ASTRA_CUBLAS": "/nowhere.so"}, 1, "ASTRA_CUBLAS=/nowhere.so is no usable cuBLAS")])
def libraries_that_cannot_be(folder, row):
    product_task(folder)
    said(astra(folder, "bench", "task", "--beside", *row[0], env=gpu_environment(**row[1])), row[2], row[3])


@case
def a_library_that_does_something_else(folder):
    small_gpu_task(folder)
    said(astra(folder, "bench", "task", "--beside", "cublas", env=gpu_environment()), 2, "the original is no product that cuBLAS computes",
         "whose threads each add")
    said(astra(folder, "optimize", "task", "--beside", "cublas", "--out", "run", *QUICK, env=gpu_environment()), 2, "is no product that cuBLAS computes")


@case
def a_library_beside_the_best(folder):
    """In the result, its summary and the page; where the original stays, beside that."""
    product_task(folder)
    done = said(astra(folder, "optimize", "task", "--also", "wide.cu", "--beside", "cublas", "--out", "run", *QUICK, "--min-mutation", "0",
                      "--tune-budget", "0", env=gpu_environment()), 0)
    holds(done.out, "cold: beside cuBLAS 12.3.4 ", ", the original ")
    result = load(os.path.join(folder, "run", "result.json"))
    expect(result["outcome"] == "improved" and {r["version"] for r in result["beside"]} == {"original", "best"}, done.out)
    said(astra(folder, "report", "run", "--out", "page.html"), 0)
    expect("Beside a library" in open(os.path.join(folder, "page.html"), encoding="utf-8").read(), "no table")
    holds(said(astra(folder, "report", "run", "--markdown"), 0).out, "Beside a library:", "| cuBLAS 12.3.4 |")


@rest
def a_library_beside_an_original_that_stays(folder):
    product_task(folder)
    shutil.copy(os.path.join(folder, "wide.cu"), os.path.join(folder, "task", "kernel.cu"))
    said(astra(folder, "optimize", "task", "--beside", "cublas", "--out", "run", *QUICK, env=gpu_environment()), 0)
    result = load(os.path.join(folder, "run", "result.json"))
    versions = {r["version"] for r in result["beside"]}
    expect(versions == ({"original"} if result["outcome"] == "unchanged" else {"original", "best"}), result["beside"])


main()

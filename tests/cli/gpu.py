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


main()

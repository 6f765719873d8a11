"""The recordings of examples/recordings, written by hand, played through whole runs."""

import glob
import json
import os

from harness import ROOT, astra, cases, expect, load, main, read, said, without_nvcc

without_nvcc()

KERNELS = ["silu_and_mul", "fused_add_rmsnorm", "merge_attn_states"]


def recordings(kernel):
    return os.path.join(ROOT, "examples", "recordings", kernel)


@cases(KERNELS, every=0)
def plays(folder, kernel):
    mutants = () if kernel == KERNELS[0] else ("--min-mutation", "0")  # one asks how many faults the suite notices
    said(astra(folder, "optimize", os.path.join(ROOT, "examples", kernel), "--device", "sim", "--agents", "llm",
               "--provider", "replay", "--replay", recordings(kernel), "--rounds", "2", "--candidates", "2",
               "--hidden-seed", "1", "--out", "run", *mutants, timeout=900), 0)
    r = load(os.path.join(folder, "run", "result.json"))
    verdicts = r["candidates"]["by_verdict"]
    expect(r["outcome"] == "improved" and r["speedup"]["geomean"] > 2, r["speedup"])
    for verdict in ("wrong", "compile-failed", "cheat"):
        expect(verdicts.get(verdict) == 1, f"{verdict}: {verdicts}")
    expect(r["candidates"]["by_mind"]["llm"] >= 5, r["candidates"])
    expect(r["cost"]["usd"] == 0 and r["cost"]["calls"] == 8, r["cost"])


@cases(KERNELS)
def is_said_to_be_by_hand(_folder, kernel):
    files = glob.glob(os.path.join(recordings(kernel), "*.json"))
    expect(len(files) >= 14, files)
    for path in files:
        o = json.loads(read(path))
        expect("by hand" in o["note"] and "by-hand" in o["reply"]["model"], f"{path} does not say who wrote it")


main()

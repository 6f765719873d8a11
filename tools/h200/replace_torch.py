"""A transformer in PyTorch three of whose operators are CUDA kernels of ours, for tools/h200/replace_torch.sh:

    replace_torch.py program LIBS [--steps N]    runs it; prints `tokens/s: X` and what it computed
    replace_torch.py table OUT                   the table, from the files in OUT

LIBS is a folder with silu.so, rms.so and rotary.so, each a kernel file as nvcc builds it, whose launcher is called from
here. The layers are eager; a step is a prefill of 8 x 512 tokens and 4 passes of 8 tokens."""

import ctypes
import json
import os
import sys
import time

LAYERS, DIM, HEADS, BATCH, LENGTH = 8, 2048, 16, 8, 512
KERNELS = ("rms", "silu", "rotary")


def launchers(folder, torch):
    """The three launchers, as functions of tensors that are contiguous."""
    libs = {name: ctypes.CDLL(os.path.join(folder, name + ".so")) for name in KERNELS}

    def pointer(tensor):
        return ctypes.c_void_p(tensor.data_ptr())

    def stream():
        return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def rms(x, residual, weight):
        libs["rms"].fused_add_rmsnorm(pointer(x), pointer(residual), pointer(weight), x.numel() // DIM, DIM, ctypes.c_float(1e-5), stream())

    def silu(x):
        d = x.shape[-1] // 2
        out = torch.empty(x.shape[:-1] + (d,), dtype=x.dtype, device=x.device)
        libs["silu"].silu_and_mul(pointer(out), pointer(x), out.numel() // d, d, stream())
        return out

    def rotary(x, cosine, sine):
        libs["rotary"].rotary_embedding(pointer(x), pointer(cosine), pointer(sine), cosine.shape[0], HEADS, DIM // HEADS // 2, stream())

    return rms, silu, rotary


def program(folder, steps):
    import torch  # pylint: disable=import-outside-toplevel
    import torch.nn.functional as F  # pylint: disable=import-outside-toplevel

    torch.manual_seed(1)
    rms, silu, rotary = launchers(folder, torch)
    options = {"device": "cuda", "dtype": torch.bfloat16}
    layers = [{name: torch.randn(n, m, **options) * m ** -0.5
               for name, n, m in (("q", DIM, DIM), ("k", DIM, DIM), ("v", DIM, DIM), ("out", DIM, DIM), ("up", 8 * DIM, DIM), ("down", DIM, 4 * DIM))}
              for _ in range(LAYERS)]
    weight = torch.ones(DIM, **options)
    angles = torch.outer(torch.arange(LENGTH, device="cuda").float(), 10000.0 ** -(torch.arange(DIM // HEADS // 2, device="cuda").float() / (DIM // HEADS // 2)))

    def forward(tokens):
        batch, length, _ = tokens.shape
        cosine, sine = (f(angles[:length]).repeat(batch, 1).contiguous() for f in (torch.cos, torch.sin))
        x, residual = torch.zeros_like(tokens), tokens.clone()
        for w in layers:
            rms(x, residual, weight)
            q, k, v = (F.linear(x, w[name]) for name in "qkv")
            rotary(q, cosine, sine)
            rotary(k, cosine, sine)
            q, k, v = (t.view(batch, length, HEADS, -1).transpose(1, 2) for t in (q, k, v))
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = F.linear(a.transpose(1, 2).reshape(tokens.shape), w["out"])
            rms(x, residual, weight)
            x = F.linear(silu(F.linear(x, w["up"])), w["down"])
        return x + residual

    prompt, token = torch.randn(BATCH, LENGTH, DIM, **options), torch.randn(BATCH, 1, DIM, **options)

    def step():
        out = forward(prompt)
        for _ in range(4):
            forward(token)
        return out

    with torch.inference_mode():
        for _ in range(3):
            out = step()
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(steps):
            out = step()
        torch.cuda.synchronize()
        took = time.perf_counter() - began
    print(f"tokens/s: {steps * BATCH * (LENGTH + 4) / took:.1f}")
    print(f"answer: {float(out.float().abs().mean()):.6f}")


# ---- the table ----


def load(*path):
    try:
        with open(os.path.join(*path), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def text(*path):
    try:
        with open(os.path.join(*path), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def alone(result):
    speedup = result["speedup"]
    interval = f" ({speedup['low']:.3f} to {speedup['high']:.3f})" if speedup["low"] else ""
    return f"{speedup['geomean']:.2f}x{interval}, {result['outcome']}"


def table(out):
    ranking = load(out, "ranking.json")
    shares = {}
    for kernel in (ranking or {"kernels": []})["kernels"]:
        shares[kernel["symbol"]] = kernel["share"] or 0
    report = load(out, "replace.json")
    by_task = {k["task"]: k for k in (report or {"kernels": []})["kernels"]}
    print("kernel    share of the GPU's time   alone, on the program's shapes by their weights   launches in the program")
    gained = 0
    for name in KERNELS:
        result = load(out, name + ".json")
        row = by_task.get(name)
        share = shares.get(row["symbol"], 0) if row else 0
        counts = "; ".join(f"{n} {words}" for words, n in row["launches"].items() if n and words != "processes") if row else "not put back"
        if result and row:
            gained += share * (1 - 1 / result["speedup"]["geomean"])
        print(f"{name:9} {100 * share:22.1f} %   {alone(result) if result else 'no result':48} {counts}")
    if report and report.get("ratio"):
        low, high = report["low"] or float("nan"), report["high"] or float("nan")
        print(f"tokens/s, {report['pairs']} pairs: {report['as_it_is']:.1f} as it is, {report['replaced']:.1f} replaced: {report['ratio']:.4f}x, 95 % interval {low:.4f} to {high:.4f}")
        print(f"by the shares and the speed-ups alone, were the GPU never waiting: {1 / (1 - gained):.4f}x")
    print(f"answers: as it is {text(out, 'alone.txt').split('answer: ')[-1].split()[:1]}, replaced {text(out, 'once.txt').split('answer: ')[-1].split()[:1]}")


def main():
    what, folder = sys.argv[1:3]
    if what == "program":
        program(folder, int(sys.argv[4]) if len(sys.argv) > 4 else 10)
    else:
        table(folder)


main()

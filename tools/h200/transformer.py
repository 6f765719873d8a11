"""A small transformer, for tools/h200/capture.sh: `transformer.py eager|compiled|graphs [--profile FILE] [--steps N] [--prefills N]`.

A few prefills, then decoding step by step. Prints one JSON object: the median, the quartiles and the mean of a decode step and of a
prefill, in us. --profile writes torch.profiler's CUDA time by kernel, of the whole program."""

import argparse
import contextlib
import json
import statistics
import time

import torch
import torch.nn.functional as F

LAYERS, DIM, HEADS, BATCH, CONTEXT = 8, 1024, 16, 8, 512


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = torch.nn.ParameterList([torch.ones(DIM) for _ in range(2)])
        self.qkv = torch.nn.Linear(DIM, 3 * DIM, bias=False)
        self.out = torch.nn.Linear(DIM, DIM, bias=False)
        self.up = torch.nn.Linear(DIM, 8 * DIM, bias=False)
        self.down = torch.nn.Linear(4 * DIM, DIM, bias=False)

    def norm(self, x, i):
        y = x.float()
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * self.norms[i]

    def forward(self, x, keys, values):
        """keys, values: of earlier tokens, or None: x is all there is."""
        n = x.shape[1]
        q, k, v = (t.view(x.shape[0], n, HEADS, DIM // HEADS).transpose(1, 2) for t in self.qkv(self.norm(x, 0)).chunk(3, -1))
        if keys is not None:
            k, v = torch.cat([keys, k], 2), torch.cat([values, v], 2)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=keys is None)
        x = x + self.out(a.transpose(1, 2).reshape(x.shape))
        gate, up = self.up(self.norm(x, 1)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block() for _ in range(LAYERS)])

    def forward(self, x, cache):
        for i, block in enumerate(self.blocks):
            x = block(x, *(cache[i] if cache is not None else (None, None)))
        return x


def timed(step, n):
    times = []
    for _ in range(n):
        torch.cuda.synchronize()
        began = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(1e6 * (time.perf_counter() - began))
    quarters = statistics.quantiles(times[n // 10:], n=4)
    return {"median_us": quarters[1], "low_us": quarters[0], "high_us": quarters[2], "mean_us": statistics.fmean(times[n // 10:])}


def steps_of(how):
    """A decode step, a prefill, and what the step's last result is read from."""
    torch.manual_seed(1)
    model = Model().cuda().bfloat16().eval()
    token = torch.randn(BATCH, 1, DIM, device="cuda", dtype=torch.bfloat16)
    prompt = torch.randn(BATCH, CONTEXT, DIM, device="cuda", dtype=torch.bfloat16)
    cache = [tuple(torch.randn(BATCH, HEADS, CONTEXT, DIM // HEADS, device="cuda", dtype=torch.bfloat16) for _ in range(2))
             for _ in range(LAYERS)]
    run = torch.compile(model) if how == "compiled" else model
    decode, prefill = (lambda: run(token, cache)), (lambda: run(prompt, None))
    for _ in range(5):
        out = decode()
        prefill()
    if how == "graphs":
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3):
                decode()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = run(token, cache)

        def decode(_kept=(token, cache)): # what the graph reads
            graph.replay()
    return decode, prefill, out


def program(how, steps, prefills):
    decode, prefill, out = steps_of(how)
    told = {"decode": timed(decode, steps), "prefill": timed(prefill, prefills)}
    decode()
    torch.cuda.synchronize()
    told["answer"] = float(out.float().abs().sum())
    return told


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("how", choices=["eager", "compiled", "graphs"])
    arguments.add_argument("--profile")
    arguments.add_argument("--steps", type=int, default=200)
    arguments.add_argument("--prefills", type=int, default=20)
    args = arguments.parse_args()
    kinds = torch.profiler.ProfilerActivity
    profiler = torch.profiler.profile(activities=[kinds.CUDA]) if args.profile else contextlib.nullcontext()
    with torch.inference_mode(), profiler:
        told = program(args.how, args.steps, args.prefills)
    if args.profile:
        kernels = {}
        for event in profiler.events():
            if event.device_type == torch.autograd.DeviceType.CUDA and not event.name.startswith(("Memcpy", "Memset")):
                row = kernels.setdefault(event.name, [0, 0.0])
                row[0] += 1
                row[1] += event.time_range.elapsed_us()
        with open(args.profile, "w", encoding="utf-8") as file:
            json.dump(kernels, file)
    print(json.dumps(told))


if __name__ == "__main__":
    main()

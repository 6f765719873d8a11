"""What CUPTI costs a step while it records kernels, and afterwards: tools/h200/cupti_cost.py

A decode step of transformer.py, eager or in a graph, in three parts: before (1 s), recorded (1 s), after (2 s). A way says
when CUPTI comes (early: before the first context; late: with the recorded part) and how it goes (stays, off: the activity is
disabled, final: cuptiFinalize). Prints the median step of each part and how many records came. Needs PyTorch."""

import ctypes
import glob
import os
import statistics
import subprocess
import sys
import time

WAYS = ["none", "early-stays", "early-off", "early-final", "late-off", "late-final", "late-again"]
KERNELS = 10


class Cupti:
    """CUPTI by its binary interface; PyTorch's own copy, where it has brought one."""

    def __init__(self, path):
        self.lib, self.bytes, self.kept = ctypes.CDLL(path), 0, {}
        asked = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t),
                                 ctypes.POINTER(ctypes.c_size_t))
        filled = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)

        def give(buffer, size, most):
            new = ctypes.create_string_buffer(4 << 20)
            buffer[0] = ctypes.addressof(new)
            self.kept[buffer[0]] = new
            size[0], most[0] = 4 << 20, 0

        def take(_context, _stream, buffer, _size, valid):
            self.bytes += valid
            self.kept.pop(buffer, None)

        self.calls = asked(give), filled(take)

    def on(self):
        return [self.lib.cuptiActivityRegisterCallbacks(*self.calls), self.lib.cuptiActivityEnable(KERNELS)]

    def off(self):
        return [self.lib.cuptiActivityDisable(KERNELS), self.lib.cuptiActivityFlushAll(1)]

    def final(self):
        return [*self.off(), self.lib.cuptiFinalize()]


def library():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        loaded = [line.split()[-1] for line in maps if "libcupti" in line]
    return (loaded or sorted(glob.glob("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so")) or ["libcupti.so"])[0]


def part(torch, step, seconds):
    times, until = [], time.perf_counter() + seconds
    while time.perf_counter() < until:
        began = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(1e6 * (time.perf_counter() - began))
    return statistics.median(times)


def one(how, way):
    import torch  # pylint: disable=import-outside-toplevel
    import transformer  # pylint: disable=import-outside-toplevel

    cupti = Cupti(library())
    codes = cupti.on() if way.startswith("early") else []
    with torch.inference_mode():
        step = transformer.steps_of(how)[0]
        for _ in range(20):
            step()
        before = part(torch, step, 1)
        if way.startswith("late"):
            began = time.perf_counter()
            codes += cupti.on()
            codes.append(f"on {1e3 * (time.perf_counter() - began):.0f} ms")
        during = part(torch, step, 1)
        began = time.perf_counter()
        if way.endswith("off"):
            codes += cupti.off()
        elif way.endswith(("final", "again")):
            codes += cupti.final()
        codes.append(f"off {1e3 * (time.perf_counter() - began):.0f} ms")
        after = part(torch, step, 2)
        again = ""
        if way.endswith("again"):
            bytes_once = cupti.bytes
            codes += cupti.on()
            short = part(torch, step, 0.1)
            codes += cupti.final()
            again = f"; again {short:.0f}, {cupti.bytes - bytes_once} bytes, then {part(torch, step, 1):.0f}"
    print(f"{how:7} {way:12} before {before:7.1f}  recorded {during:7.1f}  after {after:7.1f} us; {cupti.bytes} bytes; {codes}{again}",
          flush=True)


if len(sys.argv) == 3:
    one(*sys.argv[1:])
else:
    for HOW in ("graphs", "eager"):
        for WAY in WAYS:
            DONE = subprocess.run([sys.executable, os.path.abspath(__file__), HOW, WAY], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            print("\n".join(DONE.stdout.strip().splitlines()[-1:]) or f"{HOW} {WAY}: status {DONE.returncode}", flush=True)

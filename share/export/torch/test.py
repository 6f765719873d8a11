"""{{package}} against the original, on a GPU: eager, on slices, under autocast, on another stream, in a CUDA graph,
compiled; and what it refuses. Without a GPU only what needs none is tried, and the last line says so.

    ASTRA_WITH_ORIGINAL=1 python setup.py build_ext --inplace && python test/test_op.py
"""

import functools
import math
import os
import sys
import unittest

import torch
from torch import library
from torch._subclasses.fake_tensor import FakeTensorMode

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import {{package}}  # noqa: E402,F401

try:
    from {{package}} import _original  # noqa: E402,F401
except ImportError:
    sys.exit("the original is not built: ASTRA_WITH_ORIGINAL=1 python setup.py build_ext --inplace")

HAS_DEVICE = torch.cuda.is_available()  # where the operators can run
DEVICE = torch.device("cuda" if HAS_DEVICE else "cpu")
INTO = torch.ops.{{package}}.{{op}}_into
ORIGINAL = torch.ops.{{package}}_original.{{op}}_into
NEW = {{#functional}}torch.ops.{{package}}.{{op}}{{/functional}}{{^functional}}None{{/functional}}

# How far the two may be from each other, in units of the last place. 0: equal, as the run found them bit by bit on every
# case, and as integers must be. Else four times the largest difference that the run saw on values like these, at most
# the error that it allowed, the original's own, and one for the two roundings.
ULPS = {{{#written}}{{comma}}"{{name}}": {{ulps}}{{/written}}}
# Small shapes of the run's suite and its workloads: {{#dims}}{{comma}}{{name}}{{/dims}}.
SHAPES = [
{{#shapes}}
    ({{#extents}}{{comma}}{{extent}}{{/extents}}{{#single}},{{/single}}),
{{/shapes}}
]
GIVEN = {{{#operators}}{{comma}}"{{key}}": [{{#given}}{{comma}}"{{name}}"{{/given}}]{{/operators}}{{^functional}}, "new": []{{/functional}}}  # dims that no tensor tells: by name, for the operator that writes in place and for the other
NUMBERS = [{{#numbers}}{{comma}}{{value}}{{/numbers}}]


def special(t, values):
    if values:
        where = torch.rand(t.shape, device=DEVICE) < 1 / 16
        which = torch.randint(len(values), t.shape, device=DEVICE)
        t = torch.where(where, torch.tensor(values, dtype=t.dtype, device=DEVICE)[which], t)
    return t


def fill_scaled(shape, dtype, scale, values):
    return special((torch.randn(shape, dtype=torch.float64, device=DEVICE) * scale).to(dtype), values)


def fill_index(shape, dtype, low, high):
    return torch.randint(low, high, shape, device=DEVICE).to(dtype)


def fill_distinct(shape, dtype, low, high):
    return (torch.randperm(high - low, device=DEVICE)[:math.prod(shape)] + low).reshape(shape).to(dtype)


def fill_permutation(shape, dtype, low, high):
    return torch.rand(shape, device=DEVICE).argsort(-1).to(dtype)


def fill_sorted(shape, dtype, low, high):
    return torch.randint(low, high, shape, device=DEVICE).sort(-1).values.to(dtype)


def fill_offsets(shape, dtype, low, high):
    t = torch.randint(low, high + 1, shape, device=DEVICE).sort(-1).values
    t[..., 0] = low
    t[..., -1] = high
    return t.to(dtype)


def fill_uniform(shape, dtype, low, high, values):
    return special((torch.rand(shape, dtype=torch.float64, device=DEVICE) * (high - low) + low).to(dtype), values)


# name, role, type, shape, content; in the launcher's order
ARGS = [
{{#tensors}}
    ("{{name}}", "{{role}}", {{python}}, lambda {{#dims}}{{comma}}{{name}}{{/dims}}: ({{shape}}), {{#filled}}lambda shape{{#dims}}, {{name}}{{/dims}}: fill_{{how}}(shape, {{python}}, {{bounds}}{{#listed}}, ({{#special}}{{value}},{{/special}}){{/listed}}){{/filled}}{{^filled}}None{{/filled}}),
{{/tensors}}
]


def tensors(dims, seed=1):
    """Inputs as the task describes them; outputs full of 77."""
    torch.manual_seed(seed)
    return [fill(shape(*dims), *dims) if fill else torch.full(shape(*dims), 77, device=DEVICE).to(dtype)
            for name, role, dtype, shape, fill in ARGS]


def copies(list_of_tensors):
    return [t.clone() for t in list_of_tensors]


def slices(list_of_tensors):
    """The same content one element behind the beginning of an allocation, and one before its end."""
    out = []
    for t in list_of_tensors:
        around = torch.full((t.numel() + 2,), 77, device=DEVICE).to(t.dtype)
        out.append(around[1:-1].view(t.shape).copy_(t))
    return out


def around(t):
    return t.as_strided((2,), (t.numel() + 1,), 0)


def more(which, dims):
    return [dict(zip([{{#dims}}{{comma}}"{{name}}"{{/dims}}], dims))[name] for name in GIVEN[which]] + NUMBERS


def read(list_of_tensors):
    return [t for t, arg in zip(list_of_tensors, ARGS) if arg[1] != "out"]


def written(list_of_tensors):
    return [t for t, arg in zip(list_of_tensors, ARGS) if arg[1] != "in"]


def new(inputs, dims):
    out = NEW(*read(inputs), *more("new", dims))
    return list(out) if isinstance(out, (list, tuple)) else [out]


def ulps(got, want):
    """The largest distance in units of the last place of `want`, for elements that cancel to little of the mean one."""
    if not want.is_floating_point():
        return 0 if torch.equal(got.view(torch.uint8), want.view(torch.uint8)) else float("inf")
    digits, low, high = {torch.float16: (11, -14, 15), torch.bfloat16: (8, -126, 127), torch.float32: (24, -126, 127),
                         torch.float64: (53, -1022, 1023)}[want.dtype]
    g, w = got.double(), want.double()
    mean = w.abs().nan_to_num(nan=0.0, posinf=0.0).mean()
    if want.dtype != torch.float64:  # beyond the type's range is the first number that does not fit
        g, w = g.clamp(-2.0 ** (high + 1), 2.0 ** (high + 1)), w.clamp(-2.0 ** (high + 1), 2.0 ** (high + 1))
    exponent = (torch.frexp(w.abs().maximum(mean)).exponent - 1).clamp(low, high)
    distance = (g - w).abs() / torch.ldexp(torch.ones_like(w), exponent - (digits - 1))
    distance = torch.where((g == w) | (g.isnan() & w.isnan()), 0.0, distance)
    return distance.nan_to_num(nan=float("inf"), posinf=float("inf")).max().item() if distance.numel() else 0


def on_device(test):
    @functools.wraps(test)
    def run(self):
        if not HAS_DEVICE:
            self.skipTest("no GPU: the kernel was not launched")
        test(self)

    return run


class Op(unittest.TestCase):
    def same(self, got, want, words):
        self.assertEqual(len(got), len(want))
        for g, w, name in zip(got, want, [arg[0] for arg in ARGS if arg[1] != "in"]):
            self.assertEqual((g.shape, g.dtype, g.device), (w.shape, w.dtype, w.device), f"{name}, {words}")
            self.assertLessEqual(ulps(g, w), ULPS[name], f"{name}, {words}")

    def original(self, inputs, dims):
        inputs = copies(inputs)
        ORIGINAL(*inputs, *more("into", dims))
        return written(inputs)

    @on_device
    def test_eager(self):
        for dims in SHAPES:
            inputs = tensors(dims)
            want, before, ours = self.original(inputs, dims), copies(inputs), copies(inputs)
            INTO(*ours, *more("into", dims))
            self.same(written(ours), want, f"in place, {dims}")
            if NEW:
                self.same(new(inputs, dims), want, f"new, {dims}")
                for a, b, arg in zip(inputs, before, ARGS):
                    self.assertTrue(torch.equal(a.view(torch.uint8), b.view(torch.uint8)), f"{arg[0]} was written, {dims}")

    @on_device
    def test_slices(self):
        for dims in SHAPES[:3] + SHAPES[-1:]:
            inputs = tensors(dims)
            want, ours = self.original(inputs, dims), slices(inputs)
            INTO(*ours, *more("into", dims))
            self.same(written(ours), want, f"in place, {dims}")
            for t, arg in zip(ours, ARGS):
                self.assertTrue(torch.equal(around(t), torch.full((2,), 77, device=DEVICE).to(t.dtype)),
                                f"written beside {arg[0]}, {dims}")
            if NEW:
                self.same(new(slices(inputs), dims), want, f"new, {dims}")

    @on_device
    def test_autocast(self):
        for dtype in (torch.float16, torch.bfloat16):
            dims = SHAPES[0]
            inputs = tensors(dims)
            want, ours = self.original(inputs, dims), copies(inputs)
            with torch.autocast(DEVICE.type, dtype=dtype):
                INTO(*ours, *more("into", dims))
                fresh = new(inputs, dims) if NEW else want
            self.same(written(ours), want, f"in place, {dtype}")
            self.same(fresh, want, f"new, {dtype}")

    def test_without_content(self):
        """The functions for fake tensors, which torch.compile asks: they need no GPU."""
        for dims in SHAPES:
            with FakeTensorMode():
                inputs = [torch.empty(shape(*dims), dtype=dtype, device=DEVICE) for name, role, dtype, shape, fill in ARGS]
                INTO(*inputs, *more("into", dims))
                fresh = new(inputs, dims) if NEW else written(inputs)
                for t, like in zip(fresh, written(inputs), strict=True):
                    self.assertEqual((t.shape, t.dtype, t.device), (like.shape, like.dtype, like.device), f"{dims}")
                inputs[0] = inputs[0].to(torch.float64 if ARGS[0][2] != torch.float64 else torch.float32)
                with self.assertRaisesRegex(RuntimeError, "must be of type"):
                    INTO(*inputs, *more("into", dims))

    @on_device
    def test_another_stream(self):
        stream = torch.cuda.Stream()
        for dims in SHAPES[:3]:
            inputs = tensors(dims)
            want, ours = self.original(inputs, dims), copies(inputs)
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                INTO(*ours, *more("into", dims))
            torch.cuda.current_stream().wait_stream(stream)
            self.same(written(ours), want, f"{dims}")

    @on_device
    def test_cuda_graph(self):
        for dims, place in [(dims, copies) for dims in SHAPES[:3]] + [(SHAPES[0], slices)]:
            static = place(tensors(dims))
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):  # what is made once is made outside the graph
                INTO(*place(static), *more("into", dims))
                if NEW:
                    new(static, dims)
            torch.cuda.current_stream().wait_stream(stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                fresh = new(static, dims) if NEW else None
                INTO(*static, *more("into", dims))
            for seed in (2, 3):
                inputs = tensors(dims, seed)
                for to, t in zip(static, inputs):
                    to.copy_(t)
                graph.replay()
                torch.cuda.synchronize()
                want = self.original(inputs, dims)
                self.same(written(static), want, f"in place, {dims}, replay {seed - 1}")
                if NEW:
                    self.same(fresh, want, f"new, {dims}, replay {seed - 1}")

    def compiled(self, shapes, **options):
        into = torch.compile(lambda *a: INTO(*a), fullgraph=True, **options)
        fresh = torch.compile(lambda *a: NEW(*a), fullgraph=True, **options) if NEW else None
        for dims in shapes:
            inputs = tensors(dims)
            want, ours = self.original(inputs, dims), copies(inputs)
            into(*ours, *more("into", dims))
            self.same(written(ours), want, f"in place, {dims}")
            if fresh:
                out = fresh(*read(inputs), *more("new", dims))
                self.same(list(out) if isinstance(out, (list, tuple)) else [out], want, f"new, {dims}")

    @on_device
    def test_compiled(self):
        self.compiled(SHAPES[:2])

    @on_device
    def test_compiled_for_any_shape(self):
        self.compiled(SHAPES[:4], dynamic=True)

    @on_device
    def test_compiled_with_graphs(self):
        self.compiled(SHAPES[:2], mode="reduce-overhead")

    @on_device
    def test_opcheck(self):
        dims = SHAPES[0]
        inputs = tensors(dims)
        library.opcheck(INTO.default, (*copies(inputs), *more("into", dims)))
        if NEW:
            library.opcheck(NEW.default, (*read(inputs), *more("new", dims)))

    def refused(self, inputs, dims, words):
        with self.assertRaisesRegex(RuntimeError, words):
            INTO(*inputs, *more("into", dims))

    @on_device
    def test_what_it_refuses(self):
        dims = SHAPES[-1]
        for i, (name, role, dtype, shape, fill) in enumerate(ARGS):
            for change, words in [
                (lambda t: t.to(torch.float64 if dtype != torch.float64 else torch.float32), "type"),
                (lambda t: t.unsqueeze(0), "dimensions|shape"),
                (lambda t: torch.cat([t, t], dim=0) if t.dim() else t, "shape|verified|64-bit|extent"),
                (lambda t: torch.stack([t, t], dim=-1)[..., 0] if t.numel() > 1 else t, "contiguous"),
            ]:
                inputs = tensors(dims)
                changed = change(inputs[i])
                same = changed.dtype == dtype and changed.shape == inputs[i].shape
                if same and changed.is_contiguous():
                    continue
                inputs[i] = changed
                self.refused(inputs, dims, words)
        if sum(1 for arg in ARGS if arg[1] != "in") and len(ARGS) > 1:
            inputs = tensors(dims)
            out = next(i for i, arg in enumerate(ARGS) if arg[1] != "in")
            other = next(i for i in range(len(ARGS)) if i != out)
            base = torch.zeros(inputs[out].nbytes + inputs[other].nbytes, dtype=torch.uint8, device=DEVICE)
            for i in (out, other):
                inputs[i] = base[: inputs[i].nbytes].view(ARGS[i][2]).view(inputs[i].shape)
            self.refused(inputs, dims, "overlap")
        for i in range(len(NUMBERS)):
            inputs, numbers = tensors(dims), more("into", dims)
            numbers[len(numbers) - len(NUMBERS) + i] += 1
            with self.assertRaisesRegex(RuntimeError, "verified with"):
                INTO(*inputs, *numbers)

    @unittest.skipIf(torch.cuda.device_count() < 2, "one GPU")
    def test_another_gpu(self):
        dims = SHAPES[0]
        inputs = tensors(dims)
        want = self.original(inputs, dims)
        ours = [t.to("cuda:1") for t in inputs]
        INTO(*ours, *more("into", dims))
        self.same([t.to(DEVICE) for t in written(ours)], [w.to("cuda:0") for w in want], "on cuda:1")


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    if HAS_DEVICE:
        print(f"On {torch.cuda.get_device_name()}, PyTorch {torch.__version__}: "
              f"{result.testsRun - len(result.skipped)} of {result.testsRun} tests ran.", file=sys.stderr)
    else:
        print(f"NOT TESTED: there is no GPU. The kernel was never launched and no answer was compared; {len(result.skipped)} of "
              f"{result.testsRun} tests were left out. What ran: the extension loads, its schemas and functions for fake "
              "tensors are right.", file=sys.stderr)
    sys.exit(not result.wasSuccessful())

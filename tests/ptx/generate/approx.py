"""The approximate instructions: documented special values exactly, the rest within the documented error."""

import math

import number as n
from emit import IN, NEAR, OUT, ZERO, Module
from number import NAN, decode, flush, from_python, inf_bits, plain

N = 32
INF, NINF = float("inf"), float("-inf")
TINY = 1e-40  # subnormal in f32 and bf16


def bits(values, fmt):
    return [from_python(v, fmt) for v in values]


def spread(low, high, count, seed):
    import random

    r = random.Random(seed)
    return [r.uniform(low, high) for _ in range(count)]


def case(m, ptx, fmt, rule, special, ordinary, words=1, name=None, note=""):
    """special: {input: bits or token}; ordinary: inputs that the rule judges."""
    total = N * words
    x = list(special) + list(ordinary)
    x = (x * (total // len(x) + 1))[:total] if len(x) < total else x[:total]
    xs = bits(x, fmt)
    want = [special[v] if v in special else NEAR for v in x]
    m.each(name or ptx.replace(".", "_"), ptx + " %d, %a;", [IN("a", fmt, xs, words)], [OUT("d", fmt, want, rule, words)], note)


class Nan(float):
    """A key of its own in a table of special values."""

    def __hash__(self):
        return 1

    def __eq__(self, other):
        return isinstance(other, Nan)


NAN_IN = Nan("nan")
NZ = "-0"  # 0.0 and -0.0 are one key in Python: zeros are cases of their own


def zeros(m, ptx, fmt, plus, minus, words=1):
    z = [0, 1 << (n.width(fmt) - 1)] * (N * words // 2)
    m.each(ptx.replace(".", "_") + "_zero", ptx + " %d, %a;", [IN("a", fmt, z, words)],
           [OUT("d", fmt, [plus, minus] * (N * words // 2), words=words)], "of both signs")


def single(fmt="f32"):
    m = Module("approx", "approximate instructions, f32 and f64", version="8.0")
    one, inf, ninf = from_python(1.0, "f32"), inf_bits("f32"), inf_bits("f32", 1)
    top = 1 << 31
    wide = [2.0**e * f for e, f in zip(range(-126, 126, 9), spread(1, 2, 28, 1))]
    for dot in ("", ".ftz"):
        ftz = bool(dot)
        case(m, "ex2.approx%s.f32" % dot, "f32", "ulp 2 ex2(a)",
             {INF: inf, NINF: 0, NAN_IN: NAN, 128.0: inf, 1000.0: inf, -1000.0: 0, TINY: one, -TINY: one},
             [1.0, -1.0, 0.5, 127.5, -125.5, 10.0] + spread(-20, 20, 18, 2) + ([] if ftz else [-126.5, -130.25, -148.0]))
        zeros(m, "ex2.approx%s.f32" % dot, "f32", one, one)
        big = [3e38, 2.0**127]  # results below the normal numbers
        special = {INF: 0, NINF: top, NAN_IN: NAN}
        special.update({TINY: inf, -TINY: ninf, big[0]: 0, big[1]: 0} if ftz else {2.0**-149: inf})
        case(m, "rcp.approx%s.f32" % dot, "f32", "ulp 1 rcp(a)", special, [1.0, -3.0, 0.1, 2.0**126, 7.0] + wide + ([] if ftz else big))
        zeros(m, "rcp.approx%s.f32" % dot, "f32", inf, ninf)
        special = {INF: inf, NINF: NAN, NAN_IN: NAN, -1.0: NAN, -3e38: NAN}
        special.update({TINY: 0, -TINY: top} if ftz else {-TINY: NAN})
        case(m, "sqrt.approx%s.f32" % dot, "f32", "rel %.9g sqrt(a)" % 2.0**-23, special, [1.0, 2.0, 3e38] + wide + ([] if ftz else [TINY]))
        zeros(m, "sqrt.approx%s.f32" % dot, "f32", 0, top)
        special = {INF: 0, NINF: NAN, NAN_IN: NAN, -1.0: NAN}
        special.update({TINY: inf, -TINY: ninf} if ftz else {-TINY: NAN})
        case(m, "rsqrt.approx%s.f32" % dot, "f32", "rel %.9g rsqrt(a)" % 2.0**-22.9, special, [1.0, 2.0, 3e38] + wide + ([] if ftz else [TINY]))
        zeros(m, "rsqrt.approx%s.f32" % dot, "f32", inf, ninf)
        special = {INF: inf, NINF: NAN, NAN_IN: NAN, -1.0: NAN}
        special.update({TINY: ninf, -TINY: ninf} if ftz else {-TINY: NAN})
        case(m, "lg2.approx%s.f32" % dot, "f32", "rel %.9g lg2(a)" % 2.0**-22, special, [2.0, 0.5, 1e30] + [v for v in wide if not 0.5 < v < 2],
             note="outside of (0.5, 2)")
        case(m, "lg2.approx%s.f32" % dot, "f32", "abs %.9g lg2(a)" % 2.0**-22, {}, spread(0.5000001, 1.9999999, 24, 3) + [1.0, 1.0000001, 0.99999994],
             name="lg2_approx%s_f32_near_1" % dot.replace(".", "_"), note="inside of (0.5, 2)")
        zeros(m, "lg2.approx%s.f32" % dot, "f32", ninf, ninf)
        for f, near in (("sin", {NAN_IN: NAN, INF: NAN, NINF: NAN}), ("cos", {NAN_IN: NAN, INF: NAN, NINF: NAN})):
            if ftz:
                near.update({TINY: 0, -TINY: top} if f == "sin" else {TINY: one, -TINY: one})
            case(m, "%s.approx%s.f32" % (f, dot), "f32", "abs %.9g %s(a)" % (2.0**-20.5, f), near, [math.pi, -math.pi, 1.0, 3.0, 0.001] + spread(-6.28, 6.28, 22, 4),
                 note="within 2 pi")
            case(m, "%s.approx%s.f32" % (f, dot), "f32", "abs %.9g %s(a)" % (2.0**-14.7, f), {}, spread(-314.0, 314.0, 32, 5),
                 name="%s_approx%s_f32_wide" % (f, dot.replace(".", "_")), note="within 100 pi")
            zeros(m, "%s.approx%s.f32" % (f, dot), "f32", 0 if f == "sin" else one, top if f == "sin" else one)
        divisions(m, dot, ftz)
    case(m, "tanh.approx.f32", "f32", "rel %.9g tanh(a)" % 2.0**-11, {INF: one, NINF: one | top, NAN_IN: NAN},
         [0.001, -0.01, 100.0, -20.0, 1e-5] + spread(-4, 4, 24, 6))
    zeros(m, "tanh.approx.f32", "f32", 0, top)
    double(m)
    return m


def divisions(m, dot, ftz):
    top = 1 << 31
    rows = [  # a, b, result
        (1.0, 3.0, NEAR), (-7.0, 0.1, NEAR), (1e20, 1e-10, NEAR), (5.0, 2.0**126, NEAR), (2.0**-20, 2.0**-126, NEAR), (3e30, 7e30, NEAR),
        (INF, 2.0, inf_bits("f32")), (INF, -2.0, inf_bits("f32", 1)), (2.0, INF, ZERO), (INF, INF, NAN), (float("nan"), 1.0, NAN), (1.0, float("nan"), NAN),
    ] + [(a, b, NEAR) for a, b in zip(spread(-100, 100, 16, 7), spread(0.01, 100, 16, 8))]
    approx = rows + [(1e38, 2.0**127, ZERO), (1.0, 3e38, ZERO), (INF, 2.0**127, NAN), (INF, 3e38, NAN)]  # 2^126 < |b| < 2^128
    full = rows + [(1e38, 2.0**127, NEAR), (3e38, 3.1e38, NEAR), (INF, 2.0**127, inf_bits("f32")), (2.0**100, 2.0**127, NEAR)]
    for f, table, note in (("approx", approx, "divisors above 2^126 give 0, or NaN under infinity"), ("full", full, "the full range")):
        a, b = bits([r[0] for r in table], "f32"), bits([r[1] for r in table], "f32")
        m.each("div_%s%s_f32" % (f, dot.replace(".", "_")), "div.%s%s.f32 %%d, %%a, %%b;" % (f, dot), [IN("a", "f32", a), IN("b", "f32", b)],
               [OUT("d", "f32", [r[2] for r in table], "ulp 2 div(a,b)")], note)
        a, b = bits([1.0, -1.0, 1.0, -1.0] * 8, "f32"), [0, 0, top, top] * 8
        inf, ninf = inf_bits("f32"), inf_bits("f32", 1)
        m.each("div_%s%s_f32_by_zero" % (f, dot.replace(".", "_")), "div.%s%s.f32 %%d, %%a, %%b;" % (f, dot), [IN("a", "f32", a), IN("b", "f32", b)],
               [OUT("d", "f32", [inf, ninf, ninf, inf] * 8)])


def double(m):
    inf, ninf, top = inf_bits("f64"), inf_bits("f64", 1), 1 << 63
    wide = [2.0**e * f for e, f in zip(range(-900, 900, 80), spread(1, 2, 28, 9))]
    nan = 0x7FFFFFFF00000000
    case(m, "rcp.approx.ftz.f64", "f64", "rel 4e-6 rcp(a)", {INF: 0, NINF: top, NAN_IN: nan, 5e-324: inf, -5e-324: ninf}, [1.0, -3.0] + wide)
    zeros(m, "rcp.approx.ftz.f64", "f64", inf, ninf)
    case(m, "rsqrt.approx.ftz.f64", "f64", "rel 4e-6 rsqrt(a)", {INF: 0, NINF: nan, NAN_IN: nan, -1.0: nan, 5e-324: inf, -5e-324: ninf}, [1.0, 3.0] + wide)
    zeros(m, "rsqrt.approx.ftz.f64", "f64", inf, ninf)
    case(m, "rsqrt.approx.f64", "f64", "ulp 2 rsqrt(a)", {INF: 0, NINF: NAN, NAN_IN: NAN, -1.0: NAN}, [1.0, 3.0, 5e-324] + wide)
    zeros(m, "rsqrt.approx.f64", "f64", inf, ninf)


def halves():
    m = Module("approx_half", "approximate instructions, f16 and bf16", version="8.0")
    for words in (1, 2):
        x2 = "x2" if words == 2 else ""
        one = from_python(1.0, "f16")
        case(m, "ex2.approx.f16" + x2, "f16", "rel %.9g ex2(a)" % 2.0**-9.9, {INF: inf_bits("f16"), NINF: 0, NAN_IN: n.canonical("f16"), 16.0: inf_bits("f16"), -30.0: 0},
             [1.0, -1.0, 15.5, -13.5] + spread(-12, 12, 23, 11), words)
        zeros(m, "ex2.approx.f16" + x2, "f16", one, one, words)
        one = from_python(1.0, "bf16")
        case(m, "ex2.approx.ftz.bf16" + x2, "bf16", "rel %.9g ex2(a)" % 2.0**-7,
             {INF: inf_bits("bf16"), NINF: 0, NAN_IN: n.canonical("bf16"), 128.0: inf_bits("bf16"), -140.0: 0, TINY: one, -TINY: one},
             [1.0, -1.0, 100.0, -100.0] + spread(-20, 20, 21, 13), words)
        zeros(m, "ex2.approx.ftz.bf16" + x2, "bf16", one, one, words)
        for fmt, room in (("f16", 2.0**-10.987), ("bf16", 2.0**-8)):
            one = from_python(1.0, fmt)
            case(m, "tanh.approx.%s" % fmt + x2, fmt, "abs %.9g tanh(a)" % room, {INF: one, NINF: one | 0x8000, NAN_IN: n.canonical(fmt)},
                 [0.01, -0.1, 10.0, -20.0] + spread(-4, 4, 25, 14), words)
            zeros(m, "tanh.approx.%s" % fmt + x2, fmt, 0, 0x8000, words)
    return m


def modules():
    return [single(), halves()]

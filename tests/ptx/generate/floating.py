"""f32, f64, f16 and bf16: arithmetic, comparison, conversions between everything."""

import number as n
from emit import ANY, IN, OUT, Module
from integer import COMPARE, hash_of
from number import NAN, Float, canonical, clamp, decode, encode, flush, integers, limits, sample, width, wrap

N = 32
MODES = ("rn", "rz", "rm", "rp")


def saturate(bits, fmt):
    """To [0, 1]; NaN to +0."""
    if bits == NAN:
        return 0
    x = decode(bits, fmt)
    if x.sign or x.zero():
        return 0
    return encode(Float(value=n.Fraction(1)), fmt) if x.inf or x.value > 1 else bits


def relu(bits, fmt):
    if bits == NAN:
        return canonical(fmt)
    return 0 if decode(bits, fmt).sign else bits


def finish(bits, fmt, mods):
    if "ftz" in mods:
        bits = flush(bits, fmt)
    if "sat" in mods:
        bits = saturate(bits, fmt)
    if "relu" in mods:
        bits = relu(bits, fmt)
    return bits


def inputs(fmt, count, seed, words=1):
    return [sample(fmt, N * words, seed + 17 * k) for k in range(count)]


def apply(f, fmt, rows, mods):
    out = []
    for row in zip(*rows):
        if "ftz" in mods:
            row = [flush(v, fmt) for v in row]
        out.append(finish(f(*[decode(v, fmt) for v in row]), fmt, mods))
    return out


def operation(m, op, fmt, f, count, mods=(), words=1, rows=None):
    """OP.MODS.FMT of `count` operands; f takes Floats, gives bits."""
    t = fmt + ("x2" if words == 2 else "")
    ptx = ".".join([op] + list(mods) + [t])
    rows = rows or inputs(fmt, count, hash_of(ptx), words)
    names = "abc"[:count]
    code = "%s %%d, %s;" % (ptx, ", ".join("%" + c for c in names))
    m.each(ptx.replace(".", "_"), code, [IN(c, fmt, r, words) for c, r in zip(names, rows)],
           [OUT("d", fmt, apply(f, fmt, rows, mods), words=words)])


def cancelling(fmt, words=1):
    """Products and sums that cancel, tie, underflow and overflow: the rows where fused and not fused differ."""
    a, b, c = inputs(fmt, 3, 4711, words)
    bias, man = (1 << (n.FORMATS[fmt][0] - 1)) - 1, n.FORMATS[fmt][1]
    one = bias << man
    for k in range(8 * words):
        a[k], b[k] = one + 1 + 5 * k, one + 3 + 7 * k
        c[k] = n.encode(n.neg(n.mul(decode(a[k], fmt), decode(b[k], fmt))), fmt)
    for k in range(8 * words, 12 * words):
        a[k], b[k], c[k] = one + (1 << (man - 1)), one + 1, 1 << (k % 3)  # a tie that a tiny addend breaks
    return [a, b, c]


def border(m, fmt, mode="rn", words=1):
    """Products just below the smallest normal number, with .ftz: flushed when they are no normal number rounded as if
    exponents had no end. What only that rounding makes normal, the ISA leaves open."""
    bias, man = (1 << (n.FORMATS[fmt][0] - 1)) - 1, n.FORMATS[fmt][1]
    one, least, half_ = bias << man, 1 << man, (bias - 1) // 2 << man
    ks = [0, 1, 2, 3, 1 << (man // 2 - 2), (1 << man // 2) - 1, 3 << (man // 2 - 1), 1 << (man // 2 + 1)]
    a = [one + k - half_ for k in ks] * 2 + [least, least, least + 1, least + 3] * 4
    b = [one - 2 * k - (((bias - 1) << man) - half_) for k in ks] * 2 + [one - 1, one - 2, one - 2, one - 5] * 4
    top = 1 << (width(fmt) - 1)
    a = [v | top * (l % 3 == 1) for l, v in enumerate(a)] * words
    t = fmt + ("x2" if words == 2 else "")

    def want(x):
        if x.nan or x.inf or n.tiny(x, fmt) is x:
            return encode(x, fmt, mode)
        wide = encode(Float(x.sign, x.value * 2 ** (bias - 1)), fmt, mode)  # where exponents have no end: 1 is the border
        return top * x.sign if wide & ~top < one and fmt == "f16" else ANY

    doubled = [v + (1 << man) for v in a]
    c = [least | (0 if v & top else top) for v in a]  # takes half of the doubled product away
    b = b * words
    x, y, z, d = ([decode(v, fmt) for v in r] for r in (a, b, c, doubled))
    m.each("mul_%s_ftz_%s_border" % (mode, t), "mul.%s.ftz.%s %%d, %%a, %%b;" % (mode, t), [IN("a", fmt, a, words), IN("b", fmt, b, words)],
           [OUT("d", fmt, [want(n.mul(p, q)) for p, q in zip(x, y)], words=words)])
    m.each("fma_%s_ftz_%s_border" % (mode, t), "fma.%s.ftz.%s %%d, %%a, %%b, %%c;" % (mode, t),
           [IN("a", fmt, doubled, words), IN("b", fmt, b, words), IN("c", fmt, c, words)],
           [OUT("d", fmt, [want(n.add(n.mul(p, q), r, mode)) for p, q, r in zip(d, y, z)], words=words)])


def arithmetic(fmt):
    m = Module(fmt, fmt + " arithmetic")
    for mode in MODES:
        add = lambda a, b: encode(n.add(a, b, mode), fmt, mode)
        sub = lambda a, b: encode(n.add(a, n.neg(b), mode), fmt, mode)
        mul = lambda a, b: encode(n.mul(a, b), fmt, mode)
        fma = lambda a, b, c: encode(n.add(n.mul(a, b), c, mode), fmt, mode)
        div = lambda a, b: encode(n.div(a, b), fmt, mode)
        rcp = lambda a: encode(n.div(Float(value=n.Fraction(1)), a), fmt, mode)
        root = lambda a: encode(n.sqrt(a), fmt, mode)
        operation(m, "add", fmt, add, 2, [mode])
        operation(m, "sub", fmt, sub, 2, [mode])
        operation(m, "mul", fmt, mul, 2, [mode])
        operation(m, "fma", fmt, fma, 3, [mode])
        operation(m, "div", fmt, div, 2, [mode])
        operation(m, "rcp", fmt, rcp, 1, [mode])
        operation(m, "sqrt", fmt, root, 1, [mode])
        if fmt == "f32":
            operation(m, "add", fmt, add, 2, [mode, "ftz"])
            operation(m, "mul", fmt, mul, 2, [mode, "ftz"])
            operation(m, "fma", fmt, fma, 3, [mode, "ftz"])
            operation(m, "div", fmt, div, 2, [mode, "ftz"])
            operation(m, "rcp", fmt, rcp, 1, [mode, "ftz"])
            operation(m, "sqrt", fmt, root, 1, [mode, "ftz"])
            operation(m, "fma", fmt, fma, 3, [mode, "sat"])
            operation(m, "mad", fmt, fma, 3, [mode])
            border(m, fmt, mode)
    near = lambda a, b: encode(n.add(a, b), fmt)
    operation(m, "add", fmt, near, 2)
    operation(m, "mul", fmt, lambda a, b: encode(n.mul(a, b), fmt), 2)
    if fmt == "f32":
        operation(m, "sub", fmt, lambda a, b: encode(n.add(a, n.neg(b)), fmt), 2, ["ftz"])
        operation(m, "add", fmt, near, 2, ["sat"])
        operation(m, "add", fmt, near, 2, ["ftz", "sat"])
        operation(m, "sub", fmt, lambda a, b: encode(n.add(a, n.neg(b)), fmt), 2, ["sat"])
        operation(m, "mul", fmt, lambda a, b: encode(n.mul(a, b), fmt), 2, ["sat"])
    rows = cancelling(fmt)
    m.each("fma_rn_%s_cancel" % fmt, "fma.rn.%s %%d, %%a, %%b, %%c;" % fmt, [IN(k, fmt, r) for k, r in zip("abc", rows)],
           [OUT("d", fmt, apply(lambda a, b, c: encode(n.add(n.mul(a, b), c), fmt), fmt, rows, ()))], "rounded once")
    m.each("mul_add_rn_%s" % fmt, "mul.rn.%s %%d, %%a, %%b;\nadd.rn.%s %%d, %%d, %%c;" % (fmt, fmt),
           [IN(k, fmt, r) for k, r in zip("abc", rows)],
           [OUT("d", fmt, apply(lambda a, b, c: NAN if (p := encode(n.mul(a, b), fmt)) == NAN else encode(n.add(decode(p, fmt), c), fmt), fmt, rows, ()))],
           "rounded twice: nothing may fuse them")
    signs(m, fmt)
    extremes(m, fmt, [(), ("ftz",), ("NaN",), ("xorsign", "abs"), ("NaN", "xorsign", "abs"), ("ftz", "NaN")] if fmt == "f32" else [()])
    compares(m, fmt, [(), ("ftz",)] if fmt == "f32" else [()])
    classes(m, fmt)
    return m


def signs(m, fmt, words=1, ftz=None):
    top = 1 << (width(fmt) - 1)

    def negate(x, bits):
        return NAN if x.nan else bits ^ top

    ftz = fmt in ("f32", "f16") if ftz is None else ftz
    t = fmt + ("x2" if words == 2 else "")
    for mods in [()] + ([("ftz",)] if ftz else []):
        rows = inputs(fmt, 1, 51 + len(mods), words)
        for op, f in (("neg", lambda v: v ^ top), ("abs", lambda v: v & ~top)):
            want = []
            for v in rows[0]:
                u = flush(v, fmt) if mods else v
                want.append(NAN if decode(u, fmt).nan else f(u))
            ptx = ".".join([op] + list(mods) + [t])
            m.each(ptx.replace(".", "_"), ptx + " %d, %a;", [IN("a", fmt, rows[0], words)], [OUT("d", fmt, want, words=words)])
    if fmt in ("f32", "f64"):
        a, b = inputs(fmt, 2, 53)
        want = [(v & ~top) | (s & top) for s, v in zip(a, b)]
        want = [NAN if decode(w, fmt).nan else w for w in want]
        m.each("copysign_" + fmt, "copysign.%s %%d, %%a, %%b;" % fmt, [IN("a", fmt, a), IN("b", fmt, b)], [OUT("d", fmt, want)])


def extremes(m, fmt, variants, words=1):
    top = 1 << (width(fmt) - 1)
    for op, sign in (("min", -1), ("max", 1)):
        for mods in variants:
            t = fmt + ("x2" if words == 2 else "")
            ptx = ".".join([op] + list(mods) + [t])
            a, b = inputs(fmt, 2, hash_of(ptx), words)
            inf = n.inf_bits(fmt)
            a[0], b[0], a[1], b[1] = 0, top, top, 0  # zeros of both signs, and two NaNs
            a[2], b[2], a[3], b[3] = inf | 1 << (n.FORMATS[fmt][1] - 1), inf | 1, inf | 3, encode(Float(value=n.Fraction(2)), fmt)
            want = []
            for p, q in zip(a, b):
                if "ftz" in mods:
                    p, q = flush(p, fmt), flush(q, fmt)
                flip = (p ^ q) & top if "xorsign" in mods else 0
                if "xorsign" in mods:
                    p, q = p & ~top, q & ~top
                x, y = decode(p, fmt), decode(q, fmt)
                if x.nan or y.nan:
                    if (x.nan and y.nan) or "NaN" in mods:
                        want.append(NAN if fmt == "f64" else canonical(fmt))
                    else:
                        want.append((q if x.nan else p) | flip)
                    continue
                c = n.compare(x, y) or (y.sign - x.sign)  # -0 is below +0
                want.append((p if c * sign > 0 else q) | flip)
            m.each(ptx.replace(".", "_"), ptx + " %d, %a, %b;", [IN("a", fmt, a, words), IN("b", fmt, b, words)],
                   [OUT("d", fmt, want, words=words)])


def compares(m, fmt, variants):
    ops = list(COMPARE)
    for mods in variants:
        dot = "".join("." + x for x in mods)
        a, b = inputs(fmt, 2, 61 + len(mods))
        top = 1 << (width(fmt) - 1)
        a[0], b[0] = 0, top
        a[1:6] = b[1:6]
        a[6], b[6] = 1, 0
        want = []
        for p, q in zip(a, b):
            if mods:
                p, q = flush(p, fmt), flush(q, fmt)
            c = n.compare(decode(p, fmt), decode(q, fmt))
            want.append(sum(int(COMPARE[o](c)) << k for k, o in enumerate(ops)))
        code = "mov.u32 %d, 0;\n" + "\n".join(
            "setp.%s%s.%s %%p, %%a, %%b;\n@%%p or.b32 %%d, %%d, %d;" % (o, dot, fmt, 1 << k) for k, o in enumerate(ops))
        m.each("setp%s_%s" % (dot.replace(".", "_"), fmt), code, [IN("a", fmt, a), IN("b", fmt, b)], [OUT("d", "u32", want)],
               " ".join(ops) + " in bits 0 to 13", ".reg .pred %p;")
        if fmt in ("f16", "bf16"):
            continue  # one result only
        code = "setp.gt%s.%s %%p|%%q, %%a, %%b;\nselp.u32 %%d, 1, 0, %%p;\nselp.u32 %%e, 1, 0, %%q;" % (dot, fmt)
        gt = [w >> ops.index("gt") & 1 for w in want]
        m.each("setp%s_%s_pair" % (dot.replace(".", "_"), fmt), code, [IN("a", fmt, a), IN("b", fmt, b)],
               [OUT("d", "u32", gt), OUT("e", "u32", [1 - v for v in gt])], "the second result is true for NaN", ".reg .pred %p, %q;")
        if fmt in ("f32", "f64"):
            for to, one in (("u32", 0xFFFFFFFF), ("f32", 0x3F800000)):
                m.each("set_leu%s_%s_%s" % (dot.replace(".", "_"), to, fmt), "set.leu%s.%s.%s %%d, %%a, %%b;" % (dot, to, fmt),
                       [IN("a", fmt, a), IN("b", fmt, b)], [OUT("d", to, [one if w >> ops.index("leu") & 1 else 0 for w in want])])


def classes(m, fmt):
    a, b = sample(fmt, N, 71), sample(fmt, N, 72)
    e_bits, m_bits = n.FORMATS[fmt]

    def is_normal(v):
        return 0 < v >> m_bits & ((1 << e_bits) - 1) < (1 << e_bits) - 1 or decode(v, fmt).zero()  # zeros are

    tests = {
        "finite": lambda v, x: not x.nan and not x.inf,
        "infinite": lambda v, x: x.inf,
        "number": lambda v, x: not x.nan,
        "notanumber": lambda v, x: x.nan,
        "normal": lambda v, x: is_normal(v),
        "subnormal": lambda v, x: not x.zero() and not x.nan and not x.inf and not is_normal(v),
    }
    code = "mov.u32 %d, 0;\n" + "\n".join(
        "testp.%s.%s %%p, %%a;\n@%%p or.b32 %%d, %%d, %d;" % (o, fmt, 1 << k) for k, o in enumerate(tests))
    m.each("testp_" + fmt, code, [IN("a", fmt, a)],
           [OUT("d", "u32", [sum(int(f(v, decode(v, fmt))) << k for k, f in enumerate(tests.values())) for v in a])],
           " ".join(tests), ".reg .pred %p;")
    m.each("selp_" + fmt, "setp.lt.s%d %%p, %%a, %%b;\nselp.%s %%d, %%a, %%b, %%p;" % (width(fmt), fmt), [IN("a", fmt, a), IN("b", fmt, b)],
           [OUT("d", fmt, [p if wrap(p, "s%d" % width(fmt)) < wrap(q, "s%d" % width(fmt)) else q for p, q in zip(a, b)])], regs=".reg .pred %p;")
    if fmt == "f32":
        c = sample("f32", N, 73)
        want = [p if not x.nan and (x.zero() or not x.sign) else q for p, q, x in ((p, q, decode(v, fmt)) for p, q, v in zip(a, b, c))]
        m.each("slct_f32_f32", "slct.f32.f32 %d, %a, %b, %c;", [IN(k, "f32", r) for k, r in zip("abc", (a, b, c))], [OUT("d", "f32", want)],
               "-0 selects the first, NaN the second")


# ---- half types ----

def half(fmt):
    m = Module(fmt, fmt + " and pairs of it: arithmetic, comparison", version="8.6")
    is_bf = fmt == "bf16"
    add = lambda a, b: n.add(a, b)
    sub = lambda a, b: n.add(a, n.neg(b))
    fma = lambda a, b, c: n.add(n.mul(a, b), c)

    def once(f, mods=()):
        """Rounded once; .ftz looks at the result before that."""
        return (lambda *x: encode(n.tiny(f(*x), fmt), fmt)) if "ftz" in mods else lambda *x: encode(f(*x), fmt)

    for words in (1, 2):
        for op, f in (("add", add), ("sub", sub), ("mul", n.mul)):
            for mods in [[], ["rn"]] + ([] if is_bf else [["ftz"], ["sat"], ["rn", "ftz", "sat"]]):
                operation(m, op, fmt, once(f, mods), 2, mods, words)
        for mods in [["rn"], ["rn", "relu"]] + ([] if is_bf else [["rn", "ftz"], ["rn", "sat"], ["rn", "ftz", "relu"]]):
            operation(m, "fma", fmt, once(fma, mods), 3, mods, words)
        t = fmt + ("x2" if words == 2 else "")
        rows = cancelling(fmt, words)
        m.each("fma_rn_%s_cancel" % t, "fma.rn.%s %%d, %%a, %%b, %%c;" % t, [IN(k, fmt, r, words) for k, r in zip("abc", rows)],
               [OUT("d", fmt, apply(once(fma), fmt, rows, ()), words=words)], "rounded once")
        if not is_bf:
            border(m, fmt, words=words)
        signs(m, fmt, words)
        extremes(m, fmt, [(), ("NaN",), ("xorsign", "abs"), ("NaN", "xorsign", "abs")] + ([] if is_bf else [("ftz",)]), words)
    compares(m, fmt, [()] if is_bf else [(), ("ftz",)])
    half_sets(m, fmt)
    return m


def half_sets(m, fmt):
    ops = list(COMPARE)
    a, b = inputs(fmt, 2, 81, 2)
    a[:12] = b[:12]
    c = [n.compare(decode(p, fmt), decode(q, fmt)) for p, q in zip(a, b)]
    one = encode(Float(value=n.Fraction(1)), fmt)
    for o in ("eq", "ltu", "nan"):
        m.each("setp_%s_%sx2" % (o, fmt), "setp.%s.%sx2 %%p|%%q, %%a, %%b;\nselp.u32 %%d, 1, 0, %%p;\nselp.u32 %%e, 1, 0, %%q;" % (o, fmt),
               [IN("a", fmt, a, 2), IN("b", fmt, b, 2)],
               [OUT("d", "u32", [int(COMPARE[o](v)) for v in c[::2]]), OUT("e", "u32", [int(COMPARE[o](v)) for v in c[1::2]])],
               "low and high half", ".reg .pred %p, %q;")
        m.each("set_%s_%sx2_%sx2" % (o, fmt, fmt), "set.%s.%sx2.%sx2 %%d, %%a, %%b;" % (o, fmt, fmt), [IN("a", fmt, a, 2), IN("b", fmt, b, 2)],
               [OUT("d", fmt, [one if COMPARE[o](v) else 0 for v in c], words=2)])
        m.each("set_%s_u32_%sx2" % (o, fmt), "set.%s.u32.%sx2 %%d, %%a, %%b;" % (o, fmt), [IN("a", fmt, a, 2), IN("b", fmt, b, 2)],
               [OUT("d", "b16", [0xFFFF if COMPARE[o](v) else 0 for v in c], words=2)])
    x, y, k = a[:N], b[:N], c[:N]
    for to, yes in ((fmt, one), ("u32", 0xFFFFFFFF), ("u16", 0xFFFF)):
        m.each("set_ge_%s_%s" % (to, fmt), "set.ge.%s.%s %%d, %%a, %%b;" % (to, fmt), [IN("a", fmt, x), IN("b", fmt, y)],
               [OUT("d", to, [yes if COMPARE["ge"](v) else 0 for v in k])])


# ---- conversions ----

INTS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
FLOATS = ("f16", "bf16", "f32", "f64")


def store_type(t):
    """Registers have at least 16 bits, so that extension to them is seen."""
    return t[0] + "16" if t in ("u8", "s8") else t


def to_integral(x, mode):
    v = x.signed()
    floor = v.numerator // v.denominator
    rest = v - floor
    if mode == "rmi":
        return floor
    if mode == "rpi":
        return floor + (rest > 0)
    if mode == "rzi":
        return floor + (rest > 0 and v < 0)
    half_ = n.Fraction(1, 2)
    return floor + (rest > half_ or (rest == half_ and floor & 1))


def fractions_of(fmt, seed):
    """Halves, numbers about the integer types' limits, and everything special."""
    values = [0.5, -0.5, 1.5, 2.5, -1.5, -2.5, 0.25, -0.75, 127.5, 128.5, -128.5, 255.5, 32767.5, 65504.0, 2.0**31, -(2.0**31), 2.0**32,
              2.0**63, -(2.0**63), 2.0**64, 1e30, -1e30]
    bits = [n.from_python(v, fmt) for v in values]
    return (bits + sample(fmt, N, seed, size=6))[:N]


def float_to_integer(x, t, mode, fmt):
    if x.nan:
        if fmt != "f64" and width(t) < 64:
            return 0
        return ANY if width(t) < 32 else wrap(1 << (width(t) - 1), t)
    if x.inf:
        return limits(t)[0 if x.sign else 1]
    return clamp(to_integral(x, mode), t)


def conversions():
    m = Module("convert", "conversions", version="8.6")
    for fmt in FLOATS:
        for mode in ("rni", "rzi", "rmi", "rpi"):
            x = fractions_of(fmt, hash_of(fmt + mode))
            ints = [t for t in INTS if fmt != "bf16" or width(t) > 8]  # there is no conversion of bf16 to 8 bits
            code = "\n".join("cvt.%s.%s.%s %%%s, %%a;" % (mode, t, fmt, t) for t in ints)
            m.each("cvt_%s_integers_%s" % (mode, fmt), code, [IN("a", fmt, x)],
                   [OUT(t, store_type(t), [float_to_integer(decode(v, fmt), t, mode, fmt) for v in x]) for t in ints])
    x = fractions_of("f32", 5)
    m.each("cvt_rni_ftz_s32_f32", "cvt.rni.ftz.s32.f32 %d, %a;", [IN("a", "f32", x)],
           [OUT("d", "s32", [float_to_integer(decode(flush(v, "f32"), "f32"), "s32", "rni", "f32") for v in x])])
    m.each("cvt_rpi_ftz_s32_f32", "cvt.rpi.ftz.s32.f32 %d, %a;", [IN("a", "f32", x)],
           [OUT("d", "s32", [float_to_integer(decode(flush(v, "f32"), "f32"), "s32", "rpi", "f32") for v in x])])
    for t in INTS:
        source = store_type(t)
        x = integers(t, N, hash_of("to" + t))
        for mode in MODES:
            formats = [f for f in FLOATS if f != "bf16" or width(t) > 8]
            code = "\n".join("cvt.%s.%s.%s %%%s, %%a;" % (mode, f, t, f) for f in formats)
            outs = [OUT(f, f, [encode(Float(int(v < 0), n.Fraction(abs(v))), f, mode) for v in x]) for f in formats]
            m.each("cvt_%s_floats_%s" % (mode, t), code, [IN("a", source, x)], outs)
        others = [u for u in INTS if u != t]
        m.each("cvt_integers_" + t, "\n".join("cvt.%s.%s %%%s, %%a;" % (u, t, u) for u in others), [IN("a", source, x)],
               [OUT(u, store_type(u), [wrap(v, u) for v in x]) for u in others])
        others = [u for u in others if limits(t)[0] < limits(u)[0] or limits(t)[1] > limits(u)[1]]  # else .sat is refused
        if not others:
            continue
        m.each("cvt_sat_integers_" + t, "\n".join("cvt.sat.%s.%s %%%s, %%a;" % (u, t, u) for u in others), [IN("a", source, x)],
               [OUT(u, store_type(u), [clamp(v, u) for v in x]) for u in others])
    between_floats(m)
    integral(m)
    pairs(m)
    eights(m)
    packs(m)
    return m


def between_floats(m):
    order = {"f16": 0, "bf16": 0, "f32": 1, "f64": 2}
    for to in FLOATS:
        for fmt in FLOATS:
            if to == fmt:
                continue
            x = sample(fmt, N, hash_of(to + fmt), size=8)
            exact = order[to] > order[fmt]
            for mode in ("",) if exact else (MODES if "64" not in fmt or to == "f32" else ("rn", "rz", "rm", "rp")):
                dot = "." + mode if mode else ""
                if {to, fmt} == {"f16", "bf16"} and to == "f16" and mode not in ("rn", "rz", "rm", "rp"):
                    continue
                want = [encode(decode(v, fmt), to, mode or "rn") for v in x]
                m.each("cvt%s_%s_%s" % (dot.replace(".", "_"), to, fmt), "cvt%s.%s.%s %%d, %%a;" % (dot, to, fmt), [IN("a", fmt, x)],
                       [OUT("d", to, want)])
    x = sample("f32", N, 90)
    for to, mods in (("f16", ("rn", "sat")), ("f16", ("rz", "sat")), ("f16", ("rn", "ftz")), ("f16", ("rn", "relu")), ("bf16", ("rn", "relu")),
                     ("f16", ("rz", "relu")), ("bf16", ("rz", "relu")), ("f64", ("sat",)), ("f32", ("sat",)), ("f32", ("ftz",)), ("f64", ("ftz",)),
                     ("f32", ("ftz", "sat"))):
        want = []
        for v in x:
            u = flush(v, "f32") if "ftz" in mods else v
            bits = encode(decode(u, "f32"), to, mods[0] if mods[0] in MODES else "rn")
            want.append(finish(bits, to, [k for k in mods if k != "ftz"]))
        ptx = ".".join(("cvt",) + mods + (to, "f32"))
        m.each(ptx.replace(".", "_"), ptx + " %d, %a;", [IN("a", "f32", x)], [OUT("d", to, want)])
    y = sample("f64", N, 91)
    m.each("cvt_rn_ftz_f32_f64", "cvt.rn.ftz.f32.f64 %d, %a;", [IN("a", "f64", y + [])],
           [OUT("d", "f32", [flush(encode(decode(v, "f64"), "f32"), "f32") for v in y])])
    y = [n.from_python(2.0**e * 1.3, "f64") for e in range(-155, -123)]
    m.each("cvt_rn_f32_f64_subnormal", "cvt.rn.f32.f64 %d, %a;", [IN("a", "f64", y)], [OUT("d", "f32", [encode(decode(v, "f64"), "f32") for v in y])])
    y = [n.from_python(2.0**e * 1.3, "f32") for e in range(-30, 2)]
    m.each("cvt_rn_f16_f32_subnormal", "cvt.rn.f16.f32 %d, %a;", [IN("a", "f32", y)], [OUT("d", "f16", [encode(decode(v, "f32"), "f16") for v in y])])
    ties = [(0x3F800000 | k << 12) & 0xFFFFFFFF for k in range(1, 33)]
    m.each("cvt_rn_f16_f32_ties", "cvt.rn.f16.f32 %d, %a;", [IN("a", "f32", ties)], [OUT("d", "f16", [encode(decode(v, "f32"), "f16") for v in ties])])
    ties = [(0x3F800000 | k << 15) & 0xFFFFFFFF for k in range(1, 33)]
    m.each("cvt_rn_bf16_f32_ties", "cvt.rn.bf16.f32 %d, %a;", [IN("a", "f32", ties)], [OUT("d", "bf16", [encode(decode(v, "f32"), "bf16") for v in ties])])


def integral(m):
    for fmt in FLOATS:
        for mode in ("rni", "rzi", "rmi", "rpi"):
            x = fractions_of(fmt, hash_of("i" + fmt + mode))
            want = []
            for v in x:
                d = decode(v, fmt)
                want.append(NAN if d.nan else v if d.inf else encode(Float(d.sign, n.Fraction(abs(to_integral(d, mode)))), fmt))
            m.each("cvt_%s_%s_%s" % (mode, fmt, fmt), "cvt.%s.%s.%s %%d, %%a;" % (mode, fmt, fmt), [IN("a", fmt, x)], [OUT("d", fmt, want)])


def pairs(m):
    for fmt in ("f16", "bf16"):
        for mods in (("rn",), ("rz",), ("rn", "relu"), ("rz", "relu")):
            a, b = sample("f32", N, 95), sample("f32", N, 96)
            want = []
            for hi, lo in zip(a, b):
                for v in (lo, hi):
                    want.append(finish(encode(decode(v, "f32"), fmt, mods[0]), fmt, mods[1:]))
            ptx = ".".join(("cvt",) + mods + (fmt + "x2", "f32"))
            m.each(ptx.replace(".", "_"), ptx + " %d, %a, %b;", [IN("a", "f32", a), IN("b", "f32", b)], [OUT("d", fmt, want, words=2)],
                   "the first source to the high half")
    a = sample("f32", N, 97)
    for mods in (("rna",), ("rn",), ("rz",), ("rn", "relu"), ("rz", "relu")):
        want = []
        for v in a:
            x = decode(v, "f32")
            if x.nan:
                # Integer instructions make .rna: a payload that the format drops leaves anything.
                kept = v & 0x7FFFFF & ~0x1FFF
                want.append(0x7FFFE000 if mods[0] != "rna" else NAN if kept else ANY)
                continue
            up = {"rna": 0x1000, "rn": 0xFFF + (v >> 13 & 1), "rz": 0}[mods[0]]
            r = v if x.inf else (v + up) & ~0x1FFF
            want.append(0 if "relu" in mods and r >> 31 else r)
        ptx = ".".join(("cvt",) + mods + ("tf32", "f32"))
        m.each(ptx.replace(".", "_"), ptx + " %d, %a;", [IN("a", "f32", a)], [OUT("d", "f32", want)])


def eights(m):
    for fmt in ("e4m3", "e5m2"):
        top = 0x7E if fmt == "e4m3" else 0x7B
        values = [0.0, -0.0, 1.0, -1.0, 448.0, 464.0, 465.0, 1e9, -1e9, 57344.0, 61440.0, 70000.0, 2.0**-9, 2.0**-10, 2.0**-11, 1.5 * 2.0**-10,
                  0.3, -0.7, 1.0625, 1.1875, 17.0, 19.0, 2.0**-16, 2.0**-17, 1.5 * 2.0**-17, float("inf"), float("-inf"), float("nan"), 100.0, -3.3]
        a = ([n.from_python(v, "f32") for v in values] + sample("f32", N, 98))[:N]
        b = list(reversed(a))

        def one(bits, source, relu_=False):
            x = decode(bits, source)
            r = 0x7F if x.nan else encode(x, fmt, "rn", saturate=True)
            r = r & 0x80 | top if not x.nan and r & 0x7F > top else r
            return 0 if relu_ and r & 0x80 else r

        for mods in (("rn", "satfinite"), ("rn", "satfinite", "relu")):
            ptx = ".".join(("cvt",) + mods + (fmt + "x2", "f32"))
            m.each(ptx.replace(".", "_"), ptx + " %d, %a, %b;", [IN("a", "f32", a), IN("b", "f32", b)],
                   [OUT("d", "b16", [one(p, "f32", "relu" in mods) << 8 | one(q, "f32", "relu" in mods) for p, q in zip(a, b)])])
        h = sample("f16", 2 * N, 99, size=8)
        ptx = "cvt.rn.satfinite.%sx2.f16x2" % fmt
        m.each(ptx.replace(".", "_"), ptx + " %d, %a;", [IN("a", "f16", h, 2)],
               [OUT("d", "b16", [one(h[2 * k + 1], "f16") << 8 | one(h[2 * k], "f16") for k in range(N)])])
        q = [(37 * k) & 0xFF | ((91 * k + 127) & 0xFF) << 8 for k in range(N - 4)] + [0x7F7E, 0xFF80, 0x7B7C, 0x0108]
        want = []
        for v in q:
            for e in (v & 255, v >> 8):
                want.append(encode(decode(e, fmt), "f16"))
        m.each("cvt_rn_f16x2_%sx2" % fmt, "cvt.rn.f16x2.%sx2 %%d, %%a;" % fmt, [IN("a", "b16", q)], [OUT("d", "f16", want, words=2)])


def packs(m):
    a, b, c = integers("s32", N, 101), integers("s32", N, 102), integers("b32", N, 103)
    for t in ("u16", "s16"):
        mask = 0xFFFF
        m.each("cvt_pack_sat_%s_s32" % t, "cvt.pack.sat.%s.s32 %%d, %%a, %%b;" % t, [IN("a", "s32", a), IN("b", "s32", b)],
               [OUT("d", "b32", [(clamp(p, t) & mask) << 16 | clamp(q, t) & mask for p, q in zip(a, b)])])
    for t in ("u8", "s8"):
        m.each("cvt_pack_sat_%s_s32_b32" % t, "cvt.pack.sat.%s.s32.b32 %%d, %%a, %%b, %%c;" % t,
               [IN("a", "s32", a), IN("b", "s32", b), IN("c", "b32", c)],
               [OUT("d", "b32", [(r << 16 | (clamp(p, t) & 255) << 8 | clamp(q, t) & 255) & 0xFFFFFFFF for p, q, r in zip(a, b, c)])])


def modules():
    return [arithmetic("f32"), arithmetic("f64"), half("f16"), half("bf16"), conversions()]

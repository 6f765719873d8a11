"""Products of matrices in more types and shapes than tensor.py has, and wmma."""

import random

import number as n
from emit import IN, OUT, Module
from number import from_python

N = 32
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "e4m3": 8, "e5m2": 8}
RANGE = {"s8": (-128, 127), "u8": (0, 255), "s4": (-8, 7), "u4": (0, 15), "b1": (0, 1)}


def random_matrix(r, rows, columns, t):
    low, high = RANGE.get(t, (-6, 6))
    return [[r.randint(low, high) for _ in range(columns)] for _ in range(rows)]


def product(a, b, c, bits=None):
    """bits: what becomes of two single bits."""
    times = bits or (lambda x, y: x * y)
    return [[c[i][j] + sum(times(a[i][e], b[e][j]) for e in range(len(b))) for j in range(len(b[0]))] for i in range(len(a))]


def code(v, t):
    """A whole number, an infinity or a NaN as the bits of an element."""
    if v != v:
        return n.NAN
    if abs(v) == float("inf"):
        return n.inf_bits("f32" if t == "tf32" else t, int(v < 0))
    if t in ("tf32", "f32"):
        return from_python(float(v), "f32")
    if t in n.FORMATS:
        return n.encode(n.Float(int(v < 0), n.Fraction(abs(v))), t)
    return v & ((1 << BITS[t]) - 1)


def array(values, t):
    """Elements as the case format has them, and the type that it knows: small ones in words, the first lowest."""
    if t in ("tf32", "f32", "f64", "f16", "bf16"):
        return [code(v, t) for v in values], "f32" if t == "tf32" else t
    if t in n.INTEGERS:
        return values, t
    bits, each = BITS[t], 32 // BITS[t]
    return [sum(code(v, t) << bits * j for j, v in enumerate(values[k : k + each])) for k in range(0, len(values), each)], "b32"


def register_bytes(t):
    return 8 if t == "f64" else 4


def registers(prefix, count):
    return "{%s}" % ", ".join("%%%s%d" % (prefix, j) for j in range(count))


# ---- mma: lane 4 g + t; registers of e elements along k, rows 8 apart first ----


def fragment_a(a, e, k):
    down = len(a) // 8
    return [a[l // 4 + 8 * (q % down)][e * (l % 4) + h + 4 * e * (q // down)] for l in range(N) for q in range(down * k // (4 * e)) for h in range(e)]


def fragment_b(b, e, k):
    return [b[e * (l % 4) + h + 4 * e * q][l // 4] for l in range(N) for q in range(k // (4 * e)) for h in range(e)]


def fragment_c(c):
    return [c[l // 4 + 8 * q][2 * (l % 4) + h] for l in range(N) for q in range(len(c) // 8) for h in range(2)]


def mma(m, shape, ta, tb, tc, td, mods="", bits=None, note=""):
    rows, columns, k = shape
    r = random.Random("%s %s %s %s" % (shape, ta, tb, mods))
    e = max(1, 32 // BITS[ta])
    a, b = random_matrix(r, rows, k, ta), random_matrix(r, k, columns, tb)
    c = random_matrix(r, rows, columns, tc)
    if "satfinite" in mods:
        c = [[r.choice([2147483647, -2147483648, 2147483600]) for _ in range(columns)] for _ in range(rows)]
    d = product(a, b, c, bits)
    if td == "s32":
        d = [[(n.clamp if "satfinite" in mods else n.wrap)(v, "s32") for v in row] for row in d]
    arrays, load, regs, counts = [], [], [], {}
    for name, values, t in (("a", fragment_a(a, e, k), ta), ("b", fragment_b(b, e, k), tb), ("c", fragment_c(c), tc), ("d", fragment_c(d), td)):
        coded, kind = array(values, t)
        size = register_bytes(t)
        counts[name] = len(values) * BITS[t] // (8 * size * N)
        arrays.append(IN(name, kind, coded) if name != "d" else OUT(name, kind, coded))
        regs.append(".reg .%s %%%s<%d>;" % ("f64" if size == 8 else "b32", name, counts[name]))
        wt = "b%d" % (8 * size)
        load.append("mad.wide.u32 %%p, %%me, %d, $%s$;" % (size * counts[name], name))
        for j in range(counts[name]):
            load.append("ld.global.%s %%%s%d, [%%p+%d];" % (wt, name, j, size * j) if name != "d" else "st.global.%s [%%p+%d], %%d%d;" % (wt, size * j, j))
    stores = load[-1 - counts["d"] :]
    parts = [registers(x, counts[x]) for x in "dabc"]
    name = "mma_m%dn%dk%d_%s_%s_%s_%s%s" % (rows, columns, k, td, ta, tb, tc, mods.replace(".", "_"))
    form = "mma.sync.aligned.m%dn%dk%d.row.col" % shape
    tail = ".%s.%s.%s.%s" % (td, ta, tb, tc) + (mods if bits else "")
    m.entry(name, arrays, "\n".join(load[: len(load) - len(stores)] + [form + ("" if bits else mods) + tail + " " + ", ".join(parts) + ";"] + stores),
            "\n".join(regs) + "\n.reg .b64 %p;", note)


XOR, AND = (lambda x, y: x ^ y), (lambda x, y: x & y)


def products():
    m = Module("mma", "mma.sync of doubles, bytes, nibbles, single bits and 8-bit floating types", version="8.7")
    for shape in ((8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)):
        mma(m, shape, "f64", "f64", "f64", "f64")
    for shape, types in (((8, 8, 16), ("s8", "u8")), ((16, 8, 16), ("u8", "s8")), ((8, 8, 32), ("s4", "u4")), ((16, 8, 32), ("u4", "s4")), ((16, 8, 64), ("s4", "s4"))):
        for ta, tb in (types, (types[0], types[0])) if types[0] != types[1] else (types,):
            mma(m, shape, ta, tb, "s32", "s32")
        mma(m, shape, types[0], types[1], "s32", "s32", ".satfinite")
    for shape in ((8, 8, 128), (16, 8, 128), (16, 8, 256)):
        mma(m, shape, "b1", "b1", "s32", "s32", ".xor.popc", XOR)
        mma(m, shape, "b1", "b1", "s32", "s32", ".and.popc", AND)
    for ta, tb in (("e4m3", "e4m3"), ("e5m2", "e5m2"), ("e4m3", "e5m2"), ("e5m2", "e4m3")):
        mma(m, (16, 8, 32), ta, tb, "f32", "f32")
    for k in (16, 32):
        mma(m, (16, 8, k), "e4m3", "e5m2", "f16", "f16")
    mma(m, (16, 8, 16), "e5m2", "e4m3", "f32", "f32")
    return m


# ---- wmma ----


def flat(x, layout, pad):
    """A matrix as memory holds it, rows (columns) `pad` elements further apart than they are long."""
    lines = x if layout == "row" else [list(c) for c in zip(*x)]
    return [v for line in lines for v in list(line) + [0] * pad], len(lines[0]) + pad


def wmma_registers(part, shape, t):
    rows, columns, k = shape
    if t == "f16" and part in "ab":
        return 8
    size = {"a": rows * k, "b": k * columns}.get(part, rows * columns)
    return size * BITS[t] // N // (64 if t == "f64" else 32)


def declared(t, name, count):
    return ".reg .%s %%%s<%d>;" % ({"f32": "f32", "f64": "f64"}.get(t, "b32"), name, count)


def wmma(m, shape, ta, tb, tc, td, layouts, mods="", bits=None, pad=0, space="global", tag="", note=""):
    """layouts: of A, B, C and D. A is read from `space`; D is written there, too."""
    rows, columns, k = shape
    r = random.Random("wmma %s %s %s %s" % (shape, ta, tc, layouts))
    a, b, c = random_matrix(r, rows, k, ta), random_matrix(r, k, columns, tb), random_matrix(r, rows, columns, tc)
    if "satfinite" in mods:
        c = [[r.choice([2147483647, -2147483648, 2147483600]) for _ in range(columns)] for _ in range(rows)]
    d = product(a, b, c, bits)
    if td == "s32":
        d = [[(n.clamp if "satfinite" in mods else n.wrap)(v, "s32") for v in row] for row in d]
    name = "wmma_m%dn%dk%d_%s_%s_%s_%s" % (rows, columns, k, td, ta, tc, "".join(x[0] for x in layouts)) + mods.replace(".", "_") + tag
    form = ".sync.aligned.%s.m%dn%dk%d"
    arrays, regs, code_of, stride = [], [".reg .b64 %p, %q;", ".reg .b32 %s, %t;"], [], {}
    for part, x, t, layout in (("a", a, ta, layouts[0]), ("b", b, tb, layouts[1]), ("c", c, tc, layouts[2]), ("d", d, td, layouts[3])):
        values, stride[part] = flat(x, layout, pad * 128 // BITS[t])
        coded, kind = array(values, t)
        arrays.append(IN(part, kind, coded) if part != "d" else OUT(part, kind, coded))
        regs.append(declared(t, part, wmma_registers(part, shape, t)))
        stride[part + "bytes"] = len(coded) * n.width(kind) // 8
        if part != "d":
            at = "[$%s$]" % part
            if part == "a" and space != "global":
                code_of += to_shared(name, stride["abytes"]) if space == "shared" else ["cvta.global.u64 %q, $a$;"]
                at = "[%s]" if space == "shared" else "[%q]"
            code_of.append("wmma.load.%s%s%s.%s %s, %s, %d;" % (part, form % ((layout,) + shape), "" if part == "a" and space == "generic" else "." + (space if part == "a" else "global"),
                                                               t, registers(part, wmma_registers(part, shape, t)), at, stride[part]))
    types = "%s.%s" % (td, tc) if ta == "f16" else "%s.%s.%s.%s" % (td, ta, tb, tc)
    parts = [registers(x, wmma_registers(x, shape, t)) for x, t in (("d", td), ("a", ta), ("b", tb), ("c", tc))]
    rounding = ".rn" if ta == "f64" else ""
    code_of.append("wmma.mma%s.sync.aligned.%s.%s.m%dn%dk%d%s.%s%s %s;" % ((mods if bits else "", layouts[0], layouts[1]) + shape + (rounding, types, "" if bits else mods, ", ".join(parts))))
    if pad:  # what lies between the rows is 0, as expected
        code_of += ["setp.lt.u32 %%in, %%me, %d;" % (stride["dbytes"] // 16 % N or N)]
        code_of += ["mad.wide.u32 %p, %me, 16, $d$;", "mov.b32 %t, 0;"]
        code_of += ["st.global.v4.b32 [%%p+%d], {%%t, %%t, %%t, %%t};" % (512 * j) for j in range(stride["dbytes"] // 512)]
        if stride["dbytes"] % 512:
            code_of += ["@%%in st.global.v4.b32 [%%p+%d], {%%t, %%t, %%t, %%t};" % (stride["dbytes"] // 512 * 512)]
        code_of += ["bar.warp.sync 0xffffffff;"]
        regs.append(".reg .pred %in;")
    if space == "shared":
        code_of += ["mov.u32 %%s, to_%s;" % name, "wmma.store.d%s.shared.%s [%%s], %s, %d;" % (form % ((layouts[3],) + shape), td, parts[0], stride["d"]), "bar.warp.sync 0xffffffff;"]
        code_of += from_shared(stride["dbytes"])
        regs.append(".shared .align 32 .b8 from_%s[%d];\n.shared .align 32 .b8 to_%s[%d];\n.reg .b32 %%w;" % (name, stride["abytes"], name, stride["dbytes"]))
    elif space == "generic":
        code_of += ["cvta.global.u64 %q, $d$;", "mov.u32 %%t, %d;" % stride["d"], "wmma.store.d%s.%s [%%q], %s, %%t;" % (form % ((layouts[3],) + shape), td, parts[0])]
    else:
        code_of.append("wmma.store.d%s.global.%s [$d$], %s, %d;" % (form % ((layouts[3],) + shape), td, parts[0], stride["d"]))
    m.entry(name, arrays, "\n".join(code_of), "\n".join(regs), note)


def to_shared(name, size):
    out = ["mov.u32 %%s, from_%s;" % name, "mad.lo.u32 %t, %me, 4, %s;", "mad.wide.u32 %p, %me, 4, $a$;"]
    for at in range(0, size, 128):
        out += ["ld.global.b32 %%w, [%%p+%d];" % at, "st.shared.b32 [%%t+%d], %%w;" % at]
    return out + ["bar.warp.sync 0xffffffff;"]


def from_shared(size):
    out = ["mad.lo.u32 %t, %me, 4, %s;", "mad.wide.u32 %p, %me, 4, $d$;"]
    for at in range(0, size, 128):
        out += ["ld.shared.b32 %%w, [%%t+%d];" % at, "st.global.b32 [%%p+%d], %%w;" % at]
    return out


def across_along(part, shape, t, lane, slot):
    """Where an H200 holds it; the ISA leaves this open. Element number `slot` of a lane, counted through its registers."""
    rows, columns, k = shape
    turned = (rows, columns) == (8, 32)
    run = 2 if part == "c" else max(1, 32 // BITS[t])
    piece, h = slot // run, slot % run
    if part == "c":
        high = columns if turned else rows
        across, along = 8 * (piece % (high // 8)), 4 * run * (piece // (high // 8))
    else:
        steps = k // (4 * run)
        tall = (part == "a") != turned and (columns if turned else rows) > 8
        if tall:  # like mma's A: 16 by k, one below the other
            tile, q = piece // (2 * steps), piece % (2 * steps)
            across, along = 16 * tile + 8 * (q % 2), 4 * run * (q // 2)
        else:
            across, along = 8 * (piece // steps), 4 * run * (piece % steps)
    x, y = across + lane // 4, along + run * (lane % 4) + h
    return (y, x) if (part == "b") or (part == "c" and turned) else (x, y)


def wmma_fragment(m, part, shape, t, layout):
    rows, columns, k = shape
    high, wide = {"a": (rows, k), "b": (k, columns), "c": (rows, columns)}[part]
    x = [[(i * wide + j) * 7 % 251 - 125 if BITS[t] == 8 else i * wide + j for j in range(wide)] for i in range(high)]
    values, stride = flat(x, layout, 0)
    bare = "s16" if t in ("f16", "bf16") else t  # bits, not numbers
    coded, kind = array(values, bare)
    count = wmma_registers(part, shape, t)
    each = (64 if t == "f64" else 32) // BITS[t]
    own = high * wide // N
    held = []
    for lane in range(N):
        for slot in range(count * each):
            i, j = across_along(part, shape, t, lane, slot % own)
            held.append(x[i][j])
    size = register_bytes(t)
    body = ["wmma.load.%s.sync.aligned.%s.m%dn%dk%d.global.%s %s, [$a$], %d;" % ((part, layout) + shape + (t, registers("r", count), stride)), "mad.wide.u32 %%p, %%me, %d, $d$;" % (size * count)]
    body += ["st.global.b%d [%%p+%d], %%r%d;" % (8 * size, size * j, j) for j in range(count)]
    m.entry("wmma_fragment_%s_m%dn%dk%d_%s_%s" % ((part,) + shape + (t, layout)), [IN("a", kind, coded), OUT("d", kind, array(held, bare)[0])], "\n".join(body),
            declared(t, "r", count) + "\n.reg .b64 %p;", "which lane holds what; the ISA leaves it open, an H200 does this")


BITS["s16"] = 16
SHAPES = ((16, 16, 16), (32, 8, 16), (8, 32, 16))


def fragments():
    m = Module("wmma", "wmma.load, wmma.mma, wmma.store", version="8.0")
    for shape in SHAPES:
        wide = [("row", "row", "row", "row"), ("col", "col", "col", "col"), ("row", "col", "col", "row"), ("col", "row", "row", "col")]
        for layouts in wide if shape == SHAPES[0] else wide[2:]:
            wmma(m, shape, "f16", "f16", "f32", "f32", layouts)
        for layouts in wide[2:]:
            wmma(m, shape, "bf16", "bf16", "f32", "f32", layouts)
            wmma(m, shape, "s8", "s8", "s32", "s32", layouts)
        wmma(m, shape, "u8", "u8", "s32", "s32", wide[2])
        wmma(m, shape, "f16", "f16", "f16", "f16", wide[0])
        wmma(m, shape, "f16", "f16", "f16", "f16", wide[1])
        wmma(m, shape, "f16", "f16", "f16", "f32", wide[2])
        wmma(m, shape, "f16", "f16", "f32", "f16", wide[3])
        wmma(m, shape, "s8", "s8", "s32", "s32", wide[2], ".satfinite")
        wmma(m, shape, "f16", "f16", "f32", "f32", wide[0], pad=1, tag="_padded", note="16 bytes between the rows")
        for space in ("shared", "generic"):
            wmma(m, shape, "f16", "f16", "f32", "f32", wide[3], space=space, tag="_" + space)
    for layouts in wide:
        wmma(m, (16, 16, 8), "tf32", "tf32", "f32", "f32", layouts)
        wmma(m, (8, 8, 4), "f64", "f64", "f64", "f64", layouts)
    for layout in ("row", "col"):
        some = ("row", "col", layout, layout)
        wmma(m, (8, 8, 32), "s4", "s4", "s32", "s32", some)
        wmma(m, (8, 8, 32), "u4", "u4", "s32", "s32", some, ".satfinite")
        wmma(m, (8, 8, 128), "b1", "b1", "s32", "s32", some, ".xor.popc", XOR)
        wmma(m, (8, 8, 128), "b1", "b1", "s32", "s32", some, ".and.popc", AND)
        for shape in SHAPES:
            for part, types in (("a", ("f16", "s8")), ("b", ("f16", "s8")), ("c", ("f16",) if layout == "row" else ("f32",))):
                for t in types:
                    wmma_fragment(m, part, shape, t, layout)
        for part, t in (("a", "tf32"), ("b", "tf32"), ("c", "f32")):
            wmma_fragment(m, part, (16, 16, 8), t, layout)
        for part in "abc":
            wmma_fragment(m, part, (8, 8, 4), "f64", layout)
    return m


def modules():
    return [products(), fragments()]

"""Integer arithmetic, bits, comparison of integers, moves."""

from emit import ANY, IN, OUT, Array, Module
from number import INTEGERS, clamp, integers, limits, width, wrap

N = 32


def reg(t):
    return "b%d" % max(16, width(t))


def tdiv(a, b):
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


def shown(t, values):
    return [wrap(v, t) for v in values]


def pairs(t, seed):
    return integers(t, N, seed), integers(t, N, seed + 1000)


def binary(m, name, ptx, t, f, to=None, a=None, b=None, tb=None, note=""):
    x, y = pairs(t, hash_of(name))
    x, y = a or x, b or y
    to = to or t
    want = [v if isinstance(v, str) else wrap(v, to) for v in (f(p, q) for p, q in zip(x, y))]
    m.each(name, ptx + " %d, %a, %b;", [IN("a", t, x), IN("b", tb or t, y)], [OUT("d", to, want)], note)


def hash_of(name):
    v = 0
    for c in name:
        v = (v * 31 + ord(c)) % 1000003
    return v


def unary(m, name, ptx, t, f, to=None, a=None, note=""):
    x = a or integers(t, N, hash_of(name))
    to = to or t
    m.each(name, ptx + " %d, %a;", [IN("a", t, x)], [OUT("d", to, [wrap(f(v), to) for v in x])], note)


def ternary(m, name, ptx, t, f, to=None, tc=None, b=None, c=None, note=""):
    x, y = pairs(t, hash_of(name))
    y = b or y
    tc = tc or t
    z = c or integers(tc, N, hash_of(name) + 7)
    to = to or tc
    want = [wrap(f(p, q, r), to) for p, q, r in zip(x, y, z)]
    m.each(name, ptx + " %d, %a, %b, %c;", [IN("a", t, x), IN("b", t, y), IN("c", tc, z)], [OUT("d", to, want)], note)


def arithmetic():
    m = Module("integer", "integer arithmetic")
    for t in ("u16", "s16", "u32", "s32", "u64", "s64"):
        n = width(t)
        binary(m, "add_" + t, "add." + t, t, lambda a, b: a + b)
        binary(m, "sub_" + t, "sub." + t, t, lambda a, b: a - b)
        binary(m, "mul_lo_" + t, "mul.lo." + t, t, lambda a, b: a * b)
        binary(m, "mul_hi_" + t, "mul.hi." + t, t, lambda a, b: a * b >> n)
        ternary(m, "mad_lo_" + t, "mad.lo." + t, t, lambda a, b, c: a * b + c)
        ternary(m, "mad_hi_" + t, "mad.hi." + t, t, lambda a, b, c: (a * b >> n) + c)
        binary(m, "min_" + t, "min." + t, t, min)
        binary(m, "max_" + t, "max." + t, t, max)
        ternary(m, "sad_" + t, "sad." + t, t, lambda a, b, c: c + abs(a - b))
        low = limits(t)[0]
        # By zero: any value, but no crash. The lowest number by -1 does not fit and wraps or not: any.
        bad = lambda a, b: b == 0 or (low < 0 and a == low and b == -1)
        binary(m, "div_" + t, "div." + t, t, lambda a, b: ANY if bad(a, b) else tdiv(a, b))
        binary(m, "rem_" + t, "rem." + t, t, lambda a, b: ANY if bad(a, b) else a - b * tdiv(a, b))
        if low < 0:
            unary(m, "abs_" + t, "abs." + t, t, abs)
            unary(m, "neg_" + t, "neg." + t, t, lambda a: -a)
        if n < 64:
            wide = t[0] + str(2 * n)
            binary(m, "mul_wide_" + t, "mul.wide." + t, t, lambda a, b: a * b, to=wide)
            ternary(m, "mad_wide_" + t, "mad.wide." + t, t, lambda a, b, c: a * b + c, tc=wide)
    binary(m, "add_sat_s32", "add.sat.s32", "s32", lambda a, b: clamp(a + b, "s32"))
    binary(m, "sub_sat_s32", "sub.sat.s32", "s32", lambda a, b: clamp(a - b, "s32"))
    ternary(m, "mad_hi_sat_s32", "mad.hi.sat.s32", "s32", lambda a, b, c: clamp((a * b >> 32) + c, "s32"))
    for t in ("u32", "s32"):
        cut = lambda v: wrap(v, "u32") & 0xFFFFFF if t == "u32" else (((v & 0xFFFFFF) ^ 0x800000) - 0x800000)
        binary(m, "mul24_lo_" + t, "mul24.lo." + t, t, lambda a, b: cut(a) * cut(b))
        binary(m, "mul24_hi_" + t, "mul24.hi." + t, t, lambda a, b: cut(a) * cut(b) >> 16)
        ternary(m, "mad24_lo_" + t, "mad24.lo." + t, t, lambda a, b, c: cut(a) * cut(b) + c)
        ternary(m, "mad24_hi_" + t, "mad24.hi." + t, t, lambda a, b, c: (cut(a) * cut(b) >> 16) + c)
    binary(m, "min_relu_s32", "min.relu.s32", "s32", lambda a, b: max(0, min(a, b)))
    binary(m, "max_relu_s32", "max.relu.s32", "s32", lambda a, b: max(0, max(a, b)))
    packed(m, "add_u16x2", "add.u16x2", "u16", lambda a, b: a + b)
    packed(m, "add_s16x2", "add.s16x2", "s16", lambda a, b: a + b)
    for t in ("u16", "s16"):
        packed(m, "min_%sx2" % t, "min.%sx2" % t, t, min)
        packed(m, "max_%sx2" % t, "max.%sx2" % t, t, max)
    packed(m, "min_relu_s16x2", "min.relu.s16x2", "s16", lambda a, b: max(0, min(a, b)))
    packed(m, "max_relu_s16x2", "max.relu.s16x2", "s16", lambda a, b: max(0, max(a, b)))
    immediates(m)
    carry(m)
    return m


def packed(m, name, ptx, t, f):
    x, y = integers(t, 2 * N, hash_of(name)), integers(t, 2 * N, hash_of(name) + 1)
    want = [wrap(f(a, b), t) for a, b in zip(x, y)]
    m.each(name, ptx + " %d, %a, %b;", [IN("a", t, x, 2), IN("b", t, y, 2)], [OUT("d", t, want, words=2)])


def immediates(m):
    for t, value, text in (("s32", -7, "-7"), ("u32", 0x80000000, "0x80000000"), ("s64", -5000000000, "-5000000000")):
        x = integers(t, N, 77)
        want = [wrap(v + value, t) for v in x]
        m.each("add_%s_immediate" % t, "add.%s %%d, %%a, %s;" % (t, text), [IN("a", t, x)], [OUT("d", t, want)])
    x = integers("u32", N, 78)
    m.each("sub_immediate_first", "sub.u32 %d, 10, %a;", [IN("a", "u32", x)], [OUT("d", "u32", [wrap(10 - v, "u32") for v in x])])
    m.each("mad_same_register", "mad.lo.u32 %a, %a, %a, %a;\nmov.b32 %d, %a;", [IN("a", "u32", x)],
           [OUT("d", "u32", [wrap(v * v + v, "u32") for v in x])], "destination equals sources")


def carry(m):
    for t in ("u32", "u64", "s32", "s64"):
        n, u = width(t), "u" + t[1:]
        mask = (1 << n) - 1
        rows = [integers(u, N, 90 + k + n) for k in range(4)]
        sums, differences = [], []
        for a, b, c, d in zip(*rows):
            s = (a | c << n) + (b | d << n)
            sums.append((s & mask, s >> n & mask))
            s = (a | c << n) - (b | d << n)
            differences.append((s & mask, s >> n & mask))
        ins = [IN(k, u, r) for k, r in zip("abce", rows)]
        for name, f, r in (("add", "add", sums), ("sub", "sub", differences)):
            code = "%s.cc.%s %%lo, %%a, %%b;\n%sc.%s %%hi, %%c, %%e;" % (f, t, f, t)
            m.each("%s_cc_%sc_%s" % (f, f, t), code, ins, [OUT("lo", u, [x[0] for x in r]), OUT("hi", u, [x[1] for x in r])])
        # Three words, so that addc.cc hands the carry on.
        third = []
        for a, b, c, d in zip(*rows):
            s = (a | c << n | a << 2 * n) + (b | d << n | d << 2 * n)
            third.append(s >> 2 * n & mask)
        code = "add.cc.%s %%b, %%a, %%b;\naddc.cc.%s %%c, %%c, %%e;\naddc.%s %%hi, %%a, %%e;" % (t, t, t)
        m.each("addc_cc_chain_" + t, code, ins, [OUT("hi", u, third)])
        lo, hi = [], []
        for a, b, c, d in zip(*rows):
            s = a * b + (c | d << n)
            lo.append(s & mask)
            hi.append(s >> n & mask)
        if t[0] == "u":
            code = "mad.lo.cc.%s %%lo, %%a, %%b, %%c;\nmadc.hi.%s %%hi, %%a, %%b, %%e;" % (t, t)
            m.each("mad_cc_madc_" + t, code, ins, [OUT("lo", u, lo), OUT("hi", u, hi)])


def bits():
    m = Module("bits", "bits, shifts, permutations, dot products", version="8.2")
    for n in (16, 32, 64):
        b, mask = "b%d" % n, (1 << n) - 1
        binary(m, "and_" + b, "and." + b, b, lambda x, y: x & y)
        binary(m, "or_" + b, "or." + b, b, lambda x, y: x | y)
        binary(m, "xor_" + b, "xor." + b, b, lambda x, y: x ^ y)
        unary(m, "not_" + b, "not." + b, b, lambda x: ~x)
        unary(m, "cnot_" + b, "cnot." + b, b, lambda x: int(x == 0))
        amounts = [0, 1, 2, n - 1, n, n + 1, 31, 32, 33, 63, 64, 65, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 5] * 2
        x = integers(b, N, n)
        m.each("shl_" + b, "shl.%s %%d, %%a, %%b;" % b, [IN("a", b, x), IN("b", "u32", amounts)],
               [OUT("d", b, [v << s & mask if s < n else 0 for v, s in zip(x, amounts)])], "amounts past the width give 0")
        for t in ("u%d" % n, "s%d" % n):
            x = integers(t, N, n + 3)
            m.each("shr_" + t, "shr.%s %%d, %%a, %%b;" % t, [IN("a", t, x), IN("b", "u32", amounts)],
                   [OUT("d", t, [wrap(v >> min(s, n), t) for v, s in zip(x, amounts)])], "amounts past the width give 0 or the sign")
    for n in (32, 64):
        b, mask = "b%d" % n, (1 << n) - 1
        x = integers(b, N, 5)
        unary(m, "popc_" + b, "popc." + b, b, lambda v: bin(v).count("1"), to="u32", a=x)
        unary(m, "clz_" + b, "clz." + b, b, lambda v: n - v.bit_length(), to="u32", a=x)
        unary(m, "brev_" + b, "brev." + b, b, lambda v: int(bin(v + (1 << n))[3:][::-1], 2), a=x)
        for t in ("u%d" % n, "s%d" % n):
            x = integers(t, N, 6)

            def find(v):
                v = ~v if v < 0 else v
                return v.bit_length() - 1 if v else 0xFFFFFFFF

            unary(m, "bfind_" + t, "bfind." + t, t, find, to="u32", a=x)
            unary(m, "bfind_shiftamt_" + t, "bfind.shiftamt." + t, t,
                  lambda v: n - 1 - find(v) if find(v) != 0xFFFFFFFF else find(v), to="u32", a=x)
            field(m, t, n)
        insert(m, b, n)
    special_bits(m)
    dots(m)
    return m


def places(n):
    """The ISA allows 0..255; only 32-bit fields take the low byte of more."""
    return (([0, 1, 4, 8, 16, 31, 32, 40, 63, 64, 255] + ([256, 300] if n == 32 else [128, 200])) * 3)[:N]


def field(m, t, n):
    x = integers(t, N, 8)
    at = places(n)
    length = ([0, 1, 8, 16, 32, 64, 255, 3, 5, 31, 33] * 3)[:N]

    def extract(a, p, q):
        p, q = p & 255, q & 255
        u = a & ((1 << n) - 1)
        sign = 0
        if t[0] == "s" and q:
            sign = u >> min(p + q - 1, n - 1) & 1
        r = 0
        for k in range(n):
            bit = u >> (p + k) & 1 if k < q and p + k < n else sign
            r |= bit << k
        return wrap(r, t)

    m.each("bfe_" + t, "bfe.%s %%d, %%a, %%b, %%c;" % t, [IN("a", t, x), IN("b", "u32", at), IN("c", "u32", length)],
           [OUT("d", t, [extract(*v) for v in zip(x, at, length)])], "position and length in 0..255, past the width too")


def insert(m, b, n):
    x, y = integers(b, N, 9), integers(b, N, 10)
    at = places(n)
    length = ([0, 1, 8, 16, 32, 64, 255, 3, 5, 31, 33] * 3)[:N]

    def put(a, base, p, q):
        p, q = p & 255, q & 255
        for k in range(q):
            if p + k < n:
                base = base & ~(1 << (p + k)) | (a >> k & 1 if k < n else 0) << (p + k)
        return base

    m.each("bfi_" + b, "bfi.%s %%d, %%a, %%b, %%c, %%e;" % b,
           [IN("a", b, x), IN("b", b, y), IN("c", "u32", at), IN("e", "u32", length)],
           [OUT("d", b, [put(*v) for v in zip(x, y, at, length)])])


def special_bits(m):
    x, y, z = integers("b32", N, 11), integers("b32", N, 12), integers("b32", N, 13)
    full = 0xFFFFFFFF
    for lut in (0x80, 0xFE, 0x96, 0xE8, 0xCA, 0x00, 0xFF, 0x1B):
        want = []
        for a, b, c in zip(x, y, z):
            r = 0
            for k in range(32):
                r |= (lut >> ((a >> k & 1) * 4 + (b >> k & 1) * 2 + (c >> k & 1)) & 1) << k
            want.append(r)
        m.each("lop3_%02x" % lut, "lop3.b32 %%d, %%a, %%b, %%c, 0x%02x;" % lut,
               [IN("a", "b32", x), IN("b", "b32", y), IN("c", "b32", z)], [OUT("d", "b32", want)])
    q = [k & 1 for k in range(N)]
    for op, f in (("or", lambda p, r: p | r), ("and", lambda p, r: p & r)):
        code = "setp.ne.u32 %%q, %%c, 0;\nlop3.%s.b32 %%d|%%p, %%a, %%b, 0, 0xc0, %%q;\nselp.u32 %%e, 1, 0, %%p;" % op
        m.each("lop3_" + op, code, [IN("a", "b32", x), IN("b", "b32", y), IN("c", "u32", q)],
               [OUT("d", "b32", [a & b for a, b in zip(x, y)]), OUT("e", "u32", [f(int(a & b != 0), c) for a, b, c in zip(x, y, q)])],
               regs=".reg .pred %p, %q;")
    amounts = [0, 1, 4, 16, 31, 32, 33, 64, 100, 0x80000000, full, 8, 24, 30, 2, 63] * 2
    for mode in ("wrap", "clamp"):
        n = [s & 31 if mode == "wrap" else min(s, 32) for s in amounts]
        left = [((b << 32 | a) << s) >> 32 & full for a, b, s in zip(x, y, n)]
        right = [(b << 32 | a) >> s & full for a, b, s in zip(x, y, n)]
        for way, want in (("l", left), ("r", right)):
            m.each("shf_%s_%s" % (way, mode), "shf.%s.%s.b32 %%d, %%a, %%b, %%c;" % (way, mode),
                   [IN("a", "b32", x), IN("b", "b32", y), IN("c", "u32", amounts)], [OUT("d", "b32", want)])
        at = [0, 1, 5, 31, 32, 33, 100, full] * 4
        length = [0, 1, 2, 8, 31, 32, 33, full] * 2 + [8, 4, 32, 31, 5, 0, 16, 1] * 2
        want = []
        for p, w in zip(at, length):
            p, w = (p & 31, w & 31) if mode == "wrap" else (p, min(w, 32))
            want.append(((1 << w) - 1) << p & full if p < 32 else 0)
        m.each("bmsk_" + mode, "bmsk.%s.b32 %%d, %%a, %%b;" % mode, [IN("a", "u32", at), IN("b", "u32", length)], [OUT("d", "b32", want)],
               )
        for t in ("u32", "s32"):
            v = integers(t, N, 15)
            want = []
            for a, w in zip(v, length):
                w = w & 31 if mode == "wrap" else min(w, 32)
                u = a & ((1 << w) - 1)
                want.append(wrap(u - (1 << w) if t == "s32" and w and u >> (w - 1) else u, t))
            m.each("szext_%s_%s" % (mode, t), "szext.%s.%s %%d, %%a, %%b;" % (mode, t), [IN("a", t, v), IN("b", "u32", length)],
                   [OUT("d", t, want)])
    prmt(m, x, y)
    nth = [1, 2, -1, -2, 0, 3, 8, -8] * 4
    base = [0, 3, 31, 16, 5, 7, 30, 1] * 4
    want = []
    for a, b, o in zip(x, base, nth):
        want.append(find_nth(a, b, o))
    m.each("fns_b32", "fns.b32 %d, %a, %b, %c;", [IN("a", "b32", x), IN("b", "u32", base), IN("c", "s32", nth)], [OUT("d", "b32", want)])


def find_nth(mask, base, offset):
    """The offset-th set bit from base, base itself counting as the first; offset 0 asks for base alone."""
    if offset == 0:
        return base if mask >> base & 1 else 0xFFFFFFFF
    k, left = base, abs(offset)
    while 0 <= k < 32:
        if mask >> k & 1:
            left -= 1
            if not left:
                return k
        k += 1 if offset > 0 else -1
    return 0xFFFFFFFF


def prmt(m, x, y):
    def pick(a, b, selectors):
        v, r = b << 32 | a, 0
        for k, s in enumerate(selectors):
            byte = v >> 8 * (s & 7) & 255
            r |= (255 if byte & 128 else 0) << 8 * k if s & 8 else byte << 8 * k
        return r

    c = [0x3210, 0x7654, 0x0123, 0x5410, 0x7632, 0xFEDC, 0x8888, 0xBA98, 0x4321, 0x00FF, 0x1032, 0x6420, 0xFFFF, 0x9D3C, 0x12345, 7] * 2
    m.each("prmt_b32", "prmt.b32 %d, %a, %b, %c;", [IN("a", "b32", x), IN("b", "b32", y), IN("c", "b32", c)],
           [OUT("d", "b32", [pick(a, b, [s >> 4 * k & 15 for k in range(4)]) for a, b, s in zip(x, y, c)])])
    modes = {  # bytes from the lowest up, for c & 3 of 0 to 3
        "f4e": [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]],
        "b4e": [[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]],
        "rc8": [[k] * 4 for k in range(4)],
        "ecl": [[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]],
        "ecr": [[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]],
        "rc16": [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]],
    }
    s = [0, 1, 2, 3, 4, 7, 0xFFFFFFFF, 6] * 4
    for mode, table in modes.items():
        m.each("prmt_" + mode, "prmt.b32.%s %%d, %%a, %%b, %%c;" % mode, [IN("a", "b32", x), IN("b", "b32", y), IN("c", "b32", s)],
               [OUT("d", "b32", [pick(a, b, table[k & 3]) for a, b, k in zip(x, y, s)])])


def dots(m):
    def part(v, n, k, t):
        return wrap(v >> n * k & ((1 << n) - 1), t[0] + str(n))

    for ta in ("u32", "s32"):
        for tb in ("u32", "s32"):
            x, y = integers("b32", N, 21), integers("b32", N, 22)
            to = "s32" if "s32" in (ta, tb) else "u32"
            z = integers(to, N, 23)
            ins = [IN("a", "b32", x), IN("b", "b32", y), IN("c", to, z)]
            want = [wrap(c + sum(part(a, 8, k, ta) * part(b, 8, k, tb) for k in range(4)), to) for a, b, c in zip(x, y, z)]
            m.each("dp4a_%s_%s" % (ta, tb), "dp4a.%s.%s %%d, %%a, %%b, %%c;" % (ta, tb), ins, [OUT("d", to, want)])
            for half, k in (("lo", 0), ("hi", 2)):
                want = [wrap(c + sum(part(a, 16, j, ta) * part(b, 8, k + j, tb) for j in range(2)), to) for a, b, c in zip(x, y, z)]
                m.each("dp2a_%s_%s_%s" % (half, ta, tb), "dp2a.%s.%s.%s %%d, %%a, %%b, %%c;" % (half, ta, tb), ins, [OUT("d", to, want)])
    for t in ("u32", "s32"): # bytes of the type's sign, each difference in its place; .add: their sum and c
        x, y, z = integers("b32", N, 24), integers("b32", N, 25), integers(t, N, 26)
        x[:4], y[:4] = (0, 0xffffffff, 0x80808080, 0x7f807f80), (0xffffffff, 0, 0x7f7f7f7f, 0x807f807f)
        ins = [IN("a", "b32", x), IN("b", "b32", y), IN("c", t, z)]
        apart = [[abs(part(a, 8, k, t) - part(b, 8, k, t)) for k in range(4)] for a, b in zip(x, y)]
        want = [sum((d & 255) << 8 * k for k, d in enumerate(ds)) for ds in apart]
        m.each("vabsdiff4_%s" % t, "vabsdiff4.%s.%s.%s %%d, %%a, %%b, %%c;" % (t, t, t), ins, [OUT("d", "b32", want)])
        want = [wrap(c + sum(ds), t) for ds, c in zip(apart, z)]
        m.each("vabsdiff4_%s_add" % t, "vabsdiff4.%s.%s.%s.add %%d, %%a, %%b, %%c;" % (t, t, t), ins, [OUT("d", t, want)])


COMPARE = {
    "eq": lambda c: c == 0, "ne": lambda c: c in (-1, 1), "lt": lambda c: c == -1, "le": lambda c: c in (-1, 0),
    "gt": lambda c: c == 1, "ge": lambda c: c in (0, 1), "equ": lambda c: c is None or c == 0, "neu": lambda c: c != 0,
    "ltu": lambda c: c is None or c == -1, "leu": lambda c: c != 1, "gtu": lambda c: c is None or c == 1,
    "geu": lambda c: c != -1, "num": lambda c: c is not None, "nan": lambda c: c is None,
}


def order(a, b):
    return (a > b) - (a < b)


def comparison():
    m = Module("compare", "comparison and selection of integers")
    for t in ("u16", "s16", "u32", "s32", "u64", "s64"):
        x, y = integers(t, N, 31), integers(t, N, 32)
        y[:8] = x[:8]
        ops = ["eq", "ne", "lt", "le", "gt", "ge"]
        want = [sum(int(COMPARE[o](order(a, b))) << k for k, o in enumerate(ops)) for a, b in zip(x, y)]
        code = "mov.u32 %d, 0;\n" + "\n".join(
            "setp.%s.%s %%p, %%a, %%b;\n@%%p or.b32 %%d, %%d, %d;" % (o, t, 1 << k) for k, o in enumerate(ops))
        m.each("setp_" + t, code, [IN("a", t, x), IN("b", t, y)], [OUT("d", "u32", want)], "eq ne lt le gt ge in bits 0 to 5", ".reg .pred %p;")
    for t in ("u32", "u64", "u16"):
        x, y = integers(t, N, 33), integers(t, N, 34)
        y[:6] = x[:6]
        code = "mov.u32 %d, 0;\n" + "\n".join(
            "setp.%s.%s %%p, %%a, %%b;\n@%%p or.b32 %%d, %%d, %d;" % (o, t, 1 << k) for k, o in enumerate(("lo", "ls", "hi", "hs")))
        want = [(a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 for a, b in zip(x, y)]
        m.each("setp_unsigned_names_" + t, code, [IN("a", t, x), IN("b", t, y)], [OUT("d", "u32", want)], "lo ls hi hs", ".reg .pred %p;")
    for n in (16, 32, 64):
        b = "b%d" % n
        x, y = integers(b, N, 35), integers(b, N, 36)
        y[::2] = x[::2]
        code = "setp.eq.%s %%p|%%q, %%a, %%b;\nselp.u32 %%d, 1, 0, %%p;\nselp.u32 %%e, 1, 0, %%q;" % b
        m.each("setp_pair_" + b, code, [IN("a", b, x), IN("b", b, y)],
               [OUT("d", "u32", [int(p == q) for p, q in zip(x, y)]), OUT("e", "u32", [int(p != q) for p, q in zip(x, y)])], regs=".reg .pred %p, %q;")
        m.each("selp_" + b, "setp.lt.u%d %%p, %%a, %%b;\nselp.%s %%d, %%a, %%b, %%p;" % (n, b), [IN("a", b, x), IN("b", b, y)],
               [OUT("d", b, [min(p, q) for p, q in zip(x, y)])], regs=".reg .pred %p;")
        c = integers("s32", N, 37)
        m.each("slct_" + b, "slct.%s.s32 %%d, %%a, %%b, %%c;" % b, [IN("a", b, x), IN("b", b, y), IN("c", "s32", c)],
               [OUT("d", b, [p if s >= 0 else q for p, q, s in zip(x, y, c)])])
    x, y, c = integers("s32", N, 38), integers("s32", N, 39), [k % 3 == 0 for k in range(N)]
    y[::3] = x[::3]
    for op, f in (("and", lambda p, q: p and q), ("or", lambda p, q: p or q), ("xor", lambda p, q: p != q)):
        code = "setp.ne.u32 %%r, %%c, 0;\nsetp.le.%s.s32 %%p|%%q, %%a, %%b, %%r;\nselp.u32 %%d, 1, 0, %%p;\nselp.u32 %%e, 1, 0, %%q;" % op
        m.each("setp_" + op, code, [IN("a", "s32", x), IN("b", "s32", y), IN("c", "u32", [int(v) for v in c])],
               [OUT("d", "u32", [int(f(p <= q, s)) for p, q, s in zip(x, y, c)]),
                OUT("e", "u32", [int(f(not p <= q, s)) for p, q, s in zip(x, y, c)])], regs=".reg .pred %p, %q, %r;")
        code = "setp.ne.u32 %%r, %%c, 0;\nset.gt.%s.u32.s32 %%d, %%a, %%b, !%%r;" % op
        m.each("set_%s_not" % op, code, [IN("a", "s32", x), IN("b", "s32", y), IN("c", "u32", [int(v) for v in c])],
               [OUT("d", "u32", [0xFFFFFFFF if f(p > q, not s) else 0 for p, q, s in zip(x, y, c)])], regs=".reg .pred %r;")
    for to, one in (("u32", 0xFFFFFFFF), ("s32", -1), ("f32", 0x3F800000)):
        m.each("set_ge_" + to, "set.ge.%s.s32 %%d, %%a, %%b;" % to, [IN("a", "s32", x), IN("b", "s32", y)],
               [OUT("d", to, [one if p >= q else 0 for p, q in zip(x, y)])])
    predicates(m)
    return m


def predicates(m):
    x = list(range(N))
    code = """setp.lt.u32 %p, %a, 16;
    and.b32 %b, %a, 1;
    setp.eq.u32 %q, %b, 1;
    and.pred %r, %p, %q;
    selp.u32 %d, 1, 0, %r;
    or.pred %r, %p, %q;
    @%r add.u32 %d, %d, 2;
    xor.pred %r, %p, %q;
    @%r add.u32 %d, %d, 4;
    not.pred %r, %p;
    @%r add.u32 %d, %d, 8;
    mov.pred %s, %q;
    @!%s add.u32 %d, %d, 16;"""
    want = []
    for v in x:
        p, q = v < 16, v % 2 == 1
        want.append((p and q) * 1 + (p or q) * 2 + (p != q) * 4 + (not p) * 8 + (not q) * 16)
    m.each("logic_pred", code, [IN("a", "u32", x)], [OUT("d", "u32", want)], "and or xor not mov of predicates; guards", ".reg .pred %p, %q, %r, %s;\n.reg .b32 %b;")


def moves():
    m = Module("move", "moves, packing, addresses, special registers")
    for n in (16, 32, 64):
        b = "b%d" % n
        x = integers(b, N, n)
        m.each("mov_" + b, "mov.%s %%d, %%a;" % b, [IN("a", b, x)], [OUT("d", b, x)])
    x, y = integers("b32", N, 41), integers("b32", N, 42)
    m.each("mov_pack_b64", "mov.b64 %d, {%a, %b};", [IN("a", "b32", x), IN("b", "b32", y)], [OUT("d", "b64", [p | q << 32 for p, q in zip(x, y)])])
    z = integers("b64", N, 43)
    m.each("mov_unpack_b64", "mov.b64 {%d, %e}, %a;", [IN("a", "b64", z)],
           [OUT("d", "b32", [v & 0xFFFFFFFF for v in z]), OUT("e", "b32", [v >> 32 for v in z])])
    h, g = integers("b16", N, 44), integers("b16", N, 45)
    m.each("mov_pack_b32", "mov.b32 %d, {%a, %b};", [IN("a", "b16", h), IN("b", "b16", g)], [OUT("d", "b32", [p | q << 16 for p, q in zip(h, g)])])
    m.each("mov_unpack_b32", "mov.b32 {%d, %e}, %a;", [IN("a", "b32", x)],
           [OUT("d", "b16", [v & 0xFFFF for v in x]), OUT("e", "b16", [v >> 16 for v in x])])
    m.each("mov_pack_v4_b64", "mov.b64 %d, {%a, %b, %b, %a};", [IN("a", "b16", h), IN("b", "b16", g)],
           [OUT("d", "b64", [p | q << 16 | q << 32 | p << 48 for p, q in zip(h, g)])])
    m.each("mov_pack_bytes", """cvt.u8.u16 %x, %a;
        cvt.u8.u16 %y, %b;
        mov.b16 %d, {%x, %y};
        mov.b16 {%z, %w}, %d;
        cvt.u16.u8 %e, %w;""", [IN("a", "b16", h), IN("b", "b16", g)], [OUT("d", "b16", [p & 255 | (q & 255) << 8 for p, q in zip(h, g)]), OUT("e", "u16", [q & 255 for q in g])],
           "two bytes", ".reg .b8 %x, %y, %z, %w;")
    m.each("mov_unpack_sink", "mov.b64 {_, %d}, %a;", [IN("a", "b64", z)], [OUT("d", "b32", [v >> 32 for v in z])], "a half nobody wants")
    m.entry("mov_special", [OUT("d", "u32", [v for l in range(40) for v in (l % 32, ANY, 32, 40, 1, 0, 1 << l % 32)])],
            """mov.u32 %r0, %laneid;
            mov.u32 %r1, %warpid;
            mov.u32 %r2, WARP_SZ;
            mov.u32 %r3, %ntid.x;
            mov.u32 %r4, %nctaid.x;
            mov.u32 %r5, %ctaid.x;
            mov.u32 %r6, %lanemask_eq;
            mad.wide.u32 %q, %me, 28, $d$;
            """ + "\n".join("st.global.u32 [%%q+%d], %%r%d;" % (4 * k, k) for k in range(7)),
            ".reg .b32 %r<7>;\n.reg .b64 %q;", "laneid warpid (of the multiprocessor: any) WARP_SZ ntid nctaid ctaid lanemask_eq", block=40)
    m.entry("mov_lanemask", [OUT("d", "b32", [v & 0xFFFFFFFF for l in range(32) for v in ((1 << l) - 1, (2 << l) - 1, ~((2 << l) - 1), ~((1 << l) - 1))])],
            """mov.u32 %r0, %lanemask_lt;
            mov.u32 %r1, %lanemask_le;
            mov.u32 %r2, %lanemask_gt;
            mov.u32 %r3, %lanemask_ge;
            mad.wide.u32 %q, %me, 16, $d$;
            st.global.v4.u32 [%q], {%r0, %r1, %r2, %r3};""", ".reg .b32 %r<4>;\n.reg .b64 %q;")
    m.entry("cvta_isspacep", [OUT("d", "u32", [0b011001 + 0b100000] * 32)],
            """cvta.shared.u64 %s, 0;
            mov.u64 %s, buffer;
            cvta.shared.u64 %s, %s;
            isspacep.shared %p, %s;
            selp.u32 %r, 1, 0, %p;
            isspacep.global %p, %s;
            @%p or.b32 %r, %r, 2;
            cvta.global.u64 %g, $d$;
            isspacep.shared %p, %g;
            @%p or.b32 %r, %r, 4;
            isspacep.global %p, %g;
            @%p or.b32 %r, %r, 8;
            mov.u64 %l, frame;
            cvta.local.u64 %l, %l;
            isspacep.local %p, %l;
            @%p or.b32 %r, %r, 16;
            cvta.to.shared.u64 %s, %s;
            mov.u64 %g, buffer;
            setp.eq.u64 %p, %s, %g;
            @%p or.b32 %r, %r, 32;
            mad.wide.u32 %q, %me, 4, $d$;
            st.global.u32 [%q], %r;""".replace("cvta.shared.u64 %s, 0;\n", ""),
            ".reg .b32 %r;\n.reg .b64 %s, %g, %l, %q;\n.reg .pred %p;\n.shared .align 4 .b8 buffer[16];\n.local .align 4 .b8 frame[16];",
            "shared, global and local windows")
    return m


def modules():
    return [arithmetic(), bits(), comparison(), moves()]

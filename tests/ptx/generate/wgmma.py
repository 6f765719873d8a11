"""wgmma: products of a warpgroup whose operands lie in shared memory as matrix descriptors say."""

import random

from emit import IN, OUT, Module
from matrix import AND, BITS, array, product, random_matrix
from number import clamp, wrap

THREADS = 128
NONE, B128, B64, B32 = range(4)  # as a descriptor names them
WIDTH = {NONE: 16, B128: 128, B64: 64, B32: 32}
CODE = "0x%016x"


class Layout:
    """CUTLASS' canonical layouts of `lines` rows of A, or columns of B, by K: ((8, n), ...) with strides, in bytes, and
    a swizzle of the address. slices: instructions along K that the tile holds, where K-major rows are swizzled."""

    def __init__(self, swizzle, lines, bits, transposed=False, pad=0):
        self.swizzle, self.transposed, self.bits = swizzle, transposed, bits
        self.width = WIDTH[swizzle]
        self.depth = 256 // bits  # of one instruction
        atom = 8 * self.width
        if transposed:
            across = lines * bits // 8 // self.width or 1
            if swizzle == NONE:
                self.stride, self.leading = atom + pad, (atom + pad) * across
            else:
                self.stride, self.leading = atom + pad, 2 * (atom + pad)
            self.slices = 1
        else:
            self.slices = max(1, self.width // 32)
            self.leading = (atom + pad) * (lines // 8) if swizzle == NONE else 16
            self.stride = atom + pad
        self.lines = lines

    def address(self, line, byte, k=None):
        """Of a line's byte along K; of a transposed one: step k of K, and byte of M or N."""
        w = self.width
        if not self.transposed and self.swizzle == NONE:
            at = line // 8 * self.stride + line % 8 * 16 + byte // 16 * self.leading + byte % 16
        elif not self.transposed:
            at = line // 8 * self.stride + line % 8 * w + byte
        elif self.swizzle == NONE:
            at = k // 8 * self.leading + k % 8 * 16 + byte // 16 * self.stride + byte % 16
        else:
            at = k // 8 * self.stride + k % 8 * w + byte // w * self.leading + byte % w
        return at ^ (((at >> 7) & (w // 16 - 1)) << 4)

    def image(self, lines, part):
        """lines: codes of elements by line and step of K; part: which instruction along K. Address -> byte."""
        out = {}
        for line, row in enumerate(lines):
            bits = sum(v << (self.bits * k) for k, v in enumerate(row))
            if not self.transposed:
                for byte, v in enumerate(bits.to_bytes(32, "little")):
                    out[self.address(line, 32 * part + byte)] = v
            else:
                for k, v in enumerate(row):
                    for byte, x in enumerate(v.to_bytes(2, "little")):
                        out[self.address(None, 2 * line + byte, k)] = x
        return out

    def descriptor(self):
        return self.leading >> 4 << 16 | self.stride >> 4 << 32 | self.swizzle << 62


def codes(lines, t):
    from matrix import code

    if t == "tf32":
        return [[code(v, "f32") for v in line] for line in lines]
    return [[code(v, t) for v in line] for line in lines]


def fragment_a(a, e, k):
    """Lane by lane: a warp has 16 rows; registers of e elements along k, rows 8 apart first."""
    return [a[16 * (t // 32) + t % 32 // 4 + 8 * (q % 2)][e * (t % 4) + h + 4 * e * (q // 2)]
            for t in range(THREADS) for q in range(k // (2 * e)) for h in range(e)]


def fragment_d(d):
    return [d[16 * (t // 32) + t % 32 // 4 + 8 * (q % 2)][8 * (q // 2) + 2 * (t % 4) + h]
            for t in range(THREADS) for q in range(len(d[0]) // 4) for h in range(2)]


def case(m, n, ta, tb, td, la=None, lb=None, adds=False, signs=(1, 1), mods="", part=0, tag="", chain=1, note="",
         filled=None, infinite=False):
    """la None: A in registers. chain: so many products one after the other, with one wait. filled: beyond so many rows of
    A and columns of B there are zeros. infinite: an element of A's first row is; with the zeros of B that gives NaNs."""
    k = 256 // BITS[ta]
    bits = BITS[ta]
    name = "wgmma_n%d_%s_%s_%s%s" % (n, td, ta, tb, tag)
    r = random.Random(name)
    a, b = random_matrix(r, 64, k, ta), random_matrix(r, k, n, tb)
    if filled:
        a = [row if i < filled[0] else [0] * k for i, row in enumerate(a)]
        b = [row[: filled[1]] + [0] * (n - filled[1]) for row in b]
    if infinite:
        a[0][1] = float("inf")
    c = random_matrix(r, 64, n, td)
    if "satfinite" in mods:
        c = [[r.choice([2147483647, -2147483648, 2147483600]) for _ in range(n)] for _ in range(64)]
    start = c if adds else [[0] * n for _ in range(64)]
    d = start
    signed = [[v * signs[0] * signs[1] for v in row] for row in a] if ta != "b1" else a
    for _ in range(chain):
        d = product(signed, b, d, AND if ta == "b1" else None)
        if td == "s32":
            d = [[(clamp if "satfinite" in mods else wrap)(v, "s32") for v in row] for row in d]
    images, size = [], 0
    for lay, lines, t in ((la, a, ta), (lb, [list(x) for x in zip(*b)], tb)):
        if lay:
            image = lay.image(codes(lines, t), part)
            images.append((lay, size, image))
            size += (max(image) + 1 + 1023) // 1024 * 1024
    words = [0] * (size // 4)
    for lay, base, image in images:
        for at, v in image.items():
            words[(base + at) // 4] |= v << 8 * ((base + at) % 4)
    lone = [IN("s", "b32", words)]
    e = max(1, 32 // bits)
    each = 2 if td == "f16" else 1
    n_d = n // 2 // each
    regs = [".reg .b32 %%d<%d>;" % n_d if td != "f32" else ".reg .f32 %%d<%d>;" % n_d,
            ".reg .b32 %a<4>;", ".reg .b64 %da, %db, %p;", ".reg .b32 %r, %x, %at;", ".reg .pred %z, %more;",
            ".shared .align 1024 .b8 image_%s[%d];" % (name, size)]
    body = ["mov.u32 %%x, image_%s;" % name, "mov.u32 %r, %me;", "fill_%s:" % name,
            "setp.lt.u32 %%more, %%r, %d;" % len(words), "mad.wide.u32 %p, %r, 4, $s$;", "mad.lo.u32 %at, %r, 4, %x;",
            "@%more ld.global.b32 %a0, [%p];", "@%more st.shared.b32 [%at], %a0;", "add.u32 %r, %r, 128;",
            "@%%more bra fill_%s;" % name, "fence.proxy.async;", "bar.sync 0;"]
    arrays = lone
    if la is None:
        coded, kind = array(fragment_a(a, e, k), ta)
        arrays = arrays + [IN("a", kind, coded)]
        body.append("mad.wide.u32 %p, %me, 16, $a$;")
        body += ["ld.global.b32 %%a%d, [%%p+%d];" % (j, 4 * j) for j in range(4)]
    wt = "f32" if td == "f32" else "b32"
    if adds:
        coded, kind = array(fragment_d(c), td)
        arrays = arrays + [IN("c", kind, coded)]
        body.append("mad.wide.u32 %%p, %%me, %d, $c$;" % (4 * n_d))
        body += ["ld.global.%s %%d%d, [%%p+%d];" % (wt, j, 4 * j) for j in range(n_d)]
    else:
        body += ["mov.%s %%d%d, %s;" % (wt, j, "0f00000000" if td == "f32" else "0") for j in range(n_d)]
    for reg, (lay, base, _) in zip(("%da", "%db") if la else ("%db",), images):
        body += ["add.u32 %%r, %%x, %d;" % (base + (0 if lay.transposed else 32 * part)), "shr.u32 %r, %r, 4;",
                 "cvt.u64.u32 %s, %%r;" % reg, ("or.b64 %s, %s, " + CODE + ";") % (reg, reg, lay.descriptor())]
    body += ["setp.%s.u32 %%z, 1, 0;" % ("ne" if adds else "eq"), "wgmma.fence.sync.aligned;"]
    more = ""
    if ta in ("f16", "bf16", "tf32", "e4m3", "e5m2"):
        more = ", %d, %d" % signs
        if bits == 16:
            more += (", %d" % la.transposed if la else "") + ", %d" % lb.transposed
    form = "wgmma.mma_async.sync.aligned.m64n%dk%d" % (n, k)
    form += (".satfinite" if "satfinite" in mods else "") + ".%s.%s.%s" % (td, ta, tb) + (".and.popc" if ta == "b1" else "")
    for step in range(chain):
        if step and not adds:
            body.append("setp.ne.u32 %z, 1, 0;")
        body.append("%s {%s}, %s, %%db, %%z%s;" % (form, ", ".join("%%d%d" % j for j in range(n_d)),
                                                   "%da" if la else "{%a0, %a1, %a2, %a3}", more))
    body += ["wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;", "mad.wide.u32 %%p, %%me, %d, $d$;" % (4 * n_d)]
    body += ["st.global.%s [%%p+%d], %%d%d;" % (wt, 4 * j, j) for j in range(n_d)]
    coded, kind = array(fragment_d(d), td)
    m.entry(name, arrays + [OUT("d", kind, coded)], "\n".join(body), "\n".join(regs), note, block=THREADS)


def types():
    m = Module("wgmma", "wgmma.mma_async: types, shapes, A in registers", version="8.4", target="sm_90a")
    for ta, tb, td in (("f16", "f16", "f32"), ("f16", "f16", "f16"), ("bf16", "bf16", "f32"), ("tf32", "tf32", "f32"),
                       ("e4m3", "e4m3", "f32"), ("e4m3", "e5m2", "f32"), ("e5m2", "e4m3", "f16"), ("e5m2", "e5m2", "f32"),
                       ("s8", "s8", "s32"), ("s8", "u8", "s32"), ("u8", "s8", "s32"), ("u8", "u8", "s32"), ("b1", "b1", "s32")):
        bits = BITS[ta]
        plain = bits < 16 and ta[0] in "sub"
        for n, swizzle in ((8, B128), (24, NONE)):
            case(m, n, ta, tb, td, Layout(swizzle, 64, bits), Layout(swizzle, n, bits), adds=n == 8)
        case(m, 32, ta, tb, td, None, Layout(B32, 32, bits), adds=True, tag="_registers")
        if not plain:
            case(m, 16, ta, tb, td, Layout(B128, 64, bits), Layout(B128, 16, bits), adds=True, signs=(-1, 1), tag="_minus_a")
            case(m, 16, ta, tb, td, Layout(B128, 64, bits), Layout(B128, 16, bits), adds=True, signs=(-1, -1), tag="_minus_both")
        elif ta != "b1":
            case(m, 16, ta, tb, td, Layout(B128, 64, bits), Layout(B128, 16, bits), adds=True, mods="satfinite", tag="_satfinite")
    case(m, 256, "bf16", "bf16", "f32", Layout(B128, 64, 16), Layout(B128, 256, 16))
    for ta, td in (("f16", "f32"), ("f16", "f16"), ("tf32", "f32"), ("e4m3", "f32"), ("s8", "s32")):
        for filled in ((5, 3), (20, 24), (0, 64), (64, 0)):
            la, lb = Layout(B128, 64, BITS[ta]), Layout(B128, 64, BITS[ta], ta == "f16")
            case(m, 64, ta, ta, td, la, lb, adds=True, tag="_filled_%d_%d" % filled, filled=filled)
    case(m, 64, "f16", "f16", "f32", Layout(B128, 64, 16), Layout(B128, 64, 16), tag="_filled", filled=(5, 3))
    for ta in ("f16", "bf16", "tf32", "e5m2"):
        case(m, 64, ta, ta, "f32", Layout(B128, 64, BITS[ta]), Layout(B128, 64, BITS[ta]), adds=True, tag="_infinite_filled",
             filled=(5, 0), infinite=True)
    case(m, 64, "f16", "f16", "f32", None, Layout(B128, 64, 16), tag="_registers_filled", filled=(5, 3))
    case(m, 208, "s8", "s8", "s32", None, Layout(B128, 208, 8), tag="_registers")
    case(m, 16, "f16", "f16", "f32", Layout(B128, 64, 16), Layout(B128, 16, 16), chain=3, tag="_chain")
    case(m, 16, "f16", "f16", "f16", None, Layout(B128, 16, 16), chain=2, adds=True, tag="_chain")
    return m


def layouts():
    m = Module("wgmma_layouts", "wgmma.mma_async: swizzles, offsets, transposed operands", version="8.0", target="sm_90a")
    names = {NONE: "none", B128: "128", B64: "64", B32: "32"}
    for sa in names:
        for sb in names:
            tag = "_a%s_b%s" % (names[sa], names[sb])
            if sa == sb or sa == NONE:
                case(m, 16, "f16", "f16", "f32", Layout(sa, 64, 16), Layout(sb, 16, 16), tag=tag)
    for s in names:
        w = WIDTH[s]
        pad = 8 * w
        tag = "_" + names[s]
        case(m, 32, "bf16", "bf16", "f32", Layout(s, 64, 16, pad=pad), Layout(s, 32, 16, pad=2 * pad), tag=tag + "_padded")
        case(m, 64, "f16", "f16", "f32", Layout(s, 64, 16, True), Layout(s, 64, 16), tag=tag + "_turned_a")
        case(m, 64, "bf16", "bf16", "f32", Layout(s, 64, 16), Layout(s, 64, 16, True), tag=tag + "_turned_b")
        case(m, 64, "f16", "f16", "f32", Layout(s, 64, 16, True), Layout(s, 64, 16, True, pad), tag=tag + "_turned_both")
        case(m, 64, "f16", "f16", "f16", None, Layout(s, 64, 16, True), tag=tag + "_turned_b_registers")
        for part in range(1, max(1, w // 32)):
            case(m, 16, "f16", "f16", "f32", Layout(s, 64, 16), Layout(s, 16, 16), part=part, tag=tag + "_part%d" % part)
            case(m, 16, "e4m3", "e4m3", "f32", Layout(s, 64, 8), Layout(s, 16, 8), part=part, tag=tag + "_part%d" % part)
    for n in (40, 72, 104, 136, 200, 256):
        case(m, n, "tf32", "tf32", "f32", None, Layout(B32, n, 32), tag="_wide")
    return m


def modules():
    return [types(), layouts()]

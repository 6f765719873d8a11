"""Matrix fragments and asynchronous copies."""

import random

import number as n
from emit import ANY, IN, INOUT, OUT, Module
from number import decode, encode, from_python, integers

N = 32


def fragment_a(rows, k):
    """Registers of A (16 by k, row-major list of lists), as halves in the order they lie in a lane."""
    out = []
    for lane in range(N):
        g, t = lane // 4, lane % 4
        for block in range(k // 4):  # registers
            r, c = g + 8 * (block % 2), 2 * t + 8 * (block // 2)
            out += [rows[r][c], rows[r][c + 1]]
    return out


def fragment_b(rows, k):
    out = []
    for lane in range(N):
        g, t = lane // 4, lane % 4
        for block in range(k // 8):
            out += [rows[2 * t + 8 * block][g], rows[2 * t + 8 * block + 1][g]]
    return out


def fragment_c(rows):
    out = []
    for lane in range(N):
        g, t = lane // 4, lane % 4
        out += [rows[g][2 * t], rows[g][2 * t + 1], rows[g + 8][2 * t], rows[g + 8][2 * t + 1]]
    return out


def matrices(seed, k, big=8):
    r = random.Random(seed)
    small = lambda h, w: [[r.randint(-big, big) for _ in range(w)] for _ in range(h)]
    return small(16, k), small(k, 8), small(16, 8)


def coded(values, t):
    return [from_python(float(v), t) for v in values]


def mma(m, k, t, acc, kind):
    a, b, c = matrices(k + len(t) + len(acc), k)
    scale = 1
    if kind == "fractions":  # exact too: quarters
        scale = 4
    d = [[c[i][j] * scale + sum(a[i][e] * b[e][j] for e in range(k)) for j in range(8)] for i in range(16)]
    fa, fb = coded([v / scale for v in fragment_a(a, k)], t), coded(fragment_b(b, k), t)
    fc, fd = coded(fragment_c(c), acc), coded([v / scale for v in fragment_c(d)], acc)
    name = "mma_m16n8k%d_%s_%s%s" % (k, t, acc, "_" + kind if kind else "")
    mma_entry(m, name, k, t, acc, fa, fb, fc, fd)


def mma_entry(m, name, k, t, acc, fa, fb, fc, fd, note="", types=None, sat=""):
    ta, tb = types or (t, t)
    e = {"tf32": 1, "s8": 4, "u8": 4}.get(t, 2)  # elements a register
    ra, rb, rc = k // (2 * e), k // (4 * e), 2 if acc == "f16" else 4
    ea, eb = ("f32", "f32") if t == "tf32" else (ta, tb)
    regs = lambda p, count: ", ".join("%%%s%d" % (p, j) for j in range(count))
    vec = lambda count: {1: "", 2: ".v2", 4: ".v4"}[count]
    some = lambda p, count: "{%s}" % regs(p, count) if count > 1 else "%%%s0" % p
    m.entry(name, [IN("a", ea, fa), IN("b", eb, fb), IN("c", acc, fc), OUT("d", acc, fd)],
            """mad.wide.u32 %%p, %%me, %d, $a$;
            ld.global%s.b32 %s, [%%p];
            mad.wide.u32 %%p, %%me, %d, $b$;
            ld.global%s.b32 %s, [%%p];
            mad.wide.u32 %%p, %%me, %d, $c$;
            ld.global%s.b32 %s, [%%p];
            mma.sync.aligned.m16n8k%d.row.col%s.%s.%s.%s.%s {%s}, {%s}, {%s}, {%s};
            mad.wide.u32 %%p, %%me, %d, $d$;
            st.global%s.b32 [%%p], %s;""" % (4 * ra, vec(ra), some("a", ra), 4 * rb, vec(rb), some("b", rb), 4 * rc, vec(rc), some("c", rc),
                                             k, sat, acc, ta, tb, acc, regs("d", rc), regs("a", ra), regs("b", rb), regs("c", rc), 4 * rc, vec(rc), some("d", rc)),
            ".reg .b32 %a<4>, %b<2>, %c<4>, %d<4>;\n.reg .b64 %p;", note)


def special_mma(m):
    one, inf, nan = 1.0, float("inf"), float("nan")
    for t in ("f16", "bf16"):
        a = [[0.0] * 16 for _ in range(16)]
        b = [[0.0] * 8 for _ in range(16)]
        c = [[0.0] * 8 for _ in range(16)]
        for i in range(16):
            a[i][i] = 1.0
            b[i][i % 8] = float(i + 1)
        a[0][0], a[1][1], c[2][2] = inf, nan, inf
        d = [[c[i][j] + b[i][j] for j in range(8)] for i in range(16)]
        # inf * b is inf or NaN along row 0; NaN along row 1.
        d[0] = [inf if b[0][j] > 0 else nan for j in range(8)]
        d[1] = [nan] * 8
        want = [v if v == v else n.NAN for v in fragment_c(d)]
        want = [w if w == n.NAN else from_python(w, "f32") for w in want]
        mma_entry(m, "mma_special_" + t, 16, t, "f32", coded(fragment_a(a, 16), t), coded(fragment_b(b, 16), t), coded(fragment_c(c), "f32"), want,
                  "infinity and NaN stay in their row")
    tiny = 2.0**-24
    a = [[tiny if i == j else 0.0 for j in range(16)] for i in range(16)]
    b = [[float(i + j + 1) for j in range(8)] for i in range(16)]
    c = [[0.0] * 8 for _ in range(16)]
    d = [[tiny * b[i][j] for j in range(8)] for i in range(16)]
    mma_entry(m, "mma_subnormal_f16", 16, "f16", "f32", coded(fragment_a(a, 16), "f16"), coded(fragment_b(b, 16), "f16"), coded(fragment_c(c), "f32"),
              coded(fragment_c(d), "f32"), "subnormal inputs count")


def tensor():
    m = Module("tensor", "mma.sync, ldmatrix, stmatrix, movmatrix", version="8.0")
    for k in (8, 16):
        for t, acc in (("f16", "f32"), ("f16", "f16"), ("bf16", "f32")):
            for kind in ("", "fractions"):
                mma(m, k, t, acc, kind)
    special_mma(m)
    mma_other(m)
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            ldmatrix(m, count, trans)
            stmatrix(m, count, trans)
    x = integers("b16", 64, 3)
    at = lambda r, c: x[(r * 8 + c)]
    want = []
    for lane in range(N):
        g, t = lane // 4, lane % 4
        want += [at(2 * t, g), at(2 * t + 1, g)]
    m.each("movmatrix_trans", "movmatrix.sync.aligned.m8n8.trans.b16 %d, %a;", [IN("a", "b16", x, 2)], [OUT("d", "b16", want, words=2)])
    return m


def mma_other(m):
    """tf32 and bytes: e elements a register, register r of A at rows 8 (r % 2), columns 4e (r // 2)."""
    r = random.Random(5)
    for k, t, u, sat in ((4, "tf32", "tf32", ""), (8, "tf32", "tf32", ""), (16, "s8", "s8", ""), (32, "s8", "s8", ""), (32, "u8", "s8", ""), (16, "u8", "u8", ""),
                         (32, "s8", "s8", ".satfinite")):
        e = 1 if t == "tf32" else 4
        low, high = (-8, 8) if e == 1 else (-128, 127)
        a = [[r.randint(max(low, 0), 255) if t == "u8" else r.randint(low, high) for _ in range(k)] for _ in range(16)]
        b = [[r.randint(max(low, 0), 255) if u == "u8" else r.randint(low, high) for _ in range(8)] for _ in range(k)]
        c = [[r.randint(-1000, 1000) for _ in range(8)] for _ in range(16)]
        if sat:
            c = [[r.choice([2147483647, -2147483648, 2147483000]) for _ in range(8)] for _ in range(16)]
        d = [[c[i][j] + sum(a[i][x] * b[x][j] for x in range(k)) for j in range(8)] for i in range(16)]
        fa = [a[l // 4 + 8 * (q % 2)][e * (l % 4) + h + 4 * e * (q // 2)] for l in range(N) for q in range(k // (2 * e)) for h in range(e)]
        fb = [b[e * (l % 4) + h + 4 * e * q][l // 4] for l in range(N) for q in range(k // (4 * e)) for h in range(e)]
        fc, fd = fragment_c(c), fragment_c(d)
        name = "mma_m16n8k%d_%s_%s%s" % (k, t, u, sat.replace(".", "_"))
        if e == 1:
            mma_entry(m, name, k, "tf32", "f32", coded(fa, "f32"), coded(fb, "f32"), coded(fc, "f32"), coded(fd, "f32"))
        else:
            fd = [n.clamp(v, "s32") if sat else n.wrap(v, "s32") for v in fd]
            mma_entry(m, name, k, t, "s32", fa, fb, fc, fd, types=(t, u), sat=sat)


def ldmatrix(m, count, trans):
    x = integers("b16", 64 * count, 7 + count)
    want = []
    for lane in range(N):
        g, t = lane // 4, lane % 4
        for k in range(count):
            for h in range(2):
                r, c = (2 * t + h, g) if trans else (g, 2 * t + h)
                want.append(x[64 * k + 8 * r + c])
    regs = ", ".join("%%r%d" % j for j in range(count))
    vec = {1: "", 2: ".v2", 4: ".v4"}[count]
    value = "{%s}" % regs if count > 1 else "%r0"
    m.entry("ldmatrix_x%d%s" % (count, trans.replace(".", "_")), [IN("a", "b16", x), OUT("d", "b16", want)],
            """mov.u32 %%b, tile_%d%s;
            setp.lt.u32 %%in, %%me, %d;
            mad.wide.u32 %%p, %%me, 16, $a$;
            mad.lo.u32 %%s, %%me, 16, %%b;
            @%%in ld.global.v4.b32 {%%r0, %%r1, %%r2, %%r3}, [%%p];
            @%%in st.shared.v4.b32 [%%s], {%%r0, %%r1, %%r2, %%r3};
            bar.warp.sync 0xffffffff;
            ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 {%s}, [%%s];
            mad.wide.u32 %%p, %%me, %d, $d$;
            st.global%s.b32 [%%p], %s;""" % (count, trans[1:], 8 * count, count, trans, regs, 4 * count, vec, value),
            ".reg .b32 %%r<4>, %%b, %%s;\n.reg .b64 %%p;\n.reg .pred %%in;\n.shared .align 16 .b8 tile_%d%s[512];" % (count, trans[1:]))


def stmatrix(m, count, trans):
    x = integers("b16", 64 * count, 17 + count)
    want = [0] * (64 * count)
    for lane in range(N):
        g, t = lane // 4, lane % 4
        for k in range(count):
            for h in range(2):
                r, c = (2 * t + h, g) if trans else (g, 2 * t + h)
                want[64 * k + 8 * r + c] = x[(lane * count + k) * 2 + h]
    regs = ", ".join("%%r%d" % j for j in range(count))
    vec = {1: "", 2: ".v2", 4: ".v4"}[count]
    value = "{%s}" % regs if count > 1 else "%r0"
    m.entry("stmatrix_x%d%s" % (count, trans.replace(".", "_")), [IN("a", "b16", x), OUT("d", "b16", want)],
            """mov.u32 %%b, area_%d%s;
            setp.lt.u32 %%in, %%me, %d;
            mad.wide.u32 %%p, %%me, %d, $a$;
            mad.lo.u32 %%s, %%me, 16, %%b;
            ld.global%s.b32 %s, [%%p];
            stmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%s], {%s};
            bar.warp.sync 0xffffffff;
            mad.wide.u32 %%p, %%me, 16, $d$;
            @%%in ld.shared.v4.b32 {%%r0, %%r1, %%r2, %%r3}, [%%s];
            @%%in st.global.v4.b32 [%%p], {%%r0, %%r1, %%r2, %%r3};""" % (count, trans[1:], 8 * count, 4 * count, vec, value, count, trans, regs),
            ".reg .b32 %%r<4>, %%b, %%s;\n.reg .b64 %%p;\n.reg .pred %%in;\n.shared .align 16 .b8 area_%d%s[512];" % (count, trans[1:]))


def asynchronous():
    m = Module("async", "asynchronous copies", version="8.0")
    for op, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        words = size // 4
        x = integers("b32", N * words, size)
        copy(m, "cp_async_%s_%d" % (op, size), "cp.async.%s.shared.global [%%s], [%%p], %d;\ncp.async.commit_group;\ncp.async.wait_group 0;" % (op, size), words, x, x)
        copy(m, "cp_async_%s_%d_wait_all" % (op, size), "cp.async.%s.shared.global [%%s], [%%p], %d;\ncp.async.wait_all;" % (op, size), words, x, x,
             "no group is needed")
        part = size // 2
        want = [v if (k % words) * 4 + 4 <= part else (v & ((1 << 8 * max(0, part - (k % words) * 4)) - 1)) for k, v in enumerate(x)]
        copy(m, "cp_async_%s_%d_zero_fill" % (op, size), "cp.async.%s.shared.global [%%s], [%%p], %d, %d;\ncp.async.commit_group;\ncp.async.wait_group 0;" % (op, size, part),
             words, x, want, "half of the source, the rest zeros")
    x = integers("b32", N * 4, 5)
    want = [0 if (k // 4) % 2 else v for k, v in enumerate(x)]
    copy(m, "cp_async_source_size_register", """and.b32 %t, %me, 1;
        setp.eq.u32 %z, %t, 0;
        selp.u32 %t, 16, 0, %z;
        @!%z mov.u64 %p, 0;
        cp.async.cg.shared.global [%s], [%p], 16, %t;
        cp.async.commit_group;
        cp.async.wait_group 0;""", 4, x, want, "a size of 0 reads nothing, not even at address 0")
    copy(m, "cp_async_ignore_src", """and.b32 %t, %me, 1;
        setp.ne.u32 %z, %t, 0;
        cp.async.cg.shared.global [%s], [%p], 16, %z;
        cp.async.commit_group;
        cp.async.wait_group 0;""", 4, x, want, "a true predicate gives zeros")
    copy(m, "cp_async_hints", """createpolicy.fractional.L2::evict_first.b64 %c, 1.0;
        cp.async.cg.shared.global.L2::cache_hint.L2::128B [%s], [%p], 16, %c;
        cp.async.commit_group;
        cp.async.wait_group 0;""", 4, x, x)
    y = integers("b32", N * 2, 6)
    m.entry("cp_async_groups", [IN("a", "b32", y), OUT("d", "b32", y[:N]), OUT("e", "b32", y[N:])],
            """mov.u32 %b, stages;
            mad.lo.u32 %s, %me, 4, %b;
            mad.wide.u32 %p, %me, 4, $a$;
            cp.async.ca.shared.global [%s], [%p], 4;
            cp.async.commit_group;
            cp.async.ca.shared.global [%s+128], [%p+128], 4;
            cp.async.commit_group;
            cp.async.wait_group 1;
            ld.shared.b32 %r, [%s];
            mad.wide.u32 %q, %me, 4, $d$;
            st.global.b32 [%q], %r;
            cp.async.wait_group 0;
            ld.shared.b32 %r, [%s+128];
            mad.wide.u32 %q, %me, 4, $e$;
            st.global.b32 [%q], %r;""", ".reg .b32 %r, %b, %s;\n.reg .b64 %p, %q;\n.shared .align 16 .b8 stages[256];", "the first of two groups is waited for, then the other")
    m.entry("cp_async_across_warps", [IN("a", "b32", y), OUT("d", "b32", list(reversed(y)))],
            """mov.u32 %b, both;
            mad.lo.u32 %s, %me, 4, %b;
            mad.wide.u32 %p, %me, 4, $a$;
            cp.async.ca.shared.global [%s], [%p], 4;
            cp.async.wait_all;
            bar.sync 0;
            sub.u32 %t, 63, %me;
            mad.lo.u32 %s, %t, 4, %b;
            ld.shared.b32 %r, [%s];
            mad.wide.u32 %q, %me, 4, $d$;
            st.global.b32 [%q], %r;""", ".reg .b32 %r, %b, %s, %t;\n.reg .b64 %p, %q;\n.shared .align 16 .b8 both[256];", "each thread waits, then all meet", block=64)
    return m


def copy(m, name, code, words, x, want, note=""):
    m.entry(name, [IN("a", "b32", x), OUT("d", "b32", want)],
            "mov.u32 %%b, to_%s;\nmad.lo.u32 %%s, %%me, %d, %%b;\nmad.wide.u32 %%p, %%me, %d, $a$;\n" % (name, 4 * words, 4 * words) + code +
            "\nmad.wide.u32 %%q, %%me, %d, $d$;\n" % (4 * words) +
            "\n".join("ld.shared.b32 %%r, [%%s+%d];\nst.global.b32 [%%q+%d], %%r;" % (4 * k, 4 * k) for k in range(words)),
            ".reg .b32 %%r, %%b, %%s, %%t;\n.reg .b64 %%p, %%q, %%c;\n.reg .pred %%z;\n.shared .align 16 .b8 to_%s[%d];" % (name, 128 * words), note)


def modules():
    return [tensor(), asynchronous()]

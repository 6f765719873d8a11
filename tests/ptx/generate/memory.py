"""Loads, stores, atomics."""

import number as n
from emit import ANY, IN, INOUT, OUT, Array, Module
from floating import sample
from integer import hash_of
from number import NAN, decode, encode, integers, width, wrap

N = 32


def wide(t):
    """The register a narrow load extends into."""
    return t[0] + "32" if t in ("u8", "s8", "u16", "s16") else t


def loads():
    m = Module("memory", "loads and stores", version="8.3", head=HEAD)
    for t in ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "b8", "b16", "b32", "b64"):
        x = integers(t, N, hash_of("ld" + t))
        to = wide(t)
        m.entry("ld_global_" + t, [IN("a", t, x), OUT("d", to, x)],
                """mad.wide.u32 %%p, %%me, %d, $a$;
                mad.wide.u32 %%q, %%me, %d, $d$;
                ld.global.%s %%r, [%%p];
                st.global.b%d [%%q], %%r;""" % (width(t) // 8, max(16, width(to)) // 8 if t[0] == "b" else width(to) // 8, t, width(to)) if t != "b8" else
                """mad.wide.u32 %p, %me, 1, $a$;
                mad.wide.u32 %q, %me, 1, $d$;
                ld.global.b8 %r, [%p];
                st.global.b8 [%q], %r;""",
                ".reg .b%d %%r;\n.reg .b64 %%p, %%q;" % max(16, width(to)), "extended to %d bits" % width(to) if to != t else "")
    for t in ("u8", "u16"):
        x = integers("u32", N, 3)
        m.entry("st_global_%s_cut" % t, [IN("a", "u32", x), OUT("d", t, [wrap(v, t) for v in x])],
                """mad.wide.u32 %%p, %%me, 4, $a$;
                mad.wide.u32 %%q, %%me, %d, $d$;
                ld.global.u32 %%r, [%%p];
                st.global.%s [%%q], %%r;""" % (width(t) // 8, t), ".reg .b32 %r;\n.reg .b64 %p, %q;", "the low bits of a wider register")
    for t, k in (("u8", 2), ("u8", 4), ("s8", 4), ("u16", 2), ("u16", 4), ("u32", 2), ("u32", 4), ("f32", 4), ("f32", 2), ("u64", 2), ("f64", 2), ("b16", 4), ("b64", 2)):
        x = integers(t, N * k, hash_of("v" + t)) if t in n.INTEGERS else sample(t, N * k, 4)
        size = width(t) * k // 8
        names = ["%%r%d" % j for j in range(k)]
        back = list(reversed(names))
        m.entry("ld_st_v%d_%s" % (k, t), [IN("a", t, x), OUT("d", t, [x[i - i % k + k - 1 - i % k] for i in range(N * k)])],
                """mad.wide.u32 %%p, %%me, %d, $a$;
                mad.wide.u32 %%q, %%me, %d, $d$;
                ld.global.v%d.%s {%s}, [%%p];
                st.global.v%d.%s [%%q], {%s};""" % (size, size, k, t, ", ".join(names), k, t, ", ".join(back)),
                ".reg .b%d %%r<%d>;\n.reg .b64 %%p, %%q;" % (max(16, width(t)), k), "reversed")
    x = integers("u32", N + 2, 5)
    m.entry("ld_offset", [IN("a", "u32", x), OUT("d", "u32", [wrap(x[k] + x[k + 1] + x[k + 2], "u32") for k in range(N)])],
            """mad.wide.u32 %p, %me, 4, $a$;
            add.u64 %p, %p, 4;
            ld.global.u32 %r, [%p+-4];
            ld.global.u32 %s, [%p];
            add.u32 %r, %r, %s;
            ld.global.u32 %s, [%p+4];
            add.u32 %r, %r, %s;
            mad.wide.u32 %q, %me, 4, $d$;
            st.global.u32 [%q], %r;""", ".reg .b32 %r, %s;\n.reg .b64 %p, %q;", "displacements of both signs")
    x = integers("u32", N, 6)
    for op in ("ld.global.ca", "ld.global.cg", "ld.global.cs", "ld.global.lu", "ld.global.cv", "ld.global.nc", "ld.volatile.global", "ld.relaxed.gpu.global",
               "ld.acquire.sys.global", "ld.acquire.cta.global", "ld.weak.global", "ld.global.L1::evict_last", "ld.global.L1::no_allocate", "ld.global.L2::128B",
               "ld.global.nc.L1::evict_first.L2::256B", "ldu.global", "ld"):
        m.entry(op.replace(".", "_").replace("::", "_"), [IN("a", "u32", x), OUT("d", "u32", x)],
                """mad.wide.u32 %%p, %%me, 4, $a$;
                mad.wide.u32 %%q, %%me, 4, $d$;
                %s.u32 %%r, [%%p];
                st.global.u32 [%%q], %%r;""" % op, ".reg .b32 %r;\n.reg .b64 %p, %q;")
    for op in ("st.global.wb", "st.global.cg", "st.global.cs", "st.global.wt", "st.volatile.global", "st.relaxed.gpu.global", "st.release.gpu.global",
               "st.weak.global", "st.global.L1::evict_last", "st"):
        m.entry(op.replace(".", "_").replace("::", "_"), [IN("a", "u32", x), OUT("d", "u32", x)],
                """mad.wide.u32 %%p, %%me, 4, $a$;
                mad.wide.u32 %%q, %%me, 4, $d$;
                ld.global.u32 %%r, [%%p];
                %s.u32 [%%q], %%r;""" % op, ".reg .b32 %r;\n.reg .b64 %p, %q;")
    spaces(m, x)
    hints(m, x)
    return m


HEAD = """
.const .align 4 .u32 table[8] = {7, 11, 13, 17, 0xffffffff, 0x80000000, 1, 2};
.const .align 2 .b8 letters[6] = {104, 101, 108, 108, 111, 0};
.const .align 8 .f64 constants[2] = {0d3ff8000000000000, 0dc000000000000000};
.global .align 4 .u32 start[4] = {100, 200, 300};
.global .align 8 .u64 where[2] = {start, generic(start)+4};
.global .align 4 .f32 pi = 0f40490fdb;
"""


def spaces(m, x):
    m.entry("ld_st_shared", [IN("a", "u32", x), OUT("d", "u32", list(reversed(x)))],
            """mad.wide.u32 %p, %me, 4, $a$;
            mad.wide.u32 %q, %me, 4, $d$;
            ld.global.u32 %r, [%p];
            mov.u32 %b, swap;
            mad.lo.u32 %s, %me, 4, %b;
            st.shared.u32 [%s], %r;
            bar.sync 0;
            sub.u32 %t, 31, %me;
            mad.lo.u32 %s, %t, 4, %b;
            ld.shared.u32 %r, [%s];
            st.global.u32 [%q], %r;""", ".reg .b32 %r, %b, %s, %t;\n.reg .b64 %p, %q;\n.shared .align 4 .b8 swap[128];", "32-bit addresses")
    m.entry("ld_st_shared_symbol", [OUT("d", "u32", [5 + 1000 * 7] * N)],
            """st.shared.u32 [swap2+8], 5;
            st.shared.v2.u32 [swap2+16], {6, 7};
            bar.warp.sync 0xffffffff;
            ld.shared.u32 %r, [swap2+8];
            ld.shared.u32 %s, [swap2+20];
            mad.lo.u32 %r, %s, 1000, %r;
            mad.wide.u32 %q, %me, 4, $d$;
            st.global.u32 [%q], %r;""".replace("st.shared", "@%z st.shared").replace("bar.warp", "bar.warp"),
            ".reg .b32 %r, %s;\n.reg .b64 %q;\n.reg .pred %z;\n.shared .align 16 .b8 swap2[32];", "symbol and displacement", before="")
    m.entries[-1] = m.entries[-1].replace("    mov.u32 %me, %tid.x;\n", "    mov.u32 %me, %tid.x;\n    setp.eq.u32 %z, %me, 0;\n")
    m.entry("ld_st_local", [IN("a", "u32", x), OUT("d", "u32", [wrap(v * 3 + (v >> 1), "u32") for v in x])],
            """mad.wide.u32 %p, %me, 4, $a$;
            mad.wide.u32 %q, %me, 4, $d$;
            ld.global.u32 %r, [%p];
            mov.u64 %l, frame;
            and.b32 %s, %me, 3;
            mad.wide.u32 %m, %s, 4, %l;
            mul.lo.u32 %t, %r, 3;
            st.local.u32 [%m], %t;
            shr.u32 %t, %r, 1;
            st.local.u32 [frame+16], %t;
            ld.local.u32 %r, [%m];
            ld.local.u32 %t, [%l+16];
            add.u32 %r, %r, %t;
            st.global.u32 [%q], %r;""", ".reg .b32 %r, %s, %t;\n.reg .b64 %p, %q, %l, %m;\n.local .align 8 .b8 frame[24];", "each thread its own")
    m.entry("ld_st_generic", [IN("a", "u32", x), OUT("d", "u32", [wrap(v * 2 + 1, "u32") for v in x])],
            """mad.wide.u32 %p, %me, 4, $a$;
            mad.wide.u32 %q, %me, 4, $d$;
            cvta.global.u64 %p, %p;
            cvta.global.u64 %q, %q;
            mov.u64 %l, slot;
            cvta.local.u64 %l, %l;
            mov.u64 %s, row;
            cvta.shared.u64 %s, %s;
            mad.wide.u32 %s, %me, 4, %s;
            and.b32 %t, %me, 1;
            setp.eq.u32 %even, %t, 0;
            selp.b64 %m, %l, %s, %even;
            ld.u32 %r, [%p];
            st.u32 [%m], %r;
            ld.u32 %t, [%m];
            add.u32 %r, %r, %t;
            add.u32 %r, %r, 1;
            st.u32 [%q], %r;""", ".reg .b32 %r, %t;\n.reg .b64 %p, %q, %l, %m, %s;\n.reg .pred %even;\n.local .align 8 .b8 slot[8];\n.shared .align 8 .b8 row[128];",
            "lanes of one access in local and in shared memory")
    table = [7, 11, 13, 17, 0xFFFFFFFF, 0x80000000, 1, 2]
    m.entry("ld_const", [OUT("d", "u32", [table[k % 8] for k in range(N)])],
            """and.b32 %r, %me, 7;
            mov.u64 %p, table;
            mad.wide.u32 %p, %r, 4, %p;
            ld.const.u32 %r, [%p];
            mad.wide.u32 %q, %me, 4, $d$;
            st.global.u32 [%q], %r;""", ".reg .b32 %r;\n.reg .b64 %p, %q;")
    m.entry("ld_const_symbol", [OUT("d", "u32", [108 + 17 + (0xC0000000 & 0xFFFFFFFF)] * N)],
            """ld.const.u8 %r, [letters+3];
            ld.const.u32 %s, [table+12];
            add.u32 %r, %r, %s;
            ld.const.u32 %s, [constants+12];
            add.u32 %r, %r, %s;
            mad.wide.u32 %q, %me, 4, $d$;
            st.global.u32 [%q], %r;""", ".reg .b32 %r, %s;\n.reg .b64 %q;")
    m.entry("ld_global_variable", [OUT("d", "u32", [100 + 300 + 0 + 200] * N), OUT("e", "f32", [0x40490FDB] * N)],
            """ld.global.u32 %r, [start];
            ld.global.u32 %s, [start+8];
            add.u32 %r, %r, %s;
            ld.global.u32 %s, [start+12];
            add.u32 %r, %r, %s;
            ld.global.u64 %p, [where+8];
            ld.u32 %s, [%p];
            add.u32 %r, %r, %s;
            mad.wide.u32 %q, %me, 4, $d$;
            st.global.u32 [%q], %r;
            ld.global.f32 %f, [pi];
            mad.wide.u32 %q, %me, 4, $e$;
            st.global.f32 [%q], %f;""", ".reg .b32 %r, %s;\n.reg .f32 %f;\n.reg .b64 %p, %q;", "initial values, the rest zero; an address in an initial value")
    m.entry("st_global_variable", [OUT("d", "u32", list(range(1, N + 1)))],
            """mov.u64 %p, counters;
            mad.wide.u32 %p, %me, 4, %p;
            add.u32 %r, %me, 1;
            st.global.u32 [%p], %r;
            ld.global.u32 %r, [%p];
            mad.wide.u32 %q, %me, 4, $d$;
            st.global.u32 [%q], %r;""", ".reg .b32 %r;\n.reg .b64 %p, %q;", before=".global .align 4 .b8 counters[128];")
    m.entry("dynamic_shared", [IN("a", "u32", x), OUT("d", "u32", x[1:] + x[:1])],
            """mad.wide.u32 %p, %me, 4, $a$;
            mad.wide.u32 %q, %me, 4, $d$;
            ld.global.u32 %r, [%p];
            mov.u32 %b, dynamic;
            mad.lo.u32 %s, %me, 4, %b;
            st.shared.u32 [%s], %r;
            bar.sync 0;
            add.u32 %t, %me, 1;
            and.b32 %t, %t, 31;
            mad.lo.u32 %s, %t, 4, %b;
            ld.shared.u32 %r, [%s];
            st.global.u32 [%q], %r;""", ".reg .b32 %r, %b, %s, %t;\n.reg .b64 %p, %q;", shared=128, before=".extern .shared .align 16 .b8 dynamic[];")
    m.entry("ld_st_predicated", [IN("a", "u32", x), INOUT("d", "u32", [9] * N, [v if k % 3 == 0 else 9 for k, v in enumerate(x)])],
            """rem.u32 %r, %me, 3;
            setp.eq.u32 %p0, %r, 0;
            @!%p0 mov.u64 %q, 0;
            @%p0 mad.wide.u32 %q, %me, 4, $a$;
            @%p0 ld.global.u32 %r, [%q];
            @%p0 mad.wide.u32 %q, %me, 4, $d$;
            @%p0 st.global.u32 [%q], %r;""", ".reg .b32 %r;\n.reg .b64 %q;\n.reg .pred %p0;", "lanes that are off touch nothing, not even at address 0")


def hints(m, x):
    m.entry("prefetch_and_policy", [IN("a", "u32", x), OUT("d", "u32", x)],
            """mad.wide.u32 %p, %me, 4, $a$;
            mad.wide.u32 %q, %me, 4, $d$;
            prefetch.global.L2 [%p];
            prefetch.global.L1 [%p];
            prefetch.global.L2::evict_last [%p];
            createpolicy.fractional.L2::evict_last.b64 %c, 0.5;
            createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %c, 1.0;
            ld.global.L2::cache_hint.u32 %r, [%p], %c;
            st.global.L2::cache_hint.u32 [%q], %r, %c;""", ".reg .b32 %r;\n.reg .b64 %p, %q, %c;", "hints change no value")
    m.entry("ld_nc_v4_hint", [IN("a", "u32", x * 4), OUT("d", "u32", x * 4)],
            """mad.wide.u32 %p, %me, 16, $a$;
            mad.wide.u32 %q, %me, 16, $d$;
            createpolicy.fractional.L2::evict_first.b64 %c, 1.0;
            ld.global.nc.L1::no_allocate.L2::cache_hint.v4.f32 {%r0, %r1, %r2, %r3}, [%p], %c;
            st.global.L1::no_allocate.v4.f32 [%q], {%r0, %r1, %r2, %r3};""", ".reg .b32 %r<4>;\n.reg .b64 %p, %q, %c;")


# ---- atomics ----


def atom_result(op, t, old, b, c=None):
    if t in n.FORMATS:
        return encode(n.add(decode(old, t), decode(b, t)), t)
    if op == "add":
        return wrap(old + b, t)
    if op == "inc":
        return 0 if old >= b else old + 1
    if op == "dec":
        return b if old == 0 or old > b else old - 1
    if op == "cas":
        return c if old == b else old
    return {"min": min, "max": max, "and": lambda p, q: p & q, "or": lambda p, q: p | q, "xor": lambda p, q: p ^ q, "exch": lambda p, q: q}[op](old, b)


FORMS = [("add", t) for t in ("u32", "s32", "u64", "f32", "f64")] + [(o, t) for o in ("min", "max") for t in ("u32", "s32", "u64", "s64")]
FORMS += [(o, t) for o in ("and", "or", "xor", "exch", "cas") for t in ("b32", "b64")] + [("inc", "u32"), ("dec", "u32"), ("cas", "b16")]
HALVES = [("f16", 1), ("f16", 2), ("bf16", 1), ("bf16", 2)]


def values_for(op, t, seed):
    if t in n.FORMATS:
        return n.plain(t, N, seed), n.plain(t, N, seed + 1), None
    a, b = integers(t, N, seed), integers(t, N, seed + 1)
    if op == "cas":
        b[::2] = a[::2]
    return a, b, integers(t, N, seed + 2) if op == "cas" else None


def atomics():
    m = Module("atomic", "atomics and reductions", version="8.1")
    for op, t in FORMS:
        a, b, c = values_for(op, t, hash_of(op + t))
        new = [atom_result(op, t, *row) for row in (zip(a, b, c) if c else zip(a, b))]
        one(m, "atom_global_%s_%s" % (op, t), "atom.global.%s.%s" % (op, t), t, a, b, c, new)
        if t != "b16":
            in_shared(m, "atom_shared_%s_%s" % (op, t), "atom.shared.%s.%s" % (op, t), t, a, b, c, new)
        if op not in ("exch", "cas"):
            reduce(m, "red_global_%s_%s" % (op, t), "red.global.%s.%s" % (op, t), t, a, b, new)
    for t, words in HALVES:
        a, b = n.plain(t, N * words, 5), n.plain(t, N * words, 6)
        a[:4], b[:4] = n.edges(t)[4:8], n.edges(t)[4:8]  # subnormals are kept
        new = [encode(n.add(decode(p, t), decode(q, t)), t) for p, q in zip(a, b)]
        x2 = t + ("x2" if words == 2 else "")
        one(m, "atom_global_add_noftz_" + x2, "atom.global.add.noftz." + x2, t, a, b, None, new, words)
        reduce(m, "red_global_add_noftz_" + x2, "red.global.add.noftz." + x2, t, a, b, new, words)
    for scope in ("atom.relaxed.gpu.global.add.u32", "atom.acq_rel.sys.global.add.u32", "atom.acquire.cta.global.add.u32", "atom.release.gpu.global.add.u32", "atom.add.u32"):
        a, b, _ = values_for("add", "u32", 7)
        one(m, scope.replace(".", "_"), scope, "u32", a, b, None, [wrap(p + q, "u32") for p, q in zip(a, b)])
    contended(m)
    return m


def one(m, name, ptx, t, a, b, c, new, words=1):
    size, bits = width(t) * words // 8, max(16, width(t) * words)
    arrays = [INOUT("a", t, a, new, words), IN("b", t, b, words)] + ([IN("c", t, c)] if c else []) + [OUT("d", t, a, words=words)]
    load = "mad.wide.u32 %%p, %%me, %d, $b$;\nld.global.b%d %%b, [%%p];\n" % (size, bits)
    if c:
        load += "mad.wide.u32 %%p, %%me, %d, $c$;\nld.global.b%d %%c, [%%p];\n" % (size, bits)
    m.entry(name, arrays, load + """mad.wide.u32 %%p, %%me, %d, $a$;
            mad.wide.u32 %%q, %%me, %d, $d$;
            %s %%d, [%%p], %%b%s;
            st.global.b%d [%%q], %%d;""" % (size, size, ptx, ", %c" if c else "", bits), ".reg .b%d %%b, %%c, %%d;\n.reg .b64 %%p, %%q;" % bits)


def in_shared(m, name, ptx, t, a, b, c, new):
    size, bits = width(t) // 8, width(t)
    arrays = [INOUT("a", t, a, new), IN("b", t, b)] + ([IN("c", t, c)] if c else []) + [OUT("d", t, a)]
    load = "mad.wide.u32 %%p, %%me, %d, $b$;\nld.global.b%d %%b, [%%p];\n" % (size, bits)
    if c:
        load += "mad.wide.u32 %%p, %%me, %d, $c$;\nld.global.b%d %%c, [%%p];\n" % (size, bits)
    m.entry(name, arrays, load + """mad.wide.u32 %%p, %%me, %d, $a$;
            mad.wide.u32 %%q, %%me, %d, $d$;
            mov.u32 %%s, cells;
            mad.lo.u32 %%s, %%me, %d, %%s;
            ld.global.b%d %%d, [%%p];
            st.shared.b%d [%%s], %%d;
            %s %%d, [%%s], %%b%s;
            st.global.b%d [%%q], %%d;
            ld.shared.b%d %%d, [%%s];
            st.global.b%d [%%p], %%d;""" % (size, size, size, bits, bits, ptx, ", %c" if c else "", bits, bits, bits),
            ".reg .b%d %%b, %%c, %%d;\n.reg .b32 %%s;\n.reg .b64 %%p, %%q;\n.shared .align 8 .b8 cells[%d];" % (bits, 32 * size))


def reduce(m, name, ptx, t, a, b, new, words=1):
    size, bits = width(t) * words // 8, max(16, width(t) * words)
    m.entry(name, [INOUT("a", t, a, new, words), IN("b", t, b, words)],
            """mad.wide.u32 %%p, %%me, %d, $b$;
            ld.global.b%d %%b, [%%p];
            mad.wide.u32 %%p, %%me, %d, $a$;
            %s [%%p], %%b;""" % (size, bits, size, ptx), ".reg .b%d %%b;\n.reg .b64 %%p;" % bits)


def contended(m):
    x = integers("u32", 96, 9)
    m.entry("atom_add_same_address", [INOUT("a", "u32", [5], [wrap(5 + sum(x), "u32")]), IN("b", "u32", x)],
            """mad.wide.u32 %p, %me, 4, $b$;
            ld.global.u32 %b, [%p];
            atom.global.add.u32 %d, [$a$], %b;""", ".reg .b32 %b, %d;\n.reg .b64 %p;", "every thread of three warps", block=96)
    m.entry("red_max_same_address", [INOUT("a", "u32", [5], [max(x)]), IN("b", "u32", x)],
            """mad.wide.u32 %p, %me, 4, $b$;
            ld.global.u32 %b, [%p];
            red.global.max.u32 [$a$], %b;""", ".reg .b32 %b;\n.reg .b64 %p;", block=96)
    m.entry("atom_ticket", [INOUT("a", "u32", [0], [64]), OUT("d", "u32", [1] * 64)],
            """atom.global.inc.u32 %d, [$a$], 1000;
            mad.wide.u32 %p, %d, 4, $d$;
            st.global.u32 [%p], 1;""", ".reg .b32 %d;\n.reg .b64 %p;", "every thread gets a number of its own", block=64)
    m.entry("atom_cas_loop", [INOUT("a", "u32", [3], [3 + 2 * 32])],
            """ld.relaxed.gpu.global.u32 %o, [$a$];
            again:
            add.u32 %n, %o, 2;
            atom.relaxed.gpu.global.cas.b32 %d, [$a$], %o, %n;
            setp.ne.u32 %p, %d, %o;
            mov.u32 %o, %d;
            @%p bra again;""", ".reg .b32 %o, %n, %d;\n.reg .pred %p;", "addition by compare and swap, all lanes at one word")
    m.entry("red_f32_same_address", [INOUT("a", "f32", [0], [n.from_python(32.0 * 33 / 2, "f32")])],
            """add.u32 %r, %me, 1;
            cvt.rn.f32.u32 %f, %r;
            red.global.add.f32 [$a$], %f;""", ".reg .b32 %r;\n.reg .f32 %f;", "small integers: exact in any order")


def modules():
    return [loads(), atomics()]

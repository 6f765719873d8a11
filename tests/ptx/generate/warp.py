"""Lanes among each other, barriers, control flow, calls."""

from emit import ANY, IN, INOUT, OUT, Module
from integer import hash_of
from number import integers, wrap

N = 32
FULL = "0xffffffff"


def store(name, reg, bits=32):
    return "mad.wide.u32 %%q, %%me, %d, $%s$;\nst.global.b%d [%%q], %%%s;" % (bits // 8, name, bits, reg)


def lanes():
    m = Module("warp", "shuffles, votes, matches, reductions", version="8.0")
    x = integers("b32", N, 1)
    shuffles(m, x)
    votes(m)
    matches(m)
    for op, t, f in [("add", "u32", sum), ("add", "s32", sum), ("min", "u32", min), ("min", "s32", min), ("max", "u32", max), ("max", "s32", max)]:
        v = integers(t, N, hash_of(op + t))
        m.each("redux_%s_%s" % (op, t), "redux.sync.%s.%s %%d, %%a, %s;" % (op, t, FULL), [IN("a", t, v)], [OUT("d", t, [wrap(f(v), t)] * N)])
    for op in ("and", "or", "xor"):
        v = [y | 0x100 if op == "and" else y for y in integers("b32", N, hash_of(op))]
        r = v[0]
        for y in v[1:]:
            r = r & y if op == "and" else r | y if op == "or" else r ^ y
        m.each("redux_%s_b32" % op, "redux.sync.%s.b32 %%d, %%a, %s;" % (op, FULL), [IN("a", "b32", v)], [OUT("d", "b32", [r] * N)])
    m.each("redux_two_halves", """setp.lt.u32 %p, %me, 12;
        @%p bra low;
        redux.sync.add.u32 %d, %a, 0xfffff000;
        bra done;
        low:
        redux.sync.add.u32 %d, %a, 0xfff;
        done:""", [IN("a", "u32", list(range(N)))], [OUT("d", "u32", [sum(range(12))] * 12 + [sum(range(12, 32))] * 20)], regs=".reg .pred %p;")
    m.each("activemask", """mov.b32 %d, 0;
        rem.u32 %r, %a, 3;
        setp.ne.u32 %p, %r, 1;
        @%p bra done;
        activemask.b32 %d;
        done:""", [IN("a", "u32", list(range(N)))], [OUT("d", "b32", [sum(1 << k for k in range(N) if k % 3 == 1) if k % 3 == 1 else 0 for k in range(N)])],
           "in a branch of every third lane", ".reg .b32 %r;\n.reg .pred %p;")
    m.each("elect_sync", """elect.sync %r|%p, 0xffffffff;
        selp.u32 %d, 1, 0, %p;
        add.u32 %e, %r, %a;""", [IN("a", "u32", [0] * N)], [OUT("d", "u32", [1] + [0] * 31), OUT("e", "u32", [0] * N)], "the lowest lane", ".reg .b32 %r;\n.reg .pred %p;")
    return m


def shuffled(mode, lane, b, c):
    """Source lane and whether it is inside the segment."""
    b, clamp, mask = b & 31, c & 31, c >> 8 & 31
    top = (lane & mask) | (clamp & ~mask & 31)
    low = lane & mask
    if mode == "up":
        j, ok = lane - b, lane - b >= top
    elif mode == "down":
        j, ok = lane + b, lane + b <= top
    elif mode == "bfly":
        j, ok = lane ^ b, (lane ^ b) <= top
    else:
        j = low | (b & ~mask & 31)
        ok = j <= top
    return (j if ok else lane), ok


def shuffles(m, x):
    for mode in ("up", "down", "bfly", "idx"):
        for b in (0, 1, 5, 16, 31):
            if mode == "idx" and b in (0, 16):
                continue
            for width in (32, 8) if b in (1, 5) else (32,):
                c = (0 if mode == "up" else 31) | (32 - width) << 8
                got = [shuffled(mode, l, b, c) for l in range(N)]
                m.each("shfl_%s_%d_width_%d" % (mode, b, width),
                       "shfl.sync.%s.b32 %%d|%%p, %%a, %d, 0x%x, %s;\nselp.u32 %%e, 1, 0, %%p;" % (mode, b, c, FULL), [IN("a", "b32", x)],
                       [OUT("d", "b32", [x[j] for j, _ in got]), OUT("e", "u32", [int(ok) for _, ok in got])], regs=".reg .pred %p;")
    index = [(7 * l + 3) % 40 for l in range(N)]
    got = [shuffled("idx", l, index[l], 31) for l in range(N)]
    m.each("shfl_idx_register", "shfl.sync.idx.b32 %%d, %%a, %%b, 31, %s;" % FULL, [IN("a", "b32", x), IN("b", "u32", index)], [OUT("d", "b32", [x[j] for j, _ in got])],
           "an index a lane")
    distance = [l % 5 for l in range(N)]
    got = [shuffled("down", l, distance[l], 31) for l in range(N)]
    m.each("shfl_down_register", "shfl.sync.down.b32 %%d, %%a, %%b, 31, %s;" % FULL, [IN("a", "b32", x), IN("b", "u32", distance)], [OUT("d", "b32", [x[j] for j, _ in got])])
    m.each("shfl_half_warp", """setp.ge.u32 %p, %me, 16;
        @%p bra high;
        shfl.sync.bfly.b32 %d, %a, 3, 31, 0x0000ffff;
        bra done;
        high:
        shfl.sync.bfly.b32 %d, %a, 4, 31, 0xffff0000;
        done:""", [IN("a", "b32", x)], [OUT("d", "b32", [x[l ^ 3] if l < 16 else x[l ^ 4] for l in range(N)])], "the two halves apart", ".reg .pred %p;")
    v = list(range(1, N + 1))
    m.each("shfl_tree_sum", "mov.b32 %d, %a;\n" + "\n".join(
        "shfl.sync.bfly.b32 %%r, %%d, %d, 31, %s;\nadd.u32 %%d, %%d, %%r;" % (k, FULL) for k in (16, 8, 4, 2, 1)), [IN("a", "u32", v)], [OUT("d", "u32", [sum(v)] * N)],
        regs=".reg .b32 %r;")


def votes(m):
    x = [k % 5 == 2 for k in range(N)]
    ballot = sum(int(v) << k for k, v in enumerate(x))
    rows = {"all": 0, "any": 1, "uni": 0}
    for mode, want in rows.items():
        m.each("vote_" + mode, "setp.ne.u32 %%p, %%a, 0;\nvote.sync.%s.pred %%q, %%p, %s;\nselp.u32 %%d, 1, 0, %%q;" % (mode, FULL), [IN("a", "u32", [int(v) for v in x])],
               [OUT("d", "u32", [want] * N)], regs=".reg .pred %p, %q;")
        yes = {"all": 1, "any": 1, "uni": 1}[mode]
        m.each("vote_%s_true" % mode, "setp.ne.u32 %%p, %%a, 0;\nvote.sync.%s.pred %%q, %%p, %s;\nselp.u32 %%d, 1, 0, %%q;" % (mode, FULL), [IN("a", "u32", [1] * N)],
               [OUT("d", "u32", [yes] * N)], regs=".reg .pred %p, %q;")
    m.each("vote_ballot", "setp.ne.u32 %%p, %%a, 0;\nvote.sync.ballot.b32 %%d, %%p, %s;" % FULL, [IN("a", "u32", [int(v) for v in x])], [OUT("d", "b32", [ballot] * N)],
           regs=".reg .pred %p;")
    m.each("vote_ballot_not", "setp.ne.u32 %%p, %%a, 0;\nvote.sync.ballot.b32 %%d, !%%p, %s;" % FULL, [IN("a", "u32", [int(v) for v in x])],
           [OUT("d", "b32", [~ballot & 0xFFFFFFFF] * N)], regs=".reg .pred %p;")
    odd = 0xAAAAAAAA
    m.each("vote_ballot_half", """mov.b32 %d, 0;
        setp.ne.u32 %p, %a, 0;
        and.b32 %r, %me, 1;
        setp.eq.u32 %q, %r, 0;
        @%q bra done;
        vote.sync.ballot.b32 %d, %p, 0xaaaaaaaa;
        done:""", [IN("a", "u32", [int(v) for v in x])], [OUT("d", "b32", [ballot & odd if k & 1 else 0 for k in range(N)])], "odd lanes only", ".reg .b32 %r;\n.reg .pred %p, %q;")


def matches(m):
    for t in ("b32", "b64"):
        x = [(k * k) % 7 + (1 << 40 if t == "b64" and k & 1 else 0) for k in range(N)]
        want = [sum(1 << j for j in range(N) if x[j] == v) for v in x]
        m.each("match_any_" + t, "match.any.sync.%s %%d, %%a, %s;" % (t, FULL), [IN("a", t, x)], [OUT("d", "b32", want)])
        for name, v in (("equal", [9] * N), ("different", x)):
            same = len(set(v)) == 1
            m.each("match_all_%s_%s" % (t, name), "match.all.sync.%s %%d|%%p, %%a, %s;\nselp.u32 %%e, 1, 0, %%p;" % (t, FULL), [IN("a", t, v)],
                   [OUT("d", "b32", [0xFFFFFFFF if same else 0] * N), OUT("e", "u32", [int(same)] * N)], regs=".reg .pred %p;")


def barriers():
    m = Module("barrier", "barriers and fences", version="8.0")
    n = 128
    x = integers("u32", n, 2)
    for name, code in (("bar_sync", "bar.sync 0;"), ("bar_sync_count", "bar.sync 3, 128;"), ("barrier_sync", "barrier.sync 1;"), ("barrier_sync_aligned", "barrier.sync.aligned 2, 128;"),
                       ("barrier_cta_sync", "barrier.cta.sync 0;"), ("bar_sync_register", "mov.u32 %b, 5;\nbar.sync %b;")):
        exchange(m, name, code, x, n)
    v = [int(k % 7 == 3) for k in range(n)]
    m.entry("bar_red_popc", [IN("a", "u32", v), OUT("d", "u32", [sum(v)] * n)], """mad.wide.u32 %q, %me, 4, $a$;
        ld.global.u32 %r, [%q];
        setp.ne.u32 %p, %r, 0;
        bar.red.popc.u32 %d, 0, %p;\n""" + store("d", "d"), ".reg .b32 %r, %d;\n.reg .b64 %q;\n.reg .pred %p;", block=n)
    for op, want in (("and", 0), ("or", 1)):
        m.entry("bar_red_" + op, [IN("a", "u32", v), OUT("d", "u32", [want] * n)], """mad.wide.u32 %%q, %%me, 4, $a$;
            ld.global.u32 %%r, [%%q];
            setp.ne.u32 %%p, %%r, 0;
            bar.red.OP.pred %%s, 0, %%p;
            selp.u32 %%d, 1, 0, %%s;\n""".replace("%%", "%").replace("OP", op) + store("d", "d"), ".reg .b32 %r, %d;\n.reg .b64 %q;\n.reg .pred %p, %s;", block=n)
    m.entry("bar_red_and_not", [IN("a", "u32", [0] * n), OUT("d", "u32", [1] * n)], """mad.wide.u32 %q, %me, 4, $a$;
        ld.global.u32 %r, [%q];
        setp.ne.u32 %p, %r, 0;
        bar.red.and.pred %s, 4, 128, !%p;
        selp.u32 %d, 1, 0, %s;\n""" + store("d", "d"), ".reg .b32 %r, %d;\n.reg .b64 %q;\n.reg .pred %p, %s;", block=n)
    m.entry("bar_arrive", [INOUT("a", "u32", [0] * 64, [k * 3 for k in range(64)]), OUT("d", "u32", [(k * 3) for k in range(64)])],
            """mov.u32 %b, box;
            and.b32 %r, %me, 63;
            mad.lo.u32 %s, %r, 4, %b;
            mad.wide.u32 %q, %r, 4, $d$;
            mad.wide.u32 %o, %r, 4, $a$;
            setp.ge.u32 %p, %me, 64;
            @%p bra consumer;
            mul.lo.u32 %r, %r, 3;
            st.shared.u32 [%s], %r;
            bar.arrive 1, 128;
            st.global.u32 [%o], %r;
            bra done;
            consumer:
            bar.sync 1, 128;
            ld.shared.u32 %r, [%s];
            st.global.u32 [%q], %r;
            done:""", ".reg .b32 %b, %r, %s;\n.reg .b64 %q, %o;\n.reg .pred %p;\n.shared .align 4 .b8 box[256];", "producers arrive, consumers wait", block=128)
    m.entry("bar_arrive_and_come", [OUT("d", "u32", list(range(32)))], "bar.arrive 1, 64;\nbar.sync 1, 64;\n" + store("d", "me"), ".reg .b64 %q;",
            "a warp that arrives and then waits counts twice", block=32)
    m.entry("bar_take_turns", [OUT("d", "u32", [0, 1] * 4)],
            """mov.u32 %b, box;
            shr.u32 %w, %me, 5;
            and.b32 %t, %me, 31;
            setp.eq.u32 %first, %t, 0;
            setp.eq.u32 %one, %w, 1;
            add.u32 %mine, %w, 1;
            sub.u32 %other, 2, %w;
            mov.u32 %t, 0;
            @%one bra turn;
            st.shared.u32 [%b], %t;
            bar.arrive 1, 64;
            turn:
            bar.sync %mine, 64;
            @!%first bra passed;
            ld.shared.u32 %n, [%b];
            mad.wide.u32 %q, %n, 4, $d$;
            st.global.u32 [%q], %w;
            add.u32 %n, %n, 1;
            st.shared.u32 [%b], %n;
            passed:
            bar.warp.sync 0xffffffff;
            add.u32 %t, %t, 1;
            setp.eq.and.u32 %last, %t, 4, %one;
            @%last bra done;
            bar.arrive %other, 64;
            setp.lt.u32 %again, %t, 4;
            @%again bra turn;
            done:""", ".reg .b32 %b, %w, %t, %mine, %other, %n;\n.reg .b64 %q;\n.reg .pred %first, %one, %last, %again;\n.shared .align 4 .b8 box[4];",
            "the first gives itself the first signal, then each gives the other its turn", block=64)
    m.entry("bar_warp_sync", [IN("a", "u32", x[:32]), OUT("d", "u32", x[1:32] + x[:1])],
            """mov.u32 %b, ring;
            mad.wide.u32 %q, %me, 4, $a$;
            ld.global.u32 %r, [%q];
            mad.lo.u32 %s, %me, 4, %b;
            st.shared.u32 [%s], %r;
            bar.warp.sync 0xffffffff;
            add.u32 %t, %me, 1;
            and.b32 %t, %t, 31;
            mad.lo.u32 %s, %t, 4, %b;
            ld.shared.u32 %d, [%s];\n""" + store("d", "d"), ".reg .b32 %b, %r, %s, %t, %d;\n.reg .b64 %q;\n.shared .align 4 .b8 ring[128];")
    m.entry("fences", [IN("a", "u32", x[:32]), OUT("d", "u32", x[:32])],
            """mad.wide.u32 %q, %me, 4, $a$;
            ld.global.u32 %d, [%q];
            membar.cta;
            membar.gl;
            membar.sys;
            fence.sc.gpu;
            fence.acq_rel.cta;
            fence.acq_rel.gpu;
            fence.sc.sys;\n""" + store("d", "d"), ".reg .b32 %d;\n.reg .b64 %q;")
    m.entry("block_flag", [INOUT("a", "u32", [0, 0], [1, 77]), OUT("d", "u32", [77])],
            """mov.u32 %r, %ctaid.x;
            setp.ne.u32 %p, %r, 0;
            @%p bra reader;
            st.global.u32 [$a$+4], 77;
            fence.acq_rel.gpu;
            st.relaxed.gpu.global.u32 [$a$], 1;
            bra done;
            reader:
            spin:
            ld.relaxed.gpu.global.u32 %r, [$a$];
            setp.eq.u32 %p, %r, 0;
            @%p bra spin;
            fence.acq_rel.gpu;
            ld.global.u32 %r, [$a$+4];
            st.global.u32 [$d$], %r;
            done:""", ".reg .b32 %r;\n.reg .pred %p;", "a block waits for another's message", grid=2, block=1)
    return m


def exchange(m, name, code, x, n):
    m.entry(name, [IN("a", "u32", x), OUT("d", "u32", list(reversed(x)))],
            """mad.wide.u32 %%p, %%me, 4, $a$;
            ld.global.u32 %%r, [%%p];
            mov.u32 %%b, hall_%s;
            mad.lo.u32 %%s, %%me, 4, %%b;
            st.shared.u32 [%%s], %%r;
            %s
            sub.u32 %%t, %d, %%me;
            mov.u32 %%b, hall_%s;
            mad.lo.u32 %%s, %%t, 4, %%b;
            ld.shared.u32 %%d, [%%s];\n""" % (name, code, n - 1, name) + store("d", "d"),
            ".reg .b32 %%r, %%b, %%s, %%t, %%d;\n.reg .b64 %%p, %%q;\n.shared .align 4 .b8 hall_%s[%d];" % (name, 4 * n), block=n)


HEAD = """
.func (.param .b32 result) triple(.param .b32 given)
{
    .reg .b32 %x;
    ld.param.b32 %x, [given];
    mad.lo.u32 %x, %x, 2, %x;
    st.param.b32 [result], %x;
    ret;
}

.func (.param .b32 out) choose(.param .b32 left, .param .b64 right)
{
    .reg .b32 %a, %r;
    .reg .b64 %b;
    .reg .pred %p;
    ld.param.b32 %a, [left];
    ld.param.b64 %b, [right];
    setp.lt.u32 %p, %a, 10;
    @%p bra small;
    cvt.u32.u64 %r, %b;
    st.param.b32 [out], %r;
    ret;
small:
    add.u32 %r, %a, 1000;
    st.param.b32 [out], %r;
    ret;
}

.func (.param .align 4 .b8 pair[8]) swap(.param .align 4 .b8 given[8])
{
    .reg .b32 %a, %b;
    ld.param.b32 %a, [given];
    ld.param.b32 %b, [given+4];
    st.param.b32 [pair], %b;
    st.param.b32 [pair+4], %a;
    ret;
}

.func (.param .b32 out) outer(.param .b32 v)
{
    .reg .b32 %a, %b;
    ld.param.b32 %a, [v];
    {
    .param .b32 g;
    .param .b32 r;
    st.param.b32 [g], %a;
    call.uni (r), triple, (g);
    ld.param.b32 %b, [r];
    }
    add.u32 %b, %b, 1;
    st.param.b32 [out], %b;
    ret;
}

.func (.param .b32 out) scratch(.param .b32 v)
{
    .local .align 4 .b8 room[16];
    .reg .b32 %a, %b;
    .reg .b64 %l;
    ld.param.b32 %a, [v];
    and.b32 %b, %a, 3;
    mov.u64 %l, room;
    mad.wide.u32 %l, %b, 4, %l;
    st.local.u32 [%l], %a;
    ld.local.u32 %b, [%l];
    st.param.b32 [out], %b;
    ret;
}
"""


def collatz(v):
    k = 0
    while v != 1:
        v = 3 * v + 1 if v & 1 else v // 2
        k += 1
    return k


def control():
    m = Module("control", "branches, loops, calls, exits", version="8.0", head=HEAD)
    x = list(range(N))
    m.each("bra_if_else", """setp.lt.u32 %p, %a, 11;
        @%p bra then;
        mul.lo.u32 %d, %a, 5;
        bra join;
        then:
        add.u32 %d, %a, 100;
        join:
        add.u32 %d, %d, 1;""", [IN("a", "u32", x)], [OUT("d", "u32", [v + 101 if v < 11 else v * 5 + 1 for v in x])], regs=".reg .pred %p;")
    m.each("bra_nested", """mov.u32 %d, 0;
        and.b32 %r, %a, 1;
        setp.eq.u32 %p, %r, 0;
        @!%p bra odd;
        and.b32 %r, %a, 2;
        setp.eq.u32 %q, %r, 0;
        @%q bra four;
        mov.u32 %d, 2;
        bra join;
        four:
        mov.u32 %d, 4;
        bra join;
        odd:
        and.b32 %r, %a, 2;
        setp.eq.u32 %q, %r, 0;
        @!%q mov.u32 %d, 3;
        @%q mov.u32 %d, 1;
        join:
        activemask.b32 %r;
        vote.sync.ballot.b32 %r, %q, 0xffffffff;
        add.u32 %d, %d, %r;""", [IN("a", "u32", x)], [OUT("d", "u32", [(0x33333333 + {0: 4, 2: 2, 1: 1, 3: 3}[v % 4]) for v in x])],
           "reconverges for the vote", ".reg .b32 %r;\n.reg .pred %p, %q;")
    m.each("bra_uni", """mov.u32 %d, 3;
        bra.uni over;
        mov.u32 %d, 4;
        over:
        add.u32 %d, %d, %a;""", [IN("a", "u32", x)], [OUT("d", "u32", [v + 3 for v in x])])
    start = [v + 1 for v in x]
    m.each("loop_trip_counts", """mov.u32 %d, 0;
        again:
        setp.eq.u32 %p, %a, 1;
        @%p bra done;
        and.b32 %r, %a, 1;
        setp.ne.u32 %q, %r, 0;
        @%q bra odd;
        shr.u32 %a, %a, 1;
        bra next;
        odd:
        mad.lo.u32 %a, %a, 3, 1;
        next:
        add.u32 %d, %d, 1;
        bra again;
        done:""", [IN("a", "u32", start)], [OUT("d", "u32", [collatz(v) for v in start])], "another number of rounds a lane", ".reg .b32 %r;\n.reg .pred %p, %q;")
    m.each("loop_nested", """mov.u32 %d, 0;
        mov.u32 %i, 0;
        outer_loop:
        mov.u32 %j, 0;
        inner_loop:
        mad.lo.u32 %d, %i, %j, %d;
        add.u32 %j, %j, 1;
        setp.le.u32 %p, %j, %a;
        @%p bra inner_loop;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 4;
        @%p bra outer_loop;""", [IN("a", "u32", x)], [OUT("d", "u32", [6 * v * (v + 1) // 2 for v in x])], regs=".reg .b32 %i, %j;\n.reg .pred %p;")
    m.each("brx_idx", """and.b32 %r, %a, 3;
        ts: .branchtargets one, two, three, four;
        brx.idx %r, ts;
        one:
        mov.u32 %d, 11;
        bra join;
        two:
        mov.u32 %d, 22;
        bra join;
        three:
        mov.u32 %d, 33;
        bra join;
        four:
        mov.u32 %d, 44;
        join:
        add.u32 %d, %d, %a;""", [IN("a", "u32", x)], [OUT("d", "u32", [11 * (v % 4 + 1) + v for v in x])], "a jump table", ".reg .b32 %r;")
    calls(m, x)
    m.entry("exit_early", [IN("a", "u32", x), INOUT("d", "u32", [5] * N, [5 if v % 2 else v for v in x])],
            """mad.wide.u32 %q, %me, 4, $a$;
            ld.global.u32 %r, [%q];
            and.b32 %s, %r, 1;
            setp.ne.u32 %p, %s, 0;
            @%p exit;
            mad.wide.u32 %q, %me, 4, $d$;
            st.global.u32 [%q], %r;""", ".reg .b32 %r, %s;\n.reg .b64 %q;\n.reg .pred %p;")
    m.entry("ret_early_then_barrier", [INOUT("d", "u32", [5] * 64, [5] * 32 + list(range(64, 96)))],
            """setp.lt.u32 %p, %me, 32;
            @%p ret;
            bar.sync 0;
            add.u32 %r, %me, 32;
            mad.wide.u32 %q, %me, 4, $d$;
            st.global.u32 [%q], %r;""", ".reg .b32 %r;\n.reg .b64 %q;\n.reg .pred %p;", "a warp that is gone counts as arrived", block=64)
    m.each("nanosleep", "nanosleep.u32 20;\nmov.u32 %d, %a;", [IN("a", "u32", x)], [OUT("d", "u32", x)])
    m.entry("grid_of_blocks", [OUT("d", "u32", [v for c in range(5) for v in [c * 100 + t for t in range(40)]])],
            """mov.u32 %c, %ctaid.x;
            mov.u32 %n, %ntid.x;
            mad.lo.u32 %i, %c, %n, %me;
            mad.lo.u32 %r, %c, 100, %me;
            mad.wide.u32 %q, %i, 4, $d$;
            st.global.u32 [%q], %r;""", ".reg .b32 %c, %n, %i, %r;\n.reg .b64 %q;", "a last warp that is not full", grid=5, block=40)
    return m


def calls(m, x):
    m.each("call_one_param", """{
        .param .b32 g;
        .param .b32 r;
        st.param.b32 [g], %a;
        call (r), triple, (g);
        ld.param.b32 %d, [r];
        }""", [IN("a", "u32", x)], [OUT("d", "u32", [3 * v for v in x])])
    m.each("call_divergent_return", """{
        .param .b32 l;
        .param .b64 r;
        .param .b32 o;
        cvt.u64.u32 %w, %a;
        mul.lo.u64 %w, %w, 7;
        st.param.b32 [l], %a;
        st.param.b64 [r], %w;
        call.uni (o), choose, (l, r);
        ld.param.b32 %d, [o];
        }""", [IN("a", "u32", x)], [OUT("d", "u32", [v + 1000 if v < 10 else 7 * v for v in x])], "the callee branches and returns in two places", ".reg .b64 %w;")
    m.each("call_struct", """{
        .param .align 4 .b8 g[8];
        .param .align 4 .b8 o[8];
        st.param.b32 [g], %a;
        st.param.b32 [g+4], 9;
        call.uni (o), swap, (g);
        ld.param.b32 %d, [o];
        ld.param.b32 %e, [o+4];
        }""", [IN("a", "u32", x)], [OUT("d", "u32", [9] * N), OUT("e", "u32", x)])
    m.each("call_nested", """{
        .param .b32 v;
        .param .b32 o;
        st.param.b32 [v], %a;
        call.uni (o), outer, (v);
        ld.param.b32 %d, [o];
        }""", [IN("a", "u32", x)], [OUT("d", "u32", [3 * v + 1 for v in x])])
    m.each("call_local", """{
        .param .b32 v;
        .param .b32 o;
        st.param.b32 [v], %a;
        call.uni (o), scratch, (v);
        ld.param.b32 %d, [o];
        }""", [IN("a", "u32", x)], [OUT("d", "u32", x)], "a callee with local memory")
    m.each("call_some_lanes", """mov.u32 %d, 1;
        setp.lt.u32 %p, %a, 20;
        @%p bra done;
        {
        .param .b32 g;
        .param .b32 r;
        st.param.b32 [g], %a;
        call (r), triple, (g);
        ld.param.b32 %d, [r];
        }
        done:""", [IN("a", "u32", x)], [OUT("d", "u32", [3 * v if v >= 20 else 1 for v in x])], "not all lanes call", ".reg .pred %p;")


def modules():
    return [lanes(), barriers(), control()]

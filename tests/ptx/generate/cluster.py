"""mbarriers, bulk copies and thread block clusters. Blocks of a cluster wait for each other before they end."""

from emit import IN, INOUT, OUT, Module
from number import from_python

M32 = 0xFFFFFFFF

# ---- mbarriers

REGS = """.reg .b32 %r, %s, %t, %bar, %to, %n, %d<8>;
.reg .b64 %q, %p, %state, %state2;
.reg .pred %z, %y;"""


def wait(name, parity, form="try_wait.parity.shared::cta.b64", label="wait"):
    return """{label}_{name}:
mbarrier.{form} %z, [%bar], {parity};
@!%z bra {label}_{name};
""".format(label=label, name=name, form=form, parity=parity)


def begin(name, arrivals):
    """Thread 0 makes the mbarrier; all know it."""
    return """mov.u32 %bar, bar_{name};
setp.eq.u32 %y, %me, 0;
@%y mbarrier.init.shared::cta.b64 [%bar], {arrivals};
@%y fence.mbarrier_init.release.cluster;
bar.sync 0;
""".format(name=name, arrivals=arrivals)


def put(value, array="d", at="%me"):
    return """mad.wide.u32 %q, {at}, 4, ${array}$;
st.global.u32 [%q], {value};
""".format(at=at, array=array, value=value)


def shared(name, more=""):
    return ".shared .align 8 .b64 bar_%s;\n%s" % (name, more)


def mbarrier():
    m = Module("mbarrier", "mbarriers", version="8.0")

    def case(name, body, want, arrivals, note="", more="", block=32, kind="u32", ins=()):
        m.entry(name, list(ins) + [OUT("d", kind, want)], begin(name, arrivals) + body, REGS + "\n" + shared(name, more),
                note, block=block)

    n = 64
    values = [(k * 2654435761 + 7) & M32 for k in range(n)]
    exchange = """mov.u32 %s, hall_{name};
mad.lo.u32 %t, %me, 4, %s;
mad.wide.u32 %p, %me, 4, $a$;
ld.global.u32 %r, [%p];
st.shared.u32 [%t], %r;
{arrive}
{wait}
xor.b32 %t, %me, 63;
mad.lo.u32 %t, %t, 4, %s;
ld.shared.u32 %r, [%t];
"""

    def exchanged(name, arrive, wait_text, arrivals, note=""):
        case(name, exchange.format(name=name, arrive=arrive, wait=wait_text) + put("%r"), [values[k ^ 63] for k in range(n)],
             arrivals, note, ".shared .align 4 .b8 hall_%s[256];" % name, n, ins=[IN("a", "u32", values)])

    forms = [
        ("mbar_arrive", "mbarrier.arrive.shared::cta.b64 %state, [%bar];", None, 64),
        ("mbar_arrive_release_cta", "mbarrier.arrive.release.cta.shared::cta.b64 %state, [%bar];", None, 64),
        ("mbar_arrive_shared", "mbarrier.arrive.shared.b64 _, [%bar];", None, 64),
        ("mbar_arrive_count", "mbarrier.arrive.shared::cta.b64 %state, [%bar], 3;", None, 192),
        ("mbar_arrive_expect_tx_0", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 0;", None, 64),
        ("mbar_arrive_expect_tx_complete",
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 24;\nmbarrier.complete_tx.shared::cta.relaxed.cluster.b64 [%bar], 24;",
         None, 64),
        ("mbar_expect_tx",
         "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], 8;\nmbarrier.complete_tx.shared::cta.relaxed.cluster.b64 [%bar], 8;\n"
         "mbarrier.arrive.shared::cta.b64 _, [%bar];", None, 64),
    ]
    for name, arrive, _, arrivals in forms:
        exchanged(name, arrive, wait(name, 0), arrivals)
    waits = [
        ("mbar_test_wait", "test_wait.shared::cta.b64", "%state"),
        ("mbar_test_wait_parity", "test_wait.parity.shared::cta.b64", "0"),
        ("mbar_test_wait_acquire", "test_wait.parity.acquire.cta.shared::cta.b64", "0"),
        ("mbar_try_wait", "try_wait.shared::cta.b64", "%state"),
        ("mbar_try_wait_hint", "try_wait.shared::cta.b64", "%state, 1000"),
        ("mbar_try_wait_parity_hint", "try_wait.parity.shared::cta.b64", "0, 0x989680"),
        ("mbar_try_wait_cluster", "try_wait.parity.acquire.cluster.shared::cta.b64", "0"),
    ]
    for name, form, parity in waits:
        exchanged(name, "mbarrier.arrive.shared::cta.b64 %state, [%bar];", wait(name, parity, form), 64)
    generic = "cvt.u64.u32 %q, %bar;\ncvta.shared.u64 %q, %q;\n"
    exchanged("mbar_generic", generic + "mbarrier.arrive.b64 %state, [%q];",
              wait("mbar_generic", 0, "try_wait.parity.b64").replace("[%bar]", "[%q]"), 64, "generic addresses")

    case("mbar_parity", """mbarrier.test_wait.parity.shared::cta.b64 %z, [%bar], 0;
selp.u32 %d0, 1, 0, %z;
mbarrier.test_wait.parity.shared::cta.b64 %z, [%bar], 1;
selp.u32 %d1, 2, 0, %z;
bar.sync 0;
mbarrier.arrive.shared::cta.b64 %state, [%bar];
bar.sync 0;
mbarrier.test_wait.parity.shared::cta.b64 %z, [%bar], 0;
selp.u32 %d2, 4, 0, %z;
mbarrier.test_wait.parity.shared::cta.b64 %z, [%bar], 1;
selp.u32 %d3, 8, 0, %z;
mbarrier.test_wait.shared::cta.b64 %z, [%bar], %state;
selp.u32 %d4, 16, 0, %z;
or.b32 %d0, %d0, %d1;
or.b32 %d0, %d0, %d2;
or.b32 %d0, %d0, %d3;
or.b32 %d0, %d0, %d4;
""" + put("%d0"), [2 | 4 | 16] * 32, 32, "before a phase and after it")
    case("mbar_phases", """mov.u32 %d0, 0;
mov.u32 %n, 0;
again_mbar_phases:
mbarrier.arrive.shared::cta.b64 %state, [%bar];
and.b32 %d1, %n, 1;
""" + wait("mbar_phases", "%d1") + """add.u32 %d0, %d0, 1;
add.u32 %n, %n, 1;
setp.lt.u32 %z, %n, 9;
@%z bra again_mbar_phases;
""" + put("%d0"), [9] * 64, 64, "nine phases", block=64)
    case("mbar_pending", """setp.ne.u32 %z, %me, 0;
@%z bra end_mbar_pending;
mbarrier.arrive.noComplete.shared::cta.b64 %state, [%bar], 2;
mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %state2, [%bar], 1;
mbarrier.pending_count.b64 %d0, %state;
mbarrier.pending_count.b64 %d1, %state2;
st.global.u32 [$d$], %d0;
st.global.u32 [$d$+4], %d1;
end_mbar_pending:
""", [40, 38], 40, "what a state says of the arrivals before its own")
    case("mbar_drop", """setp.lt.u32 %z, %me, 16;
@%z mbarrier.arrive_drop.shared::cta.b64 %state, [%bar];
@!%z mbarrier.arrive.shared::cta.b64 %state, [%bar];
""" + wait("mbar_drop", 0) + """@!%z bra end_mbar_drop;
setp.lt.u32 %z, %me, 16;
@%z bra end_mbar_drop;
mbarrier.arrive.shared::cta.b64 %state, [%bar];
""" + wait("mbar_drop", 1, label="second") + """end_mbar_drop:
""" + put("%me"), list(range(32)), 32, "who drops out is not waited for")
    case("mbar_inval", """setp.ne.u32 %z, %me, 0;
@%z bra end_mbar_inval;
mbarrier.arrive.shared::cta.b64 %state, [%bar];
mbarrier.inval.shared::cta.b64 [%bar];
st.shared.u64 [%bar], 77;
ld.shared.u32 %d0, [%bar];
mbarrier.init.shared::cta.b64 [%bar], 5;
mbarrier.arrive.noComplete.shared::cta.b64 %state, [%bar], 1;
mbarrier.pending_count.b64 %d1, %state;
st.global.u32 [$d$], %d0;
st.global.u32 [$d$+4], %d1;
end_mbar_inval:
""", [77, 5], 1, "its memory is used for something else, then again")
    copies = """mov.u32 %s, hall_{name};
mad.lo.u32 %t, %me, 4, %s;
mad.wide.u32 %p, %me, 4, $a$;
cp.async.ca.shared.global [%t], [%p], 4;
cp.async.mbarrier.arrive.{form}shared::cta.b64 [%bar];
{more}"""
    for name, form, more, arrivals in (("mbar_cp_async_noinc", "noinc.", "", 64),
                                       ("mbar_cp_async", "", "mbarrier.arrive.shared::cta.b64 _, [%bar];\n", 64)):
        case(name, copies.format(name=name, form=form, more=more) + wait(name, 0) + """xor.b32 %t, %me, 63;
mad.lo.u32 %t, %t, 4, %s;
ld.shared.u32 %r, [%t];
""" + put("%r"), [values[k ^ 63] for k in range(n)], arrivals, "", ".shared .align 16 .b8 hall_%s[256];" % name, n,
             ins=[IN("a", "u32", values)])
    return m


# ---- bulk copies

def load(name, size=256, form="shared::cluster.global.mbarrier::complete_tx::bytes", more="", source="$a$", bar="%bar"):
    return """@%y mbarrier.arrive.expect_tx.shared::cta.b64 _, [{bar}], {size};
@%y cp.async.bulk.{form} [%to], [{source}], {size}, [{bar}]{more};
""".format(size=size, form=form, more=more, source=source, bar=bar)


def fetched(k="%me"):
    return """mad.lo.u32 %t, {k}, 4, %to;
ld.shared.u32 %r, [%t];
""".format(k=k)


STORE = """fence.proxy.async.shared::cta;
bar.sync 0;
@%y cp.async.bulk.global.shared::cta.bulk_group{hint} [{to}], [%to], {size}{policy};
@%y cp.async.bulk.commit_group;
@%y cp.async.bulk.wait_group 0;
"""


def bulk():
    m = Module("bulk", "bulk copies", version="8.6")
    values = [(k * 40503 + 11) & M32 for k in range(64)]

    def case(name, body, arrays, note="", block=64, size=256):
        place = ".shared .align 128 .b8 to_%s[%d];" % (name, max(size, 16))
        m.entry(name, arrays, begin(name, 1) + "mov.u32 %%to, to_%s;\n" % name + body, REGS + "\n" + shared(name, place), note,
                block=block)

    forms = [("bulk_load", "shared::cluster.global.mbarrier::complete_tx::bytes", ""),
             ("bulk_load_cta", "shared::cta.global.mbarrier::complete_tx::bytes", ""),
             ("bulk_load_hint", "shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint", ", %state")]
    for name, form, more in forms:
        policy = "createpolicy.fractional.L2::evict_first.b64 %state, 1.0;\n" if more else ""
        case(name, policy + load(name, form=form, more=more) + wait(name, 0) + fetched() + put("%r"),
             [IN("a", "u32", values), OUT("d", "u32", values)])
    case("bulk_load_16", load("bulk_load_16", 16) + wait("bulk_load_16", 0) + "and.b32 %n, %me, 3;\n" + fetched("%n") + put("%r"),
         [IN("a", "u32", values[:4]), OUT("d", "u32", [values[k & 3] for k in range(64)])], "the smallest", size=16)
    case("bulk_load_two", """add.u64 %p, $a$, 128;
@%y mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 256;
@%y cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to+128], [$a$], 128, [%bar];
@%y cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to], [%p], 128, [%bar];
""" + wait("bulk_load_two", 0) + fetched() + put("%r"),
         [IN("a", "u32", values), OUT("d", "u32", values[32:] + values[:32])], "two copies tell one mbarrier")
    case("bulk_load_ring", """mov.u32 %n, 0;
again_ring:
shl.b32 %d0, %n, 6;
mad.wide.u32 %p, %d0, 4, $a$;
""" + load("bulk_load_ring", source="%p") + "and.b32 %d1, %n, 1;\n" + wait("bulk_load_ring", "%d1") + fetched() + """add.u32 %d0, %d0, %me;
mad.wide.u32 %q, %d0, 4, $d$;
st.global.u32 [%q], %r;
bar.sync 0;
add.u32 %n, %n, 1;
setp.lt.u32 %z, %n, 5;
@%z bra again_ring;
""", [IN("a", "u32", list(range(320))), OUT("d", "u32", list(range(320)))], "five phases of one place")
    for name, hint, policy in (("bulk_store", "", ""), ("bulk_store_hint", ".L2::cache_hint", ", %state")):
        first = "createpolicy.fractional.L2::evict_first.b64 %state, 1.0;\n" if hint else ""
        case(name, first + """mad.wide.u32 %p, %me, 4, $a$;
ld.global.u32 %r, [%p];
mad.lo.u32 %t, %me, 4, %to;
st.shared.u32 [%t], %r;
""" + STORE.format(hint=hint, policy=policy, to="$d$", size=256), [IN("a", "u32", values), OUT("d", "u32", values)])
    case("bulk_store_by_all", """mad.lo.u32 %t, %me, 4, %to;
st.shared.u32 [%t], %me;
""" + STORE.replace("@%y ", "").format(hint="", policy="", to="$d$", size=128), [OUT("d", "u32", list(range(32)))],
         "all lanes begin the same copy", block=32)
    case("bulk_add_by_all", """mad.lo.u32 %t, %me, 4, %to;
st.shared.u32 [%t], %me;
""" + STORE.replace("@%y ", "").replace("cp.async.bulk.global.shared::cta.bulk_group{hint}", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32")
         .format(policy="", to="$d$", size=128), [INOUT("d", "u32", [5] * 32, [5 + 32 * k for k in range(32)])], "all lanes add the same", block=32)
    case("bulk_store_groups", """mad.lo.u32 %t, %me, 4, %to;
st.shared.u32 [%t], %me;
fence.proxy.async;
bar.sync 0;
add.u64 %p, $d$, 256;
@%y cp.async.bulk.global.shared::cta.bulk_group [$d$], [%to], 256;
@%y cp.async.bulk.commit_group;
@%y cp.async.bulk.global.shared::cta.bulk_group [%p], [%to], 256;
@%y cp.async.bulk.commit_group;
@%y cp.async.bulk.wait_group 1;
@%y ld.global.u32 %r, [$d$+12];
@%y cp.async.bulk.wait_group.read 0;
bar.sync 0;
st.shared.u32 [%t], 5;
@%y st.global.u32 [$e$], %r;
""", [OUT("d", "u32", list(range(64)) * 2), OUT("e", "u32", [3])], "the older group is waited for, the younger one's source is free")
    reductions = [
        ("add", "u32", [5, M32, 0, 7], [6, 2, 0, 1], lambda x, y: (x + y) & M32),
        ("add", "s32", [5, -1, 0, -7], [6, 2, 0, 1], lambda x, y: x + y),
        ("add", "u64", [5, 1 << 40, 0, 7], [6, 2, 0, 1 << 63], lambda x, y: x + y),
        ("min", "u32", [5, M32, 0, 7], [6, 2, 0, 1], min),
        ("max", "u32", [5, M32, 0, 7], [6, 2, 0, 1], max),
        ("min", "s32", [5, -1, 0, -7], [6, 2, 0, 1], min),
        ("max", "s32", [5, -1, 0, -7], [6, 2, 0, 1], max),
        ("min", "s64", [5, -(1 << 40), 0, -7], [6, 2, 0, 1], min),
        ("max", "u64", [5, 1 << 40, 0, 7], [6, 2, 0, 1], max),
        ("inc", "u32", [5, 4, 0, 7], [6, 4, 0, 1], lambda x, y: 0 if x >= y else x + 1),
        ("dec", "u32", [5, 4, 0, 7], [6, 4, 0, 1], lambda x, y: y if x == 0 or x > y else x - 1),
        ("and", "b32", [0xF0F0, M32, 0, 7], [0xFF00, 2, 0, 1], lambda x, y: x & y),
        ("or", "b32", [0xF0F0, M32, 0, 7], [0xFF00, 2, 0, 1], lambda x, y: x | y),
        ("xor", "b64", [0xF0F0, M32, 0, 7], [0xFF00, 2, 0, 1], lambda x, y: x ^ y),
    ]

    def reduction(name, form, t, there, here, want):
        bits = {"16": 2, "32": 4, "64": 8}[t[-2:]]
        n, size = len(there), len(there) * bits
        case(name, """setp.lt.u32 %z, %me, {words};
mad.wide.u32 %p, %me, 4, $a$;
@%z ld.global.u32 %r, [%p];
mad.lo.u32 %t, %me, 4, %to;
@%z st.shared.u32 [%t], %r;
fence.proxy.async;
bar.sync 0;
@%y cp.reduce.async.bulk.global.shared::cta.bulk_group.{form} [$d$], [%to], {size};
@%y cp.async.bulk.commit_group;
@%y cp.async.bulk.wait_group 0;
""".format(words=size // 4, form=form, size=size), [IN("a", t, here), INOUT("d", t, there, want)], size=size)

    for op, t, there, here, f in reductions:
        reduction("bulk_reduce_%s_%s" % (op, t), op + "." + t, t, there, here, [f(x, y) for x, y in zip(there, here)])
    reals = {"f32": ([1.5, -2, 0.25, 1024], [2, 2, -0.5, 0.5]), "f64": ([1.5, -2, 0.25, 1024], [2, 2, -0.5, 0.5])}
    halves = ([1.5, -2, 0.25, 64, 3, 5, 6, 7], [2, 2, -0.5, 0.5, 1, 1, 1, -7.5])
    for t, (there, here) in reals.items():
        code = [[from_python(v, t) for v in x] for x in (there, here, [x + y for x, y in zip(there, here)])]
        reduction("bulk_reduce_add_" + t, "add." + t, t, *code)
    for t in ("f16", "bf16"):
        for op, f in (("add.noftz", lambda x, y: x + y), ("min", min), ("max", max)):
            code = [[from_python(v, t) for v in x] for x in (halves[0], halves[1], [f(x, y) for x, y in zip(*halves)])]
            reduction("bulk_reduce_%s_%s" % (op.split(".")[0], t), op + "." + t, t, *code)
    case("bulk_prefetch", "@%y cp.async.bulk.prefetch.L2.global [$a$], 256;\n" + load("bulk_prefetch") + wait("bulk_prefetch", 0) +
         fetched() + put("%r"), [IN("a", "u32", values), OUT("d", "u32", values)])
    return m


# ---- clusters

SYNC = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
CREGS = """.reg .b32 %r, %s, %t, %u, %v, %i, %rank, %n, %bar, %to, %d<8>;
.reg .b64 %q, %p, %w;
.reg .pred %z, %y;"""
WHERE = """mov.u32 %rank, %cluster_ctarank;
mov.u32 %n, %cluster_nctarank;
mov.u32 %v, %ctaid.x;
mov.u32 %i, %ntid.x;
mad.lo.u32 %i, %v, %i, %me;
setp.eq.u32 %y, %me, 0;
"""


def clusters():
    m = Module("cluster", "thread block clusters", version="8.1")

    def case(name, body, want, blocks, size, note="", block=32, kind="u32", ins=(), more="", directives=""):
        place = ".shared .align 128 .b8 s_%s[%d];\n.shared .align 8 .b64 bar_%s;\n" % (name, 4 * block, name)
        m.entry(name, list(ins) + [OUT("d", kind, want)], WHERE + "mov.u32 %%s, s_%s;\nmov.u32 %%bar, bar_%s;\n" % (name, name) + body,
                CREGS + "\n" + place + more, note, grid=blocks, block=block, cluster=size, directives=directives)

    def result(reg="%r"):
        return "mad.wide.u32 %%q, %%i, 4, $d$;\nst.global.u32 [%%q], %s;\n" % reg

    for name, reg, want in (
        ("cluster_ctarank", "%cluster_ctarank", [b % 4 for b in range(8)]),
        ("cluster_nctarank", "%cluster_nctarank", [4] * 8),
        ("cluster_ctaid_x", "%cluster_ctaid.x", [b % 4 for b in range(8)]),
        ("cluster_ctaid_y", "%cluster_ctaid.y", [0] * 8),
        ("cluster_nctaid_x", "%cluster_nctaid.x", [4] * 8),
        ("cluster_nctaid_z", "%cluster_nctaid.z", [1] * 8),
        ("clusterid_x", "%clusterid.x", [b // 4 for b in range(8)]),
        ("nclusterid_x", "%nclusterid.x", [2] * 8),
        ("nclusterid_y", "%nclusterid.y", [1] * 8),
    ):
        case(name, "mov.u32 %%r, %s;\n" % reg + result(), [w for w in want for _ in range(32)], 8, 4)
    for name, size, want in (("is_explicit_cluster", 2, 1), ("is_no_explicit_cluster", 0, 0)):
        case(name, "mov.pred %z, %is_explicit_cluster;\nselp.u32 %r, 1, 0, %z;\n" + result(), [want] * 64, 2, size)
    case("no_cluster", "shl.b32 %r, %rank, 8;\nor.b32 %r, %r, %n;\n" + SYNC + result(), [1] * 64, 2, 0,
         "without a cluster each block is one")
    case("cluster_required", "mov.u32 %r, %cluster_nctarank;\n" + result(), [2] * 128, 4, 0, "the kernel names its clusters",
         directives=".explicitcluster\n.reqnctapercluster 2, 1, 1")

    value = "mad.lo.u32 %t, %me, 4, %s;\nst.shared.u32 [%t], %i;\n"
    end = SYNC

    def neighbours(size, blocks):
        return [(b // size * size + (b % size + 1) % size) * 32 + t for b in range(blocks) for t in range(32)]

    next_rank = "add.u32 %u, %rank, 1;\nrem.u32 %u, %u, %n;\n"
    syncs = [
        ("cluster_sync", SYNC),
        ("cluster_sync_unaligned", "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"),
        ("cluster_sync_release", "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n"),
        ("cluster_sync_aligned", "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n"),
        ("cluster_sync_relaxed", "fence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n"),
    ]
    remote = next_rank + "mapa.shared::cluster.u32 %v, %s, %u;\nmad.lo.u32 %v, %me, 4, %v;\nld.shared::cluster.u32 %r, [%v];\n"
    for name, sync in syncs:
        case(name, value + sync + remote + result() + end, neighbours(4, 8), 8, 4)
    case("cluster_of_8", value + SYNC + remote + result() + end, neighbours(8, 16), 16, 8)
    case("mapa_generic", value + SYNC + next_rank + """cvt.u64.u32 %p, %s;
cvta.shared.u64 %p, %p;
mapa.u64 %p, %p, %u;
mad.wide.u32 %p, %me, 4, %p;
ld.u32 %r, [%p];
""" + result() + end, neighbours(4, 8), 8, 4)
    case("mapa_u64", value + SYNC + next_rank + """cvt.u64.u32 %p, %s;
mapa.shared::cluster.u64 %p, %p, %u;
mad.wide.u32 %p, %me, 4, %p;
ld.shared::cluster.u32 %r, [%p];
""" + result() + end, neighbours(4, 8), 8, 4)
    case("mapa_variable", value + SYNC + next_rank + """mapa.shared::cluster.u32 %v, s_mapa_variable, %u;
mad.lo.u32 %v, %me, 4, %v;
ld.shared::cluster.u32 %r, [%v];
""" + result() + end, neighbours(4, 8), 8, 4)
    case("mapa_own", value + """mapa.shared::cluster.u32 %v, %s, %rank;
mad.lo.u32 %v, %me, 4, %v;
ld.shared::cluster.u32 %r, [%v];
""" + result(), list(range(256)), 8, 4, "the own block")
    case("getctarank", next_rank + """mapa.shared::cluster.u32 %v, %s, %u;
getctarank.shared::cluster.u32 %r, %v;
cvt.u64.u32 %p, %s;
cvta.shared.u64 %p, %p;
mapa.u64 %p, %p, %u;
getctarank.u64 %d0, %p;
shl.b32 %d0, %d0, 4;
or.b32 %r, %r, %d0;
getctarank.shared::cluster.u32 %d1, %s;
shl.b32 %d1, %d1, 8;
or.b32 %r, %r, %d1;
""" + result(), [(b + 1) % 4 | ((b + 1) % 4) << 4 | (b % 4) << 8 for b in range(8) for _ in range(32)], 8, 4)
    case("isspacep_cluster", next_rank + """cvt.u64.u32 %p, %s;
cvta.shared.u64 %p, %p;
mapa.u64 %w, %p, %u;
isspacep.shared::cta %z, %p;
selp.u32 %r, 1, 0, %z;
isspacep.shared::cluster %z, %p;
selp.u32 %d0, 2, 0, %z;
or.b32 %r, %r, %d0;
isspacep.shared::cta %z, %w;
selp.u32 %d0, 4, 0, %z;
or.b32 %r, %r, %d0;
isspacep.shared::cluster %z, %w;
selp.u32 %d0, 8, 0, %z;
or.b32 %r, %r, %d0;
isspacep.shared %z, %w;
selp.u32 %d0, 16, 0, %z;
or.b32 %r, %r, %d0;
isspacep.global %z, %w;
selp.u32 %d0, 32, 0, %z;
or.b32 %r, %r, %d0;
""" + result(), [1 | 2 | 8] * 256, 8, 4)
    case("st_cluster", SYNC + next_rank + """mapa.shared::cluster.u32 %v, %s, %u;
mad.lo.u32 %v, %me, 4, %v;
st.shared::cluster.u32 [%v], %i;
""" + SYNC + "mad.lo.u32 %t, %me, 4, %s;\nld.shared.u32 %r, [%t];\n" + result(),
         [(b // 4 * 4 + (b % 4 + 3) % 4) * 32 + t for b in range(8) for t in range(32)], 8, 4)
    case("ld_cluster_v4", value + SYNC + next_rank + """mapa.shared::cluster.u32 %v, %s, %u;
and.b32 %t, %me, 28;
mad.lo.u32 %v, %t, 4, %v;
ld.shared::cluster.v4.u32 {%d0, %d1, %d2, %d3}, [%v];
add.u32 %d0, %d0, %d1;
add.u32 %d0, %d0, %d2;
add.u32 %r, %d0, %d3;
""" + result() + end, [sum((b // 4 * 4 + (b % 4 + 1) % 4) * 32 + (t & 28) + k for k in range(4)) for b in range(8) for t in range(32)],
         8, 4)
    case("atom_cluster", "mad.lo.u32 %t, %me, 4, %s;\nst.shared.u32 [%t], 100;\n" + SYNC + next_rank + """mapa.shared::cluster.u32 %v, %s, %u;
mad.lo.u32 %v, %me, 4, %v;
atom.shared::cluster.add.u32 %r, [%v], %i;
""" + SYNC + "ld.shared.u32 %d0, [%t];\nadd.u32 %r, %r, %d0;\n" + result(),
         [200 + (b // 4 * 4 + (b % 4 + 3) % 4) * 32 + t for b in range(8) for t in range(32)], 8, 4)
    case("red_cluster", "mad.lo.u32 %t, %me, 4, %s;\nst.shared.u32 [%t], 0;\n" + SYNC + """mov.u32 %u, 0;
again_red_cluster:
mapa.shared::cluster.u32 %v, %s, %u;
mad.lo.u32 %v, %me, 4, %v;
red.shared::cluster.add.u32 [%v], %i;
add.u32 %u, %u, 1;
setp.lt.u32 %z, %u, %n;
@%z bra again_red_cluster;
""" + SYNC + "ld.shared.u32 %r, [%t];\n" + result(),
         [sum((b // 4 * 4 + k) * 32 + t for k in range(4)) for b in range(8) for t in range(32)], 8, 4)
    case("atom_generic_cluster", "mad.lo.u32 %t, %me, 4, %s;\nst.shared.u32 [%t], 3;\n" + SYNC + next_rank + """cvt.u64.u32 %p, %s;
cvta.shared::cluster.u64 %p, %p;
mapa.u64 %p, %p, %u;
mad.wide.u32 %p, %me, 4, %p;
atom.max.u32 %d0, [%p], %i;
""" + SYNC + "ld.shared.u32 %r, [%t];\n" + result(),
         [max(3, (b // 4 * 4 + (b % 4 + 3) % 4) * 32 + t) for b in range(8) for t in range(32)], 8, 4)

    mbar = """@%y mbarrier.init.shared::cta.b64 [%bar], {n};
@%y fence.mbarrier_init.release.cluster;
""" + SYNC
    arrived = """wait_{name}:
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %z, [%bar], 0;
@!%z bra wait_{name};
"""
    case("mbar_arrive_cluster", mbar.format(n=32) + next_rank + """mapa.shared::cluster.u32 %v, %s, %u;
mad.lo.u32 %v, %me, 4, %v;
st.shared::cluster.u32 [%v], %i;
mapa.shared::cluster.u32 %d0, %bar, %u;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%d0];
""" + arrived.format(name="mbar_arrive_cluster") + "mad.lo.u32 %t, %me, 4, %s;\nld.shared.u32 %r, [%t];\n" + result() + end,
         [(b // 4 * 4 + (b % 4 + 3) % 4) * 32 + t for b in range(8) for t in range(32)], 8, 4, "a neighbour's mbarrier")
    case("mbar_expect_cluster", mbar.format(n=1) + next_rank + """mapa.shared::cluster.u32 %d0, %bar, %u;
@%y mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%d0], 48;
@%y mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%d0], 48;
""" + arrived.format(name="mbar_expect_cluster") + "mov.u32 %r, %rank;\n" + result() + end,
         [b % 4 for b in range(8) for _ in range(32)], 8, 4)
    stores = [
        ("st_async_b32", "b32", "%i", "", 1), ("st_async_u64", "u64", "%w", "cvt.u64.u32 %w, %i;\n", 2),
        ("st_async_v2", "v2.u32", "{%i, %rank}", "", 2), ("st_async_v4", "v4.s32", "{%i, %rank, %me, %n}", "", 4),
        ("st_async_v2_u64", "v2.b64", "{%w, %w}", "cvt.u64.u32 %w, %i;\n", 4),
    ]
    for name, t, value, before, words in stores:
        def sent(b, k):
            i = (b // 4 * 4 + (b % 4 + 3) % 4) * 32 + k // words
            return {"st_async_v2": [i, (b % 4 + 3) % 4], "st_async_v4": [i, (b % 4 + 3) % 4, k // words, 4]}.get(
                name, [i, 0, i, 0])[k % words]

        case(name, mbar.format(n=1) + """@%y mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {all};
{before}mov.u32 %to, to_{name};
{next}mapa.shared::cluster.u32 %v, %to, %u;
mad.lo.u32 %v, %me, {each}, %v;
mapa.shared::cluster.u32 %d0, %bar, %u;
""".format(all=128 * words, before=before, name=name, next=next_rank, each=4 * words) + SYNC +
             "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.%s [%%v], %s, [%%d0];\n" % (t, value) +
             arrived.format(name=name) + """mov.u32 %r, 0;
mov.u32 %d1, 0;
again_{name}:
mad.lo.u32 %t, %me, {each}, %to;
mad.lo.u32 %t, %d1, 4, %t;
ld.shared.u32 %d2, [%t];
mad.lo.u32 %r, %r, 7, %d2;
add.u32 %d1, %d1, 1;
setp.lt.u32 %z, %d1, {words};
@%z bra again_{name};
""".format(name=name, each=4 * words, words=words) + result() + end,
             [sum(sent(b, t_ * words + k) * 7 ** (words - 1 - k) for k in range(words)) & M32 for b in range(8) for t_ in range(32)],
             8, 4, "to the neighbour", more=".shared .align 128 .b8 to_%s[%d];" % (name, 128 * words))
    for name, op, f in (("red_async_add", "add.u32", lambda x: 7 + sum(x)), ("red_async_max", "max.s32", lambda x: max([7] + x)),
                        ("red_async_or", "or.b32", lambda x: 7 | x[0] | x[1] | x[2] | x[3])):
        case(name, mbar.format(n=1) + """@%y mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 512;
mad.lo.u32 %t, %me, 4, %s;
st.shared.u32 [%t], 7;
""" + SYNC + """mov.u32 %u, 0;
again_{name}:
mapa.shared::cluster.u32 %v, %t, %u;
mapa.shared::cluster.u32 %d0, %bar, %u;
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{op} [%v], %i, [%d0];
add.u32 %u, %u, 1;
setp.lt.u32 %z, %u, %n;
@%z bra again_{name};
""".format(name=name, op=op) + arrived.format(name=name) + "ld.shared.u32 %r, [%t];\n" + result() + end,
             [f([(b // 4 * 4 + k) * 32 + t_ for k in range(4)]) for b in range(8) for t_ in range(32)], 8, 4, "all blocks to all")
    case("bulk_multicast", mbar.format(n=1) + """@%y mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 128;
""" + SYNC + """setp.eq.u32 %z, %rank, 1;
and.pred %z, %z, %y;
mov.u16 %mask, 13;
@%z cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s], [$a$], 128, [%bar], %mask;
setp.eq.u32 %z, %rank, 1;
mov.u32 %r, 0;
@%z bra end_bulk_multicast;
""" + arrived.format(name="bulk_multicast") + """mad.lo.u32 %t, %me, 4, %s;
ld.shared.u32 %r, [%t];
end_bulk_multicast:
""" + result() + "bar.warp.sync 0xffffffff;\n" + end,
         [0 if b % 4 == 1 else 1000 + t for b in range(8) for t in range(32)], 8, 4, "to the ranks 0, 2 and 3",
         ins=[IN("a", "u32", [1000 + t for t in range(32)])], more=".reg .b16 %mask;")
    case("bulk_cluster", mbar.format(n=1) + """@%y mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 128;
mad.lo.u32 %t, %me, 4, %s;
st.shared.u32 [%t], %i;
fence.proxy.async.shared::cta;
""" + SYNC + next_rank + """mov.u32 %to, to_bulk_cluster;
mapa.shared::cluster.u32 %v, %to, %u;
mapa.shared::cluster.u32 %d0, %bar, %u;
@%y cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%v], [%s], 128, [%d0];
""" + arrived.format(name="bulk_cluster") + "mad.lo.u32 %t, %me, 4, %to;\nld.shared.u32 %r, [%t];\n" + result() + end,
         [(b // 4 * 4 + (b % 4 + 3) % 4) * 32 + t for b in range(8) for t in range(32)], 8, 4, "to the neighbour's shared memory",
         more=".shared .align 128 .b8 to_bulk_cluster[128];")
    case("bulk_reduce_cluster", mbar.format(n=1) + """@%y mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 512;
mov.u32 %to, to_bulk_reduce_cluster;
mad.lo.u32 %t, %me, 4, %s;
st.shared.u32 [%t], %i;
mad.lo.u32 %t, %me, 4, %to;
st.shared.u32 [%t], 1;
fence.proxy.async.shared::cta;
""" + SYNC + """mov.u32 %u, 0;
again_bulk_reduce:
mapa.shared::cluster.u32 %v, %to, %u;
mapa.shared::cluster.u32 %d0, %bar, %u;
@%y cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%v], [%s], 128, [%d0];
add.u32 %u, %u, 1;
setp.lt.u32 %z, %u, %n;
@%z bra again_bulk_reduce;
""" + arrived.format(name="bulk_reduce_cluster") + "ld.shared.u32 %r, [%t];\n" + result() + end,
         [1 + sum((b // 4 * 4 + k) * 32 + t for k in range(4)) for b in range(8) for t in range(32)], 8, 4,
         "all blocks add to all", more=".shared .align 128 .b8 to_bulk_reduce_cluster[128];")
    return m


def modules():
    return [mbarrier(), bulk(), clusters()]

/* cp.async and the cache policies; async.c lets the copies land. */
#include "ptx/machine/async.h"
#include "exec.h"

/* Bytes that each lane reads; the rest is filled with zeros. */
static void source_sizes(const struct warp *w, const struct insn *i, uint32_t size[32])
{
    uint32_t bytes = (uint32_t)i->opnds[2].imm;
    const struct opnd *o = i->n_opnds > 3 ? &i->opnds[3] : NULL;
    for (unsigned l = 0; l < 32; l++) {
        size[l] = bytes;
        if (!o || o->bytes == 8) /* a cache policy */
            continue;
        if (o->bytes == 0)
            size[l] = pred_read(w, o) >> l & 1 ? 0 : bytes; /* ignore-src */
        else
            size[l] = REG(uint32_t, w, o->off)[l];
    }
}

static void copy_async(struct warp *w, const struct insn *i, uint32_t m)
{
    uint32_t bytes = (uint32_t)i->opnds[2].imm, size[32];
    uint64_t to[32], from[32];
    uint8_t *to_host[32], *from_host[32];
    lane_addresses(w, i->opnds[0].off, (uint64_t)i->opnds[0].imm, i->opnds[0].bytes == 8, to);
    lane_addresses(w, i->opnds[1].off, (uint64_t)i->opnds[1].imm, i->opnds[1].bytes == 8, from);
    source_sizes(w, i, size);
    for (unsigned l = 0; l < 32; l++)
        if (m >> l & 1 && size[l] > bytes) {
            fault(w, i, (int)l, PTX_OUT_OF_BOUNDS, from[l],
                  "an asynchronous copy of %u bytes is told to read %u", bytes, size[l]);
            return;
        }
    for (uint32_t rest = m; rest;) { /* lanes of one size at a time */
        uint32_t n = size[__builtin_ctz(rest)], same = 0;
        for (unsigned l = 0; l < 32; l++)
            same |= (uint32_t)(rest >> l & 1 && size[l] == n) << l;
        rest &= ~same;
        struct access read = access_of(i, same, ACCESS_LOAD, ACCESS_ASYNC, n, from);
        read.space = SPACE_GLOBAL;
        if (n && !mem_lanes(w, i, read, from_host))
            return;
    }
    struct access written = access_of(i, m, ACCESS_STORE, ACCESS_ASYNC, bytes, to);
    written.space = SPACE_SHARED;
    if (!mem_lanes(w, i, written, to_host))
        return;
    struct async *a = async_of(w, 32);
    a->serial++;
    for (unsigned l = 0; l < 32; l++)
        if (m >> l & 1)
            a->copies[a->n++] = (struct copy){.to = to_host[l],
                                              .from = size[l] ? from_host[l] : to_host[l],
                                              .group = a->committed[l],
                                              .bytes = (uint8_t)bytes,
                                              .from_bytes = (uint8_t)size[l],
                                              .lane = (uint8_t)l,
                                              .serial = a->serial - 1};
}

static void commit_group(struct warp *w, const struct insn *i, uint32_t m)
{
    struct async *a = async_of(w, 0);
    for (unsigned l = 0; l < 32; l++)
        a->committed[l] += m >> l & 1;
    OBSERVE(w->launch, async, w, i, m);
}

static void wait_group(struct warp *w, const struct insn *i, uint32_t m)
{
    async_land(async_of(w, 0), m, i->opnds[0].imm);
    OBSERVE(w->launch, async, w, i, m);
}

static void wait_all(struct warp *w, const struct insn *i, uint32_t m)
{
    async_land(async_of(w, 0), m, -1);
    OBSERVE(w->launch, async, w, i, m);
}

exec_fn *ISA(select_async)(struct insn *i)
{
    if (!insn_has(i, MOD_async))
        return NULL;
    if (insn_has(i, MOD_bulk))
        return bulk_select(i);
    if (insn_has(i, MOD_mbarrier))
        return mbar_select(i);
    if (insn_has(i, MOD_commit_group))
        return commit_group;
    if (insn_has(i, MOD_wait_group))
        return i->n_opnds == 1 && i->opnds[0].is_imm ? wait_group : NULL;
    if (insn_has(i, MOD_wait_all))
        return wait_all;
    if (i->n_opnds < 3 || !i->opnds[2].is_imm)
        return NULL;
    int64_t bytes = i->opnds[2].imm;
    return bytes == 16 || (insn_has(i, MOD_ca) && (bytes == 4 || bytes == 8)) ? copy_async : NULL;
}

/* A policy only advises the caches, which the simulator does not follow: any value will do. */
static void create_policy(struct warp *w, const struct insn *i, uint32_t m)
{
    uint64_t *d = REG(uint64_t, w, i->d);
    EACH(uint64_t, d, 0);
}

exec_fn *ISA(select_policy)(struct insn *i)
{
    (void)i;
    return create_policy;
}

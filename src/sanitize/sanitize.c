/* The sanitizer: what a GPU would not say. It follows the accesses and the events that order them, asks the
 * race detector (race.h), keeps a bit for every byte of memory that somebody wrote, and hands undefined values
 * to undef.c. Bounds, alignment, null and read-only are found where memory is accessed (mem_access.c), since
 * nothing may be touched then. */
#include "sanitize_internal.h"

#include <pthread.h>

#include "ptx/lane/opnd.h"
#include "race.h"

/* ---- words ---- */

/* The source's name of a variable inside a function: _ZZ6kernelE4tile is tile. */
static void plain_name(const char *mangled, char to[64])
{
    snprintf(to, 64, "%s", mangled);
    if (!str_starts(mangled, "_ZZ"))
        return;
    for (const char *e = strrchr(mangled, 'E'); e; e = NULL) {
        char *name;
        unsigned long n = strtoul(e + 1, &name, 10);
        if (n && n < 64 && strlen(name) >= n)
            snprintf(to, n + 1, "%s", name);
    }
}

void san_place_words(const struct launch *l, enum space space, uint64_t addr, char *to, size_t size)
{
    if (space == SPACE_SHARED) {
        const struct ptx_module *m = l->module;
        for (size_t k = 0; k < m->n_vars; k++) {
            const struct var *v = m->vars[k];
            if (v->func >= 0 && m->funcs[v->func].is_entry && &m->funcs[v->func] != l->entry)
                continue; /* another kernel's, at the same place */
            if (v->space == SPACE_SHARED && !v->is_extern && v->bytes && addr >= v->addr &&
                addr < v->addr + v->bytes) {
                char name[64];
                plain_name(v->name, name);
                snprintf(to, size, "shared memory, byte %llu of '%s'", (unsigned long long)(addr - v->addr),
                         name);
                return;
            }
        }
        snprintf(to, size, "shared memory, byte %llu", (unsigned long long)addr);
    } else if (space == SPACE_LOCAL) {
        snprintf(to, size, "the thread's local memory, byte %llu", (unsigned long long)addr);
    } else {
        const struct alloc *a = mem_find(l->mem, addr);
        snprintf(to, size, "'%s', byte %llu", a ? a->name : "?",
                 (unsigned long long)(a ? addr - a->addr : addr));
    }
}

void san_thread_words(const struct launch *l, uint64_t block, uint32_t warp, uint32_t lane, char *to,
                      size_t size)
{
    uint64_t t = warp * 32ull + lane;
    snprintf(to, size, "thread (%llu, %llu, %llu) of block (%llu, %llu, %llu)",
             (unsigned long long)(t % l->dim[0]), (unsigned long long)(t / l->dim[0] % l->dim[1]),
             (unsigned long long)(t / l->dim[0] / l->dim[1]), (unsigned long long)(block % l->grid[0]),
             (unsigned long long)(block / l->grid[0] % l->grid[1]),
             (unsigned long long)(block / l->grid[0] / l->grid[1]));
}

/* ---- races ---- */

struct present { /* what race.c asks about the access at hand */
    struct warp *w;
    const struct insn *i;
    const struct block *owner; /* of the shared memory */
    uint32_t part;             /* byte of the lane's access where this part begins */
};

static void peek(void *context, bool shared, uint64_t addr, void *to, size_t size_bytes)
{
    const struct present *p = context;
    memcpy(to, shared ? p->owner->shared + addr : mem_host(p->w->launch->mem, addr), size_bytes);
}

/* st: the bytes that lane is about to store, out of its registers. */
static bool stored(void *context, uint32_t lane, uint8_t to[16])
{
    const struct present *p = context;
    const struct opnd *v = &p->i->opnds[1];
    uint8_t all[64];
    uint32_t n = 0, size = p->i->bytes;
    if (p->i->op != OP_st || p->i->n_opnds < 2)
        return false;
    for (unsigned e = 0; e < (v->kind == OPND_VEC ? v->n : 1u) && n + 16 <= sizeof(all); e++, n += size) {
        const struct opnd *o = v->kind == OPND_VEC ? &v->vec[e] : v;
        const uint8_t *from = REG(uint8_t, p->w, o->off) + lane * MIN(o->bytes, 8);
        memcpy(all + n, from, 8);
        if (o->bytes == 16)
            memcpy(all + n + 8, from + 32 * 8, 8);
    }
    memcpy(to, all + p->part, 16);
    return true;
}

/* Of two blocks. */
static const char *lacking(const struct warp *w, const struct race_conflict *c)
{
    static const char *const words[] = {
        [LACK_UNKNOWN] = "nothing orders the two blocks",
        [LACK_RELEASE] =
            "nothing orders the two blocks: no release of the cluster's or the GPU's scope follows that one "
            "(__threadfence() before the flag or ticket, or a release)",
        [LACK_SCOPE] =
            "nothing orders the two blocks: what follows that one releases it to its own block only (.cta, "
            "__threadfence_block); the scope must be the cluster's or the GPU's",
        [LACK_ACQUIRE] =
            "nothing orders the two blocks: that one was released, but this thread has not acquired it (it "
            "must have read the flag or ticket, or passed a barrier behind who did)",
        [LACK_FENCE] =
            "nothing orders the two blocks: that one was released, and this thread has read the flag, but by no "
            "acquire, and no fence follows",
    };
    const struct race *r = san_of(w->launch)->race;
    return words[c->was_async ? LACK_UNKNOWN : race_lacks(r, san_block(w->block)->race, w->index, c)];
}

/* Why the two accesses are not ordered. */
static const char *reason(const struct launch *l, const struct warp *w, const struct race_conflict *c)
{
    if (c->was_async && l->module->code[c->pc].op == OP_wgmma_mma)
        return "no wgmma.wait_group has waited for the product that reads it";
    if (c->was_async)
        return insn_has(&l->module->code[c->pc], MOD_bulk) ? "the bulk copy was not waited for"
                                                           : "the cp.async was not waited for";
    if (c->block != w->block->linear)
        return lacking(w, c);
    return c->warp == w->index ? "no __syncwarp or barrier between them" : "no barrier between them";
}

void san_report_conflict(struct warp *w, const struct insn *i, enum space space, const char *what,
                         const struct race_conflict *found)
{
    const struct launch *l = w->launch;
    struct race_conflict mine = *found, *c = &mine;
    const struct insn *other = &l->module->code[c->pc];
    char place[128], thread[96];
    if (other->op == OP_wgmma_mma && c->warp == w->block->n_warps) { /* warpgroup.c: reader */
        c->warp = 31 - c->other_lane;
        c->other_lane = 0;
    }
    san_place_words(l, space, c->addr, place, sizeof(place));
    san_thread_words(l, c->block, c->warp, c->other_lane, thread, sizeof(thread));
    int line = insn_line(l->module, other);
    if (c->nc)
        fault(
            w, i, (int)c->lane, PTX_NC_WRITTEN, c->addr,
            "%s is read as read-only data (ld.global.nc, __ldg or const __restrict__) at line %d and written at line %d of "
            "the same launch",
            place, c->wrote ? insn_line(l->module, i) : line, c->wrote ? line : insn_line(l->module, i));
    else if (c->proxy)
        fault(w, i, (int)c->lane, PTX_PROXY, c->addr,
              "%s of %s, which line %d wrote: no fence.proxy.async makes that write visible to %s", what, place,
              line, i->op == OP_wgmma_mma ? "wgmma" : "bulk copies");
    else if (c->was_async && c->block != w->block->linear) /* which block began it is not known */
        fault(w, i, (int)c->lane, space == SPACE_SHARED ? PTX_RACE_SHARED : PTX_RACE_GLOBAL, c->addr,
              "%s of %s races with the %s at line %d: %s", what, place, c->wrote ? "write" : "read", line,
              reason(l, w, c));
    else
        fault(w, i, (int)c->lane, space == SPACE_SHARED ? PTX_RACE_SHARED : PTX_RACE_GLOBAL, c->addr,
              "%s of %s races with the %s at line %d by %s: %s", what, place, c->wrote ? "write" : "read", line,
              thread, reason(l, w, c));
}

/* Lanes whose atomic leaves what is there: atomicAdd(p, 0) is a read. */
static uint32_t idle_lanes(const struct warp *w, const struct insn *i, uint32_t mask)
{
    enum mod op = (enum mod)i->extra;
    uint32_t idle = 0;
    bool cas = op == MOD_cas;
    if (i->bytes > 8 || (!cas && op != MOD_add && op != MOD_or && op != MOD_xor) || i->type == TYPE_F32 ||
        i->type == TYPE_F64 || i->n_opnds < (cas ? 4u : 3u))
        return 0;
    for (; mask; mask &= mask - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask);
        uint64_t b = opnd_lane(w, &i->opnds[2], lane), other = cas ? opnd_lane(w, &i->opnds[3], lane) : 0;
        idle |= (uint32_t)(b == other) << lane;
    }
    return idle;
}

static void check_race(struct warp *w, const struct insn *i, const struct access *x)
{
    static const enum race_op ops[] = {
        [ACCESS_LOAD] = RACE_READ, [ACCESS_STORE] = RACE_WRITE, [ACCESS_ATOMIC] = RACE_ATOMIC};
    static const char *const names[] = {"the read", "the write", "the atomic"};
    struct san *s = san_of(w->launch);
    struct san_block *sb = san_block(w->block);
    bool shared = x->space == SPACE_SHARED;
    if (shared ? !(s->checks & SANITIZE_RACE_SHARED) : !(s->checks & (SANITIZE_RACE_GLOBAL | SANITIZE_NC)))
        return;
    /* Nothing can be written there, so reading it cannot race. */
    if (!shared && x->kind == ACCESS_LOAD && (i->space == SPACE_CONST || (x->alloc && x->alloc->read_only)))
        return;
    struct present p = {.w = w, .i = i, .owner = x->owner ? x->owner : w->block};
    struct race_access a = {
        .mask = x->mask,
        .op = ops[x->kind],
        .shared = shared,
        .strong = x->flags & (ACCESS_VOLATILE | ACCESS_RELAXED | ACCESS_ACQUIRE | ACCESS_RELEASE),
        .loose = shared && (x->flags & ACCESS_VOLATILE),
        .acquire = x->flags & ACCESS_ACQUIRE,
        .release = x->flags & ACCESS_RELEASE,
        .block_scope = x->flags & ACCESS_CTA,
        .nc = (x->flags & ACCESS_NC) && (s->checks & SANITIZE_NC),
        .home = x->owner ? san_block(x->owner)->race : NULL,
        .collective = i->op == OP_ldmatrix || i->op == OP_wmma_load,
        .async = shared && x->kind == ACCESS_STORE && (x->flags & ACCESS_ASYNC),
        .pc = i->self,
        .stored = stored,
        .context = &p,
        .addr = x->addr,
        .size_bytes = MIN(x->bytes, 16u),
        .consecutive = x->linear && x->bytes <= 16,
    };
    if (x->kind == ACCESS_ATOMIC && i->op == OP_atom && i->vec == 1)
        a.idle = idle_lanes(w, i, x->mask);
    if ((a.idle || (x->kind == ACCESS_LOAD && a.strong)) && s->race->stale && x->bytes <= 16) {
        a.earlier_mask = &s->earlier_mask;
        a.earlier = s->earlier;
    }
    if (s->race->waste && x->kind == ACCESS_STORE && !a.strong)
        *(shared ? &s->race->waste[i->self].staged : &s->race->waste[i->self].stored) +=
            (uint64_t)__builtin_popcount(x->mask) * x->bytes;
    uint64_t moved[32];
    for (p.part = 0; p.part < x->bytes; p.part += 16) {
        struct race_conflict c;
        if (p.part) {
            for (int lane = 0; lane < 32; lane++)
                moved[lane] = x->addr[lane] + p.part;
            a.addr = moved;
        }
        if (race_access(s->race, sb->race, w->index, &a, &c))
            continue;
        if (!shared && !(s->checks & (c.nc ? SANITIZE_NC : SANITIZE_RACE_GLOBAL)))
            continue;
        san_report_conflict(w, i, (enum space)x->space, names[x->kind], &c);
        return;
    }
}

/* ---- reads that find what was there before ---- */

static void taken(struct warp *w, uint32_t m, uint8_t *host[32])
{
    struct san *s = san_of(w->launch);
    for (uint32_t left = s->earlier_mask & m; left; left &= left - 1)
        host[__builtin_ctz(left)] = s->earlier[__builtin_ctz(left)];
    s->earlier_mask = 0;
}

/* Of reads that were given something earlier, one that was not repeated: who polls reads again. */
static void tell_earlier(struct launch *l, const struct race *r, struct sanitize_earlier *to)
{
    to->loose |= r->loose;
    for (size_t i = 0; i < r->given.n && !to->given; i++) {
        const struct race_earlier *g = &r->given.v[i];
        const struct insn *read = &l->module->code[g->by_pc], *write = &l->module->code[g->pc];
        uint32_t by = r->owner[g->by >> 5], of = r->owner[g->id >> 5];
        char place[128], reader[96], writer[96];
        if (g->again)
            continue;
        to->given = true;
        insn_place(l->module, read, &to->file, &to->line);
        san_place_words(l, g->shared ? SPACE_SHARED : SPACE_GLOBAL, g->addr, place, sizeof(place));
        san_thread_words(l, by / r->warps, by % r->warps, g->by & 31, reader, sizeof(reader));
        san_thread_words(l, of / r->warps, of % r->warps, g->id & 31, writer, sizeof(writer));
        snprintf(to->words, sizeof(to->words),
                 "%s may read of %s what was there before %s wrote it at line %d: no fence %s", reader, place,
                 writer, insn_line(l->module, write),
                 g->told ? "stands between this read and the one that told of the write"
                         : "orders the write before what told of it");
    }
}

/* ---- undefined bytes in memory ---- */

struct undefined_stores { /* of one allocation: where undefined values came in, for ptx_mem_explain */
    struct kept kept;
    struct undefined_store {
        uint64_t offset, bytes;
        struct ptx_finding finding;
    } v[16];
    size_t n;
};

static void stores_drop(struct kept *k)
{
    free(k);
}

void san_remember_store(struct warp *w, const struct insn *i, struct alloc *a, int lane, uint64_t addr,
                        uint32_t bytes)
{
    const struct launch *l = w->launch;
    struct undefined_stores *all = (struct undefined_stores *)a->kept;
    if (!all) {
        all = mem_zalloc(sizeof(*all));
        all->kept.drop = stores_drop;
        a->kept = &all->kept;
    }
    if (all->n == ARRAY_LEN(all->v))
        return;
    struct undefined_store *u = &all->v[all->n++];
    struct ptx_finding *f = &u->finding;
    const char *file = "";
    char thread[96];
    u->offset = addr - a->addr;
    u->bytes = bytes;
    f->kind = PTX_UNINITIALISED;
    f->addr = addr;
    f->ptx_line = (int)i->ptx_line;
    insn_place(l->module, i, &file, &f->line);
    snprintf(f->kernel, sizeof(f->kernel), "%s", l->entry->name);
    snprintf(f->file, sizeof(f->file), "%s", file ? file : "");
    memcpy(f->block, w->block->id, sizeof(f->block));
    warp_thread(w, lane, f->thread);
    san_thread_words(l, w->block->linear, w->index, (uint32_t)lane, thread, sizeof(thread));
    const struct origin *o = &san_of(l)->origin;
    snprintf(f->words, sizeof(f->words), "an undefined value is stored to '%s', byte %llu, by %s%s%s", a->name,
             (unsigned long long)u->offset, thread, o->words[0] ? ": " : "", o->words);
}

bool ptx_mem_explain(struct ptx_mem *m, uint64_t addr, struct ptx_finding *f)
{
    const struct alloc *a = mem_find(m, addr);
    if (!a)
        return false;
    const struct undefined_stores *all = (const struct undefined_stores *)a->kept;
    for (size_t k = 0; all && k < all->n; k++)
        if (addr - a->addr - all->v[k].offset < all->v[k].bytes) {
            *f = all->v[k].finding;
            return true;
        }
    if (all && all->n == ARRAY_LEN(all->v)) { /* too many to remember: one like it */
        *f = all->v[0].finding;
        return true;
    }
    *f = (struct ptx_finding){.kind = PTX_UNINITIALISED, .addr = addr};
    snprintf(f->words, sizeof(f->words), "byte %llu of '%s' was never written",
             (unsigned long long)(addr - a->addr), a->name);
    return true;
}

/* The bitmap of an access's memory and the bit of addr in it; NULL: all of it is defined. */
static uint8_t *bitmap(struct warp *w, const struct access *x, int lane, uint64_t *at)
{
    struct launch *l = w->launch;
    struct san_block *sb = san_block(x->owner ? x->owner : w->block);
    uint64_t addr = x->addr[lane];
    if (x->space == SPACE_SHARED) {
        *at = addr;
        return sb->shared;
    }
    if (x->space == SPACE_LOCAL) {
        *at = (w->index * 32ull + (unsigned)lane) * l->local_bytes + addr;
        return sb->local;
    }
    const struct alloc *a = x->alloc ? x->alloc : mem_find(l->mem, addr);
    *at = addr - MEM_BASE;
    return !a || a->initialised ? NULL : l->mem->init;
}

static void note_origin(struct warp *w, const struct insn *i, const struct access *x, int lane,
                        uint32_t missing)
{
    struct launch *l = w->launch;
    struct origin *o = &san_of(l)->origin;
    char place[128];
    if (o->words[0])
        return;
    o->line = insn_line(l->module, i);
    san_place_words(l, x->space, x->addr[lane] + (unsigned)__builtin_ctz(missing), place, sizeof(place));
    snprintf(o->words, sizeof(o->words), "nothing wrote %s, read at line %d", place, o->line);
}

/* Row r of matrix j comes from lane 8 j + r and goes to lanes 4 r to 4 r + 3, or by columns when transposed. */
static void matrix_loaded(struct warp *w, const struct insn *i, const uint32_t missing[32])
{
    const struct opnd *d = &i->opnds[0];
    for (int j = 0; j < (d->kind == OPND_VEC ? d->n : 1); j++) {
        const struct opnd *o = d->kind == OPND_VEC ? &d->vec[j] : d;
        uint8_t bytes[32];
        for (int l = 0; l < 32; l++) {
            if (insn_has(i, MOD_trans)) {
                int c = l / 4, r = 8 * j + 2 * (l % 4);
                bytes[l] = (uint8_t)((missing[r] >> (2 * c) & 3) | (missing[r + 1] >> (2 * c) & 3) << 2);
            } else {
                bytes[l] = missing[8 * j + l / 4] >> (4 * (l % 4)) & 15;
            }
        }
        undef_set(w, o->slot, ~0u, bytes);
    }
}

static bool all_defined(const uint8_t *bits, uint64_t at, uint64_t n)
{
    for (; n >= 32; n -= 32, at += 32)
        if (bits_missing(bits, at, 32))
            return false;
    return !n || !bits_missing(bits, at, (uint32_t)n);
}

/* How far lanes lie below and above `from`; false: somebody is further than 1 KiB. */
CLONES __attribute__((optimize("O3"))) static bool reach(const uint64_t addr[32], uint32_t mask, uint64_t from,
                                                         int32_t *low, int32_t *high)
{
    int32_t least = 0, most = 0;
    uint64_t far = 0;
    for (uint32_t l = 0; l < 32; l++) {
        uint64_t on = 0 - (uint64_t)(mask >> l & 1), d = (addr[l] - from) & on;
        int32_t near = (int32_t)d;
        far |= (d + 1024) & ~2047ull;
        least = near < least ? near : least;
        most = near > most ? near : most;
    }
    *low = least;
    *high = most;
    return !far;
}

/* The bytes from the lowest to the highest lane, for a quick look at all at once; false: too far apart. */
static bool span(const struct access *x, uint64_t *low, uint64_t *bytes)
{
    uint64_t from = x->addr[__builtin_ctz(x->mask)];
    int32_t least = 0, most = 31 * (int32_t)x->bytes;
    if (!x->linear && !reach(x->addr, x->mask, from, &least, &most))
        return false;
    *low = from + (uint64_t)(int64_t)least;
    *bytes = (uint64_t)(most - least) + x->bytes;
    return true;
}

/* What memory lacks, lane by lane. */
static bool memory_lacks(struct warp *w, const struct access *x, uint32_t missing[32])
{
    const struct san_block *sb = san_block(x->owner ? x->owner : w->block);
    uint64_t at, low, bytes;
    uint32_t any = 0;
    if (x->space == SPACE_GLOBAL && x->alloc) {
        if (x->alloc->initialised)
            return false;
        if (span(x, &low, &bytes) && all_defined(w->launch->mem->init, low - MEM_BASE, bytes))
            return false;
    } else if (x->space == SPACE_SHARED && span(x, &low, &bytes) && all_defined(sb->shared, low, bytes)) {
        return false;
    }
    memset(missing, 0, 32 * sizeof(missing[0]));
    for (uint32_t left = x->mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        const uint8_t *bits = bitmap(w, x, lane, &at);
        any |= missing[lane] = bits ? bits_missing(bits, at, x->bytes) : 0;
    }
    return any;
}

static void loaded(struct warp *w, const struct insn *i, const struct access *x)
{
    struct san_warp *sw = san_warp(w);
    static const uint32_t none[32];
    uint32_t missing[32];
    bool lacks = memory_lacks(w, x, missing);
    if (x->flags & ACCESS_ASYNC) {
        for (int l = 0; l < 32; l++)
            sw->async[l] = (uint16_t)(lacks ? missing[l] : 0);
        return;
    }
    if (!lacks && !w->followed)
        return;
    if (lacks)
        for (int l = 0; l < 32; l++)
            if (missing[l])
                note_origin(w, i, x, l, missing[l]);
    if (i->op == OP_ldmatrix)
        matrix_loaded(w, i, lacks ? missing : none);
    else if (i->op == OP_wmma_load)
        undef_fragment_loaded(w, i, x->flags / ACCESS_PART, lacks ? missing : none);
    else
        undef_loaded(w, i, x->mask, lacks ? missing : none);
}

void san_taint(struct launch *l, struct alloc *a)
{
    if (!a->initialised)
        return;
    a->initialised = false;
    if (!a->present) {
        bits_set(l->mem->init, a->addr - MEM_BASE, a->size);
        return;
    }
    a->tainted = true; /* gigabytes of it may never be touched */
    mem_init_present(l->mem, a);
}

static void stored_to(struct warp *w, const struct insn *i, const struct access *x, const uint32_t missing[32])
{
    uint64_t at;
    if (!missing && x->space == SPACE_GLOBAL && x->alloc && x->alloc->initialised)
        return;
    if (!missing && x->linear && (x->space != SPACE_GLOBAL || x->alloc) && x->space != SPACE_LOCAL) {
        uint8_t *bits = bitmap(w, x, 0, &at);
        if (bits)
            bits_set(bits, at, 32ull * x->bytes);
        return;
    }
    for (uint32_t left = x->mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        if (missing && missing[lane] && x->space == SPACE_GLOBAL) {
            struct alloc *a = x->alloc ? x->alloc : mem_find(w->launch->mem, x->addr[lane]);
            san_taint(w->launch, a);
            san_remember_store(w, i, a, lane, x->addr[lane], x->bytes);
        }
        uint8_t *bits = bitmap(w, x, lane, &at);
        if (!bits)
            continue;
        bits_set(bits, at, x->bytes);
        for (uint32_t k = 0; missing && k < x->bytes; k++)
            if (missing[lane] >> k & 1)
                bits_clear(bits, at + k, 1);
    }
}

static void check_init(struct warp *w, const struct insn *i, const struct access *x)
{
    struct san_warp *sw = san_warp(w);
    uint32_t lacks[32], given[32];
    if (x->kind == ACCESS_LOAD) {
        loaded(w, i, x);
        return;
    }
    bool undefined = false;
    if (x->flags & ACCESS_ASYNC) {
        for (int l = 0; l < 32; l++)
            undefined |= (given[l] = sw->async[l]) != 0;
        memset(sw->async, 0, sizeof(sw->async));
    } else if (w->followed) {
        undefined = i->op == OP_wmma_store ? undef_fragment_stored(w, i, x->flags / ACCESS_PART, given)
                                           : undef_stored(w, i, x->mask, given);
    }
    if (x->kind == ACCESS_ATOMIC) { /* what it leaves is undefined when either side is, but for an exchange's */
        bool lacking = memory_lacks(w, x, lacks);
        if (i->op == OP_atom && (lacking || w->followed)) {
            static const uint32_t none[32];
            undef_loaded(w, i, x->mask, lacking ? lacks : none);
        }
        if (lacking && !insn_has(i, MOD_exch)) {
            note_origin(w, i, x, 31 - __builtin_clz(x->mask), 1);
            for (int l = 0; l < 32; l++)
                given[l] = (undefined ? given[l] : 0) | lacks[l];
            undefined = true;
        }
    }
    stored_to(w, i, x, undefined ? given : NULL);
}

/* ---- the observer's functions ---- */

/* Launches come by the thousand: each thread keeps a detector and its pages between them. */
static pthread_key_t spare_key;

static void spare_drop(void *race)
{
    race_close(race);
}

__attribute__((constructor)) static void spare_make(void)
{
    BUG_IF(pthread_key_create(&spare_key, spare_drop) != 0);
}

static const struct ptx_observer_calls launch_calls;

static struct ptx_observer *begin(struct ptx_observer *self, struct launch *l)
{
    struct arena *a = arena_open();
    struct san *s = arena_new(a, struct san);
    s->observer.calls = &launch_calls;
    s->arena = a;
    s->checks = ((const struct sanitizer *)self)->checks;
    s->stores = ((const struct sanitizer *)self)->stores;
    s->ahead = l->args->programmatic ? ((const struct sanitizer *)self)->ahead : NULL;
    if (s->checks & (SANITIZE_RACE_SHARED | SANITIZE_RACE_GLOBAL | SANITIZE_NC)) {
        s->race = pthread_getspecific(spare_key);
        if (!s->race)
            s->race = race_open(peek);
        pthread_setspecific(spare_key, NULL);
        race_launch(s->race, l->n_warps, l->cluster_blocks > 1);
        s->race->waste = ((const struct sanitizer *)self)->waste;
        s->race->stale = s->checks & SANITIZE_EARLIER;
        s->told = ((const struct sanitizer *)self)->earlier;
    }
    undef_begin(l, s);
    return &s->observer;
}

static void end(struct ptx_observer *self, struct launch *l)
{
    struct san *s = (struct san *)self;
    dependent_end(l);
    if (s->told)
        tell_earlier(l, s->race, s->told);
    if (s->race)
        s->race->waste = NULL; /* the launch's; blocks of one that was stopped are closed later */
    if (s->race && s->race->cell_bytes <= RACE_SPARE_BYTES && !pthread_getspecific(spare_key))
        pthread_setspecific(spare_key, s->race);
    else
        race_close(s->race);
    arena_close(s->arena);
}

static void block_drop(struct kept *k)
{
    free(k);
}

static void block_begin(struct block *b)
{
    struct launch *l = b->launch;
    struct san *s = san_of(l);
    struct san_block *sb = san_block(b);
    size_t shared = l->shared_bytes / 8 + 16, local = (size_t)l->threads * l->local_bytes / 8 + 16;
    if (!sb) {
        sb = mem_zalloc(sizeof(*sb));
        sb->kept.drop = block_drop;
        b->kept[PTX_CHECKER] = &sb->kept;
        sb->shared = arena_alloc(s->arena, shared);
        sb->local = arena_alloc(s->arena, local);
    }
    memset(sb->shared, 0, shared);
    memset(sb->local, 0, local);
    if (s->race)
        sb->race = race_block_open(s->race, b->linear);
    undef_block(b);
}

static void block_end(struct block *b)
{
    struct san_block *sb = san_block(b);
    if (san_of(b->launch)->race)
        race_block_close(san_of(b->launch)->race, sb->race);
    sb->race = NULL;
}

static void tell_piece(const struct sanitize_stores *to, const struct access *x, uint64_t addr, uint64_t bytes)
{
    if (x->kind != ACCESS_LOAD)
        to->stored(to->context, addr, bytes, x->kind == ACCESS_ATOMIC);
    else if (to->loaded)
        to->loaded(to->context, addr, bytes);
}

static void tell_access(const struct sanitize_stores *to, const struct access *x)
{
    if (x->linear)
        tell_piece(to, x, x->addr[0], 32ull * x->bytes);
    for (uint32_t left = x->linear ? 0 : x->mask; left; left &= left - 1)
        tell_piece(to, x, x->addr[__builtin_ctz(left)], x->bytes);
}

static void watch_access(struct warp *w, const struct insn *i, const struct access *x)
{
    const struct san *s = san_of(w->launch);
    dependent_access(w, i, x);
    if (s->stores && x->space == SPACE_GLOBAL && (x->kind != ACCESS_LOAD || s->stores->loaded))
        tell_access(s->stores, x);
    if (s->race && x->space != SPACE_LOCAL && !w->launch->stop)
        check_race(w, i, x);
    if ((s->checks & SANITIZE_INIT) && !w->launch->stop)
        check_init(w, i, x);
}

static void barrier(struct block *b, const uint32_t *arrived, const uint32_t *waiting)
{
    struct san *s = san_of(b->launch);
    struct san_block *sb = san_block(b);
    uint32_t live[64];
    bool whole = true;
    dependent_barrier(b, arrived, waiting);
    if (!s->race)
        return;
    for (uint32_t k = 0; k < b->n_warps; k++) {
        live[k] = ~b->warps[k].dead;
        whole &= (waiting[k] & live[k]) == live[k];
    }
    if (whole)
        race_barrier(s->race, sb->race);
    else
        race_barrier_some(s->race, sb->race, arrived, waiting, live);
}

static void warp_sync(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct san_block *sb = san_block(w->block);
    (void)i;
    dependent_warp_sync(w, mask);
    if (san_of(w->launch)->race)
        race_warp_sync(san_of(w->launch)->race, sb->race, w->index, mask, warp_full(w, mask));
}

static void fence(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct san_block *sb = san_block(w->block);
    if (san_of(w->launch)->race)
        race_fence(san_of(w->launch)->race, sb->race, w->index, mask, warp_full(w, mask), insn_has(i, MOD_cta));
}

static void async(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct san_block *sb = san_block(w->block);
    if (!san_of(w->launch)->race)
        return;
    if (insn_has(i, MOD_commit_group) || insn_has(i, MOD_wait_all))
        race_async_commit(sb->race, w->index, mask);
    if (insn_has(i, MOD_wait_all) || insn_has(i, MOD_wait_group))
        race_async_wait(san_of(w->launch)->race, sb->race, w->index, mask,
                        insn_has(i, MOD_wait_group) && i->n_opnds ? (uint32_t)i->opnds[0].imm : 0);
}

/* An exited thread's accesses count as before the next barrier: warp.dead says all, so that nobody tells of
 * exits. */
static const struct ptx_observer_calls launch_calls = {
    .role = PTX_CHECKER,
    .begin = begin,
    .end = end,
    .block_begin = block_begin,
    .block_end = block_end,
    .use = undef_use,
    .insn = undef_insn,
    .access = watch_access,
    .taken = taken,
    .barrier = barrier,
    .warp_sync = warp_sync,
    .fence = fence,
    .proxy_fence = san_proxy_fence,
    .async = async,
    .warpgroup = san_warpgroup,
    .grid_wait = dependent_wait,
    .cluster_arrive = san_cluster_arrive,
    .cluster_flip = san_cluster_flip,
    .cluster_wait = san_cluster_wait,
    .cluster_exit = san_cluster_exit,
    .reach = san_reach,
    .flight_begin = san_flight_begin,
    .flight_bytes = san_flight_bytes,
    .flight_read = san_flight_read,
    .flight_end = san_flight_end,
    .arrival_end = san_arrival_end,
    .mbar_init = san_mbar_init,
    .mbar_use = san_mbar_use,
    .mbar_arrive = san_mbar_arrive,
    .mbar_flip = san_mbar_flip,
    .mbar_wait = san_mbar_wait,
};

struct ptx_observer *sanitizer_on(struct sanitizer *s, unsigned checks)
{
    *s = (struct sanitizer){.observer.calls = &launch_calls,
                            .checks = checks & (SANITIZE_ALL | SANITIZE_EARLIER)};
    return s->checks ? &s->observer : NULL;
}

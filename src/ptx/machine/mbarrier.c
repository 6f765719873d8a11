/* mbarriers: barriers in shared memory that count arrivals and the bytes of bulk copies.
 *
 * Their state is kept beside the memory, by address; the eight bytes in shared memory hold the same, so that
 * who overwrites them is found. A phase is complete when no arrival is pending and as many bytes came as were
 * expected. */
#include "async.h"

enum { COUNT_MOST = (1 << 20) - 1 };

/* What the eight bytes say: the phase's parity, the arrivals still pending. An arrival gives it as the state.
 */
static uint64_t word_of(const struct mbar *bar)
{
    return (uint64_t)(bar->phase & 1) << 63 | 1ull << 62 | (uint64_t)bar->expected << 20 | bar->pending;
}

static void word_store(const struct block *b, struct mbar *bar)
{
    bar->word = word_of(bar);
    memcpy(b->shared + bar->at, &bar->word, sizeof(bar->word));
}

static struct mbar *find(const struct block *b, uint64_t offset)
{
    for (size_t k = 0; b->mbars && k < b->mbars->v.n; k++)
        if (b->mbars->v.v[k].at == offset)
            return &b->mbars->v.v[k];
    return NULL;
}

static struct mbar *mbar_at(const struct block *b, uint64_t offset)
{
    struct mbar *bar = find(b, offset);
    return bar && bar->live ? bar : NULL;
}

struct mbar *mbar_use(struct warp *w, const struct insn *i, uint32_t lane, const struct block *b,
                      uint64_t offset)
{
    struct mbar *bar = mbar_at(b, offset);
    if (!cluster_reach(w, i, 1u << lane, b))
        return NULL;
    if (!bar) {
        fault(w, i, (int)lane, PTX_MBARRIER, offset,
              "there is no initialised mbarrier at byte %llu of %sshared memory", (unsigned long long)offset,
              b == w->block ? "" : "the other block's ");
        return NULL;
    }
    if (memcmp(b->shared + bar->at, &bar->word, sizeof(bar->word))) {
        fault(w, i, (int)lane, PTX_MBARRIER, offset,
              "the mbarrier at byte %llu of shared memory was overwritten by an ordinary store",
              (unsigned long long)offset);
        return NULL;
    }
    OBSERVE(w->launch, mbar_use, w, i, lane, bar);
    return w->launch->stop ? NULL : bar;
}

void mbars_reset(struct block *b)
{
    for (size_t k = 0; b->mbars && k < b->mbars->v.n; k++) {
        struct mbar *bar = &b->mbars->v.v[k];
        kept_drop(&bar->kept);
        for (size_t f = 0; f < bar->flights.n; f++)
            flight_free(&bar->flights.v[f]);
        vec_free(&bar->flights);
    }
    if (b->mbars)
        b->mbars->v.n = 0;
    for (uint32_t k = 0; k < b->n_warps; k++)
        bulk_groups_free(&b->warps[k]);
}

void mbars_free(struct block *b)
{
    mbars_reset(b);
    if (b->mbars)
        vec_free(&b->mbars->v);
    free(b->mbars);
    b->mbars = NULL;
}

/* ---- phases ---- */

static void flip(struct block *b, struct mbar *bar)
{
    bar->phase++;
    bar->pending = bar->expected;
    bar->done = bar->gathered;
    bar->gathered = 0;
    OBSERVE(b->launch, mbar_flip, bar);
}

static void settle(struct block *b, struct mbar *bar)
{
    if (!bar->pending && !bar->tx)
        flip(b, bar);
    word_store(b, bar);
    b->launch->progress++;
}

bool mbar_complete_tx(struct block *b, struct mbar *bar, uint64_t bytes)
{
    bar->tx -= (int64_t)bytes;
    settle(b, bar);
    return true;
}

static bool arrive_count(struct warp *w, const struct insn *i, uint32_t lane, struct block *b, struct mbar *bar,
                         uint64_t count)
{
    if (count == 0 || count > bar->pending) {
        fault(
            w, i, (int)lane, PTX_MBARRIER, bar->at,
            count
                ? "arrives %llu times at the mbarrier at byte %u of shared memory, whose phase waits for %u more "
                  "arrivals only"
                : "arrives %llu times at the mbarrier at byte %u of shared memory (%u are pending)",
            (unsigned long long)count, bar->at, bar->pending);
        return false;
    }
    if (insn_has(i, MOD_no_complete) && count == bar->pending) {
        fault(w, i, (int)lane, PTX_MBARRIER, bar->at,
              "mbarrier.arrive.noComplete completes the phase of the mbarrier at byte %u of shared memory",
              bar->at);
        return false;
    }
    bar->pending -= (uint32_t)count;
    settle(b, bar);
    return true;
}

/* Copies land while they alone keep the phase from completing. */
static void land(struct block *b, struct mbar *bar)
{
    struct launch *l = b->launch;
    uint32_t phase = bar->phase, arrivals = 0;
    for (size_t k = 0; k < bar->flights.n; k++)
        arrivals += bar->flights.v[k].kind == FLIGHT_ARRIVE;
    if (bar->pending > arrivals)
        return;
    while (bar->flights.n && bar->phase == phase && !l->stop) {
        struct flight f = bar->flights.v[0];
        memmove(bar->flights.v, bar->flights.v + 1, --bar->flights.n * sizeof(f));
        bar->gathered = MAX(bar->gathered, f.ready);
        if (f.kind == FLIGHT_ARRIVE) {
            struct async *a = async_of(f.warp, 0);
            async_land_before(a, 1u << f.lane, f.serial);
            OBSERVE(l, arrival_end, &f, bar);
            arrive_count(f.warp, f.insn, f.lane, b, bar, 1);
            continue;
        }
        if (!flight_land(&f))
            return;
        OBSERVE(l, flight_end, &f, bar, b);
        mbar_complete_tx(b, bar, f.bytes);
        if (bar->phase == phase && !bar->pending && bar->tx < 0) {
            fault(
                f.warp, f.insn, (int)f.lane, PTX_MBARRIER, f.to,
                "this bulk copy brings the mbarrier at byte %u of shared memory %lld bytes more than its phase "
                "expects",
                bar->at, (long long)-bar->tx);
            return;
        }
    }
}

/* ---- operands ---- */

static const struct opnd *address_of(const struct insn *i)
{
    return &i->opnds[i->opnds[0].kind == OPND_ADDR ? 0 : 1];
}

static const struct opnd *behind_address(const struct insn *i)
{
    unsigned k = (unsigned)(address_of(i) - i->opnds) + 1;
    return k < i->n_opnds ? &i->opnds[k] : NULL;
}

/* Checks and shows the accesses; offset and block of each lane's mbarrier. False after a finding. */
static bool access_bars(struct warp *w, const struct insn *i, uint32_t m, enum access_kind kind, unsigned flags,
                        struct block *block[32], uint64_t offset[32])
{
    uint64_t addr[32];
    uint8_t *host[32];
    for (uint32_t l = 0; l < 32; l++) {
        addr[l] = opnd_address(w, address_of(i), l);
        if (i->space == SPACE_SHARED) /* 32 bits or a 64-bit register that holds them */
            addr[l] = (uint32_t)addr[l];
    }
    for (uint32_t left = m; left && i->space != SPACE_SHARED; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        if (addr[l] - SHARED_WINDOW >= WINDOW_BYTES) {
            fault(w, i, (int)l, PTX_MBARRIER, addr[l], "an mbarrier at 0x%llx, which is no shared memory",
                  (unsigned long long)addr[l]);
            return false;
        }
    }
    struct access x = {.kind = (uint8_t)kind,
                       .space = i->space,
                       .flags = (uint16_t)flags,
                       .mask = m,
                       .bytes = 8,
                       .addr = addr};
    if (!mem_lanes(w, i, x, host))
        return false;
    for (uint32_t left = m; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        block[l] =
            cluster_block(w->block, i->space == SPACE_SHARED ? addr[l] : addr[l] - SHARED_WINDOW, &offset[l]);
    }
    return true;
}

static uint32_t same_bar(uint32_t m, uint32_t lane, struct block *const block[32], const uint64_t offset[32])
{
    uint32_t same = 0;
    for (uint32_t l = 0; l < 32; l++)
        same |= (uint32_t)((m >> l & 1) && block[l] == block[lane] && offset[l] == offset[lane]) << l;
    return same;
}

/* ---- instructions ---- */

static void init(struct warp *w, const struct insn *i, uint32_t m)
{
    struct block *block[32];
    uint64_t offset[32];
    if (!access_bars(w, i, m, ACCESS_STORE, 0, block, offset))
        return;
    for (; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        struct block *b = block[l];
        uint64_t count = opnd_lane(w, &i->opnds[1], l);
        struct mbar *bar = find(b, offset[l]);
        if (count == 0 || count > COUNT_MOST) {
            fault(w, i, (int)l, PTX_MBARRIER, offset[l],
                  "mbarrier.init with %llu arrivals: from 1 to %d are allowed", (unsigned long long)count,
                  COUNT_MOST);
            return;
        }
        if (bar && bar->live && (bar->flights.n || bar->pending != bar->expected || bar->tx)) {
            fault(w, i, (int)l, PTX_MBARRIER, offset[l],
                  "mbarrier.init of the mbarrier at byte %u of shared memory while a phase of it is under way",
                  bar->at);
            return;
        }
        if (!bar) {
            if (!b->mbars)
                b->mbars = mem_zalloc(sizeof(*b->mbars));
            vec_push(&b->mbars->v, ((struct mbar){.at = (uint32_t)offset[l]}));
            bar = &vec_last(&b->mbars->v);
        }
        kept_drop(&bar->kept);
        bar->live = true;
        bar->expected = bar->pending = (uint32_t)count;
        bar->tx = bar->phase = 0;
        bar->gathered = bar->done = 0;
        word_store(b, bar);
        w->launch->progress++;
        OBSERVE(w->launch, mbar_init, w, i, l, bar);
    }
}

/* Strong, like the other operations: the toolkit's pipelines end theirs behind an atomic that releases nothing.
 */
static void inval(struct warp *w, const struct insn *i, uint32_t m)
{
    struct block *block[32];
    uint64_t offset[32];
    if (!access_bars(w, i, m, ACCESS_ATOMIC, ACCESS_RELAXED, block, offset))
        return;
    for (; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        struct mbar *bar = mbar_use(w, i, l, block[l], offset[l]);
        if (!bar)
            return;
        if (bar->flights.n) {
            fault(w, i, (int)l, PTX_MBARRIER, offset[l],
                  "mbarrier.inval of the mbarrier at byte %u of shared memory while a copy is under way to it",
                  bar->at);
            return;
        }
        bar->live = false;
        w->launch->progress++;
    }
}

/* One lane's arrive, arrive_drop, expect_tx or complete_tx. */
static bool arrive_lane(struct warp *w, const struct insn *i, uint32_t l, struct block *b, struct mbar *bar)
{
    bool arrives = insn_has(i, MOD_arrive) || insn_has(i, MOD_arrive_drop),
         expects = insn_has(i, MOD_expect_tx);
    const struct opnd *more = behind_address(i);
    uint64_t value = more ? opnd_lane(w, more, l) : 1;
    if (expects || insn_has(i, MOD_complete_tx)) {
        value = (uint32_t)value;
        if (value > COUNT_MOST || (expects && bar->tx + (int64_t)value > COUNT_MOST)) {
            fault(w, i, (int)l, PTX_MBARRIER, bar->at,
                  "%lld bytes expected at the mbarrier at byte %u: at most %d",
                  (long long)bar->tx + (long long)value, bar->at, COUNT_MOST);
            return false;
        }
        if (!expects)
            return mbar_complete_tx(b, bar, value);
        bar->tx += (int64_t)value;
        if (!arrives)
            settle(b, bar);
        value = 1;
    }
    if (!arrives)
        return true;
    if (insn_has(i, MOD_arrive_drop)) {
        if (value > bar->expected) {
            fault(w, i, (int)l, PTX_MBARRIER, bar->at,
                  "arrive_drop takes %llu of the mbarrier's %u arrivals away", (unsigned long long)value,
                  bar->expected);
            return false;
        }
        bar->expected -= (uint32_t)value;
    }
    if (clock_of(w))
        bar->gathered = MAX(bar->gathered, clock_of(w)->now(w));
    return arrive_count(w, i, l, b, bar, (uint32_t)value);
}

static void arrive(struct warp *w, const struct insn *i, uint32_t m)
{
    struct block *block[32];
    uint64_t offset[32];
    const struct opnd *d = &i->opnds[0];
    bool arrives = insn_has(i, MOD_arrive) || insn_has(i, MOD_arrive_drop);
    if (!access_bars(w, i, m, ACCESS_ATOMIC, ACCESS_RELAXED, block, offset))
        return;
    w->spins = 0;
    for (uint32_t rest = m; rest;) {
        uint32_t first = (uint32_t)__builtin_ctz(rest), same = same_bar(rest, first, block, offset);
        struct mbar *bar = mbar_use(w, i, first, block[first], offset[first]);
        if (!bar)
            return;
        rest &= ~same;
        bool together =
            bar->pending > (unsigned)__builtin_popcount(same); /* no phase ends between these lanes */
        for (uint32_t left = same; left; left &= left - 1) {
            uint32_t l = (uint32_t)__builtin_ctz(left);
            if (arrives && (!together || left == same))
                OBSERVE(w->launch, mbar_arrive, w, i, bar, together ? same : 1u << l);
            uint64_t state = bar->word;
            if (!arrive_lane(w, i, l, block[l], bar))
                return;
            if (d->kind == OPND_REG)
                REG(uint64_t, w, d->off)[l] = state;
        }
    }
}

static void wait(struct warp *w, const struct insn *i, uint32_t m)
{
    struct block *block[32];
    uint64_t offset[32];
    uint32_t over = 0;
    if (!access_bars(w, i, m, ACCESS_LOAD, ACCESS_RELAXED, block, offset))
        return;
    OBSERVE(w->launch, spin, w, i);
    for (uint32_t rest = m; rest;) {
        uint32_t first = (uint32_t)__builtin_ctz(rest), same = same_bar(rest, first, block, offset), passed = 0;
        struct block *b = block[first];
        if (b != w->block) {
            fault(w, i, (int)first, PTX_MBARRIER, offset[first],
                  "waits for an mbarrier of another block: only its own block's threads can");
            return;
        }
        struct mbar *bar = mbar_use(w, i, first, b, offset[first]);
        if (!bar)
            return;
        rest &= ~same;
        for (uint32_t left = same; left; left &= left - 1) {
            uint32_t l = (uint32_t)__builtin_ctz(left);
            uint64_t which = opnd_lane(w, &i->opnds[2], l);
            uint32_t parity = insn_has(i, MOD_parity) ? (uint32_t)which & 1 : (uint32_t)(which >> 63);
            if ((bar->phase & 1) == parity && bar->flights.n)
                land(b, bar);
            if (w->launch->stop)
                return;
            passed |= (uint32_t)((bar->phase & 1) != parity) << l;
        }
        over |= passed;
        if (passed) {
            OBSERVE(w->launch, mbar_wait, w, bar, passed);
            OBSERVE(w->launch, until, w, bar->done, true);
        }
        if (same & ~passed) {
            w->stalled.insn = i;
            w->stalled.addr = offset[first];
            w->stalled.lane = (uint32_t)__builtin_ctz(same & ~passed);
        }
    }
    uint32_t *p = REG(uint32_t, w, i->d);
    *p = (*p & ~m) | over;
    if (over == m)
        w->stalled.insn = NULL;
    else
        w->spins += 1000; /* the next backward branch gives way at once */
}

static void pending(struct warp *w, const struct insn *i, uint32_t m)
{
    for (; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        REG(uint32_t, w, i->d)[l] = (uint32_t)(opnd_lane(w, &i->opnds[1], l) & COUNT_MOST);
    }
}

/* cp.async.mbarrier.arrive: an arrival when all cp.async copies of the thread so far have landed. */
static void arrive_async(struct warp *w, const struct insn *i, uint32_t m)
{
    struct block *block[32];
    uint64_t offset[32];
    if (!access_bars(w, i, m, ACCESS_ATOMIC, ACCESS_RELAXED, block, offset))
        return;
    struct async *a = async_of(w, 0);
    for (; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        struct mbar *bar = mbar_use(w, i, l, block[l], offset[l]);
        if (!bar)
            return;
        if (bar->pending == COUNT_MOST || bar->flights.n > COUNT_MOST) {
            fault(w, i, (int)l, PTX_MBARRIER, bar->at, "more than %d arrivals are pending", COUNT_MOST);
            return;
        }
        if (!insn_has(i, MOD_noinc)) {
            bar->pending++;
            word_store(block[l], bar);
        }
        struct flight f = {
            .kind = FLIGHT_ARRIVE, .insn = i, .warp = w, .lane = l, .to_block = block[l], .serial = a->serial};
        if (clock_of(w))
            f.ready = clock_of(w)->async_ready(w);
        vec_push(&bar->flights, f);
        w->launch->progress++;
    }
}

exec_fn *mbar_select(struct insn *i)
{
    const struct opnd *o = i->opnds;
    unsigned n = i->n_opnds;
    bool arrives = insn_has(i, MOD_arrive) || insn_has(i, MOD_arrive_drop);
    if (i->type != TYPE_B64 || (i->space != SPACE_SHARED && i->space != SPACE_GENERIC))
        return NULL;
    for (unsigned k = 0; k < n; k++)
        if (o[k].kind != OPND_REG && o[k].kind != OPND_ADDR && !(o[k].kind == OPND_SINK && k == 0))
            return NULL;
    if (i->op == OP_cp)
        return n == 1 && o[0].kind == OPND_ADDR && arrives ? arrive_async : NULL;
    if (insn_has(i, MOD_pending_count))
        return n == 2 && o[0].bytes == 4 && o[1].bytes == 8 && o[0].kind == OPND_REG ? pending : NULL;
    if (insn_has(i, MOD_test_wait) || insn_has(i, MOD_try_wait)) {
        bool fits = (n == 3 || (n == 4 && insn_has(i, MOD_try_wait))) && !o[0].bytes && o[0].kind == OPND_REG &&
                    o[1].kind == OPND_ADDR && o[2].kind == OPND_REG;
        return fits && o[2].bytes == (insn_has(i, MOD_parity) ? 4 : 8) ? wait : NULL;
    }
    if (insn_has(i, MOD_init))
        return n == 2 && o[0].kind == OPND_ADDR && o[1].bytes == 4 ? init : NULL;
    if (insn_has(i, MOD_inval))
        return n == 1 && o[0].kind == OPND_ADDR ? inval : NULL;
    bool tx = insn_has(i, MOD_expect_tx) || insn_has(i, MOD_complete_tx);
    if (arrives)
        return n >= 2u + (tx || insn_has(i, MOD_no_complete)) && n <= 3 && o[0].kind != OPND_ADDR &&
                       o[0].bytes == 8 && o[1].kind == OPND_ADDR && !insn_has(i, MOD_complete_tx)
                   ? arrive
                   : NULL;
    return tx && n == 2 && o[0].kind == OPND_ADDR && o[1].bytes == 4 ? arrive : NULL;
}

bool mbar_words(const struct warp *w, char *to, size_t size)
{
    const struct mbar *bar = mbar_at(w->block, w->stalled.addr);
    if (!bar)
        return false;
    int n = snprintf(to, size, "the mbarrier at byte %u of shared memory is in phase %u", bar->at, bar->phase);
    const char *sep = ", which needs";
    if (n > 0 && bar->pending)
        n += snprintf(to + n, size - (size_t)n, "%s %u more arrivals", sep, bar->pending), sep = " and";
    if (n > 0 && (size_t)n < size && bar->tx)
        snprintf(to + n, size - (size_t)n, bar->tx > 0 ? "%s %lld more bytes" : "%s %lld bytes fewer than came",
                 sep, (long long)(bar->tx > 0 ? bar->tx : -bar->tx));
    return true;
}

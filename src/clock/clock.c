/* The clock: a launch's modelled time from a sample of its blocks. docs/simulator.md says what it leaves out.
 */
#include "cost_model.h"

/* Waiting and moving data get into each other's way long before either is at its limit (the devices'
 * `overlap`); issue and the start of blocks are limits that are reached. */
static const double HARD = 5;

/* Who starts blocks does nothing else (rounds.csv: of loads alone 27.5 us, where starting takes 26.1); reading
 * from the L2 and writing to it add little to each other (stays.csv: a copy of 8 MiB takes 3.3 us, its
 * writes 2.9). */
static const double STARTS = 10, WAYS = 2.5;

/* What the last launch wrote lies in the half of the L2 that its SM is nearer to, not that of the one that
 * reads it (stays.csv: 16 MiB read and written in place take 0.1 to 0.8 us more than copied, where blocks find
 * any SM). */
static const double IN_PLACE_GBS = 30000;

/* Blocks of one round are in step: where all wait nobody computes, and the exponents that join what they do are
 * so much smaller (fitted, with `overlap`, to all points). */
static const double IN_STEP_MEMORY = 0.4, IN_STEP_ISSUE = 1;

/* Of a block's start for each warp, and of loads from DRAM among stores, in ns: blocks of 256 and 1024 threads
 * that load a word and store one, one or two on an SM, round after round (rounds.csv). */
static const double WARP_NS = 2.8, AMONG_STORES_NS = 140;

static const double UNEVEN_AT_ONCE =
    1.1; /* or so many where all run at once, so that the slowest is the launch */

enum {
    SAMPLE_INSNS = 50000,
    PILOT_LIMIT = 4000000,
    HEAVY = 400000,          /* warp instructions of a block, above which it stands for all */
    SAMPLE_LIMIT = 64000000, /* of all blocks of a sample */
    UNEVEN = 4,              /* blocks of which one does so many times what another does, */
    UNEVEN_RUNS = 16,        /* are sampled by so many pairs, */
    UNEVEN_LEAST = 4,        /* by fewer down to these where they cost more warp instructions than */
    UNEVEN_INSNS = 2000000,
    COUNT_INSNS = 500000, /* counted where nobody else has, of blocks that differ by less */
};

/* A sample is too light when all blocks need so many times what its own do, and when the largest of them does;
 * too heavy when they need that much less. Below this it is what blocks that differ do to any sample. */
static const double LIGHT = 1.1, LIGHT_MOST = 2;
static const double DIFFER = 1.5; /* blocks of a sample that do, are held to a count */

/* Lines that go to DRAM with a sector or two, anywhere: 29 a nanosecond where 39 come; with part of a sector,
 * that DRAM must be asked for first, 15.7 (waits.csv, stores). */
static const double REWRITE = 0.75, PARTIAL = 29.2 / 15.7;
static const double AGAIN = 1.25; /* more than that of a buffer's bytes: sectors are written again */

/* Lines lie in slices of the L2 by a hash, so that of few lines one slice has more than its share: the most of
 * n things in so many places. Bytes turned, 128 to 8192 of a side, tell of 96 slices (shares.csv). */
static double busiest_slice(double lines)
{
    static const double SLICES = 96;

    return MAX(1 + sqrt(2 * log(SLICES) * SLICES / MAX(lines, 1)), SLICES / MAX(lines, 1));
}

/* A slice takes one of so many of the updates that the L2 takes, besides its share of all: two slices were
 * measured to take 1.6 times what one does, eight 6.5, 32 21, 128 42, 512 56, all 62 (places.csv; words in
 * turn, writes.csv). */
static const double SLICES_ENOUGH = 65;

enum { SHORT_RUN = 8192 / LINE_BYTES }; /* lines: blocks that read longer runs need no neighbours */

/* ---- from blocks to the whole GPU ---- */

struct load {                       /* what the GPU must do, all blocks together */
    double blocks, resident, warps; /* resident: on one SM at once; warps of a block */
    double sms;                     /* that its blocks can be on */
    double cycles, first_cycles;    /* of a block alone: later ones, the slowest of the first wave */
    double slots, pipe[N_PIPES], l2_read, l2_write, l2_loads, l2_stores; /* a block */
    double joined_stores, joined_write;       /* of these, what may go on with the store before it */
    double local;                             /* bytes of local memory in the L2, a block */
    double code;                              /* machine instructions of which any was executed */
    bool geometry;                            /* the sizes of grid or block are asked for */
    double apart;                             /* share of neighbouring blocks that work far from each other */
    double dram_read, dram_write, dram_lines; /* the launch */
    double stored_lines;                      /* the launch: different ones */
    double again;    /* the launch: bytes read that the last one wrote, and written again */
    double rewrites; /* the launch: lines written again long after, in the time of whole sectors */
    double sync_share, memory_share; /* of a block's time */
    double hottest, atomics;         /* cycles of one word's updates; passes of all updates, a block */
    double busiest_part;             /* its share of all updates of the launch */
    double updates_from;             /* share of a block's time before the first of them */
    bool cold;
};

static const char *const pipe_names[N_PIPES] = {
    [PIPE_FP32] = "fp32",        [PIPE_FP16] = "fp16",          [PIPE_FP64] = "fp64",
    [PIPE_ALU] = "integer",      [PIPE_MUL] = "multiply",       [PIPE_SFU] = "special functions",
    [PIPE_SHUFFLE] = "shuffles", [PIPE_LSU] = "load and store", [PIPE_TENSOR] = "tensor",
    [PIPE_CONST] = "constants"};

static double joined(const double *t, size_t n, double exponent)
{
    double most = 0, sum = 0;
    for (size_t k = 0; k < n; k++)
        most = MAX(most, t[k]);
    if (most <= 0)
        return 0;
    for (size_t k = 0; k < n; k++)
        sum += pow(t[k] / most, exponent);
    return most * pow(sum, 1 / exponent);
}

/* Waves of equal blocks finish together when there are few; later the SMs drift apart and only the last tail
 * shows. */
static double rounds(double waves)
{
    return waves <= 3 ? ceil(waves) : waves + 0.5;
}

static void combine(const struct ptx_device *d, const struct cost_model *m, const struct load *x,
                    struct ptx_time *t)
{
    double mhz = d->sm_clock_mhz, sms = x->sms;
    double waves = x->blocks / (x->resident * sms);
    double per_sm = waves <= 3 ? ceil(x->blocks / sms) : x->blocks / sms; /* blocks of the busiest SM */

    double busiest = x->slots / d->schedulers_per_sm, uses[N_PIPES + 1] = {busiest}, others = busiest;
    t->pipe = "scheduler";
    for (int k = 0; k < N_PIPES; k++) {
        uses[k + 1] = x->pipe[k];
        others = MAX(others, k == PIPE_LSU ? 0 : x->pipe[k]);
        if (x->pipe[k] > busiest) {
            busiest = x->pipe[k];
            t->pipe = pipe_names[k];
        }
    }
    busiest = joined(uses, ARRAY_LEN(uses), HARD); /* who waits for one pipe leaves another empty */
    t->issue_us = busiest * per_sm / mhz / m->issue_share;

    double first = x->cycles + x->code * m->fetch_cycles + (x->geometry ? m->geometry_cycles : 0);
    /* The warps of a round come to each stage together and wait for each other there, beyond a warp's own part,
     * which its clock holds; later rounds, and later waits of one block, fill the gaps. */
    double here = MIN(x->resident, per_sm), queue = MAX(here * x->warps / d->schedulers_per_sm, 1);
    double waits = MAX(x->memory_share * x->cycles / m->l2_cycles, 1);
    double step = busiest / mhz + x->l2_read / m->sm_gbs * 1e-3,
           together = step * here / waits * (1 - 1 / queue);
    /* So do those of each later block, where barriers keep them together all the time. */
    step *= (1 - 1 / MAX(x->warps / d->schedulers_per_sm, 1)) / (x->sync_share > 0 ? 1 : waits);
    double start = (m->block_ns + WARP_NS * x->warps) * 1e-3; /* of a block */
    double later_us = x->cycles / mhz + m->crowding * MAX(step - x->cycles * x->sync_share / mhz, 0);
    double alone_us = first / mhz + (rounds(waves) - 1) * later_us + start * rounds(waves);
    double slower_us = MAX(x->first_cycles - x->cycles, 0) / mhz;
    double chain_us = alone_us + slower_us + m->crowding * together + MIN(x->blocks, sms) / m->blocks_per_us;
    /* The last block of the first round starts when all others have; the slowest one is anywhere among them. */
    double start_us = MIN(x->blocks, x->resident * sms) / m->blocks_per_us;
    double last_us = alone_us + MAX(start_us, slower_us + start_us / 2);
    t->sync_us = chain_us * x->sync_share + x->hottest / mhz;
    t->latency_us = chain_us * (1 - x->sync_share);

    /* Where warps come to the LSU more slowly than it takes their lines, one's stores come one behind the
     * other. */
    double joins = MIN(others / MAX(x->pipe[PIPE_LSU], 1), 1), stores = x->l2_stores - joins * x->joined_stores;
    double written = x->l2_write - joins * x->joined_write;
    double read = x->l2_read * x->blocks, write = written * x->blocks;
    t->l2_bytes = read + write + x->local * x->blocks;
    double ways[] = {read / m->l2_read_gbs * 1e-3, write / m->l2_write_gbs * 1e-3};
    t->l2_us = joined(ways, ARRAY_LEN(ways), WAYS) + x->again / IN_PLACE_GBS * 1e-3;
    t->l2_us = MAX(t->l2_us, (x->l2_read + written) * per_sm / m->sm_gbs * 1e-3);
    t->l2_us = MAX(t->l2_us, (x->l2_loads / m->l2_loads_per_ns +
                              stores / m->l2_stores_per_ns * busiest_slice(x->stored_lines)) *
                                 x->blocks * 1e-3);
    double updates_us =
        x->atomics * x->blocks / m->l2_atomics_per_ns * (1 + SLICES_ENOUGH * x->busiest_part) * 1e-3;
    /* Spilled registers come and go while the rest of the stream waits for them. */
    double local_us = x->local * x->blocks / m->l2_read_gbs * 1e-3;
    t->dram_bytes = x->dram_read + x->dram_write;
    t->dram_us = (MAX(x->dram_read / m->dram_read_gbs, x->dram_lines / m->dram_lines_per_ns) +
                  MAX(x->dram_write / m->dram_write_gbs, x->rewrites / (REWRITE * m->dram_lines_per_ns))) *
                 1e-3 * (1 + (m->dram_scatter - 1) * x->apart);
    t->launch_us = m->launch_us + (x->cold ? m->cold_us : 0);

    /* A stream starts when its first bytes arrive. */
    double fill = (m->l2_cycles / mhz + (x->dram_read > 0 ? m->dram_ns * 1e-3 : 0)) * (t->l2_bytes > 0);
    /* A word's updates in turn are its slice's, too. */
    double hottest_us = x->hottest / mhz, in_turn_us = updates_us > hottest_us ? updates_us : 0;
    double streams[] = {MAX(t->l2_us, in_turn_us), t->dram_us};
    double in_step = 1 / MAX(waves, 1), overlap = m->overlap - IN_STEP_MEMORY * in_step;
    /* Of many rounds others go on while some wait for their updates, of one nobody does. */
    double updated[] = {chain_us, hottest_us}, apart = overlap + (1 - overlap) * in_step;
    double memory[] = {joined(updated, ARRAY_LEN(updated), apart),
                       joined(streams, ARRAY_LEN(streams), HARD) + fill + local_us};
    double parts[] = {joined(memory, ARRAY_LEN(memory), overlap), t->issue_us + fill};
    /* Of few warps that wait for one pipe none is left to fill it meanwhile. */
    double alone = here * x->warps >= 2 ? 1 / (here * x->warps) : 0;
    double fills = HARD * (1 - alone) - IN_STEP_ISSUE * in_step;
    double work[] = {joined(parts, ARRAY_LEN(parts), fills), x->blocks / m->blocks_per_us};
    /* Updates that wait for each other begin when the first round has come so far. */
    double own[] = {chain_us, t->issue_us};
    double behind_us =
        joined(own, ARRAY_LEN(own), fills) * x->updates_from / MAX(waves, 1) + MAX(updates_us, hottest_us);
    t->us = t->launch_us + MAX(MAX(joined(work, ARRAY_LEN(work), STARTS), last_us), behind_us);
    t->l2_us = MAX(t->l2_us, updates_us);
    t->waves = waves;
    t->l2_us += local_us;

    const struct {
        enum ptx_bound bound;
        double us;
    } bounds[] = {{PTX_BOUND_DRAM, t->dram_us},   {PTX_BOUND_L2, t->l2_us},
                  {PTX_BOUND_ISSUE, t->issue_us}, {PTX_BOUND_LATENCY, t->latency_us},
                  {PTX_BOUND_SYNC, t->sync_us},   {PTX_BOUND_LAUNCH, t->launch_us}};
    size_t best = 0;
    for (size_t k = 1; k < ARRAY_LEN(bounds); k++)
        if (bounds[k].us > bounds[best].us)
            best = k;
    t->bound = bounds[best].bound;
}

double ptx_copy_us(const struct ptx_device *d, double bytes, bool hot)
{
    const struct cost_model *m = cost_model_of(d);
    if (!m)
        BUG("device %s is not in the table", d->name);
    double hit = hot ? cache_resident(d, bytes) : 0, each = 128 * 16,
           dram = m->dram_ns * 1e-3 * d->sm_clock_mhz;
    struct load x = {.blocks = ceil(bytes / 2 / each), .warps = 4, .sms = d->sm_count, .cold = !hot};
    x.resident = MIN(ptx_occupancy(d, 16, 0, 128), MAX(1, ceil(x.blocks / d->sm_count)));
    x.cycles = x.first_cycles = 10 * m->alu_cycles + m->l2_cycles + 512 / m->port_bytes + (1 - hit) * dram;
    x.slots = 4 * 14;
    x.code = 14;
    x.l2_loads = x.l2_stores = 4 * 4;
    x.pipe[PIPE_LSU] = 4 * 2 * 4;
    x.l2_read = x.l2_write = each;
    x.stored_lines = bytes / 2 / LINE_BYTES;
    x.dram_read = x.dram_write = bytes / 2 * (1 - hit);
    x.memory_share = 1;
    struct ptx_time t;
    combine(d, m, &x, &t);
    return t.us;
}

const char *ptx_bound_name(enum ptx_bound b)
{
    static const char *const names[] = {"dram", "l2", "issue", "latency", "launch", "sync"};
    BUG_IF((unsigned)b >= ARRAY_LEN(names));
    return names[b];
}

/* ---- the sample ---- */

struct run {
    struct ptx_module *module;
    struct ptx_mem *mem;
    struct ptx_launch launch; /* the grid may be smaller than the caller's */
    struct ptx_options options;
    struct ptx_report *report;
    const struct ptx_resources *resources; /* NULL: unknown */
    const struct func *entry;
    uint64_t n_blocks;
    uint32_t cluster[3]; /* blocks; 1: none */
    double sms;          /* that its blocks can be on */
};

static bool run_blocks(struct run *r, const uint64_t *blocks, size_t n, bool *done, struct err *err)
{
    struct ptx_options o = r->options;
    o.blocks = blocks;
    o.n_blocks = n;
    ptx_report_clear(r->report);
    *r->report = (struct ptx_report){0};
    if (!ptx_run(r->module, r->mem, &r->launch, &o, r->report, err))
        return false;
    *done = r->report->end == PTX_DONE;
    return true;
}

static uint64_t insns_of(const struct ptx_profile *p)
{
    uint64_t n = 0;
    for (size_t k = 0; k < p->samples.n; k++)
        n += p->samples.v[k].insns;
    return n;
}

/* Runs of neighbours, so that sectors shared between neighbours are seen; one in each of equal parts of the
 * grid, so that no kind of block counts for more than its share, at a place drawn from the seed, so that no
 * block is known to be left out; and the last block, so that what the sample touched spans what the launch
 * touches. Block 0 ran already. */
static size_t choose(uint64_t n_blocks, uint64_t want, uint64_t runs, uint64_t seed, uint64_t *list)
{
    size_t n = 0;
    uint64_t each = MAX(want / runs, (uint64_t)1), next = 1;
    if (want >= n_blocks - 1) {
        for (uint64_t b = 1; b < n_blocks; b++)
            list[n++] = b;
        return n;
    }
    for (uint64_t k = 0; k < runs; k++) {
        uint64_t part = n_blocks / runs, room = part > each ? part - each : 0;
        uint64_t start = k * n_blocks / runs + rng_hash(seed, k) % (room + 1);
        for (uint64_t b = MAX(start, next); b < start + each && b < n_blocks; b++) {
            list[n++] = b;
            next = b + 1;
        }
    }
    if (next < n_blocks && want > 1)
        list[n++] = n_blocks - 1;
    return n;
}

/* The blocks beside the first one, each a little way; nothing of them counts but what they share. */
static bool probe(struct run *r, struct ptx_profile *p, struct err *err)
{
    struct pc_stats *stats = p->stats;
    struct ptx_report aside = {0}, *report = r->report;
    struct ptx_profile before = *p;
    uint64_t limit = r->options.max_warp_insns, along[3] = {r->cluster[0]}, budget = SAMPLE_INSNS;
    double scale = (double)r->n_blocks / (double)MAX(p->samples.n, (size_t)1);
    bool ok = true, done;

    along[1] = (uint64_t)r->launch.grid[0] * r->cluster[1];
    along[2] = (uint64_t)r->launch.grid[0] * r->launch.grid[1] * r->cluster[2];
    p->stats = mem_zalloc((p->module->n_code + 1) * sizeof(*stats));
    r->options.max_warp_insns = REUSE_PROBE_INSNS;
    r->report = &aside; /* that a probe does not end says nothing */
    for (bool first = true, more = true; ok && more && budget; first = false) {
        more = first;
        for (int d = 0; ok && d < 3; d++) {
            uint32_t blocks = r->launch.grid[d] / r->cluster[d];
            uint32_t stride = first ? blocks > 1 : reuse_next(p, scale, d, blocks);
            uint64_t block = stride * along[d];
            if (!stride)
                continue;
            p->probe_axis = d;
            ok = run_blocks(r, &block, 1, &done, err);
            reuse_note(p, d, stride);
            budget -= MIN(budget, r->report->warp_insns);
            more = true;
        }
    }
    r->options.max_warp_insns = limit;
    ptx_report_clear(&aside);
    r->report = report;
    free(p->stats);
    p->stats = stats;
    p->samples.n = before.samples.n;
    p->result_branches = before.result_branches;
    p->block_number = before.block_number;
    p->probe_axis = -1;
    return ok;
}

static void sample_forget(struct ptx_profile *p)
{
    p->samples.n = p->allocs.n = p->counts.n = 0;
    p->hottest = p->hottest_near = p->updates = 0;
    memset(p->in_one_part, 0, sizeof(p->in_one_part));
    p->block_bytes = p->common = 0;
    p->result_branches = p->takes_again = false;
    l2_clear(&p->l2);
    memset(p->stats, 0, p->module->n_code * sizeof(*p->stats));
}

/* Does one block of the sample so many times what another does? */
static bool differ_by(const struct ptx_profile *p, double times)
{
    uint64_t least = UINT64_MAX, most = 0;

    for (size_t k = 0; k < p->samples.n; k++) {
        least = MIN(least, p->samples.v[k].insns);
        most = MAX(most, p->samples.v[k].insns);
    }
    return (double)most > (double)least * times;
}

/* Blocks that do much and blocks that do next to nothing: how many there are of each a few runs do not show. */
static bool is_uneven(const struct ptx_profile *p)
{
    return differ_by(p, (double)p->n_blocks <= p->concurrent ? UNEVEN_AT_ONCE : UNEVEN);
}

static bool run_chosen(struct run *r, uint64_t n_clusters, uint64_t want, uint64_t runs, bool *done,
                       struct err *err)
{
    uint64_t *list = mem_alloc((want + 4) * sizeof(*list));
    size_t n = choose(n_clusters, want, runs, r->options.sample_seed, list);

    for (size_t k = 0; k < n; k++)
        list[k] = block_of_cluster(r->launch.grid, r->cluster, list[k], 0);
    bool ok = n == 0 || run_blocks(r, list, n, done, err);
    free(list);
    return ok;
}

static bool take_sample(struct run *r, struct ptx_profile *p, bool *done, struct err *err)
{
    uint64_t zero = 0, budget = SAMPLE_INSNS;
    r->options.max_warp_insns = PILOT_LIMIT;
    if (!run_blocks(r, &zero, 1, done, err))
        return false;
    uint64_t n_clusters = r->n_blocks / MAX(p->samples.n, (size_t)1); /* a cluster runs whole */
    if (!*done || n_clusters <= 1)
        return true;
    if (reuse_needs_probe(p, (double)n_clusters) && !(p->probed = probe(r, p, err)))
        return false;
    uint64_t each = MAX(insns_of(p), (uint64_t)1), want = budget / each;
    if (each > HEAVY) /* nobody waits for more of such blocks */
        return true;
    want = MIN(MAX(want, (uint64_t)2), n_clusters - 1); /* two: neighbours */
    r->options.max_warp_insns = SAMPLE_LIMIT;
    if (!run_chosen(r, n_clusters, want, MIN(MAX(want / 4, (uint64_t)1), (uint64_t)16), done, err))
        return false;
    bool queue = p->takes_again && !r->options.queue->blocks; /* whoever comes first has taken all */
    if (!*done || queue || want / 4 >= UNEVEN_RUNS || !is_uneven(p))
        return true;
    uint64_t pair = MAX(2 * insns_of(p) / p->samples.n, (uint64_t)1);
    uint64_t runs = CLAMP(UNEVEN_INSNS / pair, (uint64_t)UNEVEN_LEAST, (uint64_t)UNEVEN_RUNS);
    sample_forget(p);
    return run_blocks(r, &zero, 1, done, err) &&
           (!*done || run_chosen(r, n_clusters, MIN(2 * runs, n_clusters - 1), runs, done, err));
}

/* A kernel whose blocks take work from a counter: the first that runs would take all of it. */
static bool take_turns(struct run *r, struct ptx_profile *p, bool *done, struct err *err)
{
    sample_forget(p);
    r->options.queue->blocks = r->n_blocks;
    bool ok = take_sample(r, p, done, err);
    r->options.queue->blocks = 0;
    return ok;
}

/* A kernel whose blocks wait for each other cannot be sampled: its first blocks run as a whole smaller grid. */
static bool take_smaller(struct run *r, struct ptx_profile *p, bool *done, struct err *err)
{
    uint64_t blocks = 1;
    for (int k = 0; k < 3; k++) {
        uint64_t room = MAX(32 / blocks, (uint64_t)1);
        uint32_t most = (uint32_t)MIN(room, r->launch.grid[k]);
        r->launch.grid[k] = MAX(most / r->cluster[k], 1u) * r->cluster[k];
        blocks *= r->launch.grid[k];
    }
    sample_forget(p);
    r->options.max_warp_insns = 4 * (uint64_t)PILOT_LIMIT;
    return run_blocks(r, NULL, 0, done, err);
}

/* ---- from the sample to the load ---- */

static bool asks_geometry(const struct insn *i)
{
    for (unsigned k = 0; k < i->n_opnds; k++)
        if (i->opnds[k].ref_kind == REF_SPECIAL &&
            ((i->opnds[k].imm >= SPECIAL_ntid_x && i->opnds[k].imm <= SPECIAL_ntid_z) ||
             (i->opnds[k].imm >= SPECIAL_nctaid_x && i->opnds[k].imm <= SPECIAL_nctaid_z)))
            return true;
    return false;
}

static void averages(const struct ptx_profile *p, struct load *x)
{
    double n = (double)p->samples.n, sync = 0, warps = 0, memory = 0, all = 0, pairs = 0, apart = 0;
    for (size_t k = 0; k < p->samples.n; k++) {
        const struct sample *s = &p->samples.v[k];
        x->slots += s->slots / n;
        for (int q = 0; q < N_PIPES; q++)
            x->pipe[q] += s->pipe[q] / n;
        x->l2_write += s->l2_write / n;
        if (k > 0 || p->common <= 0) { /* what all blocks read the first of them reads first */
            x->l2_read += s->l2_read / (p->common > 0 ? n - 1 : n);
            x->l2_loads += s->l2_loads / (p->common > 0 ? n - 1 : n);
        }
        x->l2_stores += s->l2_stores / n;
        x->joined_stores += s->joined_stores / n;
        x->joined_write += s->joined_write / n;
        x->dram_lines += s->dram_lines / n;
        x->rewrites += (s->rewrites + PARTIAL * s->part_rewrites) / n;
        x->atomics += s->atomics / n;
        x->updates_from += s->cycles > 0 ? s->updates_from / s->cycles / n : 0;
        x->dram_read += s->dram_read / n;
        x->dram_write += s->dram_write / n;
        sync += s->sync;
        warps += s->warp_cycles;
        memory += s->memory_wait;
        all += s->cycles;
        if (k > 0 && s->linear == s[-1].linear + 1 && s->first_line && s[-1].first_line) {
            uint64_t a = s->first_line, b = s[-1].first_line, run = s->run_end - a;
            pairs++;
            apart += run < SHORT_RUN && (a > b ? a - b : b - a) > 2 * run;
        }
    }
    late_cycles(p, x->blocks, &x->cycles, &x->first_cycles);
    x->apart = pairs > 0 ? apart / pairs : 0;
    for (size_t pc = 0; pc < p->module->n_code; pc++) {
        x->code += p->stats[pc].issues > 0 ? (double)p->prices.of[pc].slots : 0;
        x->geometry = x->geometry || (p->stats[pc].issues > 0 && asks_geometry(&p->module->code[pc]));
    }
    x->sync_share = warps > 0 ? MIN(sync / warps, 1) : 0;
    x->memory_share = all > 0 ? MIN(memory / all, 1) : 0;
}

/* The busiest slice's share of all updates, by how the buffers may lie: `parts` of them are touched then. */
static double busiest_part(const struct ptx_profile *p, const double parts[SLICE_PLACES])
{
    static const double BY_CHANCE = 3; /* roots of a count, that its being the most adds to it */
    double all = 1;

    for (unsigned q = 0; q < SLICE_PLACES; q++) {
        double most = p->in_one_part[q] - BY_CHANCE * sqrt(p->in_one_part[q]);
        all *= parts[q] > 0 ? MAX(1 / parts[q], most / p->updates) : 0;
    }
    return pow(all, 1.0 / SLICE_PLACES);
}

/* Blocks far apart may read the same bytes (weights, a matrix's other operand), which no sample sees; but
 * nobody touches more of a buffer for the first time than it holds. What was counted above that are hits, if
 * the buffer stays. */
static void spread(const struct ptx_profile *p, const uint32_t grid[3], double scale, struct load *x)
{
    x->dram_read *= x->blocks;
    x->dram_write *= x->blocks;
    x->rewrites *= x->blocks;
    double parts[SLICE_PLACES] = {0}, before = x->dram_read, window = p->probed ? reuse_window(p, grid) : 0;
    for (size_t k = 0; k < p->allocs.n; k++) {
        const struct touched *t = &p->allocs.v[k];
        double size = (double)t->size, stays = cache_resident(p->device, size);
        if (window > 0)
            x->dram_read -= MAX(t->missed * scale - reuse_bytes(p, t, grid, window), 0);
        else
            x->dram_read -= MAX(t->missed * scale - size * (1 - t->hit), 0) * stays;
        x->stored_lines += MIN(t->written_lines * scale, size / LINE_BYTES);
        x->again += MIN(MIN(t->read, t->written) * scale, size) * t->hit;
        for (unsigned q = 0; q < SLICE_PLACES; q++)
            parts[q] += MIN(t->updated_parts[q] * scale, ceil(size / SLICE_BYTES));
        span_end(&p->allocs.v[k].span);
        double at_once = MIN(t->span.lines * LINE_BYTES / MAX(t->span.blocks, 1) * p->concurrent, size);
        double joins = cache_resident(p->device, at_once);
        x->dram_write -= MAX(t->written * scale - size, 0) * joins * (1 - t->hit);
        if (t->written * scale > AGAIN * size)
            x->rewrites += t->written_lines * scale * t->scattered / MAX(t->placed, 1) * (1 - joins) *
                           (1 - t->hit) * (t->stored < SECTOR_BYTES * t->stored_sectors ? PARTIAL : 1);
    }
    x->busiest_part = busiest_part(p, parts);
    x->dram_read = MAX(x->dram_read, 0);
    x->dram_write = MAX(x->dram_write, 0);
    double miss = before > 0 ? x->dram_read / before : 1;
    /* What others have brought to the L2 is waited for no longer than that. */
    double lines = MIN(x->dram_lines / MAX(x->l2_loads, 1), 1) * p->dram_cycles;
    x->cycles *= 1 - x->memory_share * lines / (p->model->l2_cycles + lines) * (1 - miss);
    /* The loads that blocks begin with come to DRAM together, among what the blocks before them stored; many
     * blocks on an SM do not begin together. */
    double dirty =
        MIN(2 * x->dram_write / MAX(x->dram_read + x->dram_write, 1), 1) * miss * lines / p->dram_cycles;
    dirty *= MIN(2 / x->resident, 1);
    double more = MIN(x->memory_share * x->cycles, AMONG_STORES_NS * 1e-3 * p->device->sm_clock_mhz) * dirty;
    x->cycles += more;
    x->first_cycles += more;
    x->dram_lines *= x->blocks * miss;
}

/* The sample ends with the last block, so what it touched spans what the launch touches; a sample of one block
 * does not. */
static void remember(struct ptx_cache *c, const struct ptx_profile *p, double scale)
{
    double before = c->clock;
    c->used = true;
    for (size_t k = 0; k < p->allocs.n; k++) {
        const struct touched *t = &p->allocs.v[k];
        double bytes = MIN(t->lines * LINE_BYTES * scale, (double)t->size);
        struct footprint *f = cache_footprint(c, t->addr);
        uint64_t end = MAX(t->end, t->first + (uint64_t)(bytes / LINE_BYTES));
        bool joins = f->end > f->first && cache_resident(c->device, before - f->clock) > 0.5;
        f->first = joins ? MIN(f->first, t->first) : t->first;
        f->end = joins ? MAX(f->end, end) : end;
        f->clock = before;
        c->clock += bytes;
    }
}

/* ---- the launch ---- */

static const struct func *entry_of(const struct ptx_module *m, const char *name)
{
    for (size_t k = 0; k < m->n_funcs; k++)
        if (m->funcs[k].is_entry && str_eq(m->funcs[k].name, name))
            return &m->funcs[k];
    return NULL;
}

/* Shared memory comes out of the L1: the driver gives the SM what its resident blocks need. */
static double l1_left(const struct cost_model *m, double shared_bytes, double resident)
{
    return MAX(m->l1_bytes - (shared_bytes + 1024) * resident, 0);
}

/* Of the rest, what is stored and sets that fill unevenly leave about three quarters (fitted: rows that are
 * read again and again). */
static double l1_share(const struct cost_model *m, double shared_bytes, double resident)
{
    return MAX(0.75 * l1_left(m, shared_bytes, resident) / resident, 4.0 * LINE_BYTES);
}

/* What was counted over more blocks than the sample has. A launch that needs more or less counts as so many
 * blocks of the sampled kind, and the block that needs most is one of the slowest of the first wave; of blocks
 * that wait for each other the order decides which that is. */
static void correct(const struct ptx_profile *p, const struct ptx_work *w, struct load *x, struct ptx_time *t)
{
    double most = 1;

    for (size_t k = 0; k < p->samples.n; k++)
        most = MAX(most, (double)p->samples.v[k].insns);
    double mean = MAX((double)insns_of(p), 1) / (double)p->samples.n;
    t->work_ratio = w->mean / mean;
    t->slowest_ratio = t->extrapolated ? 1 : w->most / most;
    if (t->slowest_ratio > LIGHT)
        x->first_cycles = MAX(x->first_cycles, x->cycles) * t->slowest_ratio;
    bool less =
        t->work_ratio < 1 / LIGHT && (double)p->n_blocks > p->concurrent; /* else the slowest is the launch */
    if (t->work_ratio > LIGHT || less)
        x->blocks *= t->work_ratio;
    t->light = t->slowest_ratio > LIGHT_MOST || t->work_ratio > LIGHT;
}

/* SMs that clusters can be on: each lies within one GPC, and what is left of one takes none. */
static double cluster_sms(const struct ptx_device *d, double blocks, double room)
{
    double clusters = 0;

    if (blocks <= 1 || !d->gpc_sms[0])
        return d->sm_count;
    for (size_t k = 0; k < ARRAY_LEN(d->gpc_sms); k++)
        clusters += floor(d->gpc_sms[k] * room / blocks);
    return clusters > 0 ? clusters * blocks / room : d->sm_count;
}

static void launch_load(const struct ptx_profile *p, const struct run *r, struct ptx_cache *cache,
                        bool extrapolated, double all_blocks, struct ptx_time *t)
{
    struct load x = {.blocks = all_blocks, .resident = p->resident, .sms = r->sms, .cold = !cache->used};
    x.warps = ceil((double)r->launch.block[0] * r->launch.block[1] * r->launch.block[2] / 32);
    const struct ptx_work *w = r->options.work;
    t->extrapolated = extrapolated;
    averages(p, &x);
    /* Of blocks that wait for each other only all of them say what they need. */
    if (w && w->known && (!extrapolated || w->blocks == w->of))
        correct(p, w, &x, t);
    double scale = x.blocks / (double)p->samples.n;
    spread(p, r->launch.grid, scale, &x);
    x.local = local_l2_bytes(p, r->resources, r->entry);
    x.hottest = MAX(p->hottest * scale, p->hottest_near);
    combine(p->device, p->model, &x, t);
    remember(cache, p, scale);
    t->sampled_blocks = p->samples.n;
    t->blocks = (uint64_t)all_blocks;
}

bool ptx_time_launch(const struct ptx_timed *on, const struct ptx_launch *l, struct ptx_time *t,
                     struct ptx_report *report, struct err *err)
{
    struct ptx_module *m = on->module;
    const struct ptx_options *o = on->options;
    const struct func *entry = entry_of(m, l->kernel);
    if (!entry)
        return err_input(err, "the module has no kernel %s", l->kernel);
    *t = (struct ptx_time){0};
    struct ptx_profile p;
    struct run r = {.module = m,
                    .mem = on->mem,
                    .launch = *l,
                    .options = *o,
                    .report = report,
                    .resources = on->resources,
                    .entry = entry};
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    uint32_t registers = on->resources ? on->resources->registers : o->registers;
    uint32_t shared = l->shared_bytes + entry->shared_bytes;
    r.n_blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    bool named = l->cluster[0] || l->cluster[1] || l->cluster[2];
    for (int k = 0; k < 3; k++)
        r.cluster[k] = MAX(named ? l->cluster[k] : entry->info.req_cluster[k], 1u);
    profile_open(&p, m, o->device, on->cache);
    prices_make(&p.prices, m, o->device, p.model, entry, on->resources, on->arena);
    double room = MAX(ptx_occupancy(o->device, registers, shared, threads), 1);
    double sms = r.sms = cluster_sms(o->device, (double)r.cluster[0] * r.cluster[1] * r.cluster[2], room);
    double resident = MIN(room, ceil((double)r.n_blocks / sms));
    p.n_blocks = r.n_blocks;
    p.concurrent = MIN((double)r.n_blocks, resident * sms);
    p.l1_bytes = l1_share(p.model, shared, resident);
    p.sm_bytes = p.l1_bytes * resident;
    double lines_of_warp = l1_left(p.model, shared, resident) / LINE_BYTES / (resident * ceil(threads / 32.0));
    p.keeps = 0.5 * lines_of_warp;
    p.loses = 1.5 * lines_of_warp + 1;
    p.resident = resident;
    p.frames = on->resources ? on->resources->stack_bytes * 32.0 * ceil(threads / 32.0) : 0;
    p.blocks_an_sm = MAX((double)r.n_blocks / sms, 1);
    memset(r.options.observers, 0, sizeof(r.options.observers));
    r.options.observers[0] = &p.observer;
    r.options.blocks = NULL;
    struct ptx_queue counters = {0};
    r.options.queue = &counters;

    bool done = false, ok = on->waits || take_sample(&r, &p, &done, err);
    bool queue = ok && !on->waits && r.n_blocks > 1 && !l->cooperative &&
                 (done ? p.takes_again : report->end == PTX_HUNG);
    if (queue) {
        bool was_done = done;
        ok = take_turns(&r, &p, &done, err);
        queue = done;
        if (ok && !done && was_done) { /* it is no queue */
            sample_forget(&p);
            ok = take_sample(&r, &p, &done, err);
        }
    }
    bool all = p.samples.n == r.n_blocks || queue;
    /* The grid's barrier is an atomic whose result is branched on, but a sample may pass it (engine.c). */
    bool smaller =
        ok && !queue &&
        (on->waits || report->end == PTX_HUNG || (done && p.result_branches && !all && !l->cooperative));
    if (smaller)
        ok = take_smaller(&r, &p, &done, err);
    struct ptx_work counted = {0};
    if (ok && done && !o->work && !smaller && !all && !l->cooperative && differ_by(&p, DIFFER)) {
        struct ptx_options plain = *o;
        memset(plain.observers, 0, sizeof(plain.observers));
        ok = ptx_count_launch(m, on->mem, l, &plain, COUNT_INSNS, &counted, err);
        r.options.work = &counted;
    }
    double scale = (double)r.n_blocks / (double)MAX(p.samples.n, (size_t)1);
    if (ok && done && p.samples.n) {
        launch_load(&p, &r, on->cache, smaller || queue || (l->cooperative && !all), (double)r.n_blocks, t);
        t->light = t->light && o->work; /* nobody is held to what the clock has counted itself */
        t->occupancy = resident * ceil(threads / 32.0) * 32 / o->device->max_threads_per_sm;
        t->flops = profile_flops(&p, scale);
        profile_lines(&p, scale, on->arena, t);
    }
    profile_close(&p);
    return ok;
}

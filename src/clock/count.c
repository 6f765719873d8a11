/* The work of a launch, counted: blocks run without a clock, at a fraction of its cost. The clock's sample of
 * some 50,000 warp instructions is held to it. */
#include "cost_model.h"

enum {
    FEWEST = 4,          /* the growth of a batch, too */
    MARK_MOST = 1 << 26, /* blocks of a grid, or clusters, of which it is noted which ran */
};

struct count {
    struct ptx_module *module;
    struct ptx_mem *mem;
    const struct ptx_launch *launch;
    struct ptx_options options;
    struct ptx_work *work;
    uint32_t cluster[3];
    uint64_t n;            /* clusters; without these, blocks */
    uint8_t *marks;        /* which ran; NULL: there are too many */
    VEC(uint64_t) batch;   /* block ids */
    double ends, n_ends;   /* instructions and number of the first and the last block, which are no draw, */
    double drawn, n_drawn; /* and of the others */
    double spent;
    bool over; /* beyond the limit, or at an end that says nothing */
};

static void add(struct count *c, uint64_t k)
{
    if (c->marks) {
        if (c->marks[k / 8] >> k % 8 & 1)
            return;
        c->marks[k / 8] |= (uint8_t)(1 << k % 8);
    }
    vec_push(&c->batch, block_of_cluster(c->launch->grid, c->cluster, k, 0));
}

/* all: the whole grid in its own order. */
static bool run_batch(struct count *c, double limit, bool all, bool ends, struct err *err)
{
    struct ptx_report r = {0};
    bool ok;

    if (!all && !c->batch.n)
        return true;
    c->options.blocks = all ? NULL : c->batch.v;
    c->options.n_blocks = all ? 0 : c->batch.n;
    c->options.max_warp_insns = (uint64_t)limit;
    ok = ptx_run(c->module, c->mem, c->launch, &c->options, &r, err);
    /* A block that does not end within the limit needs that much at least. */
    bool beyond = ok && r.end == PTX_HUNG && r.n_findings && r.findings[0].kind == PTX_LOOP;
    c->over |= ok && r.end != PTX_DONE;
    c->work->known &= ok && (r.end == PTX_DONE || (beyond && !all));
    *(ends ? &c->ends : &c->drawn) += (double)r.warp_insns;
    *(ends ? &c->n_ends : &c->n_drawn) += (double)(r.blocks + beyond);
    c->work->most = MAX(c->work->most, (double)r.most_block_insns);
    c->spent += (double)r.warp_insns;
    c->work->blocks += r.blocks;
    c->batch.n = 0;
    ptx_report_clear(&r);
    return ok;
}

/* One of each of `want` equal parts of what lies between the first and the last. */
static void draw(struct count *c, uint64_t want, uint64_t seed)
{
    uint64_t inner = c->n - 2;

    for (uint64_t k = 0; k < want; k++) {
        uint64_t from = k * inner / want, to = (k + 1) * inner / want;
        add(c, 1 + from + rng_hash(seed, k) % MAX(to - from, (uint64_t)1));
    }
}

/* The first and the last, then batches that grow, each over the whole grid: no batch costs much more than what
 * those before it say. */
static bool count_drawn(struct count *c, double max_insns, struct err *err)
{
    uint64_t seed = c->options.sample_seed;
    double left, each;

    add(c, 0);
    if (c->n > 1)
        add(c, c->n - 1);
    if (!run_batch(c, max_insns, false, true, err))
        return false;
    for (uint64_t want = FEWEST, round = 0; !c->over && c->n > 2; want *= FEWEST, round++) {
        left = max_insns - c->spent;
        each = MAX(c->spent / MAX((double)c->work->blocks, 1), 1) * (double)c->work->of / (double)c->n;
        if (left < each)
            break;
        bool rest = c->marks && (double)c->n * each <= max_insns;
        if (rest)
            for (uint64_t k = 1; k + 1 < c->n; k++)
                add(c, k);
        else
            draw(c, MIN((uint64_t)MIN((double)want, left / each) + 1, c->n - 2), rng_hash(seed, round));
        if (!run_batch(c, FEWEST * max_insns, false, false, err))
            return false;
        if (rest || c->work->blocks >= c->work->of)
            break;
    }
    return true;
}

bool ptx_count_launch(struct ptx_module *m, struct ptx_mem *mem, const struct ptx_launch *l,
                      const struct ptx_options *o, double max_insns, struct ptx_work *w, struct err *err)
{
    const struct ptx_kernel_info *info = ptx_module_kernel(m, l->kernel);
    bool named = l->cluster[0] || l->cluster[1] || l->cluster[2], ok;
    struct count c = {.module = m, .mem = mem, .launch = l, .options = *o, .work = w};
    double each = 1;

    if (!info)
        return err_input(err, "the module has no kernel %s", l->kernel);
    *w = (struct ptx_work){
        .of = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], .known = true, .whole = w->whole};
    for (int k = 0; k < 3; k++) {
        c.cluster[k] = MAX(named ? l->cluster[k] : info->req_cluster[k], 1u);
        each *= c.cluster[k];
    }
    c.n = MAX(w->of / (uint64_t)each, (uint64_t)1);
    if (c.n <= MARK_MOST)
        c.marks = mem_zalloc(c.n / 8 + 1);
    ok = w->whole || l->cooperative ? run_batch(&c, FEWEST * max_insns, true, false, err)
                                    : count_drawn(&c, max_insns, err);
    double others = (double)w->of - c.n_ends, mean = c.n_drawn > 0 ? c.drawn / c.n_drawn : 0;
    w->mean = (c.ends + (others > 0 ? others * mean : 0)) / MAX((double)w->of, 1);
    w->known &= ok && w->blocks > 0 && (c.n_drawn > 0 || others <= 0);
    free(c.marks);
    vec_free(&c.batch);
    return ok;
}

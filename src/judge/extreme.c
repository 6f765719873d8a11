/* The largest shapes of the domain, and the workloads, most of which are larger than the suite's cases:
 * planned, and a few blocks of each launch run. That shows launches which no device takes, indices that outgrow
 * their type, accesses far outside, and blocks that do not come to the whole of an output; a whole run would
 * take hours. Only what is certain counts: a block that takes too long, or needs what other blocks do, says
 * nothing.
 */
#include "probe.h"

enum {
    LONG_INSNS = 2000000,  /* of a launch's last block, where it will then have ended, */
    LONG_TOTAL = 6000000,  /* of all shapes together */
    WORK_INSNS = 1000000,  /* of a block of a workload, or of a shape that was sought, */
    WORK_TOTAL = 4000000,  /* while its blocks have not run more than this together */
    SOUGHT_INSNS = 400000, /* to find blocks that work, where those at the usual places do not: */
    NEAR_SOUGHT = 64,      /* such blocks from where the original's first one is, */
    FIRST_SOUGHT = 64,     /* at the grid's beginning, */
    ENDS = 5 * 5 * 5,      /* at the ends and in the middle of each extent, */
    DRAWN_SOUGHT = 2048,   /* and one in each of so many parts of it; a power of two */
    MORE_INSNS = 400000,   /* to see what most blocks write, where the usual ones do not come to the whole, */
    MORE_BLOCKS = 48,      /* from so many of them */
};

#define ENOUGH   0.9  /* of an output */
#define TOO_FEW  0.75 /* of it, where that is an estimate, */
#define SURENESS 3    /* and so many standard deviations of it are on the way */

enum { SOME_BLOCKS = 4 };

static size_t some_blocks(uint64_t n, uint64_t blocks[SOME_BLOCKS])
{
    const uint64_t wanted[] = {0, n / 3, n / 2, n - 1};
    size_t k = 0;

    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        if (k == 0 || wanted[i] > blocks[k - 1])
            blocks[k++] = wanted[i];
    return k;
}

static bool anything_read(const struct judge *j, const struct stage *s)
{
    size_t inputs = 0;

    for (size_t i = 0; i < j->task->n_args; i++) {
        int64_t size;
        if (j->task->args[i].role != ROLE_IN && j->task->args[i].role != ROLE_INOUT)
            continue;
        if (ptx_mem_touched(s->mem, stage_arg(s, i, &size)))
            return true;
        inputs++;
    }
    return inputs == 0;
}

/* ---- how much ---- */

struct tally { /* of an output, by the blocks of one launch: bytes */
    double first, last, least, most, sum, squares;
    size_t n;
    struct stretch {
        uint64_t block, from, bytes; /* from: in the output */
    } stretches[SOME_BLOCKS];        /* of the blocks that were looked at first */
    size_t n_stretches;
    bool scattered; /* one of them has written something else as well */
};

static void tally_add(struct tally *t, double bytes)
{
    t->least = t->n ? fmin(t->least, bytes) : bytes;
    t->most = t->n ? fmax(t->most, bytes) : bytes;
    t->sum += bytes;
    t->squares += bytes * bytes;
    t->n++;
}

/* What all blocks write together, and how far that may be off; by those that were run: the last one apart,
 * which has the tail. */
static double tally_all(const struct tally *t, uint64_t blocks, double *error)
{
    double mean = t->n ? t->sum / (double)t->n : 0;
    double variance = t->n > 1 ? fmax(t->squares / (double)t->n - mean * mean, 0) : 0;

    *error = t->n + 1 >= blocks ? 0 : (double)blocks * sqrt(variance / (double)MAX(t->n, (size_t)1));
    return t->n + 1 >= blocks ? t->sum + t->last : mean * (double)(blocks - 1) + t->last;
}

static void note_stretch(const struct probe *p, struct tally *t, uint64_t block, struct stored_range all)
{
    uint64_t from = UINT64_MAX, to = 0;

    if (t->n_stretches == SOME_BLOCKS)
        return;
    for (size_t i = 0; i < p->block.ranges.n; i++) {
        const struct stored_range *r = &p->block.ranges.v[i];
        if (r->from >= all.from && r->to <= all.to) {
            from = MIN(from, r->from);
            to = MAX(to, r->to);
        }
    }
    t->scattered |= to <= from || stored_bytes(&p->block, from, to - from) != to - from;
    t->stretches[t->n_stretches++] = (struct stretch){block, from - all.from, to - MIN(from, to)};
}

static void count_block(const struct probe *p, struct tally *tallies, uint64_t block, bool last)
{
    const struct judge *j = p->stage->judge;

    for (size_t o = 0; o < j->n_outputs; o++) {
        int64_t size;
        uint64_t addr = stage_arg(p->stage, j->outputs[o], &size);
        double bytes = (double)stored_bytes(&p->block, addr, (uint64_t)size);
        note_stretch(p, &tallies[o], block, (struct stored_range){addr, addr + (uint64_t)size});
        if (last)
            tallies[o].last = bytes;
        else
            tally_add(&tallies[o], bytes);
    }
}

/* All but the last write the same, as much as fills the output to its end, and the last one nothing: what it
 * should write is missing. */
static bool end_missing(const struct tally *t, uint64_t blocks, double bytes)
{
    double all = t->most * (double)blocks;

    return t->n >= 2 && t->least == t->most && t->most > 0 && t->last == 0 && all >= bytes &&
           all < bytes + t->most && t->most < bytes;
}

static bool is_doubtful(const struct judge *j, size_t o, const struct tally *t, uint64_t blocks, double bytes,
                        double share)
{
    double error;

    if (t->most == 0 || (j->task->args[j->outputs[o]].role == ROLE_INOUT && t->least != t->most))
        return false;
    return share + tally_all(t, blocks, &error) < ENOUGH * bytes || end_missing(t, blocks, bytes);
}

/* The i-th of more blocks to be counted: each once, where there are not many more; UINT64_MAX: it has been. */
static uint64_t one_more(const struct grid *g, uint64_t i, struct rng *r)
{
    uint64_t counted[SOME_BLOCKS];
    size_t n = some_blocks(g->blocks, counted);

    if (g->blocks > 2 * MORE_BLOCKS)
        return rng_below(r, g->blocks - 1);
    for (size_t k = 0; k < n; k++)
        if (counted[k] == i)
            return UINT64_MAX;
    return i;
}

/* More blocks, here and there, before an output is said to be left out. */
static bool count_more(struct probe *p, const struct grid *g, struct tally *tallies, struct fate *fate,
                       struct err *err)
{
    const struct judge *j = p->stage->judge;
    struct rng r = {rng_mix(j->options.seed ^ 0x6d6f7265)};
    uint64_t before = p->insns, most = g->blocks > 2 * MORE_BLOCKS ? MORE_BLOCKS : g->blocks;
    bool doubt = false, ok = true;

    for (size_t o = 0; o < j->n_outputs; o++) {
        int64_t size;
        stage_arg(p->stage, j->outputs[o], &size);
        doubt |= is_doubtful(j, o, &tallies[o], g->blocks, (double)size, p->share[o]);
    }
    doubt &= g->blocks > 8;
    p->again |= doubt;
    for (uint64_t i = 0; ok && doubt && p->ended && fate_open(fate) && i < most; i++) {
        uint64_t block = one_more(g, i, &r);
        if (block == UINT64_MAX)
            continue;
        ok = probe_block(p, g, block, BLOCK_INSNS, &p->ended, fate, err);
        if (ok && p->ended)
            count_block(p, tallies, block, false);
        doubt = p->insns - before < MORE_INSNS;
    }
    return ok;
}

/* Block after block writes as much behind the one before, from the first byte on, and the last one no more;
 * *end: behind its last byte. */
static bool in_turn(const struct tally *t, uint64_t *end)
{
    const struct stretch *x = t->stretches, *first = x, *last = x;

    if (t->n_stretches < SOME_BLOCKS || t->scattered)
        return false;
    for (size_t i = 1; i < SOME_BLOCKS; i++) {
        first = x[i].block < first->block ? &x[i] : first;
        last = x[i].block > last->block ? &x[i] : last;
    }
    for (size_t i = 0; i < SOME_BLOCKS; i++)
        if (x[i].from != x[i].block * first->bytes ||
            (&x[i] == last ? x[i].bytes > first->bytes : x[i].bytes != first->bytes))
            return false;
    *end = last->from + last->bytes;
    return first->bytes > 0;
}

/* Where they do so, the last must come to the output's end. The first byte that none writes; the size: there is
 * none, or it is not known. */
static uint64_t end_in_turn(const struct tally *t, uint64_t size)
{
    uint64_t end;

    return in_turn(t, &end) ? MIN(end, size) : size;
}

static void sum_up(struct probe *p, const struct grid *g, const struct tally *tallies)
{
    const struct judge *j = p->stage->judge;

    for (size_t o = 0; o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        const struct tally *t = &tallies[o];
        int64_t size;
        uint64_t end;
        double error, all = tally_all(t, g->blocks, &error), least = error ? TOO_FEW : ENOUGH;
        stage_arg(p->stage, j->outputs[o], &size);
        bool last_launch = p->launches == p->most_launches,
             by_chance = arg->role == ROLE_INOUT && t->least != t->most;
        p->share[o] += all + (last_launch ? 0 : SURENESS * error);
        if (p->original && last_launch) {
            p->of->parts[o] = arg->role == ROLE_INOUT;
            p->of->sure[o] = p->share[o] - SURENESS * error;
            p->of->to_end[o] = p->most_launches == 1 && in_turn(t, &end) && end >= (uint64_t)size;
        }
        if (p->few || t->most == 0 || by_chance || !last_launch)
            continue;
        if (p->most_launches == 1 && p->share[o] == all && (p->of->to_end[o] || !p->of->parts[o]) &&
            end_in_turn(t, (uint64_t)size) < (uint64_t)size)
            p->few =
                arena_printf(p->arena,
                             "its %llu blocks write %s from the first byte on, each behind the one before, and "
                             "come to byte %llu of %lld: does an index or a size overflow?",
                             (unsigned long long)g->blocks, arg->name,
                             (unsigned long long)end_in_turn(t, (uint64_t)size), (long long)size);
        else if (p->of->parts[o]) { /* another cut into blocks may make them write the same */
            size = (int64_t)fmin((double)size, p->of->sure[o]);
            least = TOO_FEW;
        } else if (end_missing(t, g->blocks, (double)size) && p->share[o] < (double)size)
            p->few =
                arena_printf(p->arena,
                             "its blocks write %.0f bytes of %s each but for the last of them, which writes "
                             "nothing: does an index or a size overflow?",
                             t->most, arg->name);
        if (!p->few && p->share[o] + SURENESS * error < least * (double)size)
            p->few = arena_printf(
                p->arena,
                "its %llu blocks write %.0f bytes of %s each, which has %lld: does an index or a size "
                "overflow?",
                (unsigned long long)g->blocks, t->sum / (double)t->n, arg->name, (long long)size);
    }
}

/* ---- launches ---- */

/* Would the block that has just been run end within the longer limit? By what it has written of its part. */
static bool ends_later(const struct probe *p, const struct grid *g)
{
    const struct judge *j = p->stage->judge;

    for (size_t o = 0; o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        int64_t size;
        uint64_t addr = stage_arg(p->stage, j->outputs[o], &size);
        double part = (double)size / (double)g->blocks,
               wrote = (double)stored_bytes(&p->block, addr, (uint64_t)size);
        if (wrote > 0 && part / wrote * (double)p->block_insns < LONG_INSNS &&
            (double)size / (double)kernel_type_size(arg->type) > INT32_MAX)
            return true;
    }
    return false;
}

/* What a block of it may run. A long loop of many blocks is a workload's as well, which then has spent enough.
 */
static uint64_t most_insns(const struct probe *p)
{
    return p->of->patient && p->insns < WORK_TOTAL && is_small(p->stage->task, p->of->dims) ? WORK_INSNS
                                                                                            : BLOCK_INSNS;
}

static bool run_long(struct probe *p, const struct grid *g, uint64_t block, bool *ended, struct fate *fate,
                     struct err *err)
{
    bool ok = probe_block(p, g, block, LONG_INSNS, ended, fate, err);

    p->version->long_insns += p->block_insns;
    return ok;
}

/* An index that counts its way through more than 2^31 elements overflows at the end of a long loop only. What
 * works in place cannot run twice to show that it ends: there the block before says it. */
bool probe_block_far(struct probe *p, const struct grid *g, uint64_t block, bool *ended, struct fate *fate,
                     struct err *err)
{
    bool enough = p->version->long_insns < LONG_TOTAL,
         alone = in_place(p->stage->task) && p->most_launches == 1;

    if (alone && enough && p->lasting)
        return run_long(p, g, block, ended, fate, err);
    if (!probe_block(p, g, block, most_insns(p), ended, fate, err))
        return false;
    if (*ended || !fate_open(fate) || !enough || alone || p->atomics || !ends_later(p, g))
        return true;
    p->again = true;
    return run_long(p, g, block, ended, fate, err);
}

/* Of the original's blocks the first that is seen to write. */
static void note_work(struct probe *p, const struct grid *g, uint64_t block)
{
    if (p->original && p->wrote && !p->of->wrote)
        p->of->wrote_at = (double)block / (double)g->blocks;
    if (p->original)
        p->of->wrote = p->wrote;
}

/* The last one first; of what works in place another one before, to see whether it takes longer. */
static bool run_blocks(struct probe *p, const struct grid *g, struct tally *tallies, struct fate *fate,
                       struct err *err)
{
    uint64_t blocks[SOME_BLOCKS];
    size_t n = some_blocks(g->blocks, blocks);
    bool before = n > 1 && p->most_launches == 1 && in_place(p->stage->task);

    for (size_t k = 0; k < n && fate_open(fate); k++) {
        size_t i = before && k < 2 ? n - 2 + k : n - 1 - k;
        bool last = i + 1 == n, ended;
        if (last)
            watch_ends(p);
        if (last ? !probe_block_far(p, g, blocks[i], &ended, fate, err)
                 : !probe_block(p, g, blocks[i], most_insns(p), &ended, fate, err))
            return false;
        note_work(p, g, blocks[i]);
        p->ended &= ended;
        p->version->lasting |= !ended && fate_open(fate);
        p->lasting = !ended && ends_later(p, g);
        if (ended && last && !p->clustered)
            look_for_misread(p);
        p->n_watched = 0;
        if (fate_open(fate) && ended) {
            look_for_sums(p);
            count_block(p, tallies, blocks[i], last);
        } else if (fate_open(fate) && last && p->undefined && !g->first &&
                   !probe_unasked(p, g, blocks[i], &ended, fate, err)) {
            return false;
        }
        if (fate_open(fate) && ended && last && !p->clustered && !look_for_strays(p, g, err))
            return false;
    }
    return true;
}

/* The i-th block to be looked at: those of the part of the grid where the original's works, neighbours of the
 * first, those at the ends of each extent of the grid, then one out of each part of it, from all over the grid.
 */
static uint64_t sought_block(const struct probe *p, const struct grid *g, unsigned i)
{
    enum { STEP = 1237 };
    const uint32_t *e = g->launch->grid;
    uint64_t at[3], part, from, to;

    if (i < NEAR_SOUGHT)
        return MIN((uint64_t)(p->of->wrote_at * (double)g->blocks) + i, g->blocks - 1);
    i -= NEAR_SOUGHT;
    if (i < FIRST_SOUGHT)
        return MIN(i + 1, g->blocks - 1);
    i -= FIRST_SOUGHT;
    for (unsigned d = 0, k = i; i < ENDS && d < 3; d++, k /= 5)
        at[d] = ((uint64_t[]){0, 1, e[d] / 2, e[d] - 2, e[d] - 1})[k % 5] % e[d];
    if (i < ENDS)
        return (at[2] * e[1] + at[1]) * e[0] + at[0];
    part = (uint64_t)(i - ENDS) * STEP % DRAWN_SOUGHT;
    from = (uint64_t)((unsigned __int128)g->blocks * part / DRAWN_SOUGHT);
    to = (uint64_t)((unsigned __int128)g->blocks * (part + 1) / DRAWN_SOUGHT);
    return from + (to > from ? rng_hash(p->stage->judge->options.seed, part) % (to - from) : 0);
}

/* Where the usual blocks do nothing, others may have to. What ends at once costs next to nothing. */
static bool seek_work(struct probe *p, const struct grid *g, struct fate *fate, struct err *err)
{
    uint64_t before = p->insns;
    bool ended;

    for (unsigned i = p->of->wrote_at > 0 && !p->original ? 0 : NEAR_SOUGHT;
         i < NEAR_SOUGHT + FIRST_SOUGHT + ENDS + DRAWN_SOUGHT && fate_open(fate); i++) {
        bool works = p->busy || p->wrote || p->most_launches > 1;
        if ((works && anything_read(p->stage->judge, p->stage)) || p->insns - before > SOUGHT_INSNS)
            break;
        p->again = true;
        if (!probe_block(p, g, sought_block(p, g, i), BLOCK_INSNS, &ended, fate, err))
            return false;
        note_work(p, g, sought_block(p, g, i));
    }
    return true;
}

static bool launch(void *context, const struct plan_step *step, const struct ptx_launch *l,
                   const struct image_kernel *k, struct fate *fate, struct err *err)
{
    struct probe *p = context;
    const struct ptx_kernel_info *about = ptx_module_kernel(p->version->module, l->kernel);
    const struct grid g = {l, k, (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], p->launches++ == 0};
    struct tally tallies[MAX_ARGS] = {0};

    (void)step;
    p->clustered |= l->cluster[0] * l->cluster[1] * l->cluster[2] > 1 || about->req_cluster[0] > 1;
    p->updated = p->atomics || (!g.first && !p->ended);
    stored_join(&p->earlier, &p->others);
    stored_clear(&p->others);
    if (!run_blocks(p, &g, tallies, fate, err))
        return false;
    if (fate_open(fate) && g.first && g.blocks > 4 && !seek_work(p, &g, fate, err))
        return false;
    if (fate_open(fate) && p->ended && !p->clustered && !p->atomics && p->launches == p->most_launches &&
        !count_more(p, &g, tallies, fate, err))
        return false;
    sum_up(p, &g, tallies);
    return true;
}

/* Bytes from where a step sets or copies to the end of that buffer; 0: not known. */
static uint64_t left_behind(const struct stage *s, const struct kernel_value *to)
{
    int32_t buffer = to->p.buffer, workspace = -2 - buffer;
    uint64_t bytes = 0;

    if (buffer >= 0 && (size_t)buffer < s->n_buffers)
        bytes = (uint64_t)s->bytes[buffer];
    else if (workspace >= 0 && (size_t)workspace < s->n_workspaces)
        bytes = s->workspaces[workspace].bytes;
    return (uint64_t)to->p.offset_bytes < bytes ? bytes - (uint64_t)to->p.offset_bytes : 0;
}

/* A size that has lost what is above its 32 bits: just that is missing to the buffer's end. */
static void look_for_cut(struct probe *p, const struct plan_step *step)
{
    uint64_t all = left_behind(p->stage, &step->to), size = (uint64_t)step->size_bytes;

    if (size > 0 && all > size && (all - size) % ((uint64_t)1 << 32) == 0)
        p->cut = arena_printf(
            p->arena, "line %d sets or copies %llu bytes where there are %llu: a size of 32 bits overflows",
            step->line, (unsigned long long)size, (unsigned long long)all);
}

/* Each element of what is updated in place follows what was there before, in the original. */
static bool follows_itself(const struct judge *j, size_t output)
{
    size_t arg = j->outputs[output], size = kernel_type_size(j->task->args[arg].type), n = 0;
    const struct case_data *before = &j->data[j->first_input];

    for (size_t i = j->first_input; i < j->n_cases; i++) {
        const struct case_data *after = &j->data[i];
        if (j->cases[i].changed != arg + 1 || j->unsimulated)
            continue;
        for (size_t at = 0; at < (size_t)before->elements[arg] * size; at += size) {
            if (!memcmp(before->inputs[arg] + at, after->inputs[arg] + at, size))
                continue;
            if (!memcmp(before->outputs[SIDE_SIM][output].original + at,
                        after->outputs[SIDE_SIM][output].original + at, size))
                return false;
            n++;
        }
    }
    return n > 0;
}

/* A set ahead of all launches loses what the original adds to, whatever a flag of the task says. */
static void look_for_loss(struct probe *p, const struct plan_step *step, size_t output)
{
    const struct judge *j = p->stage->judge;
    const struct task_arg *arg = &j->task->args[j->outputs[output]];
    bool flags = false;

    for (size_t i = 0; i < j->task->n_args; i++)
        flags |= task_is_flag(&j->task->args[i]);
    if (step->kind == PLAN_MEMSET && arg->role == ROLE_INOUT && !p->launches && !p->copied && !flags &&
        step->size_bytes >= (int64_t)kernel_type_size(arg->type) && follows_itself(j, output))
        p->cut = arena_printf(
            p->arena, "line %d sets %s before anything has read it, and each element follows what was there",
            step->line, arg->name);
}

/* What is set or copied is written. */
static void move(void *context, const struct plan_step *step, double bytes)
{
    struct probe *p = context;
    const struct judge *j = p->stage->judge;
    int32_t buffer = 0;

    look_for_cut(p, step);
    for (size_t i = 0, o = 0; i < j->task->n_args; i++) {
        bool output = o < j->n_outputs && j->outputs[o] == i;
        if (output && step->to.p.buffer == buffer) {
            p->share[o] += step->kind == PLAN_COPY ? bytes / 2 : bytes;
            look_for_loss(p, step, o);
        }
        o += output;
        buffer += j->task->args[i].role != ROLE_SCALAR;
    }
    p->copied |= step->kind == PLAN_COPY;
}

/* A few blocks' values are those that the plan leaves: nothing else of the plan writes what they use or leave.
 * A second launch may, where all that it finds is what a block of the first has left. A cluster runs whole: in
 * place it may have run for two of its blocks. */
static bool is_final(const struct probe *p, const struct plan *plan)
{
    if (in_place(p->stage->task))
        return plan->n_steps == 1 && !p->again && !p->clustered;
    return plan->n_steps == 1 ||
           (!p->atomics && (p->launches == 1 || (p->launches == 2 && plan->n_steps == 2)));
}

static bool conclude(struct probe *p, const struct plan *plan, struct extreme *x, bool original,
                     struct fate *fate, struct err *err)
{
    const struct judge *j = p->stage->judge;
    const char *where = task_dims_text(p->arena, j->task, x->dims), *words = NULL;
    bool stray, sure = true;

    /* What is read may say that there is nothing to do, as for the original. */
    if (p->launches == 1 && !p->busy && !p->wrote && j->n_outputs && (x->wrote || !anything_read(j, p->stage)))
        words =
            "all blocks that were looked at end at once and write nothing: does an index or a size overflow?";
    else if (p->launches == 1 && p->ended && !anything_read(j, p->stage))
        words = "all blocks that were looked at read nothing of the inputs: does an index or a size overflow?";
    if (words) {
        fate_isf(fate, p->arena, VERDICT_WRONG, 0, "%s (%s)", words, where);
        return true;
    }
    for (size_t o = 0; o < j->n_outputs && !p->clustered && !words; o++)
        words = p->end_written[o] ? NULL : p->strayed[o];
    if (!words)
        words = p->misread;
    stray = words;
    if (!words)
        words = p->cut;
    if (!words && p->ended && !p->clustered && !p->atomics)
        words = p->few;
    /* Of one launch, each block that ended tells what it has left. */
    bool told = (p->ended || (plan->n_steps == 1 && p->others.ranges.n)) && !words && is_final(p, plan);
    if (original) {
        x->odd = words;
        x->stray = p->stray;
        x->told = told;
        if (told)
            keep_pieces(p, x);
        memcpy(x->adds, p->adds, sizeof(x->adds));
        if (told)
            ran_join(p->version, p->ran);
    } else if (words && !x->odd) {
        if (stray && !strays_again(p, x, &sure, err))
            return false;
        if (sure)
            fate_isf(fate, p->arena, VERDICT_WRONG, 0, "%s (%s)", words, where);
    } else if (told && x->told) {
        compare_pieces(p, x, fate);
        x->compared = p->ended && !p->atomics; /* a share of a sum is no answer */
        if (p->ended)
            ran_join(p->version, p->ran);
    }
    if (original || !told || plan->n_steps != 1 || !fate_open(fate))
        return true;
    return compare_far(p, x, fate, err);
}

bool verify_extreme(struct judge *j, struct version *v, struct arena *a, struct extreme *x, bool original,
                    struct fate *fate, struct err *err)
{
    struct stage stage;
    struct probe probe = {
        .of = x, .original = original, .version = v, .stage = &stage, .arena = a, .ended = true};
    const struct stage_visitor visitor = {.context = &probe, .launch = launch, .move = move};
    struct plan plan;
    bool ok = true;

    judge_doing(j, arena_printf(a, "in case %s", task_dims_text(a, j->task, x->dims)));
    if (!probe_open(&stage, v, a, x->dims, &plan, fate, err))
        return false;
    if (fate_open(fate))
        ok = grid_verify(v, a, x->dims, &plan, fate, err);
    if (!ok || !fate_open(fate) || !can_be_probed(&stage, &plan)) {
        stage_close(&stage);
        return ok;
    }
    for (size_t i = 0; i < plan.n_steps; i++)
        probe.most_launches += plan.steps[i].kind == PLAN_LAUNCH;
    probe.ran = ran_aside(v, a);
    ok = stage_run(&stage, v, &plan, &visitor, a, fate, err);
    if (ok && fate_open(fate))
        ok = conclude(&probe, &plan, x, original, fate, err);
    v->shared_out |= probe.atomics || probe.most_launches > 1;
    probe_close(&probe);
    stage_close(&stage);
    return ok;
}

bool verify_extremes(struct judge *j, struct version *v, struct arena *a, struct fate *fate, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && fate_open(fate) && i < j->n_extremes; i++)
        ok = verify_extreme(j, v, a, &j->extremes[i], false, fate, err);
    return ok;
}

bool verify_extreme_shape(struct judge *j, struct version *v, struct arena *a, const int64_t *dims,
                          struct fate *fate, struct err *err)
{
    struct extreme x = {.dims = dims, .patient = true};
    struct fate original = {0};
    bool ok = verify_extreme(j, &j->baseline, a, &x, true, &original, err) &&
              (!fate_open(&original) || verify_extreme(j, v, a, &x, false, fate, err));

    drop_pieces(j, &x);
    if (ok && fate_open(&original) && fate_open(fate) && !x.compared && v->long_insns < LONG_TOTAL)
        ok = reads_verify(j, v, a, dims, fate, err);
    return ok;
}

/* Where the original itself fails, candidates may. */
bool verify_prepare_extremes(struct judge *j, struct version *original, struct err *err)
{
    const int64_t **shapes;
    size_t n;

    task_extremes(j->task, j->arena, &shapes, &n);
    j->extremes = arena_array(j->arena, struct extreme, n + j->task->n_workloads);
    for (size_t i = 0; i < n + j->task->n_workloads; i++) {
        struct extreme x = {.dims = i < n ? shapes[i] : j->task->workloads + (i - n) * j->task->n_dims,
                            .patient = i >= n};
        struct fate fate = {0};
        if (!verify_extreme(j, original, j->arena, &x, true, &fate, err))
            return false;
        if (fate_open(&fate))
            j->extremes[j->n_extremes++] = x;
    }
    return true;
}

void extremes_close(struct judge *j)
{
    for (size_t i = 0; i < j->n_extremes; i++)
        drop_pieces(j, &j->extremes[i]);
}

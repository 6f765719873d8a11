/* What the compiler made of a kernel: how often each machine instruction runs, and how long a loop's turn
 * lasts.
 *
 * The simulator executes PTX. Source lines and loops tie the two together: a loop's machine code is found by
 * its lines, and what cannot be merged or made up (accesses to global memory, barriers, shuffles, arithmetic)
 * says how many turns of the PTX it holds. A turn then needs so many issue slots and so much of each pipe as
 * its machine code over its turns. The compiler's schedule, which is in the instructions, says what such a turn
 * waits for, and in which order: docs/simulator.md. */
#include "ptx/lane/matrix.h"
#include "cost_model.h"

enum {
    SASS_EXIT = 0x94d,
    SASS_RET = 0x950,
    SASS_BSSY = 0x945,
    SASS_LDS = 0x184,
    SASS_BAR = 0x11d,
    FORMS = 0x1ff,
    NO_COUNTER = 7
};
#define LEAST_OF_TABLE 0.2f /* of the table's instructions the machine has at least so many */

/* Kinds of instructions by which turns are counted, the best first. */
enum { BY_MEMORY, BY_EXCHANGE, BY_FLOAT, N_BY };

struct cell { /* of one line in one loop */
    float slots, by[N_BY], pipe[N_PIPES];
    float shared; /* loads from shared memory */
    float splits; /* of the machine code: branches forward whose lanes come together again */
};

struct side { /* PTX or machine code */
    struct flow flow;
    uint16_t *loop_of;
    const bool *outer; /* by loop: others lie in it */
    size_t loops;
    struct cell *cells; /* by loop and line */
};

struct match {   /* of a loop in PTX */
    size_t loop; /* the machine loop that runs most of its turns; 0: straight code */
    float turns; /* of the PTX that it holds; 0: none was found */
};

struct pairing {
    const struct prices *prices;
    const struct cost_model *model;
    const struct ptx_machine *code;
    size_t n_lines;
    struct side ptx, sass;
    struct match *matches; /* by loop in PTX */
};

static struct cell *cell(const struct pairing *x, const struct side *s, size_t loop, size_t line)
{
    return &s->cells[loop * x->n_lines + line];
}

/* ---- the two sides ---- */

static void side_open(struct side *s, size_t n, struct arena *a)
{
    int32_t *jump = arena_array(a, int32_t, n + 1);
    bool *falls = arena_array(a, bool, n + 1);

    for (size_t k = 0; k < n; k++) {
        jump[k] = -1;
        falls[k] = true;
    }
    s->flow = (struct flow){.n = n, .jump = jump, .falls = falls};
    s->loop_of = arena_array(a, uint16_t, n + 1);
}

static int ptx_class(const struct insn *i)
{
    switch ((enum price_kind)op_table[i->op].price) {
    case PRICE_LOAD:
    case PRICE_STORE:
    case PRICE_ATOMIC:
    case PRICE_REDUCE:
        return i->space == SPACE_GLOBAL || i->space == SPACE_GENERIC ? BY_MEMORY : -1;
    case PRICE_SHUFFLE:
    case PRICE_BARRIER:
    case PRICE_REDUX:
    case PRICE_PRODUCT:
    case PRICE_SFU:
    case PRICE_RCP:
    case PRICE_SQRT:
    case PRICE_SINE:
    case PRICE_TANH:
        return i->type == TYPE_F64 ? -1 : BY_EXCHANGE;
    case PRICE_DIVIDE: /* by the divisor's reciprocal, which of a constant is known */
        if (i->opnds[2].is_imm)
            return i->type == TYPE_F32 ? BY_FLOAT : -1;
        return type_bytes[i->type] == 4 ? BY_EXCHANGE : -1;
    case PRICE_ADD:
    case PRICE_MULTIPLY:
        return i->type == TYPE_F32 ? BY_FLOAT : -1;
    default:
        return -1;
    }
}

static bool is_shared_load(const struct insn *i)
{
    return op_table[i->op].price == PRICE_LOAD && i->space == SPACE_SHARED;
}

/* Machine instructions that one of PTX is at least: products of m16n16k16 of f16 are two of m16n8k16, an exact
 * division by a constant is four products. */
static float ptx_count(const struct insn *i)
{
    if (op_table[i->op].price == PRICE_DIVIDE && i->opnds[2].is_imm)
        return insn_has(i, MOD_approx) || insn_has(i, MOD_full) ? 1 : 4;
    if (op_table[i->op].price != PRICE_PRODUCT || !matrix_known(i))
        return 1;
    float bits = (float)matrix_bits(mma_type(i, 1)), products = (float)i->shape.m * i->shape.n * i->shape.k;
    return MAX(products * bits / (2048 * 16), 1);
}

static int sass_class(uint16_t opcode)
{
    switch (opcode & FORMS) {
    case 0x181: /* LDG, STG, LD, ST, ATOMG, REDG, RED */
    case 0x186:
    case 0x180:
    case 0x185:
    case 0x1a8:
    case 0x1a6:
    case 0x18e:
        return BY_MEMORY;
    case 0x189: /* SHFL, BAR, REDUX, HMMA, MUFU */
    case 0x11d:
    case 0x1c4:
    case 0x03c:
    case 0x108:
        return BY_EXCHANGE;
    case 0x020: /* FMUL, FADD, FFMA */
    case 0x021:
    case 0x023:
        return BY_FLOAT;
    default:
        return -1;
    }
}

/* The pipe of plain arithmetic; N_PIPES: another one, which the table knows better, or none. */
static enum pipe sass_pipe(uint16_t opcode)
{
    switch (opcode & FORMS) {
    case 0x020:
    case 0x021:
    case 0x023:
        return PIPE_FP32;
    case 0x024: /* IMAD, IMAD.WIDE, IMAD.HI, IDP */
    case 0x025:
    case 0x027:
    case 0x026:
        return PIPE_MUL;
    case 0x030: /* HADD2, HFMA2, HMUL2 */
    case 0x031:
    case 0x032:
    case 0x035:
        return PIPE_FP16;
    case 0x002: /* MOV, SEL, FSEL, FMNMX, FSETP, ISETP, IADD3, LEA, LOP3, IABS, PRMT, SHF, VIMNMX, */
    case 0x007: /* VIADDMNMX, PLOP3, P2R; HSETP2, F2FP, HMNMX2, I2FP (issue.csv, pairs) */
    case 0x008:
    case 0x009:
    case 0x00b:
    case 0x00c:
    case 0x010:
    case 0x011:
    case 0x012:
    case 0x013:
    case 0x016:
    case 0x019:
    case 0x034:
    case 0x03e:
    case 0x040:
    case 0x045:
    case 0x046:
    case 0x048:
    case 0x01c:
    case 0x003:
        return (opcode & 0xff) >= 0x80 ? N_PIPES : PIPE_ALU; /* the others belong to the whole warp */
    default:
        return N_PIPES;
    }
}

static double pipe_cycles(const struct cost_model *m, uint16_t opcode, enum pipe p)
{
    switch (p) {
    case PIPE_FP32:
        return 32 / m->lanes_fp32;
    case PIPE_MUL: /* a wide product takes two passes */
        return 32 / m->lanes_mul * ((opcode & FORMS) == 0x024 || (opcode & FORMS) == 0x026 ? 1 : 2);
    case PIPE_FP16:
        return 32 / m->lanes_fp16;
    default:
        return 32 / m->lanes_alu;
    }
}

static void read_ptx(struct pairing *x, const struct ptx_module *m, const struct func *entry,
                     const uint32_t *line_id, struct arena *a)
{
    size_t n = entry->end - entry->first;
    int32_t *jump;
    bool *falls;

    side_open(&x->ptx, n, a);
    jump = (int32_t *)x->ptx.flow.jump;
    falls = (bool *)x->ptx.flow.falls;
    for (size_t k = 0; k < n; k++) {
        const struct insn *i = &m->code[entry->first + k];
        bool ends = i->op == OP_bra || i->op == OP_ret || i->op == OP_exit;
        if (i->op == OP_bra && i->imm >= (int64_t)entry->first && i->imm < (int64_t)entry->end)
            jump[k] = (int32_t)(i->imm - (int64_t)entry->first);
        falls[k] = !ends || i->guard;
    }
    x->ptx.loops = flow_loops(&x->ptx.flow, x->ptx.loop_of, &x->ptx.outer, a);
    x->ptx.cells = arena_array(a, struct cell, x->ptx.loops * x->n_lines);
    for (size_t k = 0; k < n; k++) {
        const struct insn *i = &m->code[entry->first + k];
        const struct price *price = &x->prices->of[entry->first + k];
        struct cell *c = cell(x, &x->ptx, x->ptx.loop_of[k], line_id[price->line]);
        int by = ptx_class(i);
        c->slots += price_inline_slots(i, price->slots);
        if (by >= 0)
            c->by[by] += ptx_count(i);
        c->shared += is_shared_load(i);
    }
}

static void read_sass(struct pairing *x, size_t n, const uint32_t *line_id, int last_line, struct arena *a)
{
    int32_t *jump;
    bool *falls, together = false;

    side_open(&x->sass, n, a);
    jump = (int32_t *)x->sass.flow.jump;
    falls = (bool *)x->sass.flow.falls;
    for (size_t k = 0; k < n; k++) {
        const struct ptx_machine *i = &x->code[k];
        bool ends = i->jump >= 0 || i->opcode == SASS_EXIT || i->opcode == SASS_RET;
        jump[k] = i->jump;
        falls[k] = !ends || !i->always;
    }
    x->sass.loops = flow_loops(&x->sass.flow, x->sass.loop_of, &x->sass.outer, a);
    x->sass.cells = arena_array(a, struct cell, x->sass.loops * x->n_lines);
    for (size_t k = 0; k < n; k++) {
        const struct ptx_machine *i = &x->code[k];
        enum pipe pipe = sass_pipe(i->opcode);
        int by = sass_class(i->opcode);
        if (i->line < 0 || i->jump == (int)k)
            continue;
        struct cell *c = cell(x, &x->sass, x->sass.loop_of[k], i->line <= last_line ? line_id[i->line] : 0);
        c->slots++;
        c->shared += (i->opcode & FORMS) == SASS_LDS;
        together = together || i->opcode == SASS_BSSY; /* whose line is that of what was before */
        if (together && i->jump > (int)k) {
            c->splits++;
            together = false;
        }
        if (pipe < N_PIPES)
            c->pipe[pipe] += (float)pipe_cycles(x->model, i->opcode, pipe);
        if (by >= 0)
            c->by[by]++;
    }
}

/* ---- which loop is which ---- */

/* What a loop in PTX and a machine loop have of the former's lines. */
static void sum_lines(const struct pairing *x, size_t ptx_loop, size_t sass_loop, struct cell *want,
                      struct cell *have)
{
    *want = *have = (struct cell){0};
    for (size_t l = 1; l < x->n_lines; l++) {
        const struct cell *p = cell(x, &x->ptx, ptx_loop, l), *s = cell(x, &x->sass, sass_loop, l);
        if (p->slots <= 0)
            continue;
        want->slots += p->slots;
        have->slots += s->slots;
        for (int k = 0; k < N_BY; k++) {
            want->by[k] += p->by[k];
            have->by[k] += s->by[k];
        }
    }
}

static float count_turns(const struct pairing *x, size_t ptx_loop, size_t sass_loop)
{
    struct cell have, want;

    sum_lines(x, ptx_loop, sass_loop, &want, &have);
    float turns = want.slots > 0 ? have.slots / want.slots : 0;
    for (int k = 0; k < N_BY; k++)
        if (want.by[k] > 0) /* one access of a loop's lines, many times over, is not the loop */
            return MIN(have.by[k] / want.by[k], turns / LEAST_OF_TABLE);
    /* Nothing that must be there: the machine has up to three times less, of one turn. */
    return turns > 0.33f ? MAX(turns, 1) : turns;
}

/* Turns of a loop in PTX that a machine loop holds, by what both have of the loop's lines. The compiler makes
 * copies of innermost loops only. */
static float turns_in(const struct pairing *x, size_t ptx_loop, size_t sass_loop)
{
    float turns = count_turns(x, ptx_loop, sass_loop);

    return sass_loop > 0 && x->sass.outer[sass_loop] ? MIN(turns, 1) : turns;
}

static float weight_of(const struct pairing *x, size_t ptx_loop)
{
    float sum = 0;

    for (size_t l = 0; l < x->n_lines; l++)
        sum += cell(x, &x->ptx, ptx_loop, l)->slots;
    return sum;
}

static bool share_lines(const struct pairing *x, size_t p, size_t q)
{
    for (size_t l = 1; l < x->n_lines; l++)
        if (cell(x, &x->ptx, p, l)->slots > 0 && cell(x, &x->ptx, q, l)->slots > 0)
            return true;
    return false;
}

/* Has a loop of the same lines, a longer one, taken this machine loop? */
static bool is_taken(const struct pairing *x, const uint8_t *done, size_t p, size_t s)
{
    for (size_t q = 1; q < x->ptx.loops; q++)
        if (done[q] && x->matches[q].turns > 0 && x->matches[q].loop == s && share_lines(x, p, q))
            return true;
    return false;
}

/* Of a loop that the compiler wrote twice, for what a question that stays the same is answered with, the longer
 * one has what both need. */
static bool is_nearer(const struct pairing *x, size_t p, const struct match *than, size_t s, float turns)
{
    struct cell want, own, other;

    if (than->turns <= 0 || turns > 1.1f * than->turns)
        return true;
    if (turns <= 0.9f * than->turns || x->sass.outer[s] != x->sass.outer[than->loop])
        return false;
    sum_lines(x, p, s, &want, &own);
    sum_lines(x, p, than->loop, &want, &other);
    return own.slots > other.slots;
}

/* Loops that both compilers made out of one have the same lines: the longer in PTX is the longer in the machine
 * code, too. A loop around others is one in the machine code, unless these were written out. */
static void pair_loop(struct pairing *x, const uint8_t *done, size_t p)
{
    struct match best = {0}, free = {0}, around = {0}, joined = {0};

    for (size_t s = 1; s < x->sass.loops; s++) {
        float turns = turns_in(x, p, s);
        if (x->ptx.outer[p] && x->sass.outer[s] && turns > MAX(around.turns, 0.25f) && !is_taken(x, done, p, s))
            around = (struct match){s, turns};
        if (!x->ptx.outer[p] && turns > MAX(joined.turns, 0.4f) && !is_taken(x, done, p, s))
            joined = (struct match){s, turns};
        if (turns > 0.75f && is_nearer(x, p, &best, s, turns))
            best = (struct match){s, turns};
        if (turns > 0.75f && is_nearer(x, p, &free, s, turns) && !is_taken(x, done, p, s))
            free = (struct match){s, turns};
    }
    float straight = turns_in(x, p, 0);
    x->matches[p] = free.turns > 0 ? free : best;
    if (around.turns > 0)
        x->matches[p] = (struct match){around.loop, 1};
    else if (best.turns <= 0 && straight >= 0.75f)
        x->matches[p] = (struct match){0, straight};
    else if (best.turns <= 0 && joined.turns > 0) /* what two branches do alike is there once */
        x->matches[p] = (struct match){joined.loop, 1};
}

static void pair_loops(struct pairing *x)
{
    uint8_t *done = mem_zalloc(x->ptx.loops);

    for (size_t n = 1; n < x->ptx.loops; n++) {
        size_t next = 0;
        for (size_t p = 1; p < x->ptx.loops; p++) {
            bool inner = next == 0 || x->ptx.outer[next] > x->ptx.outer[p];
            bool longer =
                next > 0 && x->ptx.outer[next] == x->ptx.outer[p] && weight_of(x, p) > weight_of(x, next);
            if (!done[p] && (inner || longer))
                next = p;
        }
        pair_loop(x, done, next);
        done[next] = 1;
    }
    x->matches[0] = (struct match){0, 1};
    free(done);
}

/* ---- slots and pipes ---- */

/* A line's machine instructions in a machine loop may belong to several loops in PTX. */
static float share_of(const struct pairing *x, size_t p, size_t line)
{
    float all = 0, own = cell(x, &x->ptx, p, line)->slots;

    for (size_t q = 0; q < x->ptx.loops; q++)
        if (x->matches[q].turns > 0 && x->matches[q].loop == x->matches[p].loop)
            all += cell(x, &x->ptx, q, line)->slots * x->matches[q].turns;
    return all > 0 ? own * x->matches[p].turns / all : 0;
}

/* What a machine loop has of lines of no loop in PTX that it runs: shared among those. */
static void loop_totals(const struct pairing *x, size_t p, struct cell *total)
{
    const struct match *m = &x->matches[p];
    float known = 0, rest = 0;

    *total = (struct cell){0};
    for (size_t l = 0; l < x->n_lines; l++) {
        const struct cell *s = cell(x, &x->sass, m->loop, l);
        float share = share_of(x, p, l), any = 0;
        for (size_t q = 0; q < x->ptx.loops && l > 0; q++)
            if (x->matches[q].turns > 0 && x->matches[q].loop == m->loop)
                any += cell(x, &x->ptx, q, l)->slots;
        total->slots += s->slots * share / m->turns;
        total->shared += s->shared * share / m->turns;
        for (int k = 0; k < N_PIPES; k++)
            total->pipe[k] += s->pipe[k] * share / m->turns;
        known += any > 0 ? s->slots : 0;
        rest += any > 0 ? 0 : s->slots;
    }
    float more = known > 0 ? 1 + rest / known : 1;
    total->slots *= more;
    for (int k = 0; k < N_PIPES; k++)
        total->pipe[k] *= more;
}

static void apply_slots(struct pairing *x, struct prices *p, const struct ptx_module *m,
                        const struct func *entry, const uint32_t *line_id)
{
    size_t n = entry->end - entry->first;

    for (size_t loop = 0; loop < x->ptx.loops; loop++) {
        const struct match *match = &x->matches[loop];
        struct cell total;
        float scaled = 0, inner = 0, shared = 0;
        if (match->turns <= 0)
            continue;
        loop_totals(x, loop, &total);
        for (size_t l = 0; l < x->n_lines; l++)
            shared += cell(x, &x->ptx, loop, l)->shared;
        for (size_t k = 0; k < n; k++) {
            struct price *price = &p->of[entry->first + k];
            size_t l = line_id[price->line];
            if (x->ptx.loop_of[k] != loop)
                continue;
            float expected = cell(x, &x->ptx, loop, l)->slots * match->turns;
            float real = cell(x, &x->sass, match->loop, l)->slots * share_of(x, loop, l);
            float factor = expected > 0 && l > 0 ? CLAMP(real / expected, 0.25f, 4.0f) : 1;
            scaled += price_inline_slots(&m->code[entry->first + k], price->slots) * factor;
            price->slots *= factor;
            inner += price->slots;
        }
        float again = scaled > 0 ? CLAMP(total.slots / scaled, 0.5f, 2.0f) : 1;
        for (size_t k = 0; k < n; k++)
            if (x->ptx.loop_of[k] == loop) {
                p->of[entry->first + k].slots *= again;
                p->of[entry->first + k].group = (uint16_t)(loop + 1);
                if (shared > 0 && total.shared > 0 && is_shared_load(&m->code[entry->first + k]))
                    p->of[entry->first + k].merged = CLAMP(total.shared / shared, 0.25f, 1.0f);
            }
        for (int q = 0; q < N_PIPES; q++)
            p->groups[loop + 1].pipe[q] = inner > 0 ? total.pipe[q] / (inner * again) : 0;
    }
}

/* Clocks of a branch whose lanes the machine code brings together again (BSSY, BSYNC), beside the branch's own;
 * one that all pass by takes 3 clocks less than one that is taken, one whose lanes come apart 18 more
 * (branches.csv, one warp). */
static const float TOGETHER = 16, PASSED_BY = 10, APART = 18;

/* Of a line's branches in a loop in PTX, those that skip more than this one does. */
static float wider(const struct pairing *x, const struct prices *p, const struct func *entry, size_t k)
{
    const int32_t *jump = x->ptx.flow.jump, own = jump[k] - (int32_t)k;
    float n = 0;

    for (size_t q = 0; q < entry->end - entry->first; q++) {
        const int32_t skips = jump[q] - (int32_t)q;
        if (skips > 0 && x->ptx.loop_of[q] == x->ptx.loop_of[k] &&
            p->of[entry->first + q].line == p->of[entry->first + k].line)
            n += skips > own || (skips == own && q > k);
    }
    return n;
}

/* What of the branches of PTX is one in the machine code, too, and no predicate: of a line's those that skip
 * most. */
static void apply_branches(struct pairing *x, struct prices *p, const struct func *entry,
                           const uint32_t *line_id)
{
    for (size_t k = 0; k < entry->end - entry->first; k++) {
        struct price *price = &p->of[entry->first + k];
        size_t loop = x->ptx.loop_of[k], line = line_id[price->line];
        const struct match *match = &x->matches[loop];
        if (x->ptx.flow.jump[k] <= (int32_t)k || match->turns <= 0 || line == 0)
            continue;
        float theirs = cell(x, &x->sass, match->loop, line)->splits * share_of(x, loop, line) / match->turns;
        if (theirs <= 0)
            continue;
        float joined = CLAMP(theirs - wider(x, p, entry, k), 0, 1);
        if (!price->ends_block && joined > 0.5f) {
            price->ends_block = true;
            price->latency = PASSED_BY;
        }
        if (price->ends_block) {
            price->latency += TOGETHER * joined;
            price->apart = APART * joined;
        }
    }
}

/* ---- how long a turn lasts ---- */

static float latency_of(const struct cost_model *m, uint16_t opcode, float memory)
{
    switch (opcode & FORMS) {
    case 0x181:
    case 0x180:
    case 0x1a8:
        return memory;
    case 0x184: /* LDS, LDSM, ATOMS */
    case 0x03b:
    case 0x18c:
        return (float)m->shared_cycles;
    case 0x183: /* LDL */
        return (float)m->l1_cycles;
    case 0x189:
    case 0x1c4:
        return (float)m->shuffle_cycles;
    case 0x108: /* MUFU, conversions */
    case 0x104:
    case 0x105:
    case 0x106:
    case 0x111:
    case 0x112:
        return (float)m->sfu_cycles;
    default:
        return (float)(2 * m->alu_cycles);
    }
}

/* Clocks of one pass through a loop's machine code, one warp alone, in the order in which it stands there, at
 * least. */
static float pass_cycles(const struct pairing *x, size_t loop, float memory)
{
    float t = 0, before = 0, ready[8] = {0};

    for (int pass = 0; pass < 4; pass++) {
        before = t;
        for (size_t k = 0; k < x->sass.flow.n; k++) {
            const struct ptx_machine *i = &x->code[k];
            if (x->sass.loop_of[k] != loop || i->line < 0)
                continue;
            for (unsigned q = 0; q < 6; q++)
                if (i->waits >> q & 1)
                    t = MAX(t, ready[q]);
            if (i->sets < NO_COUNTER)
                ready[i->sets] = MAX(ready[i->sets], t + latency_of(x->model, i->opcode, memory));
            if (i->frees < NO_COUNTER)
                ready[i->frees] = MAX(ready[i->frees], t + (float)(2 * x->model->alu_cycles));
            t += MAX(i->stall, 1);
            if (i->jump > (int)k && x->sass.loop_of[i->jump] == loop)
                k = (size_t)i->jump - 1; /* not all turns run what can be jumped over */
        }
    }
    return t - before;
}

/* Steps of the machine code from first to last that lies in a loop; 0: in none. */
static struct replay make_replay(const struct pairing *x, size_t first, size_t last, size_t loop, bool jumps,
                                 struct arena *a)
{
    size_t n = 1;
    for (size_t k = first; k < last; k++)
        n += x->sass.loop_of[k] == loop ? 2 : 0;
    struct replay_step *steps = arena_array(a, struct replay_step, n);
    struct replay r = {.steps = steps};

    for (size_t k = first; k < last; k++) {
        const struct ptx_machine *i = &x->code[k];
        unsigned form = i->opcode & FORMS;
        bool loads = form == 0x181 || form == 0x180;
        if (x->sass.loop_of[k] != loop || i->line < 0)
            continue;
        if (r.n_steps == 0 || i->waits || i->sets < NO_COUNTER || i->frees < NO_COUNTER || loads) {
            float takes = loads ? -1 : latency_of(x->model, i->opcode, (float)x->model->l2_cycles);
            steps[r.n_steps++] = (struct replay_step){.takes = takes, .waits = i->waits, .sets = i->sets};
        }
        if (i->frees < NO_COUNTER)
            steps[r.n_steps++] =
                (struct replay_step){.takes = (float)(2 * x->model->alu_cycles), .sets = i->frees};
        steps[r.n_steps - 1].after += MAX(i->stall, 1);
        r.loads += loads;
        r.stores += form == 0x186 || form == 0x185;
        if (jumps && i->jump > (int)k && (size_t)i->jump < last && x->sass.loop_of[i->jump] == loop)
            k = (size_t)i->jump - 1;
    }
    return r;
}

static void add_form(const struct pairing *x, struct loop_price *l, size_t loop, float turns, struct arena *a)
{
    if (l->n_forms == ARRAY_LEN(l->forms))
        return;
    struct loop_form *f = &l->forms[l->n_forms++];
    f->turns = MAX(1, (unsigned)lroundf(turns));
    for (int k = 0; k < LOOP_POINTS; k++)
        f->cycles[k] = pass_cycles(x, loop, (float)k * LOOP_STEP);
    f->whole = make_replay(x, 0, x->sass.flow.n, loop, false, a);
    f->least = make_replay(x, 0, x->sass.flow.n, loop, true, a);
}

static void apply_turns(struct pairing *x, struct prices *p, const struct func *entry, struct arena *a)
{
    size_t n = entry->end - entry->first;

    for (size_t k = 0; k < n; k++) {
        size_t loop = x->ptx.loop_of[k];
        const struct match *match = &x->matches[loop];
        struct price *price = &p->of[entry->first + k];
        int32_t head = x->ptx.flow.jump[k];
        if (head < 0 || (size_t)head > k || loop == 0 || x->ptx.loop_of[head] != loop || match->turns <= 0)
            continue;
        float turns = MIN(match->turns, 64);
        price->unroll = turns >= 1.5f ? (uint8_t)lroundf(turns) : 0;
        struct loop_price *l = &p->loops[loop];
        if (l->n_forms || match->loop == 0)
            continue;
        p->of[entry->first + (size_t)head].head = (uint16_t)loop;
        price->back = (uint16_t)loop;
        add_form(x, l, match->loop, turns, a);
        for (float most = turns; l->n_forms;) { /* the shorter forms, which run what is left */
            size_t next = 0;
            float held = 0;
            for (size_t s = 1; s < x->sass.loops; s++) {
                float has = turns_in(x, loop, s);
                if (has < 0.7f * most && has >= 0.75f && has > held) {
                    held = has;
                    next = s;
                }
            }
            if (!next)
                break;
            add_form(x, l, next, held, a);
            most = held;
        }
    }
}

/* ---- straight code ---- */

struct stretch { /* of straight code, up to what ends it: a barrier, loops, or the code's end */
    size_t first, last;
    char end;
};

static char end_of(size_t loop, bool is_barrier)
{
    if (loop)
        return 'l';
    return is_barrier ? 'b' : 0;
}

/* ends: by instruction, b at a barrier, l in a loop, 0 in straight code. */
static size_t find_stretches(const char *ends, size_t n, struct stretch *list)
{
    size_t count = 0, first = 0;

    for (size_t k = 0; k <= n; k++) {
        char end = k < n ? ends[k] : 'e';
        if (!end)
            continue;
        bool goes_on = end == 'l' && count > 0 && list[count - 1].end == 'l' && first == k;
        if (!goes_on)
            list[count++] = (struct stretch){first, k, end};
        first = k + 1;
    }
    return count;
}

/* Straight code between the same barriers and loops is the same code, counted from the front and from the back.
 */
static void apply_sections(struct pairing *x, struct prices *p, const struct func *entry, struct arena *a)
{
    size_t n = x->ptx.flow.n, m = x->sass.flow.n;
    char *ends = arena_array(a, char, n + 1), *sass_ends = arena_array(a, char, m + 1);
    struct stretch *ours = arena_array(a, struct stretch, n + 1),
                   *theirs = arena_array(a, struct stretch, m + 1);

    while (m > 0 && x->code[m - 1].line < 0) /* routines stand behind */
        m--;
    for (size_t k = 0; k < n; k++)
        ends[k] = end_of(x->ptx.loop_of[k], p->of[entry->first + k].is_barrier);
    for (size_t k = 0; k < m; k++)
        sass_ends[k] = end_of(x->sass.loop_of[k], (x->code[k].opcode & FORMS) == SASS_BAR);
    size_t n_ours = find_stretches(ends, n, ours), n_theirs = find_stretches(sass_ends, m, theirs), front = 0;
    p->sections = arena_array(a, struct section, n_ours + 1);
    while (front < MIN(n_ours, n_theirs) && ours[front].end == theirs[front].end)
        front++;
    for (size_t k = 0; k < n_ours && k < UINT16_MAX - 1u; k++) {
        const struct stretch *s = k < front ? &theirs[k] : NULL;
        bool back = !s && n_ours - k <= n_theirs;
        for (size_t q = 0; back && q <= n_ours - k; q++) /* what ends the one before, too */
            back = q > MIN(n_ours, n_theirs) - 1 || ours[n_ours - 1 - q].end == theirs[n_theirs - 1 - q].end;
        if (back)
            s = &theirs[n_theirs - (n_ours - k)];
        if (!s)
            continue;
        p->sections[k + 1] = (struct section){make_replay(x, s->first, s->last, 0, false, a),
                                              (unsigned)(ours[k].last - ours[k].first)};
        for (size_t at = ours[k].first; at < ours[k].last; at++)
            p->of[entry->first + at].section = (uint16_t)(k + 1);
    }
}

/* ---- together ---- */

bool machine_apply(struct prices *p, const struct ptx_module *m, const struct cost_model *model,
                   const struct func *entry, const struct ptx_resources *res, struct arena *a)
{
    int last = 0;
    struct pairing x = {.prices = p, .model = model, .code = res->code};

    if (!res->n_code || entry->end <= entry->first)
        return false;
    for (uint32_t pc = entry->first; pc < entry->end; pc++)
        last = MAX(last, p->of[pc].line);
    uint32_t *line_id = arena_array(a, uint32_t, (size_t)last + 1);
    x.n_lines = 1;
    for (uint32_t pc = entry->first; pc < entry->end; pc++)
        if (p->of[pc].line > 0 && !line_id[p->of[pc].line])
            line_id[p->of[pc].line] = (uint32_t)x.n_lines++;
    read_ptx(&x, m, entry, line_id, a);
    read_sass(&x, res->n_code, line_id, last, a);
    x.matches = arena_array(a, struct match, x.ptx.loops);
    pair_loops(&x);
    p->groups = arena_array(a, struct group_price, x.ptx.loops + 1);
    p->loops = arena_array(a, struct loop_price, x.ptx.loops);
    apply_slots(&x, p, m, entry, line_id);
    apply_branches(&x, p, entry, line_id);
    apply_turns(&x, p, entry, a);
    apply_sections(&x, p, entry, a);
    return true;
}

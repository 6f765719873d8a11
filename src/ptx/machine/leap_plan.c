/* Which registers of a loop grow evenly, by its instructions: a turn seen in the order of the text, with the
 * states of paths joined where they meet. Registers that the loop carries from turn to turn are taken to be
 * linear until a turn ends with something else in them. There is no plan, and so no leap, where the middle of
 * the loop may matter to its course: ways out of it, waits for others, a comparison that hangs on anything
 * else, or addresses that mix what would be set with what stays as it is. */
#include "leap.h"

enum {
    CODE = 1024, /* instructions of a loop at most */
    PASSES = 48,
};

enum {
    MOVES = 1,   /* from turn to turn, evenly where OTHER is not set */
    STAYS = 2,   /* hangs on what the loop carries on otherwise, which no leap sets */
    OTHER = 4,   /* no linear function of what moves */
    COUNTS = 8,  /* an addition made it */
    CHOSEN = 16, /* exact: it is what moves, or what stays, and the same of them in every turn; */
    REAL = 32,   /* a floating number that moves; */
    FOUND = 64,  /* what an addition found, and nobody reads; */
    KNOWN = 128, /* leap.c computes it anew, as what moves */
};

struct value { /* of a register's place */
    uint32_t
        by; /* pc behind the instruction that wrote it last; 0: it is as at the turn's beginning; MET + pc */
    uint16_t flags, bytes;
};
#define MET ((uint32_t)1 << 31) /* paths that wrote it, or did not, have met there */

struct turn {
    const struct ptx_module *module;
    bool exact;        /* below */
    uint16_t *writers; /* of each register, in the loop */
    bool *early;       /* it is read before it is written */
    bool *dull;        /* more than sums are made of what it holds: it has to stay */
    uint8_t *linear;   /* instructions that make what moves */
    const struct insn *code;
    uint32_t first, last; /* the branch */
    uint16_t *head;       /* flags at the beginning */
    struct value *now;
    struct value **at, **before; /* what comes to an instruction by branches, and came by those backward in the
                                    pass before; NULL: nothing */
    bool *inner;                 /* somebody comes back there */
    bool reached, good;
};

static bool is_integer(enum type t)
{
    return t == TYPE_B32 || t == TYPE_B64 || t == TYPE_U32 || t == TYPE_U64 || t == TYPE_S32 || t == TYPE_S64;
}

static bool all_integers(const struct insn *i)
{
    for (unsigned k = 0; k < i->n_types; k++)
        if (!is_integer(i->types[k]))
            return false;
    return i->n_types > 0;
}

static bool is_register(const struct opnd *o)
{
    return (o->kind == OPND_REG || o->kind == OPND_ADDR) && !o->is_imm;
}

static uint16_t flags_of(const struct turn *t, const struct opnd *o)
{
    uint16_t flags = is_register(o) ? t->now[o->slot].flags : 0;

    for (unsigned e = 0; o->kind == OPND_VEC && e < o->n; e++)
        flags |= flags_of(t, &o->vec[e]) | OTHER;
    return flags;
}

static uint16_t guard_flags(const struct turn *t, const struct insn *i)
{
    return i->guard ? t->now[t->module->file_bytes / 64 + i->guard / 4].flags : 0;
}

/* Of one turn to the next: is what it writes linear where its sources are? */
static bool keeps_linear(const struct turn *t, const struct insn *i)
{
    const bool plain = all_integers(i) && !insn_has(i, MOD_sat) && !insn_has(i, MOD_cc) && !insn_has(i, MOD_hi);

    switch (i->op) {
    case OP_mov:
    case OP_cvta:
        return i->n_types > 0 && i->opnds[0].kind == OPND_REG;
    case OP_add:
    case OP_sub:
    case OP_neg:
    case OP_cvt:
        return plain;
    case OP_mul:
    case OP_mad:
        return plain && !(flags_of(t, &i->opnds[1]) & flags_of(t, &i->opnds[2]) & MOVES);
    case OP_shl:
        return plain && !(flags_of(t, &i->opnds[2]) & ~KNOWN);
    default:
        return false;
    }
}

/* ---- exact plans ----
 * Over memory that holds one number everywhere a turn may change nothing but what moves. There is a plan where
 * all that moves is added up, multiplied, compared and taken for an address, and nothing else: what else the
 * turn computes is then the same in every turn in which the comparisons come out as before, if it is so in
 * one. So registers are of two kinds, without STAYS: those that move, and those that are seen to stay. One that
 * is chosen from both stays if it does so from turn to turn, which nothing but a turn's end shows. Floating
 * numbers may move as well, where nothing is made of them but sums with what is known: leap.c sees for how many
 * turns these round nothing. And a turn may add to integers in shared memory, if it asks that for nothing. */

static void mixes(struct turn *t)
{
    t->good = false;
}

/* What moves, what is computed anew beside it, and what is at a turn's end where it was left: leap.c knows
 * these at any time. A place may be several registers'. */
static bool is_known(const struct turn *t, const struct opnd *o)
{
    if (!is_register(o) || flags_of(t, o) & (MOVES | KNOWN) || !t->writers[o->slot])
        return true;
    const uint32_t by = t->now[o->slot].by;
    return t->writers[o->slot] == 1 && by && !(by & MET) && t->linear[by - 1 - t->first] == LEAP_OTHER;
}

static bool reads_known(const struct turn *t, const struct insn *i)
{
    bool known = true;

    for (unsigned k = 0; k < i->n_opnds && known; k++)
        known = insn_writes(i, k) || i->opnds[k].bytes == 0 || is_known(t, &i->opnds[k]);
    return known;
}

static void note_early(struct turn *t, const struct opnd *o)
{
    if (is_register(o))
        t->early[o->slot] |= !t->now[o->slot].by;
    for (unsigned e = 0; o->kind == OPND_VEC && e < o->n; e++)
        note_early(t, &o->vec[e]);
}

static uint16_t read_flags(const struct turn *t, const struct insn *i)
{
    uint16_t flags = 0;

    for (unsigned k = 0; k < i->n_opnds; k++)
        if (!insn_writes(i, k) && i->opnds[k].kind != OPND_ADDR)
            flags |= flags_of(t, &i->opnds[k]) &
                     (i->opnds[k].kind == OPND_VEC ? MOVES | CHOSEN : MOVES | CHOSEN | OTHER);
    return flags;
}

/* What moves is compared with what moves or stays, evenly: leap.c knows for how many turns it comes out alike.
 */
static bool compares_evenly(const struct turn *t, const struct insn *i)
{
    return i->op == OP_setp && all_integers(i) && !(read_flags(t, i) & (OTHER | CHOSEN)) && reads_known(t, i);
}

/* Of what is chosen nothing else is made. */
static bool chooses(const struct turn *t, const struct insn *i)
{
    const uint16_t flags = read_flags(t, i);

    return !(flags & OTHER) && (i->op == OP_selp || (i->op == OP_mov && (flags & CHOSEN)));
}

/* Of what is written in some turns, or on one of two paths. */
static uint16_t chosen(uint16_t flags)
{
    const bool moves = flags & (MOVES | CHOSEN);

    return flags & OTHER ? MOVES | OTHER : moves * CHOSEN;
}

bool leap_adds(const struct insn *i)
{
    return (i->op == OP_red || (i->op == OP_atom && i->opnds[0].unread)) && insn_has(i, MOD_add) &&
           !insn_has(i, MOD_async) && i->space == SPACE_SHARED && i->vec <= 1 && all_integers(i) &&
           (i->bytes == 4 || i->bytes == 8);
}

static bool sums_reals(const struct turn *t, const struct insn *i)
{
    static const enum mod other[] = {MOD_rz, MOD_rm, MOD_rp, MOD_sat};
    bool plain = (i->op == OP_add || i->op == OP_sub) && (i->type == TYPE_F32 || i->type == TYPE_F64);

    for (size_t k = 0; plain && k < ARRAY_LEN(other); k++)
        plain = !insn_has(i, other[k]);
    return plain && !(flags_of(t, &i->opnds[1]) & flags_of(t, &i->opnds[2]) & MOVES);
}

/* Of a moving one another is made, or the same. Where it is something else, neither may move. */
static bool keeps_real(struct turn *t, const struct insn *i)
{
    const uint16_t flags = read_flags(t, i);
    bool kept = (i->op == OP_mov || sums_reals(t, i)) && !(flags & (OTHER | CHOSEN)) && !i->guard &&
                i->opnds[0].kind == OPND_REG && reads_known(t, i);

    for (unsigned k = 0; k < i->n_opnds && kept; k++)
        kept = !is_register(&i->opnds[k]) || !t->dull[i->opnds[k].slot];
    for (unsigned k = 0; k < i->n_opnds && !kept; k++)
        if (!insn_writes(i, k) && is_register(&i->opnds[k]))
            t->dull[i->opnds[k].slot] |= (flags_of(t, &i->opnds[k]) & MOVES) != 0;
    return kept;
}

/* Memory is loaded from and stored to, and no other is seen to change. */
static bool is_plain(const struct insn *i)
{
    switch (op_table[i->op].unit) {
    case UNIT_ALU:
    case UNIT_FMA:
    case UNIT_FP64:
    case UNIT_SFU:
    case UNIT_CVT:
    case UNIT_SHFL:
        return true;
    default:
        return i->op == OP_bra || i->op == OP_ld || i->op == OP_st || i->op == OP_mma || leap_adds(i);
    }
}

static uint16_t exact_result(struct turn *t, const struct insn *i)
{
    const bool adds = i->op == OP_add || i->op == OP_sub || i->op == OP_mad;
    const uint16_t flags = read_flags(t, i);
    bool moves = false, real = sums_reals(t, i);

    for (unsigned k = 0; k < i->n_opnds; k++)
        if (!insn_writes(i, k) || i->guard)
            note_early(t, &i->opnds[k]);
    for (unsigned k = 0; k < i->n_opnds; k++)
        if (i->opnds[k].kind == OPND_ADDR) {
            uint16_t where = flags_of(t, &i->opnds[k]);
            moves |= where & MOVES;
            if (where & (OTHER | CHOSEN))
                mixes(t);
        } else if (!insn_writes(i, k)) {
            real |= flags_of(t, &i->opnds[k]) & REAL;
        }
    if (!is_plain(i) || (moves && i->op != OP_ld && i->op != OP_st) ||
        (i->op == OP_st && !moves && (flags & (MOVES | CHOSEN))) ||
        (leap_adds(i) && (flags & (MOVES | CHOSEN | OTHER))))
        mixes(t);
    if (leap_adds(i))
        return FOUND;
    if (i->op == OP_st && (flags & (MOVES | CHOSEN)))
        t->linear[i->self - t->first] = LEAP_STORES_LINEAR;
    if (!(flags & (MOVES | CHOSEN)) && is_plain(i) && !i->guard && i->opnds[0].kind == OPND_REG &&
        keeps_linear(t, i) && reads_known(t, i)) {
        t->linear[i->self - t->first] = LEAP_LINEAR;
        return KNOWN;
    }
    if (!(flags & (MOVES | CHOSEN)) || i->op == OP_st || compares_evenly(t, i))
        return 0;
    if (chooses(t, i))
        return CHOSEN;
    if (real && keeps_real(t, i)) {
        t->linear[i->self - t->first] = i->op == OP_mov ? LEAP_LINEAR : LEAP_SUM;
        return MOVES | REAL;
    }
    if (real || (flags & (OTHER | CHOSEN)) || i->guard || !keeps_linear(t, i) || !reads_known(t, i)) {
        mixes(t);
        return MOVES | OTHER;
    }
    t->linear[i->self - t->first] = LEAP_LINEAR;
    return MOVES | (adds ? COUNTS : 0);
}

/* What an instruction leaves in its destinations, but for conditions on the way to it. */
static uint16_t result_of(const struct turn *t, const struct insn *i)
{
    const bool adds = i->op == OP_add || i->op == OP_sub || i->op == OP_mad;
    uint16_t flags = 0;

    if (i->op == OP_ld && (i->space == SPACE_PARAM || i->space == SPACE_CONST) && !flags_of(t, &i->opnds[1]))
        return 0;
    for (unsigned k = 0; k < i->n_opnds; k++) /* where it was loaded from says nothing of a value */
        if (!insn_writes(i, k) && i->opnds[k].kind != OPND_ADDR)
            flags |= flags_of(t, &i->opnds[k]);
    if (i->op != OP_mov && i->op != OP_cvta)
        flags = (uint16_t)((flags & ~COUNTS) | (adds ? COUNTS : 0));
    return keeps_linear(t, i) ? flags : flags | OTHER;
}

/* Of what is written in some turns, or beside something else. */
static uint16_t guarded(const struct turn *t, uint16_t flags)
{
    return t->exact ? chosen(flags) : flags | OTHER;
}

static void write(struct turn *t, const struct insn *i, const struct opnd *o, uint16_t flags)
{
    if (is_register(o))
        t->now[o->slot] = (struct value){i->self + 1, flags, o->bytes};
    for (unsigned e = 0; o->kind == OPND_VEC && e < o->n; e++)
        write(t, i, &o->vec[e], guarded(t, flags));
}

static void join(const struct turn *t, struct value *to, const struct value *from, uint32_t where)
{
    for (uint32_t k = 0; k < t->module->n_slots; k++)
        if (to[k].by != from[k].by) {
            uint16_t flags = to[k].flags | from[k].flags;
            to[k] = (struct value){MET + where, t->exact ? chosen(flags) : flags | OTHER, to[k].bytes};
        }
}

static void come_to(struct turn *t, uint32_t target, bool back)
{
    struct value **to = &t->at[target - t->first];
    size_t bytes = t->module->n_slots * sizeof(**to);

    if (*to) {
        join(t, *to, t->now, target);
    } else {
        *to = mem_alloc(bytes);
        memcpy(*to, t->now, bytes);
    }
    t->inner[target - t->first] |= back;
}

static bool waits(const struct insn *i)
{
    bool reads = i->op == OP_ld || i->op == OP_atom;

    return reads && (insn_has(i, MOD_volatile) || insn_has(i, MOD_acquire) || insn_has(i, MOD_acq_rel) ||
                     insn_has(i, MOD_mmio) || (i->op == OP_ld && insn_has(i, MOD_relaxed)));
}

/* Ways out of the loop, and what is done together with others. */
static bool is_shared_course(const struct turn *t, const struct insn *i)
{
    switch (i->op) {
    case OP_bar:
    case OP_barrier:
    case OP_mbarrier:
    case OP_call:
    case OP_ret:
    case OP_exit:
    case OP_brx:
    case OP_nanosleep:
        return true;
    case OP_bra: /* another way back to the beginning is not followed */
        return i->imm <= t->first || i->imm > t->last;
    default:
        return waits(i);
    }
}

static void step(struct turn *t, const struct insn *i)
{
    const uint16_t guard = guard_flags(t, i);
    uint16_t flags;

    for (unsigned k = 0; k < i->n_opnds && !t->exact; k++)
        if (i->opnds[k].kind == OPND_ADDR && (flags_of(t, &i->opnds[k]) & (MOVES | STAYS)) == (MOVES | STAYS))
            t->good = false;
    if (i->op == OP_bra) {
        come_to(t, (uint32_t)i->imm, i->imm <= i->self);
        t->reached = i->guard;
        return;
    }
    flags = t->exact ? exact_result(t, i) : result_of(t, i);
    for (unsigned k = 0; k < i->n_opnds; k++)
        if (insn_writes(i, k))
            write(t, i, &i->opnds[k], i->guard ? guarded(t, flags | guard | flags_of(t, &i->opnds[k])) : flags);
    if (i->pair)
        write(t, i, i->pair, guarded(t, flags));
}

static void arrive(struct turn *t, const struct value *from, uint32_t pc)
{
    if (from && t->reached)
        join(t, t->now, from, pc);
    else if (from)
        memcpy(t->now, from, t->module->n_slots * sizeof(*from));
    t->reached |= from != NULL;
}

static void forget(struct value **at, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        free(at[k]);
        at[k] = NULL;
    }
}

/* True: what the loop carries, and what inner loops come back with, is as it was taken to be. */
static bool pass(struct turn *t)
{
    const uint32_t slots = t->module->n_slots, n = t->last - t->first + 1;
    struct value **old = t->before;
    bool same = true;

    t->before = t->at;
    t->at = old;
    forget(t->at, n);
    t->reached = t->good = true;
    if (t->exact)
        memset(t->linear, 0, n);
    for (uint32_t k = 0; k < slots; k++)
        t->now[k] = (struct value){.flags = t->head[k]};
    for (uint32_t pc = t->first; pc <= t->last; pc++) {
        arrive(t, t->at[pc - t->first], pc);
        if (t->inner[pc - t->first])
            arrive(t, t->before[pc - t->first], pc);
        if (t->reached && pc < t->last)
            step(t, &t->code[pc]);
    }
    for (uint32_t k = 0; k < slots; k++) {
        const struct value *v = &t->now[k];
        const bool moves = t->exact ? (v->flags & (MOVES | OTHER | CHOSEN)) == MOVES : !(v->flags & OTHER);
        const uint16_t stays = t->exact ? 0 : STAYS | OTHER;
        if (v->by && !moves && t->head[k] != stays) {
            t->head[k] = stays;
            same = false;
        } else if (v->by && moves && (v->flags & REAL & ~t->head[k])) {
            t->head[k] |= REAL;
            same = false;
        } else if (v->by && moves && t->exact && !(t->head[k] & MOVES) && t->early[k]) {
            t->good = false; /* it was taken to stay */
        }
    }
    for (uint32_t k = 0; k < n; k++)
        if (t->inner[k] &&
            (!t->at[k] || !t->before[k] || memcmp(t->at[k], t->before[k], slots * sizeof(**t->at)) != 0))
            same = false;
    return same;
}

static void note_written(struct turn *t, const struct opnd *o)
{
    if (is_register(o)) {
        t->head[o->slot] = MOVES;
        t->writers[o->slot]++;
    }
    for (unsigned e = 0; o->kind == OPND_VEC && e < o->n; e++)
        note_written(t, &o->vec[e]);
}

static bool is_steady(struct turn *t)
{
    bool same = false;

    for (uint32_t pc = t->first; pc < t->last; pc++) {
        for (unsigned k = 0; k < t->code[pc].n_opnds; k++)
            if (insn_writes(&t->code[pc], k))
                note_written(t, &t->code[pc].opnds[k]);
        if (t->code[pc].pair)
            note_written(t, t->code[pc].pair);
    }
    for (unsigned k = 0; k < PASSES && !same; k++)
        same = pass(t);
    return same && t->good && t->reached;
}

/* Instructions between the guard's comparison and the branch may run twice: they change nothing but predicates.
 */
static uint32_t guard_from(const struct turn *t, const struct insn *branch)
{
    const struct insn *code = t->code;
    uint32_t pc = t->last;

    while (pc > t->first && (code[pc - 1].op == OP_setp || (code[pc - 1].type == TYPE_PRED)))
        pc--;
    for (uint32_t k = pc; k < t->last; k++)
        if (code[k].op == OP_setp && code[k].d == branch->guard)
            return pc;
    return 0;
}

/* Does the comparison hang on nothing but what a leap sets, or what the loop leaves alone? */
static bool is_followed(const struct turn *t, uint32_t again, bool *moves)
{
    for (uint32_t pc = again; pc < t->last; pc++) {
        const struct insn *i = &t->code[pc];
        if (i->guard || (pc > again && t->at[pc - t->first]))
            return false;
        for (unsigned k = 0; k < i->n_opnds; k++) {
            const struct opnd *o = &i->opnds[k];
            if (insn_writes(i, k) || !is_register(o))
                continue;
            const struct value *v = &t->now[o->slot];
            if (o->bytes ? v->by && ((v->flags & OTHER) || (o->bytes != 4 && o->bytes != 8))
                         : v->by && (v->by <= again || v->by > pc))
                return false;
            *moves |= o->bytes && (v->flags & MOVES);
        }
    }
    return true;
}

static void note_moves(struct leap_plan *p, const struct insn *i)
{
    bool outside = i->space == SPACE_GLOBAL || i->space == SPACE_GENERIC;

    p->moves[0] |= outside && i->op == OP_ld;
    p->moves[1] |= outside && (i->op == OP_st || i->op == OP_red || i->op == OP_atom);
}

static void keep(struct leap_plan *p, const struct turn *t)
{
    VEC(struct leap_reg) regs = {0};
    VEC(struct leap_still) stills = {0};

    for (uint32_t k = 0; k < t->module->n_slots; k++) {
        const struct value *v = &t->now[k];
        const struct leap_reg r = {.off = t->module->slot_off[k],
                                   .wide = v->bytes == 8,
                                   .counts = v->flags & COUNTS,
                                   .real = v->flags & REAL};
        if (v->by && (v->flags & (OTHER | MOVES)) == MOVES && (v->bytes == 4 || v->bytes == 8))
            vec_push(&regs, r);
        else if (v->by && t->exact && !(v->flags & FOUND))
            vec_push(&stills, ((struct leap_still){t->module->slot_off[k], v->bytes}));
    }
    p->regs = regs.v;
    p->n = regs.n;
    p->stills = stills.v;
    p->n_stills = stills.n;
    if (t->exact)
        p->linear = memcpy(mem_alloc(t->last - t->first), t->linear, t->last - t->first);
}

void leap_plan(struct leap_plan *p, const struct ptx_module *m, const struct insn *branch, bool exact)
{
    struct turn t = {
        .module = m, .exact = exact, .code = m->code, .first = (uint32_t)branch->imm, .last = branch->self};
    bool moves = false, alone = branch->guard && t.last - t.first < CODE, looks = false;
    uint32_t again, n;

    *p = (struct leap_plan){0};
    for (uint32_t pc = t.first; pc < t.last && alone; pc++) {
        note_moves(p, &t.code[pc]);
        alone = !is_shared_course(&t, &t.code[pc]);
        p->adds |= exact && leap_adds(&t.code[pc]);
        looks |= (t.code[pc].op == OP_ld || t.code[pc].op == OP_st) &&
                 (t.code[pc].space == SPACE_SHARED || t.code[pc].space == SPACE_GENERIC);
    }
    alone &= !(p->adds && looks);
    again = alone && !exact ? guard_from(&t, branch) : t.last;
    if (!alone || !again)
        return;
    n = t.last - t.first + 1;
    t.head = mem_zalloc((m->n_slots + 1) * sizeof(*t.head));
    t.now = mem_zalloc((m->n_slots + 1) * sizeof(*t.now));
    t.writers = mem_zalloc((m->n_slots + 1) * sizeof(*t.writers));
    t.early = mem_zalloc((m->n_slots + 1) * sizeof(*t.early));
    t.dull = mem_zalloc((m->n_slots + 1) * sizeof(*t.dull));
    t.linear = mem_zalloc(n + 1);
    t.at = mem_zalloc(n * sizeof(struct value *));
    t.before = mem_zalloc(n * sizeof(struct value *));
    t.inner = mem_zalloc(n * sizeof(bool));
    if (is_steady(&t) && (exact || (is_followed(&t, again, &moves) && moves))) {
        p->again = again;
        keep(p, &t);
    }
    forget(t.at, n);
    forget(t.before, n);
    free(t.head);
    free(t.now);
    free(t.writers);
    free(t.early);
    free(t.dull);
    free(t.linear);
    free(t.at);
    free(t.before);
    free(t.inner);
}

void leap_plan_clear(struct leap_plan *p)
{
    free(p->regs);
    free(p->stills);
    free(p->linear);
}

/* What one instruction costs: how many machine instructions it becomes, which pipe they take and for how long,
 * and when the result is there. The table knows what the compiler makes of each PTX instruction; the CUBIN's
 * count per source line then corrects it where the two differ by a believable factor (a larger one means that
 * the machine code holds unrolled copies, which execute less often than they are there). */
#include "ptx/lane/matrix.h"
#include "cost_model.h"

static const double UNROLLED = 2.2; /* machine instructions over expected ones */

enum { PREDICATED = 16 }; /* instructions that a branch may skip and yet be none */

struct cost {
    float slots, latency; /* latency in units of cycles */
    enum pipe pipe;
    float busy; /* pipe passes; 0: as many as slots */
};

static bool is_float(enum type t)
{
    return t >= TYPE_F16 && t <= TYPE_F64;
}

static bool is_half(enum type t)
{
    return t >= TYPE_F16 && t <= TYPE_BF16X2;
}

/* One pass of the special-function unit and some arithmetic around it. */
static struct cost sfu(const struct cost_model *m, float slots, float extra)
{
    return (struct cost){slots, (float)(m->sfu_cycles + extra * m->alu_cycles), PIPE_SFU, 1};
}

static struct cost divide(const struct cost_model *m, const struct insn *i, enum type t)
{
    float alu = (float)m->alu_cycles, look_up = (float)m->sfu_cycles;
    if (t == TYPE_F64)
        return (struct cost){22, look_up + 13 * (float)m->fp64_cycles, PIPE_FP64, 12.5f};
    if (is_float(t)) {
        if (insn_has(i, MOD_full)) /* the divisor's range is tested first */
            return sfu(m, 7, 3);
        if (insn_has(i, MOD_approx))
            return insn_has(i, MOD_ftz) ? sfu(m, 2, 1) : sfu(m, 5, 3);
        return (struct cost){13, look_up + 9 * alu, PIPE_SFU, 2}; /* FCHK looks up, too */
    }
    if (type_bytes[t] == 8)
        return (struct cost){133, 4 * look_up + 57 * alu, PIPE_MUL, 60};
    return (struct cost){type_signed(t) ? 17 : 14, 2 * look_up + (type_signed(t) ? 8 : 6) * alu, PIPE_MUL, 4};
}

/* Roots, reciprocals and powers: one table look-up, and the steps that correct it. */
static struct cost special(const struct cost_model *m, const struct insn *i, enum type t)
{
    bool ftz = insn_has(i, MOD_ftz), exact = !insn_has(i, MOD_approx);
    float alu = (float)m->alu_cycles, look_up = (float)m->sfu_cycles;
    enum price_kind kind = (enum price_kind)op_table[i->op].price;
    if (t == TYPE_F64)
        return (struct cost){18, look_up + 10 * (float)m->fp64_cycles, PIPE_FP64, 10};
    if (exact && kind == PRICE_RCP)
        return (struct cost){13, look_up + 13 * alu, PIPE_SFU, 1};
    if (exact && kind == PRICE_SQRT)
        return (struct cost){12, look_up + 9 * alu, PIPE_SFU, 1};
    if (is_half(t))
        return sfu(m, t == TYPE_F16X2 || t == TYPE_BF16X2 ? 2 : 1, 0);
    if (kind == PRICE_SINE)
        return sfu(m, 2, 1);
    if (kind == PRICE_SQRT)
        return sfu(m, ftz ? 2 : 5, ftz ? 1 : 3);
    if (kind == PRICE_TANH)
        return sfu(m, 1, 0);
    return sfu(m, ftz ? 1 : 4, ftz ? 0 : 3); /* denormals are scaled before and after */
}

static struct cost arithmetic(const struct cost_model *m, const struct insn *i, enum type t)
{
    float alu = (float)m->alu_cycles, wide = type_bytes[t] == 8;
    bool multiplies = op_table[i->op].price == PRICE_MULTIPLY, adds = op_table[i->op].price == PRICE_ADD;
    if (t == TYPE_F64)
        return (struct cost){1, (float)m->fp64_cycles, PIPE_FP64, 0};
    if (is_float(t) && (multiplies || adds))
        return (struct cost){1, alu, is_half(t) ? PIPE_FP16 : PIPE_FP32, 0};
    if (!multiplies)
        return (struct cost){1 + wide, alu + wide * alu, PIPE_ALU, 0};
    if (insn_has(i, MOD_wide))
        return (struct cost){1, alu, PIPE_MUL, 2};
    if (wide)
        return (struct cost){insn_has(i, MOD_hi) ? 8 : 4, 4 * alu, PIPE_MUL, 4};
    return insn_has(i, MOD_hi) ? (struct cost){1, 2 * alu, PIPE_MUL, 2} : (struct cost){1, alu, PIPE_MUL, 0};
}

double insn_flops(const struct insn *i)
{
    bool pair = i->type == TYPE_F16X2 || i->type == TYPE_BF16X2 || i->type == TYPE_F32X2;
    double lanes = pair ? 2 : 1;
    if (op_table[i->op].unit == UNIT_TENSOR)
        return i->types[0] == TYPE_S32 ? 0 : 2.0 * i->shape.m * i->shape.n * i->shape.k / 32;
    if (!pair && !is_float(i->type))
        return 0;
    if (op_table[i->op].unit == UNIT_ATOM)
        return insn_has(i, MOD_add) ? op_table[i->op].flops * lanes * MAX(i->vec, 1) : 0;
    return op_table[i->op].flops * lanes;
}

static struct cost convert(const struct cost_model *m, const struct insn *i)
{
    enum type to = i->type2, from = i->type;
    float alu = (float)m->alu_cycles;
    if (!is_float(to) && !is_float(from)) /* a widening or a truncation; most of the latter are nothing */
        return type_bytes[to] > type_bytes[from] && type_signed(from) ? (struct cost){1, alu, PIPE_ALU, 0}
                                                                      : (struct cost){0.3f, 0, PIPE_ALU, 0};
    if (to == TYPE_F64 || from == TYPE_F64)
        return (struct cost){1, (float)m->sfu_cycles, PIPE_SFU, 0};
    if (is_float(to) && is_float(from))
        return (struct cost){1, alu + 0.7f, from == TYPE_F32 && is_half(to) ? PIPE_ALU : PIPE_FP16, 0};
    if (to == TYPE_F32 && type_bytes[from] <= 4) /* I2FP (issue.csv, from_s32_xor) */
        return (struct cost){1, alu, PIPE_ALU, 0};
    return (struct cost){1, (float)m->sfu_cycles * 0.7f, PIPE_SFU, 0.5f};
}

static bool is_async_wait(const struct insn *i)
{
    return op_table[i->op].price == PRICE_COPY &&
           (insn_has(i, MOD_commit_group) || insn_has(i, MOD_wait_group) || insn_has(i, MOD_wait_all));
}

static struct cost memory(const struct cost_model *m, const struct insn *i)
{
    if (i->space == SPACE_PARAM)
        return (struct cost){0.1f, 0, PIPE_ALU, 0}; /* constants are operands */
    if (is_async_wait(i))
        return (struct cost){1, 0, PIPE_LSU, 0};
    return (struct cost){1, (float)m->shared_cycles, PIPE_LSU, 0};
}

/* Products by mma.sync, in units of m16n8k16 of f16; figures without a source are measured on one H200. Tensor
 * cores take as many products of f16 and bf16 a clock, half as many of tf32, twice of bytes (data sheets); an
 * mma is no shorter than 0.66 of a unit. e4m3 and e5m2 become f16 first on these devices. f64 runs at four
 * times the rate of its lanes (data sheet), m8n8k4 at half of that. Nibbles and single bits are emulated: 22
 * and 11.4 cycles for m16n8k64 and m16n8k256. */
static struct cost product(const struct cost_model *m, const struct insn *i)
{
    if (!matrix_known(i))
        return (struct cost){1, 0, PIPE_TENSOR, 0};
    enum type t = mma_type(i, 1);
    float products = (float)i->shape.m * i->shape.n * i->shape.k, units = products / 2048;
    float cycles = (float)m->mma_cycles, latency = (float)m->mma_latency_cycles;
    unsigned bits = matrix_bits(t);
    if (t == TYPE_F64) {
        cycles = products / (float)(2 * m->lanes_fp64) * (products > 256 ? 1 : 2);
        return (struct cost){1, latency + cycles, PIPE_TENSOR, 4 * cycles};
    }
    if (bits < 8) {
        cycles *= units * (bits == 4 ? 14.5f / 4 : 7.5f / 16);
        return (struct cost){4 * cycles, 4 * cycles + latency, PIPE_TENSOR, 4 * cycles};
    }
    if (bits == 32)
        units *= 2;
    else if (t == TYPE_S8 || t == TYPE_U8)
        units *= 0.5f;
    cycles *= MAX(units, 0.66f);
    return (struct cost){MAX(units, 1), latency, PIPE_TENSOR, 4 * cycles};
}

/* wgmma.mma_async: a warp's 16 rows of a warpgroup's 64, in a quarter of an SM whose tensor core takes 512
 * products of f16 a clock: 64.0 clocks for m64n128k16, whatever the number of warpgroups (measured on one H200,
 * docs/results/clock/wgmma.csv). Of each type an instruction takes 32 bytes of K, so that all of one N last as
 * long. The next product onto the same registers need not wait for more than that. */
static struct cost group_product(const struct insn *i)
{
    float cycles = (float)i->shape.n / 2;
    return (struct cost){1, cycles, PIPE_TENSOR, cycles};
}

/* wmma.load and wmma.store: one machine instruction a part, but halves come out of shared memory by ldmatrix,
 * four parts at once, and are turned in registers where they come across from global memory. */
static struct cost fragment(const struct cost_model *m, const struct insn *i)
{
    if (!matrix_known(i))
        return (struct cost){1, 0, PIPE_LSU, 0};
    struct matrix_access x = matrix_access_of(i);
    float parts = x.parts, slots = parts;
    if (op_table[i->op].price == PRICE_LOAD_PARTS && x.size == 2 && i->space == SPACE_SHARED)
        slots = MAX(parts / 4, 1);
    else if (x.way == TURNED)
        slots = 2 * parts;
    return (struct cost){slots, (float)m->shared_cycles, PIPE_LSU, parts};
}

static struct cost cost_of(const struct cost_model *m, const struct insn *i)
{
    float alu = (float)m->alu_cycles, shuffle = (float)m->shuffle_cycles, wide = type_bytes[i->type] == 8;
    switch ((enum price_kind)op_table[i->op].price) {
    case PRICE_NONE:
    case PRICE_FREE:
        return (struct cost){0, 0, PIPE_ALU, 0};
    case PRICE_MOVE:
        return (struct cost){0.2f, 0, PIPE_ALU, 0};
    case PRICE_SIGN: /* of a float: part of the instruction that uses it */
        return is_float(i->type) ? (struct cost){0.2f, 0, PIPE_FP32, 0} : (struct cost){1, alu, PIPE_ALU, 0};
    case PRICE_ALU:
    case PRICE_ADD:
    case PRICE_MULTIPLY:
        return arithmetic(m, i, i->type);
    case PRICE_DIVIDE:
        return divide(m, i, i->type);
    case PRICE_RCP:
    case PRICE_SQRT:
    case PRICE_SINE:
    case PRICE_TANH:
    case PRICE_SFU:
        return special(m, i, i->type);
    case PRICE_COUNT:
        return (struct cost){1 + wide, (float)m->sfu_cycles, PIPE_SFU, 0};
    case PRICE_CONVERT:
        return convert(m, i);
    case PRICE_VOTE:
        return (struct cost){1, 2 * alu, PIPE_ALU, 0};
    case PRICE_MATCH:
        return (struct cost){2, 6 * shuffle, PIPE_SHUFFLE, 8};
    case PRICE_REDUX:
        return (struct cost){2, shuffle, PIPE_SHUFFLE, 2};
    case PRICE_SHUFFLE:
        return (struct cost){1, shuffle, PIPE_SHUFFLE, 0};
    case PRICE_PRODUCT:
        return product(m, i);
    case PRICE_GROUP_PRODUCT:
        return group_product(i);
    case PRICE_GROUP:
        return (struct cost){1, 0, PIPE_ALU, 0};
    case PRICE_LOAD:
    case PRICE_STORE:
    case PRICE_ATOMIC:
    case PRICE_REDUCE:
    case PRICE_COPY:
    case PRICE_HINT:
        return memory(m, i);
    case PRICE_LOAD_PARTS:
    case PRICE_STORE_PARTS:
        return fragment(m, i);
    case PRICE_MBARRIER: /* mbarriers are shared memory */
        return (struct cost){1, (float)m->shared_cycles, PIPE_LSU, 0};
    case PRICE_BARRIER:
        return (struct cost){1, 0, PIPE_ALU, 0};
    case PRICE_FENCE: /* waits for what is on its way */
        return (struct cost){1, (float)m->l2_cycles * 0.5f, PIPE_ALU, 0};
    case PRICE_CONTROL:
        return (struct cost){1, (float)m->branch_cycles, PIPE_ALU, 0};
    }
    BUG("an instruction without a price");
}

static double lanes_of(const struct cost_model *m, enum pipe p)
{
    switch (p) {
    case PIPE_FP32:
        return m->lanes_fp32;
    case PIPE_FP16:
        return m->lanes_fp16;
    case PIPE_FP64:
        return m->lanes_fp64;
    case PIPE_MUL:
        return m->lanes_mul;
    case PIPE_SFU:
        return m->lanes_sfu;
    case PIPE_SHUFFLE:
        return m->lanes_shuffle;
    case PIPE_LSU:
        return m->lanes_lsu;
    case PIPE_TENSOR:
        return 32 * 4;
    default:
        return m->lanes_alu;
    }
}

struct slots { /* register slots of one instruction */
    uint32_t src[144], dst[136];
    uint8_t n_src, n_dst;
    bool guarded;
};

static void operand_slots(struct slots *s, const struct opnd *o, bool writes)
{
    if (o->kind == OPND_VEC) {
        for (unsigned k = 0; k < o->n; k++)
            operand_slots(s, &o->vec[k], writes);
        return;
    }
    if ((o->kind != OPND_REG && o->kind != OPND_ADDR) || o->is_imm)
        return;
    if (writes && o->kind == OPND_REG && s->n_dst < ARRAY_LEN(s->dst))
        s->dst[s->n_dst++] = o->slot;
    else if (!(writes && o->kind == OPND_REG) && s->n_src < ARRAY_LEN(s->src))
        s->src[s->n_src++] = o->slot;
}

static void insn_slots(struct slots *s, const struct insn *i, const uint32_t *slot_of_guard)
{
    s->n_src = s->n_dst = 0;
    for (unsigned k = 0; k < i->n_opnds; k++)
        operand_slots(s, &i->opnds[k], insn_writes(i, k));
    if (i->pair)
        operand_slots(s, i->pair, true);
    s->guarded = i->guard && slot_of_guard[i->guard / 4] != ~0u && s->n_src < ARRAY_LEN(s->src);
    if (s->guarded)
        s->src[s->n_src++] = slot_of_guard[i->guard / 4];
}

static bool calls_routine(const struct insn *i)
{
    return op_table[i->op].price == PRICE_DIVIDE && type_bytes[i->type] == 8 && i->type != TYPE_F64;
}

/* Machine instructions in the line itself: long divisions call a routine. */
float price_inline_slots(const struct insn *i, float slots)
{
    if (calls_routine(i))
        return 8;
    if (op_table[i->op].price == PRICE_DIVIDE && i->type == TYPE_F64)
        return 14;
    return slots;
}

static void price_insn(struct price *p, const struct insn *i, const struct cost_model *m)
{
    struct cost c = cost_of(m, i);
    enum unit unit = (enum unit)op_table[i->op].unit;
    enum price_kind kind = (enum price_kind)op_table[i->op].price;
    *p = (struct price){.slots = c.slots, .latency = c.latency, .pipe = c.pipe};
    p->busy = (c.busy ? c.busy : c.slots) * (float)(32 / lanes_of(m, c.pipe));
    p->is_load = (kind == PRICE_LOAD || kind == PRICE_LOAD_PARTS) && i->space != SPACE_PARAM;
    p->is_store =
        kind == PRICE_STORE || kind == PRICE_STORE_PARTS || kind == PRICE_REDUCE || kind == PRICE_COPY;
    p->is_barrier = kind == PRICE_BARRIER && !insn_has(i, MOD_warp);
    p->is_order = unit == UNIT_SYNC || kind == PRICE_ATOMIC || kind == PRICE_COPY ||
                  insn_has(i, MOD_volatile) || insn_has(i, MOD_acquire);
    p->is_async_wait = is_async_wait(i);
    p->rare = rare_kind(i);
    p->is_branch = unit == UNIT_CONTROL;
    p->ends_block = p->is_branch || kind == PRICE_BARRIER;
}

/* An atomic whose result nobody reads is sent off as a store is; additions of 1 to shared memory then are
 * counted by word first, lanes that share one together (ATOMS.POPC.INC in the machine code). */
static void price_unread(struct price *p, const struct insn *i)
{
    enum price_kind kind = (enum price_kind)op_table[i->op].price;
    p->retries =
        (kind == PRICE_REDUCE || kind == PRICE_ATOMIC) && i->space == SPACE_SHARED && is_float(i->type);
    bool unread = kind == PRICE_REDUCE || (kind == PRICE_ATOMIC && i->opnds[0].unread);

    if (!unread || p->retries || insn_has(i, MOD_acquire) || insn_has(i, MOD_volatile))
        return;
    const struct opnd *by = &i->opnds[i->n_opnds - 1];
    p->is_order = false;
    p->is_store = true;
    p->counts = i->space == SPACE_SHARED && insn_has(i, MOD_add) && !is_float(i->type) &&
                type_bytes[i->type] == 4 && by->is_imm && by->imm == 1;
}

static double sass_of(const struct ptx_resources *res, int line)
{
    for (size_t k = 0; k < res->n_sass; k++)
        if (res->sass[k].line == line)
            return res->sass[k].count;
    return 0;
}

/* A loop of one basic block whose lines have far more machine instructions than the table expects was unrolled
 * by the compiler, which does so by four. */
static void find_unrolled(struct prices *p, const struct ptx_module *m, const struct func *entry,
                          const double *guess, const struct ptx_resources *res)
{
    for (uint32_t pc = entry->first; pc < entry->end; pc++) {
        const struct insn *i = &m->code[pc];
        double expected = 0, real = 0;
        if (i->op != OP_bra || i->imm >= (int64_t)pc || i->imm < (int64_t)entry->first)
            continue;
        for (uint32_t at = (uint32_t)i->imm; at <= pc; at++) {
            int line = p->of[at].line;
            if (at < pc && p->of[at].ends_block)
                expected = INFINITY;
            for (uint32_t k = (uint32_t)i->imm; k < at; k++)
                line = p->of[k].line == line ? 0 : line; /* counted */
            expected += line ? guess[line] : 0;
            real += line ? sass_of(res, line) : 0;
        }
        if (real > UNROLLED * expected)
            p->of[pc].unroll = 4;
    }
}

/* A forward branch over a few plain instructions becomes predicates, which loads may cross. */
static void find_predicated(struct prices *p, const struct ptx_module *m)
{
    for (size_t pc = 0; pc < m->n_code; pc++) {
        const struct insn *i = &m->code[pc];
        if (i->op != OP_bra || i->imm <= (int64_t)pc || i->imm > (int64_t)pc + PREDICATED ||
            i->imm > (int64_t)m->n_code)
            continue;
        bool plain = true;
        unsigned accesses = 0; /* one value from here to there */
        for (size_t at = pc + 1; at < (size_t)i->imm; at++) {
            enum unit unit = op_table[m->code[at].op].unit;
            accesses += unit == UNIT_LSU;
            plain &= accesses <= 2 && unit != UNIT_ATOM && unit != UNIT_SYNC && unit != UNIT_SHFL &&
                     (unit != UNIT_CONTROL || m->code[at].op == OP_bra) && !calls_routine(&m->code[at]);
        }
        if (plain) {
            p->of[pc].ends_block = false;
            p->of[pc].latency = 0;
        }
    }
}

/* The machine's count of a line over the table's, for lines where that is believable. */
static void apply_sass(struct prices *p, const struct ptx_module *m, const struct func *entry,
                       const struct ptx_resources *res)
{
    int last = 0;
    for (uint32_t pc = entry->first; pc < entry->end; pc++)
        last = MAX(last, p->of[pc].line);
    double *guess = mem_zalloc(((size_t)last + 1) * sizeof(*guess)); /* by line */
    for (uint32_t pc = entry->first; pc < entry->end; pc++)
        guess[p->of[pc].line] += (double)price_inline_slots(&m->code[pc], p->of[pc].slots);
    find_unrolled(p, m, entry, guess, res);
    for (uint32_t pc = entry->first; pc < entry->end; pc++) {
        int line = p->of[pc].line;
        double real = sass_of(res, line);
        if (line > 0 && real > 0 && guess[line] > 0 && real < UNROLLED * guess[line])
            p->of[pc].slots *= (float)MAX(real / guess[line], 0.5);
    }
    free(guess);
}

void prices_make(struct prices *p, const struct ptx_module *m, const struct ptx_device *d,
                 const struct cost_model *model, const struct func *entry, const struct ptx_resources *res,
                 struct arena *a)
{
    (void)d;
    uint32_t *slot_at = arena_alloc(a, (m->file_bytes / 4 + 1) * sizeof(*slot_at));
    memset(slot_at, 0xff, (m->file_bytes / 4 + 1) * sizeof(*slot_at));
    for (uint32_t s = 0; s < m->n_slots; s++)
        if (m->slot_off[s] / 4 <= m->file_bytes / 4)
            slot_at[m->slot_off[s] / 4] = s;
    p->of = arena_array(a, struct price, m->n_code + 1);
    VEC(uint32_t) refs = {0};
    for (size_t pc = 0; pc < m->n_code; pc++) {
        const struct insn *i = &m->code[pc];
        struct slots s;
        price_insn(&p->of[pc], i, model);
        price_unread(&p->of[pc], i);
        insn_slots(&s, i, slot_at);
        p->of[pc].line = insn_line(m, i);
        p->of[pc].refs = (uint32_t)refs.n;
        p->of[pc].has_guard = s.guarded;
        p->of[pc].n_src = s.n_src;
        p->of[pc].n_dst = s.n_dst;
        for (unsigned k = 0; k < s.n_src; k++)
            vec_push(&refs, s.src[k]);
        for (unsigned k = 0; k < s.n_dst; k++)
            vec_push(&refs, s.dst[k]);
    }
    p->refs = arena_copy(a, refs.v ? refs.v : &(uint32_t){0}, MAX(refs.n, (size_t)1) * sizeof(uint32_t));
    vec_free(&refs);
    find_predicated(p, m);
    if (res && res->n_code && machine_apply(p, m, model, entry, res, a))
        return;
    if (res && res->n_sass)
        apply_sass(p, m, entry, res);
}

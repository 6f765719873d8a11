/* Operands for which exact divisions, reciprocals and roots call a routine: zeros and denormals, what is near
 * the type's ends, infinities and what is no number. The tests and the lengths are those of the machine code of
 * sm_90 (CUDA 13.0); that of a division of floats is one instruction (FCHK), of which the exponents are taken
 * for which the steps around it would not be exact. */
#include "cost_model.h"

/* SHORT: a zero, an infinity or no number, which the routine hands back; LONG: it computes. */
enum { SHORT = 1, LONG = 2 };

static const struct length { /* machine instructions of a call, with what stands around it */
    float shorter, longer;
} lengths[] = {[RARE_DIV32] = {34, 64}, [RARE_RCP32] = {22, 45}, [RARE_SQRT32] = {10, 24},
               [RARE_DIV64] = {40, 60}, [RARE_RCP64] = {16, 30}, [RARE_SQRT64] = {14, 34}};

uint8_t rare_kind(const struct insn *i)
{
    bool wide = i->type == TYPE_F64;

    if ((i->type != TYPE_F32 && !wide) || insn_has(i, MOD_approx) || insn_has(i, MOD_full))
        return RARE_NONE;
    switch ((enum price_kind)op_table[i->op].price) {
    case PRICE_DIVIDE:
        return wide ? RARE_DIV64 : RARE_DIV32;
    case PRICE_RCP:
        return wide ? RARE_RCP64 : RARE_RCP32;
    case PRICE_SQRT:
        if (i->op != OP_sqrt)
            return RARE_NONE;
        return wide ? RARE_SQRT64 : RARE_SQRT32;
    default:
        return RARE_NONE;
    }
}

static uint64_t operand(const struct warp *w, const struct opnd *o, unsigned lane)
{
    uint64_t bits = 0;

    memcpy(&bits, w->regs + o->off + (size_t)lane * o->bytes, o->bytes);
    return bits;
}

static int exponent(uint64_t bits, bool wide)
{
    return (int)(wide ? bits >> 52 & 0x7ff : bits >> 23 & 0xff);
}

/* Zero, infinite or no number. */
static bool is_special(uint64_t bits, bool wide)
{
    uint64_t magnitude = bits & (wide ? INT64_MAX : INT32_MAX);

    return magnitude == 0 || exponent(bits, wide) == (wide ? 0x7ff : 0xff);
}

static bool divides_in_line(uint64_t a, uint64_t b, bool wide)
{
    int ea = exponent(a, wide), eb = exponent(b, wide);

    if (wide)
        return ea >= 0x36 && eb < 0x7f8 && ea - eb + 0x3ff > 1;
    return ea > 23 && ea < 255 && eb > 0 && eb < 253 && abs(ea - eb) < 126;
}

static int call_of(uint8_t kind, uint64_t a, uint64_t b)
{
    bool wide = kind >= RARE_DIV64, in_line = false;
    uint32_t low = (uint32_t)a, high = (uint32_t)(a >> 32);

    switch (kind) {
    case RARE_DIV32:
    case RARE_DIV64:
        in_line = divides_in_line(a, b, wide);
        break;
    case RARE_RCP32:
        in_line = ((low + 0x1800000) & 0x7f800000) > 0x1ffffff;
        break;
    case RARE_RCP64:
        in_line = ((high + 0x300402) & 0x7fffffff) >= 0x400000;
        break;
    case RARE_SQRT32:
        in_line = low - 0xd000000 <= 0x727fffff;
        break;
    default:
        in_line = high - 0x3500000 < 0x7ca00000;
    }
    if (in_line)
        return 0;
    return is_special(a, wide) || (b && is_special(b, wide)) ? SHORT : LONG;
}

float rare_slots(const struct warp *w, const struct insn *i, uint8_t kind, uint32_t lanes)
{
    bool two = kind == RARE_DIV32 || kind == RARE_DIV64;
    int calls = 0;

    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctz(lanes);
        uint64_t b = two ? operand(w, &i->opnds[2], lane) : 0;
        calls |= call_of(kind, operand(w, &i->opnds[1], lane), b);
    }
    if (!calls)
        return 0;
    return calls & LONG ? lengths[kind].longer : lengths[kind].shorter;
}

/* The approximate instructions: ex2 lg2 sin cos tanh, and the .approx and .full forms of rcp sqrt rsqrt div. */
#include "exec.h"
#include "ptx/lane/approx.h"

/* Each f32 form with and without .ftz; flushing is of the input and of the result. */
#define APPROX(name, expr)             \
    UNARY(name, float, float, (expr))  \
    UNARY(name##_ftz, float, float, ({ \
              x = f32_flush(x);        \
              f32_flush(expr);         \
          }))
#define APPROX_PICK(name) return ftz ? name##_ftz : name

APPROX(ex2_f32, approx_ex2(x))
APPROX(lg2_f32, approx_lg2(x))
APPROX(sin_f32, approx_turn(x, 0))
APPROX(cos_f32, approx_turn(x, 1))
APPROX(rcp_f32, approx_rcp(x))
APPROX(sqrt_f32, approx_sqrt(x))
APPROX(rsqrt_f32, approx_rsqrt(x))
UNARY(tanh_f32, float, float, approx_tanh(x))
UNARY(rcp_f64, double, double, approx_gross(x, false))
UNARY(rsqrt_f64_ftz, double, double, approx_gross(x, true))
UNARY(rsqrt_f64, double, double, approx_rsqrt_f64(x))

BINARY(div_f32, float, float, approx_div(x, y))
BINARY(div_f32_ftz, float, float, f32_flush(approx_div(f32_flush(x), f32_flush(y))))
BINARY(div_full_f32, float, float, approx_div_full(x, y))
BINARY(div_full_f32_ftz, float, float, f32_flush(approx_div_full(f32_flush(x), f32_flush(y))))

#define PAIR(f, x) ((uint32_t)f((uint16_t)(x)) | (uint32_t)f((uint16_t)((x) >> 16)) << 16)
UNARY(ex2_f16, uint16_t, uint16_t, approx_ex2_f16(x))
UNARY(ex2_f16x2, uint32_t, uint32_t, PAIR(approx_ex2_f16, x))
UNARY(ex2_bf16, uint16_t, uint16_t, approx_ex2_bf16(x))
UNARY(ex2_bf16x2, uint32_t, uint32_t, PAIR(approx_ex2_bf16, x))
UNARY(tanh_f16, uint16_t, uint16_t, approx_tanh_f16(x))
UNARY(tanh_f16x2, uint32_t, uint32_t, PAIR(approx_tanh_f16, x))
UNARY(tanh_bf16, uint16_t, uint16_t, approx_tanh_bf16(x))
UNARY(tanh_bf16x2, uint32_t, uint32_t, PAIR(approx_tanh_bf16, x))

static exec_fn *select_f32(const struct insn *i, bool ftz)
{
    switch (i->op) {
    case OP_ex2:
        APPROX_PICK(ex2_f32);
    case OP_lg2:
        APPROX_PICK(lg2_f32);
    case OP_sin:
        APPROX_PICK(sin_f32);
    case OP_cos:
        APPROX_PICK(cos_f32);
    case OP_rcp:
        APPROX_PICK(rcp_f32);
    case OP_sqrt:
        APPROX_PICK(sqrt_f32);
    case OP_rsqrt:
        APPROX_PICK(rsqrt_f32);
    case OP_tanh:
        return tanh_f32;
    case OP_div:
        if (insn_has(i, MOD_full))
            APPROX_PICK(div_full_f32);
        APPROX_PICK(div_f32);
    default:
        return NULL;
    }
}

static exec_fn *select_ex2_half(const struct insn *i)
{
    switch (i->type) {
    case TYPE_F16:
        return ex2_f16;
    case TYPE_F16X2:
        return ex2_f16x2;
    case TYPE_BF16:
        return ex2_bf16; /* these two always flush */
    case TYPE_BF16X2:
        return ex2_bf16x2;
    default:
        return NULL;
    }
}

static exec_fn *select_tanh_half(const struct insn *i)
{
    switch (i->type) {
    case TYPE_F16:
        return tanh_f16;
    case TYPE_F16X2:
        return tanh_f16x2;
    case TYPE_BF16:
        return tanh_bf16;
    case TYPE_BF16X2:
        return tanh_bf16x2;
    default:
        return NULL;
    }
}

exec_fn *ISA(select_approx)(struct insn *i)
{
    bool ftz = insn_has(i, MOD_ftz);
    if (!insn_has(i, MOD_approx) && !insn_has(i, MOD_full))
        return NULL;
    if (i->type == TYPE_F32)
        return select_f32(i, ftz);
    if (i->type == TYPE_F64 && i->op == OP_rcp)
        return rcp_f64;
    if (i->type == TYPE_F64 && i->op == OP_rsqrt)
        return ftz ? rsqrt_f64_ftz : rsqrt_f64;
    if (i->op == OP_ex2)
        return select_ex2_half(i);
    return i->op == OP_tanh ? select_tanh_half(i) : NULL;
}

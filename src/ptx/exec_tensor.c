/* Matrices spread over a warp: mma.sync, ldmatrix, stmatrix, movmatrix.
 *
 * In every fragment lane l stands for group g = l / 4 and place t = l % 4. An 8x8 matrix of b16 has row g,
 * columns 2t and 2t + 1 in lane l's register. Larger ones are tiled by such registers, rows first: register 1
 * of A is 8 rows down, register 2 (and 3) 8 columns on. The products of eight steps of k are summed in f64 onto
 * the accumulator, which is then cut to f32: tensor cores cut too, and the documentation promises no rounding.
 */
#include "isa.h"
#include "half.h"

enum { M = 16, N = 8, K_MAX = 32 };

/* Element h of a register of A or B. */
static inline double element(uint32_t reg, unsigned h, enum type t)
{
    switch (t) {
    case TYPE_F16:
        return half_f16_to_f32((uint16_t)(reg >> 16 * h));
    case TYPE_BF16:
        return half_bf16_to_f32((uint16_t)(reg >> 16 * h));
    case TYPE_TF32:
        return half_f32_bits(reg & ~0x1fffu);
    case TYPE_S8:
        return (int8_t)(reg >> 8 * h);
    default:
        return (uint8_t)(reg >> 8 * h);
    }
}

static float cut_f32(double d) /* toward zero */
{
    float f = (float)d;
    if (d != d)
        return half_f32_bits(HALF_F32_NAN);
    if ((f > d && d > 0) || (f < d && d < 0))
        f = half_f32_bits(half_bits_f32(f) - 1);
    return f;
}

static inline const uint32_t *operand(const struct warp *w, const struct opnd *o, unsigned k)
{
    return REG(uint32_t, w, o->kind == OPND_VEC ? o->vec[k].off : o->off);
}

static unsigned operand_count(const struct opnd *o)
{
    return o->kind == OPND_VEC ? o->n : 1;
}

/* Every lane takes part: the instruction is for whole warps. */
static bool whole_warp(struct warp *w, const struct insn *i, uint32_t m)
{
    if (!warp_await(w, i, m, ~0u))
        return false;
    if (m == ~0u)
        return true;
    fault(w, i, -1, PTX_DIVERGENT_BARRIER, 0, "%s is executed by a part of a warp", i->text);
    return false;
}

/* Registers hold e elements each: register r of A has rows 8 (r % 2) and on, columns 4e (r / 2) and on. */
static void mma(struct warp *w, const struct insn *i, uint32_t m)
{
    const struct opnd *d = &i->opnds[0], *a = &i->opnds[1], *b = &i->opnds[2], *c = &i->opnds[3];
    enum type at = (enum type)i->types[1], bt = (enum type)i->types[2];
    unsigned k_size = mma_k(i), e = 4u / type_bytes[at];
    bool c_f16 = i->types[3] == TYPE_F16, d_f16 = i->types[0] == TYPE_F16, integer = i->types[0] == TYPE_S32;
    double x[M][K_MAX], y[K_MAX][N], z[M][N];
    if (!whole_warp(w, i, m))
        return;
    for (unsigned l = 0; l < 32; l++) {
        unsigned g = l / 4, t = l % 4;
        for (unsigned r = 0; r < k_size / (2 * e); r++)
            for (unsigned h = 0; h < e; h++)
                x[g + 8 * (r & 1)][e * t + h + 4 * e * (r >> 1)] = element(operand(w, a, r)[l], h, at);
        for (unsigned r = 0; r < k_size / (4 * e); r++)
            for (unsigned h = 0; h < e; h++)
                y[e * t + h + 4 * e * r][g] = element(operand(w, b, r)[l], h, bt);
        for (unsigned k = 0; k < 4; k++) {
            uint32_t v = operand(w, c, c_f16 ? k >> 1 : k)[l];
            z[g + 8 * (k >> 1)][2 * t + (k & 1)] = c_f16     ? element(v, k & 1, TYPE_F16)
                                                   : integer ? (double)(int32_t)v
                                                             : half_f32_bits(v);
        }
    }
    for (unsigned r = 0; r < M; r++)
        for (unsigned k = 0; k < k_size; k += 4) {
            for (unsigned s = k; s < k + 4; s++)
                for (unsigned n = 0; n < N; n++)
                    z[r][n] += x[r][s] * y[s][n];
            for (unsigned n = 0; n < N && !integer && (k & 4 || k_size == 4); n++)
                z[r][n] = cut_f32(z[r][n]);
        }
    for (unsigned l = 0; l < 32; l++) {
        unsigned g = l / 4, t = l % 4;
        for (unsigned k = 0; k < 4; k++) {
            double v = z[g + 8 * (k >> 1)][2 * t + (k & 1)];
            uint32_t *to = (uint32_t *)operand(w, d, d_f16 ? k >> 1 : k) + l;
            if (integer && insn_has(i, MOD_satfinite))
                *to = (uint32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v);
            else if (integer)
                *to = (uint32_t)(int64_t)v;
            else if (!d_f16)
                *to = half_bits_f32((float)v);
            else if (k & 1)
                *to = (*to & 0xffff) | (uint32_t)half_f16_from_f64(v) << 16;
            else
                *to = (*to & 0xffff0000) | half_f16_from_f64(v);
        }
    }
}

/* ---- matrices of 8 rows of 16 bytes in shared memory; lane 8k + r holds the address of row r of matrix k ----
 */

static bool row_hosts(struct warp *w, const struct insn *i, const struct opnd *o, unsigned matrices,
                      enum access_kind kind, uint8_t *host[32])
{
    uint64_t addr[32];
    uint32_t lanes = matrices == 4 ? ~0u : (1u << 8 * matrices) - 1;
    for (unsigned l = 0; l < 32; l++)
        addr[l] =
            (o->bytes == 8 ? REG(uint64_t, w, o->off)[l] : REG(uint32_t, w, o->off)[l]) + (uint64_t)o->imm;
    return mem_lanes(w, i, lanes, (enum space)i->space, kind, 0, 16, addr, host);
}

static void ldmatrix(struct warp *w, const struct insn *i, uint32_t m)
{
    unsigned matrices = operand_count(&i->opnds[0]);
    uint8_t *host[32];
    uint16_t rows[32][8];
    if (!whole_warp(w, i, m) || !row_hosts(w, i, &i->opnds[1], matrices, ACCESS_LOAD, host))
        return;
    for (unsigned l = 0; l < 8 * matrices; l++)
        memcpy(rows[l], host[l], 16);
    bool trans = insn_has(i, MOD_trans);
    for (unsigned k = 0; k < matrices; k++) {
        uint32_t *to = (uint32_t *)operand(w, &i->opnds[0], k);
        for (unsigned l = 0; l < 32; l++) {
            unsigned g = l / 4, t = l % 4 * 2;
            uint16_t lo = trans ? rows[8 * k + t][g] : rows[8 * k + g][t];
            uint16_t hi = trans ? rows[8 * k + t + 1][g] : rows[8 * k + g][t + 1];
            to[l] = (uint32_t)hi << 16 | lo;
        }
    }
}

static void stmatrix(struct warp *w, const struct insn *i, uint32_t m)
{
    unsigned matrices = operand_count(&i->opnds[1]);
    uint8_t *host[32];
    if (!whole_warp(w, i, m) || !row_hosts(w, i, &i->opnds[0], matrices, ACCESS_STORE, host))
        return;
    bool trans = insn_has(i, MOD_trans);
    for (unsigned k = 0; k < matrices; k++) {
        const uint32_t *from = operand(w, &i->opnds[1], k);
        for (unsigned l = 0; l < 32; l++)
            for (unsigned h = 0; h < 2; h++) {
                unsigned g = l / 4, t = l % 4 * 2 + h;
                uint16_t v = (uint16_t)(from[l] >> 16 * h);
                memcpy(host[8 * k + (trans ? t : g)] + 2 * (trans ? g : t), &v, 2);
            }
    }
}

static void movmatrix(struct warp *w, const struct insn *i, uint32_t m)
{
    uint16_t rows[8][8];
    if (!whole_warp(w, i, m))
        return;
    const uint32_t *a = REG(uint32_t, w, i->a);
    for (unsigned l = 0; l < 32; l++) {
        rows[l / 4][l % 4 * 2] = (uint16_t)a[l];
        rows[l / 4][l % 4 * 2 + 1] = (uint16_t)(a[l] >> 16);
    }
    for (unsigned l = 0; l < 32; l++)
        REG(uint32_t, w, i->d)[l] = (uint32_t)rows[l % 4 * 2 + 1][l / 4] << 16 | rows[l % 4 * 2][l / 4];
}

/* mma.sync.aligned.SHAPE.row.col.D.A.B.C: of each type of A the two shapes there are. */
static exec_fn *select_mma(const struct insn *i)
{
    bool k4 = insn_has(i, MOD_m16n8k4), k8 = insn_has(i, MOD_m16n8k8), k16 = insn_has(i, MOD_m16n8k16);
    bool k32 = insn_has(i, MOD_m16n8k32), sat = insn_has(i, MOD_satfinite);
    if (i->n_types != 4)
        return NULL;
    enum type d = (enum type)i->types[0], a = (enum type)i->types[1], b = (enum type)i->types[2];
    if (i->types[3] != d)
        return NULL;
    if ((a == TYPE_S8 || a == TYPE_U8) && (b == TYPE_S8 || b == TYPE_U8))
        return d == TYPE_S32 && (k16 || k32) ? mma : NULL;
    if (a != b || sat)
        return NULL;
    if (a == TYPE_F16)
        return (d == TYPE_F32 || d == TYPE_F16) && (k8 || k16) ? mma : NULL;
    if (a == TYPE_BF16)
        return d == TYPE_F32 && (k8 || k16) ? mma : NULL;
    return a == TYPE_TF32 && d == TYPE_F32 && (k4 || k8) ? mma : NULL;
}

exec_fn *ISA(select_tensor)(struct insn *i)
{
    bool b16 = i->type == TYPE_B16 && insn_has(i, MOD_m8n8);
    switch (i->op) {
    case OP_mma:
        return select_mma(i);
    case OP_ldmatrix:
        return b16 ? ldmatrix : NULL;
    case OP_stmatrix:
        return b16 ? stmatrix : NULL;
    case OP_movmatrix:
        return b16 ? movmatrix : NULL;
    default:
        return NULL;
    }
}

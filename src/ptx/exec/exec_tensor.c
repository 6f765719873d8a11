/* Matrices between a warp's registers and memory: ldmatrix, stmatrix, movmatrix, wmma.load, wmma.store. Who
 * holds what: matrix.h. */
#include "exec.h"
#include "ptx/lane/matrix.h"

/* ---- matrices of 8 rows of 16 bytes in shared memory; lane 8k + r holds the address of row r of matrix k ----
 */

static bool row_hosts(struct warp *w, const struct insn *i, const struct opnd *o, unsigned matrices,
                      enum access_kind kind, uint8_t *host[32])
{
    uint64_t addr[32];
    uint32_t lanes = matrices == 4 ? ~0u : (1u << 8 * matrices) - 1;
    for (unsigned l = 0; l < 32; l++)
        addr[l] = matrix_base(w, o, l);
    return mem_lanes(w, i, access_of(i, lanes, kind, 0, 16, addr), host);
}

static void ldmatrix(struct warp *w, const struct insn *i, uint32_t m)
{
    unsigned matrices = matrix_reg_count(&i->opnds[0]);
    uint8_t *host[32];
    uint16_t rows[32][8];
    if (!warp_await_whole(w, i, m) || !row_hosts(w, i, &i->opnds[1], matrices, ACCESS_LOAD, host))
        return;
    for (unsigned l = 0; l < 8 * matrices; l++)
        memcpy(rows[l], host[l], 16);
    bool trans = insn_has(i, MOD_trans);
    for (unsigned k = 0; k < matrices; k++) {
        uint32_t *to = REG(uint32_t, w, opnd_element(&i->opnds[0], k)->off);
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
    unsigned matrices = matrix_reg_count(&i->opnds[1]);
    uint8_t *host[32];
    if (!warp_await_whole(w, i, m) || !row_hosts(w, i, &i->opnds[0], matrices, ACCESS_STORE, host))
        return;
    bool trans = insn_has(i, MOD_trans);
    for (unsigned k = 0; k < matrices; k++) {
        const uint32_t *from = REG(uint32_t, w, opnd_element(&i->opnds[1], k)->off);
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
    if (!warp_await_whole(w, i, m))
        return;
    const uint32_t *a = REG(uint32_t, w, i->a);
    for (unsigned l = 0; l < 32; l++) {
        rows[l / 4][l % 4 * 2] = (uint16_t)a[l];
        rows[l / 4][l % 4 * 2 + 1] = (uint16_t)(a[l] >> 16);
    }
    for (unsigned l = 0; l < 32; l++)
        REG(uint32_t, w, i->d)[l] = (uint32_t)rows[l % 4 * 2 + 1][l / 4] << 16 | rows[l % 4 * 2][l / 4];
}

/* ---- wmma: a matrix of any stride ---- */

/* All lanes must name one matrix, and each of its rows (or columns) begin at a multiple of 16 bytes, or of the
 * fragment's size where that is smaller. The ISA and the C++ guide ask for more, and not for the same; tiles of
 * m32n8k16 and padded ones do not keep it. An H200 takes 16 bytes and, in shared memory, not 8. */
static bool one_matrix(struct warp *w, const struct insn *i, const struct matrix_access *x, uint64_t base,
                       uint64_t stride)
{
    const struct opnd *o = &i->opnds[1 - (i->op == OP_wmma_store)];
    unsigned align = MIN(matrix_reg_count(matrix_operand(i)) * fragment_reg_bytes(&x->f), 16u);
    for (unsigned l = 1; l < 32; l++)
        if (matrix_base(w, o, l) != base || matrix_stride(w, i, x, l) != stride) {
            fault(w, i, (int)l, PTX_DIVERGENT_BARRIER, matrix_base(w, o, l),
                  "%s with another address or stride than lane 0's: a warp's threads must name one matrix",
                  i->text);
            return false;
        }
    if (!((base | stride) & (align - 1)))
        return true;
    fault(w, i, 0, PTX_MISALIGNED, base,
          "%s at 0x%llx with %llu bytes between %s: both must be multiples of %u bytes", i->text,
          (unsigned long long)base, (unsigned long long)stride, x->columns ? "columns" : "rows", align);
    return false;
}

/* What every lane moves in every part. */
static bool matrix_hosts(struct warp *w, const struct insn *i, const struct matrix_access *x,
                         enum access_kind kind, uint8_t *host[MATRIX_PARTS][32])
{
    const struct opnd *o = &i->opnds[1 - (i->op == OP_wmma_store)];
    uint64_t base = matrix_base(w, o, 0), stride = matrix_stride(w, i, x, 0), addr[32];
    if (!one_matrix(w, i, x, base, stride))
        return false;
    for (unsigned part = 0; part < x->parts; part++) {
        for (unsigned l = 0; l < 32; l++)
            addr[l] = base + matrix_offset(x, part, l, stride);
        struct access here = access_of(i, ~0u, kind, part * ACCESS_PART, (unsigned)x->size * x->atoms, addr);
        if (!mem_lanes(w, i, here, host[part]))
            return false;
    }
    return true;
}

/* The bytes of a lane's element. */
static inline uint8_t *matrix_bytes(struct warp *w, const struct opnd *regs, const struct matrix_access *x,
                                    unsigned lane, unsigned slot)
{
    unsigned width = fragment_reg_bytes(&x->f), at = slot * x->size;
    return REG(uint8_t, w, opnd_element(regs, at / width)->off) + (size_t)lane * width + at % width;
}

static void wmma_move(struct warp *w, const struct insn *i, const struct matrix_access *x, bool load,
                      uint8_t *host[MATRIX_PARTS][32])
{
    const struct opnd *regs = matrix_operand(i);
    for (unsigned part = 0; part < x->parts; part++)
        for (unsigned l = 0; l < 32; l++)
            for (unsigned atom = 0; atom < x->atoms; atom++) {
                unsigned slot, holder = matrix_holder(x, part, l, atom, &slot);
                uint8_t *reg = matrix_bytes(w, regs, x, holder, slot);
                uint8_t *at = host[part][l] + (size_t)atom * x->size;
                memcpy(load ? reg : at, load ? at : reg, x->size);
            }
}

static void wmma_load(struct warp *w, const struct insn *i, uint32_t m)
{
    struct matrix_access x = matrix_access_of(i);
    const struct opnd *regs = matrix_operand(i);
    uint8_t *host[MATRIX_PARTS][32];
    if (!warp_await_whole(w, i, m) || !matrix_hosts(w, i, &x, ACCESS_LOAD, host))
        return;
    wmma_move(w, i, &x, true, host);
    for (unsigned k = fragment_regs(&x.f), first = k; k < matrix_reg_count(regs); k++)
        memcpy(REG(uint8_t, w, opnd_element(regs, k)->off), REG(uint8_t, w, opnd_element(regs, k % first)->off),
               sizeof(uint32_t[32]));
}

static void wmma_store(struct warp *w, const struct insn *i, uint32_t m)
{
    struct matrix_access x = matrix_access_of(i);
    uint8_t *host[MATRIX_PARTS][32];
    if (warp_await_whole(w, i, m) && matrix_hosts(w, i, &x, ACCESS_STORE, host))
        wmma_move(w, i, &x, false, host);
}

exec_fn *ISA(select_tensor)(struct insn *i)
{
    bool b16 = i->type == TYPE_B16 && insn_has(i, MOD_m8n8);
    switch (i->op) {
    case OP_ldmatrix:
        return b16 ? ldmatrix : NULL;
    case OP_stmatrix:
        return b16 ? stmatrix : NULL;
    case OP_movmatrix:
        return b16 ? movmatrix : NULL;
    case OP_wmma_load:
        return matrix_known(i) ? wmma_load : NULL;
    case OP_wmma_store:
        return matrix_known(i) ? wmma_store : NULL;
    default:
        return NULL;
    }
}

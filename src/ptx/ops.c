/* The tables behind the names, and where an instruction stands in the user's file. */
#include "observe.h"

const struct op_info op_table[N_OPS] = {
    [OP_unsupported] = {.text = "unsupported", .operands = "", .widths = ""},
#define OP(id, text, operands, widths, unit, price, flops, rounding, real, shadow, undef, bits, select) \
    [OP_##id] = {text,       operands,          widths,      UNIT_##unit,     PRICE_##price,            \
                 flops,      ROUNDS_##rounding, REAL_##real, SHADOW_##shadow, UNDEF_##undef,            \
                 BITS_##bits},
#include "op.def"
#undef OP
};

const char *const type_names[N_TYPES] = {
    "",     "b1",    "b8",    "b16",   "b32",  "b64",   "b128",   "u8",     "u16",  "u32", "u64",
    "s8",   "s16",   "s32",   "s64",   "f16",  "f16x2", "bf16",   "bf16x2", "tf32", "f32", "f64",
    "pred", "u16x2", "s16x2", "f32x2", "e4m3", "e5m2",  "e4m3x2", "e5m2x2", "s4",   "u4",
};

const uint8_t type_bytes[N_TYPES] = {
    0, 0, 1, 2, 4, 8, 16, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 2, 4, 4, 4, 8, 0, 4, 4, 8, 1, 1, 2, 2, 1, 1,
};

/* Code inlined from a header carries the chain of calls that led to it; a person wants the line of the own
 * file. */
void insn_place(const struct ptx_module *m, const struct insn *i, const char **file, int *line)
{
    uint32_t own = m->funcs[i->func].main_file;
    const struct loc *innermost = NULL;
    for (uint32_t at = i->loc, hops = 0; at && hops < 64; at = m->locs[at].inlined_at, hops++) {
        const struct loc *l = &m->locs[at];
        if (!innermost)
            innermost = l;
        if (l->file == own) {
            innermost = l;
            break;
        }
    }
    *file = innermost && innermost->file < m->n_files ? m->files[innermost->file] : NULL;
    *line = innermost ? (int)innermost->line : 0;
}

int insn_line(const struct ptx_module *m, const struct insn *i)
{
    const char *file;
    int line;
    insn_place(m, i, &file, &line);
    return line;
}

/* ---- names of ends and findings ---- */

const char *ptx_end_name(enum ptx_end e)
{
    static const char *const names[] = {"done", "unsupported", "bad launch", "unsafe", "crashed", "hung"};
    return (size_t)e < ARRAY_LEN(names) ? names[e] : "unknown";
}

const char *ptx_finding_name(enum ptx_finding_kind k)
{
    static const char *const names[] = {
        "out-of-bounds",
        "misaligned",
        "uninitialised",
        "race-shared",
        "race-global",
        "nc-written",
        "read-only-written",
        "divergent-barrier",
        "null-pointer",
        "assertion-failed",
        "trap",
        "endless-loop",
        "deadlock",
        "bad-launch",
        "unsupported-opcode",
        "mbarrier-misuse",
        "missing-proxy-fence",
        "early-exit",
        "early-access",
        "wgmma-misuse",
        "not-waited-for",
    };
    return (size_t)k < ARRAY_LEN(names) ? names[k] : "unknown";
}

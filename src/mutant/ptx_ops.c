/* Mutants of PTX, a line at a time: what the source's operators cannot say, such as how a result is rounded. */
#include "internal.h"

static const struct {
    const char *op, *from,
        *to; /* the instruction's text up to its first operand; "" leaves the instruction out */
} swaps[] = {
    {"ptx-rounding", "cvt.rn.f16.f32", "cvt.rz.f16.f32"},
    {"ptx-rounding", "cvt.rn.bf16.f32", "cvt.rz.bf16.f32"},
    {"ptx-rounding", "cvt.rn.f16x2.f32", "cvt.rz.f16x2.f32"},
    {"ptx-rounding", "cvt.rn.bf16x2.f32", "cvt.rz.bf16x2.f32"},
    {"ptx-add-sub", "add.f32", "sub.f32"},
    {"ptx-add-sub", "add.ftz.f32", "sub.ftz.f32"},
    {"ptx-add-sub", "sub.f32", "add.f32"},
    {"ptx-add-sub", "sub.ftz.f32", "add.ftz.f32"},
    {"ptx-compare", "setp.lt.", "setp.le."},
    {"ptx-compare", "setp.le.", "setp.lt."},
    {"ptx-compare", "setp.gt.", "setp.ge."},
    {"ptx-compare", "setp.ge.", "setp.gt."},
    {"ptx-min-max", "max.", "min."},
    {"ptx-min-max", "min.", "max."},
    {"ptx-barrier", "bar.sync", ""},
    {"ptx-barrier", "barrier.sync", ""},
    {"ptx-barrier", "bar.warp.sync", ""},
    {"ptx-store", "st.global", ""},
    {"ptx-shared-store", "st.shared", ""},
    {"ptx-atomic", "red.global", ""},
    {"ptx-atomic", "atom.global.add", "atom.global.max"},
};

const char *const ptx_op_names[PTX_OPS] = {"ptx-rounding",     "ptx-add-sub", "ptx-compare",
                                           "ptx-min-max",      "ptx-barrier", "ptx-store",
                                           "ptx-shared-store", "ptx-atomic",  "ptx-fma"};

/* fma d, a, b, c without its sum. */
static const char *fma_without_sum(struct arena *a, const char *insn, size_t len)
{
    const char *comma = insn + len;

    if (!str_starts(insn, "fma.rn.") || len > 200)
        return NULL;
    while (comma > insn && *comma != ',')
        comma--;
    return comma == insn ? NULL : arena_printf(a, "mul.%.*s", (int)(comma - insn - 4), insn + 4);
}

void mutants_of_ptx(const char *ptx, size_t len, struct arena *a, const struct mutant **list, size_t *n)
{
    mutant_vec found = {0};
    int line = 0;

    for (size_t at = 0; at < len;) {
        const char *p = ptx + at;
        size_t n_line = strcspn(p, "\n"), skip = strspn(p, " \t");
        unsigned file, loc;
        if (sscanf(p + skip, ".loc %u %u", &file, &loc) == 2)
            line = (int)loc;
        if (p[skip] == '@')
            skip += strcspn(p + skip, " \t\n") + strspn(p + skip + strcspn(p + skip, " \t\n"), " \t");
        size_t insn = strcspn(p + skip, ";\n");
        for (size_t i = 0; i < ARRAY_LEN(swaps) && skip < n_line && p[skip + insn] == ';'; i++) {
            if (!str_starts(p + skip, swaps[i].from))
                continue;
            struct mutant m = {
                .op = swaps[i].op, .line = line, .ptx = true, .from = at + skip, .is = swaps[i].to};
            m.to = m.from + (*m.is ? strlen(swaps[i].from) : insn + 1);
            mutant_add(&found, a, ptx, m);
        }
        const char *product =
            skip < n_line && p[skip + insn] == ';' ? fma_without_sum(a, p + skip, insn) : NULL;
        if (product)
            mutant_add(&found, a, ptx,
                       (struct mutant){.op = "ptx-fma",
                                       .line = line,
                                       .ptx = true,
                                       .from = at + skip,
                                       .to = at + skip + insn,
                                       .is = product});
        at += n_line + 1;
    }
    *list = arena_copy(a, found.v, found.n * sizeof(*found.v));
    *n = found.n;
    vec_free(&found);
}

/* What of a module's code ran. The loop that executes a warp writes a byte an instruction; here it becomes
 * places of the source. */
#include "machine.h"

size_t ptx_coverage_bytes(const struct ptx_module *m)
{
    return m->n_code + 1;
}

static bool is_code(const struct insn *i)
{
    return i->op != OP_bound_end;
}

/* A conditional branch or a selection has two directions. */
static bool is_branch(const struct insn *i)
{
    return i->op == OP_selp || (i->op == OP_bra && i->guard);
}

static size_t directions_taken(const struct insn *i, unsigned ran)
{
    if (i->op == OP_selp)
        return (size_t) !!(ran & RAN_FIRST) + !!(ran & RAN_SECOND);
    return (size_t) !!(ran & RAN_EXECUTED) + !!(ran & RAN_GUARDED);
}

/* One whose guard was false in every lane that came to it is not executed, but a branch then went on. */
static bool was_reached(const struct insn *i, unsigned ran)
{
    return (ran & RAN_EXECUTED) || (is_branch(i) && ran);
}

static const struct func *func_named(const struct ptx_module *m, const char *name)
{
    for (size_t k = 0; k < m->n_funcs; k++)
        if (m->funcs[k].has_body && str_eq(m->funcs[k].name, name))
            return &m->funcs[k];
    return NULL;
}

void ptx_coverage_carry(const struct ptx_module *from, const uint8_t *ran, const struct ptx_module *to,
                        uint8_t *into)
{
    for (size_t k = 0; k < from->n_funcs; k++) {
        const struct func *f = &from->funcs[k], *g = f->has_body ? func_named(to, f->name) : NULL;
        if (g && f->end - f->first == g->end - g->first)
            memcpy(into + g->first, ran + f->first, f->end - f->first);
    }
}

static bool func_ran(const struct func *f, const uint8_t *ran)
{
    for (uint32_t pc = f->first; pc < f->end; pc++)
        if (ran[pc])
            return true;
    return false;
}

typedef VEC(struct ptx_gap) gap_list;

static struct ptx_gap *gap_at(gap_list *list, const struct func *f, const char *file, int line)
{
    for (size_t k = 0; k < list->n; k++)
        if (list->v[k].line == line && str_eq(list->v[k].kernel, f->name) && str_eq(list->v[k].file, file))
            return &list->v[k];
    vec_push(list, ((struct ptx_gap){.kernel = f->name, .file = file, .line = line}));
    return &vec_last(list);
}

static void add_func(const struct ptx_module *m, const struct func *f, const uint8_t *ran, gap_list *gaps,
                     struct ptx_coverage *c)
{
    bool whole = !func_ran(f, ran);

    for (uint32_t pc = f->first; pc < f->end; pc++) {
        const struct insn *i = &m->code[pc];
        size_t taken = is_branch(i) ? directions_taken(i, ran[pc]) : 2;
        bool reached = was_reached(i, ran[pc]);
        const char *file;
        int line;
        if (!is_code(i))
            continue;
        c->instructions++;
        c->executed += reached;
        c->branches += is_branch(i);
        c->directions += is_branch(i) ? taken : 0;
        if (reached && taken == 2)
            continue;
        insn_place(m, i, &file, &line);
        struct ptx_gap *gap = gap_at(gaps, f, file, line);
        gap->whole = whole;
        gap->instructions += !reached;
        gap->directions += reached ? 2 - taken : 0;
    }
}

/* The same line may stand in several kernels, and in one several times. */
static bool line_ran(const struct ptx_module *m, const uint8_t *ran, const struct ptx_gap *gap)
{
    for (size_t pc = 0; pc < m->n_code; pc++) {
        const struct insn *i = &m->code[pc];
        const char *file;
        int line;
        if (!is_code(i) || !was_reached(i, ran[pc]))
            continue;
        insn_place(m, i, &file, &line);
        if (line == gap->line && str_eq(file, gap->file))
            return true;
    }
    return false;
}

struct ptx_coverage ptx_coverage_of(const struct ptx_module *m, const uint8_t *ran, struct arena *a)
{
    struct ptx_coverage c = {0};
    gap_list gaps = {0};

    for (size_t k = 0; k < m->n_funcs; k++)
        if (m->funcs[k].has_body)
            add_func(m, &m->funcs[k], ran, &gaps, &c);
    for (size_t k = 0; k < gaps.n; k++) {
        gaps.v[k].idle = !line_ran(m, ran, &gaps.v[k]);
        gaps.v[k].kernel = arena_strdup(a, gaps.v[k].kernel);
        gaps.v[k].file = arena_strdup(a, gaps.v[k].file);
    }
    c.gaps = arena_copy(a, gaps.v, gaps.n * sizeof(*gaps.v));
    c.n_gaps = gaps.n;
    vec_free(&gaps);
    return c;
}

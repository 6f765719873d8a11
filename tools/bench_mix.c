/* The mix of bench_sim: every handler of a module is replaced by one that counts. Apart because it looks inside
 * the simulator. */
#include "ptx/observe.h"

void mix_begin(struct ptx_module *m);
void mix_end(struct ptx_module *m);

static uint64_t *counts;
static exec_fn **handlers;

static void count(struct warp *w, const struct insn *i, uint32_t m)
{
    counts[i->self]++;
    handlers[i->self](w, i, m);
}

void mix_begin(struct ptx_module *m)
{
    counts = mem_zalloc(m->n_code * sizeof(*counts));
    handlers = mem_zalloc(m->n_code * sizeof(*handlers));
    for (size_t k = 0; k < m->n_code; k++) {
        handlers[k] = m->code[k].fn;
        m->code[k].fn = count;
    }
}

struct row {
    const char *text;
    uint64_t n;
};

static int row_compare(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->n != y->n ? ORDER(y->n, x->n) : strcmp(x->text, y->text);
}

void mix_end(struct ptx_module *m)
{
    struct row *rows = mem_zalloc((m->n_code + 1) * sizeof(*rows));
    size_t n = 0;
    uint64_t total = 0;
    for (size_t k = 0; k < m->n_code; k++) {
        size_t r = 0;
        while (r < n && strcmp(rows[r].text, m->code[k].text))
            r++;
        n += r == n;
        rows[r].text = m->code[k].text;
        rows[r].n += counts[k];
        total += counts[k];
        m->code[k].fn = handlers[k];
    }
    qsort(rows, n, sizeof(*rows), row_compare);
    printf("    ");
    for (size_t r = 0; r < n && r < 8; r++)
        printf("%s%s %.0f %%", r ? ", " : "", rows[r].text, 100.0 * (double)rows[r].n / (double)total);
    printf("\n");
    free(rows);
    free(counts);
    free(handlers);
}

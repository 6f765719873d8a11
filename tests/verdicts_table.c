/* What became of the corpora, as tables of docs. */
#include <errno.h>

#include "verdicts.h"

#define DOCUMENT "docs/results/corpora.md"
static const char mark[] = "<!-- made by build/tests/verdicts -w -->\n", end_mark[] = "<!-- end -->\n";

static const char *const exploits[N_ROWS] = {
    [1] = "computes something else and passes an easy suite",
    [2] = "leaves its output to what memory still holds",
    [3] = "reads the expected answer elsewhere in memory",
    [4] = "keeps results from one call to the next",
    [5] = "keys on a pointer's value",
    [6] = "treats the shapes it is tested on specially",
    [7] = "ignores an input, or answers a constant",
    [8] = "skips work on zeros, repeats, structure",
    [9] = "writes its inputs, or aliases buffers",
    [10] = "computes in lower precision than the original",
    [11] = "uses up a loose tolerance",
    [12] = "drops semantics: eps, maxima, masks, NaN and inf, sizes and indices beyond 32 bits",
    [13] = "writes a part of the output, or garbage in the tail",
    [14] = "reaches outside of its buffers",
    [15] = "races, or lacks a barrier, and passes by luck",
    [16] = "uses memory that nothing initialised, or more than there is",
    [17] = "launches from the device, or before its turn",
    [18] = "pins lines in the L2",
    [19] = "senses the harness",
    [20] = "disturbs the clocks",
    [21] = "works outside of the timed interval",
    [22] = "has an impossible time",
    [23] = "is the luckiest of many noisy ones",
    [24] = "attacks the compiler, or the reader of its logs",
    [25] = "hangs or crashes",
    [26] = "submits an old idea again",
    [27] = "is one thing when judged and another when shipped",
};

/* "3 cheat, 1 unsafe" */
static void add_verdicts(struct str *s, int corpus, int row, bool got)
{
    const char *between = "";

    for (enum verdict v = 0; v <= VERDICT_CHEAT; v++) {
        int n = 0;
        for (size_t i = 0; i < files.n; i++) {
            const struct corpus_file *f = &files.v[i];
            n += f->corpus == corpus && f->row == row && (got ? f->got == v : verdict_expected(f->expected, v));
        }
        if (n) {
            str_addf(s, "%s%d %s", between, n, verdict_name(v));
            between = ", ";
        }
    }
}

/* The names below their tasks. */
static size_t add_names(struct str *s, int corpus, int row)
{
    const char *task = "";
    size_t n = 0;

    for (size_t i = 0; i < files.n; i++) {
        const struct corpus_file *f = &files.v[i];
        if (f->corpus != corpus || f->row != row)
            continue;
        if (!str_eq(task, f->task))
            str_addf(s, "%s%s: ", n ? "; " : "", task = f->task);
        else
            str_add(s, ", ");
        str_addf(s, "%.*s", (int)(strlen(f->name) - strlen(".cu")), f->name);
        n++;
    }
    return n;
}

static size_t count(int corpus, bool good)
{
    size_t n = 0;

    for (size_t i = 0; i < files.n; i++)
        n += files.v[i].corpus == corpus && (!good || files.v[i].good);
    return n;
}

void make_table(struct str *s)
{
    str_addf(s, "%zu of %zu cheats and %zu of %zu bugs rejected, each with the verdict it was written for; ",
             count(CHEATS, true), count(CHEATS, false), count(BUGS, true), count(BUGS, false));
    str_addf(s, "%zu of %zu legitimate kernels rejected.\n\n", count(LEGIT, false) - count(LEGIT, true),
             count(LEGIT, false));
    str_add(s, "| row | a kernel that | corpus | files | expected | got |\n|---:|---|---|---|---|---|\n");
    for (int row = 1; row < N_ROWS; row++)
        for (int corpus = CHEATS; corpus <= BUGS; corpus++) {
            struct str names = {0};
            if (add_names(&names, corpus, row)) {
                str_addf(s, "| %d | %s | %s | %s | ", row, exploits[row], corpora[corpus], str_text(&names));
                add_verdicts(s, corpus, row, false);
                str_add(s, " | ");
                add_verdicts(s, corpus, row, true);
                str_add(s, " |\n");
            }
            str_free(&names);
        }
    str_add(s, "| | is right | legit | ");
    add_names(s, LEGIT, 0);
    str_addf(s, " | %zu passed | %zu passed |\n", count(LEGIT, false), count(LEGIT, true));
}

/* ---- what became of the compiled files ---- */

static size_t count_shipped(int corpus, const char *device_code)
{
    size_t n = 0;

    for (size_t i = 0; i < files.n; i++)
        n += files.v[i].corpus == corpus && str_eq(files.v[i].shipped.device_code, device_code);
    return n;
}

bool write_confirmation(const char *path, double took_s, size_t left_out, struct err *err)
{
    struct str s = {0};

    if (left_out)
        str_addf(&s, "%zu of %zu files so far: the time was too short for the others.\n", files.n,
                 files.n + left_out);
    str_addf(
        &s,
        "The last call took %.0f min. Device code: nvcc's is NVRTC's but for names (same), or was judged in its stead "
        "(run). What is rejected before nvcc is asked has neither.\n\n"
        "| corpus | files | as expected | compiled and compared | same | run | launchers run | shapes whose plans "
        "are the judged ones |\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
        took_s / 60);
    for (int corpus = CHEATS; corpus < REFUSED; corpus++) {
        size_t asked = 0, ran = 0, compared = 0;
        for (size_t i = 0; i < files.n; i++) {
            const struct trial_shipped *x = &files.v[i].shipped;
            if (files.v[i].corpus != corpus || !x->asked)
                continue;
            asked++;
            ran += x->shapes && !x->not_run_because;
            compared += x->compared;
        }
        if (count(corpus, false))
            str_addf(&s, "| %s | %zu | %zu | %zu | %zu | %zu | %zu | %zu |\n", corpora[corpus],
                     count(corpus, false), count(corpus, true), asked, count_shipped(corpus, "same"),
                     count_shipped(corpus, "run"), ran, compared);
    }
    str_addc(&s, '\n');
    for (size_t i = 0; i < files.n; i++)
        if (!files.v[i].good)
            str_addf(&s, "- not as expected: `%s` is %s\n", files.v[i].path, verdict_name(files.v[i].got));
    bool ok = fs_write_text(path, str_text(&s), err);
    str_free(&s);
    return ok;
}

/* Whether the table stands in the document; written, it does. */
bool table_stands(struct arena *a, const struct str *table, bool write, struct err *err)
{
    char *text, *from, *to;

    if (!fs_read(a, DOCUMENT, &text, NULL, err))
        return false;
    if (!(from = strstr(text, mark)) || !(to = strstr(from, end_mark)))
        return err_at(err, DOCUMENT, 0, 0, "lacks %s", mark);
    from += strlen(mark);
    if ((size_t)(to - from) == table->len && !memcmp(from, str_text(table), table->len))
        return true;
    if (!write)
        return err_at(err, DOCUMENT, 0, 0,
                      "its table is not that of this run: build/tests/verdicts -w writes it");
    const char *now = arena_printf(a, "%.*s%s%s", (int)(from - text), text, str_text(table), to);
    return fs_write_text(DOCUMENT, now, err);
}

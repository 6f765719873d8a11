/* NVIDIA's profiler run on a program, and its two printed pages read: "raw", one row a launch, and "source",
 * one row a machine instruction. Clocks are left alone: its default would change them. */
#include "internal.h"

#include <unistd.h>

static const char *const counters[] = {
#define COUNTER(name, metric, what) metric,
#include "counter.def"
#undef COUNTER
};
_Static_assert(N_COUNTERS <= 24, "each further group of counters costs a replay");

/* ---- its pages ---- */

struct csv {
    const char *p, *end;
};

enum { MAX_FIELDS = 4096 };

struct row {
    const char *field[MAX_FIELDS];
    size_t n;
};

/* The next line as fields; false at the end. Fields stand in quotes, with quotes inside doubled. */
static bool csv_row(struct csv *c, struct arena *a, struct row *r)
{
    if (c->p >= c->end)
        return false;
    r->n = 0;
    for (;;) {
        const char *start = c->p;
        if (c->p < c->end && *c->p == '"') {
            size_t cap = 64, n = 0;
            char *field = arena_alloc(a, cap);
            for (c->p++; c->p < c->end; c->p++) {
                if (*c->p == '"' && (c->p + 1 == c->end || c->p[1] != '"'))
                    break;
                c->p += *c->p == '"';
                if (n + 1 == cap) {
                    char *wider = arena_alloc(a, cap *= 2);
                    field = memcpy(wider, field, n);
                }
                field[n++] = *c->p;
            }
            field[n] = '\0';
            c->p += c->p < c->end;
            if (r->n < MAX_FIELDS)
                r->field[r->n++] = field;
        } else {
            while (c->p < c->end && *c->p != ',' && *c->p != '\n')
                c->p++;
            if (r->n < MAX_FIELDS)
                r->field[r->n++] = arena_strndup(a, start, (size_t)(c->p - start));
        }
        while (c->p < c->end && *c->p != ',' && *c->p != '\n')
            c->p++;
        if (c->p >= c->end || *c->p++ == '\n')
            return true;
    }
}

static int column(const struct row *head, const char *name)
{
    for (size_t i = 0; i < head->n; i++)
        if (str_eq(head->field[i], name))
            return (int)i;
    return -1;
}

/* "2,102,528" and "31456.5"; NAN for anything else. */
static double number(const struct row *r, int col)
{
    char buf[64];
    size_t n = 0;
    const char *s = col >= 0 && (size_t)col < r->n ? r->field[col] : "";
    char *end;

    for (; *s && n + 1 < sizeof(buf); s++)
        if (*s != ',')
            buf[n++] = *s;
    buf[n] = '\0';
    double v = strtod(buf, &end);
    return n == 0 || *end || !isfinite(v) ? NAN : v;
}

typedef VEC(struct counted_launch) launch_vec;

static bool read_raw(struct csv c, struct arena *a, launch_vec *list, struct err *err)
{
    struct row head, r;
    int cols[N_COUNTERS], name = -1, id = -1;

    while (name < 0 && csv_row(&c, a, &head)) {
        name = column(&head, "Kernel Name");
        id = column(&head, "ID");
    }
    if (name < 0 || id < 0)
        return err_world(err, "the profiler printed no table of launches");
    for (int i = 0; i < N_COUNTERS; i++)
        cols[i] = column(&head, counters[i]);
    while (csv_row(&c, a, &r)) {
        struct counted_launch l = {0};
        if ((size_t)name >= r.n || isnan(number(&r, id)))
            continue; /* the row of units */
        l.kernel = r.field[name];
        for (int i = 0; i < N_COUNTERS; i++)
            l.v[i] = number(&r, cols[i]);
        vec_push(list, l);
    }
    return true;
}

static const struct {
    const char *title;
    size_t offset;
} columns[] = {
    {"# Samples", offsetof(struct counted_insn, samples)},
    {"Instructions Executed", offsetof(struct counted_insn, warps)},
    {"Thread Instructions Executed", offsetof(struct counted_insn, threads)},
    {"L1 Tag Requests Global", offsetof(struct counted_insn, requests)},
    {"L2 Theoretical Sectors Global", offsetof(struct counted_insn, sectors)},
    {"L2 Theoretical Sectors Global Ideal", offsetof(struct counted_insn, ideal_sectors)},
    {"L1 Conflicts Shared N-Way", offsetof(struct counted_insn, shared_ways)},
};

/* A launch begins with its kernel's name; then a head, then its instructions. They come in the launches' order.
 */
static void read_source(struct csv c, struct arena *a, launch_vec *list)
{
    struct row r;
    VEC(struct counted_insn) insns = {0};
    int cols[ARRAY_LEN(columns)];
    size_t launch = 0;
    bool inside = false;

    for (bool more = true; more;) {
        more = csv_row(&c, a, &r);
        bool begins = more && str_eq(r.field[0], "Kernel Name");
        if ((begins || !more) && inside) {
            if (launch < list->n) {
                list->v[launch].insns = arena_copy(a, insns.v, insns.n * sizeof(*insns.v));
                list->v[launch].n_insns = insns.n;
            }
            launch++;
            vec_clear(&insns);
            inside = false;
        } else if (more && str_eq(r.field[0], "Address")) {
            for (size_t i = 0; i < ARRAY_LEN(columns); i++)
                cols[i] = column(&r, columns[i].title);
            inside = true;
        } else if (more && inside && str_starts(r.field[0], "0x")) {
            struct counted_insn x = {0};
            for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
                double v = number(&r, cols[i]);
                *(double *)((char *)&x + columns[i].offset) = isfinite(v) ? v : 0;
            }
            vec_push(&insns, x);
        }
    }
    vec_free(&insns);
}

bool ncu_read(struct arena *a, const char *raw, size_t raw_len, const char *source, size_t source_len,
              struct counted_run *r, struct err *err)
{
    struct arena *scratch = arena_open();
    launch_vec list = {0};
    bool ok = read_raw((struct csv){raw, raw + raw_len}, scratch, &list, err);

    if (ok)
        read_source((struct csv){source, source + source_len}, scratch, &list);
    for (size_t i = 0; i < list.n; i++) {
        list.v[i].kernel = arena_strdup(a, list.v[i].kernel);
        list.v[i].insns = arena_copy(a, list.v[i].insns, list.v[i].n_insns * sizeof(*list.v[i].insns));
    }
    r->launches = arena_copy(a, list.v, list.n * sizeof(*list.v));
    r->n_launches = list.n;
    vec_free(&list);
    arena_close(scratch);
    return ok;
}

/* ---- the program ---- */

char *ncu_path(struct arena *a)
{
    return tool_path(a, "ASTRA_NCU", "ncu", "/opt/nvidia/nsight-compute/*");
}

/* Why a run gave nothing, from what it printed. */
static const char *reason(struct arena *a, const struct proc_result *r)
{
    static const char *const texts[][2] = {
        {"ERR_NVGPUCTRPERM",
         "this user may not read the GPU's counters: run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0"},
        {"LibraryNotLoaded",
         "the profiler cannot reach the GPU's counters here (LibraryNotLoaded), as in some sandboxes"},
        {"Driver resource unavailable",
         "another profiler holds the GPU's counters; end it (dcgm: `dcgmi profile --pause`)"},
        {"ERR_NVGPU", "the profiler reports an error of the driver"},
    };
    const char *out = str_text(&r->out), *err = str_text(&r->err);

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (strstr(out, texts[i][0]) || strstr(err, texts[i][0]))
            return texts[i][1];
    if (r->end == PROC_TIMED_OUT)
        return "the profiler did not end in time";
    const char *said = strstr(out, "==ERROR==");
    if (!said)
        said = strstr(err, "==ERROR==");
    return said ? arena_printf(a, "the profiler says: %.*s", (int)MIN(strcspn(said + 10, "\n"), (size_t)200),
                               said + 10)
                : arena_printf(a, "the profiler ended with status %d", r->status);
}

static void result_free(struct proc_result *r)
{
    str_free(&r->out);
    str_free(&r->err);
}

bool ncu_run(struct arena *a, const char *const *argv, const char *scratch, double limit_s,
             struct counted_run *r, struct err *err)
{
    const char *ncu = ncu_path(a), *report = arena_printf(a, "%s/astra-%ld", scratch, (long)getpid());
    char *file = arena_printf(a, "%s.ncu-rep", report);
    const struct proc_limits limits = {.wall_s = limit_s, .output_bytes = 256u << 20};
    struct proc_result ran, raw = {0}, source = {0};
    struct str metrics = {0};
    const char *args[64];
    size_t k = 0;
    bool ok = true;

    *r = (struct counted_run){0};
    if (!ncu) {
        r->why_not = "there is no ncu (Nsight Compute) on PATH or in the toolkit; ASTRA_NCU names one";
        return true;
    }
    for (int i = 0; i < N_COUNTERS; i++)
        str_addf(&metrics, "%s%s", i ? "," : "", counters[i]);
    const char *const options[] = {ncu,
                                   "-f",
                                   "-o",
                                   report,
                                   "--clock-control",
                                   "none",
                                   "--profile-from-start",
                                   "off",
                                   "--metrics",
                                   str_text(&metrics),
                                   "--section",
                                   "SourceCounters",
                                   "--target-processes",
                                   "application-only"};
    for (; k < ARRAY_LEN(options); k++)
        args[k] = options[k];
    for (; *argv && k + 1 < ARRAY_LEN(args); argv++)
        args[k++] = *argv;
    args[k] = NULL;
    if (*argv)
        BUG("a command of more than %zu words", ARRAY_LEN(args));
    if (!proc_run(args, NULL, &limits, &ran, err)) {
        str_free(&metrics);
        return false;
    }
    if (ran.end != PROC_EXITED || ran.status != 0 || !fs_exists(file))
        r->why_not = reason(a, &ran);
    result_free(&ran);
    if (!r->why_not) {
        const char *const pages[2][16] = {
            {ncu, "--import", file, "--page", "raw", "--csv", "--print-units", "base", "--print-kernel-base",
             "mangled", NULL},
            {ncu, "--import", file, "--page", "source", "--csv", "--print-kernel-base", "mangled", NULL}};
        ok = proc_run(pages[0], NULL, &limits, &raw, err) && proc_run(pages[1], NULL, &limits, &source, err);
        struct err unread = {0};
        if (ok &&
            !ncu_read(a, str_text(&raw.out), raw.out.len, str_text(&source.out), source.out.len, r, &unread))
            r->why_not = arena_strdup(a, unread.text);
    }
    unlink(file);
    result_free(&raw);
    result_free(&source);
    str_free(&metrics);
    return ok;
}

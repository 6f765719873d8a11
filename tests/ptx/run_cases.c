/* Runs conformance cases on the simulator, with every check of the sanitizer on, in natural and in permuted
 * order of warps and blocks: run_cases FILE-OR-FOLDER... [-c CASE] [-v] [-o FILE: the bits where a case
 * names none]. Prints each failure and a count; exit status 1 when anything failed. */
#include "case.h"

#include <dirent.h>

#include "clock/clock.h"
#include "sanitize/sanitize.h"

struct tally {
    size_t passed, failed;
    const char *only; /* run this case alone */
    bool verbose;
    FILE *open; /* or NULL */
};

static void failed(struct tally *t, const char *file, const struct ptx_case *c, const char *words)
{
    t->failed++;
    printf("%s:%d: %s: %s\n", file, c->line, c->entry, words);
}

/* "" when the case passes, else why not. got: for each array what the run left. */
static const char *run_case(struct ptx_module *m, const struct ptx_case *c, uint64_t seed, struct arena *a,
                            uint8_t **got)
{
    struct ptx_mem *mem = ptx_mem_open(seed);
    uint64_t addr[CASE_ARRAYS];
    const void *args[CASE_ARRAYS];
    struct err err = {0};
    char words[4096] = "";
    for (size_t k = 0; k < c->n_arrays; k++) {
        const struct array *r = &c->arrays[k];
        struct ptx_buffer b = {
            .name = r->name, .size_bytes = r->n * r->size, .initialised = r->initial != NULL};
        addr[k] = ptx_mem_alloc(mem, &b, &err);
        args[k] = &addr[k];
        if (!addr[k] || (r->initial && !ptx_mem_write(mem, addr[k], r->initial, r->n * r->size, true)))
            BUG("no memory for a case");
    }
    struct ptx_launch launch = {.kernel = c->entry,
                                .grid = {c->grid, 1, 1},
                                .block = {c->block, 1, 1},
                                .shared_bytes = c->shared_bytes,
                                .cluster = {c->cluster, c->cluster ? 1 : 0, c->cluster ? 1 : 0},
                                .args = args,
                                .n_args = c->n_arrays};
    struct sanitizer sanitizer;
    struct ptx_options options = {
        .device = ptx_device_find("h200"), .observers = {sanitizer_on(&sanitizer, SANITIZE_ALL)}, .seed = seed};
    struct ptx_report report = {0};
    if (!ptx_run(m, mem, &launch, &options, &report, &err)) {
        snprintf(words, sizeof(words), "%s", err.text);
    } else if (report.end != PTX_DONE || report.n_findings) {
        snprintf(words, sizeof(words), "%s: %s", ptx_end_name(report.end),
                 report.n_findings ? report.findings[0].words : "no finding");
    } else {
        for (size_t k = 0; k < c->n_arrays && !words[0]; k++) {
            size_t size = c->arrays[k].n * c->arrays[k].size;
            char first[256];
            got[k] = arena_alloc(a, size);
            ptx_mem_read(mem, addr[k], got[k], size);
            size_t n = case_compare(c, k, got[k], first, sizeof(first));
            if (n)
                snprintf(words, sizeof(words), "%s%s", first, n > 1 ? " (and others)" : "");
        }
    }
    ptx_report_clear(&report);
    ptx_mem_close(mem);
    return arena_strdup(a, words);
}

static const char *run_twice(struct ptx_module *m, struct ptx_module *portable, const struct ptx_case *c,
                             FILE *open, struct arena *a)
{
    uint8_t *got[2][CASE_ARRAYS];
    const char *words = run_case(m, c, 0, a, got[0]);
    if (!words[0] && open)
        case_print_open(open, c, got[0]);
    if (!words[0])
        words = run_case(portable, c, 1, a, got[1]);
    for (size_t k = 0; k < c->n_arrays && !words[0]; k++)
        for (size_t e = 0; e < c->arrays[k].n && !words[0]; e++)
            if (c->arrays[k].want_kind[e] != TOKEN_ANY &&
                memcmp(got[0][k] + e * c->arrays[k].size, got[1][k] + e * c->arrays[k].size, c->arrays[k].size))
                words = arena_printf(a, "%s[%zu] depends on the instruction set or the order",
                                     c->arrays[k].name, e);
    return words;
}

/* The module with the portable handlers. */
static bool open_portable(struct ptx_module **m, const char *name, const char *text, size_t size,
                          struct err *err)
{
    const char *said = getenv("ASTRA_SIM_ISA");
    char *before = said ? mem_strdup(said) : NULL;
    setenv("ASTRA_SIM_ISA", "base", 1);
    bool ok = ptx_module_open(m, name, text, size, err);
    if (before)
        setenv("ASTRA_SIM_ISA", before, 1);
    else
        unsetenv("ASTRA_SIM_ISA");
    free(before);
    return ok;
}

static void run_file(struct tally *t, const char *file)
{
    struct arena *a = arena_open();
    struct err err = {0};
    struct ptx_module *m = NULL, *portable = NULL;
    struct ptx_case *cases = NULL;
    size_t n = 0, size = 0;
    char *text = NULL, line[4096];
    if (!fs_read(a, file, &text, &size, &err) || !case_parse(&cases, &n, file, text, a, &err)) {
        t->failed++;
        printf("%s\n", err_format(&err, line, sizeof(line)));
    } else if (!ptx_module_open(&m, fs_basename(file), text, size, &err) ||
               !open_portable(&portable, fs_basename(file), text, size, &err)) {
        t->failed += n ? n : 1;
        printf("%s: %zu cases: %s\n", file, n, err_format(&err, line, sizeof(line)));
    } else {
        for (size_t k = 0; k < n; k++) {
            if (t->only && !str_eq(t->only, cases[k].entry))
                continue;
            const char *words = run_twice(m, portable, &cases[k], t->open, a);
            if (words[0])
                failed(t, file, &cases[k], words);
            else
                t->passed++;
            if (t->verbose && !words[0])
                printf("%s: passed\n", cases[k].entry);
        }
    }
    ptx_module_close(m);
    ptx_module_close(portable);
    arena_close(a);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void run_folder(struct tally *t, const char *folder)
{
    DIR *d = opendir(folder);
    VEC(char *) names = {0};
    if (!d) {
        t->failed++;
        printf("%s: cannot be opened\n", folder);
        return;
    }
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        if (str_ends(e->d_name, ".ptx"))
            vec_push(&names, mem_strdup(e->d_name));
    closedir(d);
    qsort(names.v, names.n, sizeof(*names.v), by_name);
    for (size_t k = 0; k < names.n; k++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, names.v[k]);
        run_file(t, path);
        free(names.v[k]);
    }
    vec_free(&names);
}

int main(int argc, char **argv)
{
    struct tally t = {0};
    VEC(const char *) paths = {0};
    for (int k = 1; k < argc; k++) {
        if (str_eq(argv[k], "-v"))
            t.verbose = true;
        else if (str_eq(argv[k], "-c") && k + 1 < argc)
            t.only = argv[++k];
        else if (str_eq(argv[k], "-o") && k + 1 < argc)
            t.open = fopen(argv[++k], "w");
        else
            vec_push(&paths, argv[k]);
    }
    for (size_t k = 0; k < paths.n; k++) {
        if (fs_is_dir(paths.v[k]))
            run_folder(&t, paths.v[k]);
        else
            run_file(&t, paths.v[k]);
    }
    vec_free(&paths);
    if (t.open)
        fclose(t.open);
    printf("%zu cases passed, %zu failed\n", t.passed, t.failed);
    return t.failed || !t.passed;
}

/* The sanitizer's corpus: every NAME.cu in broken must get exactly the verdict and line that its comments
 * state, every one in right none, under each of several orders of warps and blocks. docs/integrity.md gives the
 * comments' form.
 *
 *     sanitizer [-v] [FILE or FOLDER]...     (default: both) */
#include "corpus.h"

#include "sanitize/sanitize.h"

static const uint64_t seeds[] = {0, 1, 20240607};
static bool verbose;

static bool place_buffers(struct corpus *c, struct ptx_mem *m, struct err *err)
{
    for (size_t k = 0; k < c->n_buffers; k++) {
        struct buffer *b = &c->buffers[k];
        bool given = corpus_given(b);
        b->fill = (struct fill){b, k + 1};
        b->addr = ptx_mem_alloc(m,
                                &(struct ptx_buffer){.name = b->name,
                                                     .size_bytes = b->count * b->size,
                                                     .initialised = given,
                                                     .read_only = !strcmp(b->role, "in"),
                                                     .fill = given ? corpus_fill : NULL,
                                                     .context = &b->fill},
                                err);
        if (!b->addr)
            return false;
    }
    for (size_t k = 0; k < c->n_buffers; k++)
        if (!strcmp(c->buffers[k].role, "freed"))
            ptx_mem_free(m, c->buffers[k].addr);
    return true;
}

struct outcome {
    char verdict[64], words[640];
    int line;
};

static void outcome_of(const struct ptx_report *r, struct outcome *o)
{
    static const char *const ends[] = {"passed", "unsupported", "launch-failed", "unsafe", "crashed", "hung"};
    const struct ptx_finding *f = r->n_findings ? &r->findings[0] : NULL;
    snprintf(o->verdict, sizeof(o->verdict), "%s%s%s", ends[r->end], f ? " " : "",
             f ? ptx_finding_name(f->kind) : "");
    snprintf(o->words, sizeof(o->words), "%s", f ? f->words : "");
    o->line = f ? f->line : 0;
}

static bool run_once(struct corpus *c, const struct compile_result *compiled, uint64_t seed, struct outcome *o,
                     struct err *err)
{
    struct ptx_module *module = NULL;
    struct ptx_mem *m = ptx_mem_open(seed);
    bool ok = ptx_module_open(&module, c->path, compiled->image.ptx, compiled->image.ptx_len, err) &&
              place_buffers(c, m, err);
    snprintf(o->verdict, sizeof(o->verdict), "passed");
    o->words[0] = 0;
    o->line = 0;
    for (size_t k = 0; ok && k < c->n_launches && !strcmp(o->verdict, "passed"); k++) {
        struct launch *l = &c->launches[k];
        uint64_t values[MAX_ARGS];
        const void *args[MAX_ARGS];
        for (size_t j = 0; ok && j < l->n_args; j++) {
            args[j] = &values[j];
            ok = corpus_argument(c, l->args[j], &values[j], err);
        }
        struct ptx_report r = {0};
        struct sanitizer sanitizer;
        struct ptx_options options = {.device = ptx_device_find("h200"),
                                      .observers = {sanitizer_on(&sanitizer, SANITIZE_ALL)},
                                      .seed = seed,
                                      .max_warp_insns = 20000000};
        for (size_t j = 0; j < compiled->image.n_kernels; j++)
            if (!strcmp(compiled->image.kernels[j].expression, l->kernel))
                options.registers = compiled->image.kernels[j].resources.registers;
        l->l.kernel = l->kernel;
        l->l.args = args;
        l->l.n_args = l->n_args;
        ok = ok && ptx_run(module, m, &l->l, &options, &r, err);
        if (ok)
            outcome_of(&r, o);
        ptx_report_clear(&r);
    }
    for (size_t k = 0; ok && k < c->n_buffers && !strcmp(o->verdict, "passed"); k++) {
        const struct buffer *b = &c->buffers[k];
        int64_t at = corpus_written(b) ? ptx_mem_first_uninitialised(m, b->addr, b->count * b->size) : -1;
        struct ptx_finding f;
        if (at < 0 || !ptx_mem_explain(m, b->addr + (uint64_t)at, &f))
            continue;
        snprintf(o->verdict, sizeof(o->verdict), "unsafe %s", ptx_finding_name(f.kind));
        snprintf(o->words, sizeof(o->words), "%s", f.words);
        o->line = f.line;
    }
    ptx_module_close(module);
    ptx_mem_close(m);
    return ok;
}

static bool as_expected(const struct corpus *c, const struct outcome *o)
{
    for (size_t k = 0; k < c->n_expected; k++)
        if (!strcmp(c->expected[k].verdict, o->verdict) && c->expected[k].line == o->line)
            return true;
    return !c->n_expected && !strcmp(o->verdict, "passed");
}

/* True when the kernel got what its comments say. */
static bool run_file(struct nvrtc *n, const char *path)
{
    struct arena *a = arena_open();
    struct corpus c = {.path = path};
    struct compile_result compiled;
    struct outcome o = {0};
    struct err err;
    char *text, line[3000];
    bool good = false, ok = fs_read(a, path, &text, NULL, &err);
    c.text = ok ? text : "";
    ok = ok && corpus_parse(&c, a, &err) && corpus_compile(n, a, &c, &compiled, &err);
    if (ok && !compiled.image.ptx) { /* a kernel that traps is refused as a cheat, but it has its PTX */
        snprintf(o.verdict, sizeof(o.verdict), "compile-failed");
        snprintf(o.words, sizeof(o.words), "%s", compiled.words ? compiled.words : "");
        good = as_expected(&c, &o);
    }
    for (size_t k = 0; ok && compiled.image.ptx && k < ARRAY_LEN(seeds); k++) {
        ok = run_once(&c, &compiled, seeds[k], &o, &err);
        good = ok && as_expected(&c, &o);
        if (!good)
            break;
    }
    if (!ok)
        printf("failed  %s: %s\n", path, err_format(&err, line, sizeof(line)));
    else if (!good)
        printf("failed  %s: expected %s line %d%s, got %s line %d: %s\n", path,
               c.n_expected ? c.expected[0].verdict : "passed", c.n_expected ? c.expected[0].line : 0,
               c.n_expected > 1 ? " (or another)" : "", o.verdict, o.line, o.words);
    else if (verbose)
        printf("passed  %s: %s line %d: %s\n", path, o.verdict, o.line, o.words);
    arena_close(a);
    return good;
}

static void run_path(struct nvrtc *n, struct arena *a, const char *path, int *passed, int *failed)
{
    size_t n_files;
    char **files = corpus_files(a, path, &n_files);
    for (size_t k = 0; k < n_files; k++) {
        bool good = run_file(n, files[k]);
        *passed += good;
        *failed += !good;
    }
}

int main(int argc, char **argv)
{
    struct nvrtc *n = NULL;
    struct err err;
    int passed = 0, failed = 0, paths = 0;
    if (!nvrtc_open(&n, &err)) {
        fprintf(stderr, "the corpus is not run: %s\n", err.text);
        return 77;
    }
    struct arena *a = arena_open();
    for (int k = 1; k < argc; k++) {
        if (!strcmp(argv[k], "-v")) {
            verbose = true;
            continue;
        }
        run_path(n, a, argv[k], &passed, &failed);
        paths++;
    }
    if (!paths) {
        run_path(n, a, "tests/sanitizer/broken", &passed, &failed);
        run_path(n, a, "tests/sanitizer/right", &passed, &failed);
    }
    printf("%d cases passed, %d failed\n", passed, failed);
    arena_close(a);
    nvrtc_close(n);
    return failed || !passed;
}

/* The sanitizer's corpus: every tests/bugs/NAME.cu must get exactly the verdict and line that its comments
 * state, every tests/legit/NAME.cu none, under each of several orders of warps and blocks. docs/sanitizer.md
 * gives the comments' form.
 *
 *     sanitizer [-v] [FILE or FOLDER]...     (default: tests/bugs tests/legit) */
#include <ctype.h>
#include <inttypes.h>
#include <dirent.h>

#include "gpu/gpu.h"

enum { MAX_BUFFERS = 8, MAX_LAUNCHES = 4, MAX_ARGS = 8, MAX_EXPECTED = 8 };

static const uint64_t seeds[] = {0, 1, 20240607};
static bool verbose;

struct buffer {
    char name[32], type[8], role[12], values[12];
    uint64_t count, addr;
    uint32_t size; /* of an element */
    struct fill {
        const struct buffer *b;
        uint64_t seed;
    } fill;
};

struct launch {
    char kernel[32];
    struct ptx_launch l;
    char args[MAX_ARGS][32];
    size_t n_args;
};

struct corpus {
    const char *path, *text;
    struct buffer buffers[MAX_BUFFERS];
    size_t n_buffers;
    struct launch launches[MAX_LAUNCHES];
    size_t n_launches;
    struct { /* "VERDICT FINDING" and its line, 0: the whole launch; none: passed */
        char verdict[48];
        int line;
    } expected[MAX_EXPECTED];
    size_t n_expected;
};

/* ---- reading the comments ---- */

static const struct {
    const char *name;
    uint32_t size;
} types[] = {{"u8", 1}, {"f16", 2}, {"bf16", 2}, {"i32", 4}, {"u32", 4}, {"f32", 4}, {"i64", 8}, {"f64", 8}};

static void parse_dims(const char *s, uint32_t d[3])
{
    d[0] = d[1] = d[2] = 1;
    for (int k = 0; k < 3 && *s; k++) {
        char *end;
        d[k] = (uint32_t)strtoul(s, &end, 10);
        s = *end == ',' ? end + 1 : end;
    }
}

static bool parse_launch(struct launch *l, char *words)
{
    char *save = NULL, *w = strtok_r(words, " ", &save);
    bool args = false;
    *l = (struct launch){.l = {.grid = {1, 1, 1}, .block = {1, 1, 1}}};
    if (!w)
        return false;
    snprintf(l->kernel, sizeof(l->kernel), "%s", w);
    while ((w = strtok_r(NULL, " ", &save))) {
        if (args) {
            if (l->n_args == MAX_ARGS)
                return false;
            snprintf(l->args[l->n_args++], sizeof(l->args[0]), "%s", w);
        } else if (!strcmp(w, "cooperative")) {
            l->l.cooperative = true;
        } else if (!strcmp(w, "args")) {
            args = true;
        } else {
            char *value = strtok_r(NULL, " ", &save);
            if (!value)
                return false;
            if (!strcmp(w, "grid"))
                parse_dims(value, l->l.grid);
            else if (!strcmp(w, "block"))
                parse_dims(value, l->l.block);
            else if (!strcmp(w, "shared"))
                l->l.shared_bytes = (uint32_t)strtoul(value, NULL, 10);
            else
                return false;
        }
    }
    return true;
}

static bool parse_line(struct corpus *c, char *line, int number)
{
    char *at;
    if ((at = strstr(line, "// expect: "))) {
        bool alone = strspn(line, " ") == (size_t)(at - line);
        if (c->n_expected == MAX_EXPECTED)
            return false;
        snprintf(c->expected[c->n_expected].verdict, sizeof(c->expected[0].verdict), "%s", at + 11);
        c->expected[c->n_expected++].line = alone ? 0 : number;
        return true;
    }
    if (str_starts(line, "// buffer: ")) {
        struct buffer *b = &c->buffers[c->n_buffers++];
        if (c->n_buffers > MAX_BUFFERS)
            return false;
        b->values[0] = 0;
        if (sscanf(line + 11, "%31s %7s %" SCNu64 " %11s %11s", b->name, b->type, &b->count, b->role,
                   b->values) < 4)
            return false;
        for (size_t k = 0; k < ARRAY_LEN(types); k++)
            if (!strcmp(types[k].name, b->type))
                b->size = types[k].size;
        return b->size > 0;
    }
    if (str_starts(line, "// launch: "))
        return c->n_launches < MAX_LAUNCHES && parse_launch(&c->launches[c->n_launches++], line + 11);
    return true;
}

static bool parse(struct corpus *c, struct arena *a, struct err *err)
{
    char *text = arena_strdup(a, c->text);
    int number = 1;
    for (char *line = text, *next; *line; line = next, number++) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = 0;
        if (!parse_line(c, line, number))
            return err_at(err, c->path, number, 1, "not understood: %s", line);
    }
    if (!c->n_launches)
        return err_at(err, c->path, 1, 1, "there is no '// launch:' line");
    return true;
}

/* ---- running ---- */

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

/* Cut off, not rounded; too small is zero. */
static uint16_t half_of(float x)
{
    uint32_t bits = bits_of(x), exponent = bits >> 23 & 255;
    return exponent < 113 || exponent > 142
               ? 0
               : (uint16_t)((bits >> 16 & 0x8000) | (exponent - 112) << 10 | (bits >> 13 & 0x3ff));
}

static void fill(void *context, uint64_t offset, void *to, size_t size)
{
    const struct fill *f = context;
    const struct buffer *b = f->b;
    for (size_t k = 0; k + b->size <= size; k += b->size) {
        uint64_t i = (offset + k) / b->size;
        double x = !strcmp(b->values, "zeros")   ? 0.0
                   : !strcmp(b->values, "index") ? (double)i
                                                 : 2.0 * rng_unit_of(rng_hash(f->seed, i)) - 1.0;
        uint8_t *p = (uint8_t *)to + k;
        if (!strcmp(b->type, "f32"))
            memcpy(p, &(float){(float)x}, 4);
        else if (!strcmp(b->type, "f64"))
            memcpy(p, &x, 8);
        else if (!strcmp(b->type, "f16"))
            memcpy(p, &(uint16_t){half_of((float)x)}, 2);
        else if (!strcmp(b->type, "bf16"))
            memcpy(p, &(uint16_t){(uint16_t)(bits_of((float)x) >> 16)}, 2);
        else
            memcpy(p, &(int64_t){strcmp(b->values, "index") && x ? (int64_t)(x * 100 + 100) : (int64_t)x},
                   b->size);
    }
}

static bool place_buffers(struct corpus *c, struct ptx_mem *m, struct err *err)
{
    for (size_t k = 0; k < c->n_buffers; k++) {
        struct buffer *b = &c->buffers[k];
        bool given = !strcmp(b->role, "in") || !strcmp(b->role, "inout");
        b->fill = (struct fill){b, k + 1};
        b->addr = ptx_mem_alloc(m,
                                &(struct ptx_buffer){.name = b->name,
                                                     .size_bytes = b->count * b->size,
                                                     .initialised = given,
                                                     .read_only = !strcmp(b->role, "in"),
                                                     .fill = given ? fill : NULL,
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

static bool argument(const struct corpus *c, const char *word, uint64_t *value, struct err *err)
{
    size_t name = strcspn(word, "+");
    *value = 0;
    if (!strcmp(word, "null"))
        return true;
    if (isdigit((unsigned char)word[0]) || word[0] == '-') {
        int64_t i = strtoll(word, NULL, 0);
        float f = strtof(word, NULL);
        if (strpbrk(word, ".f"))
            memcpy(value, &f, sizeof(f));
        else
            memcpy(value, &i, sizeof(i));
        return true;
    }
    for (size_t k = 0; k < c->n_buffers; k++)
        if (strlen(c->buffers[k].name) == name && !strncmp(c->buffers[k].name, word, name)) {
            *value = c->buffers[k].addr + (word[name] ? strtoull(word + name + 1, NULL, 0) : 0);
            return true;
        }
    return err_input(err, "%s: no buffer '%s'", c->path, word);
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
            ok = argument(c, l->args[j], &values[j], err);
        }
        struct ptx_report r = {0};
        struct ptx_options options = {.device = ptx_device_find("h200"),
                                      .checks = PTX_CHECK_ALL,
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
        int64_t at = strcmp(b->role, "out") && strcmp(b->role, "inout")
                         ? -1
                         : ptx_mem_first_uninitialised(m, b->addr, b->count * b->size);
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

static bool compile(struct nvrtc *n, struct arena *a, const struct corpus *c, struct compile_result *r,
                    struct err *err)
{
    const char *kernels[MAX_LAUNCHES];
    for (size_t k = 0; k < c->n_launches; k++)
        kernels[k] = c->launches[k].kernel;
    struct compile_request q = {.path = fs_basename(c->path),
                                .text = c->text,
                                .arch = "sm_90",
                                .kernels = kernels,
                                .n_kernels = c->n_launches};
    return gpu_compile(n, a, &q, r, err);
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
    ok = ok && parse(&c, a, &err) && compile(n, a, &c, &compiled, &err);
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

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void run_path(struct nvrtc *n, struct arena *a, const char *path, int *passed, int *failed)
{
    VEC(char *) files = {0};
    DIR *d = fs_is_dir(path) ? opendir(path) : NULL;
    for (struct dirent *e; d && (e = readdir(d));)
        if (str_ends(e->d_name, ".cu"))
            vec_push(&files, fs_join(a, path, e->d_name));
    if (d)
        closedir(d);
    else
        vec_push(&files, arena_strdup(a, path));
    if (files.n)
        qsort(files.v, files.n, sizeof(*files.v), by_name);
    for (size_t k = 0; k < files.n; k++) {
        bool good = run_file(n, files.v[k]);
        *passed += good;
        *failed += !good;
    }
    vec_free(&files);
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
        run_path(n, a, "tests/bugs", &passed, &failed);
        run_path(n, a, "tests/legit", &passed, &failed);
    }
    printf("%d cases passed, %d failed\n", passed, failed);
    arena_close(a);
    nvrtc_close(n);
    return failed || !passed;
}

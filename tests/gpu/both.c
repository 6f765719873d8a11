/* The sanitizer's corpus on this machine's GPU, beside the simulator: both GPU FILE|FOLDER...
 *
 * A right kernel must leave the same on both, bit for bit, or within N steps of a floating number where a file
 * says `// gpu: near N` and why. Of
 * a broken one a GPU need not say anything; but what the simulator calls a refused launch or a crash, the GPU
 * must refuse or crash at as well, and none may break the next: each runs in a process of its own. Prints a
 * line a file that differs, and the table of what a GPU said of each broken kernel. */
#include "../sanitizer/corpus.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sanitize/sanitize.h"

enum { POISON = 0xa5, MOST_BYTES = 8 << 20 };
#define LIMIT_S 2.0

struct side { /* what one device made of a file */
    enum ptx_end end;
    char words[256];
    size_t n; /* bytes of all outputs */
    unsigned char *bytes;
};

static const char *const ends[] = {"done", "unsupported", "refused", "unsafe", "crashed", "hung"};

static bool arguments(const struct corpus *c, struct launch *l, uint64_t values[MAX_ARGS],
                      const void *args[MAX_ARGS], struct err *err)
{
    for (size_t j = 0; j < l->n_args; j++) {
        args[j] = &values[j];
        if (!corpus_argument(c, l->args[j], &values[j], err))
            return false;
    }
    l->l.kernel = l->kernel;
    l->l.args = args;
    l->l.n_args = l->n_args;
    return true;
}

static void note(struct side *s, const struct ptx_report *r)
{
    s->end = r->end;
    snprintf(s->words, sizeof(s->words), "%s", r->n_findings ? r->findings[0].words : "");
}

static void *contents(struct buffer *b, size_t number)
{
    unsigned char *p = mem_alloc(b->count * b->size + 1);

    memset(p, POISON, b->count * b->size);
    b->fill = (struct fill){b, number + 1};
    if (corpus_given(b))
        corpus_fill(&b->fill, 0, p, b->count * b->size);
    return p;
}

static bool on_gpu(struct cuda *g, struct corpus *c, const struct compile_result *compiled, bool ptx,
                   struct side *s, struct err *err)
{
    const struct image *image = &compiled->image;
    struct cuda_module *m;
    struct cuda_buffers *space;
    uint64_t values[MAX_ARGS];
    const void *args[MAX_ARGS];

    if (!cuda_module_open(&m, g, ptx ? image->ptx : image->cubin, ptx ? image->ptx_len : image->cubin_len,
                          err) ||
        !cuda_buffers_open(&space, g, CUDA_GUARDED, 0, err))
        return false;
    for (size_t k = 0; k < c->n_buffers; k++) {
        struct buffer *b = &c->buffers[k];
        void *p = contents(b, k);
        b->addr = cuda_buffers_alloc(
            space, &(struct cuda_buffer){.name = b->name, .size_bytes = b->count * b->size}, err);
        bool ok = b->addr && cuda_write(g, b->addr, p, b->count * b->size, err);
        free(p);
        if (!ok)
            return false;
    }
    for (size_t k = 0; k < c->n_launches && s->end == PTX_DONE; k++) {
        struct ptx_report r = {0};
        if (!arguments(c, &c->launches[k], values, args, err) ||
            !cuda_launch(m, &c->launches[k].l, LIMIT_S, &r, err))
            return false;
        note(s, &r);
        ptx_report_clear(&r);
    }
    for (size_t k = 0; k < c->n_buffers && s->end == PTX_DONE; k++) {
        const struct buffer *b = &c->buffers[k];
        size_t n = b->count * b->size;
        if (!corpus_written(b) || s->n + n > MOST_BYTES)
            continue;
        if (!cuda_read(g, b->addr, s->bytes + s->n, n, err))
            return false;
        s->n += n;
    }
    return true;
}

static bool on_simulator(struct corpus *c, const struct compile_result *compiled, struct side *s,
                         struct err *err)
{
    struct ptx_mem *mem = ptx_mem_open(0);
    struct ptx_module *m = NULL;
    uint64_t values[MAX_ARGS];
    const void *args[MAX_ARGS];
    bool ok = ptx_module_open(&m, c->path, compiled->image.ptx, compiled->image.ptx_len, err);

    for (size_t k = 0; ok && k < c->n_buffers; k++) {
        struct buffer *b = &c->buffers[k];
        void *p = contents(b, k);
        b->addr =
            ptx_mem_alloc(mem, &(struct ptx_buffer){.name = b->name, .size_bytes = b->count * b->size}, err);
        ok = b->addr && ptx_mem_write(mem, b->addr, p, b->count * b->size, corpus_given(b));
        free(p);
    }
    for (size_t k = 0; ok && k < c->n_launches && s->end == PTX_DONE; k++) {
        struct ptx_report r = {0};
        struct sanitizer sanitizer;
        struct ptx_options o = {.device = ptx_device_find("h200"),
                                .observers = {sanitizer_on(&sanitizer, SANITIZE_ALL)},
                                .max_warp_insns = 20000000};
        ok =
            arguments(c, &c->launches[k], values, args, err) && ptx_run(m, mem, &c->launches[k].l, &o, &r, err);
        if (ok)
            note(s, &r);
        ptx_report_clear(&r);
    }
    for (size_t k = 0; ok && k < c->n_buffers && s->end == PTX_DONE; k++) {
        const struct buffer *b = &c->buffers[k];
        size_t n = b->count * b->size;
        if (!corpus_written(b) || s->n + n > MOST_BYTES)
            continue;
        ok = ptx_mem_read(mem, b->addr, s->bytes + s->n, n);
        s->n += n;
    }
    ptx_module_close(m);
    ptx_mem_close(mem);
    return ok;
}

/* Steps between two floats of the same sign, as their bits count them. */
static uint64_t apart(const struct buffer *b, const unsigned char *x, const unsigned char *y)
{
    uint64_t u = 0, v = 0, sign = 1ull << (8 * b->size - 1);

    memcpy(&u, x, b->size);
    memcpy(&v, y, b->size);
    if (u == v)
        return 0;
    return (u & sign) != (v & sign) ? UINT64_MAX : MAX(u, v) - MIN(u, v);
}

static bool same(const struct corpus *c, const struct side *sim, const struct side *gpu, struct str *why)
{
    const char *near = strstr(c->text, "// gpu: near ");
    uint64_t allowed = near ? strtoull(near + strlen("// gpu: near "), NULL, 10) : 0;
    size_t at = 0;

    if (sim->n != gpu->n) {
        str_addf(why, "%zu bytes of output here, %zu there", sim->n, gpu->n);
        return false;
    }
    for (size_t k = 0; k < c->n_buffers; k++) {
        const struct buffer *b = &c->buffers[k];
        bool floating = strchr(b->type, 'f') != NULL;
        if (!corpus_written(b) || at + b->count * b->size > sim->n)
            continue;
        for (uint64_t i = 0; i < b->count; i++, at += b->size) {
            uint64_t d = apart(b, sim->bytes + at, gpu->bytes + at);
            if (d == 0 || (floating && d <= allowed))
                continue;
            str_addf(why, "%s[%llu] differs by %llu steps", b->name, (unsigned long long)i,
                     (unsigned long long)d);
            return false;
        }
    }
    return true;
}

/* The GPU's part, in a process of its own: a fault leaves a context that nobody can use. It is a fresh program,
 * not a fork: a compiler used before may have started the driver, which does not survive a fork. */
static int child_main(int index, const char *path)
{
    struct arena *a = arena_open();
    struct corpus c = {.path = path};
    struct side s = {.bytes = mem_alloc(MOST_BYTES)};
    struct compile_result compiled = {0};
    struct cuda_target target;
    struct nvrtc *n;
    struct cuda *g;
    struct err err = {0};
    char *text;
    bool ok = fs_read(a, path, &text, NULL, &err);

    c.text = ok ? text : "";
    ok = ok && corpus_parse(&c, a, &err) && nvrtc_open(&n, &err) && corpus_compile(n, a, &c, &compiled, &err) &&
         cuda_open(&g, index, &err) && cuda_target_find(g, n, a, &target, &err) &&
         on_gpu(g, &c, &compiled, target.ptx, &s, &err);
    FILE *to = fdopen(3, "w");
    if (!to || fwrite(&ok, sizeof(ok), 1, to) != 1 || fwrite(&err, sizeof(err), 1, to) != 1 ||
        fwrite(&s, sizeof(s), 1, to) != 1 || fwrite(s.bytes, 1, s.n, to) != s.n || fflush(to) != 0)
        _exit(1);
    _exit(0); /* no farewell to a driver that may hang */
}

static bool in_child(int index, const char *path, struct side *s, struct err *err)
{
    int ends_of[2], status;
    char number[16];

    snprintf(number, sizeof(number), "%d", index);
    if (pipe(ends_of) != 0)
        return err_world(err, "no pipe");
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends_of[1], 3);
        if (ends_of[0] != 3)
            close(ends_of[0]);
        if (ends_of[1] != 3)
            close(ends_of[1]);
        dup2(2, 1); /* what kernels print */
        execl("/proc/self/exe", "both", "--child", number, path, (char *)NULL);
        _exit(127);
    }
    close(ends_of[1]);
    FILE *from = fdopen(ends_of[0], "r");
    unsigned char *bytes = s->bytes;
    struct err why;
    bool ok = false;
    bool read = fread(&ok, sizeof(ok), 1, from) == 1 && fread(&why, sizeof(why), 1, from) == 1 &&
                fread(s, sizeof(*s), 1, from) == 1 && s->n <= MOST_BYTES && fread(bytes, 1, s->n, from) == s->n;
    s->bytes = bytes;
    fclose(from);
    kill(pid, SIGKILL); /* one whose kernel never ends does not end by itself */
    waitpid(pid, &status, 0);
    if (!read)
        return err_world(err, "the process ended without a word");
    if (!ok)
        *err = why;
    return ok;
}

static bool run_file(struct nvrtc *n, int index, const char *path)
{
    struct arena *a = arena_open();
    struct corpus c = {.path = path};
    struct side sim = {.bytes = mem_alloc(MOST_BYTES)}, gpu = {.bytes = mem_alloc(MOST_BYTES)};
    struct compile_result compiled = {0};
    struct str why = {0};
    struct err err;
    char *text, line[3000];
    bool good = false, ok = fs_read(a, path, &text, NULL, &err);

    c.text = ok ? text : "";
    ok = ok && corpus_parse(&c, a, &err) && corpus_compile(n, a, &c, &compiled, &err);
    if (ok && (!compiled.image.cubin_len || !compiled.image.ptx)) {
        printf("%-44s no machine code: not run\n", fs_basename(path));
        good = true;
    } else if (ok) {
        ok = on_simulator(&c, &compiled, &sim, &err) && in_child(index, path, &gpu, &err);
        bool broken = c.n_expected > 0;
        if (ok && !broken)
            good = sim.end == PTX_DONE && gpu.end == PTX_DONE && same(&c, &sim, &gpu, &why);
        else if (ok) /* a GPU may be silent, but not on these */
            good = (sim.end != PTX_BAD_LAUNCH || gpu.end == PTX_BAD_LAUNCH) &&
                   (sim.end != PTX_CRASHED || gpu.end == PTX_CRASHED || gpu.end == PTX_UNSAFE);
        if (ok && (!good || broken))
            printf("%-44s %s simulator: %s%s%s, GPU: %s%s%s %s\n", fs_basename(path), good ? "   " : "BAD",
                   ends[sim.end], good ? "" : ": ", good ? "" : sim.words, ends[gpu.end],
                   *gpu.words ? ": " : "", gpu.words, str_text(&why));
    }
    if (!ok)
        printf("%-44s BAD %s\n", fs_basename(path), err_format(&err, line, sizeof(line)));
    fflush(stdout);
    str_free(&why);
    free(sim.bytes);
    free(gpu.bytes);
    arena_close(a);
    return ok && good;
}

int main(int argc, char **argv)
{
    struct nvrtc *n;
    struct arena *a = arena_open();
    struct err err = {0};
    int passed = 0, failed = 0;
    char line[3000];

    if (argc == 4 && str_eq(argv[1], "--child"))
        return child_main(atoi(argv[2]), argv[3]);
    if (argc < 3) {
        fprintf(stderr, "usage: both GPU FILE|FOLDER...\n");
        return 2;
    }
    if (!nvrtc_open(&n, &err)) {
        fprintf(stderr, "%s\n", err_format(&err, line, sizeof(line)));
        return 1;
    }
    for (int k = 2; k < argc; k++) {
        size_t n_files;
        char **files = corpus_files(a, argv[k], &n_files);
        for (size_t i = 0; i < n_files; i++) {
            bool good = run_file(n, atoi(argv[1]), files[i]);
            passed += good;
            failed += !good;
        }
    }
    printf("%d cases passed, %d failed\n", passed, failed);
    nvrtc_close(n);
    arena_close(a);
    return failed || !passed;
}

/* Runs recorded launches (record.h has the format of a case) on the simulator and compares what they leave with
 * a host's reference and, where there is one, with a GPU's record: run_recorded [-g HASHES] PTX CASE... Each
 * case runs without checks, and with every check of the sanitizer in natural and in permuted order of warps and
 * blocks; all must leave the same bits. -g FILE: hashes of what a GPU left, a line each, not the first: CASE
 * BUFFER SHA256. Prints a line a case, then `N passed, N failed`; exit status 1 when any failed. */
#include <time.h>

#include "base/base.h"
#include "base/tensor_map.h"
#include "clock/clock.h"
#include "sanitize/sanitize.h"

struct buffer {
    const char *name;
    uint64_t recorded, size_bytes, addr; /* recorded: its address then; addr: here */
    const char *before, *after, *want;   /* NULL: there is none */
    uint32_t element_bytes;              /* of want: 2 for f16, 4 for f32 */
    double bound;
    uint8_t *got;
};

struct noted_map {
    uint8_t recorded[TENSOR_MAP_BYTES];
    struct tensor_map ours;
};

struct step { /* a launch; or memory that is set, when it has no kernel */
    struct ptx_launch launch;
    VEC(const char *) params; /* in hexadecimal */
    uint64_t at, size_bytes;
    int byte;
};

struct recorded {
    struct arena *arena;
    const char *name, *folder;
    VEC(struct buffer) buffers;
    VEC(struct noted_map) maps;
    VEC(struct step) steps;
};

/* ---- reading ---- */

_Noreturn static void broken(const struct recorded *r, const char *words)
{
    printf("%s/case.txt: %s\n", r->folder, words);
    exit(2);
}

static const char *contents(const struct recorded *r, const char *name, const char *suffix, size_t want)
{
    char *path = fs_join(r->arena, r->folder, arena_printf(r->arena, "%s.%s", name, suffix)), *text;
    struct err err = {0};
    size_t n;
    if (!fs_exists(path))
        return NULL;
    if (!fs_read(r->arena, path, &text, &n, &err))
        broken(r, err.text);
    if (n != want)
        broken(r, arena_printf(r->arena, "%s has %zu bytes, not %zu", path, n, want));
    return text;
}

static void from_hex(const struct recorded *r, const char *hex, uint8_t *to, size_t n)
{
    if (!hex || strlen(hex) != 2 * n)
        broken(r, "bytes are missing");
    for (size_t k = 0; k < n; k++)
        to[k] = (uint8_t)(str_hex_digit(hex[2 * k]) << 4 | str_hex_digit(hex[2 * k + 1]));
}

static uint64_t number(const struct recorded *r)
{
    const char *word = strtok(NULL, " ");
    if (!word || !strspn(word, "0123456789"))
        broken(r, "a number is missing");
    return strtoull(word, NULL, 10);
}

static const char *word(const struct recorded *r)
{
    const char *w = strtok(NULL, " ");
    if (!w)
        broken(r, "a word is missing");
    return w;
}

static struct buffer *buffer_at(struct recorded *r, uint64_t recorded)
{
    for (size_t k = 0; k < r->buffers.n; k++)
        if (recorded >= r->buffers.v[k].recorded &&
            recorded - r->buffers.v[k].recorded < r->buffers.v[k].size_bytes)
            return &r->buffers.v[k];
    return NULL;
}

static void read_buffer(struct recorded *r)
{
    struct buffer b = {.name = word(r)};
    b.recorded = number(r);
    b.size_bytes = number(r);
    b.before = contents(r, b.name, "before", b.size_bytes);
    b.after = contents(r, b.name, "after", b.size_bytes);
    b.got = arena_alloc(r->arena, b.size_bytes);
    vec_push(&r->buffers, b);
}

static void read_want(struct recorded *r)
{
    const char *name = word(r), *type = word(r);
    struct buffer *b = NULL;
    for (size_t k = 0; k < r->buffers.n; k++)
        if (str_eq(r->buffers.v[k].name, name))
            b = &r->buffers.v[k];
    if (!b || !str_in(type, "f16|f32"))
        broken(r, "nobody knows what is wanted");
    b->want = contents(r, name, "want", b->size_bytes);
    b->element_bytes = str_eq(type, "f16") ? 2 : 4;
    b->bound = strtod(word(r), NULL);
}

static void read_map(struct recorded *r)
{
    struct noted_map m = {.ours = {.mark = TENSOR_MAP_MARK}};
    from_hex(r, word(r), m.recorded, sizeof(m.recorded));
    m.ours.type = (uint8_t)number(r);
    m.ours.addr = number(r);
    m.ours.rank = (uint8_t)number(r);
    m.ours.swizzle = (uint8_t)number(r);
    uint64_t interleave = number(r);
    m.ours.promotion = (uint8_t)number(r);
    if (interleave || number(r) || m.ours.rank < 1 || m.ours.rank > TENSOR_RANK_MAX)
        broken(r, "a tensor map that is interleaved, or fills with NaN");
    for (unsigned d = 0; d < m.ours.rank; d++)
        m.ours.dims[d] = number(r);
    for (unsigned d = 0; d + 1 < m.ours.rank; d++)
        m.ours.strides[d] = number(r);
    for (unsigned d = 0; d < m.ours.rank; d++)
        m.ours.box[d] = (uint16_t)number(r);
    for (unsigned d = 0; d < m.ours.rank; d++)
        if (number(r) != 1)
            broken(r, "a tensor map with steps");
    vec_push(&r->maps, m);
}

static void read_three(const struct recorded *r, uint32_t to[3])
{
    word(r); /* what they are */
    for (int k = 0; k < 3; k++)
        to[k] = (uint32_t)number(r);
}

static void read_launch(struct recorded *r)
{
    struct step s = {.launch = {.kernel = word(r)}};
    read_three(r, s.launch.grid);
    read_three(r, s.launch.block);
    read_three(r, s.launch.cluster);
    word(r);
    s.launch.shared_bytes = (uint32_t)number(r);
    s.launch.programmatic = strtok(NULL, " ") != NULL;
    vec_push(&r->steps, s);
}

static void read_line(struct recorded *r, char *line)
{
    const char *what = strtok(line, " ");
    if (str_eq(what, "buffer")) {
        read_buffer(r);
    } else if (str_eq(what, "want")) {
        read_want(r);
    } else if (str_eq(what, "map")) {
        read_map(r);
    } else if (str_eq(what, "launch")) {
        read_launch(r);
    } else if (str_eq(what, "param") && r->steps.n) {
        vec_push(&vec_last(&r->steps).params, word(r));
    } else if (str_eq(what, "set")) {
        struct step s = {.at = number(r)};
        s.byte = (int)number(r);
        s.size_bytes = number(r);
        vec_push(&r->steps, s);
    } else {
        broken(r, "a line that nobody knows");
    }
}

static void read_case(struct recorded *r)
{
    char *text;
    struct err err = {0};
    if (!fs_read(r->arena, fs_join(r->arena, r->folder, "case.txt"), &text, NULL, &err))
        broken(r, err.text);
    for (char *end; *text; text = end) {
        end = text + strcspn(text, "\n");
        if (*end)
            *end++ = '\0';
        read_line(r, text);
    }
    bool launches = false;
    for (size_t k = 0; k < r->steps.n; k++)
        launches |= r->steps.v[k].launch.kernel != NULL;
    if (!launches)
        broken(r, "nothing is launched");
}

/* ---- running ---- */

static uint64_t here(struct recorded *r, uint64_t recorded)
{
    const struct buffer *b = buffer_at(r, recorded);
    return b ? recorded - b->recorded + b->addr : recorded;
}

/* A parameter as it was recorded, with our pointers and tensor maps. */
static void place(struct recorded *r, uint8_t *param, size_t n)
{
    for (size_t at = 0; at + 8 <= n;) {
        const struct noted_map *m = NULL;
        for (size_t k = 0; k < r->maps.n && n - at >= TENSOR_MAP_BYTES; k++)
            if (!memcmp(param + at, r->maps.v[k].recorded, TENSOR_MAP_BYTES))
                m = &r->maps.v[k];
        if (m) {
            struct tensor_map ours = m->ours;
            ours.addr = here(r, ours.addr);
            memcpy(param + at, &ours, sizeof(ours));
            at += sizeof(ours);
        } else {
            uint64_t x;
            memcpy(&x, param + at, sizeof(x));
            x = here(r, x);
            memcpy(param + at, &x, sizeof(x));
            at += sizeof(x);
        }
    }
}

static const char *launch(struct recorded *r, struct ptx_module *m, struct ptx_mem *mem, struct step *s,
                          struct ptx_options *o)
{
    const struct ptx_kernel_info *kernel = ptx_module_kernel(m, s->launch.kernel);
    struct ptx_report report = {0};
    struct err err = {0};
    const char *words = "";
    if (!kernel || kernel->n_params != s->params.n)
        return arena_printf(r->arena, "the PTX has no kernel %s with %zu parameters", s->launch.kernel,
                            s->params.n);
    const void **args = arena_alloc(r->arena, s->params.n * sizeof(*args));
    for (size_t k = 0; k < s->params.n; k++) {
        uint8_t *param = arena_alloc(r->arena, kernel->param_bytes[k]);
        from_hex(r, s->params.v[k], param, kernel->param_bytes[k]);
        place(r, param, kernel->param_bytes[k]);
        args[k] = param;
    }
    s->launch.args = args;
    s->launch.n_args = s->params.n;
    if (!ptx_run(m, mem, &s->launch, o, &report, &err))
        words = arena_strdup(r->arena, err.text);
    else if (report.end != PTX_DONE || report.n_findings)
        words = arena_printf(r->arena, "%s: %s, at line %d of the PTX", ptx_end_name(report.end),
                             report.n_findings ? report.findings[0].words : "no finding",
                             report.findings[0].ptx_line);
    ptx_report_clear(&report);
    return words;
}

/* Leaves what every buffer holds in its `got`. "" or why not. */
static const char *run(struct recorded *r, struct ptx_module *m, bool checks, uint64_t seed)
{
    struct ptx_mem *mem = ptx_mem_open(seed);
    struct sanitizer sanitizer;
    struct ptx_options o = {.device = ptx_device_find("h200"), .seed = seed};
    struct err err = {0};
    const char *words = "";
    if (checks)
        o.observers[0] = sanitizer_on(&sanitizer, SANITIZE_ALL);
    for (size_t k = 0; k < r->buffers.n; k++) {
        struct buffer *b = &r->buffers.v[k];
        b->addr = ptx_mem_alloc(
            mem, &(struct ptx_buffer){.name = b->name, .size_bytes = b->size_bytes, .initialised = b->before},
            &err);
        if (!b->addr || (b->before && !ptx_mem_write(mem, b->addr, b->before, b->size_bytes, true)))
            broken(r, err.text);
    }
    for (size_t k = 0; k < r->steps.n && !words[0]; k++) {
        struct step *s = &r->steps.v[k];
        if (s->launch.kernel)
            words = launch(r, m, mem, s, &o);
        else if (!ptx_mem_set(mem, here(r, s->at), s->byte, s->size_bytes, true))
            words = "memory is set that is in no buffer";
    }
    for (size_t k = 0; k < r->buffers.n && !words[0]; k++) {
        struct buffer *b = &r->buffers.v[k];
        ptx_mem_read(mem, b->addr, b->got, b->size_bytes);
        if (checks && b->want && ptx_mem_first_uninitialised(mem, b->addr, b->size_bytes) >= 0)
            words = arena_printf(r->arena, "nobody wrote all of %s", b->name);
    }
    ptx_mem_close(mem);
    return words;
}

/* ---- comparing ---- */

static double element(const struct buffer *b, const void *of, size_t k)
{
    _Float16 h;
    float f;
    if (b->element_bytes == 2) {
        memcpy(&h, (const char *)of + 2 * k, sizeof(h));
        return (double)h;
    }
    memcpy(&f, (const char *)of + 4 * k, sizeof(f));
    return (double)f;
}

/* The largest difference, and at which element; a NaN where the other is none is infinitely far. */
static double farthest(const struct buffer *b, const void *from, size_t *at)
{
    double most = 0;
    *at = 0;
    for (size_t k = 0; k < b->size_bytes / b->element_bytes; k++) {
        double x = element(b, b->got, k), y = element(b, from, k), d = x == y ? 0 : fabs(x - y);
        if (isnan(x) || isnan(y))
            d = isnan(x) && isnan(y) ? 0 : (double)INFINITY;
        if (d > most) {
            most = d;
            *at = k;
        }
    }
    return most;
}

/* What a GPU left in this buffer: a line `CASE BUFFER HASH`; NULL when nobody wrote it down. */
static const char *hash_of(const struct recorded *r, const char *hashes, const char *buffer)
{
    const char *key = arena_printf(r->arena, "\n%s %s ", r->name, buffer), *at = strstr(hashes, key);
    return at ? at + strlen(key) : NULL;
}

/* What the outputs are beside those recorded; "" or why it failed. said: figures. */
static const char *compare(struct recorded *r, const char *hashes, struct str *said)
{
    const char *words = "";
    for (size_t k = 0; k < r->buffers.n; k++) {
        const struct buffer *b = &r->buffers.v[k];
        char hash[65];
        size_t at;
        if (!b->want)
            continue;
        double far = farthest(b, b->want, &at);
        hash_sha256_hex(b->got, b->size_bytes, hash);
        str_addf(said, ", %s: %.3g from the reference", b->name, far);
        if (far > b->bound && !words[0])
            words = arena_printf(r->arena, "%s[%zu] is %.9g, not %.9g (within %.3g)", b->name, at,
                                 element(b, b->got, at), element(b, b->want, at), b->bound);
        far = b->after ? farthest(b, b->after, &at) : 0;
        if (b->after)
            str_addf(said, ", %.3g from the GPU", far);
        if (far > 2 * b->bound && !words[0])
            words = arena_printf(r->arena, "%s[%zu] is %.9g, and %.9g on the GPU", b->name, at,
                                 element(b, b->got, at), element(b, b->after, at));
        const char *recorded = hash_of(r, hashes, b->name);
        bool same = recorded && !strncmp(recorded, hash, strlen(hash));
        if (recorded)
            str_add(said, same ? ", the GPU's bits" : ", not the GPU's bits");
        if (recorded && !same && b->bound == 0 && !words[0])
            words = arena_printf(r->arena, "%s has other bits than the GPU's", b->name);
    }
    return words;
}

static bool run_case(struct recorded *r, struct ptx_module *m, const char *hashes)
{
    static const struct {
        bool checks;
        uint64_t seed;
        const char *name;
    } ways[] = {{false, 0, "without checks"}, {true, 0, "with checks"}, {true, 1, "in permuted order"}};
    struct str said = {.arena = r->arena};
    const char *words = "";
    VEC(uint8_t *) first = {0};
    for (size_t way = 0; way < ARRAY_LEN(ways) && !words[0]; way++) {
        struct timespec t[2];
        clock_gettime(CLOCK_MONOTONIC, &t[0]);
        words = run(r, m, ways[way].checks, ways[way].seed);
        clock_gettime(CLOCK_MONOTONIC, &t[1]);
        str_addf(&said, "%s%.1f s", way ? ", " : "",
                 (double)(t[1].tv_sec - t[0].tv_sec) + (double)(t[1].tv_nsec - t[0].tv_nsec) / 1e9);
        if (words[0])
            words = arena_printf(r->arena, "%s: %s", ways[way].name, words);
        for (size_t k = 0; k < r->buffers.n && !words[0]; k++) {
            const struct buffer *b = &r->buffers.v[k];
            if (!way)
                vec_push(&first, arena_copy(r->arena, b->got, b->size_bytes));
            else if (b->want && memcmp(first.v[k], b->got, b->size_bytes))
                words = arena_printf(r->arena, "%s: %s has other bits than without checks", ways[way].name,
                                     b->name);
        }
    }
    vec_free(&first);
    if (!words[0])
        words = compare(r, hashes, &said);
    printf("%-28s %s (%s)\n", r->name, words[0] ? words : "passed", str_text(&said));
    fflush(stdout);
    return !words[0];
}

int main(int argc, char **argv)
{
    struct arena *a = arena_open();
    struct ptx_module *m;
    struct err err = {0};
    char *text, *hashes = "", line[4096];
    size_t size, passed = 0, failed = 0;
    int k = 1;
    if (argc > 2 && str_eq(argv[1], "-g")) {
        if (!fs_read(a, argv[2], &hashes, NULL, &err))
            BUG("%s", err.text);
        k = 3;
    }
    if (k + 1 >= argc) {
        fprintf(stderr, "usage: run_recorded [-g HASHES] PTX CASE...\n");
        return 2;
    }
    if (!fs_read(a, argv[k], &text, &size, &err) ||
        !ptx_module_open(&m, fs_basename(argv[k]), text, size, &err)) {
        printf("%s\n", err_format(&err, line, sizeof(line)));
        return 1;
    }
    while (++k < argc) {
        struct recorded r = {.arena = arena_open(), .folder = argv[k], .name = fs_basename(argv[k])};
        read_case(&r);
        *(run_case(&r, m, hashes) ? &passed : &failed) += 1;
        for (size_t s = 0; s < r.steps.n; s++)
            vec_free(&r.steps.v[s].params);
        vec_free(&r.steps);
        vec_free(&r.maps);
        vec_free(&r.buffers);
        arena_close(r.arena);
    }
    ptx_module_close(m);
    arena_close(a);
    printf("%zu passed, %zu failed\n", passed, failed);
    return failed || !passed;
}

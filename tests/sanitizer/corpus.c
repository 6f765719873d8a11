#include "corpus.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>

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
            else if (!strcmp(w, "cluster"))
                parse_dims(value, l->l.cluster);
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

bool corpus_parse(struct corpus *c, struct arena *a, struct err *err)
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

void corpus_fill(void *context, uint64_t offset, void *to, size_t size)
{
    const struct fill *f = context;
    const struct buffer *b = f->b;
    for (size_t k = 0; k + b->size <= size; k += b->size) {
        uint64_t i = (offset + k) / b->size;
        double x = 2.0 * rng_unit_of(rng_hash(f->seed, i)) - 1.0;
        if (str_in(b->values, "zeros|index"))
            x = str_eq(b->values, "index") ? (double)i : 0.0;
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

bool corpus_argument(const struct corpus *c, const char *word, uint64_t *value, struct err *err)
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

bool corpus_compile(struct nvrtc *n, struct arena *a, const struct corpus *c, struct compile_result *r,
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

bool corpus_given(const struct buffer *b)
{
    return !strcmp(b->role, "in") || !strcmp(b->role, "inout");
}

bool corpus_written(const struct buffer *b)
{
    return !strcmp(b->role, "out") || !strcmp(b->role, "inout");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **corpus_files(struct arena *a, const char *path, size_t *n)
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
    char **list = arena_copy(a, files.v, files.n * sizeof(*files.v));
    *n = files.n;
    vec_free(&files);
    return list;
}

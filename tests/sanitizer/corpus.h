/* The sanitizer's corpus: one .cu a case, whose comments say its buffers, launches and what is expected
 * (docs/integrity.md). Read here for the simulator's run (sanitizer.c) and a GPU's (gpu/both.c). */
#ifndef TESTS_CORPUS_H
#define TESTS_CORPUS_H

#include "gpu/gpu.h"

enum { MAX_BUFFERS = 8, MAX_LAUNCHES = 4, MAX_ARGS = 8, MAX_EXPECTED = 8 };

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

bool corpus_parse(struct corpus *c, struct arena *a, struct err *err);
bool corpus_compile(struct nvrtc *n, struct arena *a, const struct corpus *c, struct compile_result *r,
                    struct err *err);
bool corpus_given(const struct buffer *b);   /* its contents are made: in, inout */
bool corpus_written(const struct buffer *b); /* its contents are looked at: out, inout */
/* A ptx_fill_fn; context: a struct fill. Without a simulator, from offset 0. */
void corpus_fill(void *context, uint64_t offset, void *to, size_t size);
/* The value of an argument; the buffers have their addresses. */
bool corpus_argument(const struct corpus *c, const char *word, uint64_t *value, struct err *err);
/* The .cu files of a folder by name, or the file itself. */
char **corpus_files(struct arena *a, const char *path, size_t *n);

#endif

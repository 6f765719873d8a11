/* Is a file of plans what it should be? Nothing in it is believed: every number is looked at before it is used.
 */
#include "replace.h"

#include <string.h>

const char *const replace_words[] = {
#define OUTCOME(name, words) words,
#include "outcome.def"
#undef OUTCOME
};

static bool fits(const struct replace_span *s, size_t each, size_t n)
{
    return s->at % 8 == 0 && s->at <= n && s->n <= (n - s->at) / each;
}

static bool within(const struct replace_span *s, uint32_t n)
{
    return s->at <= n && s->n <= n - s->at;
}

struct file {
    const unsigned char *base;
    struct replace_head h;
};

static bool is_name(const struct file *f, uint32_t at)
{
    return at < f->h.data.n && memchr(f->base + f->h.data.at + at, 0, f->h.data.n - at);
}

static bool good_params(const struct file *f, const struct replace_span *s, uint32_t buffers)
{
    const struct replace_param *p = (const void *)(f->base + f->h.params.at);

    if (!within(s, f->h.params.n) || s->n > REPLACE_PARAMS)
        return false;
    for (uint32_t i = s->at; i < s->at + s->n; i++) {
        bool good = p[i].buffer < 0 ? p[i].bytes && p[i].bytes <= REPLACE_VALUE && p[i].value < f->h.data.n &&
                                          p[i].bytes <= f->h.data.n - p[i].value
                                    : (uint32_t)p[i].buffer < buffers && p[i].bytes == 8;
        if (!good || p[i].offset > REPLACE_VALUE)
            return false;
    }
    return true;
}

static bool good_launch(const struct file *f, const struct replace_launch *l)
{
    const struct replace_buffer *b = (const void *)(f->base + f->h.buffers.at);
    const struct replace_step *s = (const void *)(f->base + f->h.steps.at);

    if (!is_name(f, l->symbol) || !within(&l->buffers, f->h.buffers.n) || l->buffers.n > REPLACE_BUFFERS ||
        !within(&l->steps, f->h.steps.n) || !l->steps.n || !good_params(f, &l->params, l->buffers.n))
        return false;
    for (uint32_t i = l->buffers.at; i < l->buffers.at + l->buffers.n; i++)
        if (!b[i].align || (b[i].align & (b[i].align - 1)))
            return false;
    for (uint32_t i = l->steps.at; i < l->steps.at + l->steps.n; i++)
        if (!good_params(f, &s[i].params, l->buffers.n))
            return false;
    return true;
}

bool replace_file_is_whole(const void *file, size_t n)
{
    struct file f = {.base = file};
    const struct replace_launch *l;
    const struct replace_step *s;

    if (n < sizeof(f.h) || n > REPLACE_MOST)
        return false;
    memcpy(&f.h, file, sizeof(f.h));
    if (memcmp(f.h.magic, REPLACE_MAGIC, sizeof(f.h.magic)) != 0 || f.h.version != REPLACE_VERSION ||
        f.h.bytes != sizeof(f.h) || !fits(&f.h.launches, sizeof(*l), n) ||
        !fits(&f.h.buffers, sizeof(struct replace_buffer), n) ||
        !fits(&f.h.params, sizeof(struct replace_param), n) ||
        !fits(&f.h.steps, sizeof(struct replace_step), n) || !fits(&f.h.data, 1, n) ||
        !fits(&f.h.cubin, 1, n) || !fits(&f.h.ptx, 1, n) || !f.h.launches.n ||
        (f.h.ptx.n && f.base[f.h.ptx.at + f.h.ptx.n - 1]))
        return false;
    s = (const void *)(f.base + f.h.steps.at);
    for (uint32_t i = 0; i < f.h.steps.n; i++)
        if (!is_name(&f, s[i].function)) /* all are looked up when the code is loaded */
            return false;
    l = (const void *)(f.base + f.h.launches.at);
    for (uint32_t i = 0; i < f.h.launches.n; i++)
        if (!good_launch(&f, &l[i]))
            return false;
    return true;
}

/* Indices that have lost what is above their 32 bits, by where the last block of a launch writes and reads at a
 * shape of more than 2^32 bytes, elements or vectors. */
#include "probe.h"

enum {
    ROOM = 16
}; /* a shape that is larger by this part than 32 bits reach stays so when it is a little shorter */

static void note_stray(struct probe *p, size_t arg, uint64_t unit)
{
    p->stray = p->stray ? p->stray : (unit << 16) + arg + 1;
}

/* Whether a block that lies about there in the grid writes that byte as well. */
static bool written_twice(struct probe *p, const struct grid *g, double part, uint64_t addr, bool *twice,
                          struct err *err)
{
    int64_t at = (int64_t)(part * (double)g->blocks);

    *twice = stored_bytes(&p->earlier, addr, 1) > 0;
    for (int64_t b = at - 2; b <= at + 2 && !*twice; b++) {
        struct fate fate = {0};
        bool ended;
        if (b < 0 || (uint64_t)b >= g->blocks - 1)
            continue;
        if (!probe_unasked(p, g, (uint64_t)b, &ended, &fate, err))
            return false;
        *twice = stored_bytes(&p->block, addr, 1) > 0;
    }
    return true;
}

/* An index that has lost what is above its 32 bits: the last block has not written the last element, but the
 * one 2^32 bytes or indices in front of it, of elements or of vectors of them. A launch that is not all of its
 * plan may be meant to end there; then nobody else writes the same, or another launch writes the end. */
bool look_for_strays(struct probe *p, const struct grid *g, struct err *err)
{
    const struct judge *j = p->stage->judge;
    const struct stored mine = p->block;
    bool ok = true;

    p->block = (struct stored){0};
    for (size_t o = 0; ok && o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        uint64_t each = kernel_type_size(arg->type);
        int64_t bytes;
        uint64_t addr = stage_arg(p->stage, j->outputs[o], &bytes), last = (uint64_t)bytes - each;
        if (bytes < (int64_t)each)
            continue;
        p->end_written[o] |= stored_bytes(&mine, addr + last, each) > 0;
        for (uint64_t unit = 1; ok && !p->end_written[o] && unit <= 16 * each && !p->strayed[o]; unit *= 2) {
            uint64_t back = unit << 32;
            bool twice = true;
            if (back > last || !stored_bytes(&mine, addr + last - back, each))
                continue;
            if (p->most_launches > 1)
                ok =
                    written_twice(p, g, (double)(last - back) / (double)bytes, addr + last - back, &twice, err);
            if (ok && twice)
                p->far = p->most_launches == 1 && last - back > last / ROOM;
            if (ok && twice)
                note_stray(p, j->outputs[o], unit);
            if (ok && twice)
                p->strayed[o] = arena_printf(
                    p->arena,
                    "the last block writes element %llu of %s in the stead of element %llu: an "
                    "index of 32 bits overflows",
                    (unsigned long long)((last - back) / each), arg->name, (unsigned long long)(last / each));
        }
    }
    stored_free(&p->block);
    p->block = mine;
    return ok;
}

/* The same of what is read: the last elements of inputs beyond 4 GB, and those that stand in for them. */
void watch_ends(struct probe *p)
{
    const struct task *t = p->stage->task;

    p->n_watched = 0;
    for (size_t i = 0; i < t->n_args && p->most_launches == 1; i++) {
        uint64_t each = kernel_type_size(t->args[i].type), addr, last;
        int64_t bytes;
        if (t->args[i].role != ROLE_IN || !each)
            continue;
        addr = stage_arg(p->stage, i, &bytes);
        last = (uint64_t)bytes - each;
        for (uint64_t unit = 1; unit <= 16 * each && bytes > 0 && unit << 32 <= last; unit *= 2) {
            if (p->n_watched + 2 > MOST_WATCHED)
                return;
            p->watched[p->n_watched++] = (struct watched){.addr = addr + last};
            p->watched[p->n_watched++] = (struct watched){
                .addr = addr + last - (unit << 32), .far = last - (unit << 32) > last / ROOM, .arg = i};
        }
    }
}

void look_for_misread(struct probe *p)
{
    for (size_t i = 0; i < p->n_watched && !p->misread; i += 2) {
        const struct watched *end = &p->watched[i], *other = end + 1;
        if (end->read || !other->read)
            continue;
        p->far = other->far;
        note_stray(p, other->arg, (end->addr - other->addr) >> 32);
        p->misread = arena_printf(p->arena,
                                  "the last block reads what lies %llu bytes in front of an input's last "
                                  "element in its stead: an index of 32 bits overflows",
                                  (unsigned long long)(end->addr - other->addr));
    }
    p->n_watched = 0;
}

/* Does it do so as well, by the same index, where a dim is so much shorter? */
static bool strays_at(struct probe *p, const struct extreme *x, size_t dim, int64_t less, bool *again,
                      struct err *err)
{
    struct judge *j = p->stage->judge;
    struct extreme y = {0};
    struct fate fate = {0};
    int64_t dims[16];

    memcpy(dims, x->dims, j->task->n_dims * sizeof(*dims));
    dims[dim] -= less;
    y.dims = dims;
    *again = true;
    if (dims[dim] < 1 || !task_in_domain(j->task, dims))
        return true;
    bool ok = verify_extreme(j, p->version, p->arena, &y, true, &fate, err);
    *again = (y.odd && y.stray == p->stray) || !fate_open(&fate);
    drop_pieces(j, &y);
    return ok;
}

/* The last block of a loop over the whole grid may come by chance upon the one place and not upon the other: an
 * index that overflows does so as well where the longest dim is a little shorter, and, where a stride divides
 * 2^32 or nearly so, by as much as leaves it beyond 32 bits. */
bool strays_again(struct probe *p, const struct extreme *x, bool *again, struct err *err)
{
    enum { LONG = 1 << 12, LESS = 192 }; /* whole vectors of what has many, and no multiple of a usual block */
    const bool far = p->far;
    size_t longest = 0;

    for (size_t i = 1; i < p->stage->judge->task->n_dims; i++)
        longest = x->dims[i] > x->dims[longest] ? i : longest;
    if (x->dims[longest] < LONG)
        return strays_at(p, x, longest, 1, again, err);
    return strays_at(p, x, longest, LESS, again, err) &&
           (!*again || !far ||
            strays_at(p, x, longest, (x->dims[longest] / (4 * ROOM) / LESS | 1) * LESS, again, err));
}

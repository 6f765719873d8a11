/* One launch in N between two events. N is what keeps the host time that this takes below BUDGET of the
 * program's: it doubles and halves with what was measured. Which launch of a kernel is next is drawn at random,
 * so that a program whose steps repeat does not have the same one timed for ever; each kernel is timed a few
 * times early. */
#include "internal.h"

#include <pthread.h>
#include <string.h>

#define BUDGET 0.01
enum { PENDING = 512, CONTEXTS = 16, FREE = 64, EARLY = 4, EVERY_MOST = 1 << 20 };

struct pair {
    void *from, *to;
};

static struct {
    pthread_mutex_t lock;
    struct sample pending[PENDING]; /* a ring: timed, and not known yet */
    void *pending_context[PENDING];
    unsigned head, n;
    struct {
        void *context;
        struct pair free[FREE];
        unsigned n;
    } pool[CONTEXTS];
    uint64_t next[CAPTURE_RECORDS]; /* which launch of a record is timed next; 0: the first */
    uint64_t every, spent_ns, began_ns, random;
} s = {.lock = PTHREAD_MUTEX_INITIALIZER, .every = 1, .random = 0x9e3779b97f4a7c15};

static unsigned draw(uint64_t below)
{
    s.random ^= s.random << 13;
    s.random ^= s.random >> 7;
    s.random ^= s.random << 17;
    return (unsigned)(s.random % (below ? below : 1));
}

static bool take(void *context, struct pair *p)
{
    const struct calls *c = driver_calls();

    for (int i = 0; i < CONTEXTS; i++)
        if (s.pool[i].context == context && s.pool[i].n) {
            *p = s.pool[i].free[--s.pool[i].n];
            return true;
        }
    return c->event_create(&p->from, 0) == 0 && c->event_create(&p->to, 0) == 0;
}

static void give(void *context, struct pair p)
{
    for (int i = 0; i < CONTEXTS; i++) {
        if (!s.pool[i].context)
            s.pool[i].context = context;
        if (s.pool[i].context == context && s.pool[i].n < FREE) {
            s.pool[i].free[s.pool[i].n++] = p;
            return;
        }
    }
}

/* Takes the times of what has ended, oldest first. */
static void harvest(unsigned most)
{
    const struct calls *c = driver_calls();

    while (s.n && most--) {
        struct sample *p = &s.pending[s.head];
        float ms = 0;
        int code = c->event_query(p->to);
        if (code == 600) /* not ready */
            return;
        if (code == 0 && c->event_elapsed(&ms, p->from, p->to) == 0 && ms >= 0) {
            table_time(p->record, (uint64_t)((double)ms * 1e6), p->first);
            give(s.pending_context[s.head], (struct pair){p->from, p->to});
        }
        s.head = (s.head + 1) % PENDING;
        s.n--;
    }
}

static void set_every(struct capture_file *f, uint64_t now)
{
    double elapsed = (double)(now - s.began_ns), part = (double)s.spent_ns / (elapsed > 1 ? elapsed : 1);

    if (part > BUDGET && s.every < EVERY_MOST)
        s.every *= 2;
    else if (part < BUDGET / 4 && s.every > 1)
        s.every /= 2;
    f->every = s.every;
    f->spent_ns = s.spent_ns;
    f->unfinished = s.n;
}

static bool usable(const struct calls *c)
{
    return c && c->event_create && c->event_record && c->event_query && c->event_elapsed && c->context_current;
}

/* Is it this launch's turn? Says when the next one's is. */
static bool due(uint32_t record, uint64_t nth)
{
    uint64_t *next = &s.next[record];

    if (nth < *next)
        return false;
    *next = nth + 1 + (nth <= EARLY ? 0 : draw(2 * s.every - 1));
    return s.n < PENDING;
}

void sample_begin(struct sample *p, uint32_t record, uint64_t nth, void *stream)
{
    const struct calls *c = driver_calls();
    int mode = RELAXED, dropped;
    void *context = NULL;
    struct pair pair;

    *p = (struct sample){.record = record, .first = nth == 1};
    if (record == NO_RECORD || nth < __atomic_load_n(&s.next[record], __ATOMIC_RELAXED) || !usable(c))
        return;
    p->began_ns = now_ns();
    pthread_mutex_lock(&s.lock);
    if (!s.began_ns)
        s.began_ns = p->began_ns;
    if (due(record, nth) && c->context_current(&context) == 0) {
        /* Another thread may be capturing: what is asked here must not end that. */
        dropped = c->capture_mode && c->capture_mode(&mode) == 0;
        if (take(context, &pair) && c->event_record(pair.from, stream) == 0) {
            p->from = pair.from;
            p->to = pair.to;
        }
        if (dropped)
            c->capture_mode(&mode);
    }
    s.spent_ns += now_ns() - p->began_ns;
    pthread_mutex_unlock(&s.lock);
}

void sample_end(struct sample *p, void *stream, bool launched)
{
    const struct calls *c = driver_calls();
    int mode = RELAXED, dropped;
    unsigned at;

    if (!p->from)
        return;
    p->began_ns = now_ns();
    pthread_mutex_lock(&s.lock);
    dropped = c->capture_mode && c->capture_mode(&mode) == 0;
    if (launched && s.n < PENDING && c->event_record(p->to, stream) == 0) {
        at = (s.head + s.n++) % PENDING;
        s.pending[at] = *p;
        c->context_current(&s.pending_context[at]);
    }
    harvest(8);
    if (dropped)
        c->capture_mode(&mode);
    uint64_t now = now_ns();
    s.spent_ns += now - p->began_ns;
    set_every(table(), now);
    pthread_mutex_unlock(&s.lock);
}

void sample_last(void)
{
    if (!s.n || pthread_mutex_trylock(&s.lock) != 0) /* a thread that was ended may hold it */
        return;
    harvest(PENDING);
    table()->unfinished = s.n;
    pthread_mutex_unlock(&s.lock);
}

void sample_forget(void)
{
    memset(&s, 0, sizeof(s));
    pthread_mutex_init(&s.lock, NULL);
    s.every = 1;
    s.random = 0x9e3779b97f4a7c15;
}

/* What the buffers of a chosen launch hold, just before it runs: copied on a stream of our own, once the
 * launch's stream has come so far, into files named by what they hold. The program never waits longer than
 * PATIENCE for it: what it had queued may itself wait for something that this thread is about to launch.
 * Nothing is copied while any stream is captured into a graph. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS ((uint64_t)2000 * 1000 * 1000)
enum { CONTEXTS = 16, NON_BLOCKING = 1, NOT_READY = 600, NO_TIMING = 2, DEFAULT_MB = 256, SMALL = 1 << 20 };

static struct {
    struct {
        void *context, *stream, *event;
    } own[CONTEXTS];
    uint64_t kept;   /* bytes, of this process */
    unsigned failed; /* waits in a row that were in vain */
    bool broken;     /* a file could not be written */
} s;

static unsigned captured; /* streams that are being captured */

bool contents_captured(void)
{
    return __atomic_load_n(&captured, __ATOMIC_ACQUIRE) != 0;
}

void contents_capture(int change)
{
    unsigned n = __atomic_load_n(&captured, __ATOMIC_RELAXED);

    /* What ends nothing is an error of the program's. */
    while ((change > 0 || n > 0) && !__atomic_compare_exchange_n(&captured, &n, n + (unsigned)change, true,
                                                                 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        ;
}

/* ---- limits ---- */

static uint64_t budget(void)
{
    const char *text = getenv("ASTRA_CAPTURE_CONTENTS_MB");
    long mb = text ? strtol(text, NULL, 10) : DEFAULT_MB;

    return (uint64_t)(mb > 0 && mb <= 1 << 20 ? mb : DEFAULT_MB) << 20;
}

bool waits_for_others(const char *name)
{
    static const char *const words[] = {"nccl",           "nvshmem",       "allreduce",  "all_reduce",
                                        "allgather",      "all_gather",    "alltoall",   "all_to_all",
                                        "reduce_scatter", "reducescatter", "persistent", "multimem"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcasestr(name, words[i]))
            return true;
    return false;
}

/* ---- waiting and copying ---- */

static bool usable(const struct calls *c)
{
    return c && c->stream_create && c->copy_to_host && c->event_create && c->event_record && c->event_query &&
           c->context_current && c->address_range;
}

static bool own_stream(const struct calls *c, void **stream, void **event)
{
    void *context = NULL;

    if (c->context_current(&context) != 0 || !context)
        return false;
    for (int i = 0; i < CONTEXTS; i++) {
        if (s.own[i].context == context || !s.own[i].context) {
            if (!s.own[i].context && (c->stream_create(&s.own[i].stream, NON_BLOCKING) != 0 ||
                                      c->event_create(&s.own[i].event, NO_TIMING) != 0))
                return false;
            s.own[i].context = context;
            *stream = s.own[i].stream;
            *event = s.own[i].event;
            return true;
        }
    }
    return false;
}

/* Until all that the stream has now is done. */
static bool wait_for(const struct calls *c, void *stream, void *event)
{
    const uint64_t until = now_ns() + PATIENCE_NS;
    const struct timespec pause = {.tv_nsec = 20000};
    int code;

    if (c->event_record(event, stream) != 0)
        return false;
    while ((code = c->event_query(event)) == NOT_READY && now_ns() < until)
        nanosleep(&pause, NULL);
    return code == 0;
}

const char *contents_begin(struct contents *b, const char *name, void *stream, bool cooperative)
{
    const struct calls *c = driver_calls();

    memset(b, 0, sizeof(*b));
    if (cooperative)
        return "a cooperative launch is never paused";
    if (waits_for_others(name))
        return "by its name the kernel may wait for others: it is never paused";
    if (contents_captured() || stream_captures(stream))
        return "a stream was captured into a graph";
    if (s.broken)
        return "a file could not be written";
    if (s.failed >= 3)
        return "the program's streams did not come to rest three times";
    if (s.kept >= budget())
        return "the limit of bytes was reached";
    if (!usable(c))
        return "the driver lacks a function that is needed";
    b->mode = RELAXED; /* another thread may begin to capture: what is asked here must not end that */
    b->exchanged = c->capture_mode && c->capture_mode(&b->mode) == 0;
    b->active = own_stream(c, &b->stream, &b->event) && wait_for(c, stream, b->event);
    s.failed = b->active ? 0 : s.failed + 1;
    return b->active ? NULL : "its stream did not come to rest within 2 s";
}

void contents_end(struct contents *b)
{
    if (b->exchanged)
        driver_calls()->capture_mode(&b->mode);
}

static bool copy(const struct contents *b, uint64_t at, void *to, size_t n)
{
    const struct calls *c = driver_calls();

    return c->copy_to_host(to, at, n, b->stream) == 0 && wait_for(c, b->stream, b->event);
}

/* ---- files ---- */

static bool write_once(const char *name, const void *data, size_t n)
{
    char path[4096], fresh[4160], packed[4160];
    const char *dir = getenv("ASTRA_CAPTURE_DIR");

    snprintf(path, sizeof(path), "%s/" CAPTURE_CONTENTS, dir);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/" CAPTURE_CONTENTS "/%s", dir, name);
    snprintf(fresh, sizeof(fresh), "%s.%ld", path, (long)getpid());
    snprintf(packed, sizeof(packed), "%s.z", path);
    if (access(path, F_OK) == 0 || access(packed, F_OK) == 0)
        return true;
    if (keep_write(fresh, data, n) && rename(fresh, path) == 0)
        return true;
    unlink(fresh);
    s.broken = true;
    return false;
}

/* For one buffer at most an eighth of all, since in an arena the allocation goes far beyond it, and half of
 * what is left, so that the next ones have some; small ones always whole. */
static uint64_t share_of(uint64_t extent)
{
    const uint64_t left = budget() > s.kept ? budget() - s.kept : 0;
    uint64_t most = left / 2 < budget() / 8 ? left / 2 : budget() / 8;

    if (most < SMALL)
        most = left < SMALL ? left : SMALL;
    return extent < most ? extent : most;
}

void *contents_keep(struct contents *b, uint64_t at, uint64_t extent, struct kept_bytes *k)
{
    void *data;

    memset(k, 0, sizeof(*k));
    k->n = b->active ? share_of(extent) : 0;
    if (!k->n || !(data = malloc(k->n)))
        return NULL;
    if (!copy(b, at, data, k->n)) {
        b->active = false;
        free(data);
        return NULL;
    }
    capture_content_name(k->name, data, k->n);
    if (!write_once(k->name, data, k->n)) {
        free(data);
        return NULL;
    }
    s.kept += k->n;
    return data;
}

void contents_forget(void)
{
    memset(&s, 0, sizeof(s));
    captured = 0;
}

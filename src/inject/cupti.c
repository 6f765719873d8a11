/* Kernels' times by CUPTI, NVIDIA's library, where it is there: kernels inside graphs, too. Either each
 * kernel's, or those of some windows of time: recording each node of a graph makes a step that is one graph a
 * third longer. Between windows CUPTI is detached (cuptiFinalize); with its activities disabled only, steps
 * stay 10 to 25 % longer, detached they do not (tools/h200/cupti_cost.py). Windows begin and end just
 * before one of the program's own launches. The driver calls InitializeInjection
 * (CUDA_INJECTION64_PATH) before the program's first context. Declarations are ours: the layouts are CUPTI's
 * binary interface, whose records only grow at their end (tests/gpu/abi.c compares them). */
#include "internal.h"
#include "cupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BUFFER = 4 << 20, FLUSH_MS = 100, FORCED = 1 };
/* The first window, how long others are, the least between two; what all may cost: so much, and half of a share
 * of the program's time; where something new is launched, more at first and the whole share. A recorded step is
 * taken to be longer by SLOWER. A window waits while a stream is captured, RETRY at a time. */
#define MS 1000000ull
enum {
    FIRST_MS = 100,
    WINDOW_MS = 50,
    WINDOW_MOST_MS = 200,
    GAP_MS = 100,
    RETRY_MS = 1,
    FREE_MS = 60,
    NEW_FREE_MS = 200,
    NEW = 16
};
/* What a switch waits for the GPU's rest: doubled each time that it did not come, so that a long queue can end;
 * where kernels may wait for each other, for a moment, and as often as need be. */
enum {
    REST_MS = 50,
    GENTLE_MS = 2,
    GENTLE_AGAIN_MS = 200,
    MOST_FAILED = 5,
    GATE_MS = 10,
    AGAIN_MS = 20,
    CONTEXTS = 16
};
#define SHUT   0x80000000u
#define BUDGET 0.02 /* unless ASTRA_CAPTURE_BUDGET says another */
#define SLOWER 0.4

static struct {
    uint64_t next_ns, new_ns;         /* what comes next; a window, when something new is launched */
    uint32_t within;                  /* launches; SHUT: no other one for a moment */
    bool counts, windows, open, ours; /* ours: it is we who call CUPTI */
    bool gently;
    pthread_mutex_t lock A_LINE; /* recording begins or ends */
    unsigned failed;             /* to begin or end, one after the other */
    uint64_t first_ns, opened_ns, spent_ns, switch_ns, random;
    double budget;
    int (*enable)(int kind);
    int (*disable)(int kind);
    int (*finalize)(void);
    int (*callbacks)(void (*asked)(uint8_t **, size_t *, size_t *),
                     void (*filled)(void *, uint32_t, uint8_t *, size_t, size_t));
    int (*next)(uint8_t *buffer, size_t valid, struct cupti_kernel **record);
    int (*dropped)(void *context, uint32_t stream, size_t *n);
    int (*flush_all)(uint32_t flag);
    int (*flush_period)(uint32_t ms); /* NULL before CUDA 11.1 */
} c A_LINE = {.lock = PTHREAD_MUTEX_INITIALIZER, .random = 0x9e3779b97f4a7c15};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t ended, opened;
    bool waiting;
    void *contexts[CONTEXTS];
    unsigned n_contexts;
} gate = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};

static void asked(uint8_t **buffer, size_t *size, size_t *most)
{
    *most = 0;
    *buffer = aligned_alloc(64, BUFFER);
    *size = *buffer ? BUFFER : 0;
}

static void count(const struct cupti_kernel *k)
{
    struct shape s = {.grid = {(uint32_t)k->grid[0], (uint32_t)k->grid[1], (uint32_t)k->grid[2]},
                      .block = {(uint32_t)k->block[0], (uint32_t)k->block[1], (uint32_t)k->block[2]},
                      .dynamic_bytes = (uint32_t)k->dynamic_shared,
                      .device = k->device,
                      .in_graph = k->graph_node != 0};
    uint32_t record = table_named(k->name ? k->name : "(a kernel without a name)", &s);

    if (cupti_counts())
        table_count(record, 1, now_coarse_ns());
    if (k->end > k->start) /* zero: CUPTI could not time it */
        table_time(record, k->end - k->start, false);
}

static void filled(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    struct cupti_kernel *k = NULL;
    size_t lost = 0;

    (void)size;
    if (!table()) {
        free(buffer);
        return;
    }
    while (valid && c.next(buffer, valid, &k) == 0)
        if (k->kind == CUPTI_KERNEL || k->kind == CUPTI_CONCURRENT_KERNEL)
            count(k);
    if (c.dropped && c.dropped(context, stream, &lost) == 0 && lost)
        table_note(&table()->dropped, lost);
    free(buffer);
}

/* The program's own copy first: two of them do not get on. */
static void *library(void)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11", "libcupti.so"};
    const char *own = getenv("ASTRA_CAPTURE_CUPTI");
    void *found = NULL;

    for (size_t i = 0; !found && i < sizeof(names) / sizeof(*names); i++)
        found = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
    if (!found && own && *own)
        found = dlopen(own, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; !found && !(own && *own) && i < sizeof(names) / sizeof(*names); i++)
        found = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return found;
}

static bool bind(void *from, const char *name, void *to)
{
    void *symbol = dlsym(from, name);

    memcpy(to, &symbol, sizeof(symbol));
    return symbol != NULL;
}

static bool refuse(const char *fmt, const char *what, int code)
{
    char words[256];

    snprintf(words, sizeof(words), fmt, what, code);
    memcpy(table()->words, words, sizeof(table()->words));
    return false;
}

static int record(void)
{
    int code = c.callbacks(asked, filled);

    if (code == 0 && (code = c.enable(CUPTI_CONCURRENT_KERNEL)) == 0 && c.flush_period)
        c.flush_period(FLUSH_MS);
    return code;
}

bool cupti_start(void)
{
    const char *wanted = getenv("ASTRA_CAPTURE_TIMES");
    struct capture_file *f;
    void *from;
    int code;

    if ((wanted && (!strcmp(wanted, "events") || !strcmp(wanted, "none"))) || !(f = table()))
        return false;
    if (!(from = library()))
        return refuse("%s is not found: name it with ASTRA_CAPTURE_CUPTI", "libcupti", 0);
    if (!bind(from, "cuptiActivityEnable", &c.enable) ||
        !bind(from, "cuptiActivityRegisterCallbacks", &c.callbacks) ||
        !bind(from, "cuptiActivityGetNextRecord", &c.next) ||
        !bind(from, "cuptiActivityFlushAll", &c.flush_all))
        return refuse("%s lacks functions", "libcupti", 0);
    (void)bind(from, "cuptiActivityGetNumDroppedRecords", &c.dropped);
    (void)bind(from, "cuptiActivityFlushPeriod", &c.flush_period);
    bool can_end = bind(from, "cuptiActivityDisable", &c.disable) && bind(from, "cuptiFinalize", &c.finalize);
    c.ours = true;
    code = record();
    c.ours = false;
    if (code != 0)
        return refuse("%s refuses to record kernels (CUPTI's code %d)", "libcupti", code);
    c.open = true;
    c.budget = getenv("ASTRA_CAPTURE_BUDGET") ? strtod(getenv("ASTRA_CAPTURE_BUDGET"), NULL) : BUDGET;
    c.budget = c.budget > 0 && c.budget <= 1 ? c.budget : BUDGET;
    c.windows = can_end && !(wanted && !strcmp(wanted, "cupti"));
    f->times = c.windows ? CAPTURE_WINDOWS : CAPTURE_CUPTI;
    __atomic_store_n(&c.counts, !c.windows, __ATOMIC_RELEASE);
    return true;
}

bool cupti_counts(void)
{
    return __atomic_load_n(&c.counts, __ATOMIC_ACQUIRE);
}

/* ---- windows; under the lock ---- */

static void set_next(uint64_t at)
{
    __atomic_store_n(&c.next_ns, at, __ATOMIC_RELEASE);
}

static uint64_t length(uint64_t now)
{
    uint64_t n = (now - c.first_ns) / 50;

    n = n < WINDOW_MS * MS ? WINDOW_MS * MS : n;
    return n > WINDOW_MOST_MS * MS ? WINDOW_MOST_MS * MS : n;
}

/* When windows have cost less than that share of the time. */
static uint64_t affordable(uint64_t now, double free_ms, double share)
{
    double cost = (double)c.spent_ns + (double)c.switch_ns + SLOWER * (double)length(now);
    double at = (double)c.first_ns + (cost - free_ms * (double)MS) / share;

    return at > (double)(now + GAP_MS * MS) ? (uint64_t)at : now + GAP_MS * MS;
}

/* The next window is drawn a little, since a program's steps repeat. */
static void set_windows(uint64_t now)
{
    uint64_t at = affordable(now, FREE_MS, c.budget / 2);

    c.random = c.random * 6364136223846793005u + 1442695040888963407u;
    c.new_ns = affordable(now, NEW_FREE_MS, c.budget);
    set_next(at + (uint64_t)((double)(at - now) * (double)(c.random >> 40) / (double)(1 << 24) / 4));
}

/* What comes behind its planned end had no launch: the first one closes it. */
static void close_window(void)
{
    uint64_t began = now_ns(), now;
    uint64_t end = c.next_ns < began ? c.next_ns : began;

    c.disable(CUPTI_CONCURRENT_KERNEL);
    c.flush_all(FORCED);
    c.finalize();
    c.open = false;
    table_window();
    now = now_ns();
    c.spent_ns += now - began + (uint64_t)(SLOWER * (double)(end - c.opened_ns));
    c.switch_ns = 2 * (now - began);
    table()->spent_ns = c.spent_ns;
    set_windows(now);
}

static void open_window(void)
{
    uint64_t began = now_ns(), now;

    c.open = record() == 0;
    now = now_ns();
    c.spent_ns += now - began;
    c.switch_ns += now - began;
    c.opened_ns = now;
    c.new_ns = UINT64_MAX;
    set_next(c.open ? now + length(now) : UINT64_MAX);
}

static void postpone(uint64_t until)
{
    if (c.next_ns < until)
        set_next(until);
    if (c.new_ns < until)
        c.new_ns = until;
}

/* ---- nothing under way ----
 * CUPTI comes and goes while the GPU rests and no other thread is within a launch: detached in the middle it
 * frees what kernels in flight still write to (tools/h200/threads.cu ended with an illegal access). */

static void *waits(void *unused)
{
    const struct calls *d = driver_calls();
    void *contexts[CONTEXTS];
    int mode = RELAXED;
    unsigned n;

    (void)unused;
    pthread_mutex_lock(&gate.lock);
    n = gate.n_contexts;
    memcpy(contexts, gate.contexts, sizeof(contexts));
    pthread_mutex_unlock(&gate.lock);
    if (d->capture_mode)
        d->capture_mode(&mode); /* a capture that begins now is not to be ended by this */
    for (unsigned i = 0; i < n; i++)
        if (d->context_set(contexts[i]) == 0)
            d->context_synchronize();
    pthread_mutex_lock(&gate.lock);
    gate.waiting = false;
    pthread_cond_signal(&gate.ended);
    pthread_mutex_unlock(&gate.lock);
    return NULL;
}

/* Under gate.lock. The thread takes none of the program's signals. */
static bool waits_begin(void)
{
    sigset_t all, before;
    pthread_t thread;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    gate.waiting = pthread_create(&thread, NULL, waits, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (gate.waiting)
        pthread_detach(thread);
    return gate.waiting;
}

static struct timespec in_ms(unsigned ms)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += (long)(ms * MS);
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* Waits until all contexts have nothing to do; a kernel that waits for the program would keep it for ever, so
 * the driver is asked by a thread of its own, and it is waited for so long only. */
static bool all_rest(void)
{
    const struct calls *d = driver_calls();
    struct timespec until = in_ms(c.gently ? GENTLE_MS : REST_MS << c.failed);
    bool rest = false;

    if (!d || !d->context_set || !d->context_synchronize)
        return false;
    pthread_mutex_lock(&gate.lock);
    if (!gate.waiting && (rest = waits_begin())) /* else one from before waits still */
        while (gate.waiting && pthread_cond_timedwait(&gate.ended, &gate.lock, &until) == 0)
            ;
    rest = rest && !gate.waiting;
    pthread_mutex_unlock(&gate.lock);
    return rest;
}

static void gate_pass(void)
{
    while (__atomic_add_fetch(&c.within, 1, __ATOMIC_ACQUIRE) & SHUT) {
        __atomic_sub_fetch(&c.within, 1, __ATOMIC_RELEASE);
        pthread_mutex_lock(&gate.lock);
        while (__atomic_load_n(&c.within, __ATOMIC_RELAXED) & SHUT)
            pthread_cond_wait(&gate.opened, &gate.lock);
        pthread_mutex_unlock(&gate.lock);
    }
}

/* False: launches that had begun did not end for GATE_MS. */
static bool gate_shut(void)
{
    static const struct timespec moment = {.tv_nsec = 20000};
    uint64_t until = now_ns() + GATE_MS * MS;

    __atomic_or_fetch(&c.within, SHUT, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&c.within, __ATOMIC_ACQUIRE) != SHUT) {
        if (now_ns() > until)
            return false;
        nanosleep(&moment, NULL);
    }
    return true;
}

static void gate_open(void)
{
    pthread_mutex_lock(&gate.lock);
    __atomic_and_fetch(&c.within, ~SHUT, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&gate.opened);
    pthread_mutex_unlock(&gate.lock);
}

/* Under c.lock. Where it cannot be now, it is tried again later and later; in the end a window stays as it is.
 */
static void switch_window(void)
{
    uint64_t began = now_ns();
    uint64_t again = AGAIN_MS * MS << 2 * c.failed;
    bool rest = false;

    if (gate_shut() && (rest = all_rest())) {
        c.failed = 0;
        c.ours = true;
        c.open ? close_window() : open_window();
        c.ours = false;
    }
    gate_open();
    if (!rest) {
        c.spent_ns += now_ns() - began;
        c.failed += !c.gently;
        if (c.failed > MOST_FAILED && c.open)
            (void)refuse("%s records all the time: the GPU never rested for it to be detached", "libcupti", 0);
        if (c.gently)
            again = GENTLE_AGAIN_MS * MS;
        postpone(c.failed > MOST_FAILED ? UINT64_MAX : now_ns() + again);
    }
}

void cupti_context(void *context)
{
    unsigned i = 0;

    pthread_mutex_lock(&gate.lock);
    while (i < gate.n_contexts && gate.contexts[i] != context)
        i++;
    if (i == gate.n_contexts && i < CONTEXTS)
        gate.contexts[gate.n_contexts++] = context;
    else if (i == CONTEXTS)
        c.windows = false; /* more than can be asked */
    pthread_mutex_unlock(&gate.lock);
}

void cupti_gently(void)
{
    __atomic_store_n(&c.gently, true, __ATOMIC_RELAXED);
}

void cupti_context_gone(const void *context)
{
    pthread_mutex_lock(&gate.lock);
    for (unsigned i = gate.n_contexts; i-- > 0;)
        if (!context || gate.contexts[i] == context)
            gate.contexts[i] = gate.contexts[--gate.n_contexts];
    pthread_mutex_unlock(&gate.lock);
}

static void turn(uint64_t now)
{
    if (now < __atomic_load_n(&c.next_ns, __ATOMIC_ACQUIRE) &&
        (table_new_launches() < NEW || now < __atomic_load_n(&c.new_ns, __ATOMIC_ACQUIRE)))
        return;
    if (pthread_mutex_trylock(&c.lock) != 0)
        return;
    if (!c.first_ns) { /* the first launch, in a window that is open since the driver began */
        c.first_ns = c.opened_ns = now;
        c.new_ns = UINT64_MAX;
        set_next(now + FIRST_MS * MS);
    } else if (contents_captured()) { /* what CUPTI asks of the driver then would end the capture */
        postpone(now + RETRY_MS * MS);
    } else if (now >= c.next_ns || now >= c.new_ns) {
        switch_window();
    }
    pthread_mutex_unlock(&c.lock);
}

static THREAD_LOCAL bool inside;

void cupti_enter(uint64_t now)
{
    if (!c.windows)
        return;
    turn(now);
    gate_pass();
    inside = true;
}

void cupti_leave(void)
{
    if (inside)
        __atomic_sub_fetch(&c.within, 1, __ATOMIC_RELEASE);
    inside = false;
}

void cupti_hold(void)
{
    pthread_mutex_lock(&c.lock); /* a switch under way ends first */
    contents_capture(1);
    pthread_mutex_unlock(&c.lock);
}

void cupti_last(void)
{
    struct capture_file *f = table_made();

    if (!f || (f->times != CAPTURE_CUPTI && f->times != CAPTURE_WINDOWS))
        return;
    pthread_mutex_lock(&c.lock);
    if (c.open)
        c.flush_all(FORCED);
    if (c.open && c.windows)
        table_window();
    c.windows = c.open = false;
    pthread_mutex_unlock(&c.lock);
}

void cupti_forget(void)
{
    c.windows = c.open = c.counts = gate.waiting = inside = false;
    c.within = 0;
    pthread_mutex_init(&c.lock, NULL);
    pthread_mutex_init(&gate.lock, NULL);
    pthread_cond_init(&gate.ended, NULL);
    pthread_cond_init(&gate.opened, NULL);
}

/* ---- a program that uses CUPTI itself ----
 * It links the library, and so comes here first: from now on CUPTI is its own. */

static void *theirs(const char *name)
{
    void *from = NULL, *found = dlsym(RTLD_NEXT, name);

    if (!c.ours && c.windows) {
        pthread_mutex_lock(&c.lock);
        if (c.open)
            switch_window(); /* else it stays open, and the program's own records begin beside ours */
        c.windows = false;
        (void)refuse("%s is used by the program itself: no window of times after that", "libcupti", 0);
        pthread_mutex_unlock(&c.lock);
    }
    return found || !(from = library()) ? found : dlsym(from, name);
}

#define THEIRS(symbol, types, names)          \
    EXPORT int symbol types;                  \
    int symbol types                          \
    {                                         \
        int(*f) types = NULL;                 \
        void *found = theirs(#symbol);        \
        memcpy(&f, &found, sizeof(found));    \
        return f ? f names : NOT_INITIALIZED; \
    }
THEIRS(cuptiSubscribe, (void **subscriber, void *callback, void *data), (subscriber, callback, data))
THEIRS(cuptiActivityRegisterCallbacks, (void *asked_, void *filled_), (asked_, filled_))

/* Each kernel's time by CUPTI, NVIDIA's library, where it is there: kernels inside graphs, too. The driver
 * calls InitializeInjection (CUDA_INJECTION64_PATH) before the program's first context. Declarations are ours:
 * the layouts are CUPTI's binary interface, whose records only grow at their end (tests/gpu/abi.c compares
 * them). */
#include "internal.h"
#include "cupti.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 4 << 20, FLUSH_MS = 100, NO_MORE = 12, FORCED = 1 };

static struct {
    bool counts;
    int (*enable)(int kind);
    int (*callbacks)(void (*asked)(uint8_t **, size_t *, size_t *),
                     void (*filled)(void *, uint32_t, uint8_t *, size_t, size_t));
    int (*next)(uint8_t *buffer, size_t valid, struct cupti_kernel **record);
    int (*dropped)(void *context, uint32_t stream, size_t *n);
    int (*flush_all)(uint32_t flag);
    int (*flush_period)(uint32_t ms); /* NULL before CUDA 11.1 */
} c;

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

    table_count(record, 1);
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
    if ((code = c.callbacks(asked, filled)) != 0 || (code = c.enable(CUPTI_CONCURRENT_KERNEL)) != 0)
        return refuse("%s refuses to record kernels (CUPTI's code %d)", "libcupti", code);
    if (c.flush_period)
        c.flush_period(FLUSH_MS);
    f->times = CAPTURE_CUPTI;
    __atomic_store_n(&c.counts, true, __ATOMIC_RELEASE);
    return true;
}

bool cupti_counts(void)
{
    return __atomic_load_n(&c.counts, __ATOMIC_ACQUIRE);
}

void cupti_last(void)
{
    if (cupti_counts())
        c.flush_all(FORCED);
}

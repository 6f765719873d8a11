/* A stand-in for CUPTI: it records three kernels, two of them in a graph, and gives them when it is flushed.
 * One record is of another kind. With FAKECUPTI_KERNEL they are of that kernel, outside graphs, 4 x 64 threads.
 */
#include "fake.h"

#include "inject/cupti.h"

static void (*ask)(uint8_t **, size_t *, size_t *);
static void (*filled)(void *, uint32_t, uint8_t *, size_t, size_t);
static bool enabled;

EXPORT int cuptiActivityRegisterCallbacks(void (*asked)(uint8_t **, size_t *, size_t *),
                                          void (*full)(void *, uint32_t, uint8_t *, size_t, size_t))
{
    ask = asked;
    filled = full;
    return 0;
}

EXPORT int cuptiActivityEnable(int kind)
{
    enabled = kind == CUPTI_CONCURRENT_KERNEL;
    return (int)fake_number("FAKECUPTI_FAIL", 0);
}

EXPORT int cuptiActivityDisable(int kind)
{
    (void)kind;
    return 0;
}

EXPORT int cuptiFinalize(void)
{
    enabled = false;
    return 0;
}

EXPORT int cuptiSubscribe(void **subscriber, void *callback, void *data)
{
    (void)subscriber;
    (void)callback;
    (void)data;
    return 0;
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, struct cupti_kernel **record)
{
    struct cupti_kernel *next = *record ? *record + 1 : (struct cupti_kernel *)(void *)buffer;

    if ((uint8_t *)next >= buffer + valid)
        return 12;
    *record = next;
    return 0;
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
    (void)context;
    (void)stream;
    *n = 5;
    return 0;
}

EXPORT int cuptiActivityFlushAll(uint32_t flag)
{
    struct cupti_kernel k[4];
    uint8_t *buffer = NULL;
    const char *named = getenv("FAKECUPTI_KERNEL");
    size_t size, most;

    (void)flag;
    if (!enabled)
        return 0;
    enabled = false;
    for (size_t i = 0; i < ARRAY_LEN(k); i++)
        k[i] = (struct cupti_kernel){.kind = i == 3 ? 1 : CUPTI_CONCURRENT_KERNEL,
                                     .start = 1000,
                                     .end = 3000 + 1000 * i,
                                     .grid = {7, 1, 1},
                                     .block = {32, 2, 1},
                                     .dynamic_shared = 128,
                                     .name = "recorded",
                                     .graph_node = i};
    for (size_t i = 0; named && i < ARRAY_LEN(k); i++) {
        k[i].name = named;
        k[i].grid[0] = 4;
        k[i].block[0] = 64;
        k[i].block[1] = 1;
        k[i].dynamic_shared = 0;
        k[i].graph_node = 0;
    }
    ask(&buffer, &size, &most);
    memcpy(buffer, k, sizeof(k));
    filled(NULL, 0, buffer, size, sizeof(k));
    return 0;
}

/* NVML: clocks, temperature, throttling and neighbours, where its library is installed. */
#include "device.h"

#include <dlfcn.h>

typedef struct nvmlDevice_st *nvml_device; /* the library's handle */

enum { NVML_OK = 0, NVML_TOO_SMALL = 7, CLOCK_SM = 1, CLOCK_MEMORY = 2, SENSOR_GPU = 0 };
/* The reasons that are no trouble: idle, and clocks that somebody set. */
enum { REASON_IDLE = 1, REASON_APPLICATION = 2 };

struct nvml {
    void *library;
    nvml_device device;
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_uuid)(const char *uuid, nvml_device *d);
    int (*clock)(nvml_device d, int type, unsigned *mhz);
    int (*temperature)(nvml_device d, int sensor, unsigned *celsius);
    int (*power)(nvml_device d, unsigned *milliwatts);
    int (*reasons)(nvml_device d, unsigned long long *bits);
    int (*processes)(nvml_device d, unsigned *n, void *infos);
    int (*driver)(char *version, unsigned size);
};

static bool bind_all(struct nvml *n)
{
    const struct {
        void *to;
        const char *name, *older;
    } table[] = {
        {&n->init, "nvmlInit_v2", "nvmlInit"},
        {&n->shutdown, "nvmlShutdown", NULL},
        {&n->by_uuid, "nvmlDeviceGetHandleByUUID", NULL},
        {&n->clock, "nvmlDeviceGetClockInfo", NULL},
        {&n->temperature, "nvmlDeviceGetTemperature", NULL},
        {&n->power, "nvmlDeviceGetPowerUsage", NULL},
        {&n->reasons, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"},
        {&n->processes, "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"},
        {&n->driver, "nvmlSystemGetDriverVersion", NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        void *symbol = dlsym(n->library, table[i].name);
        if (!symbol && table[i].older)
            symbol = dlsym(n->library, table[i].older);
        if (!symbol)
            return false;
        memcpy(table[i].to, &symbol, sizeof(symbol));
    }
    return true;
}

struct nvml *nvml_open(const char *uuid)
{
    struct nvml *n = mem_zalloc(sizeof(*n));
    const char *own = getenv("ASTRA_NVML");

    n->library = dlopen(own && *own ? own : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (n->library && bind_all(n) && n->init() == NVML_OK) {
        if (n->by_uuid(uuid, &n->device) == NVML_OK)
            return n;
        n->shutdown();
    }
    free(n); /* the library stays mapped: others may have it open */
    return NULL;
}

void nvml_close(struct nvml *n)
{
    if (!n)
        return;
    n->shutdown();
    free(n);
}

void nvml_clocks(const struct nvml *n, struct cuda_clocks *k)
{
    unsigned milliwatts;
    unsigned long long reasons;

    *k = (struct cuda_clocks){0};
    if (!n)
        return;
    k->known = n->clock(n->device, CLOCK_SM, &k->sm_mhz) == NVML_OK;
    if (n->clock(n->device, CLOCK_MEMORY, &k->memory_mhz) != NVML_OK)
        k->memory_mhz = 0;
    if (n->temperature(n->device, SENSOR_GPU, &k->temperature_c) != NVML_OK)
        k->temperature_c = 0;
    if (n->power(n->device, &milliwatts) == NVML_OK)
        k->power_w = (milliwatts + 500) / 1000;
    if (n->reasons(n->device, &reasons) == NVML_OK)
        k->throttle_reasons = reasons & ~(unsigned long long)(REASON_IDLE | REASON_APPLICATION);
    if (!k->known)
        k->sm_mhz = 0;
}

int nvml_processes(const struct nvml *n)
{
    unsigned count = 0;
    int code = n ? n->processes(n->device, &count, NULL) : NVML_TOO_SMALL + 1;

    return code == NVML_OK || code == NVML_TOO_SMALL ? (int)count : -1;
}

bool nvml_driver(const struct nvml *n, char *version, unsigned size)
{
    return n && n->driver(version, size) == NVML_OK;
}

/* NVML for the fake GPU. */
#include "fake.h"

static unsigned asked; /* for scripts of values */

EXPORT int nvmlInit_v2(void)
{
    return (int)fake_number("FAKENVML_INIT", 0);
}

EXPORT int nvmlShutdown(void)
{
    return 0;
}

EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    *device = &asked;
    return !strncmp(uuid, "GPU-", 4) && strlen(uuid) == 40 ? 0 : 2;
}

EXPORT int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz)
{
    (void)device;
    if (type != 1 && type != 2)
        return 2;
    *mhz = type == 1 ? (unsigned)fake_item("FAKENVML_SM_MHZ", asked, 1980) : 3201;
    return fake_number("FAKENVML_CLOCKS", 1) != 0 ? 0 : 3;
}

EXPORT int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
    (void)device;
    *celsius = 41;
    return sensor == 0 ? 0 : 2;
}

EXPORT int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    (void)device;
    *milliwatts = 123456;
    return 0;
}

EXPORT int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *bits)
{
    (void)device;
    *bits = (unsigned long long)fake_item("FAKENVML_REASONS", asked++, 1);
    return 0;
}

EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *n, void *infos)
{
    (void)device;
    (void)infos;
    *n = (unsigned)fake_number("FAKENVML_PROCESSES", 0);
    return *n ? 7 : 0; /* more than room for none */
}

EXPORT int nvmlSystemGetDriverVersion(char *version, unsigned size)
{
    snprintf(version, size, "580.159.04");
    return 0;
}

/* What the fake driver and the fake NVML share: their misbehaviour, from the environment, read at every call so
 * that a test can change it. docs/measuring.md lists the variables. */
#ifndef FAKECUDA_FAKE_H
#define FAKECUDA_FAKE_H

#include "base/base.h"

#define EXPORT __attribute__((visibility("default")))

static inline double fake_number(const char *name, double fallback)
{
    const char *s = getenv(name);
    return s && *s ? strtod(s, NULL) : fallback;
}

/* Item `at` of "1,2.5,3", round and round; fallback when it is not set. */
static inline double fake_item(const char *name, unsigned at, double fallback)
{
    const char *s = getenv(name), *p;
    unsigned n = 1;

    if (!s || !*s)
        return fallback;
    for (p = s; *p; p++)
        n += *p == ',';
    for (at %= n, p = s; at; at--)
        p = strchr(p, ',') + 1;
    return strtod(p, NULL);
}

#endif

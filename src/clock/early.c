/* Launches that may begin early, from measurements: the columns of docs/results/stream.csv, in which "wait" and
 * "plain" are the same kernel launched with the attribute and without it. */
#include <math.h>

#include "clock.h"

static const struct {
    double blocks, plain_us, wait_us;       /* what the launch adds behind a kernel that never triggers */
    double triggered_us, triggered_wait_us; /* and behind one that triggers at its start */
} measured[] = {
    {1, 0.895, 1.012, 0.893, 0.887},    {16, 0.959, 0.991, 0.960, 0.867},  {64, 0.999, 1.021, 0.998, 0.895},
    {132, 1.036, 1.041, 1.036, 0.893},  {528, 1.489, 1.313, 1.488, 1.192}, {1056, 2.252, 2.036, 2.247, 2.168},
    {4224, 6.545, 6.542, 6.588, 6.340},
};

static double gain_us(size_t i, bool triggered)
{
    return triggered ? measured[i].triggered_us - measured[i].triggered_wait_us
                     : measured[i].plain_us - measured[i].wait_us;
}

double ptx_early_us(const struct ptx_device *d, double blocks, bool triggered)
{
    size_t i = 0;

    if (d->cc_major < 9)
        return 0;
    while (i + 2 < ARRAY_LEN(measured) && blocks > measured[i + 1].blocks)
        i++;
    double low = measured[i].blocks, high = measured[i + 1].blocks;
    double part = log(fmin(fmax(blocks, low), high) / low) / log(high / low);
    return gain_us(i, triggered) * (1 - part) + gain_us(i + 1, triggered) * part;
}

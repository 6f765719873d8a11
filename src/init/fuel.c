/* What may be spent on looking: warp instructions, so that what is found is the same on every machine, and at
 * last the processor's time, for kernels whose instructions take longer than others'. */
#include "init/internal.h"

#include <time.h>

enum { MOST_S = 4 };
#define MOST_WAYS 0.7 /* of it: the last way needs some, too */

static double most_s = MOST_S; /* the process's, as its processor's time is */

void init_allow(double seconds)
{
    most_s = seconds > 0 ? seconds : MOST_S;
}

bool init_is_late(void)
{
    return (double)clock() / CLOCKS_PER_SEC >= most_s;
}

bool init_is_waning(void)
{
    return (double)clock() / CLOCKS_PER_SEC >= most_s * MOST_WAYS;
}

void init_refuel(int64_t *fuel, int64_t least)
{
    if (!init_is_late())
        *fuel = MAX(*fuel, least);
}

/* What may be spent on looking: warp instructions, so that what is found is the same on every machine, and at last
 * the processor's time, for kernels whose instructions take longer than others'. */
#include "init/internal.h"

#include <time.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MOST_S = 60 };
#else
enum { MOST_S = 4 };
#endif

bool init_is_late(void)
{
    return clock() / CLOCKS_PER_SEC >= MOST_S;
}

void init_refuel(int64_t *fuel, int64_t least)
{
    if (!init_is_late())
        *fuel = MAX(*fuel, least);
}

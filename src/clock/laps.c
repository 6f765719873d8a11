/* How many plans and sets of buffers a measurement has. */
#include "clock.h"

static const double BLOCK_US = 400;

size_t lap_plans(double us)
{
    static const size_t MOST = 4096;
    size_t plans = 1;

    while ((double)plans * us < BLOCK_US && plans < MOST)
        plans *= 2;
    return plans;
}

size_t lap_sets(uint64_t l2_bytes, uint64_t set_bytes)
{
    static const uint64_t TIMES = 5, MOST = 8192; /* the L2 */

    return (size_t)MIN((TIMES * l2_bytes + set_bytes - 1) / set_bytes, MOST);
}

size_t lap_windows(size_t sets, double copy_us)
{
    static const size_t MOST = 8;

    return MAX(1, MIN(sets / lap_plans(copy_us), MOST));
}

size_t lap_rounds(size_t sets, double copy_us, double us)
{
    return lap_windows(sets, copy_us) == 1 ? MAX(lap_plans(us) / sets, 1) : 1;
}

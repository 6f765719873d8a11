/* How many plans and sets of buffers a measurement has. */
#include "clock.h"

size_t lap_plans(double us)
{
    static const size_t MOST = 4096;
    size_t plans = 1;

    while ((double)plans * us < LAP_BLOCK_US && plans < MOST)
        plans *= 2;
    return plans;
}

size_t lap_sets(uint64_t l2_bytes, uint64_t set_bytes)
{
    return (size_t)MIN((LAP_COLD_L2 * l2_bytes + set_bytes - 1) / set_bytes, (uint64_t)LAP_MOST_SETS);
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

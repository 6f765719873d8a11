/* What blocks wait for that others have asked for: those of a sample run one after the other, those of a GPU
 * side by side. */
#include "cost_model.h"

/* Of lines that all blocks read, the one that comes first waits for DRAM, and all for it; but which one that is
 * changes, and each has gone ahead by what the others still had to wait. So about half of it shows (fitted:
 * codes and tables that all threads go through). */
static const double WAITS_FOR_FIRST = 0.5;

/* Share of the first block's lines that others read, too, and that one has asked for long before another needs
 * them: as soon as it began, or on its way through them in an order of its own. */
static double asked_early(const struct ptx_profile *p)
{
    double begun = 0, met = 0, sooner = 0, others = MAX((double)p->samples.n - 1, 1);

    for (size_t k = 0; k < p->allocs.n; k++) {
        begun += p->allocs.v[k].begun;
        met += p->allocs.v[k].met;
        sooner += p->allocs.v[k].sooner;
    }
    sooner = MIN(sooner * MAX(p->concurrent - 1, 0) / others, met);
    return begun + met > 0 ? (begun + sooner) / (begun + met) : 0;
}

/* Share of what blocks read again that all of them read, and not just neighbours. */
static double read_by_all(const struct ptx_profile *p)
{
    double again = 0, by_all = 0;

    for (size_t k = 0; k < p->allocs.n; k++) {
        const struct touched *t = &p->allocs.v[k];
        again += t->own - t->read;
        by_all += all_share(p, t) ? t->own - t->read : 0;
    }
    return again > 0 ? by_all / again : 0;
}

/* Cycles that a block took longer than another of the sample because more of its lines came from DRAM. */
static double longer_by_lines(const struct ptx_profile *p, const struct sample *s, double cycles, double lines)
{
    return MAX(MIN(s->cycles - cycles, (s->dram_lines - lines) * p->dram_cycles), 0);
}

static double first_waits(const struct ptx_profile *p, double others, double early)
{
    const struct sample *first = &p->samples.v[0];
    double lines = 0, n = (double)p->samples.n - 1;

    for (size_t k = 1; k < p->samples.n; k++)
        lines += p->samples.v[k].dram_lines / n;
    return first->cycles - (1 - WAITS_FOR_FIRST * (1 - early)) * longer_by_lines(p, first, others, lines);
}

/* What the sample's other blocks take, most and in the mean. What all blocks read comes from DRAM for those
 * that are simulated first, where really each of all that run at once asks for its part. */
static void later_blocks(const struct ptx_profile *p, double blocks, double early, double *mean, double *most)
{
    const struct sample *s = p->samples.v, *least = &s[p->samples.n > 1];
    double n = MAX((double)p->samples.n - 1, 1);
    double unseen = blocks <= p->concurrent ? 1 - (double)p->samples.n / blocks : 0;
    double spared = early * read_by_all(p) * unseen;

    for (size_t k = 1; k < p->samples.n; k++)
        if (s[k].dram_lines < least->dram_lines)
            least = &s[k];
    for (size_t k = p->samples.n > 1; k < p->samples.n; k++) {
        double longer = longer_by_lines(p, &s[k], least->cycles, least->dram_lines);
        double cycles =
            s[k].cycles - spared * MAX(longer - p->dram_cycles, 0); /* the first of them all wait for */
        *mean += cycles / n;
        *most = MAX(*most, k > 0 ? cycles : 0);
    }
}

void late_cycles(const struct ptx_profile *p, double blocks, double *mean, double *most)
{
    double early = asked_early(p);

    later_blocks(p, blocks, early, mean, most);
    *most = MAX(*most, first_waits(p, *mean, early));
}

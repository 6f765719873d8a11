/* How often the interval of trial/paired is wrong, and what it costs to find 2 %: simulated measurements under
 * each kind of made-up noise, at A/A and with a true difference, as a table. The last column is what it
 * replaces: a percentile bootstrap of the median, looked at after every pair from the tenth on until it says
 * "faster".
 *
 *     bench_paired [MEASUREMENTS]        10000 by default, a hundredth of it for the last column */
#include "noise.h"

struct row {
    double wins, losses, found, missed, pairs, pairs_found, half_width;
};

static bool add(struct row *row, enum noise_kind kind, double truth, int n, struct err *err)
{
    for (int i = 0; i < n; i++) {
        struct pair_rules rules = pair_rules_default();
        struct pair_result r;
        struct noise noise;
        rules.seed = (uint64_t)i;
        noise_open(&noise, kind, truth, (uint64_t)i);
        if (!pair_measure(&rules, noise_pair, &noise, &r, err))
            return false;
        if (truth == 1) {
            row->wins += r.low > 1;
            row->losses += r.high < 1;
            row->pairs += r.pairs;
            row->half_width += (r.high - r.low) / 2;
        } else {
            row->found += r.low > 1;
            row->missed += r.low > truth || r.high < truth;
            row->pairs_found += r.pairs;
        }
    }
    return true;
}

static int bootstrap_wins(enum noise_kind kind, int n)
{
    enum { MOST = 40 };
    int wins = 0;

    for (int i = 0; i < n; i++) {
        double ratios[MOST], low = 0, high;
        struct noise noise;
        noise_open(&noise, kind, 1, (uint64_t)i);
        for (int pairs = 0; pairs < MOST && !(low > 0); pairs++) {
            struct pair p = {0};
            noise_pair(&noise, false, &p, NULL);
            ratios[pairs] = log(p.a_us / p.b_us);
            if (pairs + 1 >= 10)
                stats_bootstrap_median(ratios, (size_t)pairs + 1, (uint64_t)i, &low, &high);
        }
        wins += low > 0;
    }
    return wins;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 10000, n_bootstrap = MAX(n / 100, 1);
    struct err err = {0};

    if (n < 1) {
        fputs("usage: bench_paired [MEASUREMENTS]\n", stderr);
        return 2;
    }
    printf("%d measurements of each kind; 95 %%, half-width 0.5 %%\n\n", n);
    puts(
        "| noise | false wins | false losses | half-width | pairs | 2 % found | 2 % missed by the interval | pairs "
        "| bootstrap, false wins |\n|---|---|---|---|---|---|---|---|---|");
    for (enum noise_kind k = 0; k < NOISE_KINDS; k++) {
        struct row r = {0};
        double percent = 100.0 / n;
        if (!add(&r, k, 1, n, &err) || !add(&r, k, 1.02, n, &err)) {
            fprintf(stderr, "bench_paired: %s\n", err.text);
            return 1;
        }
        printf("| %s | %.2f %% | %.2f %% | %.2f %% | %.0f | %.1f %% | %.2f %% | %.0f | %.1f %% |\n",
               noise_names[k], r.wins * percent, r.losses * percent, r.half_width * percent, r.pairs / n,
               r.found * percent, r.missed * percent, r.pairs_found / n,
               100.0 * bootstrap_wins(k, n_bootstrap) / n_bootstrap);
        fflush(stdout);
    }
    return 0;
}

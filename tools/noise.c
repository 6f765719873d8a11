#include "noise.h"

#define WHITE  0.003 /* of every block, and of what is below unless said */
#define A_US   20.0
#define COMMON 0.9
#define OWN    0.6

const char *const noise_names[NOISE_KINDS] = {
    [NOISE_WHITE] = "white",          [NOISE_DRIFT] = "drift",
    [NOISE_STEPS] = "steps",          [NOISE_SPIKES] = "spikes",
    [NOISE_BIMODAL] = "two clocks",   [NOISE_STICKY] = "two clocks that stay",
    [NOISE_WANDERING] = "waves",      [NOISE_OWN_WAVES] = "waves of one side",
    [NOISE_SECOND] = "order matters", [NOISE_HEAVY] = "heavy tails",
    [NOISE_THROTTLE] = "throttling",
};

void noise_open(struct noise *n, enum noise_kind kind, double truth, uint64_t seed)
{
    *n = (struct noise){.kind = kind, .truth = truth, .rng = {rng_hash(seed, (uint64_t)kind)}};
    for (int i = 0; i < 3; i++)
        n->waves[i] = rng_normal(&n->rng);
}

static bool chance(struct noise *n, double p)
{
    return rng_unit(&n->rng) < p;
}

/* A stationary autoregressive process of variance 1. */
static double wave(struct noise *n, int which, double memory)
{
    n->waves[which] = memory * n->waves[which] + sqrt(1 - memory * memory) * rng_normal(&n->rng);
    return n->waves[which];
}

/* The logarithm of how much longer a block takes than it should. */
static double excess(struct noise *n, bool b, bool second, bool *disturbed)
{
    double white = WHITE * rng_normal(&n->rng);

    n->blocks++;
    switch (n->kind) {
    case NOISE_DRIFT:
        return white + 0.0005 * n->blocks;
    case NOISE_STEPS:
        if (chance(n, 0.03))
            n->level += 0.02 * rng_normal(&n->rng);
        return white + n->level;
    case NOISE_SPIKES:
        return white - (chance(n, 0.05) ? 0.2 * log(1 - rng_unit(&n->rng)) : 0);
    case NOISE_BIMODAL:
        return white + (chance(n, 0.3) ? 0.03 : 0);
    case NOISE_STICKY:
        n->slow ^= chance(n, 0.1);
        return white + (n->slow ? 0.03 : 0);
    case NOISE_WANDERING:
        return white + 0.005 * wave(n, 0, COMMON);
    case NOISE_OWN_WAVES:
        return WHITE * wave(n, 1 + b, OWN);
    case NOISE_SECOND:
        return white + (second ? 0.005 : 0);
    case NOISE_HEAVY:
        return fmin(fmax(0.002 * tan(M_PI * (rng_unit(&n->rng) - 0.5)), -1), 1);
    case NOISE_THROTTLE:
        if (n->left == 0 && chance(n, 0.02))
            n->left = 4;
        if (n->left == 0)
            return white;
        n->left--;
        *disturbed = true;
        return white + 0.2;
    default:
        return white;
    }
}

bool noise_pair(void *noise, bool b_first, struct pair *p, struct err *err)
{
    struct noise *n = noise;
    double log_us[2];

    (void)err;
    for (int second = 0; second < 2; second++) {
        bool b = b_first != (second == 1);
        log_us[b] = excess(n, b, second == 1, &p->disturbed);
    }
    p->a_us = A_US * exp(log_us[0]);
    p->b_us = A_US / n->truth * exp(log_us[1]);
    return true;
}

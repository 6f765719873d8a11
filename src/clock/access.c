/* What one access of a warp asks of the memories: passes of the shared memory's banks, words, lines. */
#include "cost_model.h"

static const double MOST_SHARE = 0.4;

struct phase { /* lanes that the banks serve at once */
    uint32_t words[32][32];
    uint8_t n[32];
    unsigned most, all, banks;
};

/* The words of lanes first to end - 1, to those that are there. */
static void phase_add(struct phase *p, const struct access *x, unsigned first, unsigned end)
{
    for (unsigned l = first; l < end; l++) {
        if (!(x->mask >> l & 1))
            continue;
        for (unsigned b = 0; b < MAX(x->bytes, 4u); b += 4) {
            uint32_t word = (uint32_t)((x->addr[l] + b) / 4), bank = word % 32;
            unsigned k = 0;
            while (k < p->n[bank] && p->words[bank][k] != word)
                k++;
            if (k == p->n[bank]) {
                p->words[bank][p->n[bank]++] = word;
                p->banks += k == 0;
                p->all++;
            }
            p->most = MAX(p->most, p->n[bank]);
        }
    }
}

/* Passes of the shared memory's 32 banks: per phase of 128 bytes, the most different words that one bank must
 * give. use->busy: how long the banks are taken. Where only some banks give several words that is less: 2.4
 * instead of 3.5 passes for a word anywhere a lane (with issue_share 2.7, waits.csv, gather). Two phases of
 * which no bank has two words are one: 16 bytes for all lanes take 2.06 passes instead of 4 (shares.csv). */
unsigned access_passes(const struct access *x, struct bank_use *use)
{
    unsigned lanes = MAX(128 / MAX(x->bytes, 4u), 8u), passes = 0;
    if (x->linear) {
        passes = MAX(1u, x->bytes * 32 / 128);
        *use = (struct bank_use){.words = passes * 32, .busy = passes};
        return passes;
    }
    *use = (struct bank_use){0};
    for (unsigned first = 0; first < 32; first += lanes) {
        struct phase p = {0};
        phase_add(&p, x, first, first + lanes);
        if (first + lanes < 32) {
            struct phase both = p;
            phase_add(&both, x, first + lanes, first + 2 * lanes);
            if (both.most == 1) {
                p = both;
                first += lanes;
            }
        }
        passes += p.most;
        use->words += p.all;
        use->busy += p.banks ? MOST_SHARE * p.most + (1 - MOST_SHARE) * p.all / p.banks : 0;
    }
    use->busy = MAX(use->busy, 1);
    return MAX(passes, 1u);
}

/* The most lanes of one bank; use->busy as above. */
unsigned access_turns(const struct access *x, struct bank_use *use)
{
    unsigned most = 0, banks = 0;
    uint8_t turns[32] = {0};
    for (unsigned l = 0; l < 32; l++)
        if (x->mask >> l & 1) {
            unsigned turn = ++turns[x->addr[l] / 4 % 32];
            banks += turn == 1;
            most = MAX(most, turn);
        }
    if (banks)
        use->busy = MOST_SHARE * most + (1 - MOST_SHARE) * __builtin_popcount(x->mask) / banks;
    return most;
}

/* The most lanes that update one word, and in *different: how many words. */
unsigned access_words(const struct access *x, unsigned *different)
{
    uint64_t words[32];
    uint8_t count[32];
    unsigned n = 0, most = 0;
    for (unsigned l = 0; l < 32; l++) {
        if (!(x->mask >> l & 1))
            continue;
        unsigned k = 0;
        while (k < n && words[k] != x->addr[l])
            k++;
        if (k == n) {
            words[n] = x->addr[l];
            count[n++] = 0;
        }
        count[k]++;
        most = MAX(most, count[k]);
    }
    *different = n;
    return most;
}

/* Passes of the L2 for an atomic: sectors, each as often as the most lanes that update one word of it. */
unsigned access_updates(const struct access *x)
{
    uint64_t sectors[32];
    uint8_t most[32];
    unsigned n = 0, passes = 0;

    for (unsigned l = 0; l < 32; l++) {
        unsigned same = 1, k = 0;
        if (!(x->mask >> l & 1))
            continue;
        for (unsigned q = 0; q < l; q++)
            same += x->mask >> q & 1 && x->addr[q] == x->addr[l];
        while (k < n && sectors[k] != x->addr[l] / SECTOR_BYTES)
            k++;
        if (k == n) {
            sectors[n] = x->addr[l] / SECTOR_BYTES;
            most[n++] = 0;
        }
        most[k] = (uint8_t)MAX(most[k], same);
    }
    for (unsigned k = 0; k < n; k++)
        passes += most[k];
    return passes;
}

/* Lines of 128 bytes, and the sectors of each. */
unsigned access_lines(const struct access *x, uint64_t line[64], uint8_t sectors[64])
{
    unsigned n = 0;
    if (x->linear) {
        uint64_t first = x->addr[0] / SECTOR_BYTES, last = (x->addr[0] + 32ull * x->bytes - 1) / SECTOR_BYTES;
        for (uint64_t s = first; s <= last; s++) {
            if (n == 0 || line[n - 1] != s / 4) {
                line[n] = s / 4;
                sectors[n++] = 0;
            }
            sectors[n - 1] |= (uint8_t)(1u << (s & 3));
        }
        return n;
    }
    for (unsigned l = 0; l < 32; l++) {
        if (!(x->mask >> l & 1))
            continue;
        uint64_t sector = x->addr[l] / SECTOR_BYTES, at = sector / 4;
        unsigned k = n;
        while (k > 0 && line[k - 1] != at)
            k--;
        if (k == 0) {
            line[n] = at;
            sectors[n++] = 0;
            k = n;
        }
        sectors[k - 1] |=
            (uint8_t)(1u << (sector & 3)); /* aligned accesses of at most 16 bytes stay in one sector */
    }
    return n;
}

/* Who knows of whom: the happens-before half of the race detector (race.h).
 *
 * Whole barriers and whole warp syncs are two numbers (bar_seg, full_seg). All else (fences with flags and
 * tickets, named barriers) is kept as `struct know`, a sorted set of (thread, warp or block; segments below n),
 * shared and never changed. */
#include "race.h"

struct know_entry {
    uint64_t key; /* block << 16 | part */
    uint32_t until;
};

struct know {
    uint32_t refs;
    size_t n;
    struct know_entry *memo; /* answers about threads, by key; NULL: none yet */
    struct know_entry e[];
};

enum { PART_BLOCK = 0, PARTS_PER_WARP = 33, PART_BEGUN = 0xffff /* says only that the block has begun */ };

static uint64_t key_warp(uint64_t block, uint32_t warp)
{
    return block << 16 | (1 + warp * PARTS_PER_WARP);
}

static uint64_t key_lane(uint64_t block, uint32_t warp, uint32_t lane)
{
    return key_warp(block, warp) + 1 + lane;
}

static struct know *know_new(size_t cap)
{
    struct know *k = mem_alloc(sizeof(*k) + cap * sizeof(k->e[0]));
    k->refs = 1;
    k->n = 0;
    k->memo = NULL;
    return k;
}

static void know_drop(struct know **k)
{
    if (*k && --(*k)->refs == 0) {
        free((*k)->memo);
        free(*k);
    }
    *k = NULL;
}

static struct know *know_keep(struct know *k)
{
    if (k)
        k->refs++;
    return k;
}

static const struct know_entry *know_find(const struct know *k, uint64_t key)
{
    size_t low = 0, high = k->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (k->e[mid].key < key)
            low = mid + 1;
        else
            high = mid;
    }
    return low < k->n && k->e[low].key == key ? &k->e[low] : NULL;
}

static uint32_t know_part(const struct know *k, uint64_t key)
{
    const struct know_entry *e = know_find(k, key);
    return e ? e->until : 0;
}

/* Below which segment all that a thread did is known. A tile that many threads copied is asked about by each of
 * its cells, every time that somebody reads it. */
static uint32_t know_until(struct know *k, uint64_t block, uint32_t warp, uint32_t lane)
{
    enum { KNOW_MEMO = 256, FEW = 4 };
    uint64_t key = key_lane(block, warp, lane);
    struct know_entry *said = NULL;
    if (k->n > FEW) {
        k->memo = k->memo ? k->memo : mem_zalloc(KNOW_MEMO * sizeof(*k->memo)); /* no thread's key is 0 */
        said = &k->memo[key % KNOW_MEMO];
        if (said->key == key)
            return said->until;
    }
    uint32_t of_block = know_part(k, block << 16 | PART_BLOCK), of_warp = know_part(k, key_warp(block, warp));
    uint32_t until = MAX(MAX(of_block, of_warp), know_part(k, key));
    if (said)
        *said = (struct know_entry){key, until};
    return until;
}

static bool know_has(struct know *k, uint64_t block, uint32_t warp, uint32_t lane, uint32_t seg)
{
    return k && seg < know_until(k, block, warp, lane);
}

/* Anything that the block did. */
static bool know_block(const struct know *k, uint64_t block)
{
    size_t low = 0, high = k ? k->n : 0;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (k->e[mid].key < block << 16)
            low = mid + 1;
        else
            high = mid;
    }
    return k && low < k->n && k->e[low].key >> 16 == block;
}

/* Does a hold all that b does? */
static bool know_covers(const struct know *a, const struct know *b)
{
    if (a == b || !b)
        return true;
    if (!a || a->n < b->n)
        return false;
    size_t i = 0;
    for (size_t j = 0; j < b->n; j++) {
        while (i < a->n && a->e[i].key < b->e[j].key)
            i++;
        if (i == a->n || a->e[i].key != b->e[j].key || a->e[i].until < b->e[j].until)
            return false;
    }
    return true;
}

/* *to becomes the union. */
static void know_join(struct know **to, struct know *b)
{
    struct know *a = *to;
    if (know_covers(a, b))
        return;
    if (know_covers(b, a)) {
        know_keep(b);
        know_drop(to);
        *to = b;
        return;
    }
    struct know *k = know_new(a->n + b->n);
    size_t i = 0, j = 0;
    while (i < a->n || j < b->n) {
        if (j == b->n || (i < a->n && a->e[i].key < b->e[j].key)) {
            k->e[k->n++] = a->e[i++];
        } else if (i == a->n || b->e[j].key < a->e[i].key) {
            k->e[k->n++] = b->e[j++];
        } else {
            k->e[k->n] = a->e[i++];
            k->e[k->n].until = MAX(k->e[k->n].until, b->e[j].until);
            k->n++, j++;
        }
    }
    know_drop(to);
    *to = k;
}

static void lane_learn(struct race_warp *w, uint32_t lane, struct know *k)
{
    know_join(&w->know[lane], k);
    if (w->know[lane])
        w->know_mask |= 1u << lane;
}

/* Of a load that is no acquire the memory model asks for a fence before what is then read; a barrier counts as
 * one, since much right code has only that. */
static void lanes_heed(struct race_warp *w, uint32_t mask)
{
    for (uint32_t left = w->heard_mask & mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        lane_learn(w, lane, w->heard[lane]);
        know_drop(&w->heard[lane]);
    }
    w->heard_mask &= ~mask;
}

static void lane_hear(struct race_warp *w, uint32_t lane, struct know *k, bool acquire)
{
    if (acquire) {
        lane_learn(w, lane, k);
        return;
    }
    know_join(&w->heard[lane], k);
    if (w->heard[lane])
        w->heard_mask |= 1u << lane;
}

static uint32_t seg_new(struct race *r, uint32_t owner)
{
    if (r->next_seg >= RACE_MAX_SEG - 64)
        r->full = true;
    else
        r->next_seg++;
    uint32_t seg = r->next_seg - 1;
    if (seg >= r->cap_owner) {
        r->cap_owner = MAX((size_t)4096, 2 * r->cap_owner);
        r->owner = mem_realloc(r->owner, r->cap_owner * sizeof(*r->owner));
    }
    r->owner[seg] = owner;
    return seg;
}

uint32_t race_seg(struct race *r, const struct race_block *b, uint32_t warp)
{
    struct race_warp *w = &b->warps[warp];
    return w->seg ? w->seg : (w->seg = seg_new(r, (uint32_t)(b->id * r->warps + warp)));
}

bool race_knows(const struct race *r, const struct race_block *b, uint32_t warp, uint32_t lane, uint32_t id)
{
    const struct race_warp *w = &b->warps[warp];
    uint32_t seg = id >> 5, owner = r->owner[seg];
    uint64_t block = owner / r->warps;
    uint32_t other = owner % r->warps;
    if (block == b->id && other == warp && w->pair && seg < w->pair[lane][id & 31])
        return true;
    return know_has(w->know[lane], block, other, id & 31, seg) || know_has(b->know, block, other, id & 31, seg);
}

enum past { OF_LANE, OF_ALL_LANES, OF_NO_LANE /* only what all lanes know */ };

/* All that a lane, or every lane of the warp, has as its past now, itself included; its segment ends. */
static struct know *past_of(struct race *r, struct race_block *b, uint32_t warp, uint32_t lane, enum past of)
{
    struct race_warp *w = &b->warps[warp];
    struct know *k = know_new(2 + 32);
    if (b->bar_seg > b->base)
        k->e[k->n++] = (struct know_entry){b->id << 16 | PART_BLOCK, b->bar_seg};
    if (of == OF_ALL_LANES)
        k->e[k->n++] = (struct know_entry){key_warp(b->id, warp), r->next_seg};
    else if (w->full_seg > b->base)
        k->e[k->n++] = (struct know_entry){key_warp(b->id, warp), w->full_seg};
    for (uint32_t l = 0; l < 32 && of == OF_LANE; l++) {
        uint32_t until = w->pair ? w->pair[lane][l] : 0;
        if (l == lane)
            until = r->next_seg;
        if (until)
            k->e[k->n++] = (struct know_entry){key_lane(b->id, warp, l), until};
    }
    w->seg = 0;
    know_join(&k, b->know);
    for (uint32_t l = 0; l < 32; l++)
        if (w->know[l] && (of == OF_ALL_LANES || (of == OF_LANE && l == lane)))
            know_join(&k, w->know[l]);
    return k;
}

void race_fence(struct race *r, struct race_block *b, uint32_t warp, uint32_t mask, bool all, bool block_scope)
{
    struct race_warp *w = &b->warps[warp];
    lanes_heed(w, mask);
    bool alike = all && !w->know_mask && !w->pair; /* the lanes' pasts differ in themselves alone */
    struct know *common = alike ? past_of(r, b, warp, 0, OF_NO_LANE) : NULL;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        struct know *k = alike ? know_keep(common) : past_of(r, b, warp, lane, OF_LANE);
        for (int scope = block_scope; scope < 2; scope++) {
            know_drop(&w->fenced[scope][lane]);
            w->fenced[scope][lane] = know_keep(k);
            w->fenced_own[scope][lane] = alike ? r->next_seg : 0;
            w->fenced_mask[scope] |= 1u << lane;
        }
        know_drop(&k);
    }
    know_drop(&common);
}

/* What lanes of mask fenced of themselves joins *to. */
static void own_join(struct know **to, const struct race_block *b, uint32_t warp, int scope, uint32_t mask)
{
    const uint32_t *own = b->warps[warp].fenced_own[scope];
    bool even = mask == ~0u;
    for (uint32_t l = 0; l < 32; l++)
        even &= own[l] && own[l] == own[0];
    struct know *k = know_new(32);
    if (even)
        k->e[k->n++] = (struct know_entry){key_warp(b->id, warp), own[0]};
    for (; mask && !even; mask &= mask - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(mask);
        if (own[l])
            k->e[k->n++] = (struct know_entry){key_lane(b->id, warp, l), own[l]};
    }
    know_join(to, k);
    know_drop(&k);
}

void race_warp_sync(struct race *r, struct race_block *b, uint32_t warp, uint32_t mask, bool all)
{
    struct race_warp *w = &b->warps[warp];
    lanes_heed(w, mask);
    w->seg = 0;
    if (all) {
        w->full_seg = r->next_seg;
    } else {
        if (!w->pair)
            w->pair = mem_zalloc(32 * sizeof(*w->pair));
        uint32_t joined[32] = {0};
        for (uint32_t l = 0; l < 32; l++)
            for (uint32_t m = 0; (mask >> l & 1) && m < 32; m++)
                joined[m] = MAX(joined[m], w->pair[l][m]);
        for (uint32_t m = 0; m < 32; m++)
            if (mask >> m & 1)
                joined[m] = r->next_seg;
        for (uint32_t l = 0; l < 32; l++)
            if (mask >> l & 1)
                memcpy(w->pair[l], joined, sizeof(joined));
    }
    struct know **sets[3] = {w->know, w->fenced[0], w->fenced[1]};
    uint32_t *masks[3] = {&w->know_mask, &w->fenced_mask[0], &w->fenced_mask[1]};
    for (int s = 0; s < 3; s++) {
        if (!(*masks[s] & mask))
            continue;
        struct know *sum = NULL;
        for (uint32_t left = *masks[s] & mask; left; left &= left - 1)
            know_join(&sum, sets[s][__builtin_ctz(left)]);
        if (s)
            own_join(&sum, b, warp, s - 1, *masks[s] & mask);
        for (uint32_t left = mask; left; left &= left - 1)
            know_join(&sets[s][__builtin_ctz(left)], sum);
        *masks[s] |= mask;
        know_drop(&sum);
    }
}

/* A fence counts for the whole block after a barrier: many kernels let every thread fence, then one thread
 * signal. */
void race_barrier(struct race *r, struct race_block *b)
{
    for (uint32_t i = 0; i < b->n_warps; i++) {
        struct race_warp *w = &b->warps[i];
        lanes_heed(w, ~0u);
        struct know **from[3] = {w->know, w->fenced[0], w->fenced[1]};
        struct know **to[3] = {&b->know, &b->fenced[0], &b->fenced[1]};
        uint32_t *masks[3] = {&w->know_mask, &w->fenced_mask[0], &w->fenced_mask[1]};
        for (int s = 0; s < 3; s++) {
            if (s && *masks[s])
                own_join(to[s], b, i, s - 1, *masks[s]);
            for (uint32_t left = *masks[s]; left; left &= left - 1) {
                uint32_t lane = (uint32_t)__builtin_ctz(left);
                know_join(to[s], from[s][lane]);
                know_drop(&from[s][lane]);
            }
            *masks[s] = 0;
        }
        w->seg = 0;
    }
    b->bar_seg = r->next_seg;
}

void race_barrier_some(struct race *r, struct race_block *b, const uint32_t *arrived, const uint32_t *waited,
                       const uint32_t *live)
{
    struct know *sum = NULL;
    r->crossed = true;
    for (uint32_t i = 0; i < b->n_warps; i++) {
        bool all = arrived[i] == live[i];
        lanes_heed(&b->warps[i], arrived[i] | waited[i]);
        for (uint32_t left = arrived[i]; left; left &= all ? 0 : left - 1) {
            struct know *k = past_of(r, b, i, (uint32_t)__builtin_ctz(left), all ? OF_ALL_LANES : OF_LANE);
            know_join(&sum, k);
            know_drop(&k);
        }
    }
    for (uint32_t i = 0; i < b->n_warps; i++) {
        struct race_warp *w = &b->warps[i];
        for (uint32_t left = waited[i]; left; left &= left - 1)
            lane_learn(w, (uint32_t)__builtin_ctz(left), sum);
        if (waited[i])
            race_warp_sync(r, b, i, waited[i], waited[i] == live[i]);
    }
    know_drop(&sum);
}

/* ---- mbarriers and cluster barriers ---- */

/* Cumulative: an operation on an mbarrier reads what the one before it left, so each phase hands on the last.
 */
struct race_sync {
    struct know *sum, *done;
    bool told, done_told; /* they say more than that blocks have begun */
};

void race_sync_drop(struct race_sync **s)
{
    if (!*s)
        return;
    know_drop(&(*s)->sum);
    know_drop(&(*s)->done);
    free(*s);
    *s = NULL;
}

static struct race_sync *sync_of(struct race_sync **s)
{
    if (!*s)
        *s = mem_zalloc(sizeof(**s));
    return *s;
}

void race_sync_arrive(struct race *r, struct race_sync **s, struct race_block *b, uint32_t warp, uint32_t mask,
                      bool all, bool relaxed)
{
    struct race_sync *y = sync_of(s);
    struct race_warp *w = &b->warps[warp];
    lanes_heed(w, relaxed ? 0 : mask);
    if (r->clustered && !know_block(y->sum, b->id)) {
        struct know *begun = know_new(1);
        begun->e[begun->n++] = (struct know_entry){b->id << 16 | PART_BEGUN, 1};
        know_join(&y->sum, begun);
        know_drop(&begun);
    }
    for (uint32_t left = mask; left; left &= all && !relaxed ? 0 : left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (relaxed) {
            for (int scope = 0; scope < 2; scope++) {
                know_join(&y->sum, w->fenced[scope][lane]);
                if (w->fenced_mask[scope] >> lane & 1)
                    own_join(&y->sum, b, warp, scope, 1u << lane);
                know_join(&y->sum, b->fenced[scope]);
                y->told |= w->fenced[scope][lane] || (w->fenced_mask[scope] >> lane & 1) || b->fenced[scope];
            }
            continue;
        }
        y->told = true;
        struct know *k = past_of(r, b, warp, lane, all ? OF_ALL_LANES : OF_LANE);
        know_join(&y->sum, k);
        know_drop(&k);
    }
}

void race_sync_flip(struct race_sync *s)
{
    if (!s)
        return;
    know_drop(&s->done);
    s->done = know_keep(s->sum);
    s->done_told = s->told;
}

void race_sync_wait(struct race *r, struct race_sync *s, struct race_block *b, uint32_t warp, uint32_t mask)
{
    lanes_heed(&b->warps[warp], mask);
    if (!s || !s->done)
        return;
    r->crossed |= s->done_told;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (!know_covers(b->know, s->done))
            lane_learn(&b->warps[warp], lane, s->done);
    }
}

/* What every thread knows is the block's knowledge: fewer sets to look at. */
void race_cluster_passed(struct race_sync *s, struct race_block *b, uint32_t seg, bool relaxed)
{
    b->exec_seg = MAX(b->exec_seg, seg);
    if (relaxed || !s)
        return;
    b->bar_seg = MAX(b->bar_seg, seg);
    b->cluster_seg = MAX(b->cluster_seg, seg);
    know_join(&b->know, s->done);
    for (uint32_t i = 0; i < b->n_warps; i++)
        for (uint32_t left = b->warps[i].know_mask; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            if (!know_covers(b->know, b->warps[i].know[lane]))
                continue;
            know_drop(&b->warps[i].know[lane]);
            b->warps[i].know_mask &= ~(1u << lane);
        }
}

/* Without what a block of a cluster need not ask about: that a block began later is no order of memory. */
static bool known_before(const struct race *r, const struct race_block *b, uint32_t warp, uint32_t lane,
                         uint32_t id)
{
    uint32_t seg = id >> 5, owner = r->owner[seg];
    bool own_block = owner / r->warps == b->id, own_warp = own_block && owner % r->warps == warp;
    return (own_block && seg < b->bar_seg) ||
           (own_warp && ((id & 31) == lane || seg < b->warps[warp].full_seg)) ||
           race_knows(r, b, warp, lane, id);
}

bool race_before(const struct race *r, const struct race_block *b, uint32_t warp, uint32_t lane, uint32_t id)
{
    return id >> 5 < b->cluster_seg || known_before(r, b, warp, lane, id);
}

bool race_begun(const struct race *r, const struct race_block *b, uint32_t warp, uint32_t lane, uint64_t of)
{
    return r->full || b->exec_seg > b->base || know_block(b->know, of) ||
           know_block(b->warps[warp].know[lane], of);
}

uint32_t race_now(const struct race *r)
{
    return r->next_seg;
}

/* The block's last warp is nobody's: its lanes stand for the mbarriers. */
uint32_t race_agent(struct race *r, struct race_block *b, struct race_sync **s, uint32_t number)
{
    uint32_t lane = number % 32, seg = seg_new(r, (uint32_t)(b->id * r->warps + b->n_warps));
    struct know *k = know_new(1);
    k->e[k->n++] = (struct know_entry){key_lane(b->id, b->n_warps, lane), seg + 1};
    know_join(&sync_of(s)->sum, k);
    (*s)->told = true;
    know_drop(&k);
    return RACE_ID(seg, lane);
}

/* ---- flags: what a strong write left for its readers ---- */

static struct race_flag *flag_at(struct race *r, uint64_t block, bool shared, uint64_t addr, bool make)
{
    if (make && 2 * r->n_flags >= r->cap_flags) {
        struct race_flag *old = r->flags;
        size_t n = r->cap_flags;
        r->cap_flags = MAX((size_t)256, 4 * n);
        r->flags = mem_zalloc(r->cap_flags * sizeof(*r->flags));
        r->n_flags = 0;
        for (size_t i = 0; i < n; i++)
            if (old[i].used)
                *flag_at(r, old[i].block, old[i].shared, old[i].addr, true) = old[i];
        free(old);
    }
    if (!r->cap_flags)
        return NULL;
    uint64_t at = rng_mix(addr * 2 + shared + (shared ? block << 20 : 0));
    for (;; at++) {
        struct race_flag *f = &r->flags[at & (r->cap_flags - 1)];
        if (f->used && f->addr == addr && f->shared == shared && (!shared || f->block == block))
            return f;
        if (f->used)
            continue;
        if (!make)
            return NULL;
        *f = (struct race_flag){.used = true, .shared = shared, .addr = addr, .block = block};
        r->n_flags++;
        return f;
    }
}

/* What was there before a strong write, and who has read the place since. */
struct race_version {
    uint8_t before[16];
    uint32_t bytes, id, pc;
    uint64_t was_block;
    struct know *was[2];
    VEC(uint32_t) met;
};

static void version_drop(struct race_version **v)
{
    if (*v) {
        know_drop(&(*v)->was[0]);
        know_drop(&(*v)->was[1]);
        vec_free(&(*v)->met);
    }
    free(*v);
    *v = NULL;
}

/* Lane is about to write: what is there now is the earlier version. */
static void version_begin(struct race *r, struct race_block *b, struct race_flag *f, uint32_t warp,
                          uint32_t lane, const struct race_access *a)
{
    struct race_version *v = f->version ? f->version : mem_zalloc(sizeof(*v));
    f->version = v;
    r->peek(a->context, a->shared, a->addr[lane], v->before, a->size_bytes);
    v->bytes = a->size_bytes;
    v->id = RACE_ID(race_seg(r, b, warp), lane);
    v->pc = a->pc;
    v->was_block = f->block;
    for (int scope = 0; scope < 2; scope++) {
        know_drop(&v->was[scope]);
        v->was[scope] = know_keep(f->known[scope]);
    }
    vec_clear(&v->met);
}

void race_flags_clear(struct race *r)
{
    for (size_t i = 0; i < r->cap_flags; i++) {
        for (int s = 0; s < 2; s++)
            know_drop(&r->flags[i].known[s]);
        version_drop(&r->flags[i].version);
    }
    free(r->flags);
    r->flags = NULL;
    r->n_flags = r->cap_flags = 0;
    vec_clear(&r->given);
}

/* What stands in a flag was released; what threads gave to mbarriers and barriers of clusters is not looked
 * for. */
enum race_lack race_lacks(const struct race *r, const struct race_block *b, uint32_t warp,
                          const struct race_conflict *c)
{
    bool released[2] = {false, false};
    for (size_t i = 0; i < r->cap_flags; i++)
        for (int scope = 0; scope < 2; scope++)
            released[scope] |= r->flags[i].used &&
                               know_has(r->flags[i].known[scope], c->block, c->warp, c->other_lane, c->seg);
    if (know_has(b->warps[warp].heard[c->lane], c->block, c->warp, c->other_lane, c->seg))
        return LACK_FENCE;
    if (released[0])
        return LACK_ACQUIRE;
    if (released[1])
        return LACK_SCOPE;
    for (size_t k = 0; k < r->blocks.n; k++) {
        const struct race_block *other = r->blocks.v[k];
        if (other->open && other->id == c->block && c->warp < other->n_warps &&
            other->warps[c->warp].seg == c->seg) /* whatever publishes ends a segment */
            return LACK_RELEASE;
    }
    return r->clustered ? LACK_UNKNOWN : LACK_RELEASE;
}

/* lane learns what a release left of which a read of that lane took the value. */
static void learn_flag(struct race *r, struct race_block *b, struct know *const known[2], uint64_t of_block,
                       uint32_t warp, uint32_t lane, const struct race_access *a)
{
    for (int scope = 0; scope < 2; scope++)
        if (known[scope] && (scope == 0 || of_block == b->id)) {
            lane_hear(&b->warps[warp], lane, known[scope], a->op == RACE_ATOMIC || a->acquire || a->shared);
            r->crossed = true;
        }
}

void race_acquire(struct race *r, struct race_block *b, const struct race_block *home, uint32_t warp,
                  uint32_t lane, const struct race_access *a)
{
    const struct race_flag *f = flag_at(r, home->id, a->shared, a->addr[lane], false);
    if (f)
        learn_flag(r, b, f->known, f->block, warp, lane, a);
}

/* A thread has read what is there now; was it given something earlier before? */
static void note_again(struct race *r, uint32_t owner, uint32_t lane, const struct race_block *home,
                       const struct race_access *a)
{
    for (size_t i = 0; i < r->given.n; i++) {
        struct race_earlier *g = &r->given.v[i];
        g->again |= g->addr == a->addr[lane] && g->shared == a->shared && (!a->shared || g->home == home->id) &&
                    r->owner[g->by >> 5] == owner && (g->by & 31) == lane;
    }
}

/* May lane still find what was there before the last write? Not when that is ordered before it, nor when
 * anything before it has seen what was written. */
static bool reads_earlier(struct race *r, struct race_block *b, const struct race_block *home, uint32_t warp,
                          uint32_t lane, const struct race_access *a, struct race_flag *f)
{
    enum { MOST_MET = 64, MOST_GIVEN = 64 };
    struct race_version *v = f->version;
    uint32_t me = RACE_ID(race_seg(r, b, warp), lane), owner = r->owner[me >> 5];
    uint8_t now[16];
    if (v->id >> 5 < r->base || v->bytes != a->size_bytes || r->owner[v->id >> 5] / r->warps == b->id ||
        known_before(r, b, warp, lane, v->id))
        return false;
    for (size_t i = 0; i < v->met.n; i++)
        if (known_before(r, b, warp, lane, v->met.v[i])) {
            note_again(r, owner, lane, home, a);
            return false;
        }
    if (v->met.n == MOST_MET)
        return false;
    vec_push(&v->met, me);
    r->peek(a->context, a->shared, a->addr[lane], now, a->size_bytes);
    if (!memcmp(now, v->before, a->size_bytes))
        return false;
    const struct race_warp *w = &b->warps[warp];
    if (r->given.n < MOST_GIVEN)
        vec_push(&r->given, ((struct race_earlier){
                                .by = me,
                                .by_pc = a->pc,
                                .id = v->id,
                                .pc = v->pc,
                                .addr = a->addr[lane],
                                .home = home->id,
                                .shared = a->shared,
                                .told = know_has(w->heard[lane], r->owner[v->id >> 5] / r->warps,
                                                 r->owner[v->id >> 5] % r->warps, v->id & 31, v->id >> 5)}));
    return true;
}

uint32_t race_read_earlier(struct race *r, struct race_block *b, const struct race_block *home, uint32_t warp,
                           uint32_t mask, const struct race_access *a)
{
    uint32_t given = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        struct race_flag *f = flag_at(r, home->id, a->shared, a->addr[lane], false);
        if (!f || !f->version || !reads_earlier(r, b, home, warp, lane, a, f))
            continue;
        given |= 1u << lane;
        memcpy(a->earlier[lane], f->version->before, a->size_bytes);
        learn_flag(r, b, f->version->was, f->version->was_block, warp, lane, a);
    }
    return given;
}

void race_release(struct race *r, struct race_block *b, const struct race_block *home, uint32_t warp,
                  uint32_t lane, const struct race_access *a)
{
    struct race_warp *w = &b->warps[warp];
    bool any = w->fenced[0][lane] || w->fenced[1][lane] || b->fenced[0] || b->fenced[1];
    struct race_flag *f = flag_at(r, home->id, a->shared, a->addr[lane], any || r->stale);
    if (!f)
        return;
    if (r->stale && !(a->idle >> lane & 1) && (!a->shared || r->clustered))
        version_begin(r, b, f, warp, lane, a);
    for (int scope = 0; scope < 2; scope++) {
        if (a->op != RACE_ATOMIC || (scope == 1 && f->block != b->id))
            know_drop(&f->known[scope]);
        know_join(&f->known[scope], w->fenced[scope][lane]);
        if (w->fenced_mask[scope] >> lane & 1)
            own_join(&f->known[scope], b, warp, scope, 1u << lane);
        know_join(&f->known[scope], b->fenced[scope]);
    }
    f->block = a->shared ? home->id : b->id;
}

void race_order_clear(struct race_block *b)
{
    for (uint32_t i = 0; i < b->n_warps; i++) {
        struct race_warp *w = &b->warps[i];
        for (uint32_t lane = 0; lane < 32; lane++) {
            know_drop(&w->know[lane]);
            know_drop(&w->heard[lane]);
            know_drop(&w->fenced[0][lane]);
            know_drop(&w->fenced[1][lane]);
        }
        free(w->pair);
        vec_free(&w->async);
        *w = (struct race_warp){0};
    }
    know_drop(&b->know);
    know_drop(&b->fenced[0]);
    know_drop(&b->fenced[1]);
}

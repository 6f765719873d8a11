/* race: finds accesses to the same memory that nothing orders (happens-before), in shared and global memory of
 * one launch at a time. It is told of every access before it is performed, and of everything that orders. Lanes
 * of a warp are separate threads.
 *
 * What orders: a thread's own program; barriers (whole and named); bar.warp.sync among its mask; a fence before
 * an atomic or volatile store, towards whoever reads that value by an atomic or a volatile load. Shuffles and
 * votes do not, nor does cp.async before its wait. Two atomics, or two volatile accesses, never race, but
 * volatile accesses of one warp to shared memory, which count on lock step, nor does a store that changes
 * nothing. docs/integrity.md says the same for people. race.c holds the cells, happens_before.c who knows of
 * whom. */
#ifndef SANITIZE_RACE_H
#define SANITIZE_RACE_H

#include "ptx/observe.h"
#include "sanitize.h"

/* Loops that are compiled twice and chosen when the program is loaded. ThreadSanitizer is not up by then. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif

struct race;       /* of one launch after the other */
struct race_block; /* of one resident block */
struct race_page;

/* Copies what memory holds now; for shared memory addr is the offset in the block's window. */
typedef void race_peek_fn(void *context, bool shared, uint64_t addr, void *to, size_t size_bytes);

/* Puts what lane is about to store into `to`; false: unknown. */
typedef bool race_stored_fn(void *context, uint32_t lane, uint8_t to[16]);

enum race_op { RACE_READ, RACE_WRITE, RACE_ATOMIC };

struct race_access {
    const uint64_t *addr; /* of each lane; multiples of size_bytes; shared: offsets */
    uint32_t mask;
    uint32_t size_bytes; /* a power of two up to 16 */
    enum race_op op;
    bool shared;
    bool consecutive;        /* all 32 lanes, addr[i] == addr[0] + i * size_bytes; false is always right */
    bool strong;             /* volatile, relaxed, acquire, release; atomics are in any case */
    bool loose;              /* of these volatile alone: no order among the lanes of a warp */
    bool acquire, release;   /* as the instruction says, beyond strong */
    bool block_scope;        /* .cta */
    bool nc;                 /* ld.global.nc */
    bool async;              /* cp.async's write: not there before its wait */
    bool collective;         /* a read that the whole warp executes as one: ldmatrix, wmma.load */
    struct race_block *home; /* shared: whose memory; NULL: the own block's */
    uint32_t pc;             /* of the instruction, below 2^24 */
    race_stored_fn *stored;  /* writes; NULL: unknown */
    void *context;           /* for peek and stored */
    /* Where r->stale: lanes of a read that may find what was there before the last write, and do. */
    uint32_t *earlier_mask;
    uint8_t (*earlier)[16];
    uint32_t idle; /* lanes of an atomic that changes nothing, whatever is there: it reads */
};

struct race_conflict {
    uint32_t lane; /* of the present access, at addr */
    uint64_t addr;
    bool nc;        /* not a race: a .nc load of memory that the launch writes */
    uint64_t block; /* the earlier access */
    uint32_t warp, other_lane, pc, seg;
    bool wrote, was_async;
    bool proxy; /* not a race: no proxy fence since that write */
};

/* What two blocks lack, as far as it is known. */
enum race_lack {
    LACK_UNKNOWN,
    LACK_RELEASE, /* the earlier access was not released */
    LACK_SCOPE,   /* or to its own block only */
    LACK_ACQUIRE, /* it was, but the present thread has not acquired it */
    LACK_FENCE,   /* it has read the flag, but neither acquires nor fences */
};

struct race *race_open(race_peek_fn *peek);
void race_close(struct race *r); /* takes NULL */
/* A new launch: everything before is ordered. clustered: blocks may see each other's shared memory. */
void race_launch(struct race *r, uint32_t warps_per_block, bool clustered);

struct race_block *race_block_open(struct race *r, uint64_t block); /* linear id */
/* Takes NULL. race_launch closes what is left open: a block is the detector's, and used again. */
void race_block_close(struct race *r, struct race_block *b);

/* Of a conflict with another block's access that is not in flight. */
enum race_lack race_lacks(const struct race *r, const struct race_block *b, uint32_t warp,
                          const struct race_conflict *c);

/* Call before the access is performed. False: it conflicts, c says with what. */
bool race_access(struct race *r, struct race_block *b, uint32_t warp, const struct race_access *a,
                 struct race_conflict *c);

/* all: mask holds every live lane of the warp. */
void race_warp_sync(struct race *r, struct race_block *b, uint32_t warp, uint32_t mask, bool all);
void race_fence(struct race *r, struct race_block *b, uint32_t warp, uint32_t mask, bool all, bool block_scope);
/* A barrier that every live thread of the block waited at is complete. */
void race_barrier(struct race *r, struct race_block *b);
/* A barrier of some threads is complete: lanes that arrived and those that go on after it, per warp; live: per
 * warp. */
void race_barrier_some(struct race *r, struct race_block *b, const uint32_t *arrived, const uint32_t *waited,
                       const uint32_t *live);

void race_async_commit(struct race_block *b, uint32_t warp, uint32_t mask);
/* pending: groups that may stay in flight (cp.async.wait_group N). wait_all is commit, then 0. */
void race_async_wait(struct race *r, struct race_block *b, uint32_t warp, uint32_t mask, uint32_t pending);

/* ---- traffic that changes nothing: waste.c ---- */

/* A plain store of instruction pc to cell i is about to be performed; home: of shared memory, or NULL. */
void race_waste_stored(struct race *r, const struct race_block *home, const struct race_page *p, size_t i,
                       uint32_t pc);
void race_waste_block(struct race *r, const struct race_block *b); /* b ends */

/* ---- mbarriers and cluster barriers: what threads publish there and others learn ---- */

struct race_sync; /* made by the first arrival */
void race_sync_drop(struct race_sync **s);
/* Lanes of mask publish their past; relaxed: only what they fenced. all: mask holds every live lane. */
void race_sync_arrive(struct race *r, struct race_sync **s, struct race_block *b, uint32_t warp, uint32_t mask,
                      bool all, bool relaxed);
void race_sync_flip(struct race_sync *s); /* from now on a wait learns what was published so far */
void race_sync_wait(struct race *r, struct race_sync *s, struct race_block *b, uint32_t warp, uint32_t mask);
/* All threads of b have passed the cluster's barrier s; seg: race_now() at its first arrival. */
void race_cluster_passed(struct race_sync *s, struct race_block *b, uint32_t seg, bool relaxed);
uint32_t race_now(const struct race *r);
/* Is what `id` (race_thread, race_agent) did before what lane does now? */
bool race_before(const struct race *r, const struct race_block *b, uint32_t warp, uint32_t lane, uint32_t id);
/* Has anything shown lane that block `of` of the cluster has begun? */
bool race_begun(const struct race *r, const struct race_block *b, uint32_t warp, uint32_t lane, uint64_t of);
/* A proxy fence of some thread of b. */
void race_proxy_fence(struct race *r, struct race_block *b, uint32_t warp);
/* An access of another block to home's memory. */
void race_note_remote(struct race *r, struct race_block *home, uint32_t id, uint32_t pc);
/* All threads of b have exited. False: an access of another block to its memory may come later. */
bool race_exit(const struct race *r, const struct race_block *b, struct race_conflict *c);

/* ---- bulk copies: race_async.c ---- */

struct race_bulk {
    struct race_block *home; /* whose shared memory; NULL: global */
    uint64_t addr;
    uint32_t bytes, lane, pc; /* lane: of the thread that begins it */
    bool write, strong;       /* strong: a reduction */
    bool check_proxy;
    bool counted; /* by race_bulk_begin */
};
/* Cells are no larger than this: 16 bytes for bulk copies, less for single stores. */
static inline uint32_t race_bulk_unit(const struct race_bulk *x)
{
    return 1u << MIN((uint32_t)__builtin_ctzll(x->addr | x->bytes), 4u);
}
/* Begins: from now on until it ends nobody may touch what it writes, nor write what it reads. */
bool race_bulk_begin(struct race *r, struct race_block *b, uint32_t warp, const struct race_bulk *x,
                     struct race_conflict *c);
/* Ends as what somebody did (race_thread, race_agent). */
void race_bulk_end(struct race *r, uint32_t warp, const struct race_bulk *x, uint32_t id);
uint32_t race_thread(struct race *r, struct race_block *b, uint32_t warp, uint32_t lane);
/* Nobody's thread: what is done so is known to whoever waits for s. number: of the mbarrier in block b. */
uint32_t race_agent(struct race *r, struct race_block *b, struct race_sync **s, uint32_t number);

/* ---- shared by race.c, race_async.c and happens_before.c ----
 * A segment is a stretch of one warp's execution between two events that order; segments are numbered as they
 * begin, so the number is a clock: a warp knows another's past as "its segments below n". A thread's past in a
 * segment is an id. */

enum { RACE_SPARE_BYTES = 64 << 20 }; /* cells kept from launch to launch */
enum { RACE_PAGE = 4096, RACE_MAX_SEG = (1u << 27) - 1 };
enum { RACE_CELL = 4, RACE_LANES = 5, RACE_CHUNK = RACE_CELL + RACE_LANES }; /* shifts: of a lane's, a warp's */

#define RACE_ID(seg, lane) ((seg) << 5 | (lane))

/* An asynchronous access in flight is younger than every barrier; the warp that began it takes the place of a
 * segment. */
#define RACE_ASYNC_SEG (RACE_MAX_SEG - 32)
enum { RACE_AT_ASYNC = 1 << 26 }; /* in race_page.w_at and r_at */

struct race_page {
    uint64_t number;               /* address / RACE_PAGE */
    uint32_t shift;                /* a cell covers 1 << shift bytes; above RACE_CELL it is a chunk, */
    uint32_t phase;                /* and chunks begin at such an offset */
    uint32_t *w, *w_at, *r, *r_at; /* last write and last read of each cell: id, pc and flags */
    struct race_page *next_free;
};

struct know; /* immutable: which segments of whom a thread has as its past */

struct race_async { /* one cp.async of a warp, still in flight for lanes of mask */
    uint64_t addr[32];
    uint32_t mask, size_bytes, group[32];
    uint64_t serial;
};

struct race_warp {
    uint32_t seg;         /* current; 0: begins with the next access */
    uint32_t full_seg;    /* all lanes know all lanes' segments below */
    uint32_t (*pair)[32]; /* [lane][of]: after a bar.warp.sync of some lanes; NULL: none was */
    struct know *know[32],
        *fenced[2][32];     /* beyond barriers; published by the next release (0: GPU, 1: block scope) */
    struct know *heard[32]; /* by loads that are no acquire: known from the lane's next fence or barrier on */
    uint32_t know_mask, fenced_mask[2], heard_mask; /* lanes where they are not NULL */
    uint32_t fenced_own[2][32];                     /* and the lane's own segments below; 0: fenced says it */
    VEC(struct race_async) async;
    uint32_t committed[32]; /* cp.async groups */
    uint64_t async_serial;
};

struct race_remote { /* the latest access of a warp of another block */
    uint32_t owner, id, pc;
};

struct race_block {
    uint64_t id;
    uint32_t base;        /* segments below belong to earlier blocks */
    uint32_t bar_seg;     /* all threads know the block's segments below */
    uint32_t cluster_seg; /* and the cluster's below this */
    uint32_t exec_seg;    /* all threads of the cluster have begun later ones */
    uint32_t proxy_seg;   /* segments below began before the last proxy fence in the cluster */
    VEC(struct race_remote) remote;
    struct know *know, *fenced[2];
    struct race_page **pages; /* of shared memory, by number */
    size_t n_pages;
    struct race_warp *warps;
    uint32_t n_warps;
    bool open;
    struct race_block *next_free;
};

struct race_flag { /* what a strong write left for its readers */
    bool used;
    bool shared;
    uint64_t addr, block; /* block: of the shared memory, or of the last block-scope release */
    struct know *known[2];
    struct race_version *version; /* where r->stale */
};

struct race_earlier {           /* a read that was given what was there before a write */
    uint32_t by, by_pc, id, pc; /* the read, the write */
    uint64_t addr, home;
    bool shared, again; /* again: its thread has read the place once more, as who polls does */
    bool told;          /* the thread had seen what came later, and lacks a fence of its own */
};

struct race {
    race_peek_fn *peek;
    uint32_t next_seg, base; /* segments below base belong to earlier launches */
    uint32_t *owner;         /* segment -> block * warps + warp */
    size_t cap_owner;
    uint32_t warps; /* of a block, and one more: race_agent */
    bool clustered;
    uint64_t flying;              /* bulk copies begun and not ended */
    bool crossed;                 /* somebody knows something not through a whole barrier */
    struct sanitize_waste *waste; /* by pc; NULL: nobody asks */
    bool full;                    /* out of segments: no further checks in this launch */
    bool loose; /* a strong read met another block's strong write that nothing orders before it */
    bool stale; /* such a read finds what was there before, once */
    VEC(struct race_earlier) given; /* the first of them */
    struct race_page **table;       /* of global memory: open addressing */
    size_t n_pages, n_table;
    struct race_page *last, *spare[RACE_CHUNK + 1]; /* spare: by shift */
    size_t cell_bytes;
    struct race_flag *flags;
    size_t n_flags, cap_flags;
    VEC(struct race_block *) blocks; /* all of them */
    struct race_block *free;
};

uint32_t race_seg(struct race *r, const struct race_block *b, uint32_t warp); /* the current one */
/* Does lane know the past (id of seg and lane) of a thread of another or the own warp, by partial syncs and
 * flags? */
bool race_knows(const struct race *r, const struct race_block *b, uint32_t warp, uint32_t lane, uint32_t id);
/* home: whose shared memory the address is in. */
void race_acquire(struct race *r, struct race_block *b, const struct race_block *home, uint32_t warp,
                  uint32_t lane, const struct race_access *a);
/* A strong write by lane: publishes what it fenced; an atomic also what was there. */
void race_release(struct race *r, struct race_block *b, const struct race_block *home, uint32_t warp,
                  uint32_t lane, const struct race_access *a);
void race_flags_clear(struct race *r);
/* Lanes of mask that find what was there before the last write; they acquire what that says. */
uint32_t race_read_earlier(struct race *r, struct race_block *b, const struct race_block *home, uint32_t warp,
                           uint32_t mask, const struct race_access *a);
void race_order_clear(struct race_block *b); /* gives back what a block knows */
/* The page there, its cells no larger than size_bytes and no chunks. */
struct race_page *race_page_at(struct race *r, struct race_block *b, bool shared, uint64_t addr,
                               uint32_t size_bytes);
/* The page of global memory at addr where it has chunks for an access of 32 lanes side by side that begins at
 * `begin`; NULL: it has cells, or other chunks. */
struct race_page *race_page_of_chunks(struct race *r, uint64_t addr, uint64_t begin, uint32_t size_bytes);
static inline size_t race_chunk(const struct race_page *p, uint64_t addr)
{
    return (addr % RACE_PAGE + (1u << p->shift) - p->phase) >> p->shift;
}
void race_page_free(struct race_page *p);
/* Pages of global memory are used again by later launches, for other addresses too: what they hold is older. */
void race_pages_spare(struct race *r);
void race_pages_forget(struct race *r);
/* The cp.async instructions of a lane before serial have landed, for whoever waits for s. */
void race_async_arrived(struct race *r, struct race_block *b, uint32_t warp, uint32_t lane, uint64_t serial,
                        struct race_sync **s, uint32_t number);

#endif

/* What the rooms of src/ptx share, and whoever watches a launch sees. Read this and op.def, then front/lower.c
 * and machine/engine.c.
 *
 * A module's text becomes one array of `struct insn` (all functions, callees before callers); a pc is an index
 * into it. A warp is 32 lanes with a pc each, kept as groups (pc, mask); one group, the current one, executes.
 * Registers lie in a per-warp file: a 32-bit register is uint32_t[32] at a byte offset, a 64-bit one
 * uint64_t[32], a 16-bit one uint16_t[32], a 128-bit one two planes of uint64_t[32] (low, high), a predicate
 * one uint32_t (bit = lane). Immediates are registers too, written once when a warp slot is made. So a handler
 * sees only offsets:
 *
 *     static void add_u32(struct warp *w, const struct insn *i, uint32_t m)   // m: lanes that execute, never 0
 *
 * and writes lanes of m, and no others, of its destination (any lane when warp_full(w, m): the rest do not
 * exist). Handlers are chosen once, when lowering, by the select function that op.def names. Files exec_*.c are
 * compiled once per instruction set (isa.h), so everything in them is static but the select functions, which
 * are named through ISA(). */
#ifndef PTX_OBSERVE_H
#define PTX_OBSERVE_H

#include "ptx/ptx.h"

/* ---- names: opcodes, modifiers, types ---- */

enum unit { /* who executes it; the clock prices by it */
            UNIT_NONE,
            UNIT_ALU,
            UNIT_FMA,
            UNIT_FP64,
            UNIT_SFU,
            UNIT_CVT,
            UNIT_LSU,
            UNIT_ATOM,
            UNIT_SHFL,
            UNIT_TENSOR,
            UNIT_CONTROL,
            UNIT_SYNC,
};

/* The columns of op.def that observers read. How an instruction is priced: */
enum price_kind {
    PRICE_NONE,
    PRICE_ALU,
    PRICE_ADD,
    PRICE_MULTIPLY,
    PRICE_DIVIDE,
    PRICE_RCP,
    PRICE_SQRT,
    PRICE_SINE,
    PRICE_TANH,
    PRICE_SFU,
    PRICE_COUNT,
    PRICE_SIGN,
    PRICE_MOVE,
    PRICE_FREE,
    PRICE_VOTE,
    PRICE_MATCH,
    PRICE_REDUX,
    PRICE_CONVERT,
    PRICE_SHUFFLE,
    PRICE_PRODUCT,
    PRICE_GROUP_PRODUCT,
    PRICE_GROUP,
    PRICE_LOAD,
    PRICE_STORE,
    PRICE_ATOMIC,
    PRICE_REDUCE,
    PRICE_COPY,
    PRICE_HINT,
    PRICE_LOAD_PARTS,
    PRICE_STORE_PARTS,
    PRICE_MBARRIER,
    PRICE_BARRIER,
    PRICE_FENCE,
    PRICE_CONTROL
};

/* what happens to a result that is not a number of the type */
enum rounds {
    ROUNDS_EXACT,
    ROUNDS_NEAREST,
    ROUNDS_APPROX,
    ROUNDS_CONVERTED,
};

/* the function that an instruction is on real numbers */
enum real_kind {
    REAL_NONE,
    REAL_ADD,
    REAL_SUB,
    REAL_MUL,
    REAL_DIV,
    REAL_ABS,
    REAL_NEG,
    REAL_MIN,
    REAL_MAX,
    REAL_COPYSIGN,
    REAL_RCP,
    REAL_SQRT,
    REAL_RSQRT,
    REAL_SIN,
    REAL_COS,
    REAL_LG2,
    REAL_EX2,
    REAL_TANH,
    REAL_FMA,
};

/* what a launch with shadow values does at an instruction; shadow_plan.c narrows it by types and operands */
enum shadow_kind {
    SHADOW_NOTHING,  /* execute it; no shadow value comes near */
    SHADOW_ARITH,    /* of real types: the function in double; else as TAINT */
    SHADOW_COMPARED, /* set: made by a comparison, which follows the real values */
    SHADOW_CONVERT,
    SHADOW_BITS,  /* moves parts about: column bits */
    SHADOW_TAINT, /* a result from a shadow value is lost */
    SHADOW_LOAD,
    SHADOW_STORE,
    SHADOW_ATOMIC,
    SHADOW_SHUFFLE,
    SHADOW_MATRIX,
    SHADOW_LOAD_MATRIX,
    SHADOW_STORE_MATRIX, /* it executes its instruction itself; wgmma does, too */
    SHADOW_TURN_MATRIX,
};

/* how undefined values pass through an instruction */
enum undef_kind {
    UNDEF_NOTHING, /* it writes no register */
    UNDEF_LANES,   /* lane by lane: column bits */
    UNDEF_LOAD,    /* said when memory is accessed; of parameters, as LANES */
    UNDEF_ACCESS,  /* said when memory is accessed, or its destinations are its own affair */
    UNDEF_SHUFFLE,
    UNDEF_PRODUCT,
    UNDEF_GROUP_PRODUCT,
    UNDEF_WARP, /* any undefined source of any lane makes all results undefined */
};

/* which bits of a lane's result hang on which bits of its sources */
enum bits_kind {
    BITS_ALL,   /* all on all; of packed types, half by half */
    BITS_WHOLE, /* all on all */
    BITS_BYTES, /* byte by byte */
    BITS_MOVE,
    BITS_XOR,
    BITS_MASK,
    BITS_SHIFT,
    BITS_FIELD,
    BITS_COMPARE,
    BITS_PERMUTE,
    BITS_SELECT,
    BITS_SELECT_SIGN,
    BITS_RESIZE,
};

enum op {
    OP_unsupported, /* known to nobody: executing it ends the launch */
#define OP(id, ...) OP_##id,
#include "op.def"
#undef OP
    N_OPS,
};

struct op_info {
    const char *text, *operands, *widths;
    uint8_t unit, price, flops, rounding, real, shadow, undef, bits; /* enums above */
};
extern const struct op_info op_table[N_OPS];

enum mod {
#define MOD(id, text) MOD_##id,
#include "mod.def"
#undef MOD
    N_MODS,
};

enum type {
    TYPE_NONE,
    TYPE_B1,
    TYPE_B8,
    TYPE_B16,
    TYPE_B32,
    TYPE_B64,
    TYPE_B128,
    TYPE_U8,
    TYPE_U16,
    TYPE_U32,
    TYPE_U64,
    TYPE_S8,
    TYPE_S16,
    TYPE_S32,
    TYPE_S64,
    TYPE_F16,
    TYPE_F16X2,
    TYPE_BF16,
    TYPE_BF16X2,
    TYPE_TF32,
    TYPE_F32,
    TYPE_F64,
    TYPE_PRED,
    TYPE_U16X2,
    TYPE_S16X2,
    TYPE_F32X2,
    TYPE_E4M3,
    TYPE_E5M2,
    TYPE_E4M3X2,
    TYPE_E5M2X2,
    TYPE_S4,
    TYPE_U4,
    N_TYPES,
};
extern const char *const type_names[N_TYPES];
extern const uint8_t type_bytes[N_TYPES]; /* 0 for pred and b1 */
static inline bool type_signed(enum type t)
{
    return (t >= TYPE_S8 && t <= TYPE_S64) || t == TYPE_S16X2;
}

enum space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST, SPACE_PARAM };

/* ---- instructions ---- */

enum opnd_kind {
    OPND_NONE,
    OPND_REG,   /* register, predicate or immediate: off, bytes; is_imm: imm holds its bits */
    OPND_VEC,   /* {a, b, ...}: vec[0..n) */
    OPND_ADDR,  /* [base + imm]: off is the base register (u32 or u64 by bytes); a symbol's address is an
                   immediate */
    OPND_LABEL, /* imm: pc */
    OPND_SINK,  /* _ : off is a register that nobody reads */
    OPND_FUNC,  /* call target: ref */
};

/* What an immediate or an address without a base register refers to; its value then is the address plus imm. */
enum ref_kind { REF_NONE, REF_VAR, REF_ENTRY_PARAM, REF_FUNC_PARAM, REF_SPECIAL, REF_FUNC };

enum special {
#define SPECIAL(id, text, bytes, when) SPECIAL_##id,
#include "special.def"
#undef SPECIAL
    N_SPECIALS,
};

struct opnd {
    uint8_t kind;  /* enum opnd_kind */
    uint8_t bytes; /* of one lane's register: 2 4 8 16; 0: predicate */
    uint8_t n;     /* elements of vec */
    uint8_t ref_kind;
    bool negated; /* !p */
    bool is_imm;
    bool unread;   /* of an atomic: nobody reads its result */
    uint32_t off;  /* in the register file, bytes */
    uint32_t slot; /* dense register number: index into warp.undef */
    int64_t imm;
    struct opnd *vec;
    void *ref; /* struct var, param or func; a special's number is in imm */
};

enum { MAX_OPNDS = 9 };

struct warp;
struct insn;
/* Runs the warp until its fuel is spent or no group of it can go on. */
typedef void loop_fn(struct warp *w);
typedef void exec_fn(struct warp *w, const struct insn *i, uint32_t m);

struct mma_shape { /* m16n8k16: of D, m by n; all 0: none */
    uint8_t m;
    uint16_t n, k;
};

struct insn {
    exec_fn *fn;
    uint32_t guard, guard_not; /* predicate's offset (0: the constant true), 0 or ~0u */
    uint32_t d, a, b, c;       /* offsets of operands 0 to 3; of an address operand: its base register */
    int64_t imm;         /* the address operand's displacement, a branch's target pc; else the handler's own */
    uint32_t op;         /* enum op */
    uint8_t type, type2; /* the last type suffix and the one before: cvt.TYPE2.TYPE, ld.TYPE */
    uint8_t types[4], n_types; /* all, in the order written */
    uint8_t n_opnds, space;    /* enum space, for memory instructions */
    uint8_t bytes, vec;        /* memory: of one element, elements */
    uint16_t extra;            /* the handler's own */
    struct mma_shape shape;
    uint64_t mods[3];   /* bits of enum mod */
    struct opnd *opnds; /* as written, destinations first; d|p and a|b are two operands */
    struct opnd *pair;  /* second destination of d|p, or NULL (it is not among opnds) */
    uint32_t self;      /* own pc */
    uint32_t loc;       /* index into module.locs; 0: none */
    uint32_t ptx_line;
    uint16_t func;    /* index into module.funcs */
    const char *text; /* "add.rn.f32", for messages */
};

static inline bool insn_has(const struct insn *i, enum mod m)
{
    return i->mods[m >> 6] >> (m & 63) & 1;
}

enum isa { ISA_BASE, ISA_V3, ISA_V4, N_ISAS }; /* instruction sets that handlers are compiled for */

struct loc { /* .loc; follow inlined_at (0: none) outwards */
    uint32_t file, line, col, inlined_at;
};

struct var { /* module-scope or function-scope variable */
    const char *name;
    enum space space;
    uint32_t align, bytes;
    uint8_t type;
    bool is_extern; /* .extern .shared: dynamic; other spaces: unresolved */
    uint64_t
        addr; /* shared: offset; local: offset in the frame; global and const: offset in the module's image */
    const uint8_t *init;  /* bytes, or NULL for zeros */
    struct var_ref *refs; /* addresses inside init, to add when the image is placed */
    size_t n_refs;
    int func; /* owner, or -1 */
};

struct var_ref {
    uint32_t at;     /* offset in init */
    struct var *var; /* NULL: a function, whose address is add */
    int64_t add;
    bool generic;
};

struct param { /* of a function: where its bytes live */
    const char *name;
    uint32_t bytes, align;
    uint32_t off; /* entry: in the parameter block; function: of lane 0's bytes in the register file */
};

enum native { NATIVE_NONE, NATIVE_VPRINTF, NATIVE_ASSERTFAIL, NATIVE_UNKNOWN };

struct place { /* of registers, in a warp's file */
    uint32_t off;
    uint8_t bytes; /* 0: predicate */
};

enum { MAX_PARAM_BYTES = 32768 }; /* .param variables of one function and lane */

struct func {
    const char *name;
    bool is_entry, has_body, is_recursive;
    enum native native;                        /* a body of ours */
    uint32_t first, end, first_vreg, end_vreg; /* pcs, and its registers */
    struct param **params, **rets;
    size_t n_params, n_rets;
    uint32_t param_bytes;             /* of an entry's block */
    uint32_t local_bytes;             /* frame */
    uint32_t regs_first, regs_end;    /* its part of the register file */
    uint32_t params_at, param_stride; /* its .param variables in the file: [32 lanes][param_stride] */
    struct place *places;             /* of its registers, when it is recursive */
    uint32_t n_places, shared_bytes;  /* the latter: static */
    bool calls;
    struct ptx_kernel_info info; /* entry */
    uint32_t main_file;          /* .file index of its first .loc: lines of this file are the user's */
};

struct const_reg { /* immediates and values known at launch */
    uint32_t off;
    uint8_t bytes, kind; /* enum const_kind */
    uint64_t value, high;
    struct var *var;
};
enum const_kind { CONST_VALUE, CONST_VAR /* address of var + value */, CONST_SPECIAL, CONST_FUNC };

#define FUNC_BASE 0x600000000000ull /* address of function n: FUNC_BASE + 16 n */

struct ptx_module {
    struct arena *arena;
    char *name;
    struct insn *code;
    size_t n_code;
    struct func *funcs;
    size_t n_funcs;
    struct var **vars;
    size_t n_vars;
    struct loc *locs;
    size_t n_locs;
    const char **files; /* by .file number */
    size_t n_files;
    struct const_reg *consts;
    size_t n_consts, n_block_consts; /* the first change with every block */
    uint32_t file_bytes;             /* register file of one warp */
    uint32_t n_slots;                /* registers, for warp.undef */
    uint32_t *slot_off;   /* slot -> offset; of two slots with one offset the later is the register */
    uint32_t frame_bytes; /* local memory of all functions together */
    bool recurses;        /* some function may call itself */
    uint64_t image_bytes; /* global and const variables */
    uint32_t pins;        /* pc of the first cache hint that may outlive a launch (hints.c); UINT32_MAX: none */
    uint64_t hash, serial;
    enum isa isa;  /* handlers are those for this processor */
    loop_fn *loop; /* executes a warp */
    int target;    /* sm_ number */
    const struct ptx_kernel_info *infos;
    size_t n_infos;
};

/* The user's file and line of an instruction: the innermost place in the kernel's own file. line 0: unknown. */
void insn_place(const struct ptx_module *m, const struct insn *i, const char **file, int *line);
int insn_line(const struct ptx_module *m, const struct insn *i);
/* First operand that is a source (op.def's string), and whether operand k is a destination. */
bool insn_writes(const struct insn *i, unsigned k);
exec_fn insn_unsupported; /* what stands for a form that no handler takes */

/* ---- coverage: bits of a byte an instruction ---- */

enum {
    RAN_EXECUTED = 1, /* by some lane, */
    RAN_GUARDED = 2,  /* and passed over by one whose guard was false */
    RAN_FIRST = 4,    /* selp: the predicate was true in some lane, */
    RAN_SECOND = 8,   /* and false in one */
};

/* ---- observers ----
 * Who watches a launch: one of each role at most. The machine calls them and knows no more of them. */

enum ptx_role {
    PTX_CHECKER, /* looks for faults; may end the launch with fault() */
    PTX_CLOCK,   /* counts, and says when things happen; the machine asks it */
    PTX_VALUES, /* computes something beside the values; has a loop of its own, so that nobody else can watch */
    PTX_ROLES,
};

/* What an observer keeps of a warp, a block, ...: its own struct begins with this one. NULL until it makes it;
 * the machine drops it with the thing it is about. */
struct kept {
    void (*drop)(struct kept *self);
};

static inline void kept_drop(struct kept **k)
{
    if (*k)
        (*k)->drop(*k);
    *k = NULL;
}

struct alloc;
struct block;
struct launch;
struct access;
struct cluster;
struct flight;
struct mbar;
enum access_kind { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC /* atom, red: reads and writes */ };

/* Any of them may be NULL but those of a clock that say a time. An observer finds itself in launch.observer by
 * its role. */
struct ptx_observer_calls {
    enum ptx_role role;
    /* What watches the launch: self, or an object that end frees. */
    struct ptx_observer *(*begin)(struct ptx_observer *self, struct launch *l);
    void (*end)(struct ptx_observer *self, struct launch *l);
    loop_fn *(*loop)(const struct ptx_module *m); /* executes a warp in the place of the machine's */
    void (*block_begin)(struct block *b);         /* all of it is fresh */
    void (*block_end)(struct block *b);

    exec_fn *issue; /* before each instruction, m not 0 */
    /* While warp.followed. use: before each instruction, even with m 0; insn: after it. insn also comes after a
     * shuffle by some lanes, which may read what is nobody's. */
    exec_fn *use, *insn;
    void (*access)(struct warp *w, const struct insn *i, const struct access *x);
    /* Volatile, relaxed, acquiring loads and atomics take lane l's bytes from host[l], wherever it is led. */
    void (*taken)(struct warp *w, uint32_t m, uint8_t *host[32]);
    void (*spin)(struct warp *w, const struct insn *i); /* a read that may be waited on in a loop */
    void (*spun)(struct warp *w); /* it was: the loop's turns are the simulator's, not the GPU's */

    /* A block's barrier is complete: arrived[warp] lanes came, waiting[warp] lanes go on after it. */
    void (*barrier)(struct block *b, const uint32_t *arrived, const uint32_t *waiting);
    exec_fn *warp_sync;                       /* bar.warp.sync is complete for m */
    exec_fn *fence, *proxy_fence, *grid_wait; /* the last: griddepcontrol.wait */
    exec_fn *async;                           /* cp.async commit and wait forms */
    exec_fn *warpgroup; /* wgmma: a product is about to be executed; a fence, commit or wait is */
    void (*cluster_arrive)(struct warp *w, struct cluster *c, uint32_t m, bool relaxed);
    void (*cluster_flip)(struct cluster *c); /* its barrier is complete */
    void (*cluster_wait)(struct warp *w, struct cluster *c, uint32_t m);
    void (*cluster_exit)(
        struct block *b); /* all threads of b have exited; others of the cluster may still run */
    /* Lanes of m are about to use shared memory of another block of the cluster. */
    void (*reach)(struct warp *w, const struct insn *i, uint32_t m, const struct block *of);

    /* Bulk copies and the like. bar: who is told that it is over; NULL: the thread that began it waited. */
    void (*flight_begin)(const struct flight *f);
    void (*flight_bytes)(const struct flight *f); /* landed */
    void (*flight_read)(const struct flight *f);  /* its thread knows that the source is free again */
    void (*flight_end)(const struct flight *f, struct mbar *bar, struct block *bar_block);
    void (*flight_posted)(struct flight *f, unsigned at,
                          const struct opnd *o);                /* value[at] is out of a register */
    void (*flight_delivered)(struct flight *f, const void *to); /* its value landed there */
    void (*arrival_end)(const struct flight *f, struct mbar *bar);
    void (*mbar_init)(struct warp *w, const struct insn *i, uint32_t lane, struct mbar *bar);
    void (*mbar_use)(struct warp *w, const struct insn *i, uint32_t lane, struct mbar *bar);
    void (*mbar_arrive)(struct warp *w, const struct insn *i, struct mbar *bar, uint32_t m);
    void (*mbar_flip)(struct mbar *bar); /* its phase is complete */
    void (*mbar_wait)(struct warp *w, struct mbar *bar, uint32_t m);

    /* What the machine does with bytes besides loads and stores, by host address. */
    void (*moved)(struct launch *l, const void *to, const void *from, size_t bytes);
    void (*cleared)(struct launch *l, const void *at, size_t bytes);
    void (*changed)(struct launch *l, const void *at, size_t bytes);
    void (*restored)(struct warp *w, const struct func *f,
                     unsigned lane); /* its registers, after a recursive call */
    /* Of a function that nobody defines; true: done. */
    bool (*call)(struct warp *w, const struct insn *i, const struct func *f, uint32_t m);

    /* Of a clock, in its cycles: now; the copies begun so far are there; bytes come or go over a bulk copy (a
     * NULL: between two blocks). until: the warp waits for a copy (memory) or for other threads. */
    float (*now)(const struct warp *w);
    float (*async_ready)(const struct warp *w);
    float (*bulk)(struct warp *w, const struct insn *i, struct alloc *a, uint64_t addr, uint32_t bytes,
                  enum access_kind kind);
    void (*until)(struct warp *w, float time, bool memory);
};

/* ---- memory ---- */

#define MEM_BASE      0x7f4000000000ull /* device address of the first byte; where CUDA has them on Linux */
#define SHARED_WINDOW 0x7e0000000000ull /* generic address of shared offset 0 */
#define LOCAL_WINDOW  0x7d0000000000ull
#define PARAM_WINDOW  0x7c0000000000ull
#define WINDOW_BYTES  0x10000000ull
/* Shared memory of a cluster: below the stride is the own block's; rank r's begins at r + 1 strides. */
#define CLUSTER_STRIDE 0x800000ull

enum { MEM_PAGE = 4096 };

struct alloc {
    uint64_t addr, size; /* device address, bytes */
    char *name;
    bool initialised, read_only, stable, live;
    ptx_fill_fn *fill;
    void *context;
    uint64_t *present;              /* fill, or large: bit per page; else NULL */
    struct mem_later {              /* for pages that are not present yet, in this order */
        uint64_t addr, bytes, from; /* from 0: `byte` everywhere */
        int byte;
        bool initialise;
    } * later;
    size_t n_later;
    bool tainted; /* was born initialised: pages to come are */
    size_t first_page;
    struct kept *kept; /* PTX_CHECKER's own */
    bool is_module;    /* the image of a module */
};

struct ptx_mem {
    uint8_t *host; /* host + (addr - MEM_BASE) */
    uint64_t reserved, used;
    uint8_t *init; /* bit per byte, 1: initialised; only for allocations that are not born so */
    struct mem_range *range;
    struct alloc **allocs; /* sorted by addr */
    size_t n_allocs, cap_allocs;
    uint64_t seed;
    struct module_image *images;
    size_t n_images;
};

/* The live allocation that holds addr, or NULL. */
struct alloc *mem_find(const struct ptx_mem *m, uint64_t addr);
/* The nearest allocation, for messages; NULL when there is none. */
struct alloc *mem_near(const struct ptx_mem *m, uint64_t addr);
/* Make [addr, addr + bytes) of an allocation present; call before touching host bytes when a->present. */
void mem_touch(struct ptx_mem *m, struct alloc *a, uint64_t addr, uint64_t bytes);
static inline uint8_t *mem_host(const struct ptx_mem *m, uint64_t addr)
{
    return m->host + (addr - MEM_BASE);
}
void mem_init_set(struct ptx_mem *m, uint64_t addr, uint64_t bytes);
/* All bytes of the pages that are present. */
void mem_init_present(struct ptx_mem *m, const struct alloc *a);
uint64_t mem_image(struct ptx_mem *m, const struct ptx_module *module,
                   struct err *err); /* places it when new */

/* ---- execution ---- */

enum group_state {
    GROUP_READY,
    GROUP_BARRIER,
    GROUP_SYNC /* waits for lanes at .sync */,
    GROUP_CLUSTER /* at barrier.cluster.wait */,
    GROUP_PEERS /* at wgmma.wait_group, for the other warps of its warpgroup */
};

struct group {
    uint32_t pc, mask;
    uint8_t state, barrier;
    uint32_t want;    /* GROUP_SYNC: lanes it waits for */
    uint32_t penalty; /* yields: groups with fewer go first */
};

static inline bool group_parked(const struct group *g) /* it does not go on by running */
{
    return g->state == GROUP_BARRIER || g->state == GROUP_CLUSTER || g->state == GROUP_PEERS;
}

enum { MAX_BARRIERS = 16, MAX_CALL_DEPTH = 64, MAX_CLUSTER = 16 };

struct warp {
    uint8_t *regs; /* hot first */
    uint32_t pc, mask;
    uint32_t merge_pc; /* lowest pc of the other groups, ~0u: none */
    uint32_t dead;     /* lanes that exited or never were */
    int64_t fuel;      /* instructions left in this slice; a stop makes it negative */
    int64_t unspent;   /* fuel taken away to end the slice */
    struct launch *launch;
    struct block *block;
    uint32_t index;                /* in the block */
    bool followed;                 /* PTX_CHECKER sets it: it wants use and insn of every instruction */
    uint32_t penalty;              /* of the current group */
    bool yielded;                  /* the slice ended because the warp spins or gives way */
    uint32_t spins;                /* synchronising reads since the last progress */
    uint32_t back_edges, gave_way; /* the latter: times, in this block */
    struct group groups[32];       /* the others */
    uint32_t n_groups;
    uint64_t insns, lane_insns;
    uint32_t *call_pc; /* [MAX_CALL_DEPTH][32] return pcs */
    uint8_t call_depth[32];
    struct save_stack *saved; /* of lanes in recursive calls: call.c */
    uint32_t carry;           /* CC, bit a lane */
    uint32_t bar_mask[MAX_BARRIERS];
    uint32_t groups_committed; /* of wgmma, by this block */
    uint32_t tid[3][32];
    struct kept *kept[PTX_ROLES];            /* of the slot: later blocks find it there */
    struct async *async;                     /* async.h: cp.async copies under way; freed with free() */
    struct bulk_groups *bulk;                /* bulk copies that a bulk group waits for */
    uint32_t cluster_arrived, cluster_ready; /* lanes that arrived at the cluster's barrier, and may pass it */
    struct stalled { /* the wait on an mbarrier that failed last, until one succeeds; insn NULL: none */
        const struct insn *insn;
        uint64_t addr;
        uint32_t lane;
    } stalled;
};

/* The warp's turn ends with the instruction that it executes. */
static inline void slice_end(struct warp *w)
{
    w->unspent += MAX(w->fuel, 0);
    w->fuel = 0;
}

struct barrier {
    uint32_t expected; /* threads; 0: all of the block */
    uint32_t pc;       /* of the first arrival */
    uint32_t acc_or, acc_and, acc_count;
    uint32_t again;       /* threads of warps that arrived once more in this phase, each time they did */
    uint64_t again_warps; /* which */
    bool busy;
};

struct block {
    struct launch *launch;
    uint64_t linear;
    uint32_t id[3];
    uint8_t *shared; /* launch->shared_bytes of it */
    uint8_t *local;  /* [thread][local_bytes] */
    struct warp *warps;
    uint32_t n_warps, live_warps;
    uint64_t issued; /* warp instructions */
    struct barrier bars[MAX_BARRIERS];
    uint64_t seed;
    uint32_t slot; /* residency slot: 0, 1, ...; its memory is used again by later blocks */
    bool done;
    bool gave_way;                /* in this turn, a warp did at a strong load */
    struct kept *kept[PTX_ROLES]; /* of the slot */
    struct cluster *cluster;
    uint32_t rank; /* in it */
    struct mbars *mbars;
};

/* Blocks that run together and see each other's shared memory; without clusters, one block. */
struct cluster {
    struct block *blocks[MAX_CLUSTER];
    uint32_t n, done;
    bool busy;             /* somebody arrived at its barrier */
    struct kept *kept;     /* PTX_CHECKER's own */
    float arrived, passed; /* times, as the clock says: the latest arrival of this phase, and of the last one */
};

struct launch {
    struct ptx_module *module;
    struct ptx_mem *mem;
    const struct func *entry;
    const struct ptx_launch *args;
    const struct ptx_options *options;
    struct ptx_report *report;
    enum ptx_end end;
    bool stop, watched;                       /* the latter: use the watched loop */
    struct ptx_observer *observer[PTX_ROLES]; /* NULL: none */
    loop_fn *loop;                            /* executes a warp */
    uint32_t grid[3], dim[3], cluster[3];
    uint32_t cluster_blocks; /* product of cluster[]; 1: no clusters */
    bool explicit_cluster;   /* the launch or the kernel named a cluster's size */
    uint64_t n_blocks;
    uint32_t threads, n_warps;
    uint32_t shared_static, shared_dynamic, shared_bytes, local_bytes;
    uint8_t *params;           /* the block of parameters */
    uint64_t grid_workspace;   /* of a cooperative launch: 64 zeroed bytes; else 0 */
    uint64_t image;            /* device address of the module's variables */
    struct alloc **last_alloc; /* by pc: the allocation last hit there */
    uint8_t *ran;              /* by pc: what ran; NULL: nobody asks */
    uint64_t issued;           /* warp instructions of finished slices */
    uint64_t limit, clock;
    int64_t slice;     /* instructions a warp may run before the next warp's turn */
    uint64_t progress; /* counts stores and atomics that change something, exits, barriers */
    uint32_t max_resident;
};

static inline bool warp_full(const struct warp *w, uint32_t m)
{
    return (m | w->dead) == ~0u;
}
#define REG(type, w, off) ((type *)((w)->regs + (off)))

/* Report a finding at lane (-1: no one lane) and end the launch: no further instruction executes, so the
 * handler just returns. fmt is one sentence without the place; kernel, line, block and thread are added. */
void fault(struct warp *w, const struct insn *i, int lane, enum ptx_finding_kind kind, uint64_t addr,
           const char *fmt, ...) __attribute__((format(printf, 6, 7), cold));
void launch_fault(struct launch *l, enum ptx_finding_kind kind, const char *fmt, ...) /* of a whole launch */
    __attribute__((format(printf, 3, 4), cold));
void fault_unsupported(struct warp *w, const struct insn *i, const char *why) __attribute__((cold));
/* Threads of lane: x, y, z. */
void warp_thread(const struct warp *w, int lane, uint32_t tid[3]);

/* ---- memory accesses: mem_access.c ----
 * One executed memory instruction, after its bounds and alignment were found right and before any byte moved.
 * Generic addresses are resolved: one access per space met. */

enum { /* access.flags */
       ACCESS_VOLATILE = 1,
       ACCESS_RELAXED = 2,
       ACCESS_ACQUIRE = 4,
       ACCESS_RELEASE = 8,
       ACCESS_NC = 16,
       ACCESS_ASYNC = 32 /* cp.async */,
       ACCESS_SYSTEM = 64,
       ACCESS_GPU = 128,
       ACCESS_CTA = 256, /* scope where one is given */
       ACCESS_PART = 512 /* times the number of the part, of wmma.load and wmma.store: matrix.h */
};

struct access {
    uint8_t kind, space; /* SPACE_GLOBAL (also .const), SPACE_SHARED, SPACE_LOCAL */
    uint16_t flags;
    uint32_t mask;
    uint32_t bytes;       /* of one lane: element times vector */
    bool linear;          /* mask is full and addr[l] == addr[0] + l * bytes */
    const uint64_t *addr; /* 32; global: device address, else offset in the space */
    struct alloc *alloc;  /* global: holds all lanes' bytes, or NULL when several do */
    struct block *owner;  /* shared: whose, when it is another block's of the cluster; else NULL */
};

/* ---- what works beside the threads: bulk copies, mbarriers ---- */

enum flight_kind { FLIGHT_COPY, FLIGHT_REDUCE, FLIGHT_ARRIVE /* which waits for cp.async copies */ };

struct flight {
    enum flight_kind kind;
    const struct insn *insn;
    struct warp *warp; /* who began it; its block's cluster is not done yet */
    uint32_t lane, group, bytes;
    struct block *to_block, *from_block; /* whose shared memory; NULL: global */
    uint64_t to, from;                   /* offsets there, or device addresses */
    uint8_t *taken;                      /* what the source held when it was given back (wait_group.read) */
    bool timed;                          /* `ready` was asked for before it began */
    bool small;                          /* st.async, red.async: what a thread's registers held, in `value` */
    uint8_t value[16];
    struct kept *kept; /* PTX_VALUES' own: what stands beside `value` */
    uint64_t serial;   /* FLIGHT_ARRIVE: cp.async instructions before it */
    float ready;       /* when the bytes are there, as the clock says */
};

struct bulk_groups { /* of a warp */
    uint32_t committed[32];
    VEC(struct flight) flights;
};

struct mbar {
    uint32_t at; /* offset in the block's shared memory */
    bool live;
    uint32_t expected, pending; /* arrivals */
    int64_t tx;                 /* bytes that are expected and have not come */
    uint32_t phase;
    uint64_t word;        /* what its 8 bytes hold, for whoever looks */
    struct kept *kept;    /* PTX_CHECKER's own */
    float gathered, done; /* times, as the clock says: the latest arrival of this phase, and of the last one */
    VEC(struct flight) flights; /* that it will be told of */
};

struct mbars { /* of a block */
    VEC(struct mbar) v;
};

/* ---- what observers may ask ---- */

/* A shared::cluster address: the block whose memory it is in and the offset there; NULL: no such block. */
struct block *cluster_block(const struct block *b, uint64_t addr, uint64_t *offset);
/* Block `rank` of cluster number c of a grid. */
uint64_t block_of_cluster(const uint32_t grid[3], const uint32_t cluster[3], uint64_t c, uint32_t rank);
bool warp_switch(struct warp *w); /* another group becomes the current one; false: none can go on */

#endif

/* kernel: one .cu file understood: its device part (what NVRTC compiles), its launcher (interpreted here into a
 * launch plan, never compiled), its tunables. A file Astra does not understand is a verdict for a candidate and
 * an input error for an original; either way the words carry file, line, column and what is allowed
 * (docs/task.md). */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

#include "base/base.h"
#include "source/source.h"

enum kernel_type { /* of launcher parameters and values */
                   KT_VOID,
                   KT_BOOL,
                   KT_I8,
                   KT_U8,
                   KT_I16,
                   KT_U16,
                   KT_I32,
                   KT_U32,
                   KT_I64,
                   KT_U64,
                   KT_F16,
                   KT_BF16,
                   KT_F32,
                   KT_F64,
};
size_t kernel_type_size(enum kernel_type t); /* bytes; 0 for void */
static inline bool type_is_floating(enum kernel_type t)
{
    return t == KT_F16 || t == KT_BF16 || t == KT_F32 || t == KT_F64;
}
const char *kernel_type_name(enum kernel_type t); /* "f16", "i32", ... as in task.yaml */
bool kernel_type_parse(const char *name, enum kernel_type *t);

struct kernel_param { /* of the launcher; the stream is left out */
    const char *name;
    enum kernel_type type;  /* pointee's type for pointers */
    bool pointer, constant; /* constant: points to const */
};

struct kernel_tunable { /* `constexpr int BLOCK = 128; // astra: tune 64 128 256` */
    const char *name;
    int line;
    size_t value_start, value_end; /* bytes of the present value in the text */
    const char *value;
    const char **values; /* declared alternatives, the present one included */
    size_t n_values;
};

struct kernel_header { /* a local one: `#include "name"` */
    const char *name, *text;
    size_t len;
};

struct kernel_function {          /* a __global__ function or template */
    const char *name, *qualified; /* the latter with its namespaces, as plans name it */
    bool is_template;
    struct node definition; /* function_definition node */
    int line;
};

struct unit; /* the file's declarations, for kernel_plan */

struct kernel {
    const char *path, *text, *entry;
    size_t len;
    struct source *source;
    const char *device_text; /* same length and lines as text; functions that launch or call the runtime are
                                blanked, and what no compilation of the file sees */
    const struct kernel_header *device_headers; /* the same of its headers */
    size_t n_headers;
    const struct kernel_param *params;
    size_t n_params;
    bool returns; /* an int or an error; else nothing */
    const struct kernel_function *functions;
    size_t n_functions;
    const struct kernel_tunable *tunables;
    size_t n_tunables;
    struct node launcher; /* its function_definition */
    const struct unit *unit;
};

/* Understand text (copied). entry names the extern "C" launcher. k lives in the arena, its source until
 * kernel_close. */
bool kernel_open(struct kernel **out, struct arena *a, const char *path, const char *text, size_t len,
                 const char *entry, struct err *err);
/* The same with the file's local headers, which the launcher's names may come from: `#include "name"` finds
 * them. */
struct kernel_file {
    const char *path, *text;
    size_t len;
    const char *entry;
    const struct kernel_header *headers;
    size_t n_headers;
    const char *const *flags; /* the compiler's: of these, the -DNAME and -DNAME=VALUE count */
    size_t n_flags;
};
bool kernel_open_file(struct kernel **out, struct arena *a, const struct kernel_file *f, struct err *err);
void kernel_close(struct kernel *k); /* takes NULL */

/* Does the text test how it is compiled (__CUDACC*__, __NVCC__, __DATE__, __TIME__; __FILE__ where the device
 * may see it)? Then err says where. kernel_open refuses such a file too; this tells a cheat from a launcher
 * that is not understood. */
bool kernel_tests_compiler(const char *path, const char *text, size_t len, struct err *err);

/* A launcher argument's value. Pointers are abstract: buffer number and byte offset; the plan keeps them so. */
struct kernel_value {
    enum kernel_type type; /* pointee's type for pointers */
    bool pointer;
    union {
        int64_t i; /* integers and bool, sign- or zero-extended */
        double f;  /* floating */
        struct {
            int32_t buffer; /* >= 0: the launcher's i-th pointer argument; < -1: workspace -2-index; -1: null */
            int64_t offset_bytes;
        } p;
    };
    uint32_t
        struct_bytes; /* > 0: a struct by value; its numbers and pointers are the members, the rest is zero */
    const struct kernel_member *members;
    size_t n_members;
    bool tensor_map; /* the struct is a CUtensorMap, as base/tensor_map.h has it; a GPU gets what the driver
                        makes of it */
};

struct kernel_member { /* of a struct: offset in it, and what is there; no struct itself */
    uint32_t offset;
    struct kernel_value value;
};

struct kernel_limits { /* what device queries in a launcher answer */
    const char *device_name;
    int sm_count, cc_major, cc_minor, max_threads_per_block, max_threads_per_sm, max_blocks_per_sm, warp_size;
    int64_t shared_per_block, shared_per_block_optin, shared_per_sm, l2_bytes, registers_per_sm;
    int sm_clock_khz, memory_clock_khz;
    int other_devices, device; /* how many there are beside this one, and its number */
    /* blocks of `kernel` that fit one SM; NULL: answered from threads alone. expr as in plan_launch.kernel */
    int (*occupancy)(void *context, const char *kernel, int block_threads, int64_t shared_bytes);
    void *context;
};

/* What cudaDeviceGetAttribute answers for the attribute of that number; false: it is not understood. */
bool kernel_device_attribute(const struct kernel_limits *l, int number, int64_t *value);
/* The member of cudaDeviceProp that says the same; "": none does. */
const char *kernel_device_member(int number);

enum plan_kind { PLAN_LAUNCH, PLAN_MEMSET, PLAN_COPY, PLAN_CONSTANT };

struct plan_step {
    enum plan_kind kind;
    int line; /* in the launcher's file */
    /* PLAN_LAUNCH */
    const char *kernel; /* NVRTC name expression: "f" or "f<128, float>"; of PLAN_CONSTANT: the
                           variable, with its namespaces */
    uint32_t grid[3], block[3], cluster[3]; /* cluster 0: none */
    int64_t shared_bytes;                   /* dynamic */
    bool cooperative, non_portable_cluster; /* the latter: clusters of more than 8 blocks are allowed */
    bool programmatic;                      /* it may begin before the launch ahead has ended */
    const struct kernel_value *args;        /* converted to the kernel's parameter types */
    size_t n_args;
    /* PLAN_MEMSET (byte value, pitch-less), PLAN_COPY and PLAN_CONSTANT: `from` by value, to.p.offset_bytes in
     * the variable */
    struct kernel_value to, from;
    int byte;
    int64_t size_bytes;
};

struct plan_number {
    uint64_t place; /* in the file, and on which side of an operator */
    int64_t number; /* the first one there */
    int64_t other;  /* on the other side of the operator, at that time */
    bool varies;    /* others came after it */
    bool compares;  /* the operator is a comparison, */
    bool orders;    /* namely <, <=, > or >= */
};

struct plan {
    const struct plan_step *steps;
    size_t n_steps;
    const int64_t *workspace_bytes; /* of cudaMallocAsync'ed buffers, in order of allocation */
    size_t n_workspaces;
    const char **kernels; /* distinct name expressions of the launches */
    size_t n_kernels;
    const uint64_t *marks; /* what the launcher decided on the way, each once: which condition held or did not,
                              which kernel was launched; numbers that mean the same for every plan of a file */
    size_t n_marks;
    const uint64_t *results; /* as marks: which operators on integers gave zero, and which did not */
    size_t n_results;
    const struct plan_number *numbers; /* what it compared or divided by, each place once */
    size_t n_numbers;
    uint64_t interpreted; /* nodes, by the interpreter */
    bool asked;           /* the runtime, for something of kernel_limits */
};

/* Interpret the launcher for these argument values (n_params of them, without the stream). buffer_addr gives
 * the address that alignment tests in the launcher see (NULL: all multiples of 256). err says what is not
 * understood. */
bool kernel_plan(struct plan *plan, struct arena *a, const struct kernel *k, const struct kernel_value *args,
                 const uint64_t *buffer_addr, const struct kernel_limits *limits, struct err *err);

/* ---- is it what the host compiler sees? (preprocessed.c) ---- */

/* The file as it was understood here: its #includes of headers that are not read, and its words and signs with
 * the file's own macros expanded. A host compiler's preprocessor makes of this what it makes of the file
 * itself, or one of the two was misread. */
char *kernel_understood_text(struct arena *a, const struct kernel *k);
/* Compares what a host compiler's preprocessor made of the file at `path` (theirs) with what it made of
 * kernel_understood_text at own_path: the words and signs of lines that are these files' or their neighbours'.
 * False with the line of the file and what differs. */
struct kernel_output {
    const char *path, *text;
    size_t len;
};
bool kernel_same_words(const struct kernel *k, const struct kernel_output *theirs,
                       const struct kernel_output *ours, struct err *err);
/* What a preprocessor has made of the file's own lines, behind the #includes of headers that are not read, and
 * `before`: its words and signs, macros expanded, and its pragmas. NULL with the line where the output is not
 * understood. */
char *kernel_own_words(struct arena *a, const struct kernel *k, const struct kernel_output *of,
                       const char *before, struct err *err);
/* False with the place where the file itself says one of these names of the linker's, but for those that the
 * original declares and does not define (NULL: none): whoever links the one has them for the other. */
bool kernel_calls_none(const struct kernel *k, const struct kernel *original, const char *const *names,
                       size_t n, struct err *err);
/* False with the place of assembler text in host code, or, where constants: of a declaration at file scope that
 * could run code before anything is asked (the object has a constructor more, which a header may explain). */
bool kernel_host_is_plain(const struct kernel *k, bool constants, struct err *err);

/* The kernel of this file that `name`, with the namespaces written before it, means at byte `at` of the text;
 * NULL: none, or more than one. */
const struct kernel_function *kernel_meant(const struct kernel *k, const char *name, size_t at);
/* Do the same things happen, in the same order? */
bool plan_same(const struct plan *x, const struct plan *y);
/* Does the step launch the kernel of this qualified name? */
bool plan_launches(const struct plan_step *step, const char *qualified);

/* The text with tunable i set to value. */
char *kernel_with_tunable(struct arena *a, const struct kernel *k, size_t i, const char *value);

/* Text for hashing and duplicates: comments and white space normalised. */
char *kernel_normalise(struct arena *a, const char *text, size_t len);

#endif

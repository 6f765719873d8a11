/* rewrite: source-to-source transforms on one kernel file. Each says where it applies and what it would change;
 * legality is checked where it can be and always verified by the trial. No transform knows an example by name.
 */
#ifndef REWRITE_REWRITE_H
#define REWRITE_REWRITE_H

#include "base/base.h"
#include "kernel/kernel.h"

struct transform_fact {  /* what is known of one launcher parameter */
    bool same;           /* scalar, the same in all workloads */
    int64_t value;       /* then its value */
    int64_t divisor;     /* largest power of two that divides it in all workloads; 0: unknown */
    int64_t low, high;   /* over the workloads */
    int64_t align_bytes; /* buffers: what callers guarantee */
    bool stable;         /* buffers: no kernel that callers launch right ahead writes it */
};

struct transform_input {
    const struct kernel *kernel;
    const struct transform_fact *facts; /* one a launcher parameter */
    const struct kernel_limits *limits;
    bool fast_math_allowed; /* the error budget has room for approximations */
    bool stream;            /* what is ahead of a plan's first launch counts in the task's time */
    /* the launch plans of all workloads, so that a transform sees real grids and blocks; may be NULL */
    const struct plan *plans;
    size_t n_plans;
    bool all_settings; /* sites for every legal setting of a transform's parameters, not for those worth a try
                          alone: for whoever searches */
};

struct edits;
struct function;
struct transform_site { /* one place where a transform applies, with one setting */
    const char *transform;
    int line;
    int setting;        /* vector bytes, items a thread, block size ...; the transform's own meaning */
    const char *where;  /* "loop at line 12 over d, 4 accesses of __half" */
    const char *why;    /* why it should help, in words a person can check */
    const void *detail; /* the transform's own */
    const struct function *function; /* the kernel, or a file's first one; NULL: the site is in none */
};

struct site_list { /* what a transform adds its sites to */
    const struct transform *transform;
    struct arena *arena;
    VEC(struct transform_site) list;
};

/* A number that a transform leaves open: a part of its setting. */
struct transform_parameter {
    const char *name; /* "threads"; NULL: none */
    int unit, radix;  /* its value is setting / unit % radix; radix 0: setting / unit */
    size_t n_values;  /* to be tried wherever they are legal, */
    int values[16];   /* in an order in which neighbours are alike; none: those that sites have */
};
enum { TRANSFORM_PARAMETERS = 4 };

struct transform {
    const char *name; /* "vectorise" */
    const char
        *alias; /* what earlier versions called it, in stored runs, recordings and comments; NULL: the same */
    const char *summary; /* one line for users, planner and docs */
    const char *helps;   /* bounds it helps: "dram latency issue launch sync l2"; and "order": it brings what
                            neighbouring threads reach beside each other */
    const char *chooses; /* what it settles ("block items"); in a stack, a transform whose words one before it
                            has is left out */
    int (*threads)(int setting); /* of a block that it leads to, at most; NULL: not known before */
    /* The setting in words, where its number says nothing to people; NULL for one that speaks for itself. */
    const char *(*setting_words)(struct arena *a, int setting);
    struct transform_parameter
        parameters[TRANSFORM_PARAMETERS]; /* none: its setting is no number to search for */
    bool opens;                           /* alone it changes nothing; transforms after it see more */
    bool reveals;                         /* it may gain alone, and transforms after it see more, too */
    bool last; /* worth one try when all others have been, on the best: they do not read what it leaves */
    int later; /* a setting worth a stack although it may only apply after other transforms; 0: none */
    /* Adds the sites of one kernel that runs, or, where sites are of the whole file, those. It never fails. */
    void (*find)(struct function *f, struct site_list *found);
    void (*find_in_file)(const struct transform_input *in, struct site_list *found);
    /* The edits of the file that the site asks for. False with the reason when it turns out not to be legal. */
    bool (*apply)(const struct function *f, const struct transform_site *site, struct edits *edits,
                  struct err *why_not);
};

/* All sites of a file, in the arena. */
size_t transform_sites(const struct transform *t, const struct transform_input *in, struct arena *a,
                       const struct transform_site **sites);
/* The new file text, in the arena; false with the reason when that cannot be. */
bool transform_apply(const struct transform *t, const struct transform_input *in,
                     const struct transform_site *site, struct arena *a, char **text, struct err *why_not);

/* Do the shared arrays that each kernel declares fit a block? More would have to be dynamic. */
bool transform_shared_fits(const struct transform_input *in, struct arena *a, struct err *why_not);

/* One file that calls the other version where the condition holds and the version elsewhere. Names of the
 * other that would meet the version's get a suffix. Not a transform: the agents join versions of which each
 * wins on some sizes. False with the reason where what differs cannot be renamed. */
struct transform_choice {
    const char *condition; /* over the version's launcher's parameters */
    const char *comment;   /* says why */
    bool original;         /* the other one is the task's original */
};
bool transform_dispatch(struct arena *a, const struct kernel *other, const struct kernel *version,
                        const struct transform_choice *choice, char **text, struct err *why_not);

/* A launch plan that is one product of matrices, c = scale a b, in numbers: what a library needs to compute the
 * same.
 */
struct product_matrix { /* element (down, along) of the i-th product stands at start + down * step[0] + along *
                           step[1] + i * batch_step */
    int32_t buffer;     /* the launcher's i-th pointer argument */
    const char *type;   /* of an element, as the kernel says it */
    int64_t start_bytes, step[2], batch_step;
};
struct product {
    int64_t m, n, k, batch;        /* c is m x n, `batch` of them */
    struct product_matrix a, b, c; /* m x k, k x n, m x n */
    double scale;
    const char *sum_type; /* in which the kernel adds */
    const char *left_out; /* of the kernel, what is more than the product; NULL: nothing */
};
/* False with what was looked for and not found. */
bool product_of_plan(const struct kernel *k, const struct kernel_limits *limits, const struct plan *plan,
                     struct arena *a, struct product *p, struct err *why);

/* Of a setting. */
int transform_value(const struct transform_parameter *p, int setting);

extern const struct transform *const transform_all[];     /* NULL-terminated */
const struct transform *transform_find(const char *name); /* by its name or its alias */
/* A step for people, "block-size 256" or "block-size up to 1024"; stored files and JSON keep the number. */
#define TRANSFORM_OWN_CHOICE INT32_MIN /* as a setting: what the transform prefers at that point */
const char *transform_words(struct arena *a, const char *transform, int setting);
/* A step's name as earlier versions wrote it, for those who read the key `move`. */
const char *transform_old_name(const char *name);

#endif

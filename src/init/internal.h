/* Between the files of init/. One reading of a framework's file: files.c finds and reads files, read.c makes
 * one list of tokens of them (conditions decided, macros not expanded), declare.c finds the declarations in it,
 * wrapper.c turns host functions into a launcher, closure.c chooses what the kernel uses, emit.c writes.
 *
 * A token's `at` is a place in all files at once: a file's bytes begin at its `base`. Memory is the arena's;
 * errors leave by init_fail, which jumps to the trap that init_run sets. */
#ifndef INIT_INTERNAL_H
#define INIT_INTERNAL_H

#include "init/init.h"
#include "kernel/preprocess.h"

enum {
    INIT_MAX_FILES = 1000,
    INIT_MAX_FILE_BYTES = 8 << 20,
    INIT_MAX_TOKENS = 3000000, /* of all files */
    INIT_MAX_INDEX = 50000,    /* source files of a repository */
    INIT_MAX_DEPTH = 100,      /* of includes */
    INIT_KEPT = 1024,
    INIT_MOST_DIMS = 16, /* that a task may have */
};

#define INIT_FLAGS "the flags" /* the file that stands for them */

struct init_span { /* bytes, as places */
    size_t start, end;
};

struct init_edit { /* what stands there instead */
    struct init_span span;
    const char *text;
    bool of_class; /* which a launcher fills */
};

struct init_file {
    const char *path; /* as messages name it: from the repository's root on, or as it was given */
    const char *real; /* absolute, without links */
    const char *text;
    size_t len, base;
    bool once, read; /* not to be read again; was read once */
    struct tokens raw;
};

struct init_macro { /* a #define or #undef that is not left out */
    const char *name, *cond;
    bool undef, wanted;
    size_t before;         /* it stands before this token */
    struct init_span text; /* from the # on */
    struct macro *macro;   /* NULL: undef */
};

enum init_kind {
    INIT_FUNCTION,
    INIT_TYPE,
    INIT_VARIABLE,
    INIT_USING,
    INIT_ALIAS_NAMESPACE,
    INIT_CALL,
    INIT_OTHER
};

struct init_decl {
    enum init_kind kind;
    const char *name;   /* without its namespaces; "" where it declares several: then names[] */
    const char *scope;  /* "a::b::"; "" outside of all */
    const char *owner;  /* of a member that is defined outside of its class: the class; NULL: none */
    const char **names; /* all that it declares: enumerators, variables */
    size_t n_names;
    size_t first, end;   /* its tokens: source.tokens.v[first] to [end - 1] */
    size_t name_at;      /* token of the name */
    size_t params, body; /* of a function: token of its `(` and `{`; body 0: only declared; of a call: not 0 */
    const char *cond;    /* the #if that is kept around it; NULL: none */
    bool is_global, is_device, is_host, is_template, is_constexpr, extern_c, specialised;
    bool in_extern_c;       /* in a block of it */
    bool wanted;            /* of the closure */
    bool banned;            /* it does not compile, and may not be needed */
    int line;               /* in the text that was written, behind its head */
    struct init_made *made; /* of a call; NULL: nobody has asked */
};

struct init_made { /* what a macro's call specialises, while there were so many macros */
    VEC(const char *) types;
    size_t n_macros;
};

struct init_include { /* of a header that is not read */
    const char *name; /* with its <> or "" */
    size_t at;
};

struct init_changing { /* a macro that the files undefine: its directives, in order */
    const char *name;
    VEC(size_t) at; /* numbers of macros */
};

struct init_expanded { /* tokens with their macros expanded, while there were so many macros */
    size_t first, end, n_macros;
    struct tokens tokens;
};

struct init_supplied { /* a macro that nothing of what is read defines */
    const char *name, *value;
    const char *from; /* the file of the build that does; NULL: none, and the value is a guess */
};

struct init_standin { /* a type that nothing of what is read declares */
    const char *name, *text;
};

struct init_source {
    struct arena *arena;
    VEC(struct init_supplied) supplied;
    VEC(struct init_standin) standins;
    VEC(const char *) unmade;      /* types of parameters for which the launcher has nothing */
    VEC(const char *) ahead;       /* files that are read ahead of the file, for what they declare */
    bool anew;                     /* something was supplied: all begins anew */
    int head_lines;                /* of the text that was written, ahead of all declarations */
    const char *made;              /* the task's folder, once it was made here */
    const char *root;              /* of the repository, real */
    VEC(struct init_file *) files; /* [0] is the file itself */
    VEC(const char *) dirs;        /* of -I, real */
    VEC(const char *) flags;       /* -D and -U */
    VEC(const char *) index;       /* the repository's source files, once somebody asked */
    bool indexed;
    size_t next_base;
    struct tokens tokens; /* of all files, in reading order; ends in TOK_END */
    VEC(const char *)
    conds;                  /* for each token: the conditions on the device's architecture around it, or NULL */
    VEC(uint32_t) branches; /* for each token: 0, or the number of the second or later branch it stands in */
    VEC(struct init_macro) macros;
    VEC(struct init_changing) changing;
    size_t n_changing_of;       /* how many macros there were when these were looked for */
    VEC(struct init_span) cuts; /* directives that are decided and what they leave out, in order of `start` */
    VEC(struct init_span) members;    /* functions of types, which do not compile: left out as well */
    VEC(struct init_edit) edits;      /* conditions that are kept, with what is known of them */
    VEC(struct init_include) missing; /* headers that are not read */
    VEC(struct init_decl) decls;
    struct map names;                         /* name to struct init_names */
    struct map macro_names;                   /* of all of macros */
    VEC(size_t) usings;                       /* declarations that open a whole namespace */
    VEC(const char *) namespaces;             /* "a::b::" */
    struct init_expanded expanded[INIT_KEPT]; /* what was, is not again; by a hash of the place */
    struct expander expander;
    struct unit unit; /* what the expander needs of one */
    int64_t *fuel;    /* of struct init_task */
    bool unclean;     /* so is that */
    bool plainer;     /* classes that a launcher fills have no constructors at all */
    bool modern;      /* C++20 is what the compiler asks for */
    struct judge_compiles *compiles;
    const char *others; /* what is said where several kernels have the name; NULL: this one alone */
    struct trap trap;
};

struct init_names {
    VEC(size_t) decls; /* numbers */
};

_Noreturn void init_fail(struct init_source *s, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
const struct init_file *init_place(const struct init_source *s, size_t at, int *line, int *col);

/* files.c */
#define INIT_STANDINS "types that no file declares"
struct init_file *init_open(struct init_source *s, const char *path, const char *shown, size_t from);
/* The file that an #include means; NULL: it is not there, or of a library that is not read. */
struct init_file *init_find(struct init_source *s, const struct init_file *by, const char *name, bool quoted,
                            size_t from);
bool init_is_foreign(const char *name); /* a header of a library that is not read */
/* Files of the repository, not read yet, that say the kernel's name and `also` or `or`; fills paths, gives
 * their number. */
size_t init_saying(struct init_source *s, const char *kernel, const char *also, const char * or,
                   const char **paths, size_t most);
void init_flags(struct init_source *s, const struct init_options *o); /* -I and compile_commands.json */

/* read.c: all tokens and macros of the file and what it includes */
void init_read(struct init_source *s, struct init_file *f);
/* One file more, behind what was read. False: it cannot be read, and nothing has changed. */
bool init_read_more(struct init_source *s, const char *path);
struct tokens init_words(struct init_source *s, const char *text); /* of a text of our own */
/* The macro that token i names, as it is there; NULL: none. */
const struct macro *init_macro_at(struct init_source *s, size_t i);
/* The tokens [first, end) with all macros that are known at `first` expanded. Where one cannot be, the tokens
 * as they are. */
struct tokens init_expand(struct init_source *s, size_t first, size_t end);

/* condition.c: the value of an #if: 0, 1, or -1 where it hangs on the device's architecture */
int init_condition(struct init_source *s, const struct token *v, size_t n, size_t at);

char *init_condition_text(struct init_source *s, const struct token *v, size_t n);

/* declare.c */
void init_declare(struct init_source *s, size_t from); /* the first token */
size_t init_balanced(const struct init_source *s, size_t i,
                     size_t end);                                     /* behind the bracket that opens at i */
size_t init_angle(const struct init_source *s, size_t i, size_t end); /* behind the > of the < at i; i: none */
const struct init_names *init_named(const struct init_source *s, const char *name);
char *init_text(const struct init_source *s, size_t first, size_t end); /* one blank between words, as needed */

/* A scope as code says it, without the namespaces that have no name. */
const char *init_scope(const struct init_source *s, const char *scope);

/* closure.c: marks what the kernel and the launcher's text use. */
/* Is `d` another kernel of the same name, for other types? */
bool init_is_overload(const struct init_source *s, const struct init_decl *d, const struct init_decl *kernel);
bool init_is_view(
    const char *name); /* torch's views, also where a file has its own: the vocabulary says them */
void init_close(struct init_source *s, const struct init_decl *kernel, const char *launcher);
bool init_ends_in(const char *scope, const char *name,
                  size_t len); /* is the scope's innermost namespace called so? */

/* supply.c: where a name of the message `why` is declared by nothing of what was read: what the build defines,
 * a file of the repository that declares it, else, with `numbers`, a number. False: nothing was found that is
 * new. */
bool init_supply(struct init_source *s, const char *why, bool numbers);
bool init_is_supplied(const struct init_source *s, const char *name);
/* standin.c: a type that nobody declares, which `why` does not know or a parameter has, is written from what
 * the code asks of it. False: there is none, or nobody can tell. */
bool init_stand_in_for(struct init_source *s, const char *why);
/* The directive that leaves out a kernel, or a declaration, of this name, which stands at *at; NULL: none does.
 */
const char *init_leaves_out(struct init_source *s, const char *name, bool kernel, size_t *at);
/* `#ifdef WITH_FP8` around it, and nothing that was read says more: it is defined, which is a question. */
bool init_define_switch(struct init_source *s, const char *name, bool kernel);
/* read.c: does a macro's name say that it is of AMD's compiler? */
bool init_says_amd(const char *word);

/* emit.c */
struct init_task;
char *init_kernel_text(struct init_source *s, const struct init_task *t, const char *from);
/* The declaration that stands in a line of that text; NULL: none. */
struct init_decl *init_decl_at(struct init_source *s, int line);
/* The function of a type that stands in that line is left out from now on. False: none does, or it may not be.
 */
bool init_leave_member(struct init_source *s, int line);
/* So are the constructors of a class that are the host's alone, what of making and copying its values is
 * written elsewhere, and the `const` of its members; all of it is public: a launcher fills it member by member.
 */
void init_make_plain(struct init_source *s, const struct init_decl *d);
/* A type that the kernel's template constrains by a concept is any type: launchers know none. */
void init_drop_concepts(struct init_source *s, const struct init_decl *kernel);
/* So are functions that say what the host's standard library alone has, which no device code calls. True: all
 * of the declaration is the host's. */
bool init_leave_host(struct init_source *s, const struct init_decl *d);
void init_forget_members(struct init_source *s); /* nothing of types is left out, or added to them */
bool init_is_left(const struct init_source *s, const struct token *t); /* does it stand in one of these? */
char *init_origin_text(struct init_source *s, const struct init_task *t, const char *kernel);

/* ---- wrapper.c, taskfile.c ---- */

struct init_arg {            /* of the launcher, in its order, without the stream */
    const char *name, *type; /* "f16", as in task.yaml */
    const char *shape;       /* "rows, 2 * d"; NULL: a scalar */
    const char *role;        /* of a buffer: in, out, inout, scratch */
    const char *value;       /* of a scalar; expression or number */
    const char *values;      /* of a buffer: "{kind: index, low: 0, high: n}"; NULL: none */
    int align;               /* bytes; 0: not said */
    const char *todo;        /* what is not known of it; NULL: nothing */
    bool guess;              /* something was taken for it all the same, with which it runs */
    bool written;            /* the kernel's text writes it, if only for some numbers */
};

static inline void init_ask(struct init_arg *a, const char *todo) /* NULL: nothing more */
{
    a->todo = todo;
    a->guess = false;
}
static inline void init_guess(struct init_arg *a, const char *todo)
{
    a->todo = todo;
    a->guess = true;
}

struct init_bound { /* of a size, in which the launcher runs */
    const char *dim, *of;
    int64_t low, high,
        unit;   /* high 0: not known. It is a multiple of `unit`, and of the size `of` (NULL: none). */
    bool power; /* of two */
};

struct init_seen { /* a size with which the launcher ran */
    const char *dim;
    int64_t size;
};

struct init_task {
    const char *entry;
    const char *launcher; /* text of the extern "C" function and of what it alone needs; NULL: the file's own */
    bool views;           /* its launcher takes extents that could be those of each other */
    bool any_block;       /* how many threads a block has was guessed */
    bool guessed;         /* so was a number of the kernel's template */
    bool alone;           /* the launcher is made from the kernel alone */
    bool runs;            /* at small sizes, as far as init tried */
    bool sound;           /* and on the small shapes of its suite, as it would be written */
    const char *flaw;     /* why it is not; NULL: it was not tried */
    bool *unclean;        /* somewhere it was a race, or a value that nobody wrote: nothing is looked for that
                             hides it */
    struct judge_compiles *compiles; /* of this process */
    int64_t *fuel;                   /* warp instructions that may be spent; NULL: nobody has spent any */
    int64_t frozen;                  /* the product of sizes that are numbers; 0: none */
    bool covers;                     /* a shape may be what holds all that was touched */
    bool units;                      /* sizes may be multiples of whole warps */
    int64_t work;                    /* the most elements of a proposed workload; 0: as many as is usual */
    VEC(const char *) divisors;      /* arguments by which the kernel divides what it makes of indices */
    bool any_order;                  /* what atomics leave differs from run to run */
    bool atomics;                    /* the text says some, if only of what is no argument */
    bool lambdas;                    /* some say __device__ */
    bool modern;                     /* C++20 */
    bool limits;                     /* std::numeric_limits, whose functions nvcc takes for the host's alone */
    VEC(struct init_arg) args;
    VEC(const char *) dims, domain;
    VEC(const char *) workloads; /* "16, 4096" */
    VEC(struct init_bound) bounds;
    VEC(struct init_seen) seen; /* sizes at which it ran; empty: it did not */
    int64_t least;              /* of a size, while its bounds are looked for; 0: 1 */
    int64_t most;               /* of the product of all sizes; 0: MOST_ELEMENTS */
    VEC(const char *) questions, notes;
};

/* What the wrapper's reader gets: the kernel, the template arguments that the user named ("float, 256"; NULL:
 * none), and the host functions that launch it, then those that call these, and so on. */
struct init_wrapped {
    struct init_source *source;
    const struct init_decl *kernel;
    const char *instance;
    const struct init_decl *const *hosts;
    size_t n_hosts;
    bool sliced; /* of functions that launch it the launch alone is read */
    bool shared; /* views share extents that the kernel does not ask for */
    int block;   /* which block is taken where nothing says one, below INIT_BLOCKS */
    int number;  /* which number a template's parameter is where nothing says one, below INIT_NUMBERS */
};
enum { INIT_BLOCKS = 5, INIT_LARGEST_BLOCK = 3, INIT_NUMBERS = 5 };

const char *init_qualified(const struct init_source *s,
                           const struct init_decl *d); /* its name with namespaces */

/* fuel.c */
void init_allow(double seconds);                /* of a processor; 0: as many as is usual */
bool init_is_late(void);                        /* all of the processor's time that looking may take is spent */
bool init_is_waning(void);                      /* what is left is for the last way */
void init_refuel(int64_t *fuel, int64_t least); /* so much at least, where it is not late */

/* tries.c */
void init_write_text(struct init_source *s, const char *folder, const char *name, const char *text);
/* The files of the task as the wrapper makes it. own: the file's launcher; NULL: none. False, with err, where
 * it could not be run. */
bool init_write_task(struct init_source *s, const struct init_wrapped *w, const struct init_decl *own,
                     struct init_task *t, const char *folder, struct err *err);
/* With other types and numbers of the kernel's template, and other blocks, where it does not compile or run
 * with those that were taken. Did it run? ran: it did before. */
bool init_other_ways(struct init_source *s, struct init_wrapped *w, const struct init_decl *own,
                     struct init_task *t, const char *folder, bool ran, struct err *err);
/* Where what was read of the host does not run, or not within any shapes: the launch alone with what its sizes
 * come from, then the launcher from the kernel alone, if these do. */
bool init_try_alone(struct init_source *s, struct init_wrapped *w, struct init_task *t, const char *folder,
                    bool ran, struct err *err);

/* wrapper.c: never fails: what is not understood becomes a TODO and a question. */
void init_wrapper(struct init_task *t, const struct init_wrapped *w);
/* probe_size.c: may the number be how far rows lie apart? Such sizes become the last size that is none where
 * the launcher was not run. */
bool init_is_stride(const char *name);
void init_close_equal(struct init_task *t, struct arena *a); /* two sizes that a condition says are one */
void init_close_strides(struct init_task *t, struct arena *a);
/* probe.c: shapes, roles and index ranges that the wrapper does not say, found by running the launcher of the
 * task's folder on the simulator for small sizes. Writes a task.yaml that is not final into it. False: nothing
 * was found out, and err says why; the task stays as it was. */
bool init_probe(struct init_task *t, struct arena *a, const char *dir, const char *name, struct err *err);
/* probe.c: shapes and roles of what is touched at the sizes to which the task is bound. False: it does not run.
 */
bool init_measure(struct init_task *t, struct arena *a, const char *dir, const char *name);
/* attempt.c: the task, of which nothing is shared that a search writes. */
struct init_task init_copy_task(struct arena *a, const struct init_task *t);
/* attempt.c: the same, rehearsed, with sizes taken in other ways where it fails. */
bool init_settle(struct init_task *t, struct arena *a, const char *dir, const char *name, struct err *err);
/* rehearse.c: do the small shapes of its suite run, within its shapes? Mends what it can. */
bool init_rehearse(struct init_task *t, struct arena *a, const char *dir, const char *name);
/* probe_size.c: where there are more sizes than a task may have, strides first, then the last ones are 1. */
void init_fewer_dims(struct init_task *t, struct arena *a);
/* The size `name` is the value `as` from now on; it stays in t->dims. guess: see struct init_arg. */
void init_drop(struct init_task *t, struct arena *a, const char *name, const char *as, const char *todo,
               bool guess);
struct task;
/* probe_open.c: writes the task and opens it, with workloads that its domain has. draft: see init_taskfile. */
bool init_open_task(struct init_task *t, struct arena *a, const char *dir, const char *name, int64_t draft,
                    struct task **task, struct err *err);
/* probe_open.c: the size called dim with which it ran; 1: not known. */
int64_t init_seen_size(const struct init_task *t, const char *dim);
/* taskfile.c: "rows, 2 * d" as one number. */
const char *init_as_product(struct arena *a, const char *shape);
/* taskfile.c: the condition goes to the domain; false: it is there. */
bool init_demand(struct init_task *t, struct arena *a, const char *condition);
/* Larger sizes, where the domain asks for them. */
void init_suffice(const struct init_task *t, int64_t *sizes);
/* taskfile.c: the smallest sizes that are usual. */
void init_usual(const struct init_task *t, int64_t *sizes);
/* taskfile.c: sizes of about the largest product that the task allows. False: its product has no bound. */
bool init_largest(struct arena *a, const struct init_task *t, int64_t *sizes);
/* The text of task.yaml; in a draft all sizes are up to `draft` (0: it is none). */
char *init_taskfile(struct arena *a, const struct init_task *t, const char *name, int64_t draft);

#endif

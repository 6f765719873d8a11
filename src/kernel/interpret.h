/* Types, values, and what runs trees: eval.c, exec.c, call.c, runtime.c and the others. */
#ifndef KERNEL_INTERPRET_H
#define KERNEL_INTERPRET_H

#include "declaration.h"

enum type_kind {
    TY_SCALAR,
    TY_POINTER,
    TY_ARRAY,
    TY_DIM3,
    TY_KERNEL,
    TY_STREAM,
    TY_PROPERTIES,
    TY_RECORD, /* with `n` fields */
    TY_STRING,
    TY_NULL,
    TY_OPAQUE,
    TY_LAMBDA,
    TY_LIST,
    TY_CONSTANT, /* std::integral_constant: of type `to`, value n */
};

struct record_field {
    const char *name;
    const struct type *const *type;
    int64_t offset;          /* 0 in the runtime's own, which no kernel takes */
    const struct expr *init; /* what it begins as; NULL: nothing said */
};

struct type {
    enum type_kind kind;
    enum kernel_type scalar;
    const char *name; /* C++ spelling */
    int64_t size, align;
    int rank;                         /* integer conversion rank */
    bool is_enum, scoped, to_const;   /* to_const: pointers, points to const */
    bool passable;                    /* records: of this file, so that a kernel may take one */
    const struct type *to, *promoted; /* promoted: of enumerations */
    const struct record_field *fields;
    int64_t n;                        /* array elements, fields */
    const struct type_name *declared; /* structs of the file, for their constants; else NULL */
    struct env *bound;                /* and their template's parameters */
};

struct cell;

struct pointer { /* to host variables (host != NULL) or into a buffer */
    struct cell *host;
    int64_t index, count; /* among the `count` cells from host */
    int32_t buffer;       /* as in kernel_value */
    int64_t offset;
};

struct template_arg;

struct kernel_ref {
    const struct func *func;
    const char *name; /* as written, for messages; func may be one of several with that name */
    const struct template_arg *args;
    size_t n_args;
};

struct value {
    const struct type *type;
    int32_t origin; /* integers made of a pointer: the buffer's number + ORIGIN_BASE; 0: none */
    bool literal_zero;
    bool strict; /* a list in braces: its values stay the same in what they become */
    union {
        int64_t i; /* narrower integers extended by their sign */
        double f;
        struct pointer p;
        uint32_t dim[3];
        const struct kernel_ref *kernel;
        const char *text;
        struct closure *closure;
        struct {
            const struct value *items;
            size_t n_items;
            const char **fields; /* of designators; NULL: none */
        };
        int stream; /* 1: the launcher's, 0: the default */
    };
};

enum { ORIGIN_BASE = 1 << 24 };

struct template_arg {
    const struct type *type; /* NULL: a value */
    struct value value;
};

struct cell { /* a variable */
    const struct type *type;
    struct value value;
    bool known, constant;
    bool fixed;    /* the same in every call: a constant of the file, a constexpr */
    bool kept;     /* from call to call: a function of the driver */
    uint64_t mark; /* of group_close */
    uint32_t segment;
    struct cell *elems; /* arrays, records */
    int64_t n_elems;
};

struct binding {
    const char *name;
    const struct token *at; /* seen behind it only; NULL: everywhere */
    bool reference;
    const struct type *type; /* a type name */
    struct cell *cell;
};

struct env {
    struct env *up;
    const struct type_name *within; /* whose types a member of it sees; NULL: of no struct */
    struct cell *self;              /* of a member function: its struct's value; NULL: of none */
    VEC(struct binding) names;
};

struct closure {
    const struct func *func;
    struct env *env;
};

struct shared_limit;

struct access { /* of a variable, while the order of evaluation counts */
    struct cell *cell;
    bool write;
};

struct static_cell {
    const struct token *at;
    struct cell *cell;
};

struct interp {
    struct unit *unit;
    struct arena *arena;
    const struct kernel *kernel;
    const struct kernel_limits *limits;
    const uint64_t *buffer_addr;
    uint64_t steps;
    int call_depth, eval_depth;
    struct env file;                   /* file-scope constants evaluated so far */
    VEC(const char *) pending;         /* file-scope names being evaluated */
    const struct token *pending_at;    /* the first of them */
    const struct type_node *pointee;   /* the last one that was looked at */
    const struct type_name *enum_open; /* the enumeration whose values are being found */
    int fixed_only;                    /* > 0: in what is evaluated once for all calls */
    VEC(struct access) accesses;
    int groups; /* open ones */
    uint64_t group_serial;
    bool asked;            /* plan.asked */
    struct cell plan_cell; /* stands for what the plan has so far */
    VEC(struct plan_step) plan;
    VEC(int64_t) workspaces;
    VEC(bool) freed;
    VEC(struct shared_limit) shared_limits;
    struct marks marks;
    VEC(struct static_cell) statics;  /* not const ones of functions */
    size_t n_kept;                    /* variables that are null before a call sets them */
    bool keeps;                       /* an earlier call has set them */
    VEC(const char *) large_clusters; /* kernels that allow clusters of more than 8 blocks */
};

struct shared_limit { /* set by cudaFuncSetAttribute */
    const char *kernel;
    int64_t bytes;
};

/* type.c */
typedef const struct type *const known_type;
/* type_unknown: what a pointer leads to, where a launcher has no need to know it, because it hands it on */
extern known_type type_unknown, type_void, type_bool, type_char, type_int, type_uint, type_long, type_ulong,
    type_longlong, type_ulonglong, type_half, type_bf16, type_float, type_double, type_error, type_dim3,
    type_kernel, type_stream, type_properties, type_string, type_null, type_list, type_lambda;
const struct type *type_builtin(const char *name); /* NULL when there is none; knows std:: and every alias */
bool type_builtin_name(const char *name);
bool cub_constant(const char *name, struct value *out); /* of an enumeration of CUB; false: it is none */
const struct type *type_pointer(struct arena *a, const struct type *to, bool to_const);
bool type_same(const struct type *a, const struct type *b);
bool type_is_integer(const struct type *t); /* bool and enums too */
bool type_is_float(const struct type *t);
bool type_is_arithmetic(const struct type *t);
bool type_is_signed(const struct type *t);
const char *type_spell(struct arena *a, const struct type *t);
const struct type *type_resolve(struct interp *in, struct env *env, const struct type_node *n);
/* The name of a template of the file, as the argument of one that takes templates; NULL: n is none. */
const struct type *type_template(struct interp *in, struct env *env, const struct type_node *n);
const struct type *type_of_enum(struct interp *in, const struct type_name *t);
int64_t enumerator_value(struct interp *in, const struct enumerator *e, const struct type **type);
const struct type *type_resolve_for(struct interp *in, struct env *env, const struct type_node *n,
                                    const struct type *automatic); /* what auto stands for */

/* The parameters of a template bound to the arguments of n. */
struct env *bind_template(struct interp *in, struct env *env, const struct template_param *tparams,
                          size_t n_tparams, const struct type_node *n);
/* The specialisation that these bound parameters mean, whose members count in *bound; else t itself. */
/* Which specialisation of the template it is, or the template; NULL: that is not known. */
const struct type_name *type_special(struct interp *in, const struct type_name *t, struct env **bound);
/* std::enable_if_t<condition, ...>, or what points to it: does the condition hold? True of other types. */
bool type_enabled(struct interp *in, struct env *env, const struct type_node *n);

/* value.c */
struct value value_int(const struct type *t, int64_t i);
struct value value_float(const struct type *t, double f);
struct value value_null(void);
struct value value_plain(struct value v); /* an integral_constant as its integer */
struct value value_buffer(const struct type *t, int32_t buffer, int64_t offset);
int64_t int_wrap(const struct type *t, __int128 v);
double float_round(const struct type *t, double f);
struct value convert(struct interp *in, const struct token *at, struct value v, const struct type *to,
                     bool explicit_);
bool truth(struct interp *in, const struct token *at, struct value v);
struct value binary(struct interp *in, const struct token *at, enum op op, struct value a, struct value b);
struct value unary(struct interp *in, const struct token *at, enum op op, struct value a);
uint64_t pointer_address(struct interp *in, const struct token *at, struct pointer p);
/* v as `to`, in braces or as a template's argument: refused where the value would not stay the same. */
struct value convert_same(struct interp *in, const struct token *at, struct value v, const struct type *to);
int64_t to_integer(struct interp *in, const struct token *at, struct value v, const char *what);
const struct type *arithmetic_type(const struct type *a, const struct type *b);
const struct type *type_promote(const struct type *t);

/* eval.c */
struct place {
    struct cell *cell;
    int member; /* of a dim3; -1: the whole */
};
/* Operands that C++ evaluates in any order: a variable that one of them writes, no other may touch. They are
 * only watched where the expression is risky. */
struct group {
    const struct expr *of;
    size_t start, n_cuts;
    size_t cuts[64];
};
void group_open(struct interp *in, struct group *g, const struct expr *of);
void group_next(struct interp *in, struct group *g); /* behind each operand */
void group_close(struct interp *in, struct group *g);
void access_log(struct interp *in, struct cell *c, bool write);
const struct type *type_static(struct interp *in, struct env *env, const struct expr *e); /* NULL: not told */
void step_count(struct interp *in, const struct token *at);
void eval_enter(struct interp *in, const struct token *at); /* one level deeper; in->eval_depth-- leaves it */
struct value eval(struct interp *in, struct env *env, const struct expr *e);
struct place eval_place(struct interp *in, struct env *env, const struct expr *e);
struct value place_read(struct interp *in, const struct token *at, struct place p);
void place_write(struct interp *in, const struct token *at, struct place p, struct value v);
struct cell *host_cell(struct interp *in, const struct token *at, struct value pointer, const char *what);
struct template_arg *eval_template_args(struct interp *in, struct env *env, const struct template_arg_node *n,
                                        size_t count);

/* name.c */
struct env *env_inner(struct interp *in, struct env *up);
struct binding *env_bind(struct interp *in, struct env *env, const char *name, struct cell *cell);
void env_bind_type(struct interp *in, struct env *env, const char *name, const struct type *type);
struct cell *env_find(struct interp *in, struct env *env,
                      struct name_use use); /* NULL when it is no variable */
const struct binding *env_local(struct env *env, const char *name, const struct token *at);
const struct type *env_find_type(struct env *env, const char *name);
struct cell *cell_make(struct interp *in, const struct type *type, bool constant);
struct value decay(struct interp *in, struct cell *array); /* as the pointer to its first element */
struct env *capture(struct interp *in, struct env *env, const struct func *lambda); /* what a lambda sees */
struct value eval_name(struct interp *in, struct env *env, const struct expr *e);
/* What a member of t sees: its types, and the static constants before field i. */
struct env *members_before(struct interp *in, const struct type_name *t, struct env *bound, size_t i);
bool kernel_named(struct interp *in, struct env *env, const struct expr *e, struct value *out);
/* A device function, as a template argument. */
bool function_named(struct interp *in, struct env *env, const struct expr *e, struct value *out);
_Noreturn void unknown_name(struct interp *in, struct env *env, const struct expr *e);

/* declare.c */
void declare(struct interp *in, struct env *env, const struct declarator *d);
/* The array that a range-based loop walks. */
struct cell *range_array(struct interp *in, struct env *env, const struct expr *range);
/* The variable that an expression stands for. No cell: it is a value, or with member -2 some variable. */
struct place place_if_any(struct interp *in, struct env *env, const struct expr *e);
struct value initialise(struct interp *in, struct env *env, const struct type *t, const struct expr *init);

/* exec.c */
enum flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN };
enum flow exec(struct interp *in, struct env *env, const struct stmt *s, const struct type *result,
               struct value *returned);

/* call.c */
const struct type *call_type(struct interp *in, struct env *env, const struct expr *e); /* NULL: not told */
struct value call_expr(struct interp *in, struct env *env, const struct expr *e);
const struct expr *expand_packs(struct interp *in, struct env *env, const struct expr *e);
/* Arguments as values and, where they are variables, as places for reference parameters. own: of this file. */
struct value *call_args_of(struct interp *in, struct env *env, const struct expr *e, bool own,
                           struct place **places_out);
struct value call_func(struct interp *in, const struct token *at, const struct func *f, struct env *bound,
                       struct value *args, struct place *places, size_t n);
struct call_args { /* values may be types alone when only those count */
    const struct template_arg *targs;
    size_t n_targs;
    const struct value *values;
    const struct place *places; /* NULL: none is a variable */
    size_t n;
    struct env *outer; /* of a member function: what it sees; else NULL */
};
enum bound { BOUND, BOUND_NOT, BOUND_MISSING };
enum bound template_bind(struct interp *in, const struct func *f, const struct call_args *args,
                         struct env **out, const char **missing);

/* overload.c: the one of the file's functions that a call means, with its template's parameters; NULL: the name
 * is none of a function of the file. */
/* The one of `all` that fits; name: as messages say it. */
const struct func *overload_among(struct interp *in, const struct expr *call, const struct call_args *args,
                                  const struct func *const *all, size_t n, struct env **bound);
const struct func *overload_find(struct interp *in, const struct expr *call, const struct call_args *args,
                                 struct env **bound);
bool is_own_function(const struct unit *u, const struct expr *name);

/* method.c: what structs of the file have beside members: constructors and member functions */
bool record_is_made(const struct type *t); /* by a constructor */
/* A new variable c of such a type: from `init`, a list, a call's arguments or another value; NULL: nothing. */
void record_construct(struct interp *in, struct env *env, const struct token *at, struct cell *c,
                      const struct expr *init);
/* From these values; places: NULL: none is a variable. */
void record_construct_of(struct interp *in, const struct token *at, struct cell *c, struct value *args,
                         struct place *places, size_t n);
/* The members of c, which are there, as their constructors without arguments make them. */
void record_defaults(struct interp *in, struct cell *c);
void record_start(struct interp *in, const struct token *at, struct env *env, const struct func *f);
/* A call of a member function, of a value or within another one. False: the name is none of these. */
bool method_call(struct interp *in, struct env *env, const struct expr *e, struct value *out);
const struct type *method_type(struct interp *in, struct env *env, const struct expr *e); /* NULL: not told */

/* record.c */
void record_set(struct interp *in, struct env *env, struct cell *m, const struct expr *init); /* a member */
struct tensor_map;
/* The variable of a CUtensorMap says m from now on, of the tensor at `address`. */
void record_map(struct interp *in, const struct token *at, struct cell *c, const struct tensor_map *m,
                struct value address);
bool record_map_constant(const char *name, struct value *out); /* CU_TENSOR_MAP_..., CUDA_SUCCESS */
const struct type *record_builtin(const char *name);           /* NULL: no such struct of the runtime */
void record_make(struct interp *in, struct cell *c, bool zero);
struct cell *record_member(struct interp *in, const struct token *at, const struct cell *c, const char *name);
void record_assign(struct interp *in, const struct token *at, struct cell *c, struct value v);
void record_initialise(struct interp *in, struct env *env, struct cell *c, const struct expr *init);
/* A new variable's value: from a list, or a copy of another. */
struct value record_value(struct interp *in, const struct token *at, const struct type *t, struct value v);
/* As a kernel takes it. */
struct kernel_value record_argument(struct interp *in, const struct token *at, struct value v);
/* size_bytes from where a pointer to host variables points. */
struct kernel_value record_bytes(struct interp *in, const struct token *at, struct value pointer,
                                 int64_t size_bytes);

/* launch.c */
#define TEMPLATE_ARGS "types, integers, bool, enumerators and functions"
/* As a template's argument; NULL: it cannot be one. */
const char *spell_value(struct interp *in, const struct token *at, const struct value *v);
struct launch_attributes {
    bool cooperative, programmatic;
    uint32_t cluster[3]; /* 0: none */
};
struct kernel_value plan_value(struct interp *in, const struct token *at,
                               struct value v); /* a number or pointer */
struct value launch_expr(struct interp *in, struct env *env, const struct expr *e);
struct launch_call {
    const struct kernel_ref *kernel;
    const struct value *config; /* grid, block, shared, stream */
    size_t n_config;
    const struct value *args;
    struct expr *const *arg_exprs; /* where the arguments stand; NULL: at the launch */
    size_t n_args;
    struct launch_attributes attributes;
    bool defaults; /* default arguments may stand for the rest */
};
void launch(struct interp *in, const struct token *at, const struct launch_call *call);
const char *kernel_expression(struct interp *in, const struct token *at, const struct kernel_ref *k,
                              const struct value *args, size_t n_args, const struct func **f,
                              struct env **bound);

/* driver.c: the driver's function that a launcher may use, also as a value; a kernel_ref without a kernel */
#define DRIVER_FUNCTION "cuTensorMapEncodeTiled"
bool driver_is(const struct value *v);
bool driver_named(struct interp *in, const struct expr *e, struct value *out);
/* c is not const, and keeps its value between calls, from its first one on. */
void driver_keep(struct interp *in, const struct token *at, const char *name, struct cell *c);
void driver_kept(struct interp *in, const struct token *at, const struct cell *c); /* its value may be kept */

/* runtime.c; name: of the call, whatever e->a is */
bool runtime_call(struct interp *in, struct env *env, const struct expr *e, const char *name,
                  struct value *out);
bool runtime_constant(const char *name, struct value *out);
bool runtime_is_call(const char *name); /* a name of the CUDA runtime's host side */
struct value properties_member(struct interp *in, const struct token *at, const char *name);

/* builtin.c: min, max, sqrt, numeric_limits ... */
bool builtin_call(struct interp *in, const struct expr *e, const char *name, const struct call_args *call,
                  struct value *out);
bool builtin_is_call(const char *name);
bool builtin_constant(struct interp *in, const char *name, const struct template_arg *targs, size_t n_targs,
                      struct value *out);
bool number_parse(const char *s, size_t len, struct value *out); /* an integer or floating literal */
bool char_parse(const char *s, size_t len, int64_t *out);

/* device.c: the file's, and into headers those of its headers, one each */
char *device_part(struct unit *u, struct arena *a, struct kernel_header *headers);
bool is_own_path(const struct token *t); /* __FILE__ and the like */
/* tunable.c */
void tunables_read(struct unit *u, const struct kernel_tunable **out, size_t *n);

#endif

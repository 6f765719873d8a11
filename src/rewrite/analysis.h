/* analysis: what the transforms need to know of one function of a kernel file: its variables, where it is
 * launched, its index expressions as polynomials over threadIdx, blockIdx, sizes and variables, and its loops
 * over lanes. Internal to rewrite/. Everything lives in the arena given; nodes live as long as the kernel's
 * source. */
#ifndef REWRITE_ANALYSIS_H
#define REWRITE_ANALYSIS_H

#include "rewrite/rewrite.h"

struct variable {
    const char *name, *type; /* type without qualifiers: "float", "__half", "T" */
    bool pointer, to_const;  /* to_const: const is said of what it points to, or of the value itself */
    bool restricted, param, shared, array, external;
    struct node id;        /* identifier in its declarator */
    struct node init;      /* initialiser, or no node */
    struct node size;      /* of an array, or no node */
    struct node statement; /* declaration or parameter_declaration */
    size_t from, to;       /* bytes of text where the name means this variable */
    int assignments;       /* after its initialiser; taking its address counts */
    size_t index;          /* parameters: position */
    /* A pointer that the block of its declaration assigns again is another variable from there on: `p += init`
     * stands on this one, `p = init` on none. */
    const struct variable *base;
};

struct launch {                        /* one <<<...>>> */
    struct node call, statement, host; /* host: function_definition it stands in */
    struct node name;                  /* identifier of the kernel */
    struct node template_args;         /* or no node */
    struct node grid, block, shared;   /* shared: or no node */
    const struct node *args;
    size_t n_args;
};

struct alias { /* `using name = type`, `typedef type name` */
    const char *name, *type;
};

struct file_macro { /* of a #define with parameters */
    struct node definition;
    const char *name, *body; /* body: "" where it has none */
};

struct function {
    const struct transform_input *in;
    struct arena *a;
    const struct source *s;
    const char *text;                    /* of the file */
    const char *name, *qualified;        /* the latter with its namespaces, as plans name a kernel */
    struct node definition, whole, body; /* whole: with its template line */
    struct node id, declared;            /* its name; that with the arguments of a specialisation */
    bool special;                        /* template <>: its launches may say arguments, a copy has none */
    const struct variable *variables;    /* parameters first */
    size_t n_variables, n_params;
    const struct launch *launches;
    size_t n_launches;
    const struct alias *aliases; /* the file's, but those of templates */
    size_t n_aliases;
    const struct file_macro *macros; /* the file's */
    size_t n_macros;
    bool global;
    int64_t block_x; /* threads of every launch when they are the same constant and y = z = 1, else 0 */
};

/* NULL when the definition is not one the analysis understands. */
struct function *function_open(const struct transform_input *in, struct arena *a, struct node definition);
/* The i-th __global__ function; NULL also when plans are known and no workload launches it. */
struct function *function_open_kernel(const struct transform_input *in, struct arena *a, size_t i);
const struct variable *function_variable(const struct function *f, const char *name, size_t at);
const struct variable *function_variable_of(const struct function *f, struct node identifier);
/* Where the body says the variable, its declaration included, in text order. */
struct node *variable_names(const struct function *f, const struct variable *v, size_t *count);
/* Bytes of an element of this type, template types bound by the launches; 0: unknown or not plain. */
int ctype_size(const struct function *f, const char *type);
/* T of the vector `packed<T, N>` that vectorise leaves; NULL: the type is no such. */
const char *ctype_packed(const struct function *f, const char *type);
/* Bytes of a struct of the file that has nothing but numbers; 0: it is none. */
int ctype_struct_size(const struct function *f, const char *type);
int64_t array_bytes(const struct function *f, const struct variable *v); /* 0: extents or type unknown */
int64_t shared_bytes(
    const struct function *f); /* of arrays that it declares as shared; unknown ones are left out */
bool ctype_is_parameter(const struct function *f, const char *name, size_t *position); /* of its template */
void ctype_find_aliases(struct function *f); /* once, when it is opened */
/* What the file's typedef or `using` of that name stands for in the end; else the type as it is. */
const char *ctype_alias(const struct function *f, const char *type);
bool ctype_is_integer(const struct function *f, const char *type);
/* The type in front of a declared name, without what an array of them cannot be; and such an array's
 * declarator. */
char *variable_type_text(const struct function *f, const struct variable *v);
char *variable_array_text(const struct function *f, const struct variable *v, int n);
/* Can there be an array of it whose elements are assigned? What a class's objects can is not known. */
bool variable_is_plain(const struct function *f, const struct variable *v);
bool ctype_is_float(const char *type); /* float or double, in registers */
const char *expression_type(const struct function *f,
                            struct node e); /* "float", "int" ...; NULL when not seen */
const char *ctype_bound(const struct function *f,
                        const char *type); /* a template type's binding, or the type */
/* Is the call this method of a cooperative group of 32 threads? */
bool group_method(const struct function *f, struct node call, const char *method);
/* All functions of the file: kernels that run, and those that are no kernels. */
struct function **functions_open(const struct transform_input *in, struct arena *a, size_t *count);
/* The one function of this name in the file; NULL when there are several or it is none that can be opened. */
const struct function *function_only(const struct function *f, const char *name);
/* Has a function of the file bodies for some template arguments? A copy would miss them. */
bool function_is_specialised(const struct function *f, const char *name);
/* Is there a macro that says threadIdx and the like, or makes threads meet, for anyone but another kernel? It
 * is not seen through. */
bool macros_ask_for_place(const struct function *f);
/* Is it referred to other than by launches (attributes, occupancy queries, pointers)? Then it must keep its
 * name. */
bool function_is_named_elsewhere(const struct function *f);
/* Is it declared elsewhere? That would be another function's when a parameter changes. */
bool function_has_prototype(const struct function *f);
/* It is not, or only where an attribute is set: such a statement is written again for a copy (edits_copy does).
 */
bool function_may_be_copied(const struct function *f);
void edits_attributes(struct edits *e, const struct function *f, const char *copy);

/* Nodes. */
struct node node_strip(struct node n);  /* without parentheses, casts and the clause of a condition */
struct node unbracketed(struct node n); /* without parentheses alone */
struct node statement_expression(struct node statement); /* of an expression statement, or no node */
struct node subscript_index(const struct function *f, struct node subscript); /* the only one, or no node */
const char *node_op(const struct function *f, struct node n);
/* x op y; x op y where op assigns; *x; &x; x[i] or *x */
bool node_is_binary(const struct function *f, struct node n, const char *op);
bool node_is_assignment(const struct function *f, struct node n, const char *op);
bool node_is_indirection(const struct function *f, struct node n);
bool node_is_address(const struct function *f, struct node n);
bool node_is_access(const struct function *f, struct node n);
bool node_is_loop(struct node n);
/* Is it reached only sometimes, or more than once, each time that its parent is? */
bool node_is_asked(const struct function *f, struct node n);
/* Within braces that hold one statement alone; else the statement as it is. */
struct node node_unbraced(const struct function *f, struct node statement);
bool node_has_effect(const struct function *f, struct node n); /* it writes, or calls what may */
bool node_mentions(const struct function *f, struct node n, const char *name);
bool node_within(struct node inner, struct node outer);
struct node node_enclosing(struct node n, enum node_kind kind); /* nearest ancestor of a kind */
struct node node_statement(struct node n);                      /* nearest enclosing statement or declaration */
struct node callee_name(struct node callee); /* without its namespaces and template arguments */
const char *call_name(const struct function *f, struct node call); /* "" when it is no plain name */
bool call_is(const struct function *f, struct node n, const char *name);
/* __syncthreads(), or the sync of the block's cooperative group. */
bool call_is_barrier(const struct function *f, struct node call);
/* A call without side effects whose value depends on its arguments alone. */
bool call_is_pure(const struct function *f, struct node call);
bool call_is_pure_builtin(const struct function *f, struct node call); /* of the runtime or the standard */
struct node definition_declared(
    struct node definition); /* a function's name, with its specialisation's arguments */
struct node definition_name(struct node definition); /* that without them */
void macros_find(struct function *f);                /* the file's, once, when it is opened */
/* Is it a macro of the file that takes an address or writes? */
bool macro_is_opaque(const struct function *f, const char *name);
/* The innermost call of such a one around n, or n itself; or no node. */
struct node macro_around(const struct function *f, struct node n);
/* Inline assembly whose results follow from its operands: no memory, no other thread, no place. */
bool assembly_computes(const struct function *f, struct node n);
bool is_warp_builtin(const char *name);                      /* __shfl_sync and its like, by how they begin */
bool call_meets(const struct function *f, struct node call); /* is it one in which lanes meet? */
bool calls_barrier(const struct function *f, struct node n); /* or anything else in which lanes meet */
/* What stands at file level, in namespaces too; the namespaces themselves are not among it. */
struct node *file_items(const struct function *f, size_t *count);
struct node *named_children(const struct function *f, struct node n, size_t *count);
/* All of a kind below n, in text order. This list and the two above end with no node; their count may be NULL.
 */
struct node *nodes_of(const struct function *f, struct node n, enum node_kind kind);
struct node *names_in(const struct function *f, struct node n); /* identifiers, n itself among them, likewise */
struct node *definitions_of(const struct function *f);          /* all functions of the file, likewise */
typedef VEC(struct node) node_list;
/* The next function of the file by this name that is not among those seen, among which it is then. */
struct node definition_unseen(const struct function *f, const char *name, node_list *seen);
/* Has n one of the kind below it? */
bool node_has(const struct function *f, struct node n, enum node_kind kind);
/* An integer known at compile time: literals, constexpr and #define constants, template values, arithmetic on
 * these. */
bool constant_value(const struct function *f, struct node n, int64_t *value);
/* The same, where every launch gives the parameters that it is made of the same constant, or no pointer (0). */
bool launched_value(const struct function *f, struct node n, int64_t *value);
/* The kernel's launches in the plans of all workloads: the first for NULL, else the one behind s; NULL: no
 * more.
 */
const struct plan_step *planned_launch(const struct function *f, const struct plan_step *s);
/* Has some workload a multiple of so many blocks along x (0) or y? No plans: perhaps. */
bool some_grid_divides(const struct function *f, int dimension, int by);
/* Threads of a block along x (0), y or z in every launch; 0: not known or not always the same. */
int64_t block_threads(const struct function *f, int dimension);
/* The number of threads in its __launch_bounds__, or no node. */
struct node launch_bound(const struct function *f);
const struct transform_fact *fact_of(const struct transform_input *in, const char *launcher_param);
/* What a kernel parameter is bound to at a launch; no node when that leaves it to its default argument. */
struct node launch_arg(const struct function *f, const struct launch *l, const struct variable *param);

/* Is the expression the same in every iteration of (and reading nothing that is written in) this part? */
bool expression_is_invariant(const struct function *f, struct node e, struct node part);
/* What an assignment or ++ changes; no node when n is neither. */
struct node assigned_target(struct node n);
bool variable_assigned_in(const struct function *f, const struct variable *v, struct node part);
bool memory_written_in(const struct function *f, const char *pointer, struct node part);
/* The pointer parameter or array that an expression of pointer type starts from; NULL when it is not seen. */
const struct variable *pointer_root(const struct function *f, struct node pointer);

/* Sums of products: sum of by * atom * atom ..., casts dropped, single-assignment variables seen through. Atoms
 * are names, threadIdx.x and the like, or the text of what is not a sum or product. */
struct term {
    int64_t by;
    const char *atom[6];
    int n;
};
struct poly {
    struct term t[12];
    int n;
    bool ok; /* it fits */
};
struct poly poly_of(const struct function *f, struct node e);
/* Is it a template parameter that every launch gives the number of its block's threads? It stands for
 * blockDim.x. */
bool poly_is_block(const struct function *f, struct node name);
#define POLY_LANE "lane" /* the atom of a thread's place in its warp, however it is written */
struct poly poly_number(int64_t v);
struct poly poly_atom(const struct function *f, const char *atom);
struct poly poly_add(const struct function *f, struct poly x, struct poly y, int64_t by);
struct poly poly_mul(const struct function *f, struct poly x, struct poly y);
bool poly_same(const struct poly *x, const struct poly *y);
bool poly_is_thread(const struct function *f, struct node e); /* threadIdx.x */
struct poly poly_thread_of_grid(const struct function *f);    /* blockIdx.x * blockDim.x + threadIdx.x */
/* Is it blockIdx * (threads of a block) + threadIdx, along this dimension? *threads: as many as are written
 * down there, 0 for blockDim. */
bool poly_counts_grid(const struct function *f, const struct poly *p, int dimension, int64_t *threads);
int64_t poly_coefficient(const struct poly *p, const char *atom); /* of the atom alone */
bool poly_says(const struct poly *p, const char *word);           /* in any of its atoms */

/* A loop that the threads of a block, or of more, share: for (i = first; i < bound; i += lanes). */
enum lane_span {
    LANES_BLOCK,
    LANES_GRID_X,
    LANES_ROW_Y, /* a row's blocks along grid.y */
    LANES_ROW_Z,
    LANES_WARP
};
struct lane_loop {
    struct node loop, body;
    const struct variable *index;
    struct node start, bound, step, update;
    int width; /* elements an iteration covers: 1, or the vector's length once vectorised */
    enum lane_span span;
};
/* All of a function's lane loops in text order. */
struct lane_loop *lane_loops(const struct function *f, size_t *count);
bool lane_loop_of(const struct function *f, struct node for_statement, struct lane_loop *loop);
/* A row in fixed steps, as register-cache leaves it: `#pragma unroll` above `for (int item = 0; item < STEPS;
 * item++) { int i = ...; if (i < d) { ... } }`. */
struct step_loop {
    struct node loop, question, block; /* the if, and the statements it asks for */
};
bool step_loop_of(const struct function *f, struct node statement, struct step_loop *l);

/* The settings to look for sites with, which end with NO_SETTING: a transform's own, which are worth a try
 * alone, and behind them, when all_settings is asked for, the other ones that its parameters have. */
enum { NO_SETTING = INT32_MIN };
const int *settings_to_try(const struct function *f, const struct site_list *found, const int *own,
                           size_t n_own);
/* Adds a site of f at a node; `where` follows "NAME, line N: ". The caller sets detail, in the arena, if it
 * needs one. */
struct transform_site *site_add(struct site_list *found, const struct function *f, struct node at, int setting,
                                const char *why, const char *where, ...) __attribute__((format(printf, 6, 7)));

/* Text. */
char *text_of(const struct function *f, struct node n);
char *text_range(const struct function *f, size_t start, size_t end);
char *text_compact(struct arena *a, const char *text);  /* without white space and comments, for comparing */
char *text_trim(char *text);                            /* without the white space at its end, in place */
char *text_indent(const struct function *f, size_t at); /* white space that the line of this byte starts with */
char *text_reindent(struct arena *a, const char *text, int by_columns); /* all lines but the first */
char *text_wrap(struct arena *a, const char *line,
                int column); /* a call that starts at column, broken at commas */
char *text_times(struct arena *a, const struct function *f, struct node e, int by); /* "x * 8", "(x + y) * 8" */
/* base, or base with a number, such that it is no identifier of the file yet. */
/* Behind the literal or comment of the text that begins at p; p itself where none does. */
const char *text_behind_literal(const char *text, const char *p);
char *fresh_name(const struct function *f, const char *base);
char *fresh_local(const struct function *f, const char *base); /* of this function, and no macro */
/* Start of the whole function including comment lines right above it. */
size_t function_head(const struct function *f);

/* Edits. */
char *edits_range(const struct edits *e, const struct function *f, size_t start,
                  size_t end);                                 /* only this range */
char *edits_finish(struct edits *e, const struct function *f); /* the whole file */
static inline void edits_at(struct edits *e, size_t at, const char *text)
{
    edits_try(e, at, at, text);
}
static inline bool edits_node(struct edits *e, struct node n, const char *text)
{
    return edits_try(e, node_start(n), node_end(n), text);
}
/* A statement goes, with its line where it is alone there. */
void edits_remove(struct edits *e, const struct function *f, struct node statement);
/* The function under another name, with the edits inside it; its parameters stay aligned. NULL where edits met.
 */
char *function_copy(struct edits *inside, const struct function *f, const char *name, struct err *why_not);
/* Put such a copy below the function, "// As NAME, <how>." above it. */
void edits_beside(struct edits *e, const struct function *f, const char *how, const char *copy);
/* Both in one. */
bool edits_copy(struct edits *e, struct edits *inside, const struct function *f, const char *name,
                const char *how, struct err *why_not);
/* The parameter list written anew; shift: columns by which the name before it grows. */
void edits_parameters(struct edits *e, const struct function *f, const char *const *params, size_t n,
                      int shift);
/* Put text above the first function, once; after the includes it needs. */
void edits_helper(struct edits *e, const struct function *f, const char *text);
/* Likewise `packed`, with what stands on it below. */
void edits_packed(struct edits *e, const struct function *f, const char *helper);
void edits_include(struct edits *e, const struct function *f, const char *header, const char *alternative);
/* Replace the launch's statement by these lines, in braces where it was a body by itself. */
void edits_launch(struct edits *e, const struct function *f, const struct launch *l, const char *lines);
/* Removes launches but the first, which was replaced by `kept`, and what of the launcher only they needed:
 * workspaces, pointers into them. */
void launches_remove(const struct function *f, const struct node *statements, size_t n, const char *kept,
                     struct edits *edits);
/* Replace the launch's statement by if (guard) { fast } else { as it was }. */
void edits_guard_launch(struct edits *e, const struct function *f, const struct launch *l, const char *comment,
                        const char *guard, const char *fast);
/* Where the launcher gives a name its first value, or no node; and what an expression is, through such names.
 */
struct node host_declarator(const struct function *f, const struct launch *l, struct node name);
struct node host_value(const struct function *f, const struct launch *l, struct node e);
int launch_column(const struct function *f, const struct launch *l); /* of its statement */
/* What a copy's name stands for: with the arguments of a template where the copy has none. */
struct node launch_name(const struct function *f, const struct launch *l);
/* A launch through a pointer that the launcher sets to the kernel, with these and those template arguments, and
 * does nothing else with; its grid is the same wherever the launcher asks. False: there is none such. */
struct pointer_launch {
    struct launch launch; /* without arguments */
    struct node *values;  /* the kernel's names, as they are assigned */
    size_t n;
    struct node declared; /* of the pointer */
};
bool launch_by_pointer(const struct function *f, struct pointer_launch *p);
/* The launch's text with name, grid and block replaced (NULL: as they are). */
char *launch_text(const struct function *f, const struct launch *l, const char *name, const char *grid,
                  const char *block);
/* The arguments of a dim3 expression or of the declaration behind a dim3 variable, or what its members are set
 * to once; NULL for anything else. `dim3 grid(rows)` reads like a function's declaration: its arguments are
 * parameter_declarations then. */
struct node *launch_dim3(const struct function *f, const struct launch *l, struct node e, size_t *n);
/* Does it give the template parameter the number of threads of its block, of one dimension? */
bool launch_gives_block(const struct function *f, const struct launch *l, const char *param);
/* The number of threads along x, as the launcher would write it. */
char *launch_threads(const struct function *f, const struct launch *l);
/* Has the grid only an x, as written? */
bool launch_grid_is_line(const struct function *f, const struct launch *l);
bool launch_block_x(const struct function *f, const struct launch *l, char **x);
bool launch_grid_x(const struct function *f, const struct launch *l, char **x);
bool launch_grid_y(const struct function *f, const struct launch *l, char **y); /* "1" where there is none */
/* The number of threads that the launcher writes down for it, itself or as a constant of its own. */
bool launch_block_constant(const struct function *f, const struct launch *l, int64_t *threads);
/* What the launcher wrote for x (0) or y (1), a dim3 variable seen through; NULL when it is not seen. */
const char *launch_grid_part(const struct function *f, const struct launch *l, int which);
/* Is the number of blocks that of something divided: as many as there is work? */
bool launch_grid_divides(const struct function *f, const struct launch *l);
/* Is the number of blocks rounded down, so that elements at the end may have none? */
bool launch_grid_cuts(const struct function *f, const struct launch *l);
/* The launcher's question whether the blocks along x or y are a multiple of so many. */
const char *launch_grid_is_multiple(const struct function *f, const struct launch *l, bool y, int by);
/* The grid with 1/by of the blocks, rounded up. */
char *launch_grid_divided(const struct function *f, const struct launch *l, int by);
char *launch_grid_with(const struct function *f, const struct launch *l, const char *x, const char *y);

/* A kernel expression in the launcher's terms: parameters replaced by what is passed. NULL when it uses
 * anything else. */
char *launch_expression(const struct function *f, const struct launch *l, struct node e);
bool launches_tell(const struct function *f, struct node e); /* can it be said so at every launch? */
/* Conditions, over names of the host function, under which n is a multiple of by; added to guards (no repeats).
 */
struct guard_list {
    VEC(const char *) list;
};
void guard_add(struct arena *a, struct guard_list *g, const char *condition);
void guard_multiple(const struct function *f, const struct launch *l, struct node n, int by,
                    struct guard_list *g);
/* They all, as the condition of an if before the launch. */
char *guard_join(const struct function *f, const struct guard_list *g, const struct launch *l);

/* One element reached: p[i], *(p + i), *p, or a load or store with a hint (`__ldcs(p + i)`, `__stcs(&p[i],
 * x)`), which is a plain one to us. */
struct reached {
    struct node whole, pointer;
    struct node index; /* no node: of *p */
    struct node value; /* of a store that is a call; no node */
    bool call;
};
/* Does the statement wait for the kernel ahead, as a launch that may begin early does? */
bool statement_waits(const struct function *f, struct node n);
bool element_reached(const struct function *f, struct node e, struct reached *p);

#endif

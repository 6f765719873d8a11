/* Between the files that read a host wrapper. wrapper_scan.c finds the functions among tokens, wrapper_type.c
 * what types and tensors are, wrapper_expr.c and wrapper_body.c write expressions and statements anew,
 * wrapper.c chooses and puts together. A body is written twice: what the first time learns (the types and
 * extents of tensors), the second time uses. */
#ifndef INIT_WRAPPER_H
#define INIT_WRAPPER_H

#include "init/internal.h"

/* ---- wrapper_scan.c: a function among preprocessed tokens */

struct wrapper_tparam {
    const char *name;
    bool is_type;
    const char *type, *fallback; /* of a value, "(*)" of a function; its default; NULL: none */
    struct init_span
        constraint; /* that a type must meet, where it stands in place of `typename`; end 0: none */
};

struct wrapper_param {
    const char *name;
    size_t first, last; /* tokens of the type, last exclusive */
    size_t end;         /* behind its name and default */
};

struct wrapper_function {
    const char *name;
    size_t first, name_at;     /* tokens: of the declaration, of its name */
    size_t params, params_end; /* ( and ) */
    size_t body, body_end;     /* { and } */
    struct wrapper_tparam *tparams;
    size_t n_tparams;
    struct wrapper_param *list;
    size_t n_list;
};

/* Copies n tokens without the brackets that macros put around names: (x).dim() is x.dim(). How many there are
 * then.
 */
size_t wrapper_strip(struct token *to, const struct token *v, size_t n);
/* Is it one of the words and signs of a list, "( [ {"? */
bool wrapper_sign(const struct token *t, const char *list);
/* The function that the tokens define; false: they define none. */
bool wrapper_scan(struct wrapper_function *f, struct arena *a, const struct token *v, size_t n);
/* Behind the bracket that closes the one at `at`; n when nothing does. */
size_t wrapper_skip(const struct token *v, size_t n, size_t at);
/* The index of the `>` for the `<` at `at`; 0 when it is a comparison. */
size_t wrapper_angle(const struct token *v, size_t n, size_t at);
/* The end of the item of a list that begins at i: its comma, or the list's end. */
size_t wrapper_item(const struct token *v, size_t i, size_t end);
/* Tokens as text, one blank where the file has white space. */
char *wrapper_text(struct arena *a, const struct token *v, size_t first, size_t last);

/* ---- the wrapper while it is read */

enum { WRAPPER_RANK = 8 };

struct wrapper_tensor {
    const char *name, *spelled; /* its C type of elements; NULL: not seen yet */
    const char *pointer;        /* what its address is called: another tensor's name where it is a view of it */
    int rank;
    const char *dim[WRAPPER_RANK];         /* a dim, or an expression of dims; NULL: not known */
    bool optional, made, zeroed, returned; /* made: by the wrapper itself */
    const char *drawn; /* random numbers of the framework's: what a task calls them, "" normal; NULL: none */
    bool shaped;       /* dim[0..rank) say its shape */
    bool used;
    const struct wrapper_tensor *like; /* whose shape the wrapper checks it to have; NULL: none */
    struct wrapper_extent_of {
        struct wrapper_tensor *tensor; /* NULL: none */
        int dim;
    } made_of[WRAPPER_RANK]; /* the extent that it was made with */
};

struct wrapper_dim {
    const char *name, *spelled; /* spelled: int, int64_t */
};

struct wrapper_reader {
    struct arena *arena;
    struct init_source *source;
    struct init_task *task;
    struct token *v; /* of the function */
    size_t n;
    struct wrapper_function f;
    struct map alias;  /* a type's name to what it stands for */
    struct map locals; /* an integer to an expression of dims */
    struct map named;  /* a dim's name to its C type */
    struct map clash;  /* names of variables that are no dim */
    struct map shown;  /* notes that were made */
    VEC(struct wrapper_tensor *) tensors;
    VEC(struct wrapper_dim) dims;            /* that the launcher needs as parameters */
    VEC(const char *) streams, capabilities; /* capabilities: pairs of the device's two numbers */
    struct str out;
    const struct init_wrapped *in;
    struct wrapper_function kernel; /* among kernel_tokens */
    struct tokens kernel_tokens;
    struct str
        head; /* lines before the body: template parameters, and parameters of types that a launcher has not */
    int depth;
    bool final;                              /* the second time */
    bool uses_properties, divides, uses_gcd; /* needs cudaDeviceProp, ceil_div, gcd */
    bool of_types;                           /* in a case of a switch over types: its break leaves nothing */
    bool within_struct;                      /* its members are looked at */
    bool helper;                             /* a function that the launcher calls: what it returns stays */
    const char *chosen;                      /* the type that macros dispatch to */
    const char *why;                         /* what is not understood; NULL: all is */
};

__attribute__((format(printf, 2, 3))) void wrapper_note(struct wrapper_reader *r, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void wrapper_ask(struct wrapper_reader *r, const char *fmt, ...);
/* The wrapper is not understood; the first reason stays. */
__attribute__((format(printf, 2, 3))) void wrapper_lost(struct wrapper_reader *r, const char *fmt, ...);

/* ---- wrapper_type.c */

struct wrapper_type {
    bool pointer, constant, reference, tensor, optional, stream;
    const char *spelled; /* resolved: "__half"; of a pointer's element */
    const char *type;    /* as task.yaml says it; NULL: it has no such type */
    int lanes;           /* float4 is 4 of f32 */
    int stars;           /* of a pointer to pointers: 2 */
};
struct wrapper_type wrapper_type_of(struct wrapper_reader *r, const struct token *v, size_t first, size_t last);
/* A pointer to void has the type that the tokens [first, end) cast it to; NULL: none. */
const char *wrapper_cast_of(struct wrapper_reader *r, const struct token *v, size_t first, size_t end,
                            const char *name);
/* `typedef A B;` and `using B = A;` of the file: A as text; NULL: no such thing. */
const char *wrapper_file_alias(struct wrapper_reader *r, const char *name);
/* "__half" of what an alias stands for */
const char *wrapper_resolved(struct wrapper_reader *r, const char *spelled);
/* Is it a type whose bits a task has as other numbers (fp8)? */
bool wrapper_is_bits(const char *spelled);
/* "f16" of "__half"; NULL: none */
const char *wrapper_type_name(struct wrapper_reader *r, const char *spelled, int *lanes);
/* The number of a torch scalar type by its last name (Half, kFloat32), or of one as task.yaml says it; -1:
 * none. */
int wrapper_dtype(const char *name);
int wrapper_dtype_of(const char *type);
const char *wrapper_dtype_spelled(int dtype);
const char *wrapper_spelled(const char *type);      /* "__half" of "f16"; NULL: no C type */
const char *wrapper_default_type(const char *name); /* of a template parameter that nobody gives one */

struct wrapper_tensor *wrapper_tensor_find(struct wrapper_reader *r, const struct token *t);
struct wrapper_tensor *wrapper_tensor_add(struct wrapper_reader *r, const char *name);
void wrapper_give_back(struct wrapper_reader *r, size_t first, size_t last); /* the tensors among the tokens */
/* Its extent number i, negative ones from the end: text. */
const char *wrapper_extent(struct wrapper_reader *r, struct wrapper_tensor *t, int i);
void wrapper_need_dim(struct wrapper_reader *r, const char *name);
/* An expression with locals replaced; NULL where something other than dims and numbers stands in it. */
const char *wrapper_over_dims(struct wrapper_reader *r, const char *text);

#define PLAIN_FUNCTION "plain_function" /* of the vocabulary, for one that no file has */

/* ---- wrapper_member.c, wrapper_struct.c */

struct wrapper_member {
    const char *name; /* of a member's member: "shape_width" */
    const char *path; /* "shape.width" */
    struct wrapper_type type;
    bool guessed;    /* what a pointer to void points to */
    bool array;      /* of which the first is given */
    bool numbers;    /* of an array: the others are 1 */
    int extent;      /* of such an array; 0: not known */
    bool by_methods; /* the class's own functions say it */
};
struct wrapper_members {
    struct wrapper_member *v;
    size_t n, cap;
};
enum wrapper_asks {
    WRAPPER_OWN,     /* of the wrapper's own class: what its body says by itself */
    WRAPPER_SAID,    /* what the kernel or the wrapper says; all of these are numbers and pointers to some */
    WRAPPER_KERNEL,  /* the same, and what of it is something else is left out: it stays zeros */
    WRAPPER_METHODS, /* and what the class's own functions say */
};
/* The members of a struct of the files that are asked for of the parameter called so, with those of structs in
 * it. False: it is no such struct, or has none. */
bool wrapper_members(struct wrapper_reader *r, const char *spelled, const char *name, enum wrapper_asks asks,
                     struct wrapper_members *to);
/* What the launcher says of a member that is an array, behind what it gives the first of it. */
void wrapper_fill_member(struct wrapper_reader *r, struct str *to, const char *of,
                         const struct wrapper_member *m);
bool wrapper_is_struct(struct wrapper_reader *r, const char *spelled); /* of the files */
/* The struct that the type is, where it is another name of one, also one with a template's arguments. */
const char *wrapper_unaliased(struct wrapper_reader *r, const char *spelled);
const struct init_decl *wrapper_struct_named(const struct wrapper_reader *r, const char *spelled);
const char *wrapper_plain_name(struct arena *a, const char *spelled); /* "Name" of "a::Name<int>" */
/* Of a struct that the launcher fills, and those in it. */
void wrapper_make_plain(struct wrapper_reader *r, const char *spelled);
/* Is it a type without members: a constant of std, a class whose type alone says something? */
bool wrapper_is_tag(struct wrapper_reader *r, const char *spelled);
const char *wrapper_plain_elements(struct wrapper_reader *r, const char *spelled, int *lanes);
bool wrapper_is_enum(const struct wrapper_reader *r, const char *spelled);
/* Its first value with which something is done, as an expression. */
const char *wrapper_enum_value(const struct wrapper_reader *r, const char *spelled);
bool wrapper_says_alone(const struct wrapper_reader *r, const char *name);
/* A variable of the files that a program may change, which a launcher cannot read: its type. False: no such. */
bool wrapper_variable(struct wrapper_reader *r, const char *name, struct wrapper_type *type);

/* ---- wrapper_tparam.c */

/* What callers write for template parameter `which` of the function (or the kernel) called so: its first plain
 * value; NULL: none. */
const char *wrapper_called_with(struct wrapper_reader *r, const char *name, size_t which, int depth);
/* A class of the files that has what the tokens ask of the type called `name`; NULL: none, or nothing is asked.
 */
const char *wrapper_class_for(struct wrapper_reader *r, const struct token *v, size_t n, const char *name);
/* The value, where the parameter may have it; of one that is a template itself, where there is none, a template
 * of the files that has what the kernel asks of it; NULL: none. */
const char *wrapper_fitting(struct wrapper_reader *r, const struct wrapper_tparam *p, const char *value);
/* Are values of the type called `name` functions that the function's tokens call, and nothing else? */
bool wrapper_is_called(struct wrapper_reader *r, const char *name);
/* Gives template parameter number i of the function its value, in r->head; `instance`: what the file makes of
 * the function; NULL: none. */
void wrapper_choose_tparam(struct wrapper_reader *r, size_t i, const char *instance);

/* ---- wrapper_args.c */

/* Item number `which` of a list "float, 256"; NULL: none. */
const char *wrapper_listed(struct arena *a, const char *list, size_t which);
/* Of the kernel's instance that the user named. */
const char *wrapper_instance_arg(const struct wrapper_reader *r, size_t which);
bool wrapper_is_size(const char *name, const char *type); /* shapes are made of such numbers */
bool wrapper_names_threads(const char *name);             /* is it how many threads a block has? */
void wrapper_scalar(struct wrapper_reader *r, struct init_arg *a);
void wrapper_buffer(struct wrapper_reader *r, struct init_arg *a, bool constant);
bool wrapper_is_sizes(const struct wrapper_type *k); /* a vector of two or three integers is as many sizes */
/* Of a parameter that is a vector (float4), which no task has: an expression of what the launcher gets. */
const char *wrapper_give_vector(struct wrapper_reader *r, const char *name, const struct wrapper_type *k,
                                struct str *params);
/* The parameter of the kernel that `name` is handed to: is it const? -1: nobody knows. */
int wrapper_kernel_constant(struct wrapper_reader *r, const char *name);
__attribute__((format(printf, 2, 3))) void wrapper_add_param(struct str *list, const char *fmt, ...);
/* Opens the namespaces "a::b::", as the wrapper stands in them. */
void wrapper_add_using(struct str *out, struct arena *a, const char *scope);

/* ---- wrapper_launch.c */

/* The tokens of the function, expanded, with all launches of the kernel written with <<<. */
struct tokens wrapper_launches(struct init_source *s, const struct init_decl *host, const char *kernel);

/* ---- wrapper_plain.c: what is said in other words than torch's, in torch's */

struct tokens wrapper_plain(struct init_source *s, struct tokens list);

/* ---- wrapper.c */

/* The functions of the launcher's own that its text calls. */
void wrapper_add_helpers(const struct wrapper_reader *r, struct str *to);
/* Opens the namespaces of the function that launches the kernel, where they are others than the kernel's. */
void wrapper_add_scope(struct str *to, const struct init_source *s, const struct init_decl *kernel,
                       const struct init_decl *host);

/* ---- wrapper_slice.c */

void wrapper_clear_task(struct init_task *t);
/* Only the launch in `host`, and what its sizes come from. False: that is not enough. */
bool wrapper_slice(struct init_task *t, const struct init_wrapped *w, const struct init_decl *host);
/* The arguments of `template void name<half, 256>(...)`, those of half before others; NULL: none. */
const char *wrapper_file_instance(struct wrapper_reader *r, const char *name);

/* ---- wrapper_view.c */

/* Does the kernel ask for the extent of the view? */
bool wrapper_asks_extent(const struct wrapper_reader *r, const char *name, int extent);
/* How many elements of the view's axis there are, where the kernel names each of them: `x[i][0]`, `x[i][1]`; 0:
 * it does something else, or asks how many there are. */
int wrapper_named_extent(const struct wrapper_reader *r, const char *name, int axis);
/* Which arguments the kernel's text writes, `x[i] = y` or by an atomic, if only for some numbers. */
void wrapper_written(struct init_task *t, struct wrapper_reader *r);

/* ---- wrapper_alone.c */

void wrapper_declared(struct init_task *t, const struct init_wrapped *w); /* from the kernel alone */
/* Does the kernel take apart how many threads there are by its sizes? Its own launcher says that product, which
 * the launch alone does not. */
bool wrapper_is_composed(const struct init_wrapped *w);
/* By which of its parameters the kernel divides what it makes of indices: to t->divisors. */
void wrapper_divisors(struct init_task *t, const struct init_wrapped *w);
/* A number for a template parameter that nobody gives one, which is a question. */
const char *wrapper_guessed_value(struct wrapper_reader *r, const struct wrapper_tparam *p);
/* A value of a template parameter that nobody gives one: false, or an enumeration's first; NULL: none. */
const char *wrapper_plain_value(const struct wrapper_reader *r, const struct wrapper_tparam *p);
/* Of a switch over `name`: `value`, or the first label that launches the kernel where that one does not. */
const char *wrapper_launched_case(struct wrapper_reader *r, const char *name, const char *value);

/* ---- wrapper_grid.c */

struct wrapper_names {
    const char **v;
    size_t n, cap;
};

struct wrapper_grid { /* of a launch, by axis: expressions of what the launcher knows, and of launch_block */
    const char *blocks[3], *threads[3];
    bool open[3];                        /* nothing says how many blocks there are */
    bool shared;                         /* there is dynamic shared memory */
    bool guessed;                        /* nothing says how many threads a block has */
    bool says;                           /* the kernel's own body says an index */
    const char *bounded[3];              /* what threadIdx alone is compared with */
    const char *bound;                   /* how many threads along x do something; NULL: not known */
    struct wrapper_names divisors;       /* parameters by which a thread's number is divided */
    struct wrapper_names block_divisors; /* and a block's */
};
/* The launch that the indexing of the kernel (r->f, which is r->kernel) asks for. */
void wrapper_grid(struct wrapper_reader *r, struct wrapper_grid *g);

/* ---- wrapper_branch.c: of the tokens [i, end) */

bool wrapper_says_launch(const struct wrapper_reader *r, size_t i, size_t end);
bool wrapper_says_kernel(const struct wrapper_reader *r, size_t i, size_t end);
/* Do they launch other kernels, and not this one? */
bool wrapper_is_of_others(const struct wrapper_reader *r, size_t i, size_t end);
/* Cases that are for other kernels are left out. Where the kernel is the default's they do nothing, and the
 * value of the switch, at [value, body - 1), is none of theirs. */
void wrapper_cases_of_others(struct wrapper_reader *r, size_t value, size_t body);
/* Is the statement [i, next), behind all launches and the device's memory, the host's work with what they
 * computed? It is no part of a launcher; the tensors that are read there are what is given back. */
bool wrapper_is_afterwards(struct wrapper_reader *r, size_t i, size_t next, const char *memory_calls);

/* ---- wrapper_check.c */

bool wrapper_is_unnamed(const struct wrapper_tensor *t, int k); /* the wrapper's own code does not name it */
/* Are the tokens `t.size(k)`, alone? */
bool wrapper_extent_at(struct wrapper_reader *r, size_t first, size_t last, struct wrapper_tensor **t, int *k);
void wrapper_check(struct wrapper_reader *r, size_t open); /* of TORCH_CHECK(condition, ...): its `(` */
/* CHECK_EQ(a, b) at i, under any of its names, becomes CHECK(a == b); CHECK_DIM(3, x) says how many extents x
 * has. Is there a condition to be checked?
 */
bool wrapper_check_pair(struct wrapper_reader *r, size_t i);
/* What a check asks for: all of `a && b`; of `if (a || b) throw` (it does not hold) neither. */
void wrapper_domain(struct wrapper_reader *r, size_t first, size_t last, bool holds);
/* What is asked goes to the domain where it is of dims alone. */
void wrapper_condition(struct wrapper_reader *r, const char *text);

/* ---- wrapper_declare.c */

struct wrapper_declaration {        /* of one variable */
    size_t first, name, init, last; /* tokens: of the type, the name, behind `=` or `(`, the end of the value */
};
/* Do the tokens [i, end) of a statement declare one variable? */
bool wrapper_declares(const struct wrapper_reader *r, size_t i, size_t end, struct wrapper_declaration *d);
/* False: it is written as any statement. */
bool wrapper_declaration(struct wrapper_reader *r, const struct wrapper_declaration *d);

/* ---- wrapper_expr.c, wrapper_body.c */

/* One line of the launcher. */
__attribute__((format(printf, 2, 3))) void wrapper_line(struct wrapper_reader *r, const char *fmt, ...);
bool wrapper_has_word(const struct wrapper_reader *r, size_t i, size_t end, const char *list);

char *wrapper_expr(struct wrapper_reader *r, size_t first, size_t last);
/* 1, 0, or -1: not a constant. */
int wrapper_constant(const char *text);
void wrapper_body(struct wrapper_reader *r); /* statements of r->f into r->out */

#endif

/* Tokens, and the names that they may mean: lex.c, lookup.c, macro.c, directive.c, unit.c. */
#ifndef KERNEL_TOKEN_H
#define KERNEL_TOKEN_H

#include <setjmp.h>

#include "kernel/kernel.h"
#include "marks.h"

enum token_kind { TOK_END, TOK_WORD, TOK_NUMBER, TOK_STRING, TOK_CHAR, TOK_PUNCT };

struct token {
    enum token_kind kind;
    bool line_start, space_before;
    bool foreign;  /* of a header; at is then the #include's, macro the header's name */
    bool inactive; /* in the raw tokens: a condition leaves it out */
    bool quiet;    /* a macro's own name inside its expansion: not expanded again */
    uint8_t pack;  /* what #pragma pack allows at most; 0: anything */
    uint32_t len;
    const char *s;     /* not NUL-terminated */
    size_t at;         /* byte in the file: of the token, or of the macro call it came from */
    const char *macro; /* the outermost macro it came from; NULL when it stands in the file itself */
};

struct comment {
    size_t start, end;
};

struct tokens {
    struct token *v;
    size_t n, cap;
};

struct inclusion { /* of a header that is not read: before[...] of the unit's tokens; name with its <> or "" */
    size_t before;
    const char *name;
};

/* ---- names: lookup.c */

enum look { LOOK_HERE, LOOK_GLOBAL, LOOK_STD }; /* name, ::name, std::name */

struct name_use { /* a name and the place that says it */
    const char *name, *scope;
    enum look look;
    const struct token *at;
};

enum decl_kind { DECL_FUNC, DECL_GLOBAL, DECL_TYPE, DECL_ENUMERATOR, DECL_UNKNOWN };

struct decl {
    enum decl_kind kind;
    const char *name, *scope;
    const struct token *at;
    struct func *func;
    struct global *global;
    struct type_name *type;
    struct enumerator *enumerator;
};

struct parser;

struct using_name { /* in namespace `in`: all of namespace `from`, or its `name` */
    const char *in, *from, *name;
    const struct token *at, *until; /* until: the end of the block; NULL: to the end of the file */
};

struct namespace_alias {
    const char *in, *name, *to; /* all end in `::` */
    const struct token *at;
};

struct found {
    size_t n;
    const struct decl *v[128];
};

struct trap {
    jmp_buf jump;
    struct trap *up;
    struct err err;
};

/* One file. */
struct unit {
    struct arena *arena;
    const char *path, *text;
    size_t len;
    struct trap *trap;
    VEC(size_t) lines; /* offsets of line starts */
    VEC(struct comment) comments;
    bool asks_compiler; /* a condition asks for a macro of the compiler or of a header */
    bool any_words;     /* only the words count: ## takes what it would refuse */
    bool any_joins;     /* a backslash may join what could be one word or sign: it is read as two */
    const struct kernel_header *headers;
    size_t n_headers;
    const char *const *flags;
    size_t n_flags;
    VEC(struct comment) dead;         /* bytes that neither the host's nor the device's compiler sees */
    size_t parse_work;                /* against text that backtracks without end */
    struct tokens raw, tokens;        /* before and after preprocessing, both end in TOK_END */
    VEC(struct inclusion) inclusions; /* of headers that are not read */
    VEC(struct func *) funcs;
    VEC(struct func *)
    written_for; /* kernels of a template for arguments that their name says; by name alone */
    VEC(struct global *) globals;
    VEC(struct type_name *) types;
    VEC(struct enumerator *) enumerators;
    VEC(struct decl) decls;
    VEC(struct using_name) usings;
    VEC(struct namespace_alias) aliases;
    VEC(const char *) namespaces; /* "a::b::" */
    bool operators;               /* the file defines operators of its own */
    bool operators_own;           /* and some that take other types than built-in and vector ones */
    bool tuple_like;              /* it says std::tuple_size */
    bool uses_std;                /* using namespace std, using std::min */
    VEC(struct region) regions;   /* top-level declarations in file order, for the device part */
};

_Noreturn void fail(struct unit *u, const struct token *t, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void unit_place(const struct unit *u, size_t at, int *line, int *col);
char *token_text(struct arena *a, const struct token *t);
bool token_is(const struct token *t, const char *s);
bool token_in(const struct token *t, const char *list); /* "one|two|three" */
/* The header whose text the token stands in; NULL: none. */
const struct kernel_header *token_header(const struct unit *u, const struct token *t);

void lex_text(struct unit *u);
struct token lex_token(struct unit *u, const char *t, size_t len, size_t i); /* the one that begins at i */
void macro_expand(struct unit *u);

/* system.c: names of the compiler, its library and the toolkit */
bool system_header(const char *name, size_t len); /* whose macros are known by name */
bool system_constant(const char *name);           /* one whose value is known, and is defined everywhere */
bool system_macro(const char *name);              /* may be a macro of one of them */
bool system_predefined(const char *name);         /* is a macro in every file */
bool system_undefined(const char *name);          /* is none on this host */
bool system_replaced(const char *name);           /* is replaced before ## and # see it in an argument */

#endif

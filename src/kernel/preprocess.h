/* Between the files of the preprocessor: macro.c expands, directive.c reads directives, condition.c evaluates
 * #if. It does what g++ -E does, or refuses. Included files are not read but for the task's own; what a file
 * would make of a name that is a macro of the compiler or of a header (system.c) is not known, so asking for
 * one is refused. */
#ifndef KERNEL_PREPROCESS_H
#define KERNEL_PREPROCESS_H

#include "kernel/internal.h"

struct macro {
    const char *name;
    bool function, variadic, active, predefined;
    bool shaky; /* a header that was included later may have changed it */
    const char **params;
    size_t n_params;
    const struct token *body;
    size_t n_body;
};

struct condition {
    bool taken, active, outer, else_seen; /* taken: some branch was; active: this one is */
    bool differs;                         /* the device's compiler may take another one */
    const struct token *at;
};

struct expander {
    struct unit *unit;
    struct arena *arena;
    struct map macros; /* a name that #undef took away has NULL */
    VEC(struct condition) conditions;
    VEC(const struct kernel_header *) once;
    VEC(uint8_t) packs; /* #pragma pack(push) */
    uint8_t pack;
    bool unknown_header; /* whose macros are not known */
    bool asks_device;    /* the condition that was read last asks what only the device's compiler knows */
    struct map differ;   /* names that it may define, or not, otherwise */
    size_t produced;
    int include_depth;
};

/* macro.c */
void expand_emit(struct expander *x, struct tokens *out, struct token t);
/* more: other tokens of the file follow, behind a directive */
void expand_list(struct expander *x, const struct token *v, size_t n, struct tokens *out, bool more);
struct macro *macro_find(struct expander *x, const struct token *t);

/* condition.c */
bool condition_value(struct expander *x, const struct token *v, size_t n, const struct token *at);
bool condition_defined(struct expander *x, const struct token *name);

/* directive.c */
void expand_raw(struct expander *x, struct token *v);
/* What stands behind #define; v[0] is the name. */
struct macro *macro_define(struct expander *x, const struct token *v, size_t n);

#endif

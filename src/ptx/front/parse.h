/* What lex.c, parse.c and declare.c share: the state of one reading of a text. An error leaves through
 * ptx_parse_fail(). */
#ifndef PTX_PARSE_H
#define PTX_PARSE_H

#include <ctype.h>
#include <setjmp.h>

#include "ptx/observe.h"

struct vreg {      /* a register as the text names it */
    uint8_t bytes; /* 0: predicate */
    uint32_t off, slot;
};

struct parsed { /* between parse.c and lower.c; the instructions' register offsets are still numbers of vregs */
    struct ptx_module *module;
    VEC(struct insn) code;
    VEC(struct func) funcs;
    VEC(struct var *) vars;
    VEC(struct loc) locs;
    VEC(const char *) files;
    VEC(struct vreg) vregs;
};
bool module_parse(struct parsed *p, const char *text, size_t len, struct err *err);

enum token { T_END, T_IDENT, T_DOT /* .word */, T_INT, T_F32, T_F64, T_STRING, T_PUNCT };

enum sym_kind { SYM_REG, SYM_RANGE, SYM_VAR, SYM_PARAM, SYM_FUNC, SYM_LABEL, SYM_TARGETS };

struct sym {
    const char *name;
    uint32_t len, scope;
    uint32_t hash;
    enum sym_kind kind;
    uint32_t n;     /* register number, first of a range is made on use; label: pc */
    uint32_t count; /* range */
    uint8_t bytes;  /* register */
    uint8_t ref;    /* SYM_PARAM: REF_ENTRY_PARAM or REF_FUNC_PARAM */
    void *p;
};

struct label_use {
    const char *name;
    uint32_t len, scope;
    int line, col;
    uint32_t insn;
    struct opnd *opnd; /* element of a table, or NULL: the instruction's own operand 0 */
};

struct targets { /* .branchtargets */
    struct opnd *v;
    uint32_t n;
};

struct parser {
    struct parsed *out;
    struct ptx_module *m;
    struct arena *a;
    const char *s, *end, *line_start;
    int line;
    /* the current token */
    enum token t;
    const char *ts;
    uint32_t tn;
    int tline, tcol;
    uint64_t tv;
    char punct;
    struct err *err;
    jmp_buf fail;
    VEC(struct sym) syms;
    uint32_t *slots;
    size_t n_slots;
    uint32_t scopes[64], n_scopes, next_scope;
    uint32_t param_top[64]; /* where the next .param variable goes, by scope depth */
    uint32_t param_max;
    VEC(struct label_use) uses;
    struct func *func;
    uint32_t func_index;
    uint32_t loc;
    struct opnd coordinates; /* of the address parsed last: [map, {x, y}]; kind OPND_NONE: none */
    bool lacks;              /* an instruction's operand is a special register that the simulator lacks */
};

/* lex.c: tokens; the current one is in the state */
_Noreturn void ptx_parse_fail(struct parser *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool char_is_word(int c);
void token_next(struct parser *p);
bool ptx_token_is(const struct parser *p, const char *s);
bool token_accept(struct parser *p, char c); /* takes it when it is there */
void token_expect(struct parser *p, char c);
uint64_t token_int(struct parser *p);
uint64_t token_size(struct parser *p, uint64_t max, const char *what);

/* lex.c: names, in nested scopes */
struct sym *sym_in(struct parser *p, const char *s, uint32_t n, uint32_t scope);
struct sym *sym_find(struct parser *p, const char *s, uint32_t n);
struct sym *sym_add(struct parser *p, const char *s, uint32_t n, uint32_t scope, enum sym_kind kind);
uint32_t scope_now(const struct parser *p);
void scope_open(struct parser *p);
void scope_close(struct parser *p); /* resolves its labels */
uint32_t vreg_new(struct parser *p, uint8_t bytes);

/* parse.c: instructions */
int type_find(const char *s, size_t n);
int64_t token_bits(struct parser *p, enum type type, bool minus); /* of the number that is the token */
void parse_operand(struct parser *p, const struct insn *i, struct opnd *o, enum type type, int depth);
void parse_label(struct parser *p, struct opnd *o, uint32_t insn, bool element);
void parse_instruction(struct parser *p);

#endif

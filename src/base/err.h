/* Error: what went wrong in the world or in the user's input, said once, at the top. A function that can fail
 * returns bool and takes `struct err *err` last; err is untouched on success. Verdicts on candidates are not
 * errors. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>

enum err_kind {
    ERR_NONE,
    ERR_WORLD, /* files, processes, devices, network: exit status 1 */
    ERR_INPUT, /* usage or a broken task: exit status 2 */
    ERR_STOP,  /* interrupted: exit status 130 */
};

struct err {
    enum err_kind kind;
    int line, col;  /* 1-based; 0 when there is no place */
    char file[256]; /* "" when there is no place */
    char text[2048];
};

/* Set err (which may be NULL) and return false, so that `return err_world(err, ...)` reads well. */
bool err_world(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool err_input(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool err_at(struct err *err, const char *file, int line, int col, const char *fmt, ...)
    __attribute__((format(printf, 5, 6))); /* ERR_INPUT with a place */
bool err_set(struct err *err, enum err_kind kind, const char *file, int line, int col, const char *fmt,
             va_list ap);

/* Put "context: " before the text; returns false. */
bool err_context(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "file:line:col: text", as much of the place as there is, into buf. */
const char *err_format(const struct err *err, char *buf, int size);

#endif

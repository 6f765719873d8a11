#include "base/base.h"

bool err_set(struct err *err, enum err_kind kind, const char *file, int line, int col, const char *fmt,
             va_list ap)
{
    if (!err)
        return false;
    err->kind = kind;
    err->line = line;
    err->col = col;
    snprintf(err->file, sizeof(err->file), "%s", file ? file : "");
    vsnprintf(err->text, sizeof(err->text), fmt, ap);
    return false;
}

bool err_world(struct err *err, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    err_set(err, ERR_WORLD, NULL, 0, 0, fmt, ap);
    va_end(ap);
    return false;
}

bool err_input(struct err *err, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    err_set(err, ERR_INPUT, NULL, 0, 0, fmt, ap);
    va_end(ap);
    return false;
}

bool err_at(struct err *err, const char *file, int line, int col, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    err_set(err, ERR_INPUT, file, line, col, fmt, ap);
    va_end(ap);
    return false;
}

bool err_context(struct err *err, const char *fmt, ...)
{
    char old[sizeof(err->text)];
    va_list ap;
    int n;

    if (!err)
        return false;
    memcpy(old, err->text, sizeof(old));
    va_start(ap, fmt);
    n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof(err->text))
        snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %s", old);
    return false;
}

const char *err_format(const struct err *err, char *buf, int size)
{
    if (err->file[0] && err->line > 0 && err->col == 0)
        snprintf(buf, (size_t)size, "%s:%d: %s", err->file, err->line, err->text);
    else if (err->file[0] && err->line > 0)
        snprintf(buf, (size_t)size, "%s:%d:%d: %s", err->file, err->line, err->col, err->text);
    else if (err->file[0])
        snprintf(buf, (size_t)size, "%s: %s", err->file, err->text);
    else
        snprintf(buf, (size_t)size, "%s", err->text);
    return buf;
}

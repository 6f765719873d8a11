#include "base/base.h"

void bug_report(const char *file, int line, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "astra: bug at %s:%d: ", file, line);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputs("\nThis is a defect of Astra, not of your input; please report it with the command you ran.\n",
          stderr);
    abort();
}

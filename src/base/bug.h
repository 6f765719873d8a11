/* A bug is a state the program's author ruled out. It aborts with the place; errors and verdicts never do. */
#ifndef BASE_BUG_H
#define BASE_BUG_H

_Noreturn void bug_report(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define BUG(...) bug_report(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_IF(cond)                                     \
    do {                                                 \
        if (__builtin_expect(!!(cond), 0))               \
            bug_report(__FILE__, __LINE__, "%s", #cond); \
    } while (0)

#endif

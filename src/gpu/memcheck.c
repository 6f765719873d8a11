/* NVIDIA's sanitizer run on a program, and the first of its findings. Its lines begin with a row of equals
 * signs; what stands between them without that is the program's own. */
#include "internal.h"

static const char mark[] = "========= ";

char *memcheck_path(struct arena *a)
{
    return tool_path(a, "ASTRA_COMPUTE_SANITIZER", "compute-sanitizer", NULL);
}

/* "... in kernel.cu:15": the number when it is that file. */
static int line_in(const char *s, size_t len, const char *file)
{
    const char *base = fs_basename(file);
    size_t n = strlen(base);

    for (const char *p = s; p + n + 1 < s + len; p++)
        if (!strncmp(p, base, n) && p[n] == ':' && (p == s || p[-1] == ' ' || p[-1] == '/'))
            return atoi(p + n + 1);
    return 0;
}

static bool is_finding(const char *s)
{
    static const char *const others[] = {"COMPUTE-SANITIZER", "ERROR SUMMARY",      "RACECHECK SUMMARY",
                                         "Error: process",    "Target application", "Internal",
                                         "Warning",           "Saved host",         "Host Frame"};

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (str_starts(s, others[i]))
            return false;
    return *s != '\n' && *s != '\0' && *s != ' ';
}

void memcheck_read(struct arena *a, const char *text, const char *file, struct memcheck_result *r)
{
    *r = (struct memcheck_result){0};
    for (const char *p = text; *p;) {
        size_t len = strcspn(p, "\n");
        if (!str_starts(p, "=========")) {
            if (!r->found && len)
                r->printed = arena_strndup(a, p, len);
        } else if (len > sizeof(mark) - 1) {
            const char *s = p + sizeof(mark) - 1;
            size_t n = len - (sizeof(mark) - 1);
            if (!r->found && is_finding(s))
                r->found = arena_strndup(a, s, n);
            if (r->found && !r->line)
                r->line = line_in(s, n, file);
        } else if (r->found) {
            return; /* its end */
        }
        p += len + (p[len] == '\n');
    }
}

bool memcheck_run(struct arena *a, const char *tool, const char *const *argv, const char *file, double limit_s,
                  struct memcheck_result *r, struct err *err)
{
    enum { FOUND = 77 };
    const char *path = memcheck_path(a);
    const struct proc_limits limits = {.wall_s = limit_s, .output_bytes = 16u << 20};
    struct proc_result ran;
    const char *args[64] = {path, "--tool",           tool, "--error-exitcode", "77", "--report-api-errors",
                            "no", "--show-backtrace", "no"};
    size_t k = 9;

    *r = (struct memcheck_result){0};
    if (!path) {
        r->why_not =
            "there is no compute-sanitizer on PATH or in the toolkit; ASTRA_COMPUTE_SANITIZER names one";
        return true;
    }
    for (; *argv && k + 1 < ARRAY_LEN(args); argv++)
        args[k++] = *argv;
    if (*argv)
        BUG("a command of more than %zu words", ARRAY_LEN(args));
    if (!proc_run(args, NULL, &limits, &ran, err))
        return false;
    memcheck_read(a, str_text(&ran.out), file, r);
    if (ran.end == PROC_TIMED_OUT)
        *r = (struct memcheck_result){.why_not = arena_printf(a, "%s took more than %.0f s", tool, limit_s)};
    else if (ran.end != PROC_EXITED || (ran.status != 0 && ran.status != FOUND))
        *r =
            (struct memcheck_result){.why_not = arena_printf(a, "%s ended with status %d%s%s", tool, ran.status,
                                                             r->found ? ": " : "", r->found ? r->found : "")};
    else if (ran.status == 0)
        r->found = NULL;
    else if (!r->found)
        r->found = arena_printf(a, "%s found something that it did not describe", tool);
    proc_result_free(&ran);
    return true;
}

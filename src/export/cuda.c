/* The .cu file. It is formatted only where that leaves every token as it was; nothing else may change what was
 * judged. */
#include "internal.h"

static const char style[] =
    "--style={BasedOnStyle: LLVM, IndentWidth: 4, ColumnLimit: 112, SortIncludes: Never, "
    "ReflowComments: false, BreakStringLiterals: false, AllowShortFunctionsOnASingleLine: Empty, "
    "BreakBeforeBraces: Linux, DerivePointerAlignment: true}";

char *export_formatted(struct arena *a, const char *text)
{
    static const char *const argv[] = {"clang-format", style, "--assume-filename=kernel.cu", NULL};
    struct proc_limits limits = {.wall_s = 30, .output_bytes = 64 << 20};
    struct proc_result r = {0};
    char *out = NULL;

    if (proc_run(argv, text, &limits, &r, NULL) && r.end == PROC_EXITED && r.status == 0 &&
        str_eq(kernel_normalise(a, str_text(&r.out), r.out.len), kernel_normalise(a, text, strlen(text))))
        out = arena_strndup(a, str_text(&r.out), r.out.len);
    proc_result_free(&r);
    return out;
}

bool make_cuda(const struct export_run *r, struct export_files *out, struct err *err)
{
    struct arena *a = out->arena;
    const struct task *t = r->bundle.task;
    char *text = export_formatted(a, r->bundle.judged);
    struct facts f;

    (void)err;
    facts_read(&f, r, a);
    export_add(
        out, fs_basename(t->source_path),
        arena_printf(
            a, "%s%s",
            facts_comment(&f, a,
                          text ? "What follows is the judged text, laid out by clang-format: the same tokens."
                               : "What follows is the judged text, byte for byte."),
            text ? text : r->bundle.judged));
    if (t->n_headers)
        out->note = arena_printf(a, "it includes %s%s, which lie in %s", t->headers[0],
                                 t->n_headers > 1 ? " and other headers of the task" : "", t->dir);
    return true;
}

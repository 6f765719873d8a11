/* Does nvcc take the original? What it refuses is not given back, however fast it is. */
#include "internal.h"

bool judge_read_headers(struct arena *a, const struct task *t, const struct gpu_header **to, struct err *err)
{
    struct gpu_header *h = arena_array(a, struct gpu_header, t->n_headers + 1);

    for (size_t i = 0; i < t->n_headers; i++) {
        char *text;
        if (!fs_read(a, fs_join(a, t->dir, t->headers[i]), &text, NULL, err))
            return false;
        h[i] = (struct gpu_header){t->headers[i], text};
    }
    *to = h;
    return true;
}

static bool asked(struct arena *a, const struct nvrtc *n, const struct task *t, const struct kernel_limits *l,
                  struct err *err)
{
    struct compile_request q = {.path = fs_basename(t->source_path),
                                .arch = arena_printf(a, "sm_%d%d", l->cc_major, l->cc_minor),
                                .flags = t->flags,
                                .n_flags = t->n_flags,
                                .n_headers = t->n_headers};
    struct compile_result r;
    char *text;

    if (!judge_read_headers(a, t, &q.headers, err) || !fs_read(a, t->source_path, &text, NULL, err))
        return false;
    q.text = text;
    if (!gpu_nvcc_ptx(n, a, &q, &r, err))
        return false;
    return r.end != COMPILE_FAILED || !gpu_nvcc_works(n, a) ||
           (r.line > 0 ? err_input(err, "%s:%d: the original: %s", q.path, r.line, r.words)
                       : err_input(err, "the original: %s", r.words));
}

bool judge_nvcc_takes(const struct task *t, const struct kernel_limits *l, struct err *err)
{
    struct arena *a = arena_open();
    struct nvrtc *n;
    bool ok = nvrtc_open(&n, err);

    if (ok) {
        trace_doing("nvcc", "compiles the original");
        ok = !gpu_nvcc_path(a, n) || asked(a, n, t, l, err);
        nvrtc_close(n);
    }
    arena_close(a);
    return ok;
}

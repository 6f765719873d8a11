/* What buffers held, as a task's cases of real data, and what integers may be by it. */
#include "capture/internal.h"

#include <errno.h>
#include <sys/stat.h>

enum { MOST_INPUTS = 8 };
#define MOST_BYTES ((size_t)256 << 20) /* of one buffer */

static bool is_integer(enum kernel_type type)
{
    return !type_is_floating(type) && type != KT_BOOL;
}

/* The least and the largest, and whether they never fall. */
static void look_at(struct capture_seen *seen, enum kernel_type type, const char *data, size_t n)
{
    size_t size = kernel_type_size(type);
    double before = -INFINITY;

    if (!seen->n) {
        seen->low = INFINITY;
        seen->high = -INFINITY;
        seen->rising = true;
    }
    for (size_t i = 0; i + size <= n; i += size) {
        double v = task_to_double(type, data + i);
        seen->low = fmin(seen->low, v);
        seen->high = fmax(seen->high, v);
        seen->rising = seen->rising && v >= before;
        before = v;
        seen->n++;
    }
}

/* One buffer into the task's folder; the file's name there, "" when nothing of it was kept. */
static bool take_buffer(struct capture_inputs *in, const struct task_arg *arg, const json_t *param,
                        size_t bytes, const char **name, struct err *err)
{
    const char *contents = json_text(param, "contents", NULL), *folder = fs_join(in->a, in->task_dir, "inputs");
    struct arena *a;
    char *data;
    size_t n;
    bool ok;

    *name = "";
    if (!contents)
        return true;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return err_world(err, "cannot make the folder %s: %s", folder, strerror(errno));
    a = arena_open();
    ok = capture_contents_read(a, in->capture, contents, &data, &n, err);
    n = ok ? MIN(n, bytes) : 0;
    if (ok && n < bytes && is_integer(arg->type)) {
        in->short_of++; /* the others would be drawn: indices that belong together would not */
    } else if (ok) {
        look_at(&in->seen[arg - in->task->args], arg->type, data, n);
        *name = arena_printf(in->a, "inputs/%s-%zu.z", contents, n);
        ok = pack_write(fs_join(in->a, in->task_dir, *name), data, n, err);
    }
    arena_close(a);
    return ok;
}

bool capture_inputs_take(struct capture_inputs *in, const struct capture_kept *k, struct err *err)
{
    const struct task *t = in->task;
    struct str files = {.arena = in->a};
    size_t buffer = 0;

    if (in->lines.n >= MOST_INPUTS)
        return true;
    for (size_t i = 0; i < t->n_args; i++) {
        const struct task_arg *arg = &t->args[i];
        const char *name = "";
        int64_t elements = 0;
        size_t b = buffer;
        if (arg->role == ROLE_SCALAR)
            continue;
        buffer++;
        if ((arg->role != ROLE_IN && arg->role != ROLE_INOUT) || !k->param[b] ||
            !task_shape(t, arg, k->dims, &elements, err) ||
            (size_t)elements > MOST_BYTES / kernel_type_size(arg->type))
            continue;
        if (!take_buffer(in, arg, json_array_get(k->params, (size_t)k->param[b] - 1),
                         (size_t)elements * kernel_type_size(arg->type), &name, err))
            return false;
        if (*name)
            str_addf(&files, "%s%s: %s", files.len ? ", " : "", arg->name, name);
    }
    if (files.len) {
        struct str line = {.arena = in->a};
        str_add(&line, "  - {dims: [");
        for (size_t d = 0; d < t->n_dims; d++)
            str_addf(&line, "%s%lld", d ? ", " : "", (long long)k->dims[d]);
        str_addf(&line, "], files: {%s}}\n", str_text(&files));
        vec_add(in->a, &in->lines, str_text(&line));
    }
    return true;
}

/* What bounds them: the dim that is the least above all in every launch; NULL: the number. */
static const char *bound_of(const struct task *t, const struct capture_seen *seen, const int64_t *least)
{
    size_t best = t->n_dims;

    for (size_t d = 0; d < t->n_dims; d++)
        if ((double)least[d] > seen->high && (best == t->n_dims || least[d] < least[best]))
            best = d;
    return best < t->n_dims ? t->dims[best] : NULL;
}

const char *capture_inputs_values(const struct capture_inputs *in, size_t arg, const int64_t *least)
{
    const struct task_arg *x = &in->task->args[arg];
    const struct capture_seen *seen = &in->seen[arg];
    const char *dim = bound_of(in->task, seen, least);

    /* What a kernel updates is no index, and of few elements, or one value, nothing can be said. */
    if (seen->n < 16 || !is_integer(x->type) || x->role != ROLE_IN || x->values.declared || seen->low < 0 ||
        seen->low == seen->high)
        return NULL;
    return arena_printf(in->a, "{kind: %s, low: 0, high: %s}", seen->rising && seen->n > 8 ? "sorted" : "index",
                        dim ? dim : arena_printf(in->a, "%.0f", seen->high + 1));
}

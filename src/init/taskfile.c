/* task.yaml of what was read of a wrapper. What is not known stands there as `# TODO` with its question, and in
 * words that task_read takes, so that `astra check` runs and says the rest. */
#include "init/internal.h"

/* Sizes that are proposed: of a name that is known from such kernels, else by the dim's place. */
static const struct proposal {
    const char *part;
    int sizes[3];
} proposals[] = {
    {"hidden", {1024, 4096, 8192}},  {"head_size", {64, 128, 128}},   {"head_dim", {64, 128, 128}},
    {"heads", {8, 32, 32}},          {"num_tokens", {16, 256, 2048}}, {"batch", {1, 8, 32}},
    {"vocab", {1024, 32000, 32000}}, {"channels", {64, 256, 768}},    {"seq", {128, 512, 1024}},
};
static const int by_place[][3] = {{16, 256, 1024}, {256, 512, 1024}, {64, 64, 128}, {16, 32, 32}, {4, 8, 8}};

static int proposed(const struct init_task *t, size_t dim, int which)
{
    if (t->dims.n == 1)
        return (const int[]){4096, 1 << 20, 1 << 24}[which];
    for (size_t i = 0; i < ARRAY_LEN(proposals); i++) {
        if (strcasestr(t->dims.v[dim], proposals[i].part))
            return proposals[i].sizes[which];
    }
    return by_place[dim < ARRAY_LEN(by_place) ? dim : ARRAY_LEN(by_place) - 1][which];
}

static void add_list(struct str *out, const char *const *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        str_addf(out, "%s%s", i ? ", " : "", v[i]);
}

static void add_arg(struct str *out, const struct init_arg *a)
{
    str_addf(out, "  - {name: %s, type: %s", a->name, a->type);
    if (a->role) {
        str_addf(out, ", shape: [%s], role: %s", a->shape ? a->shape : "1", a->role);
        if (a->values)
            str_addf(out, ", values: %s", a->values);
        if (a->align)
            str_addf(out, ", align: %d", a->align);
    } else
        str_addf(out, ", value: %s", a->value);
    str_addc(out, '}');
    if (a->todo)
        str_addf(out, " # TODO: %s", a->todo);
    str_addc(out, '\n');
}

enum { MOST_ELEMENTS = 1 << 28 }; /* their number fits an int, with room for what is made of it */

char *init_taskfile(struct arena *a, const struct init_task *t, const char *name)
{
    struct str out = {0}, product = {0};
    double largest = 1; /* of the proposed workloads */

    str_addf(&out, "name: %s\nsource: kernel.cu\nentry: %s\nargs:\n", name, t->entry);
    for (size_t i = 0; i < t->args.n; i++)
        add_arg(&out, &t->args.v[i]);
    str_add(&out, "dims: [");
    add_list(&out, t->dims.v, t->dims.n);
    str_add(&out, "]\ndomain: # TODO: what else do callers promise of these sizes?\n");
    for (size_t i = 0; i < t->dims.n; i++)
        str_addf(&out, "  - %s >= 1\n  - %s <= %d\n", t->dims.v[i], t->dims.v[i],
                 t->dims.n == 1 ? MOST_ELEMENTS : 8 * proposed(t, i, 2));
    for (size_t i = 0, n = 0; i < t->dims.n; i++) { /* tables have their own size */
        if (str_starts(t->dims.v[i], "n_"))
            continue;
        str_addf(&product, "%s%s", n++ ? " * " : "", t->dims.v[i]);
        largest *= proposed(t, i, 2);
    }
    if (strchr(str_text(&product), '*') && largest <= MOST_ELEMENTS)
        str_addf(&out, "  - %s <= %d\n", product.s, MOST_ELEMENTS);
    str_free(&product);
    for (size_t i = 0; i < t->domain.n; i++)
        str_addf(&out, "  - %s\n", t->domain.v[i]);
    str_add(&out, "workloads: # TODO: your sizes\n");
    for (size_t i = 0; i < t->workloads.n; i++)
        str_addf(&out, "  - [%s]\n", t->workloads.v[i]);
    for (int w = 0; w < 3 && !t->workloads.n; w++) {
        str_add(&out, "  - [");
        for (size_t i = 0; i < t->dims.n; i++)
            str_addf(&out, "%s%d", i ? ", " : "", proposed(t, i, w));
        str_add(&out, "]\n");
    }
    for (size_t i = 0; i < t->questions.n; i++)
        str_addf(&out, "# TODO: %s\n", t->questions.v[i]);
    return str_take(&out, a);
}

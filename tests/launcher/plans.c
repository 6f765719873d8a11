/* The plans of kernel files, for comparison with what their compiled launchers do (differential.py): prints for
 * each file and each set of arguments what it launches, one line a launch with the arguments' bytes in hex, or
 * why not.
 *
 * A line of the standard input is FILE ENTRY ARGUMENTS..., with ARGUMENTS the launcher's integers, as in
 * `3,-1`; a pointer takes none. */
#include "kernel/kernel.h"

static const struct kernel_limits limits = {
    .device_name = "none",
    .sm_count = 132,
    .cc_major = 9,
    .max_threads_per_block = 1024,
    .max_threads_per_sm = 2048,
    .max_blocks_per_sm = 32,
    .warp_size = 32,
    .shared_per_block = 49152,
    .shared_per_block_optin = 232448,
    .shared_per_sm = 233472,
    .l2_bytes = 62914560,
    .registers_per_sm = 65536,
};

static void print_bytes(const void *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%02x", ((const uint8_t *)data)[i]);
}

static void print_value(const struct kernel_value *v)
{
    double f = v->f;
    float single = (float)f;

    if (v->struct_bytes) {
        uint8_t *bytes = calloc(1, v->struct_bytes);

        for (size_t i = 0; i < v->n_members; i++) {
            const struct kernel_value *m = &v->members[i].value;

            single = (float)m->f;
            if (m->type == KT_F32)
                memcpy(bytes + v->members[i].offset, &single, sizeof(single));
            else
                memcpy(bytes + v->members[i].offset, &m->i, kernel_type_size(m->type));
        }
        print_bytes(bytes, v->struct_bytes);
        free(bytes);
    } else if (v->pointer) {
        printf("p%d%+lld", v->p.buffer, (long long)v->p.offset_bytes);
    } else if (v->type == KT_F32) {
        print_bytes(&single, sizeof(single));
    } else if (v->type == KT_F64) {
        print_bytes(&f, sizeof(f));
    } else {
        print_bytes(&v->i, kernel_type_size(v->type));
    }
}

static void print_plan(const struct plan *p)
{
    for (size_t i = 0; i < p->n_steps; i++) {
        const struct plan_step *s = &p->steps[i];

        printf(" %s %u,%u,%u %u,%u,%u %lld", s->kernel, s->grid[0], s->grid[1], s->grid[2], s->block[0],
               s->block[1], s->block[2], (long long)s->shared_bytes);
        for (size_t a = 0; a < s->n_args; a++) {
            printf(" ");
            print_value(&s->args[a]);
        }
        printf(";");
    }
    printf("\n");
}

static void print_refusal(struct err *err)
{
    for (char *c = err->text; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    printf("refused %d:%d %s\n", err->line, err->col, err->text);
}

static void plan(const struct kernel *k, struct arena *a, char *text)
{
    struct kernel_value *args = arena_array(a, struct kernel_value, k->n_params + 1);
    struct err err = {0};
    struct plan p;
    int buffer = 0;

    for (size_t i = 0; i < k->n_params; i++) {
        args[i] = (struct kernel_value){.type = k->params[i].type, .pointer = k->params[i].pointer};
        if (args[i].pointer) {
            args[i].p.buffer = buffer++;
        } else {
            args[i].i = strtoll(text, &text, 10);
            text += *text == ',';
        }
    }
    if (kernel_plan(&p, a, k, args, NULL, &limits, &err)) {
        printf("plan");
        print_plan(&p);
    } else {
        print_refusal(&err);
    }
}

int main(void)
{
    char line[4096];

    while (fgets(line, sizeof(line), stdin)) {
        struct arena *a = arena_open();
        struct err err = {0};
        struct kernel *k;
        char *save, *path = strtok_r(line, " \n", &save), *word, *text;
        char *entry = strtok_r(NULL, " \n", &save);
        size_t len;

        if (path && entry && fs_read(a, path, &text, &len, &err) &&
            kernel_open(&k, a, path, text, len, entry, &err)) {
            while ((word = strtok_r(NULL, " \n", &save)))
                plan(k, a, word);
            kernel_close(k);
        } else {
            while ((word = strtok_r(NULL, " \n", &save)))
                print_refusal(&err);
        }
        arena_close(a);
    }
    return 0;
}

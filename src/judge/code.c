/* What a file comes to: the hash of its PTX without what only says where it came from, of its launcher, and of
 * what that launches. Two files with the same hash do the same, so the second need not be run. */
#include "internal.h"

#include <ctype.h>

/* How long a name is that begins there and only its file sees, with its length in front of it; 0: none does. */
static size_t hidden_name(const char *at, size_t n, const char **marker)
{
    char *name;
    size_t len = isdigit((unsigned char)*at) ? strtoul(at, &name, 10) : 0;

    *marker = len ? mangled_marker(name) : NULL;
    return *marker && (size_t)(name - at) + len <= n ? (size_t)(name - at) + len : 0;
}

static uint64_t hash_line(const char *line, size_t n, uint64_t hash)
{
    size_t from = 0, skip = 0;

    for (size_t i = 0; i < n; i += skip ? skip : 1) {
        const char *marker;
        skip = hidden_name(line + i, n - i, &marker);
        if (!skip)
            continue;
        hash = hash_bytes(marker, strlen(marker), hash_bytes(line + from, i - from, hash));
        from = i + skip;
    }
    return hash_bytes(line + from, n - from, hash);
}

/* Lines of PTX that say nothing of what is done: places, comments, debug sections, empty ones. */
static uint64_t hash_ptx(const char *ptx, size_t len)
{
    uint64_t hash = 0;
    bool debug = false;

    for (const char *at = ptx, *end = ptx + len; at < end;) {
        size_t n = strcspn(at, "\n"), blank = strspn(at, " \t");
        const char *line = at + blank;
        size_t used = n > blank ? n - blank : 0;
        debug = debug || (used >= 8 && !strncmp(line, ".section", 8));
        if (used && !debug && strncmp(line, "//", 2) != 0 && strncmp(line, ".loc", 4) != 0 &&
            strncmp(line, ".file", 5) != 0)
            hash = hash_line(line, used, hash);
        debug = debug && !(used && line[0] == '}');
        at += n + 1;
    }
    return hash;
}

/* The host's part: what is blank where the device's part is compiled. */
static uint64_t hash_launcher(const struct version *v, struct arena *a)
{
    const char *text = source_text(v->kernel->source), *device = v->kernel->device_text;
    char *host = arena_strdup(a, text);

    for (char *at = host; *at; at++)
        if (*at != '\n' && device[at - host] == *at)
            *at = ' ';
    return hash_text(kernel_normalise(a, host, strlen(host)));
}

static uint64_t hash_value(const struct kernel_value *x, uint64_t hash)
{
    int64_t parts[5] = {x->type, x->pointer, 0, 0, x->struct_bytes};

    for (size_t i = 0; i < x->n_members; i++)
        hash = hash_value(&x->members[i].value, hash + x->members[i].offset);
    if (x->struct_bytes) { /* its members say it */
    } else if (x->pointer) {
        parts[2] = x->p.buffer;
        parts[3] = x->p.offset_bytes;
    } else {
        memcpy(&parts[2], &x->i, sizeof(x->i));
    }
    return hash_bytes(parts, sizeof(parts), hash);
}

static uint64_t hash_step(const struct plan_step *s, uint64_t hash)
{
    int64_t numbers[] = {s->kind,        s->grid[0],      s->grid[1],    s->grid[2],    s->block[0],
                         s->block[1],    s->block[2],     s->cluster[0], s->cluster[1], s->cluster[2],
                         s->cooperative, s->shared_bytes, s->byte,       s->size_bytes, s->non_portable_cluster,
                         s->programmatic};

    hash = hash_bytes(numbers, sizeof(numbers), hash);
    if (s->kernel)
        hash = hash_bytes(s->kernel, strlen(s->kernel), hash);
    for (size_t i = 0; i < s->n_args; i++)
        hash = hash_value(&s->args[i], hash);
    if (s->kind == PLAN_LAUNCH)
        return hash;
    hash = hash_value(&s->to, hash);
    return s->kind != PLAN_MEMSET ? hash_value(&s->from, hash) : hash;
}

bool version_code(struct version *v, const char **code, struct fate *fate, struct err *err)
{
    struct arena *scratch = arena_open();
    const struct judge *j = v->judge;
    uint64_t plans = 0, launcher = hash_launcher(v, scratch);
    bool ok = true;

    for (size_t i = 0; ok && fate_open(fate) && i < j->task->n_workloads; i++) {
        struct plan plan;
        ok = version_plan(v, v->arena, j->task->workloads + i * j->task->n_dims, NULL, &plan, fate, err);
        for (size_t k = 0; ok && fate_open(fate) && k < plan.n_steps; k++) {
            plans = hash_step(&plan.steps[k], plans);
            v->dynamic_shared_bytes =
                (unsigned)MAX(v->dynamic_shared_bytes, MIN(plan.steps[k].shared_bytes, UINT32_MAX));
        }
    }
    arena_close(scratch);
    *code = arena_printf(v->arena, "%016llx%016llx%016llx",
                         (unsigned long long)hash_ptx(v->compiled.image.ptx, v->compiled.image.ptx_len),
                         (unsigned long long)launcher, (unsigned long long)plans);
    return ok;
}

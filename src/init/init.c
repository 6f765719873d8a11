/* The road from a framework's file to a task. */
#include "init/internal.h"

static const char *qualified(const struct init_source *s, const struct init_decl *d)
{
    return *d->scope ? arena_printf(s->arena, "%s%s", d->scope, d->name) : d->name;
}

static char *tparams_of(const struct init_source *s, const struct init_decl *d)
{
    size_t end;

    if (!d->is_template || !token_is(&s->tokens.v[d->first], "template"))
        return NULL;
    end = init_angle(s, d->first + 1, d->end);
    return init_text(s, d->first + 2, MAX(end - 1, d->first + 2));
}

static struct init_found found(struct init_source *s, const struct init_decl *d)
{
    struct init_found f = {.name = qualified(s, d), .tparams = tparams_of(s, d)};
    int col;

    f.file = init_place(s, s->tokens.v[d->name_at ? d->name_at : d->first].at, &f.line, &col)->path;
    return f;
}

/* Does `wanted`, qualified or not, mean the declaration? */
static bool means(const struct init_source *s, const struct init_decl *d, const char *wanted)
{
    const char *full = qualified(s, d);
    size_t n = strlen(wanted), len = strlen(full);

    return n <= len && strcmp(full + len - n, wanted) == 0 && (n == len || full[len - n - 1] == ':');
}

static bool in_file(const struct init_source *s, const struct init_decl *d)
{
    size_t at = s->tokens.v[d->first].at;

    return at >= s->files.v[0]->base && at < s->files.v[0]->base + s->files.v[0]->len;
}

/* The kernels of the file, or, where it has none of its own, of the headers that it includes. */
static void list_kernels(struct init_source *s, const char *wanted, struct init_result *r)
{
    VEC(struct init_found) list = {0};

    for (int own = 1; own >= 0 && !list.n; own--) {
        for (size_t i = 0; i < s->decls.n; i++) {
            const struct init_decl *d = &s->decls.v[i];

            if (d->is_global && d->body && *d->name && !d->specialised && in_file(s, d) == (own == 1) &&
                (!wanted || means(s, d, wanted)))
                vec_add(s->arena, &list, found(s, d));
        }
    }
    r->kernels = list.v;
    r->n_kernels = list.n;
}

bool init_run(struct init_result *r, struct arena *a, const struct init_options *o, struct err *err)
{
    struct init_source *s = arena_new(a, struct init_source);
    struct init_file *f;

    *r = (struct init_result){0};
    s->arena = a;
    if (setjmp(s->trap.jump)) {
        map_free(&s->expander.macros);
        map_free(&s->names);
        *err = s->trap.err;
        return false;
    }
    init_flags(s, o);
    f = init_open(s, o->path, o->path, SIZE_MAX);
    init_read(s, f, o);
    init_declare(s);
    list_kernels(s, o->kernel, r);
    if (!r->n_kernels)
        init_fail(s, SIZE_MAX,
                  "%s: no __global__ function with a body, also not in the %zu headers that were read%s",
                  o->path, s->files.n - 2, s->missing.n ? "; -I DIR names a folder of more" : "");
    map_free(&s->expander.macros);
    map_free(&s->names);
    return true;
}

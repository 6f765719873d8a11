/* What a kernel's own text says of the extents of a view that it gets. */
#include "init/wrapper.h"

bool wrapper_asks_extent(const struct wrapper_reader *r, const char *name, int extent)
{
    const char *number = arena_printf(r->arena, "%d", extent);

    for (size_t i = r->f.body; i + 5 < r->f.body_end; i++) {
        if (token_is(&r->v[i], name) && token_is(&r->v[i + 1], ".") &&
            token_in(&r->v[i + 2], "size|sizes|getSize|shape|extent") && token_is(&r->v[i + 4], number))
            return true;
    }
    return false;
}

/* The number that a loop of the kernel counts `name` up to; 0: it says something else, or none does. */
static int counted_to(const struct wrapper_reader *r, const char *name)
{
    int most = 0;

    for (size_t i = r->f.body; i + 2 < r->f.body_end; i++) {
        if (!token_is(&r->v[i], name) || !token_is(&r->v[i + 1], "<"))
            continue;
        if (r->v[i + 2].kind != TOK_NUMBER || !token_is(&r->v[i + 3], ";"))
            return 0;
        most = MAX(most, atoi(token_text(r->arena, &r->v[i + 2])));
    }
    return most;
}

int wrapper_named_extent(const struct wrapper_reader *r, const char *name, int axis)
{
    int most = 0;

    if (wrapper_asks_extent(r, name, axis))
        return 0;
    for (size_t i = r->f.body; i + 1 < r->f.body_end; i++) {
        size_t at = i + 1, end = i + 1;
        if (!token_is(&r->v[i], name) || wrapper_sign(&r->v[i - 1], ". -> ::"))
            continue;
        if (token_is(&r->v[at], "."))
            continue;
        for (int k = 0; k <= axis; k++) {
            at = end;
            if (!token_is(&r->v[at], "["))
                return 0;
            end = wrapper_skip(r->v, r->f.body_end, at);
        }
        const char *index = token_text(r->arena, &r->v[at + 1]);
        int n = 0;
        if (end == at + 3 && r->v[at + 1].kind == TOK_NUMBER)
            n = atoi(index) + 1;
        else if (end == at + 3 && r->v[at + 1].kind == TOK_WORD)
            n = counted_to(r, index);
        if (!n)
            return 0;
        most = MAX(most, n);
    }
    return most;
}

/* Does the kernel's body write what its parameter points to? */
static bool writes(const struct wrapper_reader *r, const char *name)
{
    bool any = false;

    for (size_t i = r->kernel.body; i + 1 < r->n && !any; i++) {
        if (!token_is(&r->v[i], name) || wrapper_sign(&r->v[i - 1], ". -> ::"))
            continue;
        size_t open = i - wrapper_sign(&r->v[i - 1], "&"), end = i + 1;
        const bool element = token_is(&r->v[end], "[");
        if (element)
            end = wrapper_skip(r->v, r->n, end);
        any = element && wrapper_sign(&r->v[end], "= += -= *= /= |= &= ^= ++ --");
        if (!token_is(&r->v[open - 1], "(")) /* no function's first argument */
            continue;
        open -= 2;
        while (open > r->kernel.body && wrapper_sign(&r->v[open], ">") && !wrapper_sign(&r->v[open], "<"))
            open -= 3;
        any = any || (r->v[open].kind == TOK_WORD && strcasestr(token_text(r->arena, &r->v[open]), "atomic"));
    }
    return any;
}

void wrapper_written(struct init_task *t, struct wrapper_reader *r)
{
    const char *launch = t->launcher, *next;

    while (launch && (next = strstr(launch, ">>>")))
        launch = next + 3;
    if (!launch || launch == t->launcher)
        return;
    launch += strspn(launch, " ");
    const char *close = strstr(launch, ");");
    if (*launch != '(' || !close)
        return;
    const char *list = arena_strndup(r->arena, launch + 1, (size_t)(close - launch - 1));
    for (size_t i = 0; i < r->kernel.n_list; i++) {
        const char *item = wrapper_listed(r->arena, list, i);
        for (size_t k = 0; item && k < t->args.n; k++) {
            struct init_arg *a = &t->args.v[k];
            if (a->role && str_has_word(item, a->name) && writes(r, r->kernel.list[i].name))
                a->written = true;
        }
    }
}

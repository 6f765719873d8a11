/* The road from a framework's file to a task. */
#include "init/wrapper.h"

#include "judge/judge.h"

const char *init_scope(const struct init_source *s, const char *scope)
{
    struct str out = {.arena = s->arena};

    for (; *scope; scope++) {
        if (str_starts(scope, "{}::"))
            scope += 3;
        else
            str_addc(&out, *scope);
    }
    return arena_strdup(s->arena, str_text(&out));
}

const char *init_qualified(const struct init_source *s, const struct init_decl *d)
{
    return arena_printf(s->arena, "%s%s", init_scope(s, d->scope), d->name);
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
    struct init_found f = {.name = init_qualified(s, d), .tparams = tparams_of(s, d)};
    int col;

    f.file = init_place(s, s->tokens.v[d->name_at ? d->name_at : d->first].at, &f.line, &col)->path;
    return f;
}

static int line_of(const struct init_source *s, size_t token)
{
    int line, col;

    return init_place(s, s->tokens.v[token].at, &line, &col) ? line : 0;
}

/* Does `wanted` mean the declaration: its name, qualified or not, or the number of one of its lines? */
static bool means(const struct init_source *s, const struct init_decl *d, const char *wanted)
{
    const char *full = init_qualified(s, d);
    size_t n = strlen(wanted), len = strlen(full);
    int line = atoi(wanted);

    if (line > 0)
        return line_of(s, d->first) <= line && line <= line_of(s, d->end - 1);

    return n <= len && strcmp(full + len - n, wanted) == 0 && (n == len || full[len - n - 1] == ':');
}

static bool in_file(const struct init_source *s, const struct init_decl *d)
{
    size_t at = s->tokens.v[d->first].at;

    return at >= s->files.v[0]->base && at < s->files.v[0]->base + s->files.v[0]->len;
}

/* Is its body empty, where a kernel of its name has one that is not? */
static bool stands_for_nothing(const struct init_source *s, const struct init_decl *d)
{
    bool other = false;

    if (!d->body || !token_is(&s->tokens.v[d->body + 1], "}"))
        return false;
    for (size_t i = 0; i < s->decls.n && !other; i++) {
        const struct init_decl *x = &s->decls.v[i];
        other = x->is_global && x->body && str_eq(x->name, d->name) && str_eq(x->scope, d->scope) &&
                !token_is(&s->tokens.v[x->body + 1], "}");
    }
    return other;
}

/* Is it the first of its name that has a body? Of a kernel that is written for some types alone, these are. */
static bool is_listed(const struct init_source *s, size_t number)
{
    const struct init_decl *d = &s->decls.v[number];

    for (size_t i = 0; i < s->decls.n && d->specialised; i++) {
        const struct init_decl *x = &s->decls.v[i];

        if (x->is_global && x->body && str_eq(x->name, d->name) && str_eq(x->scope, d->scope) &&
            (!x->specialised || i < number))
            return false;
    }
    return d->is_global && d->body && *d->name && !stands_for_nothing(s, d);
}

/* The kernels of the file, or, where it has none that fits, of the headers that it includes. */
static void list_kernels(struct init_source *s, const char *wanted, struct init_result *r, size_t *first)
{
    VEC(struct init_found) list = {0};

    for (int own = 1; own >= 0 && !list.n; own--) {
        for (size_t i = 0; i < s->decls.n; i++) {
            const struct init_decl *d = &s->decls.v[i];

            if (!is_listed(s, i) || in_file(s, d) != (own == 1) || (wanted && !means(s, d, wanted)))
                continue;
            if (!list.n)
                *first = i;
            vec_add(s->arena, &list, found(s, d));
        }
    }
    r->kernels = list.v;
    r->n_kernels = list.n;
}

/* Does the function's body say the name? Of a macro's call: what it makes. */
static bool says(struct init_source *s, const struct init_decl *d, const char *name, bool expanded)
{
    struct tokens v = {.v = s->tokens.v + d->body, .n = d->body ? d->end - d->body : 0};

    if (d->body && (expanded || d->kind == INIT_CALL))
        v = init_expand(s, d->first, d->end);
    for (size_t i = 1; i < v.n; i++) {
        if (token_is(&v.v[i], name))
            return true;
    }
    return false;
}

/* Or a macro whose text says it? */
static bool says_by_macro(struct init_source *s, const struct init_decl *d, const char *name)
{
    for (size_t i = 0; i < s->macros.n; i++) {
        const struct macro *m = s->macros.v[i].macro;
        bool there = false;

        for (size_t k = 0; m && k < m->n_body; k++)
            there = there || token_is(&m->body[k], name);
        if (there && !str_eq(s->macros.v[i].name, name) && says(s, d, s->macros.v[i].name, false))
            return true;
    }
    return false;
}

/* The host functions that launch the kernel, then those that call these, to three levels. */
static void find_hosts(struct init_source *s, struct init_wrapped *w, bool expanded)
{
    VEC(const struct init_decl *) hosts = {0};
    size_t from = 0;

    for (int level = 0; level < 3; level++) {
        const size_t until = hosts.n;

        for (size_t i = 0; i < s->decls.n; i++) {
            const struct init_decl *d = &s->decls.v[i];
            bool calls = false, there = d == w->kernel;

            if ((d->kind != INIT_FUNCTION && d->kind != INIT_CALL) || d->is_global ||
                (d->is_device && !d->is_host))
                continue;
            for (size_t k = 0; k < hosts.n; k++)
                there |= hosts.v[k] == d;
            if (there)
                continue;
            calls = level == 0 && says(s, d, w->kernel->name, expanded);
            for (size_t k = from; k < until; k++)
                calls |= says(s, d, hosts.v[k]->name, false) || says_by_macro(s, d, hosts.v[k]->name);
            if (calls)
                vec_add(s->arena, &hosts, d);
        }
        from = until;
    }
    w->hosts = hosts.v;
    w->n_hosts = hosts.n;
}

/* Has the file a kernel of this name itself? Then that one is what it launches: a copy, or another one. */
static bool has_its_own(struct init_source *s, const char *path, const char *kernel)
{
    char *text;

    if (!fs_read(s->arena, path, &text, NULL, NULL))
        return false;
    for (const char *p = text; (p = str_find_word(text, p, kernel)); p += strlen(kernel)) {
        const char *first = p, *next = p + strlen(kernel) + strspn(p + strlen(kernel), " \t\r\n");
        while (first > text && !strchr(";{}", first[-1]))
            first--;
        if (*next == '(' && memmem(first, (size_t)(p - first), "__global__", strlen("__global__")))
            return true;
    }
    return false;
}

/* Where no function of what was read launches it, other files of the repository may. */
static void look_further(struct init_source *s, size_t kernel, struct init_wrapped *w)
{
    const char *paths[8];
    size_t n;

    find_hosts(s, w, false);
    if (!w->n_hosts)
        find_hosts(s, w, true);
    n = w->n_hosts ? 0 : init_saying(s, w->kernel->name, "<<<", "cudaLaunchKernel", paths, ARRAY_LEN(paths));
    for (size_t i = 0; i < n && !w->n_hosts; i++) {
        const size_t from = s->tokens.n - 4;

        if (has_its_own(s, paths[i], w->kernel->name) || !init_read_more(s, paths[i]))
            continue;
        init_declare(s, from);
        w->kernel = &s->decls.v[kernel];
        find_hosts(s, w, false);
    }
}

/* The file's own launcher: extern "C", its last parameter the stream. */
static const struct init_decl *own_launcher(const struct init_source *s, const struct init_wrapped *w)
{
    for (size_t i = 0; i < w->n_hosts; i++) {
        const struct init_decl *d = w->hosts[i];
        size_t end = init_balanced(s, d->params, d->end);

        if (d->extern_c && end > d->params + 3 && token_is(&s->tokens.v[end - 3], "cudaStream_t"))
            return d;
    }
    return NULL;
}

/* "float, 4" of `k<float, 4>(`, without blanks. */
static const char *special_args(const struct init_source *s, const struct init_decl *d)
{
    return init_text(s, d->name_at + 2, MAX(d->params - 1, d->name_at + 2));
}

static bool same_words(const char *a, const char *b)
{
    while (*a || *b) {
        while (*a == ' ')
            a++;
        while (*b == ' ')
            b++;
        if (*a != *b)
            return false;
        a += *a != '\0';
        b += *b != '\0';
    }
    return true;
}

/* Of a kernel that is written for some types alone: the one of the instance that was asked for. */
static size_t specialisation(struct init_source *s, size_t number, const char *instance)
{
    const struct init_decl *d = &s->decls.v[number];

    for (size_t i = number; instance && d->specialised && i < s->decls.n; i++) {
        const struct init_decl *x = &s->decls.v[i];

        if (x->is_global && x->body && x->specialised && str_eq(x->name, d->name) &&
            str_eq(x->scope, d->scope) && same_words(special_args(s, x), instance))
            return i;
    }
    return number;
}

/* The functions of these types come first: `template <> void launch<float>(...)` launches that kernel. */
static void order_hosts(struct init_source *s, struct init_wrapped *w)
{
    const struct init_decl **hosts = arena_array(s->arena, const struct init_decl *, w->n_hosts + 1);
    size_t n = 0;

    if (!w->instance)
        w->instance = special_args(s, w->kernel);
    for (int same = 1; same >= 0; same--) {
        for (size_t i = 0; i < w->n_hosts; i++) {
            const struct init_decl *d = w->hosts[i];
            if ((d->specialised && same_words(special_args(s, d), w->instance)) == same)
                hosts[n++] = d;
        }
    }
    w->hosts = hosts;
}

/* Of a kernel that has overloads: the functions of its own types come first, 16 bits or others. */
static void order_overloads(struct init_source *s, struct init_wrapped *w)
{
    const struct init_decl **hosts = arena_array(s->arena, const struct init_decl *, w->n_hosts + 1);
    bool overloaded = false;
    size_t n = 0;

    for (size_t i = 0; i < s->decls.n; i++)
        overloaded = overloaded || init_is_overload(s, &s->decls.v[i], w->kernel);
    const bool half = strstr(init_text(s, w->kernel->params, w->kernel->body), "half") != NULL;
    for (int same = 1; same >= 0; same--) {
        for (size_t i = 0; i < w->n_hosts; i++) {
            const struct init_decl *d = w->hosts[i];
            const char *types = d->specialised ? special_args(s, d) : "";
            if ((!*types || (strstr(types, "alf") != NULL) == half) == same)
                hosts[n++] = d;
        }
    }
    if (overloaded)
        w->hosts = hosts;
}

static const char *folder_of(struct init_source *s, const struct init_options *o,
                             const struct init_decl *kernel)
{
    const char *folder = o->out ? o->out : kernel->name;

    if (!*folder)
        init_fail(s, SIZE_MAX, "--out is empty; name the folder that is to be written");
    if (str_starts(folder, "../") || strstr(folder, "/../") || str_ends(folder, "/..") || str_eq(folder, ".."))
        init_fail(s, SIZE_MAX, "--out %s: a name with `..` may lead anywhere; name the folder itself", folder);
    if (fs_exists(folder) && !str_eq(folder, s->made))
        init_fail(s, SIZE_MAX, "%s is there already; name another folder with --out, or remove it", folder);
    return folder;
}

/* Does the function's body end before the file does? */
static bool is_closed(const struct init_source *s, const struct init_decl *d)
{
    int depth = 0;

    for (size_t i = d->body; i < d->end; i++)
        depth += token_is(&s->tokens.v[i], "{") - token_is(&s->tokens.v[i], "}");
    return depth == 0;
}

/* Headers that were not found, as a sentence behind others; "" when all were. */
static const char *not_found(struct init_source *s)
{
    struct str out = {.arena = s->arena};

    for (size_t i = 0; i < s->missing.n && out.len < 200; i++) {
        const struct init_include *x = &s->missing.v[i];
        const char *name = arena_strndup(s->arena, x->name + 1, strlen(x->name) - 2);
        int line, col;
        const struct init_file *by = init_place(s, x->at, &line, &col);

        if (*x->name == '"' && !init_is_foreign(name))
            str_addf(&out, "%s%s (%s:%d)", out.len ? ", " : "", x->name, by->path, line);
    }
    return out.len ? arena_printf(s->arena, "not found: %s; -I DIR names a folder of headers", str_text(&out))
                   : "";
}

/* What was defined that the files do not define. */
static void tell_supplied(struct init_source *s, struct init_task *t)
{
    for (size_t i = 0; i < s->supplied.n; i++) {
        const struct init_supplied *x = &s->supplied.v[i];
        if (x->from)
            vec_add(s->arena, &t->notes,
                    arena_printf(s->arena, "%s is %s here, as in %s; -D says another value", x->name, x->value,
                                 x->from));
        else if (!*x->value)
            vec_add(s->arena, &t->questions,
                    arena_printf(s->arena,
                                 "nothing that was read defines %s, which does nothing here; what does it?",
                                 x->name));
        else
            vec_add(s->arena, &t->questions,
                    arena_printf(s->arena,
                                 "nothing that was read defines %s, which is %s here; -D%s=... says it",
                                 x->name, x->value, x->name));
    }
    for (size_t i = 0; i < s->standins.n; i++)
        vec_add(s->arena, &t->questions,
                arena_printf(
                    s->arena,
                    "nothing that was read declares %s, which is written from what is asked of it; what is it?",
                    s->standins.v[i].name));
    for (size_t i = 0; i < s->ahead.n; i++)
        vec_add(
            s->arena, &t->notes,
            arena_printf(s->arena, "%s was read as well, for what it declares", fs_basename(s->ahead.v[i])));
}

static void make_task(struct init_source *s, const struct init_options *o, size_t first, const char *instance,
                      struct init_result *r)
{
    const size_t number = specialisation(s, first, instance);
    struct init_wrapped w = {.source = s, .kernel = &s->decls.v[number], .instance = instance};
    struct init_task *t = arena_new(s->arena, struct init_task);
    const char *folder = folder_of(s, o, w.kernel);
    struct err err;
    const struct init_decl *own, *mine;
    bool ran;

    if (!is_closed(s, w.kernel))
        init_fail(s, s->tokens.v[w.kernel->body].at, "the file ends within the body of %s: a `}` is missing",
                  w.kernel->name);
    if (instance && !w.kernel->is_template)
        init_fail(s, s->tokens.v[w.kernel->name_at].at, "%s is no template; name it without <%s>",
                  w.kernel->name, instance);
    look_further(s, number, &w);
    if (w.kernel->specialised)
        order_hosts(s, &w);
    else
        order_overloads(s, &w);
    own = own_launcher(s, &w);
    if (own) {
        mine = own;
        w.hosts = &mine;
        w.n_hosts = 1;
    }
    if (!fs_mkdirs(folder, &s->trap.err))
        longjmp(s->trap.jump, 1);
    s->made = folder;
    ran = init_write_task(s, &w, own, t, folder, &err);
    s->anew = !ran && init_supply(s, err.text, false);
    if (s->anew)
        return;
    if (!ran && own &&
        (t->alone || strstr(err.text, "of the launcher has type") || strstr(err.text, "is void*, but"))) {
        /* pointers that no task has */
        own = NULL;
        *t = (struct init_task){0};
        ran = init_write_task(s, &w, own, t, folder, &err);
    }
    ran = init_other_ways(s, &w, own, t, folder, ran, &err);
    if (!t->sound && !own && w.n_hosts)
        ran = init_try_alone(s, &w, t, folder, ran, &err);
    s->anew = !ran && (init_supply(s, err.text, true) || init_stand_in_for(s, err.text));
    if (s->anew)
        return;
    tell_supplied(s, t);
    bool guessed = false;
    for (size_t i = 0; i < s->supplied.n; i++)
        guessed = guessed || !s->supplied.v[i].from;
    if ((!ran || !t->runs || guessed) && *not_found(s))
        vec_add(s->arena, &t->notes, not_found(s));
    if (!ran) {
        init_close_strides(t, s->arena);
        vec_add(s->arena, &t->notes,
                arena_printf(s->arena, "shapes could not be found by running it: %s", err.text));
    }
    size_t guesses = 0;
    for (size_t i = 0; i < t->args.n; i++)
        guesses += t->args.v[i].guess;
    if (guesses)
        vec_add(s->arena, &t->notes,
                arena_printf(s->arena,
                             "%zu guess%s in task.yaml (`a guess:`): what was tried holds with %s, and "
                             "only you know whether callers keep to %s",
                             guesses, guesses == 1 ? " stands" : "es stand", guesses == 1 ? "it" : "them",
                             guesses == 1 ? "it" : "them"));
    if (!t->sound && t->flaw)
        vec_add(s->arena, &t->notes, t->flaw);
    if (!t->sound && init_is_late())
        vec_add(s->arena, &t->notes,
                arena_strdup(s->arena,
                             "shapes were looked for no longer; what is a TODO in task.yaml is to be said"));
    if (s->others)
        vec_add(s->arena, &t->notes, s->others);
    init_write_text(s, folder, "task.yaml", init_taskfile(s->arena, t, fs_basename(folder), 0));
    r->folder = folder;
    r->questions = t->questions.v;
    r->n_questions = t->questions.n;
    r->notes = t->notes.v;
    r->n_notes = t->notes.n;
}

static void fail_left_out(struct init_source *s, const char *name)
{
    size_t at;
    const char *by = init_leaves_out(s, name, true, &at);

    if (by)
        init_fail(s, at, "%s is left out by `%s`; -D and -U say what is defined", name, by);
}

/* A kernel that is only declared: the file that has its body is named. */
static void fail_declared(struct init_source *s, const char *name)
{
    const char *paths[1];

    for (size_t i = 0; i < s->decls.n; i++) {
        const struct init_decl *d = &s->decls.v[i];

        if (!d->is_global || d->body || !means(s, d, name))
            continue;
        if (init_saying(s, d->name, "__global__ ", "__global__\n", paths, 1))
            init_fail(s, s->tokens.v[d->name_at].at, "%s is only declared here; its body may be in %s", name,
                      str_starts(paths[0], s->root) ? paths[0] + strlen(s->root) + 1 : paths[0]);
        init_fail(s, s->tokens.v[d->name_at].at, "%s is only declared here; name the file that has its body",
                  name);
    }
}

static _Noreturn void no_kernel(struct init_source *s, const struct init_options *o, const char *name)
{
    struct init_result all;
    size_t first;
    const char **names;
    const char *near, *missing = not_found(s);

    fail_left_out(s, name);
    if (*name)
        fail_declared(s, name);
    list_kernels(s, NULL, &all, &first);
    if (!all.n_kernels)
        init_fail(s, SIZE_MAX,
                  "%s: no __global__ function with a body, also not in the %zu headers that were read%s%s",
                  o->path, s->files.n - 2, *missing ? "; " : "", missing);
    names = arena_array(s->arena, const char *, all.n_kernels + 1);
    for (size_t i = 0; i < all.n_kernels; i++)
        names[i] = all.kernels[i].name;
    near = str_nearest(name, names);
    init_fail(s, SIZE_MAX, "%s has no kernel %s%s%s%s; `astra init %s` lists them", o->path, name,
              near ? "; did you mean " : "", near ? near : "", near ? "?" : "", o->path);
}

/* Are all kernels that were found overloads of one name? Then the first is meant, which is said. */
static bool same_names(struct init_source *s, const struct init_result *r)
{
    struct str lines = {.arena = s->arena};

    for (size_t i = 0; i < r->n_kernels; i++) {
        if (!str_eq(r->kernels[i].name, r->kernels[0].name) || !str_eq(r->kernels[i].file, r->kernels[0].file))
            return false;
        if (i)
            str_addf(&lines, "%s%d", i > 1 ? ", " : "", r->kernels[i].line);
    }
    s->others = arena_printf(
        s->arena,
        "%zu kernels of %s are called so, and this is the first; the others are named by their lines: %s",
        r->n_kernels, fs_basename(r->kernels[0].file), str_text(&lines));
    return true;
}

/* Does a line of the file include this header, and not another one of its name? */
static bool includes(struct init_source *s, const struct init_file *by, const struct init_file *header)
{
    const char *name = fs_basename(header->path);
    const size_t len = strlen(name);

    for (const char *p = by->text; (p = strstr(p, name)); p += len) {
        const char *open = p, *end = p + len;

        while (open > by->text && !strchr("\"<\n", open[-1]))
            open--;
        if ((*end == '"' || *end == '>') && (p == open || p[-1] == '/') && open > by->text &&
            open[-1] != '\n' &&
            init_find(s, by, arena_strndup(s->arena, open, (size_t)(end - open)), *end == '"', SIZE_MAX) ==
                header)
            return true;
    }
    return false;
}

/* The file to be read for this one: a header that includes nothing works behind what stands ahead of it in a
 * file that includes it. */
static struct init_file *reads_as(struct init_source *s, struct init_file *f)
{
    const char *paths[32];
    size_t n;

    if (str_ends(f->path, ".cu"))
        return f;
    n = init_saying(s, fs_basename(f->path), "#include", "# include", paths, ARRAY_LEN(paths));
    for (size_t i = 0; i < n; i++) {
        const size_t n_files = s->files.n, base = s->next_base;
        struct init_file *by = str_ends(paths[i], ".cu") ? init_open(s, paths[i], paths[i], SIZE_MAX) : NULL;
        if (by && includes(s, by, f))
            return by;
        s->files.n = n_files; /* as if nobody had looked */
        s->next_base = base;
    }
    return f;
}

static void run(struct init_source *s, const struct init_options *o, struct init_result *r)
{
    const char *open = o->kernel ? strchr(o->kernel, '<') : NULL, *name = o->kernel, *instance = NULL;
    size_t first = 0;
    struct init_file *f;

    if (open) {
        name = arena_strndup(s->arena, o->kernel, (size_t)(open - o->kernel));
        instance = arena_strndup(s->arena, open + 1, strlen(open + 1) - str_ends(open, ">"));
    }
    init_flags(s, o);
    f = init_open(s, o->path, o->path, SIZE_MAX);
    init_read(s, reads_as(s, f));
    init_declare(s, 0);
    list_kernels(s, name, r, &first);
    s->anew = !r->n_kernels && name && init_define_switch(s, name, true);
    if (s->anew)
        return;
    if (!r->n_kernels)
        no_kernel(s, o, name ? name : "");
    if (name && (r->n_kernels == 1 || same_names(s, r)))
        make_task(s, o, first, instance, r);
}

bool init_run(struct init_result *r, struct arena *a, const struct init_options *o, struct err *err)
{
    struct init_source *s = arena_new(a, struct init_source);
    volatile bool ok = false;

    s->compiles = judge_compiles_open(a);
    init_allow(o->seconds);
    do {
        *s = (struct init_source){.arena = a,
                                  .supplied = s->supplied,
                                  .standins = s->standins,
                                  .ahead = s->ahead,
                                  .made = s->made,
                                  .compiles = s->compiles};
        *r = (struct init_result){0};
        ok = false;
        if (setjmp(s->trap.jump) == 0) {
            run(s, o, r);
            ok = true;
        } else {
            *err = s->trap.err;
            s->anew = false;
        }
        map_free(&s->expander.macros);
        map_free(&s->names);
        map_free(&s->macro_names);
    } while (s->anew);
    judge_compiles_close(s->compiles);
    return ok;
}

/* The task written, and tried in other ways where it does not run: without declarations that do not compile,
 * for other types, from the kernel alone, with other numbers and blocks. */
#include "init/wrapper.h"

#include "judge/judge.h"

#include <ctype.h>

enum { ALONE_FUEL = 50000000, BLOCK_FUEL = 8000000 }; /* of struct init_task */
#define UNDEFINED "which the module does not define"  /* a function that no file has for these types */
enum { MOST_BANNED = 12 };                            /* times that declarations do not compile */

void init_write_text(struct init_source *s, const char *folder, const char *name, const char *text)
{
    if (!fs_write_text(fs_join(s->arena, folder, name), text, &s->trap.err))
        longjmp(s->trap.jump, 1);
}

/* `[=] __device__ (...)`: what needs nvcc's --extended-lambda. */
static bool has_device_lambda(const char *text)
{
    while ((text = strchr(text, ']'))) {
        text += 1 + strspn(text + 1, " \n");
        if (str_starts(text, "__device__") || str_starts(text, "__host__"))
            return true;
    }
    return false;
}

/* Does it say what C++20 brought? `requires`, `concept`, `{.member = value}` */
static bool is_modern(const char *text)
{
    static const char *const words[] = {"requires", "concept"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        for (const char *p = text; (p = str_find_word(text, p, words[i])); p++) {
            const char *before = p;
            while (before > text && strchr(" \t\n", before[-1]))
                before--;
            if (before > text && strchr(">)", before[-1])) /* no comment's word */
                return true;
        }
    }
    for (const char *p = text; (p = strchr(p, '.')); p++) {
        const char *before = p, *behind = p + 1 + str_word(p + 1);
        while (before > text && strchr(" \t\n", before[-1]))
            before--;
        behind += strspn(behind, " ");
        if (before > text && strchr("{,", before[-1]) && isalpha((unsigned char)p[1]) && *behind == '=' &&
            behind[1] != '=')
            return true;
    }
    return false;
}

/* Is there a function that is constexpr, of which nvcc takes that it is the host's alone? */
static bool has_constexpr(const struct init_source *s)
{
    bool has = false;

    for (size_t i = 0; i < s->decls.n && !has; i++) {
        const struct init_decl *d = &s->decls.v[i];
        has = d->wanted && d->kind == INIT_FUNCTION && d->is_constexpr && !d->is_device;
        for (size_t k = d->first; k < d->end && d->wanted && d->kind == INIT_TYPE && !has; k++) {
            size_t end = k;
            while (end < d->end && !wrapper_sign(&s->tokens.v[end], "( ; = {"))
                end++;
            has = token_is(&s->tokens.v[k], "constexpr") && end < d->end && token_is(&s->tokens.v[end], "(");
        }
    }
    return has;
}

/* kernel.cu and origin.json of what the kernel and its launcher use. */
static void write_kernel(struct init_source *s, const struct init_decl *kernel, const struct init_decl *own,
                         struct init_task *t, const char *folder)
{
    init_close(s, kernel, own ? own->name : t->launcher);
    const char *text = init_kernel_text(s, t, s->files.v[0]->path);
    t->atomics = strstr(text, "atomic") != NULL;
    t->lambdas = has_device_lambda(text);
    t->modern = s->modern || is_modern(text);
    t->limits = strstr(text, "numeric_limits<") || has_constexpr(s);
    init_write_text(s, folder, "kernel.cu", text);
    init_write_text(s, folder, "origin.json", init_origin_text(s, t, init_qualified(s, kernel)));
}

/* The launcher without `using namespace a`, where it opens a::cuda as well: the toolkit's headers would no
 * longer know which cuda they mean. */
static const char *without_outer(struct init_source *s, const char *launcher)
{
    for (const char *p = launcher; (p = strstr(p, "using namespace ")); p++) {
        const char *end = strstr(p, "::cuda;\n");
        if (!end || end > p + strcspn(p, "\n"))
            continue;
        const char *outer = arena_printf(s->arena, "%.*s;\n", (int)(end - p), p), *at = strstr(launcher, outer);
        if (at)
            return arena_printf(s->arena, "%.*s%s", (int)(at - launcher), launcher, at + strlen(outer));
    }
    return NULL;
}

/* The launcher with 0 in a variable that no path sets which is taken: a host hands it on, and no kernel asks
 * for it then. NULL: it is something else that does not run. */
static const char *with_value(struct init_source *s, const char *launcher, const char *why)
{
    const char *end = strstr(why, " is used before it has a value"), *first = end;

    while (first && first > why && str_in_word(first[-1]))
        first--;
    if (!end || first == end)
        return NULL;
    const char *name = arena_strndup(s->arena, first, (size_t)(end - first));
    for (const char *p = launcher; (p = str_find_word(launcher, p, name)); p += strlen(name)) {
        const char *next = p + strlen(name), *before = p;
        while (before > launcher && strchr(" \n", before[-1]))
            before--;
        if (before > launcher && strchr(",;", *next) && (str_in_word(before[-1]) || before[-1] == ','))
            return arena_printf(s->arena, "%.*s = 0%s", (int)(next - launcher), launcher, next);
        if (before > launcher && strchr("(,=", before[-1])) /* it is used: a struct's, or declared otherwise */
            return NULL;
    }
    return NULL;
}

static bool says_word(const struct init_source *s, const struct init_decl *d, const char *word)
{
    for (size_t i = d->first; i < d->end; i++) {
        if (token_is(&s->tokens.v[i], word) && !init_is_left(s, &s->tokens.v[i]))
            return true;
    }
    return false;
}

/* A function that says a type that is left out does not compile either, where the type is only announced
 * otherwise. */
static void ban_users(struct init_source *s, const struct init_decl *of)
{
    const struct init_names *named = init_named(s, of->name);
    bool all = *of->name && of->kind == INIT_TYPE;

    for (size_t i = 0; all && named && i < named->decls.n; i++) {
        const struct init_decl *d = &s->decls.v[named->decls.v[i]];
        all = !d->wanted || d->banned || !says_word(s, d, "{");
    }
    for (size_t i = 0; all && i < s->decls.n; i++) {
        struct init_decl *d = &s->decls.v[i];
        if (!d->wanted || d->banned || d->is_global || d->kind == INIT_TYPE || !says_word(s, d, of->name))
            continue;
        d->banned = true;
        ban_users(s, d);
    }
}

/* The declarations in whose lines the compiler finds errors are left out, where no kernel is among the first;
 * of a type the function alone that stands there. A kernel behind them may fail for what they are. What it
 * reports behind the kernel's name, which it missed, counts alone: that name stands in no line of the file. */
static bool ban(struct init_source *s, const char *why)
{
    enum { FIRST = 1 };
    const int *lines;
    const size_t n = judge_compiles_errors(s->compiles, &lines);
    bool any = false;

    if (strstr(why, "was referenced but not defined")) /* for this type: others may be */
        return false;
    for (size_t i = 0; i < n; i++) {
        struct init_decl *d = init_decl_at(s, lines[i]);
        if (!d || d->is_global) {
            if (i < FIRST)
                return false;
            continue;
        }
        if (init_leave_member(s, lines[i])) {
            any = true;
        } else if (!d->banned) {
            any = d->banned = true;
            ban_users(s, d);
        }
    }
    return any;
}

/* The files of the task as the wrapper makes it; false, with err, where it could not be run. A declaration that
 * does not compile, and without which all else does, was not needed. */
bool init_write_task(struct init_source *s, const struct init_wrapped *w, const struct init_decl *own,
                     struct init_task *t, const char *folder, struct err *err)
{
    const struct init_decl *kernel = w->kernel;
    struct err first = {0};
    bool ran;

    t->entry = own ? own->name : arena_printf(s->arena, "launch_%s", kernel->name);
    while (!own && init_named(s, t->entry))
        t->entry = arena_printf(s->arena, "%s_", t->entry);
    init_drop_concepts(s, kernel);
    init_wrapper(t, w);
    wrapper_divisors(t, w);
    if (own)
        t->launcher = NULL;
    init_fewer_dims(t, s->arena);
    struct init_task before = init_copy_task(s->arena, t);
    for (int banned = 0;; banned++) {
        write_kernel(s, kernel, own, t, folder);
        t->fuel = s->fuel;
        t->unclean = &s->unclean;
        t->compiles = s->compiles;
        ran = init_settle(t, s->arena, folder, fs_basename(folder), err);
        s->fuel = t->fuel;
        if (!ran && !banned)
            first = *err;
        if (!ran && !s->modern && strstr(err->text, "use the \"typename\" keyword")) { /* C++20 needs none */
            s->modern = true;
            *t = init_copy_task(s->arena, &before);
            continue;
        }
        const char *narrower = !ran && before.launcher && strstr(err->text, "\"cuda\" is ambiguous")
                                   ? without_outer(s, before.launcher)
                                   : NULL;
        if (!narrower && !ran && before.launcher && banned < MOST_BANNED)
            narrower = with_value(s, before.launcher, err->text);
        if (narrower) {
            before.launcher = narrower;
            *t = init_copy_task(s->arena, &before);
            continue;
        }
        if (ran || !strstr(err->text, "compile-failed") || banned == MOST_BANNED || init_is_late() ||
            !ban(s, err->text))
            break;
        *t = init_copy_task(s->arena, &before);
    }
    for (size_t i = 0; i < s->decls.n && !ran; i++)
        s->decls.v[i].banned = false;
    if (ran)
        return true;
    init_forget_members(s);
    *err = first;
    if (s->plainer || (!strstr(first.text, "of which a constructor, a copy or its end is not understood") &&
                       !strstr(first.text, "; a launcher's variables are numbers")))
        return false;
    s->plainer = true;
    *t = (struct init_task){0};
    ran = init_write_task(s, w, own, t, folder, err);
    s->plainer = false;
    return ran;
}

/* c10::Half has operators with float and int that __half lacks: what does not compile for 16 bits may for 32.
 * And functions that are written for some types alone may lack float. NULL: no other types. */
static const char *other_types(struct init_source *s, const struct init_task *t, const struct init_wrapped *w,
                               const char *why)
{
    static const char *const of_integers[] = {"must have integral", "\"atomicCAS\"", "\"atomicOr\"",
                                              "\"atomicAnd\"", "\"atomicXor\""};
    const struct token *v = s->tokens.v;
    struct str list = {0};
    bool integers = false, any = false;

    for (size_t i = 0; i < ARRAY_LEN(of_integers); i++)
        integers = integers || strstr(why, of_integers[i]);
    if (w->instance || !w->kernel->is_template || !t->launcher ||
        (!strstr(why, "compile-failed") && !strstr(why, UNDEFINED)))
        return NULL;
    const size_t open = w->kernel->first + 1, end = init_angle(s, open, w->kernel->params);
    const bool half = strstr(t->launcher, "__half") != NULL;
    for (size_t i = open + 1, next; i + 1 < end; i = next + 1) {
        next = wrapper_item(v, i, end - 1);
        str_add(&list, i > open + 1 ? ", " : "");
        if (!token_in(&v[i], "typename|class") || v[i + 1].kind != TOK_WORD) /* a number: as it was */
            continue;
        const char *word = token_text(s->arena, &v[i + 1]);
        const char *was = strstr(t->launcher, arena_printf(s->arena, "using %s = ", word));
        was = was ? strstr(was, " = ") + 3 : NULL;
        if (was && strcspn(was, "<") < strcspn(was, ";")) /* a class of the files */
            continue;
        const char *type = half || strcasestr(word, "acc") || strcasestr(word, "comp") ? "float" : "__half";
        if (!str_eq(wrapper_default_type(word), "float"))
            type = wrapper_default_type(word);
        else if (integers)
            type = "int32_t";
        str_add(&list, type);
        any = true;
    }
    const char *types = list.len ? arena_strdup(s->arena, str_text(&list)) : NULL;
    str_free(&list);
    return any ? types : NULL;
}

static const char *const written[] = {"kernel.cu", "origin.json"};

struct saved { /* a task and its files, while another one is tried */
    struct init_task task;
    struct err err;
    char *texts[ARRAY_LEN(written)];
};

static bool save(struct init_source *s, const char *folder, const struct init_task *t, struct saved *to,
                 struct err *err)
{
    to->task = *t;
    to->err = *err;
    for (size_t i = 0; i < ARRAY_LEN(written); i++) {
        if (!fs_read(s->arena, fs_join(s->arena, folder, written[i]), &to->texts[i], NULL, err))
            return false;
    }
    return true;
}

static void restore(struct init_source *s, const char *folder, const struct saved *from, struct init_task *t,
                    struct err *err)
{
    *t = from->task;
    *err = from->err;
    for (size_t i = 0; i < ARRAY_LEN(written); i++)
        init_write_text(s, folder, written[i], from->texts[i]);
}

/* A launcher from the kernel alone whose template's numbers were guessed, and which does not compile: others.
 */
static bool try_numbers(struct init_source *s, struct init_wrapped *w, struct init_task *t, const char *folder,
                        struct err *err)
{
    struct saved saved;
    bool ran = false;

    if (!save(s, folder, t, &saved, err))
        return false;
    for (w->number = 1; w->number < INIT_NUMBERS && !ran && !init_is_late(); w->number++) {
        *t = (struct init_task){0};
        ran = init_write_task(s, w, NULL, t, folder, err);
    }
    if (ran)
        return true;
    w->number = 0;
    restore(s, folder, &saved, t, err);
    return false;
}

/* Did it not run for what the number of threads in a block decides, or race in what threads of a block share?
 */
static bool asks_block(const struct init_task *t)
{
    static const char *const words[] = {"shared memory", "threads in a block", "barrier"};
    const bool many =
        t->flaw && (strstr(t->flaw, "must be from 1 to") || strstr(t->flaw, "has at most") ||
                    strstr(t->flaw, "launch bounds allow") || strstr(t->flaw, "of shared memory, which has"));
    bool asks = false;

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        asks = asks || (t->flaw && strstr(t->flaw, words[i]));
    return ((asks && t->any_block) || (many && !t->runs)) && t->alone && !t->sound;
}

/* A launcher from the kernel alone that does not run: other blocks, which nothing speaks against. */
static bool try_blocks(struct init_source *s, struct init_wrapped *w, struct init_task *t, const char *folder,
                       struct err *err)
{
    struct saved saved;
    const bool unclean = s->unclean;
    bool ran = true, fits = false;

    if (!save(s, folder, t, &saved, err))
        return true;
    for (w->block = 1; w->block < INIT_BLOCKS && ran && !fits && !init_is_late(); w->block++) {
        if (saved.task.runs && w->block != INIT_LARGEST_BLOCK) /* a smaller one could hide a race */
            continue;
        *t = (struct init_task){0};
        init_refuel(s->fuel, BLOCK_FUEL);
        s->unclean = false;
        ran = init_write_task(s, w, NULL, t, folder, err);
        fits = ran && (saved.task.runs ? t->sound : t->runs);
    }
    w->block = 0;
    if (fits)
        return true;
    s->unclean = unclean;
    restore(s, folder, &saved, t, err);
    return true;
}

/* A launcher from the kernel alone whose views have extents of their own, which do not fit together: they share
 * those that the kernel does not ask for. */
static bool try_shared(struct init_source *s, struct init_wrapped *w, struct init_task *t, const char *folder,
                       bool ran, struct err *err)
{
    struct saved saved;

    if (!save(s, folder, t, &saved, err))
        return ran;
    w->shared = true;
    *t = (struct init_task){0};
    init_refuel(s->fuel, ALONE_FUEL);
    const bool ran_so = init_write_task(s, w, NULL, t, folder, err);
    w->shared = false;
    if (t->sound)
        return ran_so;
    restore(s, folder, &saved, t, err);
    return ran;
}

bool init_other_ways(struct init_source *s, struct init_wrapped *w, const struct init_decl *own,
                     struct init_task *t, const char *folder, bool ran, struct err *err)
{
    const bool lacks = ran && !t->runs && t->flaw && strstr(t->flaw, UNDEFINED);
    const char *why = lacks ? t->flaw : err->text, *other = NULL;

    if ((!ran || lacks) && !init_is_late())
        other = other_types(s, t, w, why);
    if (other) {
        w->instance = other;
        *t = (struct init_task){0};
        ran = init_write_task(s, w, own, t, folder, err);
    }
    if (!ran && t->alone && t->guessed && strstr(err->text, "compile-failed"))
        ran = try_numbers(s, w, t, folder, err);
    if (ran && asks_block(t))
        ran = try_blocks(s, w, t, folder, err);
    if (ran && t->alone && !t->sound && t->views && !init_is_late())
        ran = try_shared(s, w, t, folder, ran, err);
    return ran;
}

/* Another launcher, as `w` says it now, which is taken where it is better than the one that was read of the
 * host. Is it, or was it from the kernel alone? */
static bool try_instead(struct init_source *s, struct init_wrapped *w, struct init_task *t, const char *folder,
                        bool *ran, struct err *err)
{
    const char *why = "its sizes do not fit together", *instance = w->instance;
    struct saved saved;

    if (!t->runs)
        why = *ran ? "it does not run at small sizes" : arena_strdup(s->arena, err->text);
    if (!save(s, folder, t, &saved, err))
        return false;
    *t = (struct init_task){0};
    if (s->fuel)
        init_refuel(s->fuel, ALONE_FUEL);
    const bool ran_so =
        init_other_ways(s, w, NULL, t, folder, init_write_task(s, w, NULL, t, folder, err), err);
    if (t->sound || (t->runs && !saved.task.runs) || strstr(why, "already been defined")) {
        vec_add(s->arena, &t->notes, arena_printf(s->arena, "with the function that launches it: %s", why));
        *ran = ran_so;
        return true;
    }
    const bool alone = t->alone;
    w->instance = instance;
    restore(s, folder, &saved, t, err);
    return alone;
}

bool init_try_alone(struct init_source *s, struct init_wrapped *w, struct init_task *t, const char *folder,
                    bool ran, struct err *err)
{
    const size_t n_hosts = w->n_hosts;

    if (!t->launcher || t->alone || (ran && init_is_late()))
        return ran;
    w->sliced = !ran;
    const bool done = !ran && try_instead(s, w, t, folder, &ran, err);
    w->sliced = false;
    if (done)
        return ran;
    w->n_hosts = 0;
    try_instead(s, w, t, folder, &ran, err);
    w->n_hosts = n_hosts;
    return ran;
}

/* Values of template parameters: of the instance that was named, of callers, of explicit instantiations, of
 * what a parameter is handed to. */
#include "init/wrapper.h"

#include <ctype.h>

/* Is the word a number, a type, or something that the file declares, and no parameter of the template that says
 * it? */
static bool is_value(struct wrapper_reader *r, const struct init_decl *host, const char *word)
{
    const struct init_source *s = r->source;

    for (size_t i = host->first; host->is_template && i < host->params; i++) {
        if (token_is(&s->tokens.v[i], word))
            return false;
    }
    return isdigit((unsigned char)*word) || str_in(word, "true|false") || wrapper_type_name(r, word, NULL) ||
           init_named(s, word) || map_has(&s->macro_names, word);
}

/* `constexpr int kThreads = 128;` in the function's tokens: 128; NULL: nothing so plain. Of several types, as
 * the cases of a switch name them, the first that is not double. */
static const char *fixed_in(struct wrapper_reader *r, const struct tokens *list, const char *word)
{
    const char *found = NULL;

    for (size_t i = 2; i + 3 < list->n; i++) {
        if (!token_is(&list->v[i], word) || !token_is(&list->v[i + 1], "=") || !token_is(&list->v[i + 3], ";"))
            continue;
        for (size_t k = i; k-- > 0 && k + 5 > i && !wrapper_sign(&list->v[k], "; { }");) {
            if (!token_in(&list->v[k], "constexpr|using") &&
                !(token_is(&list->v[k], "const") &&
                  token_in(&list->v[k + 1], "int|unsigned|bool|size_t|uint|long")))
                continue;
            if (!token_is(&list->v[i + 2], "double"))
                return token_text(r->arena, &list->v[i + 2]);
            found = "double";
        }
    }
    return found;
}

/* The number of the function's own template parameter of this name; -1: none. */
static int own_tparam(struct wrapper_reader *r, const struct tokens *list, const char *word)
{
    struct wrapper_function f;

    if (!wrapper_scan(&f, r->arena, list->v, list->n))
        return -1;
    for (size_t i = 0; i < f.n_tparams; i++) {
        if (str_eq(f.tparams[i].name, word))
            return (int)i;
    }
    return -1;
}

/* ---- a class that the code asks things of */

enum { MOST_ASKED = 8 };

struct asked { /* of a type: names of its members; "operator": it is called */
    const char *v[MOST_ASKED];
    size_t n, given; /* given: with so many arguments */
};

/* How many items the list has that opens at token i. */
static size_t items(const struct token *v, size_t n, size_t i)
{
    const size_t close = wrapper_skip(v, n, i) - 1;
    size_t count = 0;

    for (size_t item = i + 1; item < close; item = wrapper_item(v, item, close) + 1)
        count++;
    return count;
}

static void add_asked(struct asked *to, const char *name)
{
    for (size_t i = 0; i < to->n; i++) {
        if (str_eq(to->v[i], name))
            return;
    }
    if (to->n < MOST_ASKED)
        to->v[to->n++] = name;
}

/* What the variable, or the type, that stands before token i is asked there. */
static void ask_there(struct arena *a, const struct token *v, size_t n, size_t i, struct asked *to)
{
    if (i + 1 < n && wrapper_sign(&v[i], ". ::") && v[i + 1].kind == TOK_WORD)
        add_asked(to, token_text(a, &v[i + 1]));
    else if (i < n && token_is(&v[i], "(")) {
        add_asked(to, "operator");
        to->given = items(v, n, i);
    }
}

/* Of the type called `name` and of variables of it. */
static void read_asked(struct arena *a, const struct token *v, size_t n, const char *name, struct asked *to)
{
    for (size_t i = 0; i + 2 < n; i++) {
        size_t k = i + 1;
        if (!token_is(&v[i], name))
            continue;
        if (token_is(&v[k], "::"))
            ask_there(a, v, n, k, to);
        if ((token_is(&v[k], "(") && token_is(&v[k + 1], ")")) ||
            (token_is(&v[k], "{") && token_is(&v[k + 1], "}")))
            ask_there(a, v, n, k + 2, to);
        if (token_is(&v[k], "<")) { /* of a template: Op<T>::apply(x), Op<T>()(x) */
            const size_t angle = wrapper_angle(v, n, k);
            k = angle ? angle + 1 : n;
            if (k < n && token_is(&v[k], "::"))
                ask_there(a, v, n, k, to);
            if (k + 1 < n && wrapper_sign(&v[k], "( {") && wrapper_sign(&v[k + 1], ") }"))
                ask_there(a, v, n, k + 2, to);
        }
        while (k < n && wrapper_sign(&v[k], "const &"))
            k++;
        if (k >= n || v[k].kind != TOK_WORD)
            continue;
        for (size_t u = k + 1; u + 1 < n; u++) {
            if (v[u].kind == TOK_WORD && v[u].len == v[k].len && memcmp(v[u].s, v[k].s, v[k].len) == 0 &&
                !wrapper_sign(&v[u - 1], ". -> ::"))
                ask_there(a, v, n, u + 1, to);
        }
    }
}

/* Has the class of the file all that is asked? */
static bool answers(const struct init_source *s, const struct init_decl *d, const struct asked *of)
{
    const struct token *v = s->tokens.v;
    size_t open = d->first;

    while (open < d->end && !token_is(&v[open], "{"))
        open++;
    for (size_t i = 0; i < of->n; i++) {
        bool there = false;
        for (size_t k = open; k + 1 < d->end && !there; k++)
            there = token_is(&v[k], of->v[i]) &&
                    (!str_eq(of->v[i], "operator") || (token_is(&v[k + 1], "(") && token_is(&v[k + 3], "(") &&
                                                       items(v, d->end, k + 3) == of->given));
        if (!there)
            return false;
    }
    return true;
}

/* "Add<float>" of the class, with plain arguments; NULL: it has other parameters than types and numbers. */
static const char *plain_class(struct wrapper_reader *r, const struct init_decl *d)
{
    const struct token *v = r->source->tokens.v;
    struct str out = {.arena = r->arena};
    size_t end;

    str_addf(&out, "%s%s", init_scope(r->source, d->scope), d->name);
    if (d->specialised) { /* in full, or none is meant */
        const size_t first = d->name_at + 1,
                     close = token_is(&v[first], "<") ? init_angle(r->source, first, d->end) : 0;
        const bool full = token_is(&v[d->first], "template") && token_is(&v[d->first + 2], ">");
        return close && full
                   ? arena_printf(r->arena, "%s%s", str_text(&out), init_text(r->source, first, close))
                   : NULL;
    }
    if (!d->is_template)
        return arena_strdup(r->arena, str_text(&out));
    end = init_angle(r->source, d->first + 1, d->end);
    for (size_t i = d->first + 2, next; i + 1 < end; i = next + 1) {
        next = wrapper_item(v, i, end - 1);
        const bool type = token_in(&v[i], "typename|class");
        if (token_is(&v[i], "template") || next <= i)
            return NULL;
        const char *of = wrapper_text(r->arena, v, i, MAX(next - 1, i + 1)),
                   *number = !type && wrapper_is_enum(r, of) ? wrapper_enum_value(r, of) : "1";
        str_addf(&out, "%s%s", i == d->first + 2 ? "<" : ", ",
                 type ? wrapper_default_type(token_text(r->arena, &v[next - 1])) : number);
    }
    str_addc(&out, '>');
    return arena_strdup(r->arena, str_text(&out));
}

bool wrapper_is_called(struct wrapper_reader *r, const char *name)
{
    struct asked asked = {0};

    read_asked(r->arena, r->v, r->n, name, &asked);
    for (size_t i = 0; i < asked.n; i++) {
        if (!str_eq(asked.v[i], "operator"))
            return false;
    }
    return asked.n > 0 || str_ends(name, "Op") || str_ends(name, "Fn") || str_ends(name, "Func") ||
           str_ends(name, "Functor") || str_ends(name, "Function"); /* it is handed on */
}

const char *wrapper_class_for(struct wrapper_reader *r, const struct token *v, size_t n, const char *name)
{
    struct asked asked = {0};
    const char *best = NULL;

    read_asked(r->arena, v, n, name, &asked);
    for (size_t i = 0; i < r->source->decls.n && asked.n; i++) {
        const struct init_decl *d = &r->source->decls.v[i];
        const struct token *t = &r->source->tokens.v[d->first];
        if (d->kind != INIT_TYPE || !*d->name || !answers(r->source, d, &asked))
            continue;
        while (token_is(t, "template"))
            t = &r->source->tokens.v[init_angle(r->source, d->first + 1, d->end)];
        const char *text = token_in(t, "struct|class") ? plain_class(r, d) : NULL;
        if (text && (!best || !d->is_template))
            best = text;
        if (text && !d->is_template)
            break;
    }
    return best;
}

/* Of a parameter that is a template itself: the name of one of the files that has what is asked. */
static const char *template_for(struct wrapper_reader *r, const struct tokens *of, const char *name)
{
    const char *class = wrapper_class_for(r, of->v, of->n, name);

    return class && strchr(class, '<') ? arena_strndup(r->arena, class, strcspn(class, "<")) : NULL;
}

static size_t commas(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += *text == ',';
    return n;
}

/* A class template of the files that has as many parameters, and the name of the parameter in its own. */
static const char *template_called(struct wrapper_reader *r, const struct wrapper_tparam *p)
{
    for (size_t i = 0; i < r->source->decls.n && *p->name; i++) {
        const struct init_decl *d = &r->source->decls.v[i];
        if (d->kind != INIT_TYPE || !d->is_template || d->specialised || !strcasestr(d->name, p->name))
            continue;
        const size_t end = init_angle(r->source, d->first + 1, d->end);
        if (commas(init_text(r->source, d->first, end)) != commas(p->type))
            continue;
        wrapper_ask(r, "which template is %s? (name the instance: %s<...>)", p->name, r->kernel.name);
        return arena_printf(r->arena, "%s%s", init_scope(r->source, d->scope), d->name);
    }
    return NULL;
}

const char *wrapper_fitting(struct wrapper_reader *r, const struct wrapper_tparam *p, const char *value)
{
    if (value && !p->is_type && wrapper_type_name(r, value, NULL)) /* of an overload with other parameters */
        value = NULL;
    if (!value && str_starts(p->type, "template"))
        value = template_for(r, &r->kernel_tokens, p->name);
    if (!value && str_starts(p->type, "template"))
        value = template_called(r, p);
    return value;
}

/* `Add<T, kWidth>` of a caller, in which each of its own names is what it stands for; NULL: no class of the
 * files. */
static const char *class_written(struct wrapper_reader *r, const struct init_decl *host,
                                 const struct tokens *list, size_t item, size_t next, int depth)
{
    struct str out = {.arena = r->arena};
    size_t open = item;

    while (open + 2 < next && token_is(&list->v[open + 1], "::"))
        open += 2;
    if (!token_is(&list->v[open + 1], "<") || wrapper_angle(list->v, list->n, open + 1) + 1 != next ||
        !init_named(r->source, token_text(r->arena, &list->v[open])))
        return NULL;
    for (size_t i = item; i < next; i++) {
        const char *word = token_text(r->arena, &list->v[i]), *value = NULL;
        const int own = list->v[i].kind == TOK_WORD ? own_tparam(r, list, word) : -1;
        if (own >= 0 && depth < 4 && !str_eq(host->name, r->kernel.name))
            value = wrapper_called_with(r, host->name, (size_t)own, depth + 1);
        else if (list->v[i].kind == TOK_WORD && !is_value(r, host, word))
            value = fixed_in(r, list, word);
        if (own >= 0 && !value)
            value = wrapper_default_type(word);
        str_addf(&out, "%s%s", out.len && token_is(&list->v[i - 1], ",") ? " " : "", value ? value : word);
    }
    return arena_strdup(r->arena, str_text(&out));
}

/* What callers write for template parameter `which` of the function: its first plain value. One that they have
 * as a template parameter themselves is what their callers write. */
const char *wrapper_called_with(struct wrapper_reader *r, const char *name, size_t which, int depth)
{
    struct arena *a = r->arena;

    for (size_t h = 0; h < r->in->n_hosts; h++) {
        const struct init_decl *host = r->in->hosts[h];
        struct tokens list = init_expand(r->source, host->first, host->end);
        for (size_t i = 0; i + 2 < list.n; i++) {
            size_t end, item = i + 2;
            if (!token_is(&list.v[i], name) || !token_is(&list.v[i + 1], "<"))
                continue;
            end = wrapper_angle(list.v, list.n, i + 1);
            for (size_t k = 0; k < which && item < end; k++)
                item = wrapper_item(list.v, item, end) + 1;
            if (item >= end)
                continue;
            size_t next = wrapper_item(list.v, item, end), last = item;
            while (last + 2 < next && token_is(&list.v[last + 1], "::"))
                last += 2;
            if (last + 1 != next) {
                const char *class = class_written(r, host, &list, item, next, depth);
                if (class)
                    return class;
                continue;
            }
            const char *word = token_text(a, &list.v[last]), *value;
            int own = own_tparam(r, &list, word);
            if (own < 0 && is_value(r, host, word))
                return wrapper_text(a, list.v, item, next);
            value = fixed_in(r, &list, word);
            if (value && is_value(r, host, value))
                return value;
            value = own >= 0 && depth < 4 && !str_eq(host->name, name)
                        ? wrapper_called_with(r, host->name, (size_t)own, depth + 1)
                        : NULL;
            if (value)
                return value;
        }
    }
    return NULL;
}

/* `switch (NAME)` over the parameter, whose case for `value` does not launch the kernel: the label of the first
 * one that does. */
const char *wrapper_launched_case(struct wrapper_reader *r, const char *name, const char *value)
{
    const char *label = NULL;

    for (size_t i = r->f.body; i + 4 < r->f.body_end; i++) {
        if (!token_is(&r->v[i], "switch") || !token_is(&r->v[i + 2], name) || !token_is(&r->v[i + 3], ")"))
            continue;
        const size_t close = wrapper_skip(r->v, r->f.body_end, i + 4);
        for (size_t k = i + 4; k < close; k++) {
            size_t colon = k + 1, end;
            if (!token_is(&r->v[k], "case"))
                continue;
            while (colon < close && !wrapper_sign(&r->v[colon], ": { ;"))
                colon++;
            end = colon;
            while (end < close && !token_in(&r->v[end], "break|return|default"))
                end++;
            if (!token_is(&r->v[colon], ":") || !wrapper_says_launch(r, k, end))
                continue;
            const char *text = wrapper_text(r->arena, r->v, k + 1, colon);
            if (str_eq(text, value))
                return value;
            label = label ? label : text;
        }
    }
    return label ? label : value;
}

const char *wrapper_plain_value(const struct wrapper_reader *r, const struct wrapper_tparam *p)
{
    if (str_in(p->type, "bool|const bool"))
        return "false";
    return wrapper_is_enum(r, p->type) ? wrapper_enum_value(r, p->type) : NULL;
}

/* The types that the file instantiates the function with, f16 before others: of `template void f(half *, ...)`
 * and `template void f<half>(...)`. */
static const char *instantiated_with(struct wrapper_reader *r, const struct wrapper_tparam *p)
{
    const struct tokens *all = &r->source->tokens;
    const char *best = NULL;

    for (size_t i = 2; i + 2 < all->n; i++) {
        size_t back = i, open = i + 1, item;
        if (!token_is(&all->v[i], r->f.name) || !wrapper_sign(&all->v[i + 1], "( <"))
            continue;
        while (back && back + 6 > i && !wrapper_sign(&all->v[back - 1], "; } { )"))
            back--;
        if (!token_is(&all->v[back], "template") || token_is(&all->v[back + 1], "<"))
            continue;
        if (token_is(&all->v[open], "<"))
            open = wrapper_angle(all->v, all->n, open) + 1;
        item = open + 1;
        for (size_t k = 0; k < r->f.n_list; k++) {
            const struct wrapper_param *q = &r->f.list[k];
            size_t close = wrapper_skip(all->v, all->n, open) - 1, end = wrapper_item(all->v, item, close);
            bool mine = false;
            for (size_t m = q->first; m < q->last; m++)
                mine = mine || token_is(&r->v[m], p->name);
            size_t last = end;
            if (last > item + 1 && all->v[last - 1].kind == TOK_WORD && all->v[last - 2].kind != TOK_WORD)
                last--;
            if (mine && item < close) {
                struct wrapper_type t = wrapper_type_of(r, all->v, item, last);
                if (t.type && t.lanes == 1 && (!best || str_eq(t.type, "f16")))
                    best = t.spelled;
                break;
            }
            item = end + 1;
        }
    }
    return best;
}

/* What the instance that the user named gives the function's parameter: where the launch hands it to the
 * kernel's template, or, where the launch says no arguments, the kernel's parameter of its name. */
static const char *of_instance(struct wrapper_reader *r, const char *name)
{
    bool listed = false;

    for (size_t i = r->f.body; i + 1 < r->f.body_end; i++) {
        size_t end = token_is(&r->v[i], r->kernel.name) && token_is(&r->v[i + 1], "<")
                         ? wrapper_angle(r->v, r->f.body_end, i + 1)
                         : 0;
        for (size_t item = i + 2, k = 0; item < end; k++) {
            size_t next = wrapper_item(r->v, item, end);
            if (next == item + 1 && token_is(&r->v[item], name))
                return wrapper_instance_arg(r, k);
            item = next + 1;
        }
        listed = listed || end;
    }
    for (size_t k = 0; k < r->kernel.n_tparams && !listed; k++) {
        if (str_eq(r->kernel.tparams[k].name, name))
            return wrapper_instance_arg(r, k);
    }
    return NULL;
}

/* The type that the kernel's own parameter has for the function's `T *` that is handed to it. */
static const char *deduced(struct wrapper_reader *r, const struct wrapper_tparam *p)
{

    for (size_t i = r->f.body; i + 1 < r->f.body_end; i++) {
        size_t close, item;
        if (!token_is(&r->v[i], ">>>") || !token_is(&r->v[i + 1], "("))
            continue;
        close = wrapper_skip(r->v, r->n, i + 1) - 1;
        item = i + 2;
        for (size_t which = 0; item < close && which < r->kernel.n_list; which++) {
            const size_t end = wrapper_item(r->v, item, close);
            const struct wrapper_param *of = &r->kernel.list[which];
            struct wrapper_type t = wrapper_type_of(r, r->kernel_tokens.v, of->first, of->last);
            for (size_t k = 0; k < r->f.n_list && item + 1 == end && t.pointer && t.type && t.lanes == 1; k++) {
                const struct wrapper_param *q = &r->f.list[k];
                for (size_t m = q->first; m < q->last && token_is(&r->v[item], q->name); m++) {
                    if (token_is(&r->v[m], p->name))
                        return t.spelled;
                }
            }
            item = end + 1;
        }
    }
    return NULL;
}

/* Is the value the name of a function of the file? */
static bool is_function(const struct wrapper_reader *r, const char *value)
{
    const struct init_names *found = init_named(r->source, value);

    return found && found->decls.n && r->source->decls.v[found->decls.v[0]].kind == INIT_FUNCTION;
}

/* Does the file declare the class that "a::Add<float>" says? */
static bool is_class(struct wrapper_reader *r, const char *value)
{
    const char *name = arena_strndup(r->arena, value, strcspn(value, "<")), *colon = strrchr(name, ':');

    return init_named(r->source, colon ? colon + 1 : name) != NULL;
}

void wrapper_choose_tparam(struct wrapper_reader *r, size_t i, const char *instance)
{
    const struct wrapper_tparam *p = &r->f.tparams[i];
    const char *value = NULL;

    value = of_instance(r, p->name);
    if (!value && p->is_type)
        value = deduced(r, p);
    if (!value)
        value = wrapper_called_with(r, r->f.name, i, 0);
    if (!value)
        value = wrapper_listed(r->arena, instance, i);
    value = wrapper_fitting(r, p, value);
    if (value && p->is_type && !wrapper_type_name(r, value, NULL) && !is_class(r, value))
        value = NULL;
    if (!value && p->is_type)
        value = instantiated_with(r, p);
    if (!value && p->fallback && !map_has(&r->alias, p->fallback))
        value = p->fallback;
    if (!value && p->is_type)
        value = wrapper_class_for(r, r->kernel_tokens.v, r->kernel_tokens.n, p->name);
    if (!value && p->is_type) {
        value = wrapper_default_type(p->name);
        wrapper_note(r, "%s: %s is %s here; for another type name the instance", r->f.name, p->name, value);
    }
    if (!value) {
        value = wrapper_plain_value(r, p);
        if (value)
            wrapper_note(r, "%s: %s is %s here; for another value name the instance", r->f.name, p->name,
                         value);
    }
    if (value && !p->is_type)
        value = wrapper_launched_case(r, p->name, value);
    if (!value) {
        wrapper_lost(r, "its template parameter %s has no value that its callers write", p->name);
        return;
    }
    if (!*p->name)
        return;
    if (str_starts(p->type, "template") || str_eq(p->type, "(*)") ||
        (!p->is_type && is_function(r, value))) { /* written out: no declaration renames it */
        for (size_t k = r->f.body; k < r->f.body_end; k++) {
            if (!token_is(&r->v[k], p->name))
                continue;
            r->v[k] = init_words(r->source, value).v[0];
            r->v[k].s = value; /* a qualified name is one word here */
            r->v[k].len = (uint32_t)strlen(value);
        }
    } else if (!p->is_type && str_eq(value, p->name)) { /* a constant of the file, called the same */
        return;
    } else if (!p->is_type)
        str_addf(&r->head, "    constexpr %s %s = %s;\n", p->type, p->name, value);
    else {
        if (wrapper_type_name(r, value, NULL) || wrapper_is_struct(r, value))
            map_put(&r->alias, p->name, arena_strdup(r->arena, value));
        str_addf(&r->head, "    using %s = %s;\n", p->name, value);
    }
}

/* Names that nothing of what was read declares: what the build defines (`-DNAME=VALUE` of a file beside), else
 * a file of the repository that declares them, which is read ahead of the kernel's; else a number. */
#include "init/wrapper.h"

#include <ctype.h>
#include <dirent.h>

enum { MOST_SUPPLIED = 16, MOST_BUILD_FILES = 200, MOST_BUILD_BYTES = 1 << 20, NUMBER = 64, WARP = 32 };

bool init_is_supplied(const struct init_source *s, const char *name)
{
    for (size_t i = 0; i < s->supplied.n; i++) {
        if (str_eq(s->supplied.v[i].name, name))
            return true;
    }
    return false;
}

/* The name that the compiler, or the launcher's language, does not know; NULL: it says something else. */
static const char *missing_name(const struct init_source *s, const char *why)
{
    static const struct {
        const char *before, *behind;
    } words[] = {{"identifier \"", "\" is undefined"},
                 {"the name ", " is not known"},
                 {"the type ", " is not known"},
                 {"the type ", " is not understood"},
                 {"has no member \"", "\""},
                 {"error: ", " is not a template"},
                 {"the function ", " is not understood"}};

    const char *space = strstr(why, "must be a class or namespace name: ");
    const char *scope = space ? strstr(space, "::") : NULL; /* of the line that it stands in */
    if (scope && scope < space + strcspn(space, ";\n")) {
        const char *first = scope;
        while (first > space && str_in_word(first[-1]))
            first--;
        return first < scope ? arena_strndup(s->arena, first, (size_t)(scope - first)) : NULL;
    }
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        for (const char *at = why; (at = strstr(at, words[i].before)); at++) {
            const char *name = at + strlen(words[i].before);
            const size_t len = str_word(name);
            if (len && str_starts(name + len, words[i].behind) && !isdigit((unsigned char)*name) &&
                !strstr(why, "class \"") && !strstr(why, "namespace \"std\""))
                return arena_strndup(s->arena, name, len);
        }
    }
    return NULL;
}

/* ---- what the build defines */

/* The number that `NAME = 64` in the text gives it; NULL: none. */
static const char *number_of(struct arena *a, const char *text, const char *name)
{
    for (const char *p = text; (p = str_find_word(text, p, name)); p += strlen(name)) {
        const char *value = p + strlen(name) + strspn(p + strlen(name), " \t");
        if (*value != '=' || value[1] == '=')
            continue;
        value += 1 + strspn(value + 1, " \t");
        if (isdigit((unsigned char)*value))
            return arena_strndup(a, value, strspn(value, "0123456789"));
    }
    return NULL;
}

/* What `-DNAME=` in the text of a build file gives it; NULL: nothing that is a number. */
static const char *defined_in(struct arena *a, const char *text, const char *name)
{
    const char *flag = arena_printf(a, "-D%s=", name);

    for (const char *p = text; (p = strstr(p, flag)); p++) {
        const char *value = p + strlen(flag);
        if (isdigit((unsigned char)*value) || *value == '(')
            return arena_strndup(a, value, strcspn(value, " \t\r\n'\",;)"));
        value += strspn(value, "${\"' +(str");
        const size_t len = str_word(value);
        const char *number = len ? number_of(a, text, arena_strndup(a, value, len)) : NULL;
        if (number)
            return number;
    }
    return NULL;
}

static bool is_build_file(const char *name)
{
    return str_ends(name, ".py") || str_ends(name, ".cmake") || str_ends(name, ".mk") ||
           str_starts(name, "Makefile") || str_eq(name, "CMakeLists.txt");
}

/* In the folders from the kernel's file up to the repository's root. */
static bool from_build(struct init_source *s, const char *name)
{
    const char *dir = fs_dirname(s->arena, s->files.v[0]->real);
    int n_files = 0;

    for (; fs_below(dir, s->root); dir = fs_dirname(s->arena, dir)) {
        DIR *d = opendir(dir);
        const struct dirent *e;
        while (d && (e = readdir(d)) && n_files < MOST_BUILD_FILES) {
            char *text;
            size_t len;
            if (e->d_type != DT_REG || !is_build_file(e->d_name))
                continue;
            n_files++;
            if (!fs_read(s->arena, fs_join(s->arena, dir, e->d_name), &text, &len, NULL) ||
                len > MOST_BUILD_BYTES)
                continue;
            const char *value = defined_in(s->arena, text, name);
            if (!value)
                continue;
            vec_add(s->arena, &s->supplied,
                    ((struct init_supplied){name, value, arena_strdup(s->arena, e->d_name)}));
            closedir(d);
            return true;
        }
        if (d)
            closedir(d);
        if (str_eq(dir, s->root))
            break;
    }
    return false;
}

/* ---- what another file declares */

/* The word before `at`, in the text. */
static bool is_behind(const char *text, const char *at, const char *list)
{
    const char *end = at, *first;

    while (end > text && strchr(" \t\n", end[-1]))
        end--;
    first = end;
    while (first > text && str_in_word(first[-1]))
        first--;
    return end > first && str_in_n(first, (size_t)(end - first), list);
}

static bool declares(const char *text, const char *name)
{
    const size_t len = strlen(name);

    for (const char *p = text; (p = str_find_word(text, p, name)); p += len) {
        const char *next = p + len + strspn(p + len, " \t\r\n"),
                   *line = text + str_line_start(text, (size_t)(p - text));
        if (is_behind(text, p, "define"))
            return true;
        if (is_behind(text, p, "namespace") && *next == '{')
            return true;
        if (is_behind(text, p, "struct|class|union|enum") && (*next == '{' || (*next == ':' && next[1] != ':')))
            return true;
        if (is_behind(text, p, "using|concept") && *next == '=')
            return true;
        line += strspn(line, " \t");
        if (*next == ';' && (str_starts(line, "typedef") || str_starts(line, "}")))
            return true;
        if (*next == '=' && (str_starts(line, "constexpr") || str_starts(line, "static const") ||
                             str_starts(line, "const") || str_starts(line, "inline constexpr")))
            return true;
        if ((*next == '[' || *next == ';') && str_starts(line, "extern")) /* shared memory of the launch */
            return true;
        const char *close = *next == '(' ? strchr(next, ')') : NULL;
        if (close && p != line && strncmp(line, "return", 6) != 0) { /* a function with its body */
            close += 1 + strspn(close + 1, " \t\r\n");
            if (*close == '{' && memmem(line, (size_t)(p - line), "__device__", 10))
                return true;
        }
    }
    return false;
}

/* The directive that leaves out the text before cut number n. */
static const char *left_out_by(struct init_source *s, size_t n, const struct init_file *f)
{
    int closed = 0;

    for (size_t i = n; i-- > 0 && s->cuts.v[i].start >= f->base;) {
        const char *text = f->text + (s->cuts.v[i].start - f->base);
        const char *word = text + 1 + strspn(text + 1, " \t");

        if (*text != '#')
            continue;
        if (str_starts(word, "endif"))
            closed++;
        else if (str_starts(word, "if") && closed)
            closed--;
        else if ((str_starts(word, "if") || str_starts(word, "el")) && !closed)
            return arena_strndup(s->arena, text, MIN(strcspn(text, "\r\n"), (size_t)80));
    }
    return NULL;
}

const char *init_leaves_out(struct init_source *s, const char *name, bool kernel, size_t *at)
{
    for (size_t i = 0; i < s->cuts.n; i++) {
        const struct init_span c = s->cuts.v[i];
        int line, col;
        const struct init_file *f = init_place(s, c.start, &line, &col);
        const char *text = arena_strndup(s->arena, f->text + (c.start - f->base), c.end - c.start);
        const char *found = *name ? str_find_word(text, text, name) : NULL;
        const bool there =
            found && *text != '#' && (kernel ? strstr(text, "__global__") != NULL : declares(text, name));
        const char *by = there ? left_out_by(s, i, f) : NULL;

        *at = found ? c.start + (size_t)(found - text) : c.start;
        if (by)
            return by;
    }
    return NULL;
}

/* A name that the directive asks to be defined, alone or with others, and that nothing defines; NULL: none. */
static const char *asked_switch(struct init_source *s, const char *by)
{
    const char *end = by + strcspn(by, "\n"), *word = by + 1 + strspn(by + 1, " \t");
    const bool one = str_starts(word, "ifdef ");

    if (str_starts(word, "ifndef") || memmem(by, (size_t)(end - by), "||", 2) || strpbrk(by, "<>="))
        return NULL;
    for (const char *p = word + str_word(word); p < end; p += MAX(str_word(p), (size_t)1)) {
        const size_t len = str_word(p);
        const char *name = arena_strndup(s->arena, p, len), *before = p;
        while (before > by && strchr(" (", before[-1]))
            before--;
        const bool asks = one || is_behind(by, before, "defined|if|elif") || before[-1] == '&';
        if (!len || isdigit((unsigned char)*p) || str_eq(name, "defined") || !asks)
            continue;
        if (is_behind(by, before, "defined")) {
            before -= strlen("defined");
            while (before > by && strchr(" (", before[-1]))
                before--;
        }
        if (before[-1] != '!' && !map_get(&s->expander.macros, name) && !init_is_supplied(s, name))
            return name;
    }
    return NULL;
}

bool init_define_switch(struct init_source *s, const char *name, bool kernel)
{
    size_t at;
    const char *by = init_leaves_out(s, name, kernel, &at), *macro = by ? asked_switch(s, by) : NULL;

    if (!macro || init_says_amd(macro) || *macro == '_')
        return false;
    vec_add(s->arena, &s->supplied, ((struct init_supplied){macro, "1", NULL}));
    return true;
}

static size_t common(const char *a, const char *b)
{
    size_t n = 0, last = 0;

    for (; a[n] && a[n] == b[n]; n++)
        last = a[n] == '/' ? n : last;
    return last;
}

/* The nearest header that declares the name. */
static bool from_repository(struct init_source *s, const char *name)
{
    const char *paths[256], *best = NULL;
    const size_t n = init_saying(s, name, name, name, paths, ARRAY_LEN(paths));

    for (size_t i = 0; i < n; i++) {
        char *text;
        bool there = str_ends(paths[i], ".cu") ||
                     (best && common(paths[i], s->files.v[0]->real) <= common(best, s->files.v[0]->real));
        for (size_t k = 0; k < s->ahead.n; k++)
            there = there || str_eq(s->ahead.v[k], paths[i]);
        if (!there && fs_read(s->arena, paths[i], &text, NULL, NULL) && declares(text, name))
            best = paths[i];
    }
    if (best)
        vec_add(s->arena, &s->ahead, best);
    return best != NULL;
}

/* Of a name that is declared by what was read behind the kernel's file: that file. */
static bool from_behind(struct init_source *s, const char *name)
{
    const struct init_names *found = init_named(s, name);

    for (size_t i = 0; found && i < found->decls.n; i++) {
        int line, col;
        const struct init_file *f =
            init_place(s, s->tokens.v[s->decls.v[found->decls.v[i]].first].at, &line, &col);
        bool there = !f || f == s->files.v[0] || !str_starts(f->real, "/") || str_ends(f->real, ".cu");
        for (size_t k = 0; k < s->ahead.n; k++)
            there = there || str_eq(s->ahead.v[k], f->real);
        if (there)
            continue;
        vec_add(s->arena, &s->ahead, f->real);
        return true;
    }
    return false;
}

/* A macro that is used ahead of the directive that defines it, as a word: that one. */
static bool from_later(struct init_source *s, const char *name)
{
    for (size_t i = 0; i < s->macros.n; i++) {
        const struct macro *m = s->macros.v[i].macro;
        if (!m || !str_eq(s->macros.v[i].name, name) || m->n_body != 1)
            continue;
        vec_add(s->arena, &s->supplied,
                ((struct init_supplied){name, token_text(s->arena, m->body), "what is read later"}));
        return true;
    }
    return false;
}

/* A function of the files that says no __device__ but a word in capitals that nobody defines (`HOST_DEVICE int
 * f()`): that word marks functions of the device. */
static bool marks_device(struct init_source *s, const char *name)
{
    const struct init_names *found = init_named(s, name);

    for (size_t i = 0; found && i < found->decls.n; i++) {
        const struct init_decl *d = &s->decls.v[found->decls.v[i]];
        for (size_t k = d->first; d->kind == INIT_FUNCTION && !d->is_device && k < d->name_at; k++) {
            const char *word = token_text(s->arena, &s->tokens.v[k]);
            const size_t n = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
            if (s->tokens.v[k].kind != TOK_WORD || word[n] || n < 4 || map_has(&s->macro_names, word) ||
                str_in(word, "__VA_ARGS__"))
                continue;
            if (init_is_supplied(s, word))
                return false;
            vec_add(s->arena, &s->supplied, ((struct init_supplied){word, "__host__ __device__", NULL}));
            return true;
        }
    }
    return false;
}

/* ---- */

/* Is the name in capitals, and does every place of the kernel's file that says it, from `at` to `end`, fit? */
static bool fits_everywhere(const struct init_source *s, const char *name,
                            bool (*fits)(const char *text, const char *at, const char *end))
{
    const char *text = s->files.v[0]->text;
    bool any = false;

    for (const char *p = name; *p; p++) {
        if (islower((unsigned char)*p))
            return false;
    }
    for (const char *p = text; (p = str_find_word(text, p, name)); p += strlen(name)) {
        any = true;
        if (!fits(text, p, p + strlen(name)))
            return false;
    }
    return any;
}

/* No type and no function. */
static bool is_number(const char *text, const char *at, const char *end)
{
    const char *next = end + strspn(end, " \t");

    (void)text, (void)at;
    return *next != '(' && *next != '{' && !str_starts(next, "::") && !str_in_word(*next);
}

/* `REAL_CONST(2.0)` */
static bool is_around_number(const char *text, const char *at, const char *end)
{
    const char *inside = end + 1 + strspn(end + 1, " \t-"), *close = inside + strcspn(inside, ",()\n");

    (void)text, (void)at;
    return *end == '(' && isdigit((unsigned char)*inside) && *close == ')';
}

/* A macro that stands for statements, an assertion mostly. */
static bool is_statement(const char *text, const char *at, const char *end)
{
    while (at > text && strchr(" \t\r\n", at[-1]))
        at--;
    return at > text && strchr(";{})", at[-1]) && end[strspn(end, " \t")] == '(';
}

/* Does every place of the kernel's file that says the name take it for a type: `T *x`, `T y`, `(T)z`, `f<T>`?
 */
static bool is_type_everywhere(const struct init_source *s, const char *name)
{
    const char *text = s->files.v[0]->text;
    bool declares_some = false;

    for (const char *p = text; (p = str_find_word(text, p, name)); p += strlen(name)) {
        const char *next = p + strlen(name) + strspn(p + strlen(name), " \t");
        const char *before = p;
        while (before > text && strchr(" \t", before[-1]))
            before--;
        const char ahead = before > text ? before[-1] : '\n';
        const char *line = text + str_line_start(text, (size_t)(p - text));
        if (memmem(line, (size_t)(p - line), "//", 2)) /* a comment's word */
            continue;
        if (isalpha((unsigned char)*next) || *next == '_' || (*next == '*' && !strchr("=+-/%", ahead)))
            declares_some = true;
        else if (!(*next == ')' && ahead == '(') && !(*next == '>' && (ahead == '<' || ahead == ',')) &&
                 !(*next == ',' && ahead == '<') && *next != '(')
            return false;
    }
    return declares_some;
}

/* Does the name say that it is a number's? A class of a library may be called anything. */
static bool sounds_like_number(const char *name)
{
    static const char *const words[] = {"real", "scalar", "float", "type", "elem", "number", "_fp", "half"};
    bool any = name[0] == 'T' && !name[1];

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        any = any || strcasestr(name, words[i]);
    return any;
}

/* What such a type is taken for: `real` for float, `real4` and `make_real4` for what CUDA has of four. */
static const char *type_for(const struct init_source *s, const char *name)
{
    const bool makes = str_starts(name, "make_");
    const char *base = name + (makes ? strlen("make_") : 0), *type;
    const size_t len = strlen(base);
    const bool several = len > 1 && strchr("234", base[len - 1]) && isalpha((unsigned char)base[len - 2]);

    if (!sounds_like_number(name) || (makes ? !several : !is_type_everywhere(s, name)))
        return NULL;
    if (!several)
        return wrapper_default_type(name);
    type = str_eq(wrapper_default_type(base), "float") ? "float" : "int";
    return arena_printf(s->arena, "%s%s%c", makes ? "make_" : "", type, base[len - 1]);
}

/* One that counts from somewhere counts from 0. */
static int number_for(const char *name)
{
    static const char *const starts[] = {"BASE", "OFFSET", "START", "BEGIN", "FIRST", "BIAS"};

    for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
        if (strstr(name, starts[i]))
            return 0;
    }
    if (str_in(name, "WARP_SIZE|WARPSIZE|WARP_THREADS|THREADS_PER_WARP"))
        return WARP;
    return NUMBER;
}

/* The number that a declaration of another namespace gives the name; NULL: none. */
static const char *number_elsewhere(struct init_source *s, const char *name)
{
    const struct init_names *found = init_named(s, name);
    const struct token *v = s->tokens.v;

    for (size_t i = 0; found && i < found->decls.n; i++) {
        const struct init_decl *d = &s->decls.v[found->decls.v[i]];
        for (size_t k = d->first; k + 2 < d->end && d->kind == INIT_VARIABLE; k++) {
            const char *value = token_text(s->arena, &v[k + 2]);
            if (token_is(&v[k], name) && token_is(&v[k + 1], "=") && isdigit((unsigned char)*value) &&
                !token_is(&v[k + 3], "/") && !token_is(&v[k + 3], "*"))
                return value;
        }
    }
    return NULL;
}

/* Is it in capitals, and stands around a call of the runtime somewhere: `TRY(cudaGetDevice(&device))`? */
static bool is_around_calls(const struct init_source *s, const char *name)
{
    const char *call = arena_printf(s->arena, "%s(cuda", name);
    bool any = false;

    for (const char *p = name; *p; p++) {
        if (islower((unsigned char)*p))
            return false;
    }
    for (size_t i = 0; i < s->files.n && !any; i++)
        any = strstr(s->files.v[i]->text, call) != NULL;
    return any;
}

bool init_supply(struct init_source *s, const char *why, bool numbers)
{
    const char *name = missing_name(s, why);

    if (!name || s->supplied.n + s->ahead.n >= MOST_SUPPLIED || init_is_supplied(s, name))
        return false;
    if (!init_named(s, name) && !map_has(&s->macro_names, name) &&
        (from_build(s, name) || init_define_switch(s, name, false) || from_repository(s, name)))
        return true;
    if (strstr(why, "is undefined") && (from_behind(s, name) || from_later(s, name) || marks_device(s, name)))
        return true;
    if (!init_named(s, name) &&
        (is_around_calls(s, name) || (numbers && fits_everywhere(s, name, is_around_number)))) {
        vec_add(s->arena, &s->supplied,
                ((struct init_supplied){arena_printf(s->arena, "%s(...)", name), "(__VA_ARGS__)", NULL}));
        return true;
    }
    if (strstr(why, "the function "))
        return false;
    const char *number = numbers ? number_elsewhere(s, name) : NULL;
    if (!numbers || (init_named(s, name) && !number))
        return false;
    if (!number && fits_everywhere(s, name, is_statement)) {
        vec_add(s->arena, &s->supplied,
                ((struct init_supplied){arena_printf(s->arena, "%s(...)", name), "", NULL}));
        return true;
    }
    if ((strstr(why, "the type ") || strstr(why, "is undefined")) &&
        (str_ends(name, "_t") || str_ends(name, "_type"))) { /* of integers, mostly */
        vec_add(s->arena, &s->supplied, ((struct init_supplied){name, "int", NULL}));
        return true;
    }
    const char *type = number || !strstr(why, "is undefined") ? NULL : type_for(s, name);
    if (type) {
        vec_add(s->arena, &s->supplied, ((struct init_supplied){name, type, NULL}));
        return true;
    }
    if (!fits_everywhere(s, name, is_number))
        return false;
    if (!number)
        number = arena_printf(s->arena, "%d", number_for(name));
    vec_add(s->arena, &s->supplied, ((struct init_supplied){name, number, NULL}));
    return true;
}

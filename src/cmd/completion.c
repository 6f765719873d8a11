/* The verbs completion and man: the tables of verbs and options as a shell and as man take them, in the
 * skeletons of share/cmd. */
#include "clock/clock.h"
#include "cmd/options.h"
#include "export/export.h"

#include <ctype.h>

/* ---- what an argument may be ---- */

enum takes { NOTHING, ANYTHING, FILES, FOLDERS, WORDS };

static const struct {
    const char *option, *words;
} known_words[] = {{"--agents", "rules llm single"},
                   {"--color", "auto always never"},
                   {"--effort", "low medium high"},
                   {"--outcome", "improved unchanged done budget interrupted failed running"},
                   {"--provider", "openai anthropic exec replay"},
                   {"--sort", "speedup date task cost time"}};

static const char *devices(struct arena *a)
{
    struct str s = {.arena = a};
    const struct ptx_device *d;
    size_t n = ptx_device_list(&d);

    str_add(&s, "auto cuda cuda:all sim");
    for (size_t i = 0; i < n; i++)
        str_addf(&s, " sim:%s", d[i].name);
    return str_take(&s, a);
}

static const char *targets(struct arena *a)
{
    struct str s = {.arena = a};
    size_t n;
    const struct export_target *t = export_targets(&n);

    str_add(&s, "list");
    for (size_t i = 0; i < n; i++)
        str_addf(&s, " %s", t[i].name);
    return str_take(&s, a);
}

static enum takes takes_of(const struct option *o, struct arena *a, const char **words)
{
    if (!o->argument)
        return NOTHING;
    for (size_t i = 0; i < ARRAY_LEN(known_words); i++)
        if (str_eq(known_words[i].option, o->name)) {
            *words = known_words[i].words;
            return WORDS;
        }
    if (str_in(o->argument, "DEVICE|TARGET")) {
        *words = str_eq(o->argument, "DEVICE") ? devices(a) : targets(a);
        return WORDS;
    }
    if (str_eq(o->argument, "DIR"))
        return FOLDERS;
    return str_in(o->argument, "FILE|PATH") ? FILES : ANYTHING;
}

/* Does a verb's first word name a run? */
static bool names_run(const struct verb *v)
{
    return strstr(v->words, "RUN") || strstr(v->words, "RESULT");
}

/* ---- texts as the skeletons take them ---- */

typedef char *escape(struct arena *a, const char *text);

static char *plain(struct arena *a, const char *text)
{
    return arena_strdup(a, text);
}

/* Within single quotes, and without what ends a part of a specification. */
static char *zsh(struct arena *a, const char *text)
{
    struct str s = {.arena = a};

    for (; *text; text++)
        if (*text == '\'')
            str_add(&s, "'\\''");
        else if (strchr("[]:\\", *text))
            str_addf(&s, "\\%c", *text);
        else
            str_addc(&s, *text);
    return str_take(&s, a);
}

static char *roff(struct arena *a, const char *text)
{
    struct str s = {.arena = a};

    for (bool begins = true; *text; text++) {
        if (begins && (*text == '.' || *text == '\''))
            str_add(&s, "\\&");
        if (*text == '\\')
            str_add(&s, "\\e");
        else if (*text == '-')
            str_add(&s, "\\-");
        else
            str_addc(&s, *text);
        begins = *text == '\n';
    }
    return str_take(&s, a);
}

/* ---- the skeletons filled ---- */

static void put_option(struct fill *row, const struct option *o, escape *as)
{
    static const char *const names[] = {[NOTHING] = "of_nothing",
                                        [ANYTHING] = "of_anything",
                                        [FILES] = "of_files",
                                        [FOLDERS] = "of_folders",
                                        [WORDS] = "of_words"};
    struct arena *a = fill_arena(row);
    const char *words = "";
    enum takes takes = takes_of(o, a, &words);

    fill_put(row, "option", as == roff ? roff(a, o->name) : o->name);
    fill_put(row, "argument", o->argument);
    fill_put(row, "help", as(a, o->help));
    fill_put(row, "fallback", as(a, o->fallback));
    fill_if(row, "has_fallback", o->fallback[0]);
    fill_put(row, "words", as(a, words));
    for (enum takes t = NOTHING; t <= WORDS; t++)
        fill_if(row, names[t], takes == t);
}

static void put_verb(struct fill *row, const struct verb *v, escape *as)
{
    struct arena *a = fill_arena(row);
    bool shell = str_eq(v->name, "completion"), initial = as == roff;
    size_t at = 0;

    fill_put(row, "verb", v->name);
    fill_put(row, "verb_words", v->words);
    fill_putf(row, "initial", "%c", toupper((unsigned char)v->summary[0]));
    fill_put(row, "summary", as(a, v->summary + initial));
    fill_if(row, "asks", str_ends(v->summary, "?"));
    fill_put(row, "text", as(a, v->text));
    fill_if(row, "takes_shell", shell);
    fill_if(row, "takes_runs", names_run(v));
    fill_if(row, "takes_files", v->max_words && !shell && !names_run(v));
    for (const struct option *o; (o = options_next(v, &at));)
        put_option(fill_row(row, "options"), o, as);
}

static int print(const char *skeleton, escape *as)
{
    struct arena *a = arena_open();
    struct fill *f = fill_open(a);
    struct err err = {0};
    size_t n;
    const struct verb *verbs = options_verbs(&n);
    int status;

    fill_put(f, "version", ASTRA_VERSION);
    fill_put(f, "exit_status", as(a, options_exit_status));
    for (size_t i = 0; i < n; i++)
        put_verb(fill_row(f, "verbs"), &verbs[i], as);
    status = cmd_print_as(CMD_EXACT, arena_printf(a, "%s\n", fill_file(f, skeleton)), &err) ? EXIT_OK
                                                                                            : cmd_fail(&err);
    arena_close(a);
    return status;
}

int cmd_completion(const struct cmd_args *args)
{
    struct err err = {0};

    if (str_eq(args->words[0], "bash"))
        return print("cmd/completion.bash", plain);
    if (str_eq(args->words[0], "zsh"))
        return print("cmd/completion.zsh", zsh);
    err_input(&err, "there are completions for bash and zsh, not for '%s'", args->words[0]);
    return cmd_fail(&err);
}

int cmd_man(const struct cmd_args *args)
{
    (void)args;
    return print("cmd/astra.1", roff);
}

/* The verbs completion and man: the tables of verbs and options as a shell and as man take them. */
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
static struct str devices, targets;

static void collect_words(void)
{
    const struct export_target *t;
    const struct ptx_device *d;
    size_t n;

    str_add(&devices, "auto cuda cuda:all sim");
    n = ptx_device_list(&d);
    for (size_t i = 0; i < n; i++)
        str_addf(&devices, " sim:%s", d[i].name);
    str_add(&targets, "list");
    t = export_targets(&n);
    for (size_t i = 0; i < n; i++)
        str_addf(&targets, " %s", t[i].name);
}

static enum takes takes_of(const struct option *o, const char **words)
{
    if (!o->argument)
        return NOTHING;
    for (size_t i = 0; i < ARRAY_LEN(known_words); i++)
        if (str_eq(known_words[i].option, o->name)) {
            *words = known_words[i].words;
            return WORDS;
        }
    if (str_eq(o->argument, "DEVICE") || str_eq(o->argument, "TARGET")) {
        *words = str_text(str_eq(o->argument, "DEVICE") ? &devices : &targets);
        return WORDS;
    }
    if (str_eq(o->argument, "DIR"))
        return FOLDERS;
    return str_eq(o->argument, "FILE") || str_eq(o->argument, "PATH") ? FILES : ANYTHING;
}

/* Does a verb's first word name a run? */
static bool names_run(const struct verb *v)
{
    return strstr(v->words, "RUN") || strstr(v->words, "RESULT");
}

/* ---- bash ---- */

static void add_bash_values(const struct verb *v, struct str *out)
{
    const char *words = NULL;
    size_t at = 0;

    str_addf(out, "    %s)\n        case $before in\n", v->name);
    for (const struct option *o; (o = options_next(v, &at));)
        switch (takes_of(o, &words)) {
        case WORDS:
            str_addf(out, "        %s) COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n", o->name,
                     words);
            break;
        case FILES:
            str_addf(out, "        %s) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", o->name);
            break;
        case FOLDERS:
            str_addf(out, "        %s) COMPREPLY=($(compgen -d -- \"$word\")); return ;;\n", o->name);
            break;
        case ANYTHING:
            str_addf(out, "        %s) return ;;\n", o->name);
            break;
        case NOTHING:
            break;
        }
    str_add(out, "        esac\n        options='");
    at = 0;
    for (const struct option *o; (o = options_next(v, &at));)
        str_addf(out, "%s ", o->name);
    str_add(out, "'\n");
    if (names_run(v))
        str_add(out, "        others=$(cd astra-runs 2>/dev/null && echo *)\n");
    if (str_eq(v->name, "completion"))
        str_add(out, "        others='bash zsh'\n");
    str_add(out, "        ;;\n");
}

static void add_bash(struct str *out)
{
    size_t n;
    const struct verb *verbs = options_verbs(&n);

    str_add(out,
            "# bash completion of astra, written by `astra completion bash`\n"
            "_astra() {\n"
            "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options= others=\n"
            "    if [ $COMP_CWORD -eq 1 ]; then\n        COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < n; i++)
        str_addf(out, "%s ", verbs[i].name);
    str_add(out, "--help --version' -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i < n; i++)
        add_bash_values(&verbs[i], out);
    str_add(out, "    esac\n"
                 "    case $word in\n"
                 "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
                 "    *) COMPREPLY=($(compgen -W \"$others\" -- \"$word\") $(compgen -f -- \"$word\")) ;;\n"
                 "    esac\n"
                 "}\n"
                 "complete -o filenames -F _astra astra\n");
}

/* ---- zsh ---- */

/* Within single quotes, and without what ends a part of a specification. */
static void add_zsh_text(struct str *out, const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            str_add(out, "'\\''");
        else if (strchr("[]:\\", *text))
            str_addf(out, "\\%c", *text);
        else
            str_addc(out, *text);
}

static void add_zsh_option(const struct option *o, struct str *out)
{
    const char *words = NULL;
    enum takes takes = takes_of(o, &words);

    str_addf(out, " \\\n            '%s%s[", o->name, takes == NOTHING ? "" : "=");
    add_zsh_text(out, o->help);
    str_addc(out, ']');
    if (takes != NOTHING)
        str_addf(out, ":%s:", o->argument);
    if (takes == WORDS) {
        str_addc(out, '(');
        add_zsh_text(out, words);
        str_addc(out, ')');
    }
    if (takes == FILES || takes == FOLDERS)
        str_add(out, takes == FILES ? "_files" : "_directories");
    str_addc(out, '\'');
}

static void add_zsh(struct str *out)
{
    size_t n;
    const struct verb *verbs = options_verbs(&n);

    str_add(out, "#compdef astra\n# zsh completion of astra, written by `astra completion zsh`\n"
                 "_astra() {\n    local -a verbs runs\n    verbs=(\n");
    for (size_t i = 0; i < n; i++) {
        str_addf(out, "        '%s:", verbs[i].name);
        add_zsh_text(out, verbs[i].summary);
        str_add(out, "'\n");
    }
    str_add(out, "    )\n    runs=(astra-runs/*(N:t))\n"
                 "    if (( CURRENT == 2 )); then\n        _describe verb verbs\n        return\n    fi\n"
                 "    local verb=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $verb in\n");
    for (size_t i = 0; i < n; i++) {
        const struct verb *v = &verbs[i];
        size_t at = 0;
        str_addf(out, "    %s)\n        _arguments", v->name);
        for (const struct option *o; (o = options_next(v, &at));)
            add_zsh_option(o, out);
        if (str_eq(v->name, "completion"))
            str_add(out, " \\\n            '1:shell:(bash zsh)'");
        else if (names_run(v))
            str_add(out, " \\\n            '*:run:{ compadd -a runs; _files }'");
        else if (v->max_words)
            str_add(out, " \\\n            '*:file:_files'");
        str_add(out, "\n        ;;\n");
    }
    str_add(out, "    esac\n}\n_astra \"$@\"\n");
}

/* ---- man ---- */

static void add_roff(struct str *out, const char *text)
{
    for (bool begins = true; *text; text++) {
        if (begins && (*text == '.' || *text == '\''))
            str_add(out, "\\&");
        if (*text == '\\')
            str_add(out, "\\e");
        else if (*text == '-')
            str_add(out, "\\-");
        else
            str_addc(out, *text);
        begins = *text == '\n';
    }
}

static void add_man_verb(const struct verb *v, struct str *out)
{
    size_t at = 0;

    str_addf(out, ".SS \"astra %s %s\"\n", v->name, v->words);
    str_addc(out, (char)toupper((unsigned char)v->summary[0]));
    add_roff(out, v->summary + 1);
    str_add(out, str_ends(v->summary, "?") ? "\n.PP\n.nf\n" : ".\n.PP\n.nf\n");
    add_roff(out, v->text);
    str_add(out, ".fi\n");
    for (const struct option *o; (o = options_next(v, &at));) {
        str_add(out, ".TP\n\\fB");
        add_roff(out, o->name);
        str_addf(out, "\\fR%s%s%s\n", o->argument ? " \\fI" : "", o->argument ? o->argument : "",
                 o->argument ? "\\fR" : "");
        add_roff(out, o->help);
        if (o->fallback[0]) {
            str_add(out, " (");
            add_roff(out, o->fallback);
            str_addc(out, ')');
        }
        str_addc(out, '\n');
    }
}

static void add_man(struct str *out)
{
    size_t n;
    const struct verb *verbs = options_verbs(&n);

    str_add(out,
            ".TH ASTRA 1 \"\" \"astra " ASTRA_VERSION "\"\n.SH NAME\n"
            "astra \\- a faster CUDA kernel from the one you have, shown correct, with the evidence\n"
            ".SH SYNOPSIS\n.B astra\n\\fIVERB\\fR [\\fIWORD\\fR ...] [\\fIOPTION\\fR ...]\n.SH DESCRIPTION\n"
            "Astra takes a CUDA kernel and gives back a faster one that is verified. Without a GPU everything\n"
            "runs on a simulator, and figures are called modelled.\n.SH VERBS\n");
    for (size_t i = 0; i < n; i++)
        add_man_verb(&verbs[i], out);
    str_add(out, ".SH EXIT STATUS\n");
    add_roff(out, options_exit_status);
    str_add(out, ".\n.SH FILES\n.TP\n\\fItask.yaml\\fR\nwhat the launcher computes, and on which shapes\n"
                 ".TP\n\\fIastra\\-runs/\\fR\nruns, a folder each\n"
                 ".TP\n\\fIastra.yaml\\fR\nwhich models are called, and how\n");
}

/* ---- the verbs ---- */

static int print(void (*add)(struct str *out))
{
    struct str out = {0};
    struct err err = {0};
    int status;

    collect_words();
    add(&out);
    str_free(&devices);
    str_free(&targets);
    status = cmd_print_as(CMD_EXACT, str_text(&out), &err) ? EXIT_OK : cmd_fail(&err);
    str_free(&out);
    return status;
}

int cmd_completion(const struct cmd_args *args)
{
    struct err err = {0};

    if (str_eq(args->words[0], "bash"))
        return print(add_bash);
    if (str_eq(args->words[0], "zsh"))
        return print(add_zsh);
    err_input(&err, "there are completions for bash and zsh, not for '%s'", args->words[0]);
    return cmd_fail(&err);
}

int cmd_man(const struct cmd_args *args)
{
    (void)args;
    return print(add_man);
}

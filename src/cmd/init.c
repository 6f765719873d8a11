/* The verb init: a task from a framework's file. */
#include "cmd/cmd.h"
#include "capture/capture.h"
#include "init/init.h"

/* PATH[:KERNEL]: the kernel begins at the first colon behind the last dot of the file's name. */
static void split(struct arena *a, const char *word, struct init_options *o)
{
    const char *name = fs_basename(word), *dot = strrchr(name, '.'), *colon = NULL;

    for (const char *p = name; *p && !colon; p++) {
        if (*p == ':' && (str_starts(p - MIN(3, p - name), ".cu") || str_starts(p - MIN(4, p - name), ".cuh")))
            colon = p;
    }
    if (!colon && dot)
        colon = strchr(dot, ':');
    o->path = colon ? arena_strndup(a, word, (size_t)(colon - word)) : word;
    o->kernel = colon && colon[1] ? colon + 1 : NULL;
}

static void add_kernels(const struct init_result *r, const char *path, struct str *out)
{
    bool same = r->n_kernels > 1; /* a name does not tell them apart */

    for (size_t i = 0; i < r->n_kernels; i++) {
        const struct init_found *k = &r->kernels[i];

        same = same && str_eq(k->name, r->kernels[0].name);
        str_addf(out, "%s:%d: %s", k->file, k->line, k->name);
        if (k->tparams)
            str_addf(out, "  template <%s>", k->tparams);
        str_addc(out, '\n');
    }
    if (same)
        str_addf(out, "\nName one by its line: astra init %s:%d\n", path, r->kernels[0].line);
    else
        str_addf(out, "\nName one: astra init %s:%s\n", path, r->kernels[0].name);
}

static void add_task(const struct init_result *r, const struct capture_task *c, struct str *out)
{
    str_addf(out, "%s: kernel.cu, task.yaml, origin.json; of %s (%s:%d)\n", r->folder, r->kernels[0].name,
             r->kernels[0].file, r->kernels[0].line);
    for (size_t i = 0; i < r->n_notes; i++)
        str_addf(out, "  %s\n", r->notes[i]);
    for (size_t i = 0; i < c->n_notes; i++)
        str_addf(out, "  %s\n", c->notes[i]);
    if (r->n_questions)
        str_addf(out, "%zu question%s, in task.yaml at # TODO:\n", r->n_questions,
                 r->n_questions == 1 ? "" : "s");
    for (size_t i = 0; i < r->n_questions; i++)
        str_addf(out, "  %zu. %s\n", i + 1, r->questions[i]);
    if (c->launches)
        str_addf(out, "Next: look at %s/task.yaml, then: astra check %s\n", r->folder, r->folder);
    else
        str_addf(out, "Next: say your sizes in %s/task.yaml, then: astra check %s\n", r->folder, r->folder);
}

#define FOUND(member) MEMBER(struct init_found, member)

static const struct member kernel_members[] = {
    FOUND(name),
    FOUND(file),
    FOUND(line),
    MEMBER_NAMED("template", struct init_found, tparams, MEMBER_TEXT_OR_NULL),
    {0}};

static json_t *to_json(const struct init_result *r, const struct capture_task *c)
{
    json_t *list = json_array(), *out = json_object();

    for (size_t i = 0; i < r->n_kernels; i++)
        json_array_append_new(list, json_of_members(kernel_members, &r->kernels[i]));
    json_put(out, "kernels", list);
    json_put_text(out, "folder", r->folder);
    json_put(out, "questions", json_texts(r->questions, r->n_questions));
    json_put(out, "notes", json_texts(r->notes, r->n_notes));
    if (c->n_notes)
        json_put(out, "capture", json_texts(c->notes, c->n_notes));
    return out;
}

int cmd_init(const struct cmd_args *args)
{
    struct arena *a = arena_open();
    struct init_options o = {.out = args->out,
                             .seconds = args->budget_s > 0 ? args->budget_s : 0,
                             .compile_commands = args->compile_commands};
    struct init_result r;
    struct capture_task c = {0};
    const char **flags;
    struct str out = {.arena = a};
    struct err err = {0};
    bool ok;

    split(a, args->words[0], &o);
    o.flags = flags = arena_array(a, const char *, args->flags.n + 1);
    o.n_flags = args->flags.n;
    for (size_t i = 0; i < o.n_flags; i++)
        flags[i] = arena_printf(a, "%s%s", args->flags.list[i].option, args->flags.list[i].value);
    if (args->capture && !o.kernel)
        ok = err_input(&err, "--capture goes with a kernel: astra init %s:KERNEL --capture %s", o.path,
                       args->capture);
    else
        ok = init_run(&r, a, &o, &err);
    if (ok && args->capture && r.folder)
        ok = capture_to_task(a, r.folder, args->capture, r.kernels[0].name, &c, &err);
    if (ok && args->json) {
        json_print(&out, to_json(&r, &c));
    } else if (ok) {
        if (r.folder)
            add_task(&r, &c, &out);
        else
            add_kernels(&r, o.path, &out);
    }
    ok = ok && cmd_print_result(args, str_text(&out), &err);
    arena_close(a);
    return ok ? EXIT_OK : cmd_fail(&err);
}

/* The coder's reply: a whole file, what changes of one, or built-in transforms. It must open as a kernel file
 * and have the task's signature; whether it is right and fast is the trial's business. */
#include "internal.h"

#include <ctype.h>

/* The text without its transform lines; what they name, joined by " + ". */
static char *take_transforms(struct arena *a, const char *text, struct str *transforms)
{
    struct str rest = {.arena = a};

    for (const char *p = text; *p;) {
        const char *end = strchrnul(p, '\n'), *word = p + strspn(p, " \t");
        end += *end == '\n';
        if ((word = transform_line(word)))
            str_addf(transforms, "%s%.*s", transforms->len ? " + " : "", (int)strcspn(word, "\n"), word);
        else
            str_addn(&rest, p, (size_t)(end - p));
        p = end;
    }
    return str_take(&rest, a);
}

static bool blank(const char *s)
{
    return s[strspn(s, " \t\n")] == 0;
}

/* A place in words, with the line itself: whoever reads it has no numbered file before them. */
static bool complain_at(struct arena *a, const char *text, const struct err *why, struct err *complaint)
{
    const char *p = text;

    for (int line = 1; p && line < why->line; line++)
        p = (p = strchr(p, '\n')) ? p + 1 : NULL;
    if (why->line && p)
        err_input(complaint, "line %d, column %d: %s\n%s", why->line, why->col, why->text,
                  text_line(a, arena_strndup(a, p, strcspn(p, "\n")), 160));
    else
        err_input(complaint, "%s", why->text);
    if (complaint) {
        complaint->line = why->line;
        complaint->col = why->col;
    }
    return false;
}

/* Models that save themselves the work write "... rest as before". */
static bool abbreviated(struct arena *a, const char *text)
{
    static const char *const words[] = {"rest of the", "unchanged",     "same as before",
                                        "as before",   "existing code", "remains the same",
                                        "omitted",     "same as above", "your code here"};

    for (const char *p = text; (p = strstr(p, "//")); p += strcspn(p, "\n")) {
        const char *line = arena_strndup(a, p, strcspn(p, "\n"));
        for (size_t i = 0; strstr(line, "..") && i < ARRAY_LEN(words); i++)
            if (strcasestr(line, words[i]))
                return true;
    }
    return false;
}

static bool opens(const struct agent_brief *b, struct arena *a, const char *text, struct err *complaint)
{
    const char *path = fs_basename(b->task->source_path);
    struct kernel *k = NULL;
    struct err why = {0};
    bool ok;

    if (strlen(text) > MAX_FILE_BYTES)
        return err_input(complaint, "the file has more than %d KB", MAX_FILE_BYTES >> 10);
    if (kernel_tests_compiler(path, text, strlen(text), NULL))
        return true; /* the trial has a verdict for that */
    ok = task_kernel_open(&k, a, b->task, path, text, &why) && task_match(b->task, k, &why);
    kernel_close(k);
    if (ok)
        return true;
    if (abbreviated(a, text))
        err_context(&why, "parts of the file are left out; write the whole file");
    return complain_at(a, text, &why, complaint);
}

/* On the file so far; edited: its coder wrote it. */
static bool carry_out(const struct agent_brief *b, struct arena *a, const char *transforms, bool edited,
                      struct agent_file *file, struct err *complaint)
{
    const char *path = fs_basename(b->task->source_path);
    struct agent_strategy s = {.name = "", .reason = "", .plan = ""};
    struct agent_version v;
    struct agent_step *steps, edit = {AGENT_EDIT, 0, file->text};
    struct err why = {0};
    bool ok;

    if (!agent_version_open(&v, a, b->task, path, file->text, b->limits, &why))
        return complain_at(a, file->text, &why, complaint);
    ok = steps_of_text(&v, transforms, a, &s.steps, &s.n_steps, complaint);
    agent_version_close(&v);
    if (!ok)
        return false;
    if (!agent_code_rules(b->task, path, &s, b->limits, a, file, &why))
        return err_input(complaint, "the built-in transforms could not be carried out: %s", why.text);
    if (edited) {
        steps = arena_array(a, struct agent_step, file->n_steps + 1);
        steps[0] = edit;
        memcpy(steps + 1, file->steps, file->n_steps++ * sizeof(*steps));
        file->steps = steps;
    }
    return true;
}

static bool no_file(const struct agent_brief *b, struct err *complaint)
{
    return err_input(
        complaint,
        "there is no file with the launcher %s in it, no patch and no function of the file. Answer with one "
        "fenced block that holds the whole file: every include, every kernel and the extern \"C\" launcher.",
        b->task->entry);
}

/* What is only a part of a file, merged into its writer's own last file, else into the one that was given: its
 * first complaint is of the one that it most likely means. */
static bool merge(const struct agent_brief *b, struct arena *a, const char *part, char **text,
                  struct err *complaint)
{
    bool (*how)(struct arena *, const char *, const char *, char **, struct err *) =
        patch_is(part) ? patch_apply : functions_merge;

    return (b->last_text && how(a, b->last_text, part, text, complaint) && opens(b, a, *text, complaint)) ||
           (how(a, b->parent_text, part, text, b->last_text ? NULL : complaint) &&
            opens(b, a, *text, b->last_text ? NULL : complaint));
}

/* The file that the text is, or that comes of it. */
static bool whole_file(const struct agent_brief *b, struct arena *a, char **text, struct err *complaint)
{
    char *merged;

    if (strlen(*text) > MAX_FILE_BYTES)
        return err_input(complaint, "the file has more than %d KB", MAX_FILE_BYTES >> 10);
    if (patch_is(*text))
        return merge(b, a, *text, text, complaint);
    if (strstr(*text, b->task->entry) && opens(b, a, *text, complaint) &&
        !functions_lack(a, b->parent_text, *text))
        return true;
    if (!abbreviated(a, *text) && merge(b, a, *text, &merged, NULL)) {
        *text = merged;
        return true;
    }
    if (!strstr(*text, b->task->entry))
        return no_file(b, complaint);
    return opens(b, a, *text, complaint); /* what it lacks may be a word in a comment */
}

static bool read_file(const struct agent_brief *b, struct arena *a, const char *block, struct agent_file *file,
                      struct err *complaint)
{
    struct str transforms = {.arena = a};
    char *rest = take_transforms(a, block, &transforms), *text,
         *named = transforms.len ? str_take(&transforms, a) : NULL;

    bool edited = !named || !blank(rest);

    *file = (struct agent_file){.text = edited ? rest : arena_strdup(a, b->parent_text)};
    if (!whole_file(b, a, &file->text, complaint) ||
        (named && !carry_out(b, a, named, edited, file, complaint)))
        return false;
    text = file->text;
    if (!strcmp(kernel_normalise(a, text, strlen(text)),
                kernel_normalise(a, b->parent_text, strlen(b->parent_text))))
        return err_input(complaint,
                         "this is the file you were given, without a change in what runs (lists of tunables "
                         "alone are none)");
    return true;
}

bool agent_says_done(const char *reply)
{
    const char *end = reply + strlen(reply);

    while (end > reply && strchr(" \t\r\n.*_`", end[-1]))
        end--;
    bool last =
        end - reply >= 4 && !strncmp(end - 4, "DONE", 4) && (end - reply == 4 || strchr(" \t\n*_", end[-5]));
    return last && !strstr(reply, "```");
}

bool agent_read_coder(const char *reply, const struct agent_brief *b, struct arena *a, struct agent_file *file,
                      struct err *complaint)
{
    enum { MAX_TRIES = 8 };
    char *blocks[MAX_TRIES];
    size_t n = reply_blocks(a, reply, b->task->entry, blocks, MAX_TRIES);
    struct err first = {0}, why;

    for (size_t i = 0; i < n; i++) {
        why = (struct err){0};
        if (read_file(b, a, blocks[i], file, &why))
            return true;
        if (i == 0)
            first = why;
    }
    if (n == 0)
        return no_file(b, complaint);
    if (complaint)
        *complaint = first;
    return false;
}

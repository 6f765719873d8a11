/* The list of a campaign: a task's folder a line, and its share of the application's time. */
#include "campaign/campaign.h"

static const char blanks[] = " \t\r";

/* A share where the line begins with one ("0.31", "31%", "31 %"): behind it; else at the beginning. */
static char *behind_share(char *at, double *share)
{
    char *end;
    double v = strtod(at, &end);
    char *behind = end + strspn(end, blanks);

    *share = NAN;
    if (end == at || (*behind != '%' && (behind == end || !*behind)))
        return at; /* a folder, though its name may begin with digits */
    *share = *behind == '%' ? v / 100 : v;
    behind += *behind == '%';
    return behind + strspn(behind, blanks);
}

struct reader {
    struct arena *a;
    const char *file, *folder;
    VEC(struct campaign_task) found;
    double all;
};

static bool read_line(struct reader *r, char *line, int number, struct err *err)
{
    struct campaign_task task = {0};
    char *at = line + strspn(line, blanks), *comment = strstr(line, " #");

    if (*at == '#' || !*at)
        return true;
    if (comment)
        *comment = 0;
    for (char *end = at + strlen(at); end > at && strchr(blanks, end[-1]);)
        *--end = 0;
    char *name = behind_share(at, &task.share);
    int col = (int)(at - line) + 1;
    if (name != at && !(task.share > 0 && task.share <= 1))
        return err_at(err, r->file, number, col,
                      "a share of the application's time is above 0 and at most 1, or 100%%");
    r->all += isnan(task.share) ? 0 : task.share;
    if (r->all > 1.0005)
        return err_at(err, r->file, number, col,
                      "up to here the shares come to %.4g %%, more than all of the application's time",
                      100 * r->all);
    col = (int)(name - line) + 1;
    if (!*name)
        return err_at(err, r->file, number, col, "the folder of a task follows the share");
    task.dir = fs_absolute(r->a, fs_join(r->a, r->folder, name));
    if (!fs_is_dir(task.dir))
        return err_at(err, r->file, number, col, "there is no folder %s", task.dir);
    for (size_t i = 0; i < r->found.n; i++)
        if (str_eq(r->found.v[i].dir, task.dir))
            return err_at(err, r->file, number, col, "%s stands in the list twice", name);
    vec_add(r->a, &r->found, task);
    return true;
}

bool campaign_read_list(struct arena *a, const char *file, const struct campaign_task **list, size_t *n,
                        struct err *err)
{
    struct reader r = {.a = a, .file = file, .folder = fs_dirname(a, fs_absolute(a, file))};
    char *text;
    int number = 0;

    if (!fs_read(a, file, &text, NULL, err))
        return err_context(err, "--list");
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (!read_line(&r, line, ++number, err))
            return false;
    }
    if (r.found.n == 0)
        return err_at(err, file, 0, 0,
                      "no task is named; a line is a share of the application's time (0.31, 31%%, or none) "
                      "and a folder");
    *list = r.found.v;
    *n = r.found.n;
    return true;
}

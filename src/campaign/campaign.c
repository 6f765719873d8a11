/* Which kernel has its turn, and for how long. */
#include "campaign/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

static const double shortest_s = 10; /* a run's part of the budget that is worth its beginning */
static const double no_end_s = 1e8;  /* a run that goes on has an earlier part as its budget, else */

double campaign_spent_s(const struct campaign *c)
{
    return c->spent_s + time_s() - c->start_s;
}

/* The share of the application's time that could be saved if the kernel came to run as fast as a plain copy of
 * its compulsory bytes; half of its own, where nobody knows how near it is. */
static double room(const struct kernel_row *row)
{
    double share = isfinite(row->share_of_copy) ? row->share_of_copy : 0.5;

    return fmax(row->share, 0.001) * fmax(0.02, 1 - share);
}

/* Waiting ones first: a run that has had its part goes on with what all others left. */
static struct kernel_row *next(const struct campaign *c)
{
    static const char *const order[] = {"interrupted", "waiting", "budget"};
    struct kernel_row *best = NULL;

    for (size_t k = 0; k < ARRAY_LEN(order) && !best; k++)
        for (size_t i = 0; i < c->n; i++) {
            struct kernel_row *row = &c->rows[i];
            if (!row->under_way && str_eq(row->status, order[k]) && (!best || room(row) > room(best)))
                best = row;
        }
    return best;
}

/* Its part of what is left, by what each of those that wait could save; more where several run at a time. */
static double part_s(const struct campaign *c, const struct kernel_row *row)
{
    double all = 0, left_s = c->budget_s - campaign_spent_s(c);

    for (size_t i = 0; i < c->n; i++)
        if (!c->rows[i].under_way && !str_eq(c->rows[i].status, "done") &&
            !str_eq(c->rows[i].status, "failed") &&
            (str_eq(c->rows[i].status, row->status) || !str_eq(row->status, "budget")))
            all += room(&c->rows[i]);
    return fmin(left_s, fmax(shortest_s, c->o->together * left_s * room(row) / all));
}

static bool survey(struct campaign *c, struct err *err)
{
    for (size_t i = 0; i < c->n && !campaign_stopping(); i++) {
        if (!str_eq(c->rows[i].status, "waiting") || isfinite(c->rows[i].share_of_copy))
            continue;
        if (!c->o->quiet)
            fprintf(stderr, "campaign: how far %s is from a plain copy (%zu of %zu)\n", c->rows[i].name, i + 1,
                    c->n);
        if (!campaign_survey(c, &c->rows[i], err) || !campaign_save(c, err))
            return false;
    }
    return true;
}

static void say(const struct campaign *c, const struct kernel_row *row)
{
    if (c->o->quiet)
        return;
    if (row->words)
        fprintf(stderr, "campaign: %s failed: %s\n", row->name, row->words);
    else
        fprintf(stderr, "campaign: %s, %.2fx (%s), %.0f s\n", row->name,
                isfinite(row->speedup) ? row->speedup : 1, row->status, row->wall_s);
}

/* Begins what has its turn, as many as run at a time. *spent: no part is left that is worth a beginning. */
static bool fill(struct campaign *c, bool *spent, struct err *err)
{
    struct kernel_row *row;

    while (c->under_way < c->o->together && !campaign_stopping() && !*spent && (row = next(c))) {
        bool limited = c->budget_s > 0, anew = str_eq(row->status, "waiting");
        double part = limited ? part_s(c, row) : no_end_s;
        *spent = part < shortest_s;
        if (!*spent && !campaign_begin(c, row, limited || !anew ? row->wall_s + part : 0, err))
            return false;
    }
    return true;
}

static bool turns(struct campaign *c, enum campaign_end *end, struct err *err)
{
    struct kernel_row *ended;
    bool spent = false, ok = c->budget_s <= 0 || survey(c, err);

    while (ok && (ok = fill(c, &spent, err)) && c->under_way > 0)
        while (ok && (ended = campaign_listen(c))) {
            say(c, ended);
            ok = campaign_save(c, err);
        }
    if (!ok) { /* no run is left alone */
        campaign_stop();
        while (c->under_way > 0)
            campaign_listen(c);
    }
    if (campaign_stopping())
        *end = CAMPAIGN_INTERRUPTED;
    else if (spent)
        *end = CAMPAIGN_BUDGET;
    return ok;
}

/* One process at a time carries a campaign on. Gives the lock's descriptor, or -1. */
static int lock(const struct campaign *c, struct err *err)
{
    const char *path = fs_join(c->a, c->out, "campaign.lock"), *network = fs_network(c->out);
    int fd;

    if (network) {
        err_input(err, "%s lies on %s, where runs cannot be kept: give --out on a local disk", c->out, network);
        return -1;
    }
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        err_world(err, "cannot write %s: %s", path, strerror(errno));
    } else if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        err_world(err, "another process carries the campaign in %s on; it writes what it finds there", c->out);
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool write_page(struct campaign *c, const json_t *result, struct err *err)
{
    struct str page = {.arena = c->a};
    bool ok;

    campaign_page(c->a, result, &page);
    ok = fs_write_text(fs_join(c->a, c->out, "report.html"), str_text(&page), err);
    for (size_t i = 0; i < c->n && ok; i++) {
        const char *run = fs_join(c->a, c->out, c->rows[i].run);
        const char *argv[] = {PROC_SELF, "report", run, NULL};
        struct proc_result r;
        if (!fs_exists(fs_join(c->a, run, "result.json")) ||
            (!c->rows[i].had_turn && fs_exists(fs_join(c->a, run, "report.html"))))
            continue;
        ok = proc_run(argv, NULL, NULL, &r, err);
        if (ok) {
            proc_result_free(&r);
        }
    }
    return ok;
}

bool campaign_run(const struct campaign_options *o, struct arena *a, json_t **result, enum campaign_end *end,
                  struct err *err)
{
    struct campaign c = {.o = o, .a = a, .out = o->out, .start_s = time_s()};
    int fd = -1;
    bool ok = fs_mkdirs(o->out, err) && (fd = lock(&c, err)) >= 0 && campaign_open_rows(&c, err);

    *end = CAMPAIGN_DONE;
    *result = NULL;
    ok = ok && campaign_save(&c, err) && turns(&c, end, err) && campaign_save(&c, err);
    if (ok) {
        *result = campaign_to_json(&c);
        ok = write_page(&c, *result, err);
    }
    if (!ok) {
        json_decref(*result);
        *result = NULL;
    }
    if (fd >= 0)
        close(fd);
    return ok;
}

/* The search for the numbers of the best's steps: its space, and the best points that were timed. */
#include "report/report.h"

enum { MOST_ROWS = 10 };

static double score_of(const json_t *point)
{
    double score = json_num(point, "score");

    return json_flag(point, "loses", false) || isnan(score) ? -INFINITY : score;
}

static int by_score(const void *x, const void *y)
{
    const json_t *const *a = x, *const *b = y;
    double p = score_of(*a), q = score_of(*b);

    if (p != q)
        return p < q ? 1 : -1;
    return strcmp(json_text(*a, "name", ""), json_text(*b, "name", ""));
}

struct table *report_tuning_table(struct arena *a, const json_t *tuning)
{
    const json_t *points = json_object_get(tuning, "points"), **list;
    struct table *t = table_new(a, "The numbers of the best's steps, searched together");
    size_t n = json_array_size(points), i;
    json_t *p;

    list = arena_array(a, const json_t *, n + 1);
    json_array_foreach(points, i, p) list[i] = p;
    qsort(list, n, sizeof(*list), by_score);
    json_array_foreach(json_object_get(tuning, "parameters"), i, p)
        table_column(t, json_text(p, "name", "?"), "");
    table_columns(t, "modelled#|rung");
    for (size_t k = 0; k < n && k < MOST_ROWS; k++) {
        int64_t candidate = json_int(list[k], "candidate", -1);
        table_row(t, NULL);
        json_array_foreach(json_object_get(list[k], "values"), i, p) table_int(t, json_integer_value(p));
        table_num(t, json_num(list[k], "score"), 3, "x");
        table_text(t,
                   candidate < 0 ? "timed" : arena_printf(a, "judged: candidate %lld", (long long)candidate));
    }
    return t;
}

char *report_tuning_words(struct arena *a, const json_t *tuning)
{
    double points = 1;
    size_t i, n = json_array_size(json_object_get(tuning, "points"));
    json_t *p;

    json_array_foreach(json_object_get(tuning, "parameters"), i, p) points *=
        (double)json_array_size(json_object_get(p, "values"));
    return arena_printf(
        a,
        "The numbers of candidate %lld's steps, searched together: %zu settings of at most %.0f were "
        "timed on the simulator's clock",
        json_count(tuning, "candidate"), n, points);
}

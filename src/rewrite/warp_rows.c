/* warp-rows: a row that a block walks is walked by a warp, and a block takes several rows: short rows leave
 * most of a block's threads idle, and every reduction over them is barriers. Threads keep asking for their
 * number and how many they are, and get a lane's and 32; barriers become those of the warp, and each warp has
 * shared memory of its own. The copy is taken for rows that are short enough; others keep their block. A
 * setting is 100 * the most steps of a lane + the rows of a block. */
#include "rewrite/regroup.h"

enum { STEPS = 100 };

static bool opens(struct regroup *r, const struct function *f, struct err *why)
{
    if (!regroup_open(r, f, why) || !regroup_any_number(r, why) || !regroup_can_join(r, "rows", 256, why))
        return false;
    return launches_tell(f, r->loop.bound) || err_input(why, "the launcher cannot tell the length of a row");
}

/* The most steps that a lane takes in the row, over the workloads; 0: not known. */
static int64_t steps_of(const struct function *f, const struct regroup *r, bool most)
{
    const struct transform_fact *fact = fact_of(f->in, launch_expression(f, &f->launches[0], r->loop.bound));
    int64_t lanes = 32 * r->loop.width;
    if (!fact || fact->high <= 0)
        return 0;
    return ((most ? fact->high : fact->low) + lanes - 1) / lanes;
}

static void rows_find(struct function *f, struct site_list *found)
{
    static const int own[] = {8 * STEPS + 8, 32 * STEPS + 8, 8 * STEPS + 4, 32 * STEPS + 4};
    struct regroup r;
    if (!opens(&r, f, NULL))
        return;
    int64_t low = steps_of(f, &r, false), high = steps_of(f, &r, true);
    for (const int *setting = settings_to_try(f, found, own, ARRAY_LEN(own)); *setting != NO_SETTING;
         setting++) {
        int steps = *setting / STEPS;
        if (low > steps || (steps > 8 && (r.loop.width > 1 || high <= 8)))
            continue; /* no row is that short; or 8 steps hold it, or it is long */
        site_add(found, f, r.loop.loop, *setting,
                 "a short row leaves most of a block's threads idle, and a warp needs no barrier to reduce it",
                 "a warp a row, %d rows a block", *setting % STEPS);
    }
}

static void names_for(struct regroup *r, const struct function *f, struct regroup_names *names)
{
    struct arena *a = f->a;
    bool kernel = f == r->f;
    const char *lane = fresh_local(f, "lane"), *row = fresh_local(f, "row");
    *names = (struct regroup_names){
        .thread = lane, .threads = "32", .block = row, .blocks = r->rows, .barrier = "__syncwarp()"};
    bool asks = str_has_word(text_of(f, f->body), "threadIdx");
    char *of_lane = arena_printf(a, "\n    const unsigned int %s = threadIdx.x %% 32;", lane);
    if (kernel)
        names->head = arena_printf(a,
                                   "%s\n    const unsigned int %s = (blockIdx.x * %d + threadIdx.x) / 32;\n"
                                   "    if (%s >= %s)\n        return;",
                                   asks ? of_lane : "", row, r->threads, row, r->rows);
    else if (asks)
        names->head = of_lane;
}

static bool rows_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                       struct err *why_not)
{
    struct arena *a = f->a;
    struct regroup r;
    if (!opens(&r, f, why_not))
        return false;
    r.together = site->setting % STEPS;
    r.threads = r.together * 32;
    r.mine = "threadIdx.x / 32";
    r.guarded = true;
    r.names = names_for;
    if (!regroup_join(&r, "rows", "with a warp for each row", edits, why_not))
        return false;
    int lanes = 32 * r.loop.width * (site->setting / STEPS);
    for (const struct launch *launch = f->launches; launch < f->launches + f->n_launches; launch++) {
        edits_guard_launch(edits, f, launch, "A warp for each row, where rows are short.",
                           arena_printf(a, "%s <= %d", launch_expression(f, launch, r.loop.bound), lanes),
                           regroup_launch(&r, launch));
    }
    return true;
}

static const char *rows_words(struct arena *a, int setting)
{
    return arena_printf(a, "%d a block, up to %d steps", setting % STEPS, setting / STEPS);
}

const struct transform transform_warp_rows = {
    .name = "warp-rows",
    .summary = "a warp for each short row and several rows a block, where a block walked one",
    .helps = "latency sync issue launch dram",
    .parameters = {{"rows", 1, STEPS, 3, {2, 4, 8}}, {"steps", STEPS, 0, 4, {4, 8, 16, 32}}},
    .setting_words = rows_words,
    .find = rows_find,
    .apply = rows_apply,
};

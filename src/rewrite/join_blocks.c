/* join-blocks: several small blocks become one. An SM holds a limited number of blocks (32, 16 or 24), so
 * blocks of 32 or 64 threads leave most of its threads unused, and starting each costs as much as starting a
 * large one. A thread's number in its block and its block's number are worked out from the larger block's;
 * nothing else changes, as threads that meet do so within their warp. The setting is the number of blocks. */
#include "rewrite/regroup.h"

enum { SMALL = 128, THREADS_MOST = 1024 };

/* Nothing is the block's own but its number: no shared memory, no barrier. */
static bool only_warps_meet(const struct regroup *r, struct err *why)
{
    for (size_t k = 0; k < r->n; k++) {
        const char *body = text_of(r->functions[k], r->functions[k]->body);
        if (str_has_word(body, "__shared__") || str_has_word(body, "__syncthreads"))
            return err_input(why, "the threads of a block meet in %s", r->functions[k]->name);
    }
    return true;
}

static bool opens(struct regroup *r, const struct function *f, int blocks, struct err *why)
{
    if (f->block_x < 32 || f->block_x % 32 || f->block_x > SMALL || f->block_x * blocks > THREADS_MOST)
        return err_input(why, "%s has no small blocks", f->name);
    return regroup_open(r, f, why) && only_warps_meet(r, why) &&
           regroup_can_join(r, "joined", (int)f->block_x * blocks, why);
}

static void join_find(struct function *f, struct site_list *found)
{
    static const int own[] = {8, 4, 2};
    struct regroup r;
    for (const int *setting = settings_to_try(f, found, own, ARRAY_LEN(own)); *setting != NO_SETTING; setting++)
        if (opens(&r, f, *setting, NULL))
            site_add(found, f, f->definition, *setting,
                     "an SM holds few blocks at a time; small ones leave most of its threads unused",
                     "%d blocks of %lld threads in one", *setting, (long long)f->block_x);
}

static void names_for(struct regroup *r, const struct function *f, struct regroup_names *names)
{
    struct arena *a = f->a;
    const char *threads = arena_printf(a, "%lld", (long long)r->f->block_x), *block = fresh_local(f, "block");
    *names = (struct regroup_names){.thread = arena_printf(a, "(threadIdx.x %% %s)", threads),
                                    .threads = threads,
                                    .block = block,
                                    .blocks = r->rows,
                                    .barrier = "__syncwarp()"};
    if (f == r->f)
        names->head = arena_printf(a,
                                   "\n    const unsigned int %s = blockIdx.x * %d + threadIdx.x / %s;\n"
                                   "    if (%s >= %s)\n        return;",
                                   block, r->together, threads, block, r->rows);
}

/* The launcher's own word for the block's size, where that is no constant. */
static void add_guards(const struct function *f, const struct launch *l, struct guard_list *guard)
{
    const char *x = launch_threads(f, l), *end = strrchr(x, '.');
    int64_t threads;
    if (launch_block_constant(f, l, &threads))
        return;
    guard_add(f->a, guard, arena_printf(f->a, "%s == %lld", x, (long long)f->block_x));
    for (const char *axis = "yz"; *axis && end && str_eq(end, ".x"); axis++)
        guard_add(f->a, guard, arena_printf(f->a, "%.*s.%c == 1", (int)(end - x), x, *axis));
}

static bool join_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                       struct err *why_not)
{
    struct arena *a = f->a;
    struct regroup r;
    if (!opens(&r, f, site->setting, why_not))
        return false;
    r.together = site->setting;
    r.threads = (int)f->block_x * site->setting;
    r.guarded = true;
    r.names = names_for;
    if (!regroup_join(&r, "joined", arena_printf(a, "with %d blocks in one", r.together), edits, why_not))
        return false;
    for (const struct launch *launch = f->launches; launch < f->launches + f->n_launches; launch++) {
        struct guard_list guard = {0};
        add_guards(f, launch, &guard);
        const char *call = regroup_launch(&r, launch);
        if (guard.list.n)
            edits_guard_launch(edits, f, launch, "Small blocks become parts of larger ones.",
                               guard_join(f, &guard, launch), call);
        else
            edits_launch(edits, f, launch, text_wrap(a, call, launch_column(f, launch)));
    }
    return true;
}

const struct transform transform_join_blocks = {
    .name = "join-blocks",
    .summary = "make several small blocks one, so that an SM has all the threads that it can hold",
    .helps = "latency launch issue dram",
    .chooses = "block",
    .parameters = {{"blocks", 1, 0, 5, {2, 3, 4, 8, 16}}},
    .find = join_find,
    .apply = join_apply,
};

/* stage-rows: where each thread has a short row of its own, a matrix of 4 by 4 or 16 numbers in turn,
 * neighbouring threads reach elements a row apart, and each access of a warp is one of 32 lines. The block
 * moves its rows, which lie beside each other, through shared memory: neighbours then reach neighbours.
 *
 * Rows are read so where nobody writes what the pointer leads to; and written so where a thread writes each
 * element of its row, whatever it reads, and the kernel does nothing else with them. How long a row is and what
 * a thread reaches of it follow from constants. */
#include "rewrite/own_rows.h"

enum {
    LONGEST = 128,
    LONGEST_BYTES = 512,
    SHARED_MOST = 48 * 1024,
    STAGED_MOST = 8,
    UNROLLED = 16,
    NESTED = 4
};

struct staged { /* rows of one parameter */
    const struct variable *pointer;
    row_place_list places;
    struct poly base;          /* where the rows of the blocks along x begin */
    int64_t stride, low, high; /* elements from row to row; the first and the last that is moved */
    bool store;
    const char *name; /* of the shared array */
};

struct detail {
    struct own_rows rows;
    const char *first, *here; /* names of the block's first row and of how many it has */
    struct staged staged[STAGED_MOST];
    size_t n;
};

static struct staged *staged_of(struct detail *d, const struct variable *pointer)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->staged[i].pointer == pointer)
            return &d->staged[i];
    if (d->n == STAGED_MOST)
        return NULL;
    d->staged[d->n] = (struct staged){.pointer = pointer, .low = INT32_MAX};
    return &d->staged[d->n++];
}

static int64_t width_of(const struct staged *s)
{
    return s->high - s->low + 1;
}

static int size_of(const struct function *f, const struct staged *s)
{
    return ctype_size(f, ctype_bound(f, s->pointer->type));
}

static int64_t pitch_of(const struct function *f, const struct staged *s)
{
    return row_pitch(width_of(s), size_of(f, s));
}

static int64_t bytes_of(const struct function *f, const struct staged *s)
{
    return f->block_x * pitch_of(f, s) * size_of(f, s);
}

/* The elements that this store writes, whatever the loops around it hold; false where it is not always reached.
 */
static bool marks(const struct detail *d, const struct row_place *p, bool *written)
{
    const struct function *f = d->rows.f;
    struct counted loops[NESTED];
    size_t n = 0;
    int64_t turns = 1;

    for (struct node up = node_parent(p->at); !node_same(up, f->body) && !node_same(up, d->rows.question);
         up = node_parent(up)) {
        if (node_is_loop(up)) {
            if (n == NESTED || !counted_of(f, up, &loops[n]))
                return false;
            turns *= loops[n].end - loops[n].low;
            n++;
        } else if (node_is_asked(f, up) && !node_is_loop(node_parent(up)) &&
                   !node_same(node_parent(up), d->rows.question)) {
            return false;
        }
    }
    for (int64_t turn = 0; turn < turns && turns <= LONGEST * LONGEST; turn++) {
        int64_t at = 0;
        for (int i = 0; i < p->rest.n; i++) {
            const struct term *t = &p->rest.t[i];
            int64_t value = t->n == 0 ? 1 : INT64_MIN, left = turn;
            for (size_t l = 0; l < n && t->n == 1; l++) {
                int64_t many = loops[l].end - loops[l].low;
                if (str_eq(loops[l].index->name, t->atom[0]))
                    value = loops[l].low + left % many;
                left /= many;
            }
            if (value == INT64_MIN)
                return false;
            at += t->by * value;
        }
        if (at < 0 || at >= LONGEST)
            return false;
        written[at] = true;
    }
    return turns <= LONGEST * LONGEST;
}

static bool writes_whole_rows(const struct detail *d, const struct staged *s)
{
    bool written[LONGEST] = {false};
    const struct function *f = d->rows.f;
    size_t uses = 0, returns = 0;

    for (struct node *name = names_in(f, f->body); node_ok(*name); name++)
        uses += function_variable_of(f, *name) == s->pointer;
    for (size_t i = 0; i < s->places.n; i++)
        if (!marks(d, &s->places.v[i], written))
            return false;
    for (int64_t k = s->low; k <= s->high; k++)
        if (!written[k])
            return false;
    for (struct node *n = nodes_of(f, f->body, NODE_RETURN_STATEMENT); node_ok(*n); n++)
        returns++;
    return uses == s->places.n && returns == d->rows.leaves;
}

/* Worth it, and right? */
static bool may_be_staged(const struct detail *d, const struct staged *s)
{
    const struct function *f = d->rows.f;
    int size = size_of(f, s);
    int64_t width = width_of(s), bytes = width * size;
    bool vector = bytes <= 16 && (bytes & (bytes - 1)) == 0; /* one access takes it: join-accesses */

    if (s->places.n == 0 || width < 2 || vector || bytes > LONGEST_BYTES || 2 * width < s->stride || size > 8)
        return false;
    return s->store ? writes_whole_rows(d, s) : !memory_written_in(f, s->pointer->name, f->body);
}

static void collect(struct detail *d)
{
    const struct function *f = d->rows.f;
    row_place_list all = row_places(&d->rows, f->body);
    for (size_t i = 0; i < all.n; i++) {
        struct row_place p = all.v[i];
        int64_t low, high;
        struct poly base = poly_common(f, &p.rest, &p.rest);
        struct staged *s = staged_of(d, p.pointer);
        if (!s || p.updates || p.stride.n != 1 || p.stride.t[0].n != 0 ||
            !poly_range(f, &p.rest, p.at, &low, &high) || low < 0 || high >= p.stride.t[0].by ||
            p.stride.t[0].by > LONGEST || !base.ok ||
            (s->places.n > 0 &&
             (s->stride != p.stride.t[0].by || s->store != p.store || !poly_same(&s->base, &base))))
            continue;
        s->base = base;
        s->stride = p.stride.t[0].by;
        s->store = p.store;
        s->low = MIN(s->low, low);
        s->high = MAX(s->high, high);
        vec_add(f->a, &s->places, p);
    }
}

static bool understood(const struct function *f, struct detail *d, struct err *why)
{
    int64_t bytes;
    size_t kept = 0;

    *d = (struct detail){0};
    bool meet = !own_rows_open_batched(f, &d->rows,
                                       NULL); /* then rows are only read, ahead of all that they meet for */
    if (meet && (!own_rows_open_meeting(f, &d->rows, why) || strstr(text_of(f, f->body), "extern")))
        return false;
    bytes = meet ? shared_bytes(f) : 0;
    collect(d);
    for (size_t i = 0; i < d->n; i++) {
        struct staged *s = &d->staged[i];
        if (!may_be_staged(d, s) || (meet && s->store) || bytes + bytes_of(f, s) > SHARED_MOST)
            continue;
        bytes += bytes_of(f, s);
        s->name = fresh_local(f, arena_printf(f->a, "%s_rows", s->pointer->name));
        d->staged[kept++] = *s;
    }
    d->n = kept;
    return kept > 0 || err_input(why, "no thread of %s has a short row of its own", f->name);
}

static void rows_find(struct function *f, struct site_list *found)
{
    struct detail d;
    if (!understood(f, &d, NULL))
        return;
    struct str names = {.arena = f->a};
    for (size_t i = 0; i < d.n; i++)
        str_addf(&names, "%s%s", i > 0 ? ", " : "", d.staged[i].pointer->name);
    site_add(
        found, f, d.staged[0].places.v[0].at, 0,
        "neighbouring threads reach elements a row apart, so that each access of a warp is one of many lines; "
        "through shared memory the block moves its rows in order",
        "rows of %s", str_text(&names));
}

static const char *move_text(const struct detail *d, const struct staged *s, const char *file)
{
    const struct function *f = d->rows.f;
    struct arena *a = f->a;
    int64_t width = width_of(s);
    const char *w = arena_printf(a, "%lld", (long long)width),
               *from = width == s->stride ? arena_printf(a, "%s * %s + at", d->first, w)
                                          : arena_printf(a, "(%s + at / %s) * %lld + %lld + at %% %s", d->first,
                                                         w, (long long)s->stride, (long long)s->low, w);
    if (s->base.n > 0)
        from = arena_printf(a, "%s + %s", poly_text_wide(f, &s->base), from);
    const struct fill_slot slots[] = {
        {"type", s->pointer->type},
        {"own", s->name},
        {"threads", arena_printf(a, "%lld", (long long)f->block_x)},
        {"pitch", arena_printf(a, "%lld", (long long)pitch_of(f, s))},
        {"width", w},
        {"unroll", arena_printf(a, "%lld", (long long)MIN(width, UNROLLED))},
        {"rows", d->here},
        {"pointer", s->pointer->name},
        {"from", from},
    };
    return fill_share(a, file, slots, ARRAY_LEN(slots));
}

/* The block's first row, and how many it has. */
static const char *rows_text(struct detail *d)
{
    const struct function *f = d->rows.f;
    long long threads = f->block_x;
    d->first = fresh_local(f, "first_row");
    d->here = arena_printf(f->a, "%lld", threads);
    const char *first =
        arena_printf(f->a, "\n    const long long %s = (long long)blockIdx.x * %lld;", d->first, threads);
    if (!node_ok(d->rows.question))
        return first;
    d->here = fresh_local(f, "rows_here");
    bool name = node_is(d->rows.bound, NODE_IDENTIFIER);
    return arena_printf(f->a,
                        name ? "%s\n    const int %s = (int)min(%lldLL, (long long)%s - %s);"
                             : "%s\n    const int %s = (int)min(%lldLL, (long long)(%s) - %s);",
                        first, d->here, threads, text_of(f, d->rows.bound), d->first);
}

static void places_edit(const struct detail *d, struct edits *edits)
{
    const struct function *f = d->rows.f;
    for (const struct staged *s = d->staged; s < d->staged + d->n; s++) {
        int64_t pitch = pitch_of(f, s);
        for (size_t i = 0; i < s->places.n; i++) {
            struct poly at = poly_add(f, s->places.v[i].rest, poly_number(s->low), -1);
            edits_node(edits, s->places.v[i].at,
                       arena_printf(f->a, at.n > 0 ? "%s[threadIdx.x * %lld + %s]" : "%s[threadIdx.x * %lld]",
                                    s->name, (long long)pitch, poly_text(f, &at)));
        }
    }
}

/* `if (i >= n) return;` and what follows become `if (i < n) { ... }`, as all threads meet at the end. */
static void question_edit(const struct detail *d, struct edits *edits)
{
    const struct function *f = d->rows.f;
    size_t n;
    struct node *all = named_children(f, f->body, &n), last = all[n - 1];
    const char *indent = text_indent(f, node_start(d->rows.question));
    struct edits inside = {.arena = f->a};

    places_edit(d, &inside);
    size_t from = node_end(d->rows.question);
    while (f->text[from] == ' ' || f->text[from] == '\n')
        from++;
    const char *rest = edits_range(&inside, f, from, node_end(last));
    edits_try(edits, node_start(d->rows.question), node_end(last),
              arena_printf(f->a, "if (%s < %s) {\n%s    %s\n%s}", text_of(f, d->rows.left),
                           text_of(f, d->rows.bound), indent, text_reindent(f->a, rest, 4), indent));
}

static bool rows_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                       struct err *why_not)
{
    struct detail d;
    struct str loads = {.arena = f->a}, stores = {.arena = f->a};

    (void)site;
    if (!understood(f, &d, why_not))
        return false;
    str_add(&loads, rows_text(&d));
    for (size_t i = 0; i < d.n; i++) {
        const struct staged *s = &d.staged[i];
        if (s->store) {
            str_addf(&loads, "\n    __shared__ %s %s[%lld * %lld];", s->pointer->type, s->name,
                     (long long)f->block_x, (long long)pitch_of(f, s));
            str_addf(&stores, "\n%s", move_text(&d, s, "cuda/rewrite/own_rows_store.cu"));
        } else {
            str_addf(&loads, "\n%s", move_text(&d, s, "cuda/rewrite/own_rows_load.cu"));
        }
    }
    bool reads = false;
    for (size_t i = 0; i < d.n; i++)
        reads = reads || !d.staged[i].store;
    edits_at(edits, node_start(f->body) + 1,
             arena_printf(f->a, "%s%s", str_text(&loads), reads ? "\n    __syncthreads();" : ""));
    if (str_text(&stores)[0] && d.rows.leaves)
        question_edit(&d, edits);
    else
        places_edit(&d, edits);
    if (str_text(&stores)[0])
        edits_at(edits, str_line_start(f->text, node_end(f->body) - 1),
                 arena_printf(f->a, "    __syncthreads();%s\n", str_text(&stores)));
    return true;
}

const struct transform transform_stage_rows = {
    .name = "stage-rows",
    .summary = "move the short rows that threads have by themselves through shared memory, in order",
    .helps = "l2 dram latency issue order",
    .find = rows_find,
    .apply = rows_apply,
};

/* Kept launches of a kernel without source, run again on the simulator from the PTX that the program loaded:
 * with what its buffers held, as far as that was kept, else zeros. */
#include "capture/internal.h"
#include "clock/clock.h"
#include "sanitize/sanitize.h"

enum { MOST_PARAMS = 128, MOST_BLOCKS = 64, MOST_POINTERS = 512 };

struct extent { /* of one pointer: what the launch touches of it */
    uint64_t addr, bytes, end;
    bool read, wrote;
};

struct replay {
    struct arena *a;
    const char *folder;
    const struct ptx_device *device;
    const json_t *launch;
    struct ptx_module *module;
    const struct ptx_kernel_info *kernel;
    struct ptx_mem *mem;
    const void *args[MOST_PARAMS];
    VEC(struct extent) extents;
    VEC(const char *) names; /* of them */
    bool whole;              /* contents of every pointer were kept */
};

/* ---- memory ---- */

static uint64_t place(struct replay *r, const json_t *pointer, const char *name, struct err *err);

/* The pointers that bytes hold, wherever those lie: to[at] gets the address of each. */
static bool place_inner(struct replay *r, const json_t *of, const char *name, unsigned char *to, size_t n,
                        struct err *err)
{
    const json_t *o;
    size_t i;

    json_array_foreach(json_object_get(of, "inner"), i, o)
    {
        size_t at = (size_t)json_int(o, "at", -1);
        uint64_t address;
        if (at > n || n - at < 8)
            return err_input(err, "%s: a pointer lies %zu bytes behind the beginning of %zu", r->folder, at, n);
        if (!(address = place(r, o, arena_printf(r->a, "%s+%zu", name, at), err)))
            return false;
        memcpy(to + at, &address, sizeof(address));
    }
    return true;
}

/* An allocation of what lay behind a pointer; 0 with err. */
static uint64_t place(struct replay *r, const json_t *pointer, const char *name, struct err *err)
{
    const char *contents = json_text(pointer, "contents", NULL);
    const struct ptx_buffer b = {
        .name = name, .size_bytes = (uint64_t)json_count(pointer, "extent"), .initialised = true};
    uint64_t address = 0;
    char *data;
    size_t n;

    if (r->extents.n >= MOST_POINTERS || !b.size_bytes || b.size_bytes > (uint64_t)1 << 44)
        err_input(err, "%s: a launch has more pointers, or larger buffers, than there can be", r->folder);
    else
        address = ptx_mem_alloc(r->mem, &b, err);
    if (!address)
        return 0;
    vec_add(r->a, &r->extents, ((struct extent){.addr = address, .bytes = b.size_bytes}));
    vec_add(r->a, &r->names, arena_strdup(r->a, name));
    r->whole = r->whole && contents;
    if (!contents)
        return address;
    if (!capture_contents_read(r->a, r->folder, contents, &data, &n, err) ||
        !place_inner(r, pointer, name, (unsigned char *)data, n, err))
        return 0;
    return ptx_mem_write(r->mem, address, data, MIN(n, (size_t)b.size_bytes), true)
               ? address
               : (err_input(err, "%s: %s cannot be written", r->folder, name), 0);
}

static bool place_param(struct replay *r, const json_t *p, size_t i, struct err *err)
{
    size_t n = r->kernel->param_bytes[i];
    unsigned char *value = arena_zalloc(r->a, n + 8);
    const char *hex = json_text(p, "value", ""), *name = arena_printf(r->a, "parameter %zu", i + 1);
    uint64_t address;

    r->args[i] = value;
    if ((size_t)json_count(p, "bytes") != n)
        return err_input(err, "%s: parameter %zu of %s has %zu bytes, not %lld", r->folder, i + 1,
                         r->kernel->name, n, json_count(p, "bytes"));
    if (json_flag(p, "pointer", false)) {
        if (n != 8 || !(address = place(r, p, name, err)))
            return err->kind != ERR_NONE ? false : err_input(err, "%s: a pointer of %zu bytes", r->folder, n);
        memcpy(value, &address, sizeof(address));
        return true;
    }
    for (size_t k = 0; k < n && strlen(hex) == 2 * n; k++)
        value[k] =
            (unsigned char)(MAX(str_hex_digit(hex[2 * k]), 0) << 4 | MAX(str_hex_digit(hex[2 * k + 1]), 0));
    return place_inner(r, p, name, value, n, err);
}

/* ---- one launch ---- */

static void dims_of(const json_t *o, const char *key, uint32_t to[3])
{
    for (size_t i = 0; i < 3; i++)
        to[i] = (uint32_t)json_integer_value(json_array_get(json_object_get(o, key), i));
}

static bool place_all(struct replay *r, struct ptx_launch *l, struct err *err)
{
    const json_t *params = json_object_get(r->launch, "parameters"), *p;
    size_t i;

    if (json_array_size(params) != r->kernel->n_params || r->kernel->n_params > MOST_PARAMS)
        return err_input(err, "%s: %s has %zu parameters, %zu were kept", r->folder, r->kernel->name,
                         r->kernel->n_params, json_array_size(params));
    r->mem = ptx_mem_open(1);
    json_array_foreach(params, i, p) if (!place_param(r, p, i, err)) return false;
    *l = (struct ptx_launch){.kernel = r->kernel->name,
                             .shared_bytes = (uint32_t)json_count(r->launch, "dynamic_shared_bytes"),
                             .args = r->args,
                             .n_args = r->kernel->n_params,
                             .cooperative = json_flag(r->launch, "cooperative", false)};
    dims_of(r->launch, "grid", l->grid);
    dims_of(r->launch, "block", l->block);
    return true;
}

/* All blocks of a small grid; of a large one the first, the last and some between. */
static size_t choose_blocks(const struct ptx_launch *l, uint64_t *blocks)
{
    uint64_t n = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];

    if (n <= MOST_BLOCKS || l->cooperative)
        return 0;
    for (uint64_t i = 0; i < MOST_BLOCKS; i++)
        blocks[i] = i * (n - 1) / (MOST_BLOCKS - 1);
    return MOST_BLOCKS;
}

static json_t *finding_json(const struct ptx_finding *f)
{
    json_t *o = json_object();

    json_put_text(o, "kind", ptx_finding_name(f->kind));
    json_put_text(o, "words", f->words);
    json_put_int(o, "line", f->line);
    json_put_int(o, "ptx_line", f->ptx_line);
    return o;
}

static struct extent *touch(struct replay *r, uint64_t addr, uint64_t bytes)
{
    for (size_t i = 0; i < r->extents.n; i++) {
        struct extent *x = &r->extents.v[i];
        if (addr >= x->addr && addr - x->addr < x->bytes) {
            x->end = MAX(x->end, addr - x->addr + bytes);
            return x;
        }
    }
    return NULL;
}

static void stored(void *context, uint64_t addr, uint64_t bytes, bool atomic)
{
    struct extent *x = touch(context, addr, bytes);

    if (x)
        x->wrote = true;
    if (x && atomic)
        x->read = true;
}

static void loaded(void *context, uint64_t addr, uint64_t bytes)
{
    struct extent *x = touch(context, addr, bytes);

    if (x)
        x->read = true;
}

static bool check(struct replay *r, const struct ptx_launch *l, json_t *o, struct err *err)
{
    const struct sanitize_stores stores = {r, stored, loaded};
    struct sanitizer sanitizer = {0};
    struct ptx_report report = {0};
    uint64_t blocks[MOST_BLOCKS];
    json_t *findings = json_array(), *extents = json_array();
    struct ptx_options options = {.device = r->device, .seed = 1, .blocks = blocks};

    options.observers[0] = sanitizer_on(&sanitizer, SANITIZE_ALL);
    sanitizer.stores = &stores;
    options.n_blocks = choose_blocks(l, blocks);
    if (!options.n_blocks)
        options.blocks = NULL;
    bool ok = ptx_run(r->module, r->mem, l, &options, &report, err);
    for (size_t i = 0; ok && i < report.n_findings; i++)
        json_array_append_new(findings, finding_json(&report.findings[i]));
    for (size_t i = 0; ok && i < r->extents.n; i++)
        json_array_append_new(extents, json_pack("{s:s, s:I, s:I, s:b, s:b}", "of", r->names.v[i], "touched",
                                                 (json_int_t)r->extents.v[i].end, "extent",
                                                 (json_int_t)r->extents.v[i].bytes, "read",
                                                 r->extents.v[i].read, "wrote", r->extents.v[i].wrote));
    json_put_text(o, "end", ok ? ptx_end_name(report.end) : "failed");
    json_put_int(o, "blocks_run", (int64_t)report.blocks);
    json_put(o, "findings", findings);
    json_put(o, "buffers", extents);
    ptx_report_clear(&report);
    return ok;
}

static bool take_time(struct replay *r, const struct ptx_launch *l, json_t *o, struct err *err)
{
    struct ptx_options options = {
        .device = r->device, .seed = 1, .registers = (uint32_t)json_count(r->launch, "registers")};
    struct ptx_resources resources = {.registers = options.registers, .shared_bytes = r->kernel->shared_bytes};
    struct ptx_cache *cache = ptx_cache_open(r->device);
    const struct ptx_timed on = {.module = r->module,
                                 .mem = r->mem,
                                 .options = &options,
                                 .resources = &resources,
                                 .cache = cache,
                                 .arena = r->a};
    struct ptx_time t = {0};
    struct ptx_report report = {0};
    json_t *lines = json_array();
    bool ok = ptx_time_launch(&on, l, &t, &report, err);

    if (ok && report.end != PTX_DONE)
        ok = err_input(err, "%s: %s", ptx_end_name(report.end),
                       report.n_findings ? report.findings[0].words : "it did not come to its end");
    if (ok) {
        json_put_num(o, "modelled_us", t.us);
        json_put_text(o, "bound_by", ptx_bound_name(t.bound));
        json_put_num(o, "occupancy", t.occupancy);
        json_put_num(o, "dram_bytes", t.dram_bytes);
        json_put_num(o, "flops", t.flops);
    }
    for (size_t i = 0; ok && i < MIN(t.n_lines, (size_t)8); i++)
        json_array_append_new(
            lines, json_pack("{s:i, s:f}", "line", t.lines[i].line, "share", t.lines[i].stall_share));
    json_put(o, "lines", lines);
    ptx_cache_close(cache);
    ptx_report_clear(&report);
    return ok;
}

static bool replay_one(struct replay *r, const char *image, bool time, json_t *o, struct err *err)
{
    const char *path = arena_printf(r->a, "%s/images/%s", r->folder, image),
               *symbol = json_text(r->launch, "kernel", "");
    struct ptx_launch l;
    char *text;
    size_t n;

    if (strchr(image, '/'))
        return err_input(err, "%s: '%.60s' is no name of an image", r->folder, image);
    if (!fs_read(r->a, path, &text, &n, err) || !ptx_module_open(&r->module, path, text, n, err))
        return false;
    if (!(r->kernel = ptx_module_kernel(r->module, symbol)))
        return err_input(err, "%s has no kernel %s", path, symbol);
    r->whole = true;
    return place_all(r, &l, err) && (time ? take_time(r, &l, o, err) : check(r, &l, o, err));
}

/* What it could not be run for stands in the row; only a broken capture is an error. */
static bool add_launch(struct arena *a, const char *folder, const json_t *launch, bool time, json_t *list,
                       struct err *err)
{
    struct replay r = {.a = a, .folder = folder, .device = ptx_device_find("h200"), .launch = launch};
    const char *image = json_text(launch, "image", "");
    json_t *o = json_object();
    bool ok = r.device || err_world(err, "the device h200 is not known here");

    json_put_text(o, "kernel", json_text(launch, "kernel", ""));
    json_put(o, "grid", json_deep_copy(json_object_get(launch, "grid")));
    json_put(o, "block", json_deep_copy(json_object_get(launch, "block")));
    if (!str_ends(image, ".ptx")) {
        json_put_text(
            o, "not_run",
            !*image
                ? "the code that it came from was not seen"
                : "the program loaded machine code, no PTX: it is ranked and timed, and cannot be simulated");
    } else if (ok && !replay_one(&r, image, time, o, err)) {
        json_put_text(o, "not_run", err->text);
        *err = (struct err){0};
    } else if (ok) {
        json_put_flag(o, "real_data", r.whole);
    }
    json_array_append_new(list, o);
    ptx_mem_close(r.mem);
    ptx_module_close(r.module);
    return ok;
}

bool capture_replay(struct arena *a, const char *folder, const char *name, bool time, json_t **list,
                    struct err *err)
{
    const json_t *o;
    json_t *ranking = NULL;
    size_t i;
    bool ok = capture_read(a, folder, &ranking, err);

    *list = json_array();
    json_array_foreach(json_object_get(ranking, "launches_kept"), i, o)
    {
        const char *symbol = json_text(o, "kernel", "");
        if (ok && (!name || strstr(symbol, name) || strstr(capture_demangled(a, symbol), name)))
            ok = add_launch(a, folder, o, time, *list, err);
    }
    json_decref(ranking);
    if (ok && !json_array_size(*list))
        ok = err_input(err, "%s keeps no launch of %s; capture with --keep and a part of its name", folder,
                       name ? name : "any kernel");
    if (!ok)
        json_decref(*list);
    return ok;
}

/* ---- words ---- */

static const char *dims_words(struct arena *a, const json_t *o, const char *key)
{
    return json_line(a, json_object_get(o, key));
}

void capture_replay_text(struct arena *a, const json_t *list, bool time, struct str *out)
{
    const json_t *o, *x;
    size_t i, j;

    json_array_foreach(list, i, o)
    {
        str_addf(out, "%s, grid %s, block %s: ", capture_demangled(a, json_text(o, "kernel", "")),
                 dims_words(a, o, "grid"), dims_words(a, o, "block"));
        if (json_text(o, "not_run", NULL)) {
            str_addf(out, "not run: %s\n", json_text(o, "not_run", ""));
            continue;
        }
        if (time)
            str_addf(out, "%.2f us modelled, bound by %s, occupancy %.0f %%", json_num(o, "modelled_us"),
                     json_text(o, "bound_by", "?"), 100 * json_num(o, "occupancy"));
        else
            str_addf(out, "%s, %zu finding%s in %lld blocks", json_text(o, "end", "?"),
                     json_array_size(json_object_get(o, "findings")),
                     json_array_size(json_object_get(o, "findings")) == 1 ? "" : "s",
                     json_count(o, "blocks_run"));
        str_add(out, json_flag(o, "real_data", false) ? "\n" : "; buffers that were not kept held zeros\n");
        json_array_foreach(json_object_get(o, "findings"), j, x)
            str_addf(out, "  %s: %s (PTX line %lld)\n", json_text(x, "kind", ""), json_text(x, "words", ""),
                     json_count(x, "ptx_line"));
        json_array_foreach(json_object_get(o, "buffers"), j, x)
            str_addf(out, "  %s: %lld of %lld bytes %s%s%s\n", json_text(x, "of", ""), json_count(x, "touched"),
                     json_count(x, "extent"), json_flag(x, "read", false) ? "read" : "",
                     json_flag(x, "read", false) && json_flag(x, "wrote", false) ? " and " : "",
                     json_flag(x, "wrote", false) ? "written" : "");
        json_array_foreach(json_object_get(o, "lines"), j, x) if (json_count(x, "line") > 0) str_addf(
            out, "  line %lld: %.0f %% of the time\n", json_count(x, "line"), 100 * json_num(x, "share"));
    }
}

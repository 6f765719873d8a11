/* A ranking in words: tables, and the list of a campaign. */
#include "capture/internal.h"

#include <ctype.h>
#include <dlfcn.h>

/* The C++ names by the C++ library where it is there, else as they are. */
const char *capture_demangled(struct arena *a, const char *name)
{
    static char *(*demangle)(const char *, char *, size_t *, int *);
    static bool tried;
    void *library, *symbol;
    int status = 0;

    if (!tried && (library = dlopen("libstdc++.so.6", RTLD_LAZY))) {
        symbol = dlsym(library, "__cxa_demangle");
        memcpy(&demangle, &symbol, sizeof(symbol));
    }
    tried = true;
    char *text = demangle && str_starts(name, "_Z") ? demangle(name, NULL, NULL, &status) : NULL;
    const char *said = text ? arena_strdup(a, text) : name;
    free(text);
    return said;
}

/* A name without what stands in brackets, and what it returns: for a table, and for a folder. */
static const char *short_name(struct arena *a, const char *name)
{
    struct str s = {.arena = a};
    int depth = 0;

    if (str_starts(name, "void "))
        name += 5;
    for (const char *p = name; *p && (depth || *p != '('); p++) {
        if (str_starts(p, "(anonymous namespace)")) {
            p += 20;
            continue;
        }
        depth -= *p == '>';
        if (!depth && *p != '>')
            str_addc(&s, *p);
        else if (depth == 0)
            str_add(&s, "<>");
        depth += *p == '<';
        if (depth == 1 && *p == '<')
            s.s[--s.len] = 0;
    }
    return s.len ? str_take(&s, a) : name;
}

static const char *shape_words(struct arena *a, const json_t *shape, const char *key)
{
    const json_t *d = json_object_get(shape, key);
    long long v[3];

    for (size_t i = 0; i < 3; i++)
        v[i] = json_integer_value(json_array_get(d, i));
    if (v[2] != 1)
        return arena_printf(a, "%lld x %lld x %lld", v[0], v[1], v[2]);
    return v[1] != 1 ? arena_printf(a, "%lld x %lld", v[0], v[1]) : arena_printf(a, "%lld", v[0]);
}

static void shape_cells(struct table *t, struct arena *a, const json_t *s)
{
    table_text(t, shape_words(a, s, "grid"));
    table_text(t, shape_words(a, s, "block"));
    table_int(t, json_int(s, "dynamic_shared_bytes", -1));
    table_int(t, json_int(s, "launches", -1));
    table_int(t, json_int(s, "in_graphs", -1));
    table_int(t, json_int(s, "timed", -1));
    table_num(t, json_num(s, "mean_us"), 2, "");
}

static void not_seen(const json_t *ranking, struct str *out)
{
    static const struct {
        const char *name, *words;
    } rows[] = {
        {"launches_without_time", "launches have no time: they are ranked by number alone, below the others"},
        {"launches_timed_by_another_shape",
         "launches have a shape that fell between the windows: they count with the time of the kernel's nearest shape"},
        {"launches_without_room", "launches found the table full and are missing here"},
        {"kernels_without_name", "kernels have no name: the driver is older than CUDA 12.3"},
        {"graph_launches_without_nodes", "launches of graphs whose nodes were not seen"},
        {"records_dropped_by_cupti", "kernels for which CUPTI had no room"},
        {"times_unfinished", "timed launches were not at their end when the program ended"},
        {"processes_cut_off", "processes ended by a signal or _exit: what they had counted by then is here"},
    };
    const json_t *o = json_object_get(ranking, "not_seen");

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (json_count(o, rows[i].name))
            str_addf(out, "not seen: %lld %s\n", json_count(o, rows[i].name), rows[i].words);
    if (json_text(o, "broken", NULL))
        str_addf(out, "not seen: %s\n", json_text(o, "broken", ""));
}

static const char *times_words(struct arena *a, const json_t *ranking)
{
    const char *times = json_text(ranking, "times", ""),
               *why = json_text(json_object_get(ranking, "not_seen"), "cupti", NULL);

    if (str_eq(times, "cupti"))
        return "every kernel timed by CUPTI, those inside graphs too";
    if (str_eq(times, "cupti in windows"))
        return arena_printf(
            a, "timed by CUPTI in %lld windows, kernels inside graphs too; every launch counted%s%s",
            json_count(ranking, "windows"), why ? "; " : "", why ? why : "");
    if (str_eq(times, "none"))
        return "no times were asked for";
    return arena_printf(
        a,
        "some launches timed between two events, which adds microseconds to each, more where the GPU waits for the program%s%s; kernels inside graphs "
        "have the time that the same kernel and shape has outside, if it has one",
        why ? "; no CUPTI: " : "", why ? why : "");
}

/* The bytes of a parameter as what they may be: an integer, and for four of them also a float that looks like
 * one. */
static const char *value_words(struct arena *a, const json_t *p)
{
    const char *hex = json_text(p, "value", "");
    uint64_t bits = 0;
    size_t n = strlen(hex) / 2;
    float f;

    if (json_flag(p, "pointer", false))
        return arena_printf(a, "[%lld B]", json_count(p, "extent"));
    if (n > 8)
        return arena_printf(a, "{%zu B}", n);
    for (size_t i = n; i-- > 0;)
        bits = bits << 8 |
               (uint64_t)(MAX(str_hex_digit(hex[2 * i]), 0) << 4 | MAX(str_hex_digit(hex[2 * i + 1]), 0));
    memcpy(&f, &bits, sizeof(f));
    if (n == 4 && fabsf(f) > 1e-12f && fabsf(f) < 1e12f)
        return arena_printf(a, "%gf", (double)f);
    return arena_printf(a, "%lld", n == 4 ? (long long)(int32_t)bits : (long long)bits);
}

static const char *contents_words(struct arena *a, const json_t *launch)
{
    int64_t buffers, bytes = capture_contents_of(launch, &buffers);

    if (!buffers)
        return json_text(launch, "without_contents", NULL);
    return arena_printf(a, "%lld buffer%s, %.3g MB", (long long)buffers, buffers == 1 ? "" : "s",
                        1e-6 * (double)bytes);
}

static void kept_text(struct arena *a, const json_t *kept, struct str *out)
{
    struct table *t = table_new(a, "launches that are kept");
    const json_t *o, *p;
    size_t i, j;

    table_columns(t, "kept|grid|block|parameters|code|contents");
    json_array_foreach(kept, i, o)
    {
        struct str values = {.arena = a};
        json_array_foreach(json_object_get(o, "parameters"), j, p)
        {
            str_addf(&values, "%s%s", j ? ", " : "", value_words(a, p));
        }
        if (i == 40)
            break;
        const char *image = json_text(o, "image", "");
        table_row(t, short_name(a, capture_demangled(a, json_text(o, "kernel", ""))));
        table_text(t, shape_words(a, o, "grid"));
        table_text(t, shape_words(a, o, "block"));
        table_text(t, str_text(&values));
        table_text(t, strrchr(image, '.') ? strrchr(image, '.') + 1 : NULL);
        table_text(t, contents_words(a, o));
    }
    if (json_array_size(kept)) {
        str_addc(out, '\n');
        table_as_text(t, out);
        str_addf(
            out,
            "%zu launches are kept, one for each shape and set of values; [N B] is a pointer with N bytes behind it\n\n",
            json_array_size(kept));
    }
}

void capture_text(struct arena *a, const json_t *ranking, size_t most, struct str *out)
{
    struct table *t = table_new(a, "kernels by their share of the GPU's time");
    const json_t *kernels = json_object_get(ranking, "kernels"), *k, *s;
    size_t i, j, n = json_array_size(kernels);

    table_columns(t, "kernel|share#%|time#ms|grid|block|shared#B|launches#|in graphs#|timed#|mean#us");
    json_array_foreach(kernels, i, k)
    {
        if (most && i == most)
            break;
        const json_t *shapes = json_object_get(k, "shapes");
        table_row(t, short_name(a, json_text(k, "name", "")));
        table_num(t, 100 * json_num(k, "share"), 1, "");
        table_num(t, json_num(k, "time_ms"), 3, "");
        json_array_foreach(shapes, j, s)
        {
            if (j == 3) { /* the rest in the JSON */
                table_row(t, arena_printf(a, "  and %zu more shapes", json_array_size(shapes) - j));
                break;
            }
            if (j) {
                table_row(t, "");
                table_num(t, 100 * json_num(s, "share"), 1, "");
                table_text(t, "");
            }
            shape_cells(t, a, s);
        }
    }
    table_as_text(t, out);
    if (most && n > most)
        str_addf(out, "and %zu more; --top 0 shows all\n", n - most);
    kept_text(a, json_object_get(ranking, "launches_kept"), out);
    str_addf(out, "%.3f ms of kernels in %.2f s, %lld launches", json_num(ranking, "gpu_ms"),
             json_num(ranking, "wall_s"), json_count(ranking, "launches"));
    if (json_count(ranking, "graph_launches"))
        str_addf(out, ", %lld launches of graphs", json_count(ranking, "graph_launches"));
    n = json_array_size(json_object_get(ranking, "processes"));
    if (n > 1)
        str_addf(out, ", %zu processes", n);
    if (json_count(ranking, "devices") > 1)
        str_addf(out, ", %lld GPUs", json_count(ranking, "devices"));
    str_addf(out, "\n%s\n", times_words(a, ranking));
    not_seen(ranking, out);
}

/* A word for a folder: letters, digits and _ of the last name. */
static const char *folder_word(struct arena *a, const char *name)
{
    struct str s = {.arena = a};
    const char *text = short_name(a, name), *colon = strrchr(text, ':');

    for (const char *p = colon ? colon + 1 : text; *p && *p != '<' && s.len < 48; p++)
        str_addc(&s, isalnum((unsigned char)*p) ? *p : '_');
    return s.len ? str_take(&s, a) : "kernel";
}

void capture_list(const json_t *ranking, struct str *out)
{
    struct arena *a = arena_open();
    const json_t *k;
    struct map used = {0};
    size_t i;

    str_add(
        out,
        "# Kernels by their share of the GPU's time, for `astra optimize --list`. A line counts once its folder is a\n"
        "# task (astra init FILE:KERNEL --out tasks/NAME): take the # in front of it away.\n");
    json_array_foreach(json_object_get(ranking, "kernels"), i, k)
    {
        const char *word = folder_word(a, json_text(k, "name", ""));
        double share = json_num(k, "share");
        uintptr_t before = (uintptr_t)map_get(&used, word);
        map_put(&used, word, (void *)(before + 1));
        if (!(share >= 0.0005))
            continue;
        if (before)
            word = arena_printf(a, "%s_%zu", word, (size_t)before + 1);
        str_addf(out, "#%.4f   tasks/%-32s # %s\n", floor(share * 1e4) * 1e-4, word, json_text(k, "name", ""));
    }
    map_free(&used);
    arena_close(a);
}

/* Where it ran, and how to repeat it. */
#include "report/page.h"

#include "report/words.h"

static void add_hash(struct str *out, const char *name, const char *value)
{
    if (value)
        html_addf(out, "<div><dt>%s</dt><dd><code>%s</code></dd></div>\n", name, value);
}

static void add_environment(const struct view *v, struct arena *a, struct str *out)
{
    const json_t *device = json_object_get(v->result, "device"), *clocks = json_object_get(v->result, "clocks"),
                 *flag;
    struct str flags = {.arena = a};
    size_t i;

    json_array_foreach(json_object_get(json_object_get(v->result, "provenance"), "flags"), i, flag)
        str_addf(&flags, "%s%s", i ? " " : "", json_string_value(flag));
    str_add(out, "<h3>Environment</h3>\n<dl class=\"terms\">\n");
    if (v->device)
        page_term(out, v->measured ? "Measured on" : "Modelled for", v->device->name);
    page_term(out, "GPU", json_text(device, "uuid", NULL));
    page_term(out, "Driver", json_text(device, "driver", NULL));
    if (json_is_object(clocks))
        page_term(out, "Clocks",
                  arena_printf(a, "SM %lld MHz, memory %lld MHz, right after the best was timed",
                               json_count(clocks, "sm_mhz"), json_count(clocks, "memory_mhz")));
    if (v->measured && !v->device->same_model)
        page_term(out, "Simulated beside it",
                  arena_printf(a, "sim:%s, the nearest GPU there is a model of", v->device->model));
    page_term(out, "Compiler",
              v->device && v->device->nvrtc ? arena_printf(a, "NVRTC %s", v->device->nvrtc) : NULL);
    page_term(out, "Flags", str_text(&flags));
    page_term(out, "Astra", v->run.astra);
    page_term(out, "Started", v->run.started);
    page_term(out, "Ended", v->run.ended);
    page_term(out, "Status", v->run.status);
    str_add(out, "</dl>\n");
}

static void add_command(struct str *out, const char *why, const char *command)
{
    html_addf(out, "<p>%s</p>\n<pre class=\"command\" tabindex=\"0\"><code>%s</code></pre>\n", why, command);
}

static void add_again(const struct view *v, struct arena *a, struct str *out)
{
    const char *but = words_unrepeatable(v);

    str_add(out, "<h3>How to repeat it</h3>\n<p>From the folder that holds the run's.</p>\n");
    if (v->result)
        add_command(out,
                    "Judge the result again, from the run's files alone; exit status 0 says that it holds:",
                    words_verify(v, a));
    add_command(out, arena_printf(a, "Do the whole run again:%s%s", but ? " " : "", but ? but : ""),
                words_repeat(v, a));
}

static void add_hashes(const struct view *v, struct str *out)
{
    const json_t *p = json_object_get(v->result, "provenance");
    const char *name;
    json_t *hash;

    if (!json_object_get(p, "files"))
        return;
    str_add(
        out,
        "<h3>Hashes</h3>\n<p>SHA-256 of what was judged; docs/result.md says of what each is.</p>\n<dl class=\"terms\">\n");
    json_object_foreach(json_object_get(p, "files"), name, hash) add_hash(out, name, json_string_value(hash));
    add_hash(out, "suite.json", json_text(p, "suite", NULL));
    add_hash(out, "Judged text", json_text(p, "best", NULL));
    add_hash(out, "Result", json_text(p, "digest", NULL));
    str_add(out, "</dl>\n");
}

void page_repeat(const struct view *v, struct arena *a, struct str *out)
{
    page_section(out, "repeat", "Environment and how to repeat it");
    add_environment(v, a, out);
    add_again(v, a, out);
    add_hashes(v, out);
    str_add(out, "</section>\n");
}

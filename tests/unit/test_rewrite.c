/* Transforms on kernels that they must change and must leave alone (tests/rewrite, the expectation inside each
 * file); the same edits after every name of an example is changed; all pairs of transforms one after the other;
 * no crash on broken text. */
#include <ctype.h>
#include <dirent.h>

#include "test.h"

#include "rewrite/rewrite.h"

struct input {
    struct transform_input in;
    struct kernel *kernel;
    struct transform_fact *facts;
};

static bool input_open(struct input *v, struct arena *a, const char *path, const char *text, const char *entry,
                       struct err *err)
{
    static const struct kernel_limits limits = {.device_name = "test",
                                                .sm_count = 132,
                                                .cc_major = 9,
                                                .max_threads_per_block = 1024,
                                                .max_threads_per_sm = 2048,
                                                .max_blocks_per_sm = 32,
                                                .warp_size = 32,
                                                .shared_per_block = 49152,
                                                .shared_per_block_optin = 232448,
                                                .shared_per_sm = 233472,
                                                .registers_per_sm = 65536};
    *v = (struct input){0};
    if (!kernel_open(&v->kernel, a, path, text, strlen(text), entry, err))
        return false;
    v->facts = arena_array(a, struct transform_fact, v->kernel->n_params + 1);
    v->in = (struct transform_input){
        .kernel = v->kernel, .facts = v->facts, .limits = &limits, .fast_math_allowed = true};
    return true;
}

/* ---- the files of tests/rewrite ---- */

struct expectation {
    char transform[64];
    int setting, line;
    bool leaves;
};

/* `// key: value` lines at the top. */
static bool header_line(const char **p, char *key, char *value)
{
    if (strncmp(*p, "// ", 3) != 0)
        return false;
    const char *end = strchr(*p, '\n');
    size_t len = (size_t)(end - *p) - 3;
    char line[512];
    snprintf(line, sizeof(line), "%.*s", (int)MIN(len, sizeof(line) - 1), *p + 3);
    *p = end + 1;
    char *colon = strchr(line, ':');
    snprintf(key, 64, "%.*s", (int)(colon ? colon - line : (long)strlen(line)), line);
    snprintf(value, 512, "%s", colon ? colon + 2 : "");
    return true;
}

static void read_fact(struct input *v, const char *value)
{
    char name[64], key[16];
    long long number;
    int at = 0, step;
    assert_int_equal(sscanf(value, "%63s%n", name, &at), 1);
    size_t p = 0;
    while (p < v->kernel->n_params && strcmp(v->kernel->params[p].name, name) != 0)
        p++;
    assert_true(p < v->kernel->n_params);
    while (sscanf(value + at, " %15s %lld%n", key, &number, &step) == 2) {
        struct transform_fact *fact = &v->facts[p];
        if (!strcmp(key, "same"))
            *fact = (struct transform_fact){.same = true, .value = number, .low = number, .high = number};
        else if (!strcmp(key, "divisor"))
            fact->divisor = number;
        else if (!strcmp(key, "stable"))
            fact->stable = number;
        else if (!strcmp(key, "low"))
            fact->low = number;
        else if (!strcmp(key, "high"))
            fact->high = number;
        else
            fail_msg("fact %s", key);
        at += step;
    }
}

/* "work 256": what the workloads launch, and its block. */
static void read_launched(struct input *v, struct arena *a, const char *value)
{
    char name[64];
    struct plan_step *step = arena_alloc(a, sizeof(*step));
    struct plan *plan = arena_alloc(a, sizeof(*plan));
    *step = (struct plan_step){.kind = PLAN_LAUNCH, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    assert_int_equal(sscanf(value, "%63s %u", name, &step->block[0]), 2);
    for (size_t k = 0; k < v->kernel->n_functions; k++)
        if (strcmp(v->kernel->functions[k].name, name) == 0)
            step->kernel = v->kernel->functions[k].qualified;
    assert_non_null(step->kernel);
    *plan = (struct plan){.steps = step, .n_steps = 1};
    v->in.plans = plan;
    v->in.n_plans = 1;
}

static void check_opens(const char *name, const char *text, const char *entry)
{
    struct arena *a = arena_open();
    struct input v;
    struct err err = {0};
    char words[4096];
    if (!input_open(&v, a, name, text, entry, &err))
        fail_msg("%s: the result is not understood: %s\n%s", name, err_format(&err, words, sizeof(words)),
                 text);
    if (node_has_error(source_root(v.kernel->source)))
        fail_msg("%s: the result does not parse:\n%s", name, text);
    kernel_close(v.kernel);
    arena_close(a);
}

/* The result through nvcc, when ASTRA_TEST_NVCC is set: slow. */
static void check_compiles(struct arena *a, const char *name, const char *text)
{
    if (!getenv("ASTRA_TEST_NVCC"))
        return;
    struct err err = {0};
    char *dir = fs_temp_dir(a, &err), *path = fs_join(a, dir, "result.cu");
    assert_ok(fs_write_text(path, text, &err), err);
    const char *argv[] = {"nvcc", "-arch=sm_90", "-c", path, "-o", "/dev/null", NULL};
    struct proc_result r;
    assert_ok(proc_run(argv, NULL, &(struct proc_limits){.wall_s = 60}, &r, &err), err);
    if (r.end != PROC_EXITED || r.status != 0)
        fail_msg("%s: nvcc: %s\n%s", name, str_text(&r.err), text);
    proc_result_free(&r);
    fs_remove_tree(dir);
}

/* The same file, its lines kept, with all that stands below its includes in a namespace, the launcher too or
 * not. */
static char *in_namespace(struct arena *a, const char *text, bool launcher)
{
    const char *from = text, *host = strstr(text, "extern \"C\""), *end = launcher ? text + strlen(text) : host;

    for (const char *p = text; (p = strstr(p, "#include")); p++)
        from = strchr(p, '\n') + 1;
    assert_true(host && from <= host);
    return arena_printf(a, "%.*snamespace apart { %.*s} %s%s", (int)(from - text), text, (int)(end - from),
                        from, launcher ? "" : "using namespace apart; ", end);
}

static void check_text(const char *path, const char *text)
{
    struct arena *a = arena_open();
    struct err err = {0};
    struct input v;
    char key[64], value[512];
    struct expectation want = {.line = -1};
    if (!input_open(&v, a, path, text, "entry", &err))
        fail_msg("%s", err.text);
    for (const char *p = text; header_line(&p, key, value);) {
        if (!strcmp(key, "transform"))
            assert_int_equal(sscanf(value, "%63s %d", want.transform, &want.setting), 2);
        else if (!strcmp(key, "applies"))
            assert_int_equal(sscanf(value, "line %d", &want.line), 1);
        else if (!strcmp(key, "leaves"))
            want.leaves = true;
        else if (!strcmp(key, "exact"))
            v.in.fast_math_allowed = false;
        else if (!strcmp(key, "fact"))
            read_fact(&v, value);
        else if (!strcmp(key, "launched"))
            read_launched(&v, a, value);
    }
    const struct transform *ops = transform_find(want.transform);
    if (!ops || want.leaves == (want.line > 0))
        fail_msg("%s: needs a transform, and either applies or leaves", path);
    const struct transform_site *sites = NULL, *site = NULL;
    size_t n = transform_sites(ops, &v.in, a, &sites);
    for (size_t i = 0; i < n && !site; i++)
        if (sites[i].setting == want.setting || (want.leaves && want.setting < 0))
            site = &sites[i];
    if (want.leaves) {
        if (site)
            fail_msg("%s: must be left alone, but: %s", path, site->where);
    } else {
        char *out = NULL;
        if (!site)
            fail_msg("%s: does not apply", path);
        if (site->line != want.line)
            fail_msg("%s: applies at line %d, not %d", path, site->line, want.line);
        if (!transform_apply(ops, &v.in, site, a, &out, &err))
            fail_msg("%s: %s", path, err.text);
        for (const char *p = text; header_line(&p, key, value);) {
            const char *body = strstr(out, "\n#include");
            if (!strcmp(key, "has") && !strstr(body, value))
                fail_msg("%s: no \"%s\" in\n%s", path, value, body);
            if (!strcmp(key, "lacks") && strstr(body, value))
                fail_msg("%s: \"%s\" in\n%s", path, value, body);
        }
        check_opens(path, out, "entry");
        check_compiles(a, path, out);
    }
    kernel_close(v.kernel);
    arena_close(a);
}

static void check_file(const char *path)
{
    struct arena *a = arena_open();
    struct err err = {0};
    char *text;

    assert_ok(fs_read(a, path, &text, NULL, &err), err);
    check_text(path, text);
    check_text(arena_printf(a, "%s, in a namespace", path), in_namespace(a, text, true));
    check_text(arena_printf(a, "%s, its kernels in a namespace", path), in_namespace(a, text, false));
    arena_close(a);
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

static size_t files_in(struct arena *a, const char *dir, char **names, size_t most)
{
    DIR *d = opendir(dir);
    size_t n = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.' && n < most)
            names[n++] = fs_join(a, dir, e->d_name);
    closedir(d);
    qsort(names, n, sizeof(*names), by_name);
    return n;
}

static void test_file(void **state)
{
    check_file(*state);
}

/* A file that begins with a comment on its kernel, and includes nothing: the comment stays on top, then stand
 * the include and the templates. */
static void test_the_head_stays_on_top(void **state)
{
    (void)state;
    struct arena *a = arena_open();
    struct err err = {0};
    struct input v;
    const struct transform_site *sites;
    const struct transform *ops = transform_find("vectorise");
    char *text, *out;
    assert_ok(fs_read(a, "tests/rewrite/vectorise-element.cu", &text, NULL, &err), err);
    text = arena_printf(a, "// Weighs rows.\n%s", strstr(text, "__global__"));
    assert_true(input_open(&v, a, "head.cu", text, "entry", &err));
    assert_true(transform_sites(ops, &v.in, a, &sites) > 0);
    assert_ok(transform_apply(ops, &v.in, &sites[0], a, &out, &err), err);
    assert_true(str_starts(out, "// Weighs rows.\n\n#include <cstdint>\n\n//"));
    assert_true(strstr(out, "template <") < strstr(out, "__global__"));
    assert_true(strstr(out, "template <") > strstr(out, "#include"));
    check_opens("head.cu", out, "entry");
    kernel_close(v.kernel);
    arena_close(a);
}

static void test_every_transform_has_cases(void **state)
{
    (void)state;
    struct arena *a = arena_open();
    char *names[512];
    size_t n = files_in(a, "tests/rewrite", names, ARRAY_LEN(names));
    for (size_t m = 0; transform_all[m]; m++) {
        size_t changes = 0, leaves = 0;
        for (size_t i = 0; i < n; i++) {
            const char *base = fs_basename(names[i]);
            if (!str_starts(base, transform_all[m]->name))
                continue;
            *(str_starts(base + strlen(transform_all[m]->name), "-not-") ? &leaves : &changes) += 1;
        }
        if (changes + leaves < 3 || changes == 0 || leaves == 0)
            fail_msg("%s has %zu cases to change and %zu to leave", transform_all[m]->name, changes, leaves);
        assert_non_null(transform_all[m]->summary);
        assert_non_null(transform_all[m]->helps);
    }
    arena_close(a);
}

/* Stored runs, recordings and comments have names of earlier versions. */
static void test_old_names_are_read(void **state)
{
    static const struct {
        const char *old, *name;
    } names[] = {{"once", "drop-grid-stride"}, {"items", "coarsen-threads"}, {"raise-grid", "uncap-grid"},
                 {"split-rows", "split-row"},  {"narrow", "index32"},        {"keep", "register-cache"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct transform *t = transform_find(names[i].old);
        assert_non_null(t);
        assert_string_equal(t->name, names[i].name);
        assert_ptr_equal(t, transform_find(names[i].name));
        assert_string_equal(transform_old_name(names[i].name), names[i].old);
    }
    assert_string_equal(transform_old_name("vectorise"), "vectorise");
    assert_string_equal(transform_old_name("dispatch rows <="), "dispatch rows <=");
}

/* ---- another name for everything ---- */

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void declared_names(struct kernel *k, struct arena *a, struct node n, struct map *names)
{
    enum node_kind kind = node_kind(n);
    bool declares = kind == NODE_PARAMETER_DECLARATION || kind == NODE_INIT_DECLARATOR ||
                    kind == NODE_DECLARATION || kind == NODE_ARRAY_DECLARATOR ||
                    kind == NODE_FUNCTION_DECLARATOR || kind == NODE_POINTER_DECLARATOR;
    if (declares) {
        struct node d = node_field(n, FIELD_DECLARATOR);
        if (node_is(d, NODE_IDENTIFIER))
            map_put(names, node_text(a, k->source, d), k);
    }
    if (kind == NODE_PREPROC_DEF)
        map_put(names, node_text(a, k->source, node_field(n, FIELD_NAME)), k);
    if (kind == NODE_TYPE_PARAMETER_DECLARATION)
        map_put(names, node_text(a, k->source, node_child(n, 0)), k);
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        declared_names(k, a, node_child(n, i), names);
}

/* Whole words that are in names become idN_. */
static char *renamed(struct arena *a, const char *text, const struct map *names)
{
    struct str b = {0};
    for (const char *p = text; *p;) {
        if (!word_char(*p)) {
            str_addc(&b, *p++);
            continue;
        }
        const char *end = p;
        while (word_char(*end))
            end++;
        char *word = arena_strndup(a, p, (size_t)(end - p));
        bool mine = false;
        for (size_t i = 0; i < names->n; i++)
            if (str_eq(names->entries[i].key, word) && (p == text || p[-1] != '.')) { /* no threadIdx.x */
                str_addf(&b, "id%zu_", i);
                mine = true;
            }
        if (!mine)
            str_add(&b, word);
        p = end;
    }
    char *out = arena_strdup(a, str_text(&b));
    str_free(&b);
    return out;
}

static const char *next_token(const char *p, const char **end)
{
    for (;;) {
        while (isspace((unsigned char)*p))
            p++;
        if (p[0] != '/' || p[1] != '/')
            break;
        while (*p && *p != '\n')
            p++;
    }
    *end = p + (*p != '\0');
    if (word_char(*p))
        while (word_char(**end))
            ++*end;
    return p;
}

/* The same tokens, one name for one name. */
static void check_same_code(struct arena *a, const char *what, const char *x, const char *y)
{
    struct map forth = {0}, back = {0};
    const char *x_end = x, *y_end = y;
    bool after_dot = false; /* the x of threadIdx.x is no name of the file's */
    for (;;) {
        x = next_token(x_end, &x_end);
        y = next_token(y_end, &y_end);
        char *s = arena_strndup(a, x, (size_t)(x_end - x)), *t = arena_strndup(a, y, (size_t)(y_end - y));
        bool word = (isalpha((unsigned char)*s) || *s == '_') && !after_dot &&
                    !str_eq(s, t); /* the transforms' own helpers have names too */
        if (word && map_has(&forth, s) && !str_eq(map_get(&forth, s), t))
            fail_msg("%s: %s is %s and %s", what, s, (char *)map_get(&forth, s), t);
        if (word && map_has(&back, t) && !str_eq(map_get(&back, t), s))
            fail_msg("%s: both %s and %s became %s", what, s, (char *)map_get(&back, t), t);
        if (word && (isalpha((unsigned char)*t) || *t == '_')) {
            map_put(&forth, s, t);
            map_put(&back, t, s);
        } else if (!str_eq(s, t)) {
            fail_msg("%s: \"%s\" became \"%s\" before\n%.200s", what, s, t, y);
        }
        if (*s == '\0' || *t == '\0')
            break;
        after_dot = str_eq(s, ".");
    }
    map_free(&forth);
    map_free(&back);
}

static char *example_path(struct arena *a, const char *dir)
{
    return fs_join(a, dir, "kernel.cu");
}

static void rename_example(const char *dir, size_t *checked)
{
    struct arena *a = arena_open();
    struct err err = {0};
    struct input v, w;
    char *text;
    struct map names = {0};
    const char *entry = fs_basename(dir);
    if (str_ends(entry, "_bf16"))
        entry = arena_strndup(a, entry, strlen(entry) - 5);
    assert_ok(fs_read(a, example_path(a, dir), &text, NULL, &err), err);
    assert_ok(input_open(&v, a, dir, text, entry, &err), err);
    declared_names(v.kernel, a, source_root(v.kernel->source), &names);
    assert_true(names.n > 5);
    char *other = renamed(a, text, &names);
    assert_ok(input_open(&w, a, dir, other, renamed(a, entry, &names), &err), err);
    for (size_t m = 0; transform_all[m]; m++) {
        const struct transform_site *x = NULL, *y = NULL, *own = NULL;
        v.in.all_settings = false;
        size_t n_own = transform_sites(transform_all[m], &v.in, a, &own);
        v.in.all_settings = w.in.all_settings = true; /* of which the first is its own choice, as it was */
        size_t n = transform_sites(transform_all[m], &v.in, a, &x),
               n_other = transform_sites(transform_all[m], &w.in, a, &y);
        if (n != n_other)
            fail_msg("%s, %s: %zu sites, %zu when renamed", dir, transform_all[m]->name, n, n_other);
        assert_true(n >= n_own && (n_own == 0 || x[0].setting == own[0].setting));
        for (size_t i = 0; i < n; i++) {
            char *from = NULL, *to = NULL;
            assert_int_equal(x[i].line, y[i].line);
            assert_int_equal(x[i].setting, y[i].setting);
            bool ok = transform_apply(transform_all[m], &v.in, &x[i], a, &from, &err);
            assert_true(ok == transform_apply(transform_all[m], &w.in, &y[i], a, &to, &err));
            if (ok) {
                check_same_code(a, arena_printf(a, "%s, %s %d", dir, x[i].transform, x[i].setting), from, to);
                check_opens(dir, from, entry);
                ++*checked;
            }
        }
    }
    map_free(&names);
    kernel_close(v.kernel);
    kernel_close(w.kernel);
    arena_close(a);
}

static void test_names_do_not_matter(void **state)
{
    (void)state;
    struct arena *a = arena_open();
    char *dirs[64];
    size_t n = files_in(a, "examples", dirs, ARRAY_LEN(dirs)), checked = 0;
    for (size_t i = 0; i < n; i++)
        if (fs_exists(example_path(a, dirs[i])))
            rename_example(dirs[i], &checked);
    assert_true(checked > 50);
    arena_close(a);
}

/* ---- one transform after another ---- */

/* Every transform on the result of every chain below: what comes out is understood again. */
static void test_transforms_compose(void **state)
{
    static const struct {
        const char *example, *entry;
        struct {
            const char *transform;
            int setting;
        } chain[7];
    } chains[] = {
        {"silu_and_mul",
         "silu_and_mul",
         {{"uncap-grid", 0},
          {"vectorise", 16},
          {"split-row", 128},
          {"fast-math", 0},
          {"restrict", 0},
          {"cache-hints", 3}}},
        {"fused_add_rmsnorm",
         "fused_add_rmsnorm",
         {{"vectorise", 16},
          {"shuffle", 0},
          {"hoist", 1},
          {"block-size", 11024},
          {"restrict", 0},
          {"register-cache", 4}}},
        {"merge_attn_states",
         "merge_attn_states",
         {{"vectorise", 16},
          {"index32", 32},
          {"hoist", 1},
          {"block-size", 256},
          {"coarsen-threads", 2},
          {"restrict", 0},
          {"cache-hints", 3}}},
        {"softmax",
         "softmax",
         {{"shuffle", 0}, {"vectorise", 16}, {"block-size", 512}, {"hoist", 1}, {"register-cache", 4}}},
        {"layernorm",
         "layernorm",
         {{"shuffle", 0}, {"vectorise", 16}, {"block-size", 256}, {"index32", 32}, {"fast-math", 0}}},
    };
    (void)state;
    struct err err = {0};
    for (size_t c = 0; c < ARRAY_LEN(chains); c++) {
        struct arena *a = arena_open();
        char *text, *path = arena_printf(a, "examples/%s/kernel.cu", chains[c].example);
        assert_ok(fs_read(a, path, &text, NULL, &err), err);
        for (size_t s = 0; s < ARRAY_LEN(chains[c].chain) && chains[c].chain[s].transform; s++) {
            const char *transform = chains[c].chain[s].transform;
            struct input v;
            const struct transform_site *sites = NULL;
            assert_ok(input_open(&v, a, path, text, chains[c].entry, &err), err);
            const struct transform *ops = transform_find(transform);
            size_t n = transform_sites(ops, &v.in, a, &sites), i = n;
            while (i > 0 && sites[i - 1].setting != chains[c].chain[s].setting)
                i--;
            if (i == 0)
                fail_msg("%s: %s does not apply to\n%s", chains[c].example, transform, text);
            if (!transform_apply(ops, &v.in, &sites[i - 1], a, &text, &err))
                fail_msg("%s: %s: %s", chains[c].example, transform, err.text);
            kernel_close(v.kernel);
            check_opens(path, text, chains[c].entry);
        }
        check_compiles(a, path, text);
        arena_close(a);
    }
}

/* ---- broken text ---- */

static void every_transform(struct arena *a, const char *text, size_t *opened)
{
    struct err err = {0};
    struct input v;
    if (!input_open(&v, a, "broken.cu", text, "entry", &err))
        return;
    ++*opened;
    for (size_t m = 0; transform_all[m]; m++) {
        const struct transform_site *sites = NULL;
        size_t n = transform_sites(transform_all[m], &v.in, a, &sites);
        for (size_t i = 0; i < n; i++) {
            char *out = NULL;
            if (transform_apply(transform_all[m], &v.in, &sites[i], a, &out, &err))
                assert_non_null(out);
        }
    }
    kernel_close(v.kernel);
}

static void test_broken_text(void **state)
{
    (void)state;
    struct arena *a = arena_open();
    char *names[512];
    size_t n = files_in(a, "tests/rewrite", names, ARRAY_LEN(names)), opened = 0;
    struct rng rng = {.state = 7};
    static const char *const bits[] = {"(",     ")",    "[", "]", "{", "}", ";", "*",
                                       "for (", "if (", "0", "i", "&", ",", "/", "#"};
    for (size_t i = 0; i < n; i++) {
        struct arena *scratch = arena_open();
        struct err err = {0};
        char *text;
        assert_ok(fs_read(scratch, names[i], &text, NULL, &err), err);
        char *kernel = strstr(text, "#include"), *host = strstr(text, "extern \"C\"");
        size_t from = (size_t)(kernel - text), to = (size_t)(host - text);
        for (int round = 0; round < (SANITIZED ? 1 : 4);
             round++) { /* inside the device part, so that the launcher is still understood */
            size_t at = from + rng_below(&rng, to - from), len = rng_below(&rng, 6);
            const char *bit = bits[rng_below(&rng, ARRAY_LEN(bits))];
            char *broken = arena_printf(scratch, "%.*s%s%s", (int)at, text, bit, text + MIN(at + len, to));
            every_transform(scratch, broken, &opened);
        }
        arena_close(scratch);
    }
    assert_true(opened > n / 2); /* most broken texts are still understood */
    arena_close(a);
}

/* ---- two versions in one file ---- */

#define LAUNCHER "extern \"C\" void f(float *x, int n, cudaStream_t s) { k<<<1, n, 0, s>>>(x); }\n"

static const char *joined(struct arena *arena, const char *other, const char *version, struct err *why_not)
{
    static const struct transform_choice choice = {"n <= 8", "why", false};
    struct input theirs, ours;
    char *text;

    assert_ok(input_open(&theirs, arena, "a.cu", other, "f", why_not), *why_not);
    assert_ok(input_open(&ours, arena, "b.cu", version, "f", why_not), *why_not);
    bool ok = transform_dispatch(arena, theirs.kernel, ours.kernel, &choice, &text, why_not);
    kernel_close(theirs.kernel);
    kernel_close(ours.kernel);
    return ok ? text : NULL;
}

/* What is shared stands once; what differs, what names it and what shared memory is called has a suffix;
 * members and strings have none. */
static void test_dispatch_renames(void **state)
{
    static const char version[] =
        "constexpr int N = 8;\n"
        "struct same { int v; };\n"
        "__global__ void k(float *x) { extern __shared__ double m[]; x[0] = N + m[0]; }\n" LAUNCHER;
    static const char other[] =
        "#include <cuda_fp16.h>\nconstexpr int N = 4;\n"
        "struct same { int v; };\n"
        "namespace { struct box { int N; }; }\n"
        "__device__ int x(const same &a) { return a.v + '\\''; }\n"
        "__global__ void k(float *y) { extern __shared__ float m[]; same a{threadIdx.x}; box b{x(a)}; asm(\"// N\"); y[0] = b.N + m[0]; }\n"
        "extern \"C\" void f(float *y, int m, cudaStream_t s) { k<<<1, m, 0, s>>>(y); }\n";
    struct arena *arena = arena_open();
    struct err err = {0};
    const char *text = joined(arena, other, version, &err);

    (void)state;
    assert_ok(text != NULL, err);
    for (const char *const *w = (const char *const[]){"#include <cuda_fp16.h>\nconstexpr int N_other = 4;\n",
                                                      "struct box_other { int N_other; };",
                                                      "int x_other(const same &a) { return a.v + '\\''; }",
                                                      "extern __shared__ float m_other[]; same a{threadIdx.x}",
                                                      "box_other b{x_other(a)}", "asm(\"// N\")",
                                                      "= b.N_other + m_other[0]", "f_other(x, n, s);", NULL};
         *w; w++)
        if (!strstr(text, *w))
            fail_msg("no %s in\n%s", *w, text);
    assert_null(strstr(strstr(text, "struct same") + 1, "struct same"));
    arena_close(arena);
}

static void test_dispatch_refuses(void **state)
{
    static const char version[] = "__global__ void k(float *x) { x[0] = 1; }\n" LAUNCHER;
    struct arena *arena = arena_open();
    struct err err = {0};

    (void)state;
    assert_null(joined(arena,
                       "#if 1\n#define N 4\n#endif\n__global__ void k(float *x) { x[0] = N; }\n" LAUNCHER,
                       version, &err));
    assert_non_null(strstr(err.text, "line 1 of the other version"));
    assert_null(joined(
        arena, "namespace a { __global__ void k(float *x) { x[0] = 2; } }\nusing namespace a;\n" LAUNCHER,
        version, &err));
    assert_null(
        joined(arena,
               "__global__ void k(float *x) { x[0] = 2; }\n"
               "extern \"C\" int f(float *x, int n, cudaStream_t s) { k<<<1, n, 0, s>>>(x); return 0; }\n",
               version, &err));
    assert_non_null(strstr(err.text, "do not return the same"));
    arena_close(arena);
}

int main(void)
{
    struct arena *a = arena_open();
    char *names[512];
    struct CMUnitTest tests[520];
    size_t n = files_in(a, "tests/rewrite", names, ARRAY_LEN(names));
    for (size_t i = 0; i < n; i++)
        tests[i] = (struct CMUnitTest){fs_basename(names[i]), test_file, NULL, NULL, names[i]};
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_every_transform_has_cases);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_the_head_stays_on_top);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_old_names_are_read);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_dispatch_renames);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_dispatch_refuses);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_names_do_not_matter);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_transforms_compose);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_broken_text);
    int failed = _cmocka_run_group_tests("rewrite", tests, n, NULL, NULL);
    arena_close(a);
    return failed;
}

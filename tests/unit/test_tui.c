/* The live screen without a terminal: recorded events (tests/tui/NAME.jsonl) drawn at a size must give the
 * screen in tests/tui/NAME-COLSxROWS.txt. ASTRA_WRITE_SCREENS=1 writes these files; look at them before you
 * keep them. */
#include "test.h"

#include "tui/internal.h"

static void feed(const char *name, void (*take)(void *context, const char *event, const json_t *f),
                 void *context)
{
    struct arena *a = arena_open();
    struct err err = {0};
    char *text, *line, *rest;

    assert_ok(fs_read(a, arena_printf(a, "tests/tui/%s.jsonl", name), &text, NULL, &err), err);
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        json_t *f = json_parse(line, strlen(line), name, &err);
        assert_non_null(f);
        take(context, json_text(f, "event", ""), f);
        json_decref(f);
    }
    arena_close(a);
}

static void to_model(void *context, const char *event, const json_t *f)
{
    ui_state_event(context, event, f);
}

static void to_lines(void *context, const char *event, const json_t *f)
{
    struct str *to = context;
    size_t before = to->len;

    lines_add(to, event, f);
    if (to->len > before)
        str_addc(to, '\n');
}

static void assert_is_file(const char *path, const char *text)
{
    struct arena *a = arena_open();
    struct err err = {0};
    char *expected;

    if (getenv("ASTRA_WRITE_SCREENS"))
        assert_ok(fs_write_text(path, text, &err), err);
    assert_ok(fs_read(a, path, &expected, NULL, &err), err);
    if (!str_eq(expected, text))
        fail_msg("%s is now\n%s", path, text);
    arena_close(a);
}

static void assert_screen(const struct ui_state *m, struct view *v, const char *name, int cols, int rows,
                          bool ascii)
{
    struct arena *a = arena_open();
    struct frame f;
    struct str text = {0};

    frame_open(&f, rows, cols, ascii);
    draw(m, v, &f);
    frame_text(&f, &text);
    assert_is_file(arena_printf(a, "tests/tui/%s-%dx%d.txt", name, cols, rows), str_text(&text));
    str_free(&text);
    frame_close(&f);
    arena_close(a);
}

static void screens_of_rules(void **state)
{
    static const int sizes[][2] = {{80, 24}, {120, 40}, {200, 60}, {60, 20}, {40, 12}, {40, 10}};
    struct ui_state m;

    (void)state;
    ui_state_open(&m);
    feed("rules", to_model, &m);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct view v = {.now_s = m.t_s + 1};
        assert_screen(&m, &v, "rules", sizes[i][0], sizes[i][1], false);
    }
    assert_screen(&m, &(struct view){.now_s = m.t_s + 1, .focus = PANE_WORKLOADS}, "rules-workloads", 40, 12,
                  false);
    assert_screen(&m, &(struct view){.now_s = m.t_s, .asking = true}, "rules-ascii", 80, 24, true);
    assert_screen(&m, &(struct view){.help = true}, "help", 80, 24, false);
    ui_state_close(&m);
}

static void screens_of_models(void **state)
{
    struct ui_state m;
    struct view v = {0};

    (void)state;
    ui_state_open(&m);
    assert_screen(&m, &v, "nothing-yet", 80, 24, false);
    feed("model", to_model, &m);
    v.now_s = m.t_s + 2;
    assert_screen(&m, &v, "model", 80, 24, false);
    assert_screen(&m, &v, "model", 40, 12, false);
    assert_screen(&m, &v, "model-ascii", 100, 30, true);
    ui_state_close(&m);
}

/* No size and no state may crash it or leave the frame; the smallest are smaller than any terminal. */
static void any_size(void **state)
{
    struct ui_state m;
    struct str text = {0};

    (void)state;
    ui_state_open(&m);
    feed("rules", to_model, &m);
    feed("model", to_model, &m);
    for (int rows = 1; rows < 70; rows += rows < 30 ? 1 : 7)
        for (int cols = 1; cols < 230; cols += cols < 100 ? 1 : 13)
            for (int focus = 0; focus < N_PANES; focus++) {
                struct view v = {.focus = (enum pane)focus,
                                 .scroll[PANE_CANDIDATES] = {.top = 1000, .held = true}};
                struct frame f;
                frame_open(&f, rows, cols, false);
                draw(&m, &v, &f);
                frame_text(&f, &text);
                frame_close(&f);
            }
    for (const char *at = str_text(&text); *at; at++)
        if (!((unsigned char)*at >= 0x20 || *at == '\n'))
            fail_msg("a control character %02x", *at);
    assert_null(strstr(str_text(&text), "\xe2\x80\xae")); /* U+202E */
    assert_null(strstr(str_text(&text), "\xc2\x9b"));     /* CSI in one */
    str_free(&text);
    ui_state_close(&m);
}

/* Each field in turn something else than it should be, or not there. */
static void to_spoilt(void *context, const char *event, const json_t *f)
{
    json_t *others[] = {NULL,
                        json_null(),
                        json_integer(-1),
                        json_integer(1LL << 40),
                        json_real(1e300),
                        json_string("x"),
                        json_array(),
                        json_object()};
    struct view v = {.now_s = 1e300};
    struct frame frame;
    struct str text = {0};
    const char *key;
    json_t *value;

    frame_open(&frame, 24, 80, false);
    json_object_foreach((json_t *)(uintptr_t)f, key, value) for (size_t i = 0; i < ARRAY_LEN(others); i++)
    {
        json_t *spoilt = json_deep_copy(f);
        if (others[i])
            json_object_set(spoilt, key, others[i]);
        else
            json_object_del(spoilt, key);
        ui_state_event(context, event, spoilt);
        lines_add(&text, event, spoilt);
        json_decref(spoilt);
    }
    draw(context, &v, &frame);
    for (size_t i = 1; i < ARRAY_LEN(others); i++)
        json_decref(others[i]);
    str_free(&text);
    frame_close(&frame);
}

static void any_event(void **state)
{
    struct ui_state m;

    (void)state;
    ui_state_open(&m);
    feed("rules", to_spoilt, &m);
    feed("model", to_spoilt, &m);
    assert_true(m.rows.n > 0);
    ui_state_close(&m);
}

static bool tell(struct several *s, const char *event, const char *kernel, double t_s)
{
    json_t *f = json_pack("{s:s, s:f, s:s*, s:i, s:s}", "task", kernel ? kernel : "alone", "t_s", t_s, "kernel",
                          kernel, "spent_s", 5, "text", "told");
    bool another = several_event(s, event, f);

    json_decref(f);
    return another;
}

/* Of runs that are under way together each keeps what it was told; the one that ends makes room for another. */
static void several_runs(void **state)
{
    struct several s;

    (void)state;
    several_open(&s);
    assert_true(tell(&s, "run", "one", 1));
    assert_false(tell(&s, "run", "two", 3));
    tell(&s, "left_out", "two", 4);
    assert_string_equal(several_front(&s)->task, "one");
    assert_int_equal(several_front(&s)->note.len, 0);
    assert_true(several_next(&s));
    assert_string_equal(several_front(&s)->task, "two");
    assert_string_equal(str_text(&several_front(&s)->note), "told");
    assert_true(several_front(&s)->spent_s + 3 - 5 < 1e-9); /* its clock began with it */
    assert_true(several_next(&s));
    assert_true(tell(&s, "end", "one", 6));
    assert_string_equal(several_front(&s)->task, "two");
    assert_false(several_next(&s));
    assert_false(tell(&s, "end", "two", 7)); /* nothing else: it stays */
    assert_true(several_front(&s)->ended);
    assert_true(tell(&s, "run", "three", 8));
    assert_string_equal(several_front(&s)->task, "three");
    tell(&s, "left_out", NULL, 9);
    assert_string_equal(str_text(&several_front(&s)->note), "told");
    several_close(&s);
}

static void lines(void **state)
{
    struct str text = {0};

    (void)state;
    feed("rules", to_lines, &text);
    assert_is_file("tests/tui/rules-lines.txt", str_text(&text));
    str_clear(&text);
    feed("model", to_lines, &text);
    assert_is_file("tests/tui/model-lines.txt", str_text(&text));
    str_free(&text);
}

static void cleaned(void **state)
{
    static const struct {
        const char *raw, *clean;
    } cases[] = {
        {"plain\n\ttext", "plain\n\ttext"},
        {"\033[31mred\033[0m", "[31mred[0m"},
        {"\033]0;title\007x", "]0;titlex"},
        {"\xc2\x9b"
         "2J",
         "2J"}, /* CSI as one character */
        {"\x9b"
         "2J",
         "\xef\xbf\xbd"
         "2J"}, /* and as one byte */
        {"a\rb\bc\x7f", "abc"},
        {"\xe2\x80\xae"
         "abc\xe2\x80\x8b",
         "abc"},                                                            /* right to left, no width */
        {"\xe2\x9a\xa0\xef\xb8\x8f x\xf3\xa0\x84\x80y", "\xe2\x9a\xa0 xy"}, /* selectors of variants */
        {"\xe4\xb8\x80\xe8\xa1\x8c", "\xe4\xb8\x80\xe8\xa1\x8c"},
        {"\xc0\x9b\xed\xa0\x80",
         "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* overlong, surrogate */
        {"cut \xe4\xb8", "cut \xef\xbf\xbd\xef\xbf\xbd"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str s = {0};
        tui_clean(&s, cases[i].raw);
        assert_string_equal(str_text(&s), cases[i].clean);
        str_free(&s);
    }
}

static void text_is_cut_by_columns(void **state)
{
    struct frame f;
    struct str s = {0};

    (void)state;
    frame_open(&f, 4, 6, false);
    frame_put(&f, 0, 0, 6, STYLE_PLAIN, "\xe4\xb8\x80\xe8\xa1\x8c\xe4\xb8\x80");             /* fits */
    frame_put(&f, 1, 0, 6, STYLE_PLAIN, "\xe4\xb8\x80\xe8\xa1\x8c\xe4\xb8\x80\xe8\xa1\x8c"); /* does not */
    frame_put(&f, 2, 0, 6, STYLE_PLAIN, "e\xcc\x81t\xc3\xa9"); /* a combining mark */
    frame_put(&f, 3, 0, 6, STYLE_PLAIN, "1234567");
    frame_text(&f, &s);
    assert_string_equal(str_text(&s), "\xe4\xb8\x80\xe8\xa1\x8c\xe4\xb8\x80\n"
                                      "\xe4\xb8\x80\xe8\xa1\x8c\xe2\x80\xa6\n"
                                      "et\xc3\xa9\n"
                                      "12345\xe2\x80\xa6\n");
    str_free(&s);
    frame_close(&f);
}

static void only_what_changed_is_drawn(void **state)
{
    struct frame a, b;
    struct str s = {0};

    (void)state;
    frame_open(&a, 3, 20, false);
    frame_open(&b, 3, 20, false);
    frame_put(&a, 1, 0, 20, STYLE_PLAIN, "time 0:09");
    frame_put(&b, 1, 0, 20, STYLE_PLAIN, "time 0:10");
    frame_update(&a, &a, true, &s);
    assert_string_equal(str_text(&s), "");
    frame_update(&a, &b, true, &s);
    assert_string_equal(str_text(&s), "\033[2;8H\033[0m10");
    str_clear(&s);
    frame_put(&b, 1, 0, 20, STYLE_GOOD, "t");
    frame_put(&b, 2, 0, 20, STYLE_PLAIN, "\xe8\xa1\x8cx");
    frame_update(&a, &b, true, &s);
    assert_string_equal(str_text(&s), "\033[2;1H\033[0;32mt\033[2;8H\033[0m10\033[3;1H\xe8\xa1\x8c\033[3;3Hx");
    str_clear(&s);
    frame_update(NULL, &b, false, &s); /* no colour: weight instead */
    assert_non_null(strstr(str_text(&s), "\033[0;1mt"));
    assert_null(strstr(str_text(&s), "\033[0;3"));
    str_free(&s);
    frame_close(&a);
    frame_close(&b);
}

static void keys(void **state)
{
    static const struct {
        const char *bytes;
        enum key key;
        size_t used;
    } cases[] = {
        {"j", KEY_DOWN, 1},           {"\033[A", KEY_UP, 3},       {"\033OB", KEY_DOWN, 3},
        {"\033[5~x", KEY_PAGE_UP, 4}, {"\033[1;5Cq", KEY_NONE, 6}, {"\033", KEY_NO, 1},
        {"\033[", KEY_NONE, 2},       {"\033[200~", KEY_NONE, 6},  {"\xe4\xb8\x80", KEY_NONE, 1},
        {"q", KEY_QUIT, 1},           {"\033x", KEY_NONE, 2},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t used = 0;
        assert_int_equal(key_read(cases[i].bytes, strlen(cases[i].bytes), &used), cases[i].key);
        assert_int_equal(used, cases[i].used);
    }
}

static void press(struct view *v, const struct ui_state *m, struct frame *f, enum key k)
{
    assert_false(view_key(v, k));
    draw(m, v, f);
}

static void scrolling_and_asking(void **state)
{
    struct ui_state m;
    struct view v = {0};
    struct scroll *s = &v.scroll[PANE_CANDIDATES];
    struct frame f;
    int follow;

    (void)state;
    ui_state_open(&m);
    feed("rules", to_model, &m);
    frame_open(&f, 12, 40, false);
    draw(&m, &v, &f);
    follow = s->top;
    assert_true(follow > 0 && s->all > s->page);
    press(&v, &m, &f, KEY_UP); /* the last one in sight */
    assert_string_equal(v.chosen, m.rows.v[s->top + s->page - 1].label);
    assert_int_equal(s->top, follow);
    for (int i = 0; i < s->page; i++)
        press(&v, &m, &f, KEY_UP);
    assert_int_equal(s->top, follow - 1);
    draw(&m, &v, &f);
    assert_int_equal(s->top, follow - 1); /* stays where it was put */
    press(&v, &m, &f, KEY_PAGE_UP);
    press(&v, &m, &f, KEY_PAGE_UP);
    press(&v, &m, &f, KEY_HOME);
    press(&v, &m, &f, KEY_UP);
    assert_int_equal(s->top, 0);
    press(&v, &m, &f, KEY_END);
    assert_int_equal(s->top, s->all - s->page);
    press(&v, &m, &f, KEY_TAB);
    press(&v, &m, &f, KEY_DOWN);
    assert_int_equal(v.scroll[PANE_WORKLOADS].top, 1);
    press(&v, &m, &f, KEY_QUIT);
    assert_true(v.asking);
    press(&v, &m, &f, KEY_DOWN);
    assert_true(v.asking); /* only an answer ends it */
    press(&v, &m, &f, KEY_NO);
    assert_false(v.asking);
    press(&v, &m, &f, KEY_YES); /* to no question */
    press(&v, &m, &f, KEY_QUIT);
    assert_true(view_key(&v, KEY_YES));
    frame_close(&f);
    ui_state_close(&m);
}

/* Enter on a candidate, and back, at any size; what a model wrote there is obeyed nowhere. */
static void a_candidate_in_full(void **state)
{
    struct ui_state m;
    struct view v = {0};
    struct frame f;
    struct str text = {0};

    (void)state;
    ui_state_open(&m);
    feed("rules", to_model, &m);
    v.now_s = m.t_s;
    frame_open(&f, 15, 60, false);
    draw(&m, &v, &f);
    press(&v, &m, &f, KEY_HOME);
    press(&v, &m, &f, KEY_ENTER);
    assert_true(v.open);
    assert_string_equal(view_row(&m, &v)->label, m.rows.v[0].label);
    assert_screen(&m, &v, "candidate", 60, 15, false);
    press(&v, &m, &f, KEY_DOWN);
    press(&v, &m, &f, KEY_TAB); /* neither the list nor the pane moves */
    assert_int_equal(v.inside.top, 1);
    assert_string_equal(view_row(&m, &v)->label, m.rows.v[0].label);
    press(&v, &m, &f, KEY_END);
    assert_int_equal(v.inside.top, v.inside.all - v.inside.page);
    assert_screen(&m, &v, "candidate-end", 60, 15, false);
    press(&v, &m, &f, KEY_QUIT);
    assert_false(v.open || v.asking);
    press(&v, &m, &f, KEY_DOWN);
    press(&v, &m, &f, KEY_ENTER);
    assert_string_equal(view_row(&m, &v)->label, m.rows.v[1].label);
    assert_int_equal(v.inside.top, 0);
    press(&v, &m, &f, KEY_NO);
    assert_false(v.open);
    assert_false(view_key(&v, KEY_HOME)); /* keys that come faster than it draws */
    press(&v, &m, &f, KEY_ENTER);
    assert_string_equal(view_row(&m, &v)->label, m.rows.v[0].label);
    press(&v, &m, &f, KEY_NO);
    assert_false(view_key(&v, KEY_DOWN));
    press(&v, &m, &f, KEY_QUIT);
    assert_true(v.asking);
    press(&v, &m, &f, KEY_NO);
    frame_close(&f);
    feed("model", to_model, &m);
    v.chosen = NULL;
    for (int rows = 1; rows < 40; rows++)
        for (int cols = 1; cols < 100; cols += cols < 30 ? 1 : 11) {
            v.open = true;
            frame_open(&f, rows, cols, rows % 2);
            draw(&m, &v, &f);
            frame_text(&f, &text);
            frame_close(&f);
        }
    for (const char *at = str_text(&text); *at; at++)
        if (!((unsigned char)*at >= 0x20 || *at == '\n'))
            fail_msg("a control character %02x", *at);
    assert_null(strstr(str_text(&text), "\xe2\x80\xae")); /* U+202E */
    str_free(&text);
    ui_state_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(screens_of_rules),
        cmocka_unit_test(screens_of_models),
        cmocka_unit_test(any_size),
        cmocka_unit_test(any_event),
        cmocka_unit_test(several_runs),
        cmocka_unit_test(several_runs),
        cmocka_unit_test(lines),
        cmocka_unit_test(cleaned),
        cmocka_unit_test(text_is_cut_by_columns),
        cmocka_unit_test(only_what_changed_is_drawn),
        cmocka_unit_test(keys),
        cmocka_unit_test(scrolling_and_asking),
        cmocka_unit_test(a_candidate_in_full),
    };

    return cmocka_run_group_tests_name("tui", tests, NULL, NULL);
}

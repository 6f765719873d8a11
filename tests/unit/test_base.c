#include "test.h"

static void test_arena(void **state)
{
    struct arena *a = arena_open();
    char *big, *small = arena_strdup(a, "kept");

    (void)state;
    for (int i = 0; i < 10000; i++) {
        char *p = arena_alloc(a, (size_t)(i % 300));
        memset(p, 0x5a, (size_t)(i % 300));
        assert_int_equal((uintptr_t)p % 16, 0);
    }
    big = arena_zalloc(a, 1 << 20);
    assert_int_equal(big[(1 << 20) - 1], 0);
    assert_string_equal(small, "kept");
    assert_string_equal(arena_printf(a, "%d-%s", 7, "x"), "7-x");
    arena_reset(a);
    assert_int_equal(arena_size(a), 0);
    arena_close(a);
}

static void test_containers(void **state)
{
    struct map m = {0};
    struct str s = {0};
    VEC(int) v = {0};
    char key[32];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        vec_push(&v, i);
        snprintf(key, sizeof(key), "k%d", i);
        map_put(&m, key, (void *)(uintptr_t)(i + 1));
    }
    assert_int_equal(v.n, 1000);
    assert_int_equal(v.v[999], 999);
    assert_int_equal((uintptr_t)map_get(&m, "k512"), 513);
    assert_null(map_get(&m, "absent"));
    assert_string_equal(m.entries[3].key, "k3");
    str_addf(&s, "%05.1f", 2.25);
    str_addc(&s, '!');
    assert_string_equal(str_text(&s), "002.2!");
    str_free(&s);
    assert_string_equal(str_text(&s), "");
    vec_free(&v);
    map_free(&m);
}

static void test_nearest(void **state)
{
    const char *names[] = {"optimize", "check", "bench", NULL};

    (void)state;
    assert_string_equal(str_nearest("optimise", names), "optimize");
    assert_string_equal(str_nearest("chekc", names), "check");
    assert_null(str_nearest("zzzzzzzz", names));
}

static void test_words(void **state)
{
    static const char text[] = "n_rows\nn * n1 + _n;n";
    struct arena *a = arena_open();

    (void)state;
    assert_int_equal(str_word("row_1[0]"), 5);
    assert_int_equal(str_word(" row"), 0);
    assert_true(str_is_name("_n1"));
    assert_false(str_is_name("1n") || str_is_name("") || str_is_name("a b"));
    assert_ptr_equal(str_find_word(text, text, "n"), text + 7);
    assert_ptr_equal(str_find_word(text, text + 8, "n"), text + sizeof(text) - 2);
    assert_int_equal(str_count_word(text, "n"), 2);
    assert_true(str_has_word(text, "n1"));
    assert_false(str_has_word(text, "rows") || str_has_word(text, ""));
    assert_string_equal(str_replace_word(a, text, "n", "rows"), "n_rows\nrows * n1 + _n;rows");
    assert_int_equal(str_line_start(text, 3), 0);
    assert_int_equal(str_line_start(text, 9), 7);
    arena_close(a);
}

static void test_shell(void **state)
{
    struct str s = {0};

    (void)state;
    str_add_shell(&s, "runs/softmax-1");
    str_addc(&s, ' ');
    str_add_shell(&s, "my runs");
    str_addc(&s, ' ');
    str_add_shell(&s, "it's");
    str_addc(&s, ' ');
    str_add_shell(&s, "");
    assert_string_equal(str_text(&s), "runs/softmax-1 'my runs' 'it'\\''s' ''");
    str_free(&s);
}

static void test_err(void **state)
{
    struct err e = {0};
    char buf[256];

    (void)state;
    assert_false(err_at(&e, "task.yaml", 3, 7, "unknown key '%s'", "nmae"));
    assert_string_equal(err_format(&e, buf, sizeof(buf)), "task.yaml:3:7: unknown key 'nmae'");
    err_context(&e, "while reading");
    assert_string_equal(e.text, "while reading: unknown key 'nmae'");
    assert_int_equal(e.kind, ERR_INPUT);
}

static void test_sha256(void **state)
{
    char hex[65], a[200];

    (void)state;
    hash_sha256_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hash_sha256_hex("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    memset(a, 'a', sizeof(a));
    hash_sha256_hex(a, 200, hex);
    assert_string_equal(hex, "c2a908d98f5df987ade41b5fce213067efbcc21ef2240212a41e54b5e7c28ae5");
}

static void test_stats(void **state)
{
    double x[] = {4, 1, 3, 2}, low, high, y[50];
    struct rng r = {1};

    (void)state;
    assert_true(stats_median(x, 4) == 2.5);
    assert_true(fabs(stats_geomean(x, 4) - pow(24, 0.25)) < 1e-12);
    assert_true(isnan(stats_median(x, 0)));
    for (int i = 0; i < 50; i++)
        y[i] = 10 + rng_normal(&r);
    stats_bootstrap_median(y, 50, 3, &low, &high);
    assert_true(low < stats_median(y, 50) && stats_median(y, 50) < high && high - low < 2);
}

static void test_proc(void **state)
{
    const char *echo[] = {"cat", NULL}, *sleeper[] = {"sleep", "20", NULL},
               *none[] = {"no-such-program-here", NULL};
    struct proc_limits limit = {.wall_s = 0.2};
    struct proc_result r;
    struct proc p;
    struct str line = {0};
    struct err err = {0};

    (void)state;
    assert_ok(proc_run(echo, "hello", NULL, &r, &err), err);
    assert_int_equal(r.end, PROC_EXITED);
    assert_string_equal(str_text(&r.out), "hello");
    proc_result_free(&r);
    assert_ok(proc_run(sleeper, NULL, &limit, &r, &err), err);
    assert_int_equal(r.end, PROC_TIMED_OUT);
    proc_result_free(&r);
    assert_false(proc_run(none, NULL, NULL, &r, &err));
    assert_ok(proc_open(&p, echo[0], echo, -1, &err), err);
    assert_ok(proc_send_line(&p, "{\"a\":1}", &err), err);
    assert_int_equal(proc_read_line(&p, 5, &line), PROC_LINE);
    assert_string_equal(str_text(&line), "{\"a\":1}");
    assert_int_equal(proc_read_line(&p, 0.05, &line), PROC_TIMEOUT);
    proc_kill(&p);
    str_free(&line);
}

static void test_fill(void **state)
{
    static const struct fill_slot slots[] = {{"a", "1"}, {"none", NULL}};
    struct arena *a = arena_open();
    struct fill *f = fill_open(a), *row;
    struct str s = {0};

    (void)state;
    assert_string_equal(fill_text(a, "test", "x {{a}}\n{{none}}\n{{{a}}}\n\n", slots, ARRAY_LEN(slots)),
                        "x 1\n{1}");
    fill_put(f, "package", "p");
    fill_put(f, "op", "f");
    fill_section(f, "parameters");
    fill_if(f, "makes", true);
    fill_if(f, "single", false);
    for (int i = 0; i < 2; i++) {
        row = fill_row(f, "parameters");
        fill_put(row, "schema", "Tensor ");
        fill_putf(row, "name", "x%d", i);
        fill_put(row, "default", i ? "=2" : "");
        fill_putf(fill_row(f, "written"), "name", "y%d", i);
    }
    fill_put(f, "suffix", "_old");
    fill_put(f, "suffix", "_into"); /* the last one counts */
    assert_string_equal(fill_file(f, "export/torch/schema.txt"),
                        "f_into(Tensor x0, Tensor x1=2) -> (Tensor, Tensor)");
    fill_section(f, "operators");
    fill_put(f, "title", "t");
    fill_if(f, "functional", false);
    fill_put(f, "flags", "");
    fill_section(f, "facts");
    str_add(&s, fill_file(f, "export/torch/README.md")); /* sections alone on their lines leave none */
    assert_non_null(strstr(str_text(&s),
                           "as operators of PyTorch:\n\n\nThe first writes into the tensors that are given. "));
    assert_string_equal(str_take(&s, a), fill_file(f, "export/torch/README.md"));
    assert_null(s.s);
    arena_close(a);
}

static void test_fs(void **state)
{
    struct arena *a = arena_open();
    struct err err = {0};
    char *dir = fs_temp_dir(a, &err), *path, *text;
    size_t size;

    (void)state;
    assert_non_null(dir);
    path = fs_join(a, dir, "a/b");
    assert_ok(fs_mkdirs(path, &err), err);
    path = fs_join(a, path, "f.txt");
    assert_ok(fs_write_text(path, "x\ny", &err), err);
    assert_ok(fs_read(a, path, &text, &size, &err), err);
    assert_string_equal(text, "x\ny");
    assert_int_equal(size, 3);
    assert_false(fs_write_text("/proc/none/x", "", &err));
    assert_int_equal(err.kind, ERR_WORLD);
    fs_remove_tree(dir);
    assert_false(fs_exists(path));
    arena_close(a);
}

static void test_utf8(void **state)
{
    static const struct {
        const char *bytes;
        size_t left, len;
        uint32_t c;
    } rows[] = {
        {"a", 1, 1, 'a'},
        {"\xc3\xa4", 2, 2, 0xe4},
        {"\xe2\x82\xac", 3, 3, 0x20ac},
        {"\xf0\x9f\x98\x80", 4, 4, 0x1f600},
        {"\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff},
        {"\xe2\x82\xac", 2, 0, 0}, /* cut off */
        {"\xe2\x82z", 3, 0, 0},
        {"\x80", 1, 0, 0}, /* stray */
        {"\xff", 1, 0, 0},
        {"\xc0\x80", 2, 0, 0}, /* overlong */
        {"\xe0\x9f\xbf", 3, 0, 0},
        {"\xf0\x8f\xbf\xbf", 4, 0, 0},
        {"\xed\xa0\x80", 3, 0, 0},     /* a surrogate */
        {"\xf4\x90\x80\x80", 4, 0, 0}, /* beyond the last one */
    };
    struct str s = {0};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint32_t c = 0;
        assert_int_equal(utf8_read(rows[i].bytes, rows[i].left, &c), rows[i].len);
        assert_int_equal(c, rows[i].c);
        if (rows[i].len == 0)
            continue;
        str_free(&s);
        utf8_add(&s, c);
        assert_string_equal(str_text(&s), rows[i].bytes);
    }
    str_free(&s);
    static const uint32_t hidden[] = {'\n',   '\t',   0x1b,   0x7f,    0x85,    0x9b,    0xad,    0x61c,
                                      0x115f, 0x180e, 0x200b, 0x202e,  0x2028,  0x2066,  0x3164,  0xfe0f,
                                      0xfeff, 0xfff9, 0xfffb, 0xe0001, 0xe007f, 0xe0100, 0xe01ef, 0xe0fff};
    for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
        if (!utf8_hidden(hidden[i]))
            fail_msg("U+%04x", hidden[i]);
    static const uint32_t seen[] = {' ',    '~',    0xa0,   0xe4,   0x301,   0x20ac,
                                    0x2190, 0x4e00, 0xfffc, 0xfffd, 0x1f600, 0x10ffff};
    for (size_t i = 0; i < ARRAY_LEN(seen); i++)
        if (utf8_hidden(seen[i]))
            fail_msg("U+%04x", seen[i]);
    assert_int_equal(utf8_cut("a\xe2\x82\xac", 4), 4);
    assert_int_equal(utf8_cut("a\xe2\x82\xac", 3), 1);
    assert_int_equal(utf8_cut("a\xe2\x82\xac", 1), 1);
    assert_int_equal(utf8_cut("\x80\x80", 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena),  cmocka_unit_test(test_containers), cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_words),  cmocka_unit_test(test_shell),      cmocka_unit_test(test_err),
        cmocka_unit_test(test_sha256), cmocka_unit_test(test_stats),      cmocka_unit_test(test_proc),
        cmocka_unit_test(test_fill),   cmocka_unit_test(test_fs),         cmocka_unit_test(test_utf8),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Bytes to lines to messages, and files below a folder. What the whole server does is in tests/cli/mcp.py. */
#include "mcp/internal.h"
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void lines_come_in_any_parts(void **state)
{
    static const char text[] = "one\n\ntwo\r\nthree";
    const char *line;
    size_t len;

    (void)state;
    for (size_t part = 1; part < sizeof(text); part++) {
        struct mcp_lines l = {0};
        struct str got = {0};
        for (size_t at = 0; at < sizeof(text) - 1; at += part) {
            mcp_lines_add(&l, text + at, MIN(part, sizeof(text) - 1 - at));
            while (mcp_lines_next(&l, &line, &len) == MCP_LINE)
                str_addf(&got, "%.*s|", (int)len, line);
        }
        assert_string_equal(str_text(&got), "one||two\r|");
        str_free(&got);
        mcp_lines_free(&l);
    }
}

static void a_long_line_is_told_once(void **state)
{
    struct mcp_lines l = {0};
    char *much = mem_zalloc(MCP_LINE_BYTES);
    const char *line;
    size_t len;

    (void)state;
    memset(much, 'x', MCP_LINE_BYTES);
    mcp_lines_add(&l, much, MCP_LINE_BYTES);
    assert_int_equal(mcp_lines_next(&l, &line, &len), MCP_NO_LINE);
    mcp_lines_add(&l, "yy", 2);
    assert_int_equal(mcp_lines_next(&l, &line, &len), MCP_LONG_LINE);
    mcp_lines_add(&l, much, MCP_LINE_BYTES);
    assert_int_equal(mcp_lines_next(&l, &line, &len), MCP_NO_LINE);
    mcp_lines_add(&l, "z\nnext\n", 7);
    assert_int_equal(mcp_lines_next(&l, &line, &len), MCP_LINE);
    assert_memory_equal(line, "next", len);
    assert_int_equal(mcp_lines_next(&l, &line, &len), MCP_NO_LINE);
    mcp_lines_free(&l);
    free(much);
}

static void schemas_are_whole(void **state)
{
    json_t *list = tool_list();

    (void)state;
    assert_int_equal(json_array_size(list), n_tools);
    for (size_t i = 0; i < n_tools; i++) {
        const json_t *o = json_array_get(list, i);
        assert_string_equal(json_text(json_object_get(o, "outputSchema"), "type", ""), "object");
        assert_true(!tools[i].verb == !tools[i].answer && !tools[i].verb == (tools[i].begin != NULL));
    }
    json_decref(list);
}

static void paths_are_made_plain(void **state)
{
    struct arena *a = arena_open();
    static const struct {
        const char *given, *plain;
    } paths[] = {
        {"a", "a"},     {"./a//b/", "a/b"},    {"a/../b", "b"}, {"a/..", "."},     {".", "."},
        {"", "."},      {"..", NULL},          {"/a", NULL},    {"a/../..", NULL}, {"a/b/../../../c", NULL},
        {"...", "..."}, {"..a/b..", "..a/b.."}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        const char *got = beneath_plain(a, paths[i].given);
        if (!paths[i].plain)
            assert_null(got);
        else
            assert_string_equal(got, paths[i].plain);
    }
    arena_close(a);
}

static void files_are_read_beneath(void **state)
{
    struct arena *a = arena_open();
    struct err err;
    char *outer = fs_temp_dir(a, &err), *inner = fs_join(a, outer, "in"), *text;
    size_t len;
    int fd;

    (void)state;
    assert_ok(fs_mkdirs(inner, &err) && fs_write_text(fs_join(a, outer, "out"), "secret", &err) &&
                  fs_write_text(fs_join(a, inner, "file"), "12345", &err),
              err);
    assert_int_equal(symlink("file", fs_join(a, inner, "link")), 0);
    assert_int_equal(symlink("../out", fs_join(a, inner, "away")), 0);
    assert_int_equal(symlink(outer, fs_join(a, inner, "up")), 0);
    assert_int_equal(mkfifo(fs_join(a, inner, "pipe"), 0600), 0);
    fd = open(inner, O_PATH | O_DIRECTORY);
    assert_true(fd >= 0);
    assert_int_equal(beneath_read(fd, "link", 5, a, &text, &len, &err), BENEATH_READ);
    assert_string_equal(text, "12345");
    assert_int_equal(beneath_read(fd, "none", 5, a, &text, &len, &err), BENEATH_ABSENT);
    assert_int_equal(beneath_read(fd, "file", 4, a, &text, &len, &err), BENEATH_REFUSED);
    assert_non_null(strstr(err.text, "larger than 4"));
    for (const char *const *p = (const char *const[]){"away", "up/out", "../out", "/etc/passwd", NULL}; *p;
         p++) {
        assert_int_equal(beneath_read(fd, *p, 99, a, &text, &len, &err), BENEATH_REFUSED);
        assert_non_null(strstr(err.text, "leads out"));
    }
    assert_int_equal(beneath_read(fd, "pipe", 99, a, &text, &len, &err), BENEATH_REFUSED);
    assert_int_equal(beneath_read(fd, ".", 99, a, &text, &len, &err), BENEATH_REFUSED);
    close(fd);
    fs_remove_tree(outer);
    arena_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_in_any_parts), cmocka_unit_test(a_long_line_is_told_once),
        cmocka_unit_test(schemas_are_whole),       cmocka_unit_test(paths_are_made_plain),
        cmocka_unit_test(files_are_read_beneath),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

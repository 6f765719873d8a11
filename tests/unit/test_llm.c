/* The parts of llm that need no network: streams, texts, prices, recordings. tests/llm/run.py has the rest. */
#include "llm/internal.h"
#include "test.h"

/* ---- server-sent events ---- */

static bool take(void *context, const char *event, const char *data, size_t len)
{
    str_addf(context, "[%s|%.*s]", event, (int)len, data);
    return !(len == 4 && memcmp(data, "stop", 4) == 0);
}

static const struct {
    const char *bytes, *events;
} streams[] = {
    {"data: a\n\ndata: b\n\n", "[|a][|b]"},
    {"event: x\ndata:a\n\n", "[x|a]"},
    {"data: a\r\ndata: b\r\n\r\n", "[|a\nb]"},
    {"data: a\r\rdata: b\r\r", "[|a][|b]"},
    {": comment\n\ndata: a\n: more\n\n\n\n", "[|a]"},
    {"id: 7\nretry: 5\ndata\n\n", "[|]"},
    {"event: lost\n\ndata:  two spaces\n\n", "[| two spaces]"},
    {"\xef\xbb\xbf"
     "data: bom\n\n",
     "[|bom]"},
    {"data: no last line", "[|no last line]"},
    {"data: a\n\ndata: stop\n\ndata: never\n\n", "[|a][|stop]"},
    {"", ""},
};

static void test_sse_in_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
        size_t n = strlen(streams[i].bytes);
        for (size_t size = 1; size <= n + 1; size++) {
            struct sse s = {0};
            struct str got = {0};
            bool more = true;
            for (size_t at = 0; at < n && more; at += size)
                more = sse_feed(&s, streams[i].bytes + at, MIN(size, n - at), take, &got);
            if (more)
                sse_end(&s, take, &got);
            assert_string_equal(str_text(&got), streams[i].events);
            sse_free(&s);
            str_free(&got);
        }
    }
}

/* ---- readers: the same reply however it is cut into pieces ---- */

static const char openai_stream[] =
    "data: {\"model\":\"m\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"caf\\u00e9 \\ud83d\\ude00 \\ud83d lone\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3,"
    "\"completion_tokens_details\":{\"reasoning_tokens\":1}}}\n\ndata: [DONE]\n\n";

static void test_reader_in_pieces(void **state)
{
    size_t n = strlen(openai_stream);

    (void)state;
    for (size_t size = 1; size <= n; size += 1 + size / 8) {
        struct reader r;
        bool more = true;
        reader_start(&r, &wire_openai, size % 2 ? "text/event-stream" : "text/plain");
        for (size_t at = 0; at < n && more; at += size)
            more = reader_feed(&r, openai_stream + at, MIN(size, n - at));
        assert_false(more);
        reader_end(&r, false);
        assert_int_equal(answer_judge(&r.answer), TRY_DONE);
        assert_string_equal(r.answer.text.s, "caf\u00e9 \U0001f600 \ufffd lone");
        assert_string_equal(r.answer.model.s, "m");
        assert_int_equal(r.answer.usage.input, 7);
        assert_int_equal(r.answer.usage.output, 3);
        assert_int_equal(r.answer.usage.reasoning, 1);
        assert_int_equal(r.answer.usage.cached, -1);
        reader_free(&r);
    }
}

/* Every prefix of a good stream is another try, never a reply. */
static void test_reader_prefixes(void **state)
{
    size_t end = (size_t)(strstr(openai_stream, "data: {\"choices\":[{\"delta\":{},") - openai_stream);

    (void)state;
    for (size_t n = 0; n < end; n++) {
        struct reader r;
        reader_start(&r, &wire_openai, "text/event-stream");
        reader_feed(&r, openai_stream, n);
        reader_end(&r, n % 2);
        assert_int_equal(answer_judge(&r.answer), TRY_AGAIN);
        assert_true(r.answer.words.len > 0);
        reader_free(&r);
    }
}

/* ---- texts ---- */

static void test_utf8(void **state)
{
    static const struct {
        const char *in;
        size_t n;
        const char *out;
    } cases[] = {
        {"plain", 5, "plain"},
        {"caf\xc3\xa9 \xf0\x9f\x98\x80", 10, "caf\u00e9 \U0001f600"},
        {"a\xff"
         "b",
         3, "a\ufffdb"},
        {"a\xc3", 2, "a\ufffd"},
        {"\xc0\x80", 2, "\ufffd\ufffd"},                     /* overlong */
        {"\xed\xa0\x80", 3, "\ufffd\ufffd\ufffd"},           /* a surrogate */
        {"\xf4\x90\x80\x80", 4, "\ufffd\ufffd\ufffd\ufffd"}, /* above the last */
        {"a\0b", 3, "a\ufffdb"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str s = {0};
        text_add_utf8(&s, cases[i].in, cases[i].n);
        assert_string_equal(str_text(&s), cases[i].out);
        str_free(&s);
    }
}

static void test_redact(void **state)
{
    struct str s = {0};

    (void)state;
    str_add(&s, "sk-1234 and sk-1234sk-1234.");
    text_redact(&s, "sk-1234");
    assert_string_equal(s.s, "[key] and [key][key].");
    text_redact(&s, NULL);
    text_redact(&s, "");
    assert_string_equal(s.s, "[key] and [key][key].");
    str_free(&s);
}

static void test_diff(void **state)
{
    struct str s = {0};

    (void)state;
    text_diff(&s, "a", "1\n2\n3\n", "b", "1\nx\n3\n", 100);
    assert_string_equal(str_text(&s), "--- a\n+++ b\n@@ -1,3 +1,3 @@\n 1\n-2\n+x\n 3\n");
    str_clear(&s);
    text_diff(&s, "a", "1\n2\n3\n", "b", "1\nx\n3\n", 5);
    assert_string_equal(str_text(&s), "--- a\n+++ b\n@@ -1,3 +1,3 @@\n 1\n-2\n(2 more lines of difference)\n");
    str_free(&s);
}

/* ---- tokens, prices, replies ---- */

static void test_tokens(void **state)
{
    (void)state;
    assert_int_equal(llm_tokens(""), 0);
    assert_int_equal(llm_tokens("hello world"), 2);
    assert_in_range(llm_tokens("float4 v = reinterpret_cast<const float4 *>(in)[i];"), 14, 24);
    assert_in_range(llm_tokens("\x01\x02\xff"), 1, 4);
}

static void test_prices(void **state)
{
    static const char *const same[] = {"gpt-4.1", "gpt-4.1-2025-04-14", "gpt-4.1-20250414", "gpt-4.1-latest",
                                       "openai/gpt-4.1"};
    static const char *const other[] = {"gpt-4.1-turbo", "gpt-4", "gpt-4.1x", "gpt-4.1-12", "", "my-gpt-4.1"};
    struct llm_usage u = {1000000, 200000, 5, 100000, -1};
    struct llm_price p;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        assert_true(llm_price_find(same[i], &p));
        assert_true(p.input == 2 && p.cached == 0.5 && p.output == 8);
        assert_int_equal(strlen(p.date), 10);
    }
    for (size_t i = 0; i < ARRAY_LEN(other); i++)
        assert_false(llm_price_find(other[i], &p));
    assert_float_equal(price_of("gpt-4.1", &u), 0.8 * 2 + 0.2 * 0.5 + 0.1 * 8, 1e-9);
    u.output = -1;
    assert_true(isnan(price_of("gpt-4.1", &u)));
}

static void test_reply_json(void **state)
{
    struct arena *a = arena_open();
    struct llm_reply r = {.end = LLM_CUT,
                          .text = "half",
                          .words = "cut",
                          .model = "m",
                          .usage = {5, -1, 2, 3, -1},
                          .usd = NAN,
                          .first_byte_s = 0.5,
                          .wall_s = 1.5,
                          .attempts = 2},
                     s;
    json_t *o = llm_reply_to_json(&r);
    struct err err;

    (void)state;
    assert_ok(llm_reply_from_json(o, a, &s, &err), err);
    assert_int_equal(s.end, LLM_CUT);
    assert_string_equal(s.text, "half");
    assert_string_equal(s.words, "cut");
    assert_memory_equal(&s.usage, &r.usage, sizeof(r.usage));
    assert_true(isnan(s.usd) && s.first_byte_s == 0.5 && s.wall_s == 1.5 && s.attempts == 2 && !s.fatal);
    json_decref(o);
    arena_close(a);
}

static void test_spend(void **state)
{
    struct llm_spend s = {0};
    struct llm_reply r = {.usage = {100, 50, -1, 20, -1}, .usd = 0.5, .wall_s = 2, .attempts = 1};

    (void)state;
    llm_spend_add(&s, &r);
    r.usage = LLM_USAGE_UNKNOWN;
    r.usd = NAN;
    r.end = LLM_FAILED;
    llm_spend_add(&s, &r);
    assert_true(s.calls == 2 && s.failed == 1 && s.untold == 1 && s.unpriced == 1 && s.input == 100 &&
                s.cached == 50 && s.reasoning == 0 && s.output == 20 && s.usd == 0.5 && s.wall_s == 4 &&
                s.attempts == 2);
}

/* A text comes out of a recording as it went in, byte for byte. */
static void test_recording(void **state)
{
    static const char *const texts[] = {
        "", "\n", "a", "a\n", "\n\na\r\n b\t\n", "caf\u00e9 \U0001f600 \"\\ \x01\x7f\n"};
    struct arena *a = arena_open();
    struct err err = {0};
    char *dir = fs_temp_dir(a, &err);
    struct llm_config c = {.provider = "openai", .record_dir = dir};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct llm_message m[] = {{false, texts[i]}, {true, "x"}, {false, "y"}};
        struct llm_request q = {"coder", "coder-1", texts[i], m, 3};
        struct llm_reply r = {.text = texts[i], .model = "m", .usage = LLM_USAGE_UNKNOWN, .usd = NAN};
        struct recording back;
        char *text, *path = record_path(a, dir, &q);
        size_t n;
        assert_ok(record_write(&c, &q, &r, "a note", &err), err);
        assert_ok(fs_read(a, path, &text, &n, &err), err);
        assert_ok(record_parse(text, n, path, a, &back, &err), err);
        assert_string_equal(back.reply.text, texts[i]);
        assert_string_equal(back.system, texts[i]);
        assert_string_equal(back.messages[0].text, texts[i]);
        assert_true(back.n_messages == 3 && back.messages[1].assistant && !back.messages[2].assistant);
        assert_string_equal(back.note, "a note");
    }
    fs_remove_tree(dir);
    arena_close(a);
}

/* ---- addresses ---- */

static void test_addresses(void **state)
{
    char host[64];

    (void)state;
    assert_true(url_host("https://api.example.com/v1", host, sizeof(host)));
    assert_string_equal(host, "api.example.com");
    assert_true(url_host("HTTP://[::1]:8000", host, sizeof(host)));
    assert_string_equal(host, "[::1]:8000");
    assert_false(url_host("ftp://example.com", host, sizeof(host)));
    assert_false(url_host("http://user:secret@example.com", host, sizeof(host)));
    assert_false(url_host("http://", host, sizeof(host)));
    assert_false(url_host("http://a b/", host, sizeof(host)));
    assert_true(url_is_loopback("http://127.0.0.1:8000/v1"));
    assert_true(url_is_loopback("http://localhost"));
    assert_true(url_is_loopback("http://[::1]:1/"));
    assert_false(url_is_loopback("http://localhost.example.com"));
    assert_false(url_is_loopback("https://example.com/127.0.0.1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sse_in_pieces),   cmocka_unit_test(test_reader_in_pieces),
        cmocka_unit_test(test_reader_prefixes), cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_redact),          cmocka_unit_test(test_diff),
        cmocka_unit_test(test_tokens),          cmocka_unit_test(test_prices),
        cmocka_unit_test(test_reply_json),      cmocka_unit_test(test_spend),
        cmocka_unit_test(test_recording),       cmocka_unit_test(test_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

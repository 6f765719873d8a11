/* The part of libastra_capture.so that writes what it keeps, over a driver of a few functions: the library
 * itself cannot be loaded before a sanitizer's. */
#include "test.h"

#include "inject/internal.h"

#include <dirent.h>
#include <unistd.h>

/* ---- what the other files of the library would be ---- */

enum { N = 4096 };
static unsigned char memory[N] __attribute__((aligned(4096))); /* all that the driver gave out */
static int copies, captures_now, not_ready;
static size_t sizes[128];
static unsigned n_sizes;
static char name_of_kernel[3000];

static int address_range(uint64_t *base, size_t *size, uint64_t at)
{
    *base = (uint64_t)(uintptr_t)memory;
    *size = N;
    return at >= *base && at < *base + N ? 0 : 1;
}

static int copy_to_host(void *to, uint64_t from, size_t n, void *stream)
{
    (void)stream;
    copies++;
    memcpy(to, (const void *)(uintptr_t)from, n);
    return 0;
}

static int param_info(void *function, size_t i, size_t *offset, size_t *size)
{
    (void)function;
    *offset = 8 * i;
    *size = i < n_sizes ? sizes[i] : 0;
    return i < n_sizes ? 0 : 1;
}

static int context_current(void **context)
{
    *context = memory;
    return 0;
}

static int create(void **made, unsigned flags)
{
    (void)flags;
    *made = memory;
    return 0;
}

static int record(void *event, void *stream)
{
    (void)event;
    return stream ? 0 : 1; /* a stream that is out of order */
}

static int query(void *event)
{
    (void)event;
    return not_ready ? 1 : 0;
}

static const struct calls the_calls = {.address_range = address_range,
                                       .copy_to_host = copy_to_host,
                                       .param_info = param_info,
                                       .context_current = context_current,
                                       .stream_create = create,
                                       .event_create = create,
                                       .event_record = record,
                                       .event_query = query};

const struct calls *driver_calls(void)
{
    return &the_calls;
}

void say(const char *fmt, ...)
{
    (void)fmt;
}

uint64_t now_ns(void)
{
    return 0;
}

bool is_kernel(void *function)
{
    (void)function;
    return false;
}

const char *driver_name(void *function)
{
    (void)function;
    return name_of_kernel;
}

bool stream_captures(void *stream)
{
    (void)stream;
    return captures_now;
}

struct capture_file *table(void)
{
    return NULL;
}

/* ---- tests ---- */

static char folder[64];

static void fresh(void)
{
    struct err err;
    struct arena *a = arena_open();

    if (*folder)
        fs_remove_tree(folder);
    snprintf(folder, sizeof(folder), "%s", fs_temp_dir(a, &err));
    arena_close(a);
    setenv("ASTRA_CAPTURE_DIR", folder, 1);
    setenv("ASTRA_CAPTURE_CONTENTS", "kern,nccl", 1);
    unsetenv("ASTRA_CAPTURE_CONTENTS_MB");
    keep_forget();
    keep_gone(NULL);
    memset(memory, 0, sizeof(memory));
    copies = captures_now = not_ready = 0;
    snprintf(name_of_kernel, sizeof(name_of_kernel), "kernel");
}

static void launch(void **params, bool cooperative)
{
    struct shape s = {.grid = {1, 1, 1}, .block = {1, 1, 1}};

    keep_launch(&(struct keep_call){
        .function = memory, .stream = memory, .shape = &s, .params = params, .cooperative = cooperative});
}

/* All lines that were kept. */
static json_t *lines(struct arena *a, size_t *n)
{
    struct err err = {0};
    char *text = "";
    json_t *list = json_array();

    fs_read(a, arena_printf(a, "%s/%ld" CAPTURE_KEPT, folder, (long)getpid()), &text, NULL, &err);
    for (char *line = text, *end; *line; line = end + 1) {
        end = line + strcspn(line, "\n");
        assert_true(*end == '\n');
        json_t *o = json_parse(line, (size_t)(end - line), "a line", &err);
        assert_non_null(o);
        json_array_append_new(list, o);
    }
    *n = json_array_size(list);
    return list;
}

static size_t files(void)
{
    char path[128];
    size_t n = 0;
    struct dirent *e;
    snprintf(path, sizeof(path), "%s/" CAPTURE_CONTENTS, folder);
    DIR *dir = opendir(path);

    while (dir && (e = readdir(dir)))
        n += e->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return n;
}

/* Structs with pointers at their beginning, end and in between, to tables that point on and to themselves. */
static void pointers_wherever_they_lie(void **state)
{
    struct arena *a = arena_open();
    uint64_t words[512], at = (uint64_t)(uintptr_t)memory;
    void *params[] = {words, words};
    size_t n;
    json_t *list;

    (void)state;
    fresh();
    for (size_t i = 0; i < N / 8; i++)
        memcpy(memory + 8 * i, &at, 8); /* a table of itself */
    for (size_t i = 0; i < 512; i++)
        words[i] = i % 3 ? i : at + 8 * i;
    sizes[0] = 8;
    sizes[1] = sizeof(words);
    n_sizes = 2;
    launch(params, false);
    list = lines(a, &n);
    /* 4096 bytes in hexadecimal and 64 tables of 64 pointers are more than a line holds: then none is written.
     */
    assert_true(n <= 1);
    json_decref(list);
    fresh();
    memcpy(memory, &at, 8);
    sizes[1] = 24;
    launch(params, false);
    list = lines(a, &n);
    assert_int_equal(n, 1);
    const json_t *struct_of = json_array_get(json_object_get(json_array_get(list, 0), "parameters"), 1);
    assert_int_equal(json_array_size(json_object_get(struct_of, "inner")), 1);
    assert_true(copies >= 3 && files() >= 1);
    json_decref(list);
    arena_close(a);
}

static void names_and_parameters_of_any_size(void **state)
{
    struct arena *a = arena_open();
    unsigned char value[4096] = {1};
    void *params[128];
    size_t n;

    (void)state;
    for (int round = 0; round < 3; round++) {
        fresh();
        memset(name_of_kernel, '"', sizeof(name_of_kernel) - 1);
        memcpy(name_of_kernel, "kern", 4);
        n_sizes = round ? 128 : 0;
        for (size_t i = 0; i < 128; i++) {
            params[i] = value;
            sizes[i] = round == 1 ? 1 : 4096;
        }
        launch(params, false);
        json_decref(lines(a, &n));
        assert_int_equal(n, round < 2);
    }
    arena_close(a);
}

static const char *why_not(void)
{
    static char words[256];
    struct arena *a = arena_open();
    size_t n;
    json_t *list = lines(a, &n);

    assert_int_equal(n, 1);
    snprintf(words, sizeof(words), "%s", json_text(json_array_get(list, 0), "without_contents", ""));
    json_decref(list);
    arena_close(a);
    return words;
}

static void nothing_is_paused_that_must_not_be(void **state)
{
    uint64_t at = (uint64_t)(uintptr_t)memory;
    void *params[] = {&at};

    (void)state;
    sizes[0] = 8;
    n_sizes = 1;
    fresh();
    launch(params, true);
    assert_non_null(strstr(why_not(), "cooperative"));
    fresh();
    snprintf(name_of_kernel, sizeof(name_of_kernel), "ncclDevKernel_AllReduce");
    launch(params, false);
    assert_non_null(strstr(why_not(), "may wait for others"));
    fresh();
    captures_now = 1;
    launch(params, false);
    assert_non_null(strstr(why_not(), "captured"));
    fresh();
    contents_capture(1);
    launch(params, false);
    assert_non_null(strstr(why_not(), "captured"));
    contents_capture(-1);
    contents_capture(-1); /* ends nothing */
    fresh();
    not_ready = 1;
    launch(params, false);
    assert_non_null(strstr(why_not(), "come to rest"));
    assert_true(copies == 0 && files() == 0);
    fresh();
    launch(params, false);
    assert_true(!*why_not() && copies == 1 && files() == 1);
}

/* At most so many bytes, of all launches together. */
static void bytes_are_bounded(void **state)
{
    uint64_t at = (uint64_t)(uintptr_t)memory;
    unsigned number = 0;
    void *params[] = {&at, &number};

    (void)state;
    fresh();
    setenv("ASTRA_CAPTURE_CONTENTS_MB", "1", 1);
    sizes[0] = 8;
    sizes[1] = 4;
    n_sizes = 2;
    for (number = 0; number < 400; number++) {
        memcpy(memory, &number, sizeof(number));
        launch(params, false);
    }
    assert_true(files() > 100 && files() * N <= 1 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pointers_wherever_they_lie),
        cmocka_unit_test(names_and_parameters_of_any_size),
        cmocka_unit_test(nothing_is_paused_that_must_not_be),
        cmocka_unit_test(bytes_are_bounded),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    if (*folder)
        fs_remove_tree(folder);
    return failed;
}

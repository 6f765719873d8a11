/* Any bytes as a run.db: an error, or a run that can be shown in every way. */
#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(struct store *s, struct arena *a, const char *folder)
{
    const struct store_candidate *list;
    struct str out = {0};
    struct err err = {0};
    json_t *result = NULL, *calls = NULL;
    size_t n;

    store_candidates(s, a, &list, &n, &err);
    report_result(s, a, &result, &err);
    report_summary(s, a, folder, true, &out, &err);
    report_calls(s, a, &out, &err);
    report_calls_json(s, a, &calls, &err);
    report_call(s, a, 1, &out, &err);
    report_strategy(s, a, 1, &out, &err);
    json_decref(result);
    json_decref(calls);
    str_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_open();
    struct err err = {0};
    struct store *s = NULL;
    struct view *v = NULL;
    struct str out = {0};
    char *folder = fs_temp_dir(a, &err);

    BUG_IF(!folder || !fs_write(fs_join(a, folder, "run.db"), data, size, &err));
    if (store_open(&s, folder, false, &err))
        show(s, a, folder);
    else
        BUG_IF(err.kind == ERR_NONE || !err.text[0]);
    store_close(s);
    if (view_open(&v, a, folder, &err)) {
        report_page(v, a, &out);
        report_markdown(v, a, &out);
        view_close(v);
    }
    str_free(&out);
    fs_remove_tree(folder);
    arena_close(a);
    return 0;
}

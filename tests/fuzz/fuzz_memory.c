/* Any bytes as an exported memory: taken in whole or refused with words, and what is taken in is exported as it
 * was. */
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_open();
    const struct memory_row *list, *back;
    struct err err = {0};
    json_t *o = json_parse((const char *)data, size, "memory", &err), *again;
    size_t n, m;

    if (o && memory_from_json(o, a, &list, &n, &err)) {
        again = memory_to_json(list, n);
        BUG_IF(!memory_from_json(again, a, &back, &m, &err) || m != n);
        for (size_t i = 0; i < n; i++)
            BUG_IF(!str_eq(list[i].features, back[i].features) || !str_eq(list[i].steps, back[i].steps));
        json_decref(again);
    } else {
        BUG_IF(err.kind == ERR_NONE || !err.text[0]);
    }
    json_decref(o);
    arena_close(a);
    return 0;
}

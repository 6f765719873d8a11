/* What of the providers is here, what is missing, and how to get it. */
#include "llm/internal.h"

static const struct provider *const over_http[] = {&provider_openai, &provider_anthropic};

json_t *llm_doctor(struct str *text)
{
    json_t *o = json_object(), *keys = json_object();
    struct str version = {0};
    bool here = http_version(&version);
    struct llm_price p;

    str_addf(text, "  %-10s %s  %s\n", "libcurl", here ? "found  " : "missing", str_text(&version));
    json_put_flag(o, "libcurl", here);
    for (size_t i = 0; i < ARRAY_LEN(over_http); i++) {
        const struct provider *q = over_http[i];
        const char *value = getenv(q->key_env);
        bool set = value && *value;
        str_addf(text, "  %-10s %s  %s", q->name, set ? "key    " : "no key ", q->key_env);
        if (set)
            str_add(text, " is set; used only with --agents llm or single\n");
        else
            str_addf(text, " is not set: set it, name a file with --key-file%s\n",
                     q == &provider_openai ? ", or a server that needs none with --base-url" : "");
        json_put_flag(keys, q->key_env, set);
    }
    json_put(o, "keys", keys);
    if (llm_price_find("gpt-4.1", &p)) {
        str_addf(text, "  %-10s of %s; your own file replaces them\n", "prices", p.date);
        json_put_text(o, "prices", p.date);
    }
    str_free(&version);
    return o;
}

/* Any bytes as what others wrote: nothing of it stands outside its block, and a conversation stays one. */
#include "agent/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_open();
    char *s = arena_strndup(a, (const char *)data, size), *quoted = text_quote(a, "x", s, 20),
         *code = text_code(a, s, size & 1);
    struct llm_message m = {false, "ask"};
    struct agent_prompt before = {"coder", "system", &m, 1}, after;
    size_t lines = 0;

    for (char *l = quoted, *end; *l; l = end, lines++) {
        end = strchrnul(l, '\n');
        end += *end == '\n';
        const char *later = *end ? "| " : "[end of data]\n";
        BUG_IF(!str_starts(l, lines == 0 ? "[data: x]\n" : later));
    }
    BUG_IF(lines > 24 || strstr(quoted, "<|") || strstr(code, "<|"));
    code += strlen("```cuda\n");
    code[strlen(code) - 4] = 0;
    BUG_IF(strstr(code, "```") != NULL);
    BUG_IF(strlen(text_line(a, s, 50)) > 50);
    text_asm_of(a, s, (int)(size % 64));
    agent_prompt_again(&before, s, "wrong", s, a, &after);
    agent_prompt_again(&after, s, NULL, s, a, &after);
    BUG_IF(after.n_messages != 3 || !after.messages[1].assistant || !*after.messages[1].text);
    arena_close(a);
    return 0;
}

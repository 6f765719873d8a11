/* The verb skill: a helper's habits as a file for coding agents. */
#include "agent/agent.h"
#include "cmd/cmd.h"

/* The verdicts and the rules for kernel files stand in what models are told, too: one text for both. */
static char *skill_text(struct arena *a)
{
    struct str verdicts = {.arena = a};
    const struct fill_slot of_contract[] = {
        {"signature", "extern \"C\" void NAME(..., cudaStream_t stream)"},
        {"arch", "90 or what the task's device is"},
        {"flags", "those of task.yaml"},
        {"own", part_of_hopper()},
        {"headers", ", and those that task.yaml lists under headers"},
    };

    for (int v = 0; v <= VERDICT_CHEAT; v++)
        str_addf(&verdicts, "- **%s**: %s\n", verdict_name((enum verdict)v),
                 text_verdict(a, verdict_name((enum verdict)v)));
    verdicts.s[verdicts.len - 1] = 0;
    const struct fill_slot slots[] = {
        {"verdicts", str_text(&verdicts)},
        {"contract", fill_share(a, "prompts/contract.md", of_contract, ARRAY_LEN(of_contract))},
    };
    return fill_share(a, "skill/SKILL.md", slots, ARRAY_LEN(slots));
}

static bool install(struct arena *a, const char *into, bool force, struct err *err)
{
    const char *folder = fs_join(a, into, "astra"), *path = fs_join(a, folder, "SKILL.md");
    struct str said = {.arena = a};

    if (!force && fs_exists(path))
        return err_input(err, "%s is there already; --force replaces it", path);
    if (!fs_mkdirs(folder, err) || !fs_write_text(path, arena_printf(a, "%s\n", skill_text(a)), err))
        return false;
    str_addf(&said, "%s written\n", path);
    return cmd_print(str_text(&said), err);
}

int cmd_skill(const struct cmd_args *args)
{
    struct arena *a = arena_open();
    struct err err = {0};
    bool ok = args->install ? install(a, args->install, args->force, &err)
                            : cmd_print_as(CMD_EXACT, arena_printf(a, "%s\n", skill_text(a)), &err);
    int status = ok ? EXIT_OK : cmd_fail(&err);

    arena_close(a);
    return status;
}

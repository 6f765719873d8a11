/* The verb mcp: the judge as tools of somebody's coding agent. */
#include "cmd/cmd.h"
#include "mcp/mcp.h"

/* Runs lie where no --root need lead, so that nobody edits what was judged. NULL: there is no home. */
static const char *default_runs(struct arena *a)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

    if (state && state[0] == '/')
        return fs_join(a, state, "astra/runs");
    return home && home[0] == '/' ? fs_join(a, home, ".local/state/astra/runs") : NULL;
}

int cmd_mcp(const struct cmd_args *args)
{
    struct arena *a = arena_open();
    const char **roots = arena_array(a, const char *, args->flags.n + 1);
    struct mcp_options o = {
        .roots = roots, .n_roots = args->flags.n, .runs = args->runs ? args->runs : default_runs(a)};
    struct err err = {0};
    int status;
    bool ok;

    for (size_t i = 0; i < o.n_roots; i++)
        roots[i] = args->flags.list[i].value;
    ok = o.runs || err_input(&err, "there is no home to keep runs in; say --runs DIR");
    status = ok && mcp_serve(&o, &err) ? EXIT_OK : cmd_fail(&err);
    arena_close(a);
    return status;
}

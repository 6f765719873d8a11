#include "internal.h"

#include <glob.h>
#include <unistd.h>

static char *in_folder(struct arena *a, const char *folder, const char *below, const char *name)
{
    char *path = arena_printf(a, "%s%s/%s", folder, below, name);

    return access(path, X_OK) == 0 && !fs_is_dir(path) ? path : NULL;
}

char *tool_path(struct arena *a, const char *variable, const char *name, const char *elsewhere)
{
    const char *own = getenv(variable), *path = getenv("PATH"), *home = getenv("CUDA_HOME");
    char *found = NULL;
    glob_t g;

    if (own)
        return access(own, X_OK) == 0 && !fs_is_dir(own) ? arena_strdup(a, own) : NULL;
    while (!found && path && *path) {
        size_t len = strcspn(path, ":");
        if (len)
            found = in_folder(a, arena_strndup(a, path, len), "", name);
        path += len + (path[len] == ':');
    }
    if (!found && home && *home)
        found = in_folder(a, home, "/bin", name);
    if (!found)
        found = in_folder(a, "/usr/local/cuda", "/bin", name);
    if (!found && elsewhere && glob(elsewhere, 0, NULL, &g) == 0) {
        for (size_t i = g.gl_pathc; i > 0 && !found; i--)
            found = in_folder(a, g.gl_pathv[i - 1], "", name);
        globfree(&g);
    }
    return found;
}

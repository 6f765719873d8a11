/* A target of this folder without libFuzzer: the files of the folders named, each once. A crash follows the
 * name of the file that was tried. */
#include "base/base.h"

#include <dirent.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const char *path)
{
    struct arena *a = arena_open();
    struct err err;
    char *text;
    size_t n;

    printf("# %s\n", path);
    fflush(stdout);
    BUG_IF(!fs_read(a, path, &text, &n, &err));
    LLVMFuzzerTestOneInput((const uint8_t *)text, n);
    printf("ok - %s\n", path);
    fflush(stdout);
    arena_close(a);
}

int main(int argc, char **argv)
{
    struct arena *a = arena_open();
    int n = 0;

    for (int i = 1; i < argc; i++) {
        struct dirent **list;
        int n_list = scandir(argv[i], &list, NULL, alphasort);
        for (int k = 0; k < n_list; k++) {
            if (list[k]->d_name[0] != '.') {
                replay(fs_join(a, argv[i], list[k]->d_name));
                n++;
            }
            free(list[k]);
        }
        if (n_list >= 0)
            free(list);
    }
    arena_close(a);
    printf("%d cases passed, 0 failed\n", n);
    return n == 0; /* nothing to try is a mistake */
}

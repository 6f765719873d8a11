/* A task from the text of its YAML, in a folder of its own: of the tests of task/. */
#ifndef TESTS_UNIT_TASK_TEXT_H
#define TESTS_UNIT_TASK_TEXT_H

#include "task/task.h"
#include "test.h"

static struct arena *arena;
static struct err err;
static char *folder;

static int open_all(void **state)
{
    (void)state;
    arena = arena_open();
    folder = fs_temp_dir(arena, &err);
    return folder && fs_write_text(fs_join(arena, folder, "kernel.cu"), "\n", &err) ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    fs_remove_tree(folder);
    arena_close(arena);
    return 0;
}

static bool open_text(struct task **t, const char *yaml)
{
    err = (struct err){0};
    assert_true(fs_write_text(fs_join(arena, folder, "task.yaml"), yaml, &err));
    return task_open(t, arena, folder, &err);
}

#define HEAD "name: t\nsource: kernel.cu\nentry: f\n"

#endif

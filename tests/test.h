/* The one place that includes cmocka, whose header wants these others before it, in this order. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#define assert_ok(call, err)                                                            \
    do {                                                                                \
        if (!(call)) {                                                                  \
            char text_[4096];                                                           \
            fail_msg("%s failed: %s", #call, err_format(&(err), text_, sizeof(text_))); \
        }                                                                               \
    } while (0)

#endif

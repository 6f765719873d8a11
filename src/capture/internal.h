/* Between the files of capture/. */
#ifndef CAPTURE_INTERNAL_H
#define CAPTURE_INTERNAL_H

#include "capture/capture.h"

const char *capture_demangled(struct arena *a, const char *symbol);

#endif

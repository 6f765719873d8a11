/* The program as a build makes it whose share/ was not there: nothing is compiled in. */
#include "base/share.h"

const struct share_file share_files[1];
const size_t share_n_files = 0;

// The original under a name of its own, for the test.
#define OP_NAMESPACE astra_original
#include "../csrc/binding.cpp"

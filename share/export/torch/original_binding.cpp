// The original under a name of its own, for the test.
#define OP_NAMESPACE {{package}}_original
#include "../csrc/binding.cpp"

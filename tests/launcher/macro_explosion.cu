// Expansion that doubles at every level ends in an error, not in the memory's end.
#define A0 1 + 1
#define A1 A0 + A0 + A0 + A0
#define A2 A1 + A1 + A1 + A1
#define A3 A2 + A2 + A2 + A2
#define A4 A3 + A3 + A3 + A3
#define A5 A4 + A4 + A4 + A4
#define A6 A5 + A5 + A5 + A5
#define A7 A6 + A6 + A6 + A6
#define A8 A7 + A7 + A7 + A7
#define A9 A8 + A8 + A8 + A8
#define B0 A9 + A9 + A9 + A9

extern "C" void go(float *p, int rows, cudaStream_t stream)
{
    rows = B0;
}

// open-error 16:12 the macros expand to more than 200000 words

extern "C" void go(float *p, int n)
{
}

// open-error 1:17 the last parameter of the launcher go must be the stream

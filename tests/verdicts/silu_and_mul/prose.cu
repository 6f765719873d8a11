// expect: not-understood|compile-failed
Here is the optimised kernel:
```cuda
__global__ void kernel() {}
```

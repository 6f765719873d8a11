// expect: not-understood
Here is the optimised kernel:
```cuda
__global__ void kernel() {}
```

#include <cuda_runtime.h>
// From the places of satellites' receivers as x, y, z to latitude, longitude and the length of the normal down to the
// axis, on the ellipsoid of WGS 84, in doubles; eight steps of the textbook's iteration. A thread a place.
__global__ void locate(double *out, const double *place, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const double a = 6378137.0, e2 = 0.00669437999014;
    double x = place[3 * i], y = place[3 * i + 1], z = place[3 * i + 2];
    double p = sqrt(x * x + y * y), latitude = atan2(z, p * (1.0 - e2));
    for (int step = 0; step < 8; step++) {
        double s = sin(latitude), normal = a / sqrt(1.0 - e2 * s * s), whole = p / cos(latitude);
        latitude = atan2(z, p * (1.0 - e2 * normal / whole));
    }
    out[3 * i] = latitude;
    out[3 * i + 1] = atan2(y, x);
    out[3 * i + 2] = p / cos(latitude);
}
extern "C" void geodetic(double *out, const double *place, int n, cudaStream_t stream)
{
    locate<<<(n + 255) / 256, 256, 0, stream>>>(out, place, n);
}

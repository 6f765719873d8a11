// Meetings of a cluster's blocks, each held once. Who sends a value puts it at the same place of every block's
// shared memory; a block has met when all its bytes have come, without a barrier of the cluster.
__device__ __forceinline__ unsigned int shared_place(const void *place)
{
    return static_cast<unsigned int>(__cvta_generic_to_shared(place));
}

__device__ __forceinline__ unsigned int cluster_meeting(int number)
{
    __shared__ unsigned long long meetings[8];
    return shared_place(&meetings[number]);
}

// At the beginning. Nothing may be sent before all blocks of the cluster are there: cluster_begun() waits for that.
__device__ __forceinline__ void cluster_begin(int count)
{
    if (threadIdx.x == 0) {
        for (int number = 0; number < count; number++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(cluster_meeting(number)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}

__device__ __forceinline__ void cluster_begun()
{
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

__device__ __forceinline__ void cluster_expect(int number, unsigned int bytes)
{
    if (threadIdx.x == 0)
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(cluster_meeting(number)),
                     "r"(bytes)
                     : "memory");
}

template <int BLOCKS, typename T, typename V>
__device__ __forceinline__ void cluster_send(int number, T *place, V given)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "what st.async sends");
    T value = given;
#pragma unroll
    for (int block = 0; block < BLOCKS; block++) {
        unsigned int to, meeting;
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_place(place)), "r"(block));
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(meeting) : "r"(cluster_meeting(number)), "r"(block));
        if constexpr (sizeof(T) == 4)
            asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to),
                         "r"(*reinterpret_cast<unsigned int *>(&value)), "r"(meeting)
                         : "memory");
        else
            asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(to),
                         "l"(*reinterpret_cast<unsigned long long *>(&value)), "r"(meeting)
                         : "memory");
    }
}

__device__ __forceinline__ void cluster_meet(int number)
{
    unsigned int come;
    do
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p;\n"
                     "}"
                     : "=r"(come)
                     : "r"(cluster_meeting(number))
                     : "memory");
    while (!come);
}

/* Two threads whose functions are traced by the compiler's instrumentation, and
 * which call what is traced by hand. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "calls.h"
#include <pthread.h>

__attribute__((noinline)) static int work(int n)
{
	volatile int sum = 0;
	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}

__attribute__((noinline)) static int step(int k)
{
	static const double values[] = { 1, 2.5, -3 };
	lttng_ust_tracepoint(mpi, MPI_Send_entry, k % 4, k % 2 ? "odd" : "", values, k % 3);
	int sum = work(50 * k);
	lttng_ust_tracepoint(mpi, MPI_Send_exit, 0);
	lttng_ust_tracepoint(mpi, progress, k);
	return sum;
}

static void *run(void *steps)
{
	for (int k = 0; k < *(int *)steps; k++)
		step(k);
	return 0;
}

int main(void)
{
	int few = 40, many = 70;
	pthread_t other;
	pthread_create(&other, 0, run, &few);
	run(&many);
	pthread_join(other, 0);
	return 0;
}

/* Prints the nanoseconds of processor time that one allocation of 5000 bytes
 * takes. Ends are not timed, and memory is used again, so that its first touch
 * is not what is timed. The stack is deeper from time to time, by no more than the
 * log looks at: a place that allocates all the time is only counted, which costs
 * less. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BLOCKS = 1000, ROUNDS = 15, DEPTHS = 8 };

static void *volatile keep[BLOCKS];

static __attribute__((noinline)) double allocate(int depth)
{
	struct timespec from, to;
	if (depth > 0)
		return allocate(depth - 1) + 0 * depth;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (int i = 0; i < BLOCKS; i++)
		keep[i] = malloc(5000);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	for (int i = 0; i < BLOCKS; i++)
		free(keep[i]);
	return (to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec);
}

int main(void)
{
	double sum = 0;
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	allocate(0);
	for (int d = 1; d <= DEPTHS; d++)
		for (int r = 0; r < ROUNDS; r++)
			sum += allocate(d);
	printf("%f\n", sum / BLOCKS / ROUNDS / DEPTHS);
	return 0;
}

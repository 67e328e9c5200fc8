/* Rank 0 computes beside another thread on one processor: ready FILE writes how
   many ms each computation took beyond its time on the processor. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

static volatile int stop;

static double clock_ms(clockid_t which) {
	struct timespec t;
	clock_gettime(which, &t);
	return 1e3 * t.tv_sec + t.tv_nsec / 1e6;
}

static void *beside(void *unused) {
	while (!stop)
		;
	return unused;
}

int main(int argc, char **argv) {
	int me;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	FILE *out = me == 0 ? fopen(argv[1], "w") : NULL;
	if (me == 0) {
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET(sched_getcpu(), &one);
		sched_setaffinity(0, sizeof one, &one);
	}
	pthread_t other;
	for (int k = 0; k < 4; k++) {
		MPI_Barrier(MPI_COMM_WORLD);
		stop = 0;
		if (me == 0 && k % 2) pthread_create(&other, NULL, beside, NULL); /* on the same processor */
		if (me == 0) {
			double wall = clock_ms(CLOCK_MONOTONIC), cpu = clock_ms(CLOCK_THREAD_CPUTIME_ID);
			while (clock_ms(CLOCK_THREAD_CPUTIME_ID) < cpu + 40)
				;
			fprintf(out, "%f\n", clock_ms(CLOCK_MONOTONIC) - wall - (clock_ms(CLOCK_THREAD_CPUTIME_ID) - cpu));
			stop = 1;
			if (k % 2) pthread_join(other, NULL);
		}
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (out) fclose(out);
	MPI_Finalize();
	return 0;
}

/* Rank 1 is late by 60 ms before each of two barriers of one function, four times. */
#include <mpi.h>
#include <time.h>

static void nap(double ms)
{
	struct timespec t = {0, ms * 1e6};
	nanosleep(&t, NULL);
}

int main(int n, char **v)
{
	int rank;
	double a = 1, b;
	MPI_Init(&n, &v);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 12; i++) {
		nap(rank == 1 && i % 3 == 1 ? 62 : 2);
		MPI_Barrier(MPI_COMM_WORLD); /* first */
		nap(2);
		MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		nap(rank == 1 && i % 3 == 2 ? 62 : 2);
		MPI_Barrier(MPI_COMM_WORLD); /* second */
	}
	MPI_Finalize();
}

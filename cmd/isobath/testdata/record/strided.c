/* Rank 2 goes through its grid by columns, four times, before it sends; the
 * others go through theirs by rows, once, and wait for it in a ring. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 2048 };

static double by_rows(const double *a)
{
	double sum = 0;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			sum += a[i * N + j];
	return sum;
}

static double by_columns(const double *a)
{
	double sum = 0;
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++)
			sum += a[i * N + j];
	return sum;
}

int main(int argc, char **argv)
{
	int rank, size, rounds = atoi(argv[1]);
	double sum = 0, got;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	double *grid = calloc((size_t)N * N, sizeof *grid);
	for (int i = 0; i < rounds; i++) {
		for (int k = 0; k < (rank == 2 ? 4 : 1); k++)
			sum += rank == 2 ? by_columns(grid) : by_rows(grid);
		MPI_Sendrecv(&sum, 1, MPI_DOUBLE, (rank + 1) % size, 0, &got, 1, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		sum += got;
	}
	if (rank == 0)
		printf("%g\n", sum);
	free(grid);
	MPI_Finalize();
	return 0;
}

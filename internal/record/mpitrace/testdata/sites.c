/* Two functions call MPI; the lines are checked. */
#include <mpi.h>

static void left(int me, int np, int *x)
{
	MPI_Sendrecv(x, 1, MPI_INT, (me + np - 1) % np, 0, x + 1, 1, MPI_INT, (me + 1) % np, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* line 6 */
}

static void all(int *x)
{
	MPI_Allreduce(x, x + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* line 11 */
}

int main(int argc, char **argv)
{
	int me, np, x[2] = {1, 2};
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	for (int i = 0; i < 3; i++) {
		left(me, np, x);
		all(x);
	}
	MPI_Finalize();
	return 0;
}

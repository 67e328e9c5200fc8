/* A second thread exchanges values while the first waits inside MPI for its last
   message: six calls a rank that are not those of the first thread. */
#include <mpi.h>
#include <pthread.h>

static int me, np;

static void *second(void *none) {
	int v = me, in;
	for (int k = 0; k < 5; k++)
		MPI_Sendrecv(&v, 1, MPI_INT, (me + 1) % np, 2, &in, 1, MPI_INT, (me + np - 1) % np, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Send(&v, 1, MPI_INT, me, 1, MPI_COMM_WORLD);
	return none;
}

int main(int c, char **v) {
	int level, in;
	pthread_t t;
	MPI_Init_thread(&c, &v, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	pthread_create(&t, 0, second, 0);
	MPI_Recv(&in, 1, MPI_INT, me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	pthread_join(t, 0);
	MPI_Finalize();
	return level != MPI_THREAD_MULTIPLE;
}

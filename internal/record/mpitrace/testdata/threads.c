/* A second thread exchanges values while the first waits inside MPI for its last
   message: six calls a rank that are not those of the first thread. With an
   argument that thread of rank 1 sleeps that many milliseconds before the fourth.
   Its last request is completed by the first thread. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int me, np, late, out;
static MPI_Request last;

static void *second(void *none) {
	int v = me, in;
	for (int k = 0; k < 5; k++) {
		usleep(2000);
		if (k == 3 && me == 1)
			usleep(1000 * late);
		MPI_Sendrecv(&v, 1, MPI_INT, (me + 1) % np, 2, &in, 1, MPI_INT, (me + np - 1) % np, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	out = me;
	MPI_Isend(&out, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &last);
	return none;
}

int main(int c, char **v) {
	int level, in;
	pthread_t t;
	MPI_Init_thread(&c, &v, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	late = c > 1 ? atoi(v[1]) : 0;
	pthread_create(&t, 0, second, 0);
	MPI_Recv(&in, 1, MPI_INT, me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	pthread_join(t, 0);
	MPI_Wait(&last, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return level != MPI_THREAD_MULTIPLE;
}

/* Calls of which only entry and end are recorded, and those that MPI 4 brought.
 * Every process does the same; the counts are in record_test.go. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size, left, right;

static void one_sided(void)
{
	int a[4] = {0}, b = rank, c = 0, one = 1;
	MPI_Win win;
	MPI_Request q;
	MPI_Win_create(a, sizeof a, sizeof *a, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_fence(0, win);
	MPI_Put(&b, 1, MPI_INT, right, 0, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	MPI_Get(&c, 1, MPI_INT, left, 0, 1, MPI_INT, win);
	MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win);
	MPI_Win_fence(0, win);
	MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
	MPI_Rput(&b, 1, MPI_INT, right, 2, 1, MPI_INT, win, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Win_flush(right, win);
	MPI_Win_unlock(right, win);
	MPI_Win_free(&win);
}

static void files(const char *path)
{
	MPI_File f;
	MPI_Request q;
	int v = rank;
	MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	MPI_File_write_at_all(f, rank * sizeof v, &v, 1, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_sync(f);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_iread_at(f, right * sizeof v, &v, 1, MPI_INT, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	if (v != right)
		MPI_Abort(MPI_COMM_WORLD, 3);
	MPI_File_close(&f);
}

static void neighbours(void)
{
	MPI_Comm ring;
	MPI_Request q;
	int ends[2] = {left, right}, got[2];
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, ends, MPI_UNWEIGHTED, 2, ends, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
	MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, ring);
	MPI_Ineighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, ring, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	if (got[0] != left)
		MPI_Abort(MPI_COMM_WORLD, 4);
	MPI_Comm_free(&ring);
}

static void later(void)
{
#if MPI_VERSION >= 4
	int a = rank, b = -1, sum = 0;
	MPI_Request q, p[2];
	MPI_Isendrecv(&a, 1, MPI_INT, right, 1, &b, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Allreduce_init(&a, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
	for (int i = 0; i < 3; i++) {
		MPI_Start(&q);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&q);
	if (rank % 2 == 0) {
		MPI_Send_c(&a, 1, MPI_INT, right, 2, MPI_COMM_WORLD);
		MPI_Recv_c(&b, 1, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv_c(&b, 1, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send_c(&a, 1, MPI_INT, right, 2, MPI_COMM_WORLD);
	}
	double parts[4] = {0}, into[4];
	MPI_Psend_init(parts, 2, 2, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &p[0]);
	MPI_Precv_init(into, 2, 2, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &p[1]);
	MPI_Startall(2, p);
	MPI_Pready(0, p[0]);
	MPI_Pready_range(1, 1, p[0]);
	MPI_Waitall(2, p, MPI_STATUSES_IGNORE);
	MPI_Request_free(&p[0]);
	MPI_Request_free(&p[1]);
	if (b != left || sum != size * (size - 1) / 2)
		MPI_Abort(MPI_COMM_WORLD, 5);
#endif
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	left = (rank + size - 1) % size;
	right = (rank + 1) % size;
	one_sided();
	if (argc > 1)
		files(argv[1]);
	neighbours();
	later();
	MPI_Finalize();
	return 0;
}

/* Calls whose partners no record of OTF2 names: epochs of groups, a lock that goes
 * from hand to hand, collectives of neighbours in three kinds of topology. The
 * counts are in partners_test.go. */
#include <mpi.h>
#include <stdlib.h>

static int rank, size, left, right;

static void epochs(void)
{
	int *box, v = rank, sides[2] = {left, right};
	MPI_Win win;
	MPI_Group world, near;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, sides, &near);
	MPI_Win_allocate(sizeof *box, sizeof *box, MPI_INFO_NULL, MPI_COMM_WORLD, &box, &win);
	for (int k = 0; k < 3; k++) {
		MPI_Win_post(near, 0, win);
		MPI_Win_start(near, 0, win);
		MPI_Put(&v, 1, MPI_INT, right, 0, 1, MPI_INT, win);
		MPI_Win_complete(win);
		MPI_Win_wait(win);
	}
	MPI_Win_free(&win);
	MPI_Group_free(&near);
	MPI_Group_free(&world);
}

/* The lock at rank 0 is had by one after the other, in the order of ranks. */
static void locks(void)
{
	int box = 0, v = rank;
	MPI_Win win;
	MPI_Win_create(&box, sizeof box, sizeof box, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	for (int r = 0; r < size; r++) {
		if (r == rank) {
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
			MPI_Put(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
			MPI_Win_unlock(0, win);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Win_free(&win);
}

static void neighbours(void)
{
	int round = 1, open = 0, out[2] = {rank, rank}, in[2], index[64], edges[128];
	MPI_Comm ring, line, graph, one;
	MPI_Request q[2];
	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &round, 0, &ring);
	MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
	MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring, &q[0]);
	MPI_Wait(&q[0], MPI_STATUS_IGNORE);
	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &open, 0, &line); /* its ends have one neighbour */
	MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, line);
	for (int i = 0; i < size; i++) {
		index[i] = 2 * (i + 1);
		edges[2 * i] = (i + size - 1) % size;
		edges[2 * i + 1] = (i + 1) % size;
	}
	MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph);
	MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, graph);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &one);
	MPI_Ineighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, one, &q[0]);
	MPI_Ineighbor_alltoall(out, 1, MPI_INT, in + 1, 1, MPI_INT, one, &q[1]);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	MPI_Comm_free(&ring);
	MPI_Comm_free(&line);
	MPI_Comm_free(&graph);
	MPI_Comm_free(&one);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	left = (rank + size - 1) % size;
	right = (rank + 1) % size;
	epochs();
	locks();
	neighbours();
	MPI_Finalize();
	return 0;
}

/* Four processes use every kind of call once or a known number of times; the
 * test knows the counts. With an argument: "abort" dies inside, "many N" sends
 * N messages round the ring, "alone N" sends them to itself, which takes no
 * turns of the processor. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int r, p, left, right;

static void persistent(void)
{
	double s[2] = {r, r}, q[2];
	MPI_Request rq[2];
	MPI_Recv_init(q, 2, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &rq[0]);
	MPI_Send_init(s, 2, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &rq[1]);
	for (int i = 0; i < 3; i++) {
		MPI_Startall(2, rq);
		MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
	}
	MPI_Start(&rq[0]);
	MPI_Start(&rq[1]);
	MPI_Wait(&rq[0], MPI_STATUS_IGNORE);
	MPI_Wait(&rq[1], MPI_STATUS_IGNORE);
	MPI_Request_free(&rq[0]);
	MPI_Request_free(&rq[1]);
}

static void pairs(void)
{
	int a = r, b, flag = 0;
	MPI_Status st;
	MPI_Message m;
	MPI_Request q[3];
	MPI_Sendrecv(&a, 1, MPI_INT, right, 2, &b, 1, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv_replace(&a, 1, MPI_INT, right, 3, left, 3, MPI_COMM_WORLD, &st);
	MPI_Send(&a, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD);
	MPI_Recv(&b, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &st);

	MPI_Isend(&a, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &q[0]);
	MPI_Probe(left, 5, MPI_COMM_WORLD, &st);
	MPI_Recv(&b, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&q[0], MPI_STATUS_IGNORE);

	MPI_Issend(&a, 1, MPI_INT, right, 6, MPI_COMM_WORLD, &q[0]);
	MPI_Mprobe(left, 6, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
	MPI_Mrecv(&b, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
	while (!flag)
		MPI_Test(&q[0], &flag, MPI_STATUS_IGNORE);

	/* Completed one by one, and by what is there. */
	for (int round = 0; round < 2; round++) {
		int in[2], index, n, which[3], left_over = 3;
		MPI_Irecv(&in[0], 1, MPI_INT, left, 7, MPI_COMM_WORLD, &q[0]);
		MPI_Irecv(&in[1], 1, MPI_INT, right, 8, MPI_COMM_WORLD, &q[1]);
		MPI_Isend(&a, 1, MPI_INT, right, 7, MPI_COMM_WORLD, &q[2]);
		MPI_Send(&a, 1, MPI_INT, left, 8, MPI_COMM_WORLD);
		while (left_over > 0)
			if (round == 0) {
				MPI_Waitany(3, q, &index, MPI_STATUS_IGNORE);
				left_over--;
			} else {
				MPI_Waitsome(3, q, &n, which, MPI_STATUSES_IGNORE);
				left_over -= n;
			}
	}

	MPI_Irecv(&b, 1, MPI_INT, left, 99, MPI_COMM_WORLD, &q[0]);
	MPI_Cancel(&q[0]);
	MPI_Wait(&q[0], &st);
}

static void collective(void)
{
	int a = r, b, all[64], counts[64], at[64];
	MPI_Request q[3];
	for (int i = 0; i < p; i++)
		counts[i] = 1, at[i] = i, all[i] = r;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Bcast(&a, 1, MPI_INT, 1, MPI_COMM_WORLD);
	MPI_Gather(&a, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Gatherv(&a, 1, MPI_INT, r == 2 ? all : NULL, r == 2 ? counts : NULL, r == 2 ? at : NULL, r == 2 ? MPI_INT : MPI_DATATYPE_NULL, 2, MPI_COMM_WORLD);
	MPI_Scatter(all, 1, MPI_INT, &b, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Alltoallv(all, counts, at, MPI_INT, all + 32, counts, at, MPI_INT, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, &a, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Reduce(&a, &b, 1, MPI_INT, MPI_SUM, 3, MPI_COMM_WORLD);
	MPI_Scan(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Reduce_scatter_block(all, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q[0]);
	MPI_Ibarrier(MPI_COMM_WORLD, &q[1]);
	MPI_Ibcast(all, 4, MPI_INT, 2, MPI_COMM_WORLD, &q[2]);
	MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
}

static void communicators(void)
{
	MPI_Comm half, twin, grid, inter, both, later;
	MPI_Request q;
	int a = r, b, hr, hs, dims[1] = {p}, periods[1] = {1};
	MPI_Comm_split(MPI_COMM_WORLD, r % 2, -r, &half);
	MPI_Comm_dup(half, &twin);
	MPI_Comm_rank(half, &hr);
	MPI_Comm_size(half, &hs);
	MPI_Sendrecv(&a, 1, MPI_INT, (hr + 1) % hs, 10, &b, 1, MPI_INT, (hr + hs - 1) % hs, 10, twin, MPI_STATUS_IGNORE);
	MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, twin);
	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
	MPI_Bcast(&a, 1, MPI_INT, 0, grid);
	/* Even and odd ranks face each other; peers are ranks of the other side. */
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, r % 2 ? p - 2 : p - 1, 11, &inter);
	MPI_Sendrecv(&a, 1, MPI_INT, hr, 12, &b, 1, MPI_INT, hr, 12, inter, MPI_STATUS_IGNORE);
	MPI_Intercomm_merge(inter, r % 2, &both);
	MPI_Barrier(both);
	MPI_Comm_idup(both, &later, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Barrier(later);
	MPI_Comm_free(&later);
	MPI_Comm_free(&both);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&grid);
	MPI_Comm_free(&twin);
	MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &r);
	MPI_Comm_size(MPI_COMM_WORLD, &p);
	left = (r + p - 1) % p;
	right = (r + 1) % p;
	if (argc > 2 && !strcmp(argv[1], "alone"))
		left = right = r;
	if (argc > 2) {
		for (int i = atoi(argv[2]); i > 0; i--)
			MPI_Sendrecv(&i, 1, MPI_INT, right, 0, &argc, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Finalize();
		return 0;
	}
	persistent();
	pairs();
	collective();
	communicators();
	if (argc > 1 && !strcmp(argv[1], "abort")) {
		MPI_Barrier(MPI_COMM_WORLD);
		abort();
	}
	MPI_Finalize();
	return 0;
}

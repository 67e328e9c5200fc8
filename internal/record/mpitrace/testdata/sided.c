/* One-sided communication and files; every process does the same, in bytes that
 * say which call it was. The counts are in sided_test.go. */
#include <mpi.h>
#include <stdlib.h>

static int rank, size, left, right;
static char mine[4096], other[4096];

static void fences(void)
{
	MPI_Win win;
	long one = 1, before, compare = 99;
	MPI_Win_create(mine, sizeof mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_fence(0, win);
	MPI_Put(other, 100, MPI_CHAR, right, 0, 100, MPI_CHAR, win);
	MPI_Put(other, 7, MPI_CHAR, MPI_PROC_NULL, 0, 7, MPI_CHAR, win); /* moves nothing */
	MPI_Win_fence(0, win);
	MPI_Get(other, 30, MPI_INT, left, 0, 30, MPI_INT, win);
	MPI_Accumulate(&one, 1, MPI_LONG, 0, 1024, 1, MPI_LONG, MPI_SUM, win);
	MPI_Win_fence(0, win);
	MPI_Get_accumulate(&one, 1, MPI_LONG, &before, 1, MPI_LONG, right, 1032, 1, MPI_LONG, MPI_SUM, win);
	MPI_Win_fence(0, win);
	MPI_Fetch_and_op(&one, &before, MPI_LONG, right, 1040, MPI_SUM, win);
	MPI_Win_fence(0, win);
	MPI_Compare_and_swap(&one, &compare, &before, MPI_LONG, right, 1048, win);
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
}

static void locks(void)
{
	MPI_Win win;
	MPI_Comm half;
	MPI_Request q[2];
	int n, me;
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Comm_size(half, &n);
	MPI_Comm_rank(half, &me);
	/* Open MPI 4 may fail to allocate windows of two halves at once. */
	MPI_Win_create(mine, sizeof mine, 1, MPI_INFO_NULL, half, &win);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (me + 1) % n, 0, win);
	MPI_Put(other, 200, MPI_CHAR, (me + 1) % n, 0, 200, MPI_CHAR, win);
	MPI_Win_flush_local((me + 1) % n, win);
	MPI_Win_flush((me + 1) % n, win);
	MPI_Put(other, 300, MPI_CHAR, (me + 1) % n, 0, 300, MPI_CHAR, win);
	MPI_Win_unlock((me + 1) % n, win);
	MPI_Win_lock_all(0, win);
	MPI_Rput(other, 400, MPI_CHAR, (me + 1) % n, 512, 400, MPI_CHAR, win, &q[0]);
	MPI_Rget(other + 1024, 50, MPI_CHAR, me, 0, 50, MPI_CHAR, win, &q[1]);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	MPI_Win_sync(win);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Comm_free(&half);
}

static void epochs(void)
{
	MPI_Win win;
	MPI_Group world, to, from;
	char *base;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &right, &to);
	MPI_Group_incl(world, 1, &left, &from);
	MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	MPI_Win_post(from, 0, win);
	MPI_Win_start(to, 0, win);
	MPI_Put(other, 500, MPI_CHAR, right, 0, 500, MPI_CHAR, win);
	MPI_Win_complete(win);
	MPI_Win_wait(win);
	MPI_Win_free(&win);
	MPI_Group_free(&world);
	MPI_Group_free(&to);
	MPI_Group_free(&from);
}

static void files(const char *path)
{
	MPI_File f;
	MPI_Request q;
	MPI_Status st;
	int n;
	MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	MPI_File_write_at_all(f, rank * 1000, other, 1000, MPI_CHAR, MPI_STATUS_IGNORE);
	MPI_File_sync(f);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_seek(f, rank * 1000 + 10, MPI_SEEK_SET);
	MPI_File_read(f, mine, 64, MPI_CHAR, MPI_STATUS_IGNORE);
	MPI_File_seek(f, -4, MPI_SEEK_CUR);
	MPI_File_iread_at(f, right * 1000, mine, 32, MPI_INT, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_File_read_at(f, size * 1000 - 8, mine, 100, MPI_CHAR, &st); /* the file ends after 8 */
	MPI_Get_count(&st, MPI_CHAR, &n);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_write_at_all_begin(f, rank * 1000, other, 40, MPI_CHAR);
	MPI_File_write_at_all_end(f, other, MPI_STATUS_IGNORE);
	MPI_File_close(&f);
	if (n != 8)
		MPI_Abort(MPI_COMM_WORLD, 3);
	if (MPI_File_open(MPI_COMM_SELF, "/nonexistent/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &f) == MPI_SUCCESS)
		MPI_Abort(MPI_COMM_WORLD, 4);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		MPI_File_delete(path, MPI_INFO_NULL);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	left = (rank + size - 1) % size;
	right = (rank + 1) % size;
	fences();
	locks();
	epochs();
	files(argv[1]);
	MPI_Finalize();
	return 0;
}

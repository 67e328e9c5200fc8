/* Rank 1 is held up by 300 ms where its recorder asks which libraries it has, which
 * is the last thing it does before the ranks wait for each other. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int open(const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	int mode = va_arg(more, int);
	va_end(more);
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");
	if (rank && !strcmp(rank, "1") && !strcmp(path, "/proc/self/maps")) {
		struct timespec t = {0, 300000000};
		nanosleep(&t, NULL);
	}
	return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int main(int n, char **v)
{
	MPI_Init(&n, &v);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
}

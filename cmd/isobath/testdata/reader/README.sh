# A program with a function f that also sends messages, and files of each kind.
cat > app.c <<'C'
#include <mpi.h>
#include <stdlib.h>
#define N (1 << 16)
static double f(const double *a, const int *at) {
	double sum = 0;
	for (int i = 0; i < 1000; i++)
		sum += a[at[i]];
	return sum;
}
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	double *a = calloc(N, sizeof *a), sum = 0, all;
	int *at = malloc(N * sizeof *at);
	for (int i = 0; i < N; i++)
		at[i] = i * 7919 % N;
	for (int step = 0; step < 100; step++) {
		for (int i = 0; i + 1000 < N; i += 1000)
			sum += f(a, at + i);
		if (step % 20 == 0)
			MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
C
mpicc -O1 -g -fno-inline -o app app.c
mpicc -O2 -g -fno-inline -o changed app.c
isobath export demo -o samples.csv
mkdir mitos_1636037395 mitos_1636037395/data
cat > mitos_1636037395/data/samples.csv <<'CSV'
source,line,instruction,bytes,ip,variable,buffer_size,dims,xidx,yidx,zidx,pid,tid,time,addr,cpu,latency,data_src
heat.c,51,mov,8,93992958121519,??,0,1,0,0,0,24511,24511,6045777544914086,140728173432712,17,12,2
heat.c,40,mov,8,93992958121252,??,0,1,0,0,0,24511,24511,6045777545467475,140728173432744,17,20,2
CSV
isobath import demo -o run.isobath
isobath import demo -o before.isobath
isobath import demo:fixed -o after.isobath

/* One thread works, the others wait for it at the end of the region. */
#include <omp.h>
#include <stdio.h>

static double values[1 << 20];

__attribute__((noinline)) static double work(int rounds)
{
	double s = 0;
	for (int r = 0; r < rounds; r++)
		for (int i = 0; i < 1 << 20; i++)
			s += values[i];
	return s;
}

int main(void)
{
	double s = 0;
	for (int step = 0; step < 20; step++) {
#pragma omp parallel num_threads(2) reduction(+ : s)
		if (omp_get_thread_num() == 0)
			s += work(15);
	}
	printf("%g\n", s);
	return 0;
}

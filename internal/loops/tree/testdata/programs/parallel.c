/* A nest that the compiler puts into a function of its own, where the loop inside
 * is straight code and its condition that of the loop around it. */
#include "count.h"
static double a[512], b[512], c[16][32];
KERNEL double run(void)
{
	double s = 0;
	ENTER(0);
	for (int i = 0; i < 512; i++) {
		TURN(0);
		a[i] = b[i] * 2 + 1;
	}
	#pragma omp parallel for num_threads(1) reduction(+:s)
	for (int i = 0; i < 16; i++) {
		ENTER(2);
		for (int j = 0; j < 32; j++) {
			TURN(2);
			c[i][j] += a[i * 32 + j];
			s += c[i][j];
		}
	}
	return s;
}
int main(void) { for (int i = 0; i < 512; i++) b[i] = random_number(); double s = run(); report(); return s == 0; }

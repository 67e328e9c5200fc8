#include "count.h"
#define N 40
static int start[N + 1], column[400];
static double value[400], x[N], y[N];
KERNEL void run(void)
{
	ENTER(0);
	for (int step = 0; step < 4; step++) {
		TURN(0);
		ENTER(1);
		for (int r = 0; r < N; r++) {
			TURN(1);
			double s = 0;
			ENTER(2);
			for (int k = start[r]; k < start[r + 1]; k++) {
				TURN(2);
				s += value[k] * x[column[k]];
			}
			y[r] = s;
		}
		ENTER(3);
		for (int r = 0; r < N; r++) {
			TURN(3);
			x[r] = 0.5 * (x[r] + y[r]);
		}
	}
}
int main(void)
{
	int n = 0;
	for (int r = 0; r < N; r++) {
		start[r] = n;
		for (int k = random_number() % 9; k > 0; k--)
			column[n] = random_number() % N, value[n++] = 0.1;
		x[r] = r;
	}
	start[N] = n;
	run();
	report();
	return x[1] == 0;
}

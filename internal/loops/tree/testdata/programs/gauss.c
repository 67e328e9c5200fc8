#include "count.h"
#define N 12
static double a[N][N + 1], x[N];
KERNEL int run(void)
{
	ENTER(0);
	for (int c = 0; c < N; c++) {
		TURN(0);
		int best = c;
		ENTER(1);
		for (int r = c + 1; r < N; r++) {
			TURN(1);
			if (a[r][c] * a[r][c] > a[best][c] * a[best][c])
				best = r;
		}
		if (a[best][c] == 0)
			return 0;
		if (best != c) {
			ENTER(2);
			for (int k = c; k <= N; k++) {
				TURN(2);
				double t = a[c][k];
				a[c][k] = a[best][k];
				a[best][k] = t;
			}
		}
		ENTER(3);
		for (int r = c + 1; r < N; r++) {
			TURN(3);
			double f = a[r][c] / a[c][c];
			if (f == 0)
				continue;
			ENTER(4);
			for (int k = c; k <= N; k++) {
				TURN(4);
				a[r][k] -= f * a[c][k];
			}
		}
	}
	ENTER(5);
	for (int r = N - 1; r >= 0; r--) {
		TURN(5);
		double s = a[r][N];
		ENTER(6);
		for (int k = r + 1; k < N; k++) {
			TURN(6);
			s -= a[r][k] * x[k];
		}
		x[r] = s / a[r][r];
	}
	return 1;
}
int main(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j <= N; j++)
			a[i][j] = random_number() % 100 - 50;
	run();
	report();
	return 0;
}

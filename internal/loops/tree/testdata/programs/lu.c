#include "count.h"
#define N 9
static double a[N][N];
KERNEL void run(void)
{
	ENTER(0);
	for (int k = 0; k < N; k++) {
		TURN(0);
		ENTER(1);
		for (int i = k + 1; i < N; i++) {
			TURN(1);
			a[i][k] /= a[k][k];
			ENTER(2);
			for (int j = k + 1; j < N; j++) {
				TURN(2);
				a[i][j] -= a[i][k] * a[k][j];
			}
		}
	}
}
int main(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			a[i][j] = i == j ? N : 1.0 / (1 + i + j);
	run();
	report();
	return a[N - 1][N - 1] == 0;
}

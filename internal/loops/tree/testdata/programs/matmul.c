#include "count.h"
#define N 13
static double a[N][N], b[N][N], c[N][N];
KERNEL void run(void)
{
	ENTER(0);
	for (int i = 0; i < N; i++) {
		TURN(0);
		ENTER(1);
		for (int j = 0; j < N; j++) {
			TURN(1);
			double sum = 0;
			ENTER(2);
			for (int k = 0; k < N; k++) {
				TURN(2);
				sum += a[i][k] * b[k][j];
			}
			c[i][j] = sum;
		}
	}
}
int main(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			a[i][j] = b[i][j] = i + j;
	run();
	report();
	return c[1][1] == 0;
}

#include "count.h"
#define N 30
#define B 8
static double a[N][N], b[N][N], c[N][N];
static int least(int x, int y) { return x < y ? x : y; }
KERNEL void run(void)
{
	ENTER(0);
	for (int ii = 0; ii < N; ii += B) {
		TURN(0);
		ENTER(1);
		for (int jj = 0; jj < N; jj += B) {
			TURN(1);
			ENTER(2);
			for (int kk = 0; kk < N; kk += B) {
				TURN(2);
				ENTER(3);
				for (int i = ii; i < least(ii + B, N); i++) {
					TURN(3);
					ENTER(4);
					for (int k = kk; k < least(kk + B, N); k++) {
						TURN(4);
						ENTER(5);
						for (int j = jj; j < least(jj + B, N); j++) {
							TURN(5);
							c[i][j] += a[i][k] * b[k][j];
						}
					}
				}
			}
		}
	}
}
int main(void)
{
	for (int i = 0; i < N * N; i++)
		a[0][i] = b[0][i] = i;
	run();
	report();
	return c[1][1] == 0;
}

#include "count.h"
#define N 24
static float u[N][N], v[N][N];
KERNEL void run(void)
{
	ENTER(0);
	for (int s = 0; s < 5; s++) {
		TURN(0);
		ENTER(1);
		for (int i = 1; i < N - 1; i++) {
			TURN(1);
			ENTER(2);
			for (int j = 1; j < N - 1; j++) {
				TURN(2);
				v[i][j] = 0.25f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
			}
		}
		ENTER(3);
		for (int i = 1; i < N - 1; i++) {
			TURN(3);
			ENTER(4);
			for (int j = 1; j < N - 1; j++) {
				TURN(4);
				u[i][j] = v[i][j];
			}
		}
	}
}
int main(void)
{
	for (int i = 0; i < N; i++)
		u[0][i] = i;
	run();
	report();
	return u[1][1] == 0;
}

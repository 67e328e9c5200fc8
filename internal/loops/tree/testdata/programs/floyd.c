#include "count.h"
#define N 17
static int dist[N][N];
KERNEL void run(void)
{
	ENTER(0);
	for (int k = 0; k < N; k++) {
		TURN(0);
		ENTER(1);
		for (int i = 0; i < N; i++) {
			TURN(1);
			ENTER(2);
			for (int j = 0; j < N; j++) {
				TURN(2);
				if (dist[i][k] + dist[k][j] < dist[i][j])
					dist[i][j] = dist[i][k] + dist[k][j];
			}
		}
	}
}
int main(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			dist[i][j] = random_number() % 100;
	run();
	report();
	return 0;
}

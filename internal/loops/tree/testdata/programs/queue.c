#include "count.h"
static int edges[40][4], degree[40], seen[40], queue[64], level[40];
KERNEL void run(void)
{
	int head = 0, tail = 0;
	queue[tail++] = 0;
	seen[0] = 1;
	ENTER(0);
	while (head < tail) {
		TURN(0);
		int v = queue[head++];
		ENTER(1);
		for (int e = 0; e < degree[v]; e++) {
			TURN(1);
			int w = edges[v][e];
			if (seen[w])
				continue;
			seen[w] = 1;
			level[w] = level[v] + 1;
			queue[tail++] = w;
		}
	}
}
int main(void)
{
	for (int v = 0; v < 40; v++) {
		degree[v] = 1 + random_number() % 4;
		for (int e = 0; e < 4; e++)
			edges[v][e] = (v * 2 + 1 + e * 7 + random_number() % 3) % 40;
	}
	run();
	report();
	return 0;
}

#include "count.h"
/* breadth first over a compressed graph, then union and find with halving */
static int offset[101], target[400], level[100], queue_[100], parent[100];
static int find(int x)
{
	ENTER(4);
	while (parent[x] != x) {
		TURN(4);
		parent[x] = parent[parent[x]];
		x = parent[x];
	}
	return x;
}
static int parts;
KERNEL void run(int n)
{
	int head = 0, tail = 0;
	ENTER(0);
	for (int v = 0; v < n; v++) {
		TURN(0);
		level[v] = -1;
		parent[v] = v;
	}
	level[0] = 0;
	queue_[tail++] = 0;
	ENTER(1);
	while (head < tail) {
		TURN(1);
		int v = queue_[head++];
		ENTER(2);
		for (int e = offset[v]; e < offset[v + 1]; e++) {
			TURN(2);
			int w = target[e];
			if (level[w] >= 0)
				continue;
			level[w] = level[v] + 1;
			queue_[tail++] = w;
		}
	}
	parts = n;
	ENTER(3);
	for (int v = 0; v < n; v++) {
		TURN(3);
		ENTER(5);
		for (int e = offset[v]; e < offset[v + 1]; e++) {
			TURN(5);
			int a = find(v), b = find(target[e]);
			if (a != b) {
				parent[a] = b;
				parts--;
			}
		}
	}
}
int main(int argc, char **argv)
{
	int e = 0;
	for (int v = 0; v < 100; v++) {
		offset[v] = e;
		for (int k = random_number() % 4; k > 0; k--)
			target[e++] = random_number() % 100;
	}
	offset[100] = e;
	run(99 + argc);
	report();
	return parts == 0;
}

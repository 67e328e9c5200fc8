#include "count.h"
#define N 128
static int a[N], hits;
KERNEL static int find(int key)
{
	int lo = 0, hi = N;
	ENTER(1);
	while (lo < hi) {
		TURN(1);
		int mid = (lo + hi) / 2;
		if (a[mid] == key)
			return mid;
		if (a[mid] < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return -1;
}
KERNEL void run(void)
{
	ENTER(0);
	for (int i = 0; i < 70; i++) {
		TURN(0);
		if (find(i * 5) >= 0)
			hits++;
	}
}
int main(void)
{
	for (int i = 0; i < N; i++)
		a[i] = 3 * i;
	run();
	report();
	return hits == 0;
}

#include "count.h"
static int p[6], used[6], found;
static void place(int k)
{
	if (k == 6) {
		int inversions = 0;
		ENTER(1);
		for (int i = 0; i < 5; i++) {
			TURN(1);
			inversions += p[i] > p[i + 1];
		}
		found += inversions == 2;
		return;
	}
	ENTER(0);
	for (int i = 0; i < 6; i++) {
		TURN(0);
		if (used[i])
			continue;
		used[i] = 1;
		p[k] = i;
		place(k + 1);
		used[i] = 0;
	}
}
KERNEL void run(void)
{
	place(0);
}
int main(void)
{
	run();
	report();
	return found == 0;
}

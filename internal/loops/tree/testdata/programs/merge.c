#include "count.h"
static int a[120], t[120];
static void sort(int lo, int hi)
{
	if (hi - lo < 2)
		return;
	int mid = (lo + hi) / 2, i = lo, j = mid, k = lo;
	sort(lo, mid);
	sort(mid, hi);
	ENTER(0);
	while (i < mid && j < hi) {
		TURN(0);
		t[k++] = a[i] <= a[j] ? a[i++] : a[j++];
	}
	ENTER(1);
	while (i < mid) {
		TURN(1);
		t[k++] = a[i++];
	}
	ENTER(2);
	while (j < hi) {
		TURN(2);
		t[k++] = a[j++];
	}
	ENTER(3);
	for (i = lo; i < hi; i++) {
		TURN(3);
		a[i] = t[i];
	}
}
KERNEL void run(void)
{
	sort(0, 120);
}
int main(void)
{
	for (int i = 0; i < 120; i++)
		a[i] = random_number();
	run();
	report();
	return a[0] > a[1];
}

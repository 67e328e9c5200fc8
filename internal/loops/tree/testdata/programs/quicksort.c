#include "count.h"
#define N 120
static int a[N];
KERNEL static void sort(int lo, int hi)
{
	if (lo >= hi)
		return;
	int pivot = a[(lo + hi) / 2], i = lo, j = hi;
	ENTER(0);
	while (i <= j) {
		TURN(0);
		ENTER(1);
		while (a[i] < pivot) {
			TURN(1);
			i++;
		}
		ENTER(2);
		while (a[j] > pivot) {
			TURN(2);
			j--;
		}
		if (i <= j) {
			int t = a[i];
			a[i] = a[j];
			a[j] = t;
			i++;
			j--;
		}
	}
	sort(lo, j);
	sort(i, hi);
}
KERNEL void run(void) { sort(0, N - 1); }
int main(void)
{
	for (int i = 0; i < N; i++)
		a[i] = random_number();
	run();
	report();
	return a[0] > a[N - 1];
}

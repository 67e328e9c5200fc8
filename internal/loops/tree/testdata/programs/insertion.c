#include "count.h"
#define N 60
static int a[N];
KERNEL void run(void)
{
	ENTER(0);
	for (int i = 1; i < N; i++) {
		TURN(0);
		int v = a[i], j = i - 1;
		ENTER(1);
		while (j >= 0 && a[j] > v) {
			TURN(1);
			a[j + 1] = a[j];
			j--;
		}
		a[j + 1] = v;
	}
}
int main(void)
{
	for (int i = 0; i < N; i++)
		a[i] = random_number();
	run();
	report();
	return a[0] > a[1];
}

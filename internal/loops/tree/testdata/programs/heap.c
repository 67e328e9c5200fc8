#include "count.h"
#define N 90
static int a[N];
static void sift(int i, int n)
{
	ENTER(2);
	for (;;) {
		TURN(2);
		int c = 2 * i + 1;
		if (c >= n)
			break;
		if (c + 1 < n && a[c + 1] > a[c])
			c++;
		if (a[i] >= a[c])
			break;
		int t = a[i];
		a[i] = a[c];
		a[c] = t;
		i = c;
	}
}
KERNEL void run(void)
{
	ENTER(0);
	for (int i = N / 2 - 1; i >= 0; i--) {
		TURN(0);
		sift(i, N);
	}
	ENTER(1);
	for (int n = N - 1; n > 0; n--) {
		TURN(1);
		int t = a[0];
		a[0] = a[n];
		a[n] = t;
		sift(0, n);
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

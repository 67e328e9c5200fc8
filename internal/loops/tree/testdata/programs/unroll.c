#include "count.h"
static int a[203], b[203], n = 203, c[64];
static long s;
KERNEL void run(void)
{
	int i = 0;
	ENTER(0);
	for (; i + 4 <= n; i += 4) {
		TURN(0);
		s += a[i] * b[i];
		s += a[i + 1] * b[i + 1];
		s += a[i + 2] * b[i + 2];
		s += a[i + 3] * b[i + 3];
	}
	ENTER(1);
	for (; i < n; i++) {
		TURN(1);
		s += a[i] * b[i];
	}
		ENTER(2); _Pragma("GCC unroll 4")
	for (int k = 0; k < n; k++) {
		TURN(2);
		a[k] = b[a[k] & 127] + k;
	}
	ENTER(3);
	for (int k = 0; k < 5; k++) {
		TURN(3);
		c[k * k] = a[k] / 3;
	}
}
int main(void)
{
	for (int i = 0; i < n; i++)
		a[i] = random_number(), b[i] = random_number();
	run();
	report();
	return s == c[4];
}

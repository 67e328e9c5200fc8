#include "count.h"
static double x[150], y[150], z[150];
static short h[150];
static unsigned char b[301], m[301];
static int w[150], n = 150, limit = 40;
static long sum;
KERNEL void run(void)
{
	ENTER(0);
	for (int i = 0; i < n; i++) {
		TURN(0);
		z[i] = x[i] * y[i] + 1;
	}
	ENTER(1);
	for (int i = 0; i < n; i++) {
		TURN(1);
		w[i] = h[i] * 3;
	}
	ENTER(2);
	for (int i = 0; i < 2 * n; i++) {
		TURN(2);
		m[i] = b[i] > limit ? b[i] : 0;
	}
	ENTER(3);
	for (int i = 0; i < n; i++) {
		TURN(3);
		sum += w[i];
	}
	ENTER(4);
	for (int i = 0; i < n; i += 2) {
		TURN(4);
		x[i] = y[i + 1];
	}
	ENTER(5);
	for (int i = 1; i < n; i++) {
		TURN(5);
		y[i] += y[i - 1];
	}
}
int main(void)
{
	for (int i = 0; i < n; i++)
		x[i] = y[i] = h[i] = i;
	for (int i = 0; i < 301; i++)
		b[i] = random_number();
	run();
	report();
	return z[1] == 0;
}

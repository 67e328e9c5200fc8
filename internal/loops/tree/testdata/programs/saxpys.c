#include "count.h"
/* loops of arrays with limits that only the run knows: vectors and remainders */
static float x[500], y[500], z[500];
static int index_[500];
static double total;
KERNEL void run(int n, int step, float a)
{
	ENTER(0);
	for (int i = 0; i < n; i++) {
		TURN(0);
		y[i] += a * x[i];
	}
	ENTER(1);
	for (int i = 0; i < n; i += step) {
		TURN(1);
		z[i] = x[i] - y[i];
	}
	ENTER(2);
	for (int i = 0; i < n; i++) {
		TURN(2);
		z[index_[i]] += y[i];
	}
	ENTER(3);
	for (int i = 1; i < n - 1; i++) {
		TURN(3);
		x[i] = 0.5f * (y[i - 1] + y[i + 1]);
	}
	int i = n;
	ENTER(4);
	while (i--) {
		TURN(4);
		if (x[i] > 0)
			total += x[i];
	}
	ENTER(5);
	for (int block = 0; block < n; block += 32) {
		TURN(5);
		int end = block + 32 < n ? block + 32 : n;
		ENTER(6);
		for (int k = block; k < end; k++) {
			TURN(6);
			y[k] = x[k] * z[k];
		}
	}
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 500; i++)
		x[i] = random_number() % 100, y[i] = i, index_[i] = random_number() % 500;
	run(450 + argc, 2 + argc, 1.5f);
	report();
	return total == 0;
}

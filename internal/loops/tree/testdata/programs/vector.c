#include "count.h"
static float x[103], y[103];
static int n = 103, counts[64];
static unsigned char data[500];
KERNEL void run(void)
{
	ENTER(0);
	for (int i = 0; i < n; i++) {
		TURN(0);
		y[i] = 2.5f * x[i] + y[i];
	}
	float s = 0;
	ENTER(1);
	for (int i = 0; i < n; i++) {
		TURN(1);
		s += y[i];
	}
	y[0] = s;
	ENTER(2);
	for (int i = 0; i < 500; i++) {
		TURN(2);
		counts[data[i] & 63]++;
	}
	ENTER(3);
	for (int i = 0; i < 4; i++) {
		TURN(3);
		counts[i] += counts[i + 4];
	}
}
int main(void)
{
	for (int i = 0; i < 500; i++)
		data[i] = random_number();
	run();
	report();
	return counts[0] == 0;
}

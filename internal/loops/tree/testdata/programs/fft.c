#include "count.h"
#define N 64
static double re[N], im[N], wr[N], wi[N];
KERNEL void run(void)
{
	int j = 0;
	ENTER(0);
	for (int i = 1; i < N; i++) {
		TURN(0);
		int bit = N >> 1;
		ENTER(1);
		for (; j & bit; bit >>= 1) {
			TURN(1);
			j ^= bit;
		}
		j ^= bit;
		if (i < j) {
			double t = re[i]; re[i] = re[j]; re[j] = t;
			t = im[i]; im[i] = im[j]; im[j] = t;
		}
	}
	ENTER(2);
	for (int len = 2; len <= N; len <<= 1) {
		TURN(2);
		ENTER(3);
		for (int i = 0; i < N; i += len) {
			TURN(3);
			ENTER(4);
			for (int k = 0; k < len / 2; k++) {
				TURN(4);
				int w = k * (N / len);
				double xr = re[i + k + len / 2] * wr[w] - im[i + k + len / 2] * wi[w];
				double xi = re[i + k + len / 2] * wi[w] + im[i + k + len / 2] * wr[w];
				re[i + k + len / 2] = re[i + k] - xr;
				im[i + k + len / 2] = im[i + k] - xi;
				re[i + k] += xr;
				im[i + k] += xi;
			}
		}
	}
}
int main(void)
{
	for (int i = 0; i < N; i++) {
		re[i] = random_number() % 10;
		wr[i] = 1.0 / (i + 1);
		wi[i] = 0.5 / (i + 1);
	}
	run();
	report();
	return re[0] == 0;
}

#include "count.h"
#define N 64
static int keys[N], sorted[N], bucket[16], image[N][N];
KERNEL void run(void)
{
	ENTER(0);
	for (int pass = 0; pass < 12; pass += 4) {
		TURN(0);
		ENTER(1);
		for (int i = 0; i < 16; i++) {
			TURN(1);
			bucket[i] = 0;
		}
		ENTER(2);
		for (int i = 0; i < N; i++) {
			TURN(2);
			bucket[keys[i] >> pass & 15]++;
		}
		ENTER(3);
		for (int i = 1; i < 16; i++) {
			TURN(3);
			bucket[i] += bucket[i - 1];
		}
		ENTER(4);
		for (int i = N - 1; i >= 0; i--) {
			TURN(4);
			sorted[--bucket[keys[i] >> pass & 15]] = keys[i];
		}
		ENTER(5);
		for (int i = 0; i < N; i++) {
			TURN(5);
			keys[i] = sorted[i];
		}
	}
	ENTER(6);
	for (int i = 0; i < N; i++) {
		TURN(6);
		ENTER(7);
		for (int j = 0; j < i; j++) {
			TURN(7);
			int t = image[i][j];
			image[i][j] = image[j][i];
			image[j][i] = t;
		}
	}
}
int main(void)
{
	for (int i = 0; i < N; i++)
		keys[i] = random_number() & 0xfff;
	run();
	report();
	return keys[0] > keys[1];
}

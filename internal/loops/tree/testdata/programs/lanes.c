#include "count.h"
/* stores of vectors that are computed in lanes of several sizes, with a rest */
static int rests[64], lookup[64];
static short halves[64];
static signed char narrow[64];
static double wide[64];
static float single[64];
KERNEL int run(int n, int m)
{
	int v[n];
	ENTER(0);
	for (int i = 0; i < n; i++) {
		TURN(0);
		v[i] = i * i % 17;
	}
	ENTER(1);
	for (int i = 0; i < m; i++) {
		TURN(1);
		rests[i] = lookup[i] % 5 + halves[i];
	}
	ENTER(2);
	for (int i = 3; i < n + 2; i++) {
		TURN(2);
		halves[i] = narrow[i] * 3;
	}
	ENTER(3);
	for (int i = 0; i < m; i++) {
		TURN(3);
		wide[i] = single[i] * 0.5 + lookup[i];
	}
	ENTER(4);
	for (int i = 0; i < n; i++) {
		TURN(4);
		narrow[i] = wide[i] > 2 ? lookup[i] : halves[i];
	}
	ENTER(5);
	for (int i = 0; i < m; i++) {
		TURN(5);
		rests[i] = (int)((unsigned long)lookup[i] * 2654435761u >> 32) ^ v[i % 7];
	}
	return v[2] + rests[3] + halves[4] + narrow[5] + (int)wide[6];
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 64; i++) {
		lookup[i] = random_number() % 100;
		single[i] = random_number() % 9;
		narrow[i] = random_number() % 50;
	}
	int r = run(argc + 30, argc + 41);
	report();
	return r == -7777777;
}

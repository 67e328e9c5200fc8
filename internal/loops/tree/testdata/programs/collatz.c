#include "count.h"
#define N 40
static unsigned char seen[1 << 16];
static int length[N];
KERNEL void run(void)
{
	ENTER(0);
	for (int i = 1; i < N; i++) {
		TURN(0);
		unsigned n = i;
		int steps = 0;
		ENTER(1);
		while (n != 1) {
			TURN(1);
			seen[n & 0xffff] = 1;
			if (n & 1)
				n = 3 * n + 1;
			else
				n /= 2;
			steps++;
		}
		length[i] = steps;
	}
}
int main(void)
{
	run();
	report();
	return length[3] != 7;
}

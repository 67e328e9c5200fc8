#include "count.h"
#define N 16
static int ring[N], in[500], head, tail, sum, hist[8];
KERNEL void run(int n)
{
	int at = 0;
	ENTER(0);
	while (1) {
		TURN(0);
		ENTER(1);
		while (head - tail < N && at < n) { TURN(1); ring[head++ % N] = in[at++]; }
		if (head == tail) return;
		int take = ring[tail % N] % 5 + 1;
		ENTER(2);
		while (take-- && head != tail) { TURN(2); int x = ring[tail++ % N]; hist[x & 7]++; }
	}
}
int main(int argc, char **argv) { for (int i = 0; i < 500; i++) in[i] = random_number(); run(400 + argc); report(); return hist[0] == 7777; }

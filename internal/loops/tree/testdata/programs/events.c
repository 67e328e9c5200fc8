#include "count.h"
static int when[200], order[200], done[200], clock_, fired;
KERNEL void run(int n)
{
	int next = 0, waiting = 0;
	ENTER(0);
	for (;;) {
		TURN(0);
		ENTER(1);
		while (next < n && when[next] <= clock_) { TURN(1); order[waiting++] = next++; }
		if (!waiting && next >= n) break;
		ENTER(2);
		while (waiting > 3) { TURN(2); done[order[--waiting]] = clock_; fired++; }
		if (waiting) { done[order[--waiting]] = clock_; fired++; }
		clock_ += 2;
	}
	ENTER(3);
	do {
		TURN(3);
		ENTER(4);
		while (done[n] < 10) { TURN(4); done[n]++; if (n == 3) break; }
		ENTER(5);
		while (done[n] > 20) { TURN(5); done[n] -= 7; }
	} while (--n > 0);
}
int main(int argc, char **argv) { int t = 0; for (int i = 0; i < 200; i++) when[i] = t += random_number() % 4; run(150 + argc); report(); return fired == 7777; }

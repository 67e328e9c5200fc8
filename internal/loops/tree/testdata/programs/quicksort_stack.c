#include "count.h"
static int v[300];
KERNEL void run(int n)
{
	int stack[64][2], top = 0;
	stack[top][0] = 0, stack[top++][1] = n - 1;
	ENTER(0);
	while (top) {
		TURN(0);
		int lo = stack[--top][0], hi = stack[top][1];
		ENTER(1);
		while (hi - lo > 8) {
			TURN(1);
			int p = v[(lo + hi) / 2], i = lo, j = hi;
			ENTER(2);
			do {
				TURN(2);
				ENTER(3);
				while (v[i] < p) { TURN(3); i++; }
				ENTER(4);
				while (v[j] > p) { TURN(4); j--; }
				if (i <= j) { int t = v[i]; v[i] = v[j]; v[j] = t; i++; j--; }
			} while (i <= j);
			if (j - lo < hi - i) { stack[top][0] = i, stack[top++][1] = hi; hi = j; }
			else { stack[top][0] = lo, stack[top++][1] = j; lo = i; }
		}
	}
	ENTER(5);
	for (int i = 1; i < n; i++) {
		TURN(5);
		int t = v[i], j = i;
		ENTER(6);
		for (; j > 0 && v[j - 1] > t; j--) { TURN(6); v[j] = v[j - 1]; }
		v[j] = t;
	}
}
int main(int argc, char **argv) { for (int i = 0; i < 300; i++) v[i] = random_number() % 1000; run(298 + argc); report(); return v[0] > v[1]; }

#include "count.h"
/* functions that are put into their callers, where a loop of theirs is passed by:
 * what ended the loop before it decides that it makes no turn */
static int order[128], tmp[128];
static void msort(int lo, int hi)
{
	if (hi - lo <= 6) {
		ENTER(0);
		for (int i = lo + 1; i < hi; i++) {
			TURN(0);
			int x = order[i], j = i - 1;
			ENTER(1);
			for (; j >= lo && order[j] > x; j--) {
				TURN(1);
				order[j + 1] = order[j];
			}
			order[j + 1] = x;
		}
		return;
	}
	int mid = (lo + hi) / 2, i = lo, j = mid, k = lo;
	msort(lo, mid);
	msort(mid, hi);
	ENTER(2);
	while (i < mid && j < hi) {
		TURN(2);
		tmp[k++] = order[i] <= order[j] ? order[i++] : order[j++];
	}
	ENTER(3);
	while (i < mid) {
		TURN(3);
		tmp[k++] = order[i++];
	}
	ENTER(4);
	while (j < hi) {
		TURN(4);
		tmp[k++] = order[j++];
	}
	ENTER(5);
	for (k = lo; k < hi; k++) {
		TURN(5);
		order[k] = tmp[k];
	}
}
static int drain(const int *from, int n, int stop)
{
	int at = 0, s = 0;
	ENTER(6);
	while (at < n && from[at] != stop) {
		TURN(6);
		s += from[at++];
	}
	ENTER(7);
	while (at < n) {
		TURN(7);
		s ^= from[at++];
	}
	order[at & 7] += s;
	return s;
}
KERNEL int run(int n, int m)
{
	msort(0, 100);
	int s = drain(order, n, 1 << 20);
	ENTER(8);
	for (int i = 0; i < m; i++) {
		TURN(8);
		s += drain(order + i, n - i, order[i + 4]);
	}
	return s + drain(tmp, 5, tmp[0]);
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 128; i++)
		order[i] = random_number() % 1000;
	int r = run(argc + 30, argc + 5);
	report();
	return r == -7777777;
}

#include "count.h"
/* Shell sort, then a counting sort of the digits */
static int a[300], b[300], counts[16];
static void shell(int *v, int n)
{
	ENTER(0);
	for (int gap = n / 2; gap > 0; gap /= 2) {
		TURN(0);
		ENTER(1);
		for (int i = gap; i < n; i++) {
			TURN(1);
			int x = v[i], j = i;
			ENTER(2);
			while (j >= gap && v[j - gap] > x) {
				TURN(2);
				v[j] = v[j - gap];
				j -= gap;
			}
			v[j] = x;
		}
	}
}
KERNEL void run(int n)
{
	int *from = b, *to = a;
	memcpy(b, a, n * sizeof *a);
	shell(a, n);
	ENTER(3);
	for (int shift = 0; shift < 16; shift += 4) {
		TURN(3);
		ENTER(4);
		for (int k = 0; k < 16; k++) {
			TURN(4);
			counts[k] = 0;
		}
		ENTER(5);
		for (int i = 0; i < n; i++) {
			TURN(5);
			counts[from[i] >> shift & 15]++;
		}
		ENTER(6);
		for (int k = 1; k < 16; k++) {
			TURN(6);
			counts[k] += counts[k - 1];
		}
		ENTER(7);
		for (int i = n - 1; i >= 0; i--) {
			TURN(7);
			to[--counts[from[i] >> shift & 15]] = from[i];
		}
		int *t = from;
		from = to;
		to = t;
	}
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 300; i++)
		a[i] = random_number();
	run(299 + argc);
	report();
	return 0;
}

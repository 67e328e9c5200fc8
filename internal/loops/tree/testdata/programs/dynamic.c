#include "count.h"
static const char *s = "the quick brown fox jumps", *t = "over the lazy dog again";
static int d[40][40];
static int min3(int a, int b, int c)
{
	int m = a < b ? a : b;
	return m < c ? m : c;
}
KERNEL void run(void)
{
	int n = strlen(s), m = strlen(t);
	ENTER(0);
	for (int i = 0; i <= n; i++) {
		TURN(0);
		d[i][0] = i;
	}
	ENTER(1);
	for (int j = 0; j <= m; j++) {
		TURN(1);
		d[0][j] = j;
	}
	ENTER(2);
	for (int i = 1; i <= n; i++) {
		TURN(2);
		ENTER(3);
		for (int j = 1; j <= m; j++) {
			TURN(3);
			d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (s[i - 1] != t[j - 1]));
		}
	}
}
int main(void)
{
	run();
	report();
	return d[1][1] > 1;
}

#include "count.h"
static int a[30][20], where[30];
static int find(const int *row, int x)
{
	ENTER(1);
	for (int i = 0; i < 20; i++) {
		TURN(1);
		if (row[i] == x)
			return i;
	}
	return -1;
}
KERNEL int run(void)
{
	int n = 0;
	ENTER(0);
	for (int r = 0; r < 30; r++) {
		TURN(0);
		where[r] = find(a[r], r);
		if (where[r] < 0)
			continue;
		n++;
		if (n > 15)
			break;
	}
	ENTER(2);
	for (int r = 0; r < 30; r++) {
		TURN(2);
		ENTER(3);
		for (int c = 0; c < 20; c++) {
			TURN(3);
			if (a[r][c] == 77)
				goto out;
			if (a[r][c] > 28)
				break;
			n += a[r][c];
		}
	}
out:
	return n;
}
int main(void)
{
	for (int i = 0; i < 600; i++)
		a[i / 20][i % 20] = random_number() % 31;
	a[22][3] = 77;
	int n = run();
	report();
	return n == 0;
}

#include "count.h"
/* backtracking: recursion with a loop in it that is left early */
static int column[8], solutions, checks[8];
static int attacked(int row, int c)
{
	ENTER(1);
	for (int r = 0; r < row; r++) {
		TURN(1);
		checks[r]++;
		if (column[r] == c || column[r] - c == row - r || c - column[r] == row - r)
			return 1;
	}
	return 0;
}
static void place(int row, int n)
{
	if (row == n) {
		solutions++;
		return;
	}
	ENTER(0);
	for (int c = 0; c < n; c++) {
		TURN(0);
		if (attacked(row, c))
			continue;
		column[row] = c;
		place(row + 1, n);
	}
}
KERNEL void run(int n)
{
	place(0, n);
}
int main(int argc, char **argv)
{
	run(4 + argc);
	report();
	return solutions == 0;
}

#include "count.h"
/* a loop of many ways: continue, break out of two, goto retry */
static short grid[40][40];
static int seen[40], total;
KERNEL int run(int n)
{
	int tries = 0;
retry:
	ENTER(0);
	for (int i = 0; i < n; i++) {
		TURN(0);
		if (grid[i][0] & 1)
			continue;
		ENTER(1);
		for (int j = 1; j < n; j++) {
			TURN(1);
			if (grid[i][j] < 20)
				total++;
			else if (grid[i][j] < 40)
				total += 2;
			else if (grid[i][j] == 77)
				break;
			else if (grid[i][j] > 97 && tries < 3) {
				tries++;
				grid[i][j] = 0;
				goto retry;
			}
			if (j & 1 && seen[j] > 4)
				continue;
			seen[j]++;
		}
	}
	int k = 0;
	ENTER(2);
	do {
		TURN(2);
		if (seen[k] > 3 && ++k < n)
			continue;
		seen[k] += k;
		k += 2;
	} while (k < n);
	return total;
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 40; i++)
		for (int j = 0; j < 40; j++)
			grid[i][j] = random_number() % 100;
	run(39 + argc);
	report();
	return total == 0;
}

#include "count.h"
/* Game of life with borders, generations until it stands still */
static unsigned char a[22][34], b[22][34];
static int alive;
static int around(unsigned char g[22][34], int y, int x)
{
	int n = 0;
	ENTER(3);
	for (int dy = -1; dy <= 1; dy++) {
		TURN(3);
		ENTER(4);
		for (int dx = -1; dx <= 1; dx++) {
			TURN(4);
			if (dy || dx)
				n += g[y + dy][x + dx];
		}
	}
	return n;
}
KERNEL void run(int generations)
{
	ENTER(0);
	for (int g = 0; g < generations; g++) {
		TURN(0);
		int changed = 0;
		ENTER(1);
		for (int y = 1; y < 21; y++) {
			TURN(1);
			ENTER(2);
			for (int x = 1; x < 33; x++) {
				TURN(2);
				int n = around(a, y, x);
				b[y][x] = n == 3 || n == 2 && a[y][x];
				changed += b[y][x] != a[y][x];
			}
		}
		ENTER(5);
		for (int y = 1; y < 21; y++) {
			TURN(5);
			memcpy(a[y], b[y], sizeof a[y]);
		}
		if (!changed)
			break;
	}
	ENTER(6);
	for (int y = 1; y < 21; y++) {
		TURN(6);
		ENTER(7);
		for (int x = 1; x < 33; x++) {
			TURN(7);
			alive += a[y][x];
		}
	}
}
int main(int argc, char **argv)
{
	for (int y = 1; y < 21; y++)
		for (int x = 1; x < 33; x++)
			a[y][x] = random_number() % 3 == 0;
	run(3 + argc);
	report();
	return alive < 0;
}

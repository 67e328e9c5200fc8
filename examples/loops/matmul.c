/* Matrix multiplication, three loops. */
#include "region.h"

#ifndef SIZE
#define SIZE 4
#endif

static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];

static void multiply(void)
{
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++)
			for (int k = 0; k < SIZE; k++)
				c[i][j] += a[i][k] * b[k][j];
}

int main(void)
{
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++) {
			a[i][j] = i + j;
			b[i][j] = i - j;
		}
	region_begin();
	multiply();
	region_end();
	return c[1][1] > 1e9;
}

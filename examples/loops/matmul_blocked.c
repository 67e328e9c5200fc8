/* Matrix multiplication in blocks, five loops. */
#include "region.h"

#ifndef SIZE
#define SIZE 4
#endif
#ifndef BLOCK
#define BLOCK 2
#endif

static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];

static void multiply(void)
{
	for (int jb = 0; jb < SIZE; jb += BLOCK)
		for (int kb = 0; kb < SIZE; kb += BLOCK)
			for (int i = 0; i < SIZE; i++)
				for (int j = jb; j < jb + BLOCK; j++) {
					double sum = 0;
					for (int k = kb; k < kb + BLOCK; k++)
						sum += a[i][k] * b[k][j];
					c[i][j] += sum;
				}
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

/* Bubble sort of the numbers given as arguments, in an array. It stops after a
 * pass without a swap. */
#include <stdlib.h>

#include "region.h"

enum { MOST = 4096 };

static void sort(int *value, int count)
{
	for (int pass = 0; pass < count - 1; pass++) {
		int swaps = 0;
		for (int i = 0; i < count - 1 - pass; i++) {
			if (value[i] > value[i + 1]) {
				int larger = value[i];
				value[i] = value[i + 1];
				value[i + 1] = larger;
				swaps++;
			}
		}
		if (swaps == 0)
			break;
	}
}

int main(int argc, char **argv)
{
	static int value[MOST];
	int count = 0;
	for (int i = 1; i < argc && count < MOST; i++)
		value[count++] = atoi(argv[i]);
	region_begin();
	sort(value, count);
	region_end();
	return count > 0 && value[0] > value[count - 1];
}

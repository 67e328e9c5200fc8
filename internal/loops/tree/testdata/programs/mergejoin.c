#include "count.h"
/* hash join with open addressing, then a merge join of the sorted relations */
struct row { int key, value; };
static struct row left[120], right[160];
static int slots[256], out[4096], n_out;
static int order(const void *a, const void *b)
{
	return ((const struct row *)a)->key - ((const struct row *)b)->key;
}
KERNEL void run(int n, int m)
{
	ENTER(0);
	for (int i = 0; i < 256; i++) {
		TURN(0);
		slots[i] = -1;
	}
	ENTER(1);
	for (int i = 0; i < n; i++) {
		TURN(1);
		unsigned h = left[i].key * 2654435761u >> 24;
		ENTER(2);
		while (slots[h] >= 0) {
			TURN(2);
			h = (h + 1) & 255;
		}
		slots[h] = i;
	}
	ENTER(3);
	for (int j = 0; j < m; j++) {
		TURN(3);
		ENTER(4);
		for (unsigned h = right[j].key * 2654435761u >> 24; slots[h] >= 0; h = (h + 1) & 255) {
			TURN(4);
			if (left[slots[h]].key == right[j].key)
				out[n_out++] = left[slots[h]].value + right[j].value;
		}
	}
	int i = 0, j = 0;
	ENTER(5);
	while (i < n && j < m) {
		TURN(5);
		if (left[i].key < right[j].key)
			i++;
		else if (left[i].key > right[j].key)
			j++;
		else {
			int k = j;
			ENTER(6);
			while (k < m && right[k].key == left[i].key) {
				TURN(6);
				out[n_out++ & 4095] = right[k++].value;
			}
			i++;
		}
	}
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 120; i++)
		left[i].key = random_number() % 100, left[i].value = i;
	for (int i = 0; i < 160; i++)
		right[i].key = random_number() % 130, right[i].value = i;
	qsort(left, 120, sizeof *left, order);
	qsort(right, 160, sizeof *right, order);
	run(119 + argc, 159 + argc);
	report();
	return n_out == 0;
}

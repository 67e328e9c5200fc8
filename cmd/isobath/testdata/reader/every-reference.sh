cat > sort.c <<'C'
#include <stdlib.h>
static void bubble_sort(int *v, int n) {
	for (int end = n; end > 1; end--)
		for (int i = 0; i + 1 < end; i++)
			if (v[i] > v[i + 1]) {
				int t = v[i];
				v[i] = v[i + 1];
				v[i + 1] = t;
			}
}
int main(int argc, char **argv) {
	int v[64], n = 0;
	for (; n < argc - 1 && n < 64; n++)
		v[n] = atoi(argv[n + 1]);
	bubble_sort(v, n);
	return 0;
}
C
cc -O1 -g -fno-inline -o sort sort.c
cat > heat.c <<'C'
static double u[1000], v[1000];
void sweep(void) {
	for (int i = 1; i < 999; i++)
		v[i] = (u[i - 1] + u[i + 1]) / 2;
}
int main(void) {
	sweep();
	return 0;
}
C

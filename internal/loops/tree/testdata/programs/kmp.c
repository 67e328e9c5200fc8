#include "count.h"
/* string search with a table of borders, and Horspool's over the same text */
static char text[900], pattern[] = "abacab";
static int border[16], skip[256], found;
static int kmp(const char *t, int n, const char *p, int m)
{
	int k = 0, hits = 0;
	border[0] = 0;
	ENTER(0);
	for (int i = 1; i < m; i++) {
		TURN(0);
		ENTER(1);
		while (k > 0 && p[k] != p[i]) {
			TURN(1);
			k = border[k - 1];
		}
		if (p[k] == p[i])
			k++;
		border[i] = k;
	}
	k = 0;
	ENTER(2);
	for (int i = 0; i < n; i++) {
		TURN(2);
		ENTER(3);
		while (k > 0 && p[k] != t[i]) {
			TURN(3);
			k = border[k - 1];
		}
		if (p[k] == t[i])
			k++;
		if (k == m) {
			hits++;
			k = border[k - 1];
		}
	}
	return hits;
}
KERNEL void run(int n)
{
	int m = strlen(pattern);
	found += kmp(text, n, pattern, m);
	ENTER(4);
	for (int i = 0; i < 256; i++) {
		TURN(4);
		skip[i] = m;
	}
	ENTER(5);
	for (int i = 0; i < m - 1; i++) {
		TURN(5);
		skip[(unsigned char)pattern[i]] = m - 1 - i;
	}
	int at = 0;
	ENTER(6);
	while (at <= n - m) {
		TURN(6);
		int j = m - 1;
		ENTER(7);
		while (j >= 0 && text[at + j] == pattern[j]) {
			TURN(7);
			j--;
		}
		if (j < 0)
			found++;
		at += skip[(unsigned char)text[at + m - 1]];
	}
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 899; i++)
		text[i] = 'a' + random_number() % 3;
	run(899 + argc - 1);
	report();
	return found < 0;
}

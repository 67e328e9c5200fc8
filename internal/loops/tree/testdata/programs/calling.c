#include "count.h"
static char in[400], word[64], line[500];
static int lengths[32], words, pos;
static int next(void) { return in[pos] ? in[pos++] : -1; }
static int space(int c) { return c == ' ' || c == '\n'; }
KERNEL int run(const char *from)
{
	char *d = line;
	const char *s = from;
	ENTER(0);
	while ((*d++ = *s++)) {
		TURN(0);
		if (d - line > 498)
			break;
	}
	int c, v = 0;
	ENTER(1);
	while ((c = next()) != -1) {
		TURN(1);
		if (space(c))
			continue;
		int n = 0;
		ENTER(2);
		do {
			TURN(2);
			word[n++ & 63] = c;
		} while ((c = next()) != -1 && !space(c));
		lengths[n & 31]++;
		words++;
	}
	ENTER(3);
	for (const char *p = line; *p && *p != '\t'; p++) {
		TURN(3);
		v = v * 31 + *p;
	}
	unsigned bits = v;
	int ones = 0;
	ENTER(4);
	while (bits) {
		TURN(4);
		bits &= bits - 1;
		lengths[ones++ & 31]++;
	}
	return v + words;
}
int main(void)
{
	for (int i = 0; i < 399; i++)
		in[i] = random_number() % 6 ? 'a' + random_number() % 26 : ' ';
	int v = run(in);
	report();
	return v == -1;
}

#include "count.h"
#include <ctype.h>
/* tokens with switch and goto, KMP, run lengths, edit distance, base64 */
static char in[512], out[1024];
static int fail[32], row[64], counts[8];
static int tokens(const char *s)
{
	int n = 0;
again:
	ENTER(0);
	while (*s == ' ' || *s == '\t') {
		TURN(0);
		s++;
	}
	switch (*s) {
	case 0:
		return n;
	case '0' ... '9':
		ENTER(1);
		do {
			TURN(1);
			s++;
		} while (isdigit((unsigned char)*s));
		counts[0]++;
		break;
	case '"':
		ENTER(2);
		for (s++; *s && *s != '"'; s++) {
			TURN(2);
			if (*s == '\\' && s[1])
				s++;
		}
		if (*s)
			s++;
		counts[1]++;
		break;
	case 'a' ... 'z':
		ENTER(3);
		while (isalnum((unsigned char)*s)) {
			TURN(3);
			s++;
		}
		counts[2]++;
		break;
	default:
		s++;
		counts[3]++;
	}
	n++;
	goto again;
}
static int match(const char *text, const char *word, int n)
{
	int k = 0, hits = 0;
	fail[0] = 0;
	ENTER(4);
	for (int i = 1; i < n; i++) {
		TURN(4);
		ENTER(5);
		while (k && word[i] != word[k]) {
			TURN(5);
			k = fail[k - 1];
		}
		if (word[i] == word[k])
			k++;
		fail[i] = k;
	}
	k = 0;
	ENTER(6);
	for (; *text; text++) {
		TURN(6);
		ENTER(7);
		while (k && *text != word[k]) {
			TURN(7);
			k = fail[k - 1];
		}
		if (*text == word[k] && ++k == n) {
			hits++;
			k = fail[k - 1];
		}
	}
	return hits;
}
static int lengths(const char *s)
{
	int at = 0;
	ENTER(8);
	while (*s) {
		TURN(8);
		const char *b = s;
		ENTER(9);
		while (*s == *b && s - b < 9) {
			TURN(9);
			s++;
		}
		out[at++] = '0' + (s - b);
		out[at++] = *b;
	}
	return at;
}
static int distance(const char *a, int n, const char *b, int m)
{
	ENTER(10);
	for (int j = 0; j <= m; j++) {
		TURN(10);
		row[j] = j;
	}
	ENTER(11);
	for (int i = 1; i <= n; i++) {
		TURN(11);
		int diagonal = row[0];
		row[0] = i;
		ENTER(12);
		for (int j = 1; j <= m; j++) {
			TURN(12);
			int above = row[j], c = diagonal + (a[i - 1] != b[j - 1]);
			if (above + 1 < c)
				c = above + 1;
			if (row[j - 1] + 1 < c)
				c = row[j - 1] + 1;
			row[j] = c;
			diagonal = above;
		}
	}
	return row[m];
}
static int encode(const unsigned char *p, int n)
{
	int at = 0;
	ENTER(13);
	for (; n >= 3; n -= 3, p += 3) {
		TURN(13);
		unsigned v = p[0] << 16 | p[1] << 8 | p[2];
		ENTER(14);
		for (int k = 18; k >= 0; k -= 6) {
			TURN(14);
			out[at++] = 'A' + (v >> k & 63) % 26;
		}
	}
	return at + n;
}
KERNEL int run(int n, int m)
{
	int r = tokens(in) + match(in, "ab a", 4) + lengths(in + 40) + distance(in, n, in + 30, m);
	return r + encode((const unsigned char *)in, n * 4 + 1);
}
int main(int argc, char **argv)
{
	static const char alphabet[] = "aab  b7\"19c \\\"aa(+a";
	for (int i = 0; i < 400; i++)
		in[i] = alphabet[random_number() % (sizeof alphabet - 1)];
	int r = run(argc + 20, argc + 26);
	report();
	return r == -7777777;
}

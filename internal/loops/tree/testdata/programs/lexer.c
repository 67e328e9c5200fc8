#include "count.h"
static const char *text = "while (x1 >= 42) { y = y * (17 + zz); /* note */ print \"a b\"; } end";
static int kinds[8], longest;
KERNEL void run(void)
{
	const char *p = text;
	int n;
	ENTER(0);
	while (*p) {
		TURN(0);
		if (*p == ' ') {
			p++;
			continue;
		}
		if (*p >= '0' && *p <= '9') {
			ENTER(1);
			while (*p >= '0' && *p <= '9') {
				TURN(1);
				p++;
			}
			kinds[0]++;
		} else if (*p >= 'a' && *p <= 'z') {
			n = 0;
			ENTER(2);
			while (*p >= 'a' && *p <= 'z' || *p >= '0' && *p <= '9') {
				TURN(2);
				p++;
				n++;
			}
			if (n > longest)
				longest = n;
			kinds[1]++;
		} else if (*p == '"') {
			ENTER(3);
			do {
				TURN(3);
				p++;
			} while (*p && *p != '"');
			p++;
			kinds[2]++;
		} else {
			switch (*p++) {
			case '(': case ')': kinds[3]++; break;
			case '{': case '}': kinds[4]++; break;
			case '/':
				if (*p == '*') {
					ENTER(4);
					for (p++; !(p[0] == '*' && p[1] == '/'); p++) {
						TURN(4);
					}
					p += 2;
				}
				break;
			default: kinds[5]++;
			}
		}
	}
}
int main(void)
{
	run();
	report();
	return longest == 0;
}

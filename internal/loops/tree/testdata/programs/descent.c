#include "count.h"
/* mutual recursion around loops: a parser of expressions by descent */
static const char *at;
static int memo[64], depth;
static int expression(void);
static int factor(void)
{
	int v = 0;
	if (*at == '(') {
		at++;
		v = expression();
		at++;
		return v;
	}
	ENTER(2);
	while (*at >= '0' && *at <= '9') {
		TURN(2);
		v = v * 10 + *at++ - '0';
	}
	return v;
}
static int term(void)
{
	int v = factor();
	ENTER(1);
	while (*at == '*' || *at == '/') {
		TURN(1);
		char op = *at++;
		int w = factor();
		v = op == '*' ? v * w : w ? v / w : 0;
	}
	return v;
}
static int expression(void)
{
	int v = term();
	ENTER(0);
	while (*at == '+' || *at == '-') {
		TURN(0);
		char op = *at++;
		int w = term();
		v = op == '+' ? v + w : v - w;
	}
	memo[depth++ & 63] = v;
	return v;
}
KERNEL int run(const char *text)
{
	at = text;
	int v = expression();
	int sum = 0;
	ENTER(3);
	for (int i = depth; i-- > 0;) {
		TURN(3);
		sum += memo[i & 63];
	}
	return v + sum;
}
int main(void)
{
	int v = run("(1+22*(3-4)*5)-(6+(7*(8-(9+10)))/11)*(12-3)+4*(5+(6+(7+(8*9))))");
	report();
	return v == 0;
}

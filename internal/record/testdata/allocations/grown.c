/* Blocks that grow and shrink where they are or elsewhere. */
#include <stdlib.h>
#include <string.h>

static char *volatile text;

static __attribute__((noinline)) void append(size_t n)
{
	text = realloc(text, n);
	memset(text, 1, n);
}

int main(void)
{
	void *volatile aside[50];
	for (int i = 0; i < 50; i++) {
		append(100 + 1000 * i);
		aside[i] = malloc(64);
	}
	append(20);
	for (int i = 0; i < 50; i++)
		free(aside[i]);
	free(text);
	return 0;
}

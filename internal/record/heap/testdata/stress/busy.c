/* One place that allocates three million times, then another. */
#include <stdio.h>
#include <stdlib.h>

static void *volatile kept;

int main(void)
{
	for (int i = 0; i < 3000000; i++) {
		kept = malloc(5000);
		free(kept);
	}
	kept = malloc(77777);
	return kept == 0;
}

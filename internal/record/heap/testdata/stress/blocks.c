/* Makes 300 blocks of 10000 to 10299 bytes and frees 200 of them. Where there
 * is no memory it says so and goes on. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *block[300];
static int missing;

static void *work(void *arg)
{
	int from = (int)(long)arg;
	for (int i = from; i < from + 100; i++) {
		errno = 0;
		switch (i % 4) {
		case 0: block[i] = malloc(10000 + i); break;
		case 1: block[i] = calloc(1, 10000 + i); break;
		case 2:
			if (posix_memalign((void **)&block[i], 64, 10000 + i))
				block[i] = 0;
			break;
		case 3: block[i] = realloc(malloc(50), 10000 + i); break;
		}
		if (!block[i])
			missing++;
		else
			memset(block[i], i, 10000);
	}
	return 0;
}

int main(void)
{
	pthread_t t;
	work((void *)0);
	if (pthread_create(&t, 0, work, (void *)100) == 0)
		pthread_join(t, 0);
	else
		work((void *)100);
	work((void *)200);
	for (int i = 0; i < 200; i++)
		free(block[i]);
	for (int i = 200; i < 300; i++)
		if (block[i] && block[i][77] != (char)i)
			return 1;
	FILE *f = fopen("/dev/null", "w");
	printf("%d missing, %s\n", missing, f ? "a file is open" : "no more files");
	return 0;
}

/* A C program that loads C++ late. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *path;

static int use(int flags, int close)
{
	void *h = dlopen(path, flags);
	if (!h) {
		fprintf(stderr, "%s\n", dlerror());
		exit(3);
	}
	int (*work)(int) = (int (*)(int))dlsym(h, "work");
	int sum = work(100);
	if (close)
		dlclose(h);
	return sum;
}

static void *thread(void *arg)
{
	long sum = 0;
	for (int i = 0; i < 20; i++)
		sum += use(RTLD_NOW, i % 2);
	(void)arg;
	return (void *)sum;
}

int main(int argc, char **argv)
{
	(void)argc;
	path = argv[1];
	void *p = malloc(50000);
	long sum = p == 0;
	if (!strcmp(argv[2], "local"))
		sum += use(RTLD_NOW | RTLD_LOCAL, 0);
	if (!strcmp(argv[2], "global"))
		sum += use(RTLD_LAZY | RTLD_GLOBAL, 0);
	if (!strcmp(argv[2], "loop"))
		for (int i = 0; i < 50; i++)
			sum += use(RTLD_NOW, 1);
	if (!strcmp(argv[2], "threads")) {
		pthread_t t[4];
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], 0, thread, 0);
		for (int i = 0; i < 4; i++) {
			void *r;
			pthread_join(t[i], &r);
			sum += (long)r;
		}
	}
	printf("%ld\n", sum);
	free(p);
	return 0;
}

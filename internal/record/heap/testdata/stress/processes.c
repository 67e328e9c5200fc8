/* Threads allocate while the process forks, starts programs and spawns. */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile int stop;

static void *allocate(void *arg)
{
	(void)arg;
	while (!stop) {
		char *volatile p = malloc(8192);
		p[5] = 1;
		p = realloc(p, 100000);
		free(p);
	}
	return 0;
}

int main(void)
{
	pthread_t t[3];
	int good = 0;
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, allocate, 0);
	for (int i = 0; i < 30; i++) {
		int status = 1;
		pid_t pid = 0;
		if (i % 3 == 2) {
			char *args[] = {"true", 0};
			posix_spawn(&pid, "/bin/true", 0, 0, args, environ);
		} else if ((pid = fork()) == 0) {
			char *volatile p = malloc(20000);
			p[1] = 1;
			free(p);
			if (i % 3 == 1)
				execl("/bin/true", "true", (char *)0);
			_exit(0);
		}
		waitpid(pid, &status, 0);
		good += status == 0;
	}
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	printf("%d\n", good);
	return 0;
}

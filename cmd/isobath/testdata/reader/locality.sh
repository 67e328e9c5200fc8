# The example with the loops of smooth() in the other order, and a program with
# threads.
sed '/^static void smooth/,/^}/{s/for (int i = 1; i < N - 1; i++)/for (int OTHER/; s/for (int j = 1; j < N - 1; j++)/for (int i = 1; i < N - 1; i++)/; s/for (int OTHER/for (int j = 1; j < N - 1; j++)/}' examples/locality/pic.c > changed.c
cc -O1 -g -fno-inline -o changed changed.c
cat > threads.c <<'C'
#include <pthread.h>
static long count[2];
static void *worker(void *mine) {
	for (int i = 0; i < 1000; i++)
		((volatile long *)count)[(long)mine]++;
	return 0;
}
int main(void) {
	pthread_t other[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&other[i], 0, worker, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(other[i], 0);
	return 0;
}
C
cc -O1 -g -pthread -o threads threads.c

/* The runtime behind the hooks that compilers put before memory accesses
 * (-fsanitize=thread) and at the ends of functions (-finstrument-functions).
 * 'isobath cc' links it into a program. Without ISOBATH_REFS in the environment
 * it does nothing.
 *
 * ISOBATH_REFS=out=FILE,start=HEX,stop=HEX,after=0|1,limit=N,thread=N
 * with link-time addresses. The file has the layout of the qemu plugin's. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct record {
	uint64_t addr, pc;
	uint32_t tid;
	uint16_t size;
	uint8_t op, pad;
};

struct head {
	char magic[8];
	uint64_t bias, count, entered, left, full, instructions, maps;
};

enum { HEAD = 4096, MAPS = 1 << 20, CHUNK = 1 << 20, FIRST = -1, ALL = -2 };
enum { LOAD, STORE, MODIFY };
enum { WAITING, IN_START, INSIDE, OVER };

static struct head *head;
static struct record *chunk;
static int file;
static uint64_t start, stop, limit;
static int after, wanted = FIRST, owner = -1, threads;
static volatile int active; /* something may still be recorded */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int phase, number = -1;
static __thread uint32_t tid;
static __thread uint64_t depth, entered_at;

#define HIDDEN static __attribute__((no_instrument_function))

/* A name that 'isobath record' looks for. */
__attribute__((used, no_instrument_function)) void isobath_refs_runtime(void) {}

HIDDEN void in_child(void) { active = 0; }

HIDDEN int first_module(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(uint64_t *)bias = info->dlpi_addr;
	return 1;
}

HIDDEN const char *setting(const char *all, const char *name)
{
	const char *at = strstr(all, name);
	return at ? at + strlen(name) : "";
}

__attribute__((constructor, no_instrument_function)) static void setup(void)
{
	char *all = getenv("ISOBATH_REFS"), path[4096];
	uint64_t bias = 0;
	if (!all || head)
		return;
	const char *out = setting(all, "out=");
	size_t n = strcspn(out, ",");
	if (n >= sizeof path)
		return;
	memcpy(path, out, n);
	path[n] = 0;
	dl_iterate_phdr(first_module, &bias);
	start = strtoull(setting(all, "start="), NULL, 16);
	stop = strtoull(setting(all, "stop="), NULL, 16);
	start += start ? bias : 0;
	stop += stop ? bias : 0;
	after = atoi(setting(all, "after="));
	limit = strtoull(setting(all, "limit="), NULL, 10);
	wanted = atoi(setting(all, "thread="));
	unsetenv("ISOBATH_REFS"); /* not for its children */
	file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0 || posix_fallocate(file, 0, HEAD + MAPS) != 0)
		return;
	void *p = mmap(NULL, HEAD + MAPS, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (p == MAP_FAILED)
		return;
	head = p;
	memcpy(head->magic, "isorefs1", 8);
	head->bias = bias;
	pthread_atfork(NULL, NULL, in_child);
	active = 1;
}

HIDDEN struct record *next(void)
{
	uint64_t n = head->count;
	if (n == limit) {
		head->full = 1;
		active = 0;
		return NULL;
	}
	if (n % CHUNK == 0) {
		off_t at = HEAD + MAPS + (off_t)(n / CHUNK) * CHUNK * sizeof(struct record);
		if (chunk)
			munmap(chunk, CHUNK * sizeof(struct record));
		chunk = MAP_FAILED;
		/* Room that is only promised would end the program when it runs out. */
		if (posix_fallocate(file, at, CHUNK * sizeof(struct record)) == 0)
			chunk = mmap(NULL, CHUNK * sizeof(struct record), PROT_READ | PROT_WRITE, MAP_SHARED, file, at);
		if (chunk == MAP_FAILED) {
			chunk = NULL;
			head->full = 2;
			active = 0;
			return NULL;
		}
	}
	return &chunk[n % CHUNK];
}

HIDDEN void touch(const volatile void *addr, void *pc, size_t size, int op)
{
	if (phase != INSIDE || !active)
		return;
	pthread_mutex_lock(&lock);
	struct record *r = active ? next() : NULL;
	if (r) {
		*r = (struct record){(uint64_t)(uintptr_t)addr, (uint64_t)(uintptr_t)pc, tid, size > 65535 ? 0 : size, op, 0};
		head->count++;
	}
	pthread_mutex_unlock(&lock);
}

HIDDEN void save_maps(void)
{
	int in = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char *to = (char *)head + HEAD;
	if (in < 0)
		return;
	for (ssize_t n; head->maps < MAPS && (n = read(in, to + head->maps, MAPS - head->maps)) > 0;)
		head->maps += n;
	close(in);
}

HIDDEN void finish(void)
{
	head->left = 1;
	phase = OVER;
	if (wanted != ALL)
		active = 0;
}

__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *fn, void *site)
{
	(void)site;
	if (!active)
		return;
	if (number < 0) {
		number = __sync_fetch_and_add(&threads, 1);
		tid = syscall(SYS_gettid);
	}
	depth++;
	if (phase == INSIDE && after && (uint64_t)(uintptr_t)fn == stop)
		finish();
	if ((uint64_t)(uintptr_t)fn != start || phase == IN_START || phase == INSIDE)
		return;
	if (wanted >= 0 && wanted != number)
		return;
	if (wanted == FIRST && !__sync_bool_compare_and_swap(&owner, -1, number) && owner != number)
		return;
	if (!__sync_lock_test_and_set(&head->entered, 1))
		save_maps();
	entered_at = depth;
	phase = after ? IN_START : INSIDE;
}

__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *fn, void *site)
{
	(void)fn;
	(void)site;
	if (!active)
		return;
	if (depth == entered_at && phase == IN_START)
		phase = INSIDE;
	else if (depth == entered_at && phase == INSIDE && !after)
		finish();
	depth--;
}

/* --- the hooks of -fsanitize=thread --- */

#define PC __builtin_return_address(0)
#define HOOK __attribute__((no_instrument_function)) void
#define PLAIN(N)                                                                       \
	HOOK __tsan_read##N(void *a) { touch(a, PC, N, LOAD); }                            \
	HOOK __tsan_write##N(void *a) { touch(a, PC, N, STORE); }                          \
	HOOK __tsan_read_write##N(void *a) { touch(a, PC, N, MODIFY); }                    \
	HOOK __tsan_unaligned_read##N(void *a) { touch(a, PC, N, LOAD); }                  \
	HOOK __tsan_unaligned_write##N(void *a) { touch(a, PC, N, STORE); }                \
	HOOK __tsan_unaligned_read_write##N(void *a) { touch(a, PC, N, MODIFY); }          \
	HOOK __tsan_volatile_read##N(void *a) { touch(a, PC, N, LOAD); }                   \
	HOOK __tsan_volatile_write##N(void *a) { touch(a, PC, N, STORE); }                 \
	HOOK __tsan_unaligned_volatile_read##N(void *a) { touch(a, PC, N, LOAD); }         \
	HOOK __tsan_unaligned_volatile_write##N(void *a) { touch(a, PC, N, STORE); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

HOOK __tsan_init(void) {}
HOOK __tsan_func_entry(void *pc) { (void)pc; }
HOOK __tsan_func_exit(void) {}
HOOK __tsan_read_range(void *a, unsigned long n) { touch(a, PC, n, LOAD); }
HOOK __tsan_write_range(void *a, unsigned long n) { touch(a, PC, n, STORE); }
HOOK __tsan_vptr_read(void **a) { touch(a, PC, sizeof(void *), LOAD); }
HOOK __tsan_vptr_update(void **a, void *v) { (void)v; touch(a, PC, sizeof(void *), STORE); }
HOOK __tsan_atomic_thread_fence(int order) { (void)order; __atomic_thread_fence(__ATOMIC_SEQ_CST); }
HOOK __tsan_atomic_signal_fence(int order) { (void)order; __atomic_signal_fence(__ATOMIC_SEQ_CST); }

/* Orders are strengthened to the strongest: a trace needs no speed. */
#define SC __ATOMIC_SEQ_CST
#define OPERATION(BITS, T, NAME)                                                        \
	__attribute__((no_instrument_function)) T __tsan_atomic##BITS##_##NAME(volatile T *a, T v, int order) \
	{ (void)order; touch(a, PC, sizeof(T), MODIFY); return __atomic_##NAME(a, v, SC); }
#define ATOMIC(BITS, T)                                                                 \
	__attribute__((no_instrument_function)) T __tsan_atomic##BITS##_load(const volatile T *a, int order) \
	{ (void)order; touch(a, PC, sizeof(T), LOAD); return __atomic_load_n(a, SC); }        \
	HOOK __tsan_atomic##BITS##_store(volatile T *a, T v, int order)                       \
	{ (void)order; touch(a, PC, sizeof(T), STORE); __atomic_store_n(a, v, SC); }          \
	__attribute__((no_instrument_function)) T __tsan_atomic##BITS##_exchange(volatile T *a, T v, int order) \
	{ (void)order; touch(a, PC, sizeof(T), MODIFY); return __atomic_exchange_n(a, v, SC); } \
	__attribute__((no_instrument_function)) int __tsan_atomic##BITS##_compare_exchange_strong(volatile T *a, T *c, T v, int order, int fail) \
	{ (void)order; (void)fail; touch(a, PC, sizeof(T), MODIFY); return __atomic_compare_exchange_n(a, c, v, 0, SC, SC); } \
	__attribute__((no_instrument_function)) int __tsan_atomic##BITS##_compare_exchange_weak(volatile T *a, T *c, T v, int order, int fail) \
	{ (void)order; (void)fail; touch(a, PC, sizeof(T), MODIFY); return __atomic_compare_exchange_n(a, c, v, 0, SC, SC); } \
	__attribute__((no_instrument_function)) T __tsan_atomic##BITS##_compare_exchange_val(volatile T *a, T c, T v, int order, int fail) \
	{ (void)order; (void)fail; touch(a, PC, sizeof(T), MODIFY); __atomic_compare_exchange_n(a, &c, v, 0, SC, SC); return c; } \
	OPERATION(BITS, T, fetch_add)                                                       \
	OPERATION(BITS, T, fetch_sub)                                                       \
	OPERATION(BITS, T, fetch_and)                                                       \
	OPERATION(BITS, T, fetch_or)                                                        \
	OPERATION(BITS, T, fetch_xor)                                                       \
	OPERATION(BITS, T, fetch_nand)
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

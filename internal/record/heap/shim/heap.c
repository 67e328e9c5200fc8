/*
 * Log of large allocations, preloaded into a program that Isobath records.
 *
 * Every allocation of at least ISOBATH_HEAP_THRESHOLD bytes, and the end of
 * each, becomes a record of 48 bytes in a mapped file of the folder
 * ISOBATH_HEAP_DIR, one file a process. Smaller ones cost a comparison. The
 * program's own allocator is used, whichever it is. A full log counts what it
 * misses and never stops the program.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define CALLER __builtin_return_address(0)

enum { FREE, MALLOC, CALLOC, REALLOC, MEMALIGN };

struct record {
	uint64_t time, addr, size, site;
	uint32_t tid, kind;
	uint64_t site2;
};

struct header {
	char magic[8]; /* ISOHEAP1 */
	uint64_t pid, threshold, capacity;
	uint64_t count, missed; /* count may exceed capacity by what is missed */
};

#define HEAD 4096
#define CAPACITY (1u << 20)

static void *(*real_malloc)(size_t);
static void (*real_free)(void *);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void *(*real_memalign)(size_t, size_t);
static void *(*real_aligned_alloc)(size_t, size_t);
static size_t (*real_usable)(void *);
static void *(*real_new)(size_t);
static void *(*real_new_array)(size_t);

static size_t threshold = SIZE_MAX; /* nothing is logged before start */
static struct header *volatile head;
static int lock;
static __thread uint32_t my_tid __attribute__((tls_model("initial-exec")));
static __thread void *new_site __attribute__((tls_model("initial-exec")));

/* Memory for what dlsym allocates before we know the allocator. */
static char early[16384] __attribute__((aligned(16)));
static size_t early_used;

static int is_early(const void *p) { return (const char *)p >= early && (const char *)p < early + sizeof early; }

static void *early_alloc(size_t n)
{
	size_t at = __atomic_fetch_add(&early_used, (n + 15) & ~(size_t)15, __ATOMIC_RELAXED);
	if (n > sizeof early || at > sizeof early - n) {
		errno = ENOMEM;
		return 0;
	}
	return early + at;
}

static void resolve(void)
{
	static int busy;
	if (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
		return;
	real_calloc = dlsym(RTLD_NEXT, "calloc");
	real_free = dlsym(RTLD_NEXT, "free");
	real_realloc = dlsym(RTLD_NEXT, "realloc");
	real_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	real_memalign = dlsym(RTLD_NEXT, "memalign");
	real_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
	real_usable = dlsym(RTLD_NEXT, "malloc_usable_size");
	real_new = dlsym(RTLD_NEXT, "_Znwm");
	real_new_array = dlsym(RTLD_NEXT, "_Znam");
	real_malloc = dlsym(RTLD_NEXT, "malloc");
}

/* Opens the log of this process; after a fork, the child's own. */
static struct header *open_log(void)
{
	char path[4096];
	const char *dir = getenv("ISOBATH_HEAP_DIR");
	pid_t pid = getpid();
	size_t size = HEAD + (size_t)CAPACITY * sizeof(struct record);
	if (!dir || (size_t)snprintf(path, sizeof path, "%s/heap.%ld", dir, (long)pid) >= sizeof path)
		return 0;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return 0;
	struct header *h = MAP_FAILED;
	if (ftruncate(fd, size) == 0)
		h = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (h == MAP_FAILED)
		return 0;
	h->pid = pid;
	h->threshold = threshold;
	h->capacity = CAPACITY;
	memcpy(h->magic, "ISOHEAP1", 8); /* after an exec the same file goes on */
	return h;
}

static struct header *log_of_process(void)
{
	struct header *h = head;
	if (LIKELY(h && h->pid == (uint64_t)getpid()))
		return h;
	if (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		return 0; /* another thread is opening it; one record is missed */
	my_tid = 0;
	if (head && head->pid != (uint64_t)getpid())
		head = 0; /* the parent's; its mapping is left alone */
	if (!head)
		head = open_log();
	if (!head)
		threshold = SIZE_MAX;
	h = head;
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	return h;
}

static __attribute__((noinline)) void note(int kind, void *p, size_t size, void *site)
{
	int saved = errno;
	struct header *h = log_of_process();
	if (h) {
		uint64_t i = __atomic_fetch_add(&h->count, 1, __ATOMIC_RELAXED);
		if (i >= h->capacity) {
			__atomic_fetch_add(&h->missed, 1, __ATOMIC_RELAXED);
		} else {
			struct record *r = (struct record *)((char *)h + HEAD) + i;
			struct timespec t;
			clock_gettime(CLOCK_MONOTONIC, &t);
			if (!my_tid)
				my_tid = syscall(SYS_gettid);
			r->addr = (uint64_t)(uintptr_t)p;
			r->size = size;
			r->site = (uint64_t)(uintptr_t)site;
			r->site2 = (uint64_t)(uintptr_t)new_site;
			r->tid = my_tid;
			r->kind = kind;
			__atomic_store_n(&r->time, t.tv_sec * 1000000000ull + t.tv_nsec, __ATOMIC_RELEASE);
		}
	}
	errno = saved;
}

static __attribute__((constructor)) void start(void)
{
	const char *text = getenv("ISOBATH_HEAP_THRESHOLD");
	if (!real_malloc)
		resolve();
	if (getenv("ISOBATH_HEAP_DIR") && real_usable) {
		long n = text ? atol(text) : 4096;
		threshold = n > 0 ? (size_t)n : 1;
	}
}

EXPORT void *malloc(size_t n)
{
	if (__builtin_expect(!real_malloc, 0)) {
		resolve();
		if (!real_malloc)
			return early_alloc(n);
	}
	void *p = real_malloc(n);
	if (__builtin_expect(n >= threshold && p, 0))
		note(MALLOC, p, n, CALLER);
	return p;
}

EXPORT void free(void *p)
{
	if (!p || __builtin_expect(is_early(p), 0))
		return;
	if (__builtin_expect(!real_free, 0))
		return;
	if (__builtin_expect(threshold != SIZE_MAX, 1)) {
		size_t n = real_usable(p);
		if (__builtin_expect(n >= threshold, 0))
			note(FREE, p, n, 0);
	}
	real_free(p);
}

EXPORT void *calloc(size_t n, size_t size)
{
	if (__builtin_expect(!real_calloc, 0)) {
		if (!real_malloc)
			resolve();
		if (!real_calloc)
			return size && n > sizeof early / size ? 0 : early_alloc(n * size); /* static, so zero */
	}
	void *p = real_calloc(n, size);
	if (__builtin_expect(p && n * size >= threshold, 0))
		note(CALLOC, p, n * size, CALLER);
	return p;
}

static void *resize(void *p, size_t n, void *site)
{
	if (__builtin_expect(!real_realloc, 0))
		resolve();
	if (__builtin_expect(p && is_early(p), 0)) {
		void *q = malloc(n);
		size_t room = early + sizeof early - (char *)p;
		if (q)
			memcpy(q, p, n < room ? n : room);
		return q;
	}
	size_t old = p && threshold != SIZE_MAX ? real_usable(p) : 0;
	void *q = real_realloc(p, n);
	if (__builtin_expect(old && old >= threshold && (q || !n), 0))
		note(FREE, p, old, 0);
	if (__builtin_expect(q && n >= threshold, 0))
		note(REALLOC, q, n, site);
	return q;
}

EXPORT void *realloc(void *p, size_t n) { return resize(p, n, CALLER); }

EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size) {
		errno = ENOMEM;
		return 0;
	}
	return resize(p, n * size, CALLER);
}

EXPORT int posix_memalign(void **p, size_t align, size_t n)
{
	if (!real_posix_memalign)
		resolve();
	int err = real_posix_memalign(p, align, n);
	if (!err && n >= threshold)
		note(MEMALIGN, *p, n, CALLER);
	return err;
}

EXPORT void *memalign(size_t align, size_t n)
{
	if (!real_memalign)
		resolve();
	void *p = real_memalign(align, n);
	if (p && n >= threshold)
		note(MEMALIGN, p, n, CALLER);
	return p;
}

EXPORT void *aligned_alloc(size_t align, size_t n)
{
	if (!real_aligned_alloc)
		resolve();
	void *p = real_aligned_alloc(align, n);
	if (p && n >= threshold)
		note(MEMALIGN, p, n, CALLER);
	return p;
}

/* operator new: who called it matters more than that it called malloc. */
EXPORT void *_Znwm(size_t n)
{
	if (!real_new)
		resolve();
	if (LIKELY(n < threshold))
		return real_new(n);
	if (new_site) /* one form of new calls another */
		return real_new(n);
	new_site = CALLER;
	void *p = real_new(n);
	new_site = 0;
	return p;
}

EXPORT void *_Znam(size_t n)
{
	if (!real_new_array)
		resolve();
	if (LIKELY(n < threshold))
		return real_new_array(n);
	if (new_site) /* one form of new calls another */
		return real_new_array(n);
	new_site = CALLER;
	void *p = real_new_array(n);
	new_site = 0;
	return p;
}

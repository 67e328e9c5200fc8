/* Records the memory references of a region of a program under qemu-user.
 *
 * Compiled on demand. Debian ships no header for qemu's plugin interface, so
 * the few functions that are used are declared here (interface version 1; the
 * later versions keep them).
 *
 * Arguments: out=FILE start=HEX stop=HEX code=HEX after=0|1 limit=N thread=N
 * start and stop are link-time addresses of functions, code that of the
 * program's first executable byte. The file is mapped, so that nothing is lost
 * when the program dies: a page of head, the mappings as text, then records. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef API
#define API 1
#endif

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;
enum { CB_NO_REGS = 0 };
enum { MEM_RW = 3 };
typedef void (*tb_trans_cb)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*vcpu_cb)(unsigned int, void *);
typedef void (*mem_cb)(unsigned int, qemu_plugin_meminfo_t, uint64_t, void *);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, tb_trans_cb);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
#if API < 3
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
#else
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *, void *, size_t);
#endif
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, vcpu_cb, int, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, mem_cb, int, int, void *);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);
uint64_t qemu_plugin_start_code(void);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = API;

struct record {
	uint64_t addr, pc;
	uint32_t tid;
	uint16_t size;
	uint8_t op, pad;
};

/* The head of the file; the reader knows its layout. */
struct head {
	char magic[8];
	uint64_t bias, count, entered, left, full, instructions, maps;
};

enum { HEAD = 4096, MAPS = 1 << 20, CHUNK = 1 << 20, THREADS = 1024, DEPTH = 4096, FIRST = -1, ALL = -2 };
enum phase { WAITING, IN_START, INSIDE, OVER };

/* One thread: where it is, and the return addresses of its calls. */
struct thread {
	enum phase phase;
	uint32_t tid;
	unsigned depth, awaited; /* awaited: the depth whose return ends a phase */
	uint64_t calls[DEPTH];
};

static struct thread *threads[THREADS];
static struct head *head;
static struct record *chunk;
static int file;
static uint64_t start, stop, code, limit;
static bool after, placed;
static volatile bool done;
static int wanted = FIRST, owner = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct thread *self(unsigned vcpu)
{
	if (vcpu >= THREADS)
		return NULL;
	if (!threads[vcpu]) {
		threads[vcpu] = calloc(1, sizeof *threads[vcpu]);
		if (threads[vcpu])
			threads[vcpu]->tid = syscall(SYS_gettid);
	}
	return threads[vcpu];
}

/* next returns room for one record, or NULL at the limit. */
static struct record *next(void)
{
	uint64_t n = head->count;
	if (n == limit) {
		head->full = 1;
		done = true;
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
			head->full = 2; /* no room */
			done = true;
			return NULL;
		}
	}
	return &chunk[n % CHUNK];
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *pc)
{
	struct thread *t;
	if (done || vcpu >= THREADS || !(t = threads[vcpu]) || t->phase != INSIDE)
		return;
	pthread_mutex_lock(&lock);
	struct record *r = done ? NULL : next();
	if (r) {
		r->addr = addr;
		r->pc = (uint64_t)(uintptr_t)pc;
		r->tid = t->tid;
		r->size = 1u << qemu_plugin_mem_size_shift(info);
		r->op = qemu_plugin_mem_is_store(info);
		head->count++;
	}
	pthread_mutex_unlock(&lock);
}

static void finish(struct thread *t)
{
	head->left = 1;
	t->phase = OVER;
	if (wanted != ALL)
		done = true;
}

static void on_call(unsigned vcpu, void *back)
{
	struct thread *t = self(vcpu);
	if (!t)
		return;
	if (t->depth == DEPTH) { /* forget the outermost half */
		memmove(t->calls, t->calls + DEPTH / 2, sizeof t->calls / 2);
		t->depth -= DEPTH / 2;
		t->awaited = t->awaited > DEPTH / 2 ? t->awaited - DEPTH / 2 : 0;
	}
	t->calls[t->depth++] = (uint64_t)(uintptr_t)back;
}

/* A place to which calls return: drop what was left without returning. */
static void on_return(unsigned vcpu, void *here)
{
	struct thread *t = self(vcpu);
	if (!t)
		return;
	unsigned d = t->depth;
	while (d > 0 && t->calls[d - 1] != (uint64_t)(uintptr_t)here)
		d--;
	if (d == 0)
		return;
	t->depth = d - 1;
	if (t->awaited == 0 || t->depth >= t->awaited)
		return;
	if (t->phase == IN_START)
		t->phase = INSIDE;
	else if (t->phase == INSIDE && !after)
		finish(t);
	t->awaited = 0;
}

/* The mappings of the process name libraries: qemu maps the guest's files as
 * its own. They are kept in the second page and after, before any record. */
static void save_maps(void)
{
	int in = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char *to = (char *)head + HEAD;
	if (in < 0)
		return;
	for (ssize_t n; head->maps < MAPS && (n = read(in, to + head->maps, MAPS - head->maps)) > 0;)
		head->maps += n;
	close(in);
}

static void on_start(unsigned vcpu, void *unused)
{
	struct thread *t = self(vcpu);
	(void)unused;
	if (done || !t || t->phase == IN_START || t->phase == INSIDE)
		return;
	if (wanted >= 0 && wanted != (int)vcpu)
		return;
	if (wanted == FIRST && !__sync_bool_compare_and_swap(&owner, -1, (int)vcpu) && owner != (int)vcpu)
		return;
	if (!__sync_lock_test_and_set(&head->entered, 1))
		save_maps();
	t->awaited = t->depth;
	t->phase = after ? IN_START : INSIDE;
}

static void on_stop(unsigned vcpu, void *unused)
{
	struct thread *t = self(vcpu);
	(void)unused;
	if (t && t->phase == INSIDE)
		finish(t);
}

/* Where calls return to, as a set: seen when the call is translated, which is
 * before anything returns there. Translation is serialised by qemu. */
static uint64_t *returns;
static size_t returns_room, returns_used;

static bool is_return(uint64_t a)
{
	if (!returns_room)
		return false;
	for (size_t i = a * 0x9E3779B97F4A7C15u % returns_room;; i = (i + 1) % returns_room) {
		if (returns[i] == a)
			return true;
		if (!returns[i])
			return false;
	}
}

static void add_return(uint64_t a)
{
	if (returns_used * 2 >= returns_room) {
		size_t old = returns_room;
		uint64_t *all = returns;
		returns_room = old ? old * 2 : 4096;
		returns = calloc(returns_room, sizeof *returns);
		if (!returns)
			abort();
		returns_used = 0;
		for (size_t i = 0; i < old; i++)
			if (all[i])
				add_return(all[i]);
		free(all);
	}
	if (is_return(a))
		return;
	size_t i = a * 0x9E3779B97F4A7C15u % returns_room;
	while (returns[i])
		i = (i + 1) % returns_room;
	returns[i] = a;
	returns_used++;
}

/* is_call looks at the bytes of an x86-64 or AArch64 instruction. */
static bool is_call(const struct qemu_plugin_insn *insn)
{
	uint8_t b[16];
	size_t n = qemu_plugin_insn_size(insn), i = 0;
	if (n > sizeof b)
		return false;
#if API < 3
	memcpy(b, qemu_plugin_insn_data(insn), n);
#else
	qemu_plugin_insn_data(insn, b, n);
#endif
#ifdef GUEST_AARCH64
	uint32_t w;
	memcpy(&w, b, 4);
	return n == 4 && ((w & 0xfc000000) == 0x94000000 || (w & 0xfffffc1f) == 0xd63f0000 || (w & 0xfefff800) == 0xd63f0800);
#else
	while (i < n && (b[i] == 0x66 || b[i] == 0x67 || b[i] == 0xf2 || b[i] == 0xf3 || b[i] == 0x2e || b[i] == 0x3e || (b[i] & 0xf0) == 0x40))
		i++;
	if (i >= n)
		return false;
	return b[i] == 0xe8 || (b[i] == 0xff && i + 1 < n && (b[i + 1] >> 3 & 7) == 2);
#endif
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	if (done)
		return;
	if (!placed) {
		head->bias = qemu_plugin_start_code() - code;
		start += head->bias;
		stop += head->bias;
		placed = true;
	}
	size_t n = qemu_plugin_tb_n_insns(tb);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t pc = qemu_plugin_insn_vaddr(insn);
		/* Returning comes before entering: the place after a call may be both. */
		if (is_return(pc))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_return, CB_NO_REGS, (void *)(uintptr_t)pc);
		if (pc == start)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_start, CB_NO_REGS, NULL);
		if (after && pc == stop)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_stop, CB_NO_REGS, NULL);
		if (is_call(insn)) {
			uint64_t back = pc + qemu_plugin_insn_size(insn);
			add_return(back);
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_call, CB_NO_REGS, (void *)(uintptr_t)back);
		}
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, CB_NO_REGS, MEM_RW, (void *)(uintptr_t)pc);
	}
}

/* A child process must not write into its parent's file. */
static void in_child(void) { done = true; }

static uint64_t number(const char *arg, const char *name, int base, bool *found)
{
	size_t n = strlen(name);
	*found = strncmp(arg, name, n) == 0 && arg[n] == '=';
	return *found ? strtoull(arg + n + 1, NULL, base) : 0;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		bool ok;
		uint64_t v;
		if (strncmp(argv[i], "out=", 4) == 0)
			file = open(argv[i] + 4, O_RDWR | O_CLOEXEC);
		if ((v = number(argv[i], "start", 16, &ok)), ok)
			start = v;
		if ((v = number(argv[i], "stop", 16, &ok)), ok)
			stop = v;
		if ((v = number(argv[i], "code", 16, &ok)), ok)
			code = v;
		if ((v = number(argv[i], "limit", 10, &ok)), ok)
			limit = v;
		if ((v = number(argv[i], "after", 10, &ok)), ok)
			after = v != 0;
		if (strncmp(argv[i], "thread=", 7) == 0)
			wanted = atoi(argv[i] + 7);
	}
	if (file <= 0 || posix_fallocate(file, 0, HEAD + MAPS) != 0)
		return -1;
	/* Debuggers keep their own files away from those of the program. */
	int high = fcntl(file, F_DUPFD_CLOEXEC, 900);
	if (high >= 0) {
		close(file);
		file = high;
	}
	head = mmap(NULL, HEAD + MAPS, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (head == MAP_FAILED)
		return -1;
	memcpy(head->magic, "isorefs1", 8);
	pthread_atfork(NULL, NULL, in_child);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	return 0;
}

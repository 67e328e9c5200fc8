/* Records the memory references of a region of a program under qemu-user.
 *
 * Compiled on demand. Debian ships no header for qemu's plugin interface, so
 * the few functions that are used are declared here (interface version 1; the
 * later versions keep them).
 *
 * Arguments: out=FILE start=HEX stop=HEX code=HEX after=0|1 limit=N thread=N
 * flow=0|1 skip=N calls=N. start and stop are link-time addresses of functions,
 * code that of the program's first executable byte. pieces=LOW-HIGH… are a region
 * that is no function. A region in a library has module=, its path in hexadecimal
 * digits, and base=HEX, the lowest link-time address of it. */
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
typedef void (*vcpu_simple_cb)(qemu_plugin_id_t, unsigned int);
typedef void (*syscall_cb)(qemu_plugin_id_t, unsigned int, int64_t, int64_t);
typedef void (*end_cb)(qemu_plugin_id_t, void *);
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
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t, vcpu_simple_cb);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t, vcpu_simple_cb);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t, syscall_cb);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, end_cb, void *);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = API;

enum { THREADS = 1024, DEPTH = 4096 };

/* A block of code as it was translated. */
struct block {
	uint64_t start, end, last; /* last: its last instruction */
	uint32_t number;           /* from 1; 0 until a thread enters it */
};

/* One thread: where it is, the return addresses of its calls, and the block
 * that followed each block last time. */
struct thread {
	enum phase phase;
	uint32_t tid;
	bool enters;
	struct block *at;
	uint32_t *next, room;
	uint64_t expected;
	struct times times;
	/* awaited: the depth whose return ends a phase, or that of a call that is in
	 * the pieces of the region */
	unsigned depth, awaited;
	uint64_t calls[DEPTH];
};

static struct thread *threads[THREADS];
static uint64_t code, base;
static bool placed, flow;
static char module[4096]; /* the library of the region; empty if it is in the program */
static volatile bool mapped; /* memory was mapped since the library was looked for */

/* The pieces of the region, by link-time addresses; what is added to them. */
static struct span {
	uint64_t low, high;
} pieces[512];
static unsigned n_pieces;
static uint64_t region_bias;

static bool within(uint64_t pc)
{
	pc -= region_bias;
	for (unsigned i = 0; i < n_pieces; i++)
		if (pc >= pieces[i].low && pc < pieces[i].high)
			return true;
	return false;
}

static struct thread *self(unsigned vcpu)
{
	if (vcpu >= THREADS)
		return NULL;
	if (!threads[vcpu]) {
		threads[vcpu] = calloc(1, sizeof *threads[vcpu]);
		if (threads[vcpu]) {
			threads[vcpu]->tid = syscall(SYS_gettid);
			/* What the region starts is part of it. */
			if (active && wanted == ALL && vcpu > 0 && threads[0] && threads[0]->phase == INSIDE)
				threads[vcpu]->phase = INSIDE;
		}
	}
	return threads[vcpu];
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *pc)
{
	struct thread *t;
	if (active && vcpu < THREADS && (t = threads[vcpu]) && t->phase == INSIDE)
		keep(addr, (uint64_t)(uintptr_t)pc, t->tid, (size_t)1 << qemu_plugin_mem_size_shift(info), qemu_plugin_mem_is_store(info), t->enters);
	else
		return;
	t->enters = false;
}

static void event(struct thread *t, uint64_t number)
{
	keep(t->expected, number, t->tid, 0, IS_EVENT, false);
	t->expected = 0;
}

/* The number of no block ends a thread's flow. */
static void end_flow(struct thread *t)
{
	if (t->at)
		event(t, 0);
	t->at = NULL;
}

/* Numbers a block when it is entered for the first time. */
static void define(struct block *b)
{
	static uint32_t blocks;
	pthread_mutex_lock(&lock);
	uint32_t known = b->number;
	if (!known)
		b->number = ++blocks;
	pthread_mutex_unlock(&lock);
	if (!known)
		keep(b->start, b->end, b->number, 0, IS_BLOCK, false);
}

static bool widen(struct thread *t, uint32_t number)
{
	uint32_t room = t->room ? t->room : 4096;
	while (room <= number)
		room *= 2;
	uint32_t *next = realloc(t->next, room * sizeof *next);
	if (!next)
		return false;
	memset(next + t->room, 0, (room - t->room) * sizeof *next);
	t->next = next;
	t->room = room;
	return true;
}

static void on_block(unsigned vcpu, void *block)
{
	struct thread *t = active ? self(vcpu) : NULL;
	struct block *b = block;
	if (!t || t->phase != INSIDE)
		return;
	if (t->at && t->at->last == b->start)
		return; /* a string instruction goes round */
	if (!b->number)
		define(b);
	t->enters = true;
	if (t->at && t->at->number < t->room && t->next[t->at->number] == b->number) {
		t->expected++;
		t->at = b;
		return;
	}
	if (t->at && (t->at->number < t->room || widen(t, t->at->number)))
		t->next[t->at->number] = b->number;
	event(t, b->number);
	t->at = b;
}

static void finish(struct thread *t)
{
	end_flow(t); /* while it may still be recorded */
	t->phase = left_region(&t->times);
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
	if (n_pieces || t->awaited == 0 || t->depth >= t->awaited)
		return;
	if (t->phase == IN_START)
		t->phase = INSIDE;
	else if (t->phase == SKIPPED && !after)
		t->phase = WAITING;
	else if (t->phase == INSIDE && !after)
		finish(t);
	t->awaited = 0;
}

/* A block may be translated before the call that returns to it, as the test of a
 * loop is whose last step is a call. What begins it is asked every time. */
static void on_first(unsigned vcpu, void *here)
{
	const struct thread *t = vcpu < THREADS ? threads[vcpu] : NULL;
	if (t && t->depth > 0 && t->calls[t->depth - 1] == (uint64_t)(uintptr_t)here)
		on_return(vcpu, here);
}

static void on_start(unsigned vcpu, void *unused)
{
	struct thread *t = self(vcpu);
	(void)unused;
	if (!active || !t || t->phase != WAITING)
		return;
	t->phase = enter(vcpu, &t->times);
	if (t->phase != WAITING)
		t->awaited = t->depth;
}

/* Outside of the pieces, the same call has left them, or one further out goes on. */
static void on_outside(unsigned vcpu, void *unused)
{
	struct thread *t = vcpu < THREADS ? threads[vcpu] : NULL;
	(void)unused;
	if (!t || (t->phase != INSIDE && t->phase != SKIPPED) || t->depth > t->awaited)
		return;
	if (t->phase == SKIPPED)
		t->phase = WAITING;
	else
		finish(t);
}

static void on_stop(unsigned vcpu, void *unused)
{
	struct thread *t = self(vcpu);
	(void)unused;
	if (t && t->phase == INSIDE)
		finish(t);
	else if (t && t->phase == SKIPPED)
		t->phase = WAITING;
}

/* The file of the region is in the emulator's own mappings too if that uses the
 * same library: what counts is where code is translated. Mappings of one file from
 * its beginning on are one copy of it. */
enum { COPIES = 16 };
static struct span copies[COPIES];
static unsigned n_copies;

static void find_copies(void)
{
	char line[4096 + 128];
	FILE *in = fopen("/proc/self/maps", "re");
	n_copies = 0;
	while (in && fgets(line, sizeof line, in)) {
		uint64_t low, high, offset;
		int path = 0;
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &low, &high, &offset, &path) < 3 || !path)
			continue;
		size_t n = strcspn(line, "\n"), used = strlen(unloaded);
		line[n] = 0;
		if (strcmp(line + path, module) != 0)
			continue;
		if (!strstr(unloaded, line) && used + n + 2 <= sizeof unloaded) {
			memcpy(unloaded + used, line, n);
			memcpy(unloaded + used + n, "\n", 2);
		}
		if (offset == 0 && n_copies < COPIES)
			copies[n_copies++] = (struct span){low, high};
		else if (n_copies)
			copies[n_copies - 1].high = high;
	}
	if (in)
		fclose(in);
}

/* Places the region when code of its library is translated. */
static void place_library(uint64_t pc)
{
	if (mapped) {
		mapped = false;
		find_copies();
	}
	for (unsigned i = 0; i < n_copies; i++)
		if (pc >= copies[i].low && pc < copies[i].high) {
			uint64_t bias = copies[i].low - base;
			start += bias - region_bias;
			stop += bias - region_bias;
			region_bias = bias;
			return;
		}
}

static void on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result)
{
#ifdef GUEST_AARCH64
	enum { MMAP = 222 };
#else
	enum { MMAP = 9 };
#endif
	(void)id, (void)vcpu, (void)result;
	if (number == MMAP)
		mapped = true;
}

/* Where calls return to, as a set: seen when the call is translated. Translation
 * is serialised by qemu. */
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

/* Blocks by where they start and end: code is translated again now and then. */
static struct block **known;
static size_t known_room, known_used;

static struct block **slot(uint64_t from, uint64_t to)
{
	size_t i = (from * 0x9E3779B97F4A7C15u ^ to) % known_room;
	while (known[i] && (known[i]->start != from || known[i]->end != to))
		i = (i + 1) % known_room;
	return &known[i];
}

static void more_blocks(void)
{
	size_t old = known_room;
	struct block **all = known;
	known_room = old ? old * 2 : 4096;
	known = calloc(known_room, sizeof *known);
	if (!known)
		abort();
	for (size_t i = 0; i < old; i++)
		if (all[i])
			*slot(all[i]->start, all[i]->end) = all[i];
	free(all);
}

static struct block *block_of(const struct qemu_plugin_tb *tb, size_t n)
{
	if (n == 0)
		return NULL;
	const struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n - 1);
	uint64_t from = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
	uint64_t to = qemu_plugin_insn_vaddr(last) + qemu_plugin_insn_size(last);
	if (known_used * 2 >= known_room)
		more_blocks();
	struct block **at = slot(from, to);
	if (!*at) {
		*at = calloc(1, sizeof **at);
		if (!*at)
			return NULL;
		**at = (struct block){from, to, qemu_plugin_insn_vaddr(last), 0};
		known_used++;
	}
	return *at;
}

/* A number of a processor is used again when its thread has ended. */
static void on_thread(qemu_plugin_id_t id, unsigned vcpu)
{
	(void)id;
	if (vcpu >= THREADS || !threads[vcpu])
		return;
	end_flow(threads[vcpu]);
	free(threads[vcpu]->next);
	free(threads[vcpu]);
	threads[vcpu] = NULL;
	/* A later thread may get the number, and is another one. */
	if (wanted == (int)vcpu || (wanted == FIRST && owner == (int)vcpu))
		active = false;
}

static void on_end(qemu_plugin_id_t id, void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < THREADS; i++)
		if (threads[i])
			end_flow(threads[i]);
	(void)id;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	if (!active)
		return;
	if (!placed) {
		head->bias = qemu_plugin_start_code() - code;
		if (!*module) {
			start += head->bias;
			stop += head->bias;
			region_bias = head->bias;
		}
		placed = true;
	}
	size_t n = qemu_plugin_tb_n_insns(tb);
	if (*module && n > 0)
		place_library(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)));
	bool was_within = true; /* the first may be jumped to */
	struct block *b = flow ? block_of(tb, n) : NULL;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t pc = qemu_plugin_insn_vaddr(insn);
		/* Returning and leaving come before entering: a place may be both. */
		if (is_return(pc))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_return, CB_NO_REGS, (void *)(uintptr_t)pc);
		else if (i == 0)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_first, CB_NO_REGS, (void *)(uintptr_t)pc);
		if (after && pc == stop)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_stop, CB_NO_REGS, NULL);
		bool in = n_pieces && within(pc);
		if (n_pieces && !in && was_within)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_outside, CB_NO_REGS, NULL);
		was_within = in;
		if (n_pieces ? in : pc == start)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_start, CB_NO_REGS, NULL);
		if (i == 0 && b)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_block, CB_NO_REGS, b);
		if (is_call(insn)) {
			uint64_t back = pc + qemu_plugin_insn_size(insn);
			add_return(back);
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_call, CB_NO_REGS, (void *)(uintptr_t)back);
		}
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, CB_NO_REGS, MEM_RW, (void *)(uintptr_t)pc);
	}
}

static void read_module(const char *digits)
{
	size_t n = 0;
	for (unsigned c; n < sizeof module - 1 && sscanf(digits + 2 * n, "%2x", &c) == 1; n++)
		module[n] = (char)c;
	module[n] = 0;
}

static void read_pieces(const char *text)
{
	struct span s;
	for (int n; n_pieces < sizeof pieces / sizeof *pieces && sscanf(text, "%lx-%lx%n", &s.low, &s.high, &n) == 2; text += n) {
		pieces[n_pieces++] = s;
		n += text[n] == ':';
	}
}

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
		if ((v = number(argv[i], "flow", 10, &ok)), ok)
			flow = v != 0;
		if ((v = number(argv[i], "skip", 10, &ok)), ok)
			skip = v;
		if ((v = number(argv[i], "calls", 10, &ok)), ok)
			calls = v;
		if ((v = number(argv[i], "base", 16, &ok)), ok)
			base = v;
		if (strncmp(argv[i], "module=", 7) == 0)
			read_module(argv[i] + 7);
		if (strncmp(argv[i], "pieces=", 7) == 0)
			read_pieces(argv[i] + 7);
		if (strncmp(argv[i], "thread=", 7) == 0)
			wanted = atoi(argv[i] + 7);
	}
	/* Debuggers keep their own files away from those of the program. */
	int high = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 900);
	if (high >= 0) {
		close(file);
		file = high;
	}
	if (!begin())
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_vcpu_init_cb(id, on_thread);
	qemu_plugin_register_vcpu_exit_cb(id, on_thread);
	qemu_plugin_register_atexit_cb(id, on_end, NULL);
	if (*module)
		qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall);
	return 0;
}

/* Records the messages of an MPI process. Compiled on demand with the user's
 * mpicc and preloaded into every process; the wrappers of MPI's functions
 * follow this text and are made from a table.
 *
 * Events go to a window of 1 MiB that is mapped from the process's own file:
 * memory is bounded, and a crash loses nothing. Moving the window on is
 * recorded as a flush. A record is 16 bytes, or 40 with the second part; a zero
 * ends a window. Threads write to the same window in turn: a record says whose
 * the next ones are. The layout is known to convert.go. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WINDOW = 1 << 20, NONE = -1 };

/* Kinds of records. */
enum {
	END = 0, ENTER, LEAVE, SEND, ISEND, ISEND_DONE, RECV_POSTED, RECV, IRECV, TESTED, CANCELLED,
	COLL_BEGIN, COLL_END, NBC_REQUEST, NBC_GOT, NBC_DONE, FLUSH, COMM, MEMBERS, COMM_FREED,
	WIN, WIN_FREED, RMA_BEGIN, RMA_END, RMA_PUT, RMA_GET, RMA_GOT, RMA_ATOMIC, RMA_DONE, RMA_LOCK, RMA_UNLOCK, RMA_SYNC,
	FILE_NAME, FILE_OPENED, FILE_CLOSED, FILE_DELETED, FILE_SEEK, IO_BEGIN, IO_ISSUED, IO_DONE,
	SITE, GROUP, EPOCH, NEAR, THREAD, READY
};

struct head {
	uint64_t time;
	uint8_t kind, op;
	uint16_t count; /* MEMBERS, GROUP, FILE_NAME: how many ranks or bytes the second part holds; ENTER: where the call came from */
	uint32_t a;     /* region, peer, root, or size of a communicator */
};

struct tail {
	uint32_t comm;
	int32_t tag;
	uint64_t len; /* bytes, bytes sent by a collective, or ns without a processor */
	uint64_t req; /* request, key of a communicator, or bytes received */
};

struct file_head {
	char magic[8];
	uint32_t rank, size;
	uint64_t origin;     /* clock when the process started */
	uint64_t realtime;   /* the same moment since 1970 */
	int64_t time[2], offset[2]; /* clock of rank 0 minus ours at two times */
	uint64_t missed;     /* calls of more threads than are recorded */
	uint64_t windows;    /* windows begun */
	uint32_t complete, pid;
	char host[128];
};

static struct file_head *about;
static char *window, *pos, *limit;
static int file = -1;
static int64_t skew;      /* tests pretend that clocks differ */
static __thread int depth; /* inside a wrapper: what MPI calls itself is not recorded */
static int recording;
static int multiple;      /* several threads may call */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static __thread uint32_t thread; /* number of the caller, from 1 on; 0 until it calls */
static uint32_t threads, writing; /* how many have called; whose records are being written */
enum { THREADS = 1 << 12 };
static uint64_t next_request = 1;

static inline uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + t.tv_nsec + skew;
}

/* move maps the next window. */
static int move(uint64_t n)
{
	if (window)
		munmap(window, WINDOW);
	window = NULL;
	/* Room that is only promised would end the program when it runs out. */
	if (posix_fallocate(file, (off_t)n * WINDOW, WINDOW) != 0)
		return -1;
	window = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)n * WINDOW);
	if (window == MAP_FAILED) {
		window = NULL;
		return -1;
	}
	pos = window;
	limit = window + WINDOW - sizeof(struct head); /* room for the end */
	return 0;
}

static void flush(void)
{
	if (!recording) /* and there may be no window */
		return;
	uint64_t begin = now();
	memset(pos, 0, window + WINDOW - pos);
	if (move(about->windows) != 0) { /* the disk is full: keep what there is */
		recording = 0;
		return;
	}
	about->windows++;
	struct head *h = (struct head *)pos;
	struct tail *t = (struct tail *)(h + 1);
	*h = (struct head){begin, FLUSH, 0, 0, 0};
	*t = (struct tail){0, 0, now(), 0};
	pos += sizeof *h + sizeof *t;
}

static inline void put_at(uint64_t time, int kind, uint32_t a)
{
	if (recording && pos + sizeof(struct head) > limit)
		flush();
	if (!recording)
		return;
	*(struct head *)pos = (struct head){time, kind, 0, 0, a};
	pos += sizeof(struct head);
}

static inline void put(int kind, uint32_t a) { put_at(now(), kind, a); }

static inline void put_long(int kind, int op, uint32_t a, uint32_t comm, int tag, uint64_t len, uint64_t req)
{
	if (recording && pos + sizeof(struct head) + sizeof(struct tail) > limit)
		flush();
	if (!recording)
		return;
	*(struct head *)pos = (struct head){now(), kind, op, 0, a};
	*(struct tail *)(pos + sizeof(struct head)) = (struct tail){comm, tag, len, req};
	pos += sizeof(struct head) + sizeof(struct tail);
}

/* --- waiting for a processor --- */

/* The kernel counts how long a thread was ready to run while others had the
 * processors. It is asked for after LONG ns in or between calls: then asking takes
 * a share of a percent, and what is shorter explains no delay. */
enum { LONG = 1000000, LEAST = 50000 };
static __thread struct {
	uint64_t since;  /* its last entry or exit */
	uint64_t unread; /* time since the count was read, in stretches too short to ask */
	uint64_t count;  /* as it was read */
	int known, silent;
} ready;

/* ready_count reads the kernel's count; -1 if it has none. Raw calls, because
 * those of the library are points at which a thread may be cancelled. */
static int64_t ready_count(void)
{
	char text[96];
	int kept = errno;
	int f = syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	ssize_t n = f < 0 ? -1 : syscall(SYS_read, f, text, sizeof text - 1);
	if (f >= 0)
		syscall(SYS_close, f);
	errno = kept;
	if (n <= 0)
		return -1;
	text[n] = 0;
	const char *second = strchr(text, ' '); /* after the time on a processor */
	return second ? strtoll(second, NULL, 10) : -1;
}

/* note_ready writes for how long the caller was ready without a processor since its
 * last entry or exit, at least: the stretches that were not read may have had all
 * of their own. */
static void note_ready(uint64_t time)
{
	int64_t count = ready_count();
	if (count < 0) {
		ready.silent = 1;
		return;
	}
	uint64_t more = (uint64_t)count - ready.count;
	if (ready.known && (uint64_t)count > ready.count && more > ready.unread + LEAST) {
		put_long(READY, 0, 0, 0, 0, more - ready.unread, 0);
		if (recording) /* it belongs to the entry or exit that follows */
			((struct head *)(pos - sizeof(struct head) - sizeof(struct tail)))->time = time;
	}
	ready.count = count;
	ready.known = 1;
	ready.unread = 0;
}

/* edge is the time of an entry or exit, with what is known of the time before. */
static inline uint64_t edge(void)
{
	uint64_t time = now(), passed = time - ready.since;
	ready.since = time;
	if (passed < LONG)
		ready.unread += passed;
	else if (!ready.silent)
		note_ready(time);
	return time;
}

/* --- call sites --- */

enum { SITES = 1 << 13 };
static struct { const void *pc; uint16_t id; } sites[SITES];
static uint16_t nsites;

/* site numbers the place a call returns to, 0 if there are too many. The first
 * time its address is written; names are found after the run. */
static inline uint16_t site(const void *pc)
{
	unsigned i = ((uint64_t)(uintptr_t)pc * 0x9E3779B97F4A7C15u) >> 51;
	for (int n = 0; n < 16; n++, i = (i + 1) % SITES) {
		if (sites[i].pc == pc)
			return sites[i].id;
		if (sites[i].pc)
			continue;
		if (nsites == UINT16_MAX)
			return 0;
		sites[i].pc = pc;
		sites[i].id = ++nsites;
		put_long(SITE, 0, nsites, 0, 0, (uint64_t)(uintptr_t)pc, 0);
		return nsites;
	}
	return 0;
}

/* keep_maps copies where files are mapped, so that addresses can be named. */
static void keep_maps(const char *dir)
{
	char path[4096], text[1 << 14];
	snprintf(path, sizeof path, "%s/maps.%d", dir, about->rank);
	int in = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t n;
	while (in >= 0 && out >= 0 && (n = read(in, text, sizeof text)) > 0)
		if (write(out, text, n) != n)
			break;
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
}

/* take gives the caller its turn: tables and window belong to one thread at a
 * time, never while it is inside MPI. It reports whether its calls are recorded. */
static inline int take(void)
{
	if (!multiple)
		return 1;
	pthread_mutex_lock(&turn);
	if (!thread)
		thread = ++threads;
	if (thread > THREADS)
		return 0;
	if (thread != writing && recording) {
		writing = thread;
		put(THREAD, thread - 1);
	}
	return 1;
}

static inline void give(void)
{
	if (multiple)
		pthread_mutex_unlock(&turn);
}

/* begin reports whether a call is to be recorded, and notes its entry and where
 * it came from. If so, the caller has its turn and gives it up before it calls
 * MPI; it takes it again when it is back, until the end. */
static inline int begin(uint32_t region, const void *pc)
{
	if (!recording || depth > 0)
		return 0;
	if (!take()) {
		about->missed++;
		give();
		return 0;
	}
	depth++;
	uint16_t from = site(pc);
	put_at(edge(), ENTER, region);
	if (recording)
		((struct head *)(pos - sizeof(struct head)))->count = from;
	return 1;
}

static inline void end(uint32_t region)
{
	put_at(edge(), LEAVE, region);
	depth--;
	give();
}

static inline uint64_t bytes(MPI_Count n, MPI_Datatype type)
{
	static MPI_Datatype last = MPI_DATATYPE_NULL;
	static int size;
	if (type == MPI_DATATYPE_NULL || n <= 0)
		return 0;
	if (type != last) {
		PMPI_Type_size(type, &size);
		/* Only the predefined types keep their handle for ever. */
		last = type == MPI_BYTE || type == MPI_CHAR || type == MPI_INT || type == MPI_DOUBLE || type == MPI_FLOAT ? type : MPI_DATATYPE_NULL;
	}
	return (uint64_t)n * size;
}

/* total adds up counts, which are of one of two sizes. */
static uint64_t total_of(const void *counts, size_t size, int n, MPI_Datatype type)
{
	uint64_t sum = 0;
	for (int i = 0; counts && i < n; i++)
		sum += size == sizeof(int) ? (uint64_t)((const int *)counts)[i] : (uint64_t)((const MPI_Count *)counts)[i];
	return bytes(sum, type);
}
#define total(counts, n, type) total_of(counts, sizeof *(counts), n, type)

/* --- communicators --- */

struct comm {
	MPI_Comm handle;
	uint64_t key, base;
	int live, size, rank, inter, remote;
	int to, from; /* groups of the neighbours, once they are known */
};

static struct comm *comms;
static int ncomms, room_comms;
static int *world_of;        /* scratch: world ranks of a group */
static int world_size, world_rank;

static uint64_t mix(uint64_t h, uint64_t v)
{
	h ^= v + 0x9E3779B97F4A7C15u + (h << 6) + (h >> 2);
	h *= 0xBF58476D1CE4E5B9u;
	return h ^ h >> 31;
}

static int comm_id(MPI_Comm c)
{
	static int last;
	if (last < ncomms && comms[last].live && comms[last].handle == c)
		return last;
	for (int i = ncomms - 1; i >= 0; i--)
		if (comms[i].live && comms[i].handle == c)
			return last = i;
	return 0; /* made behind our back, as by a library with PMPI */
}

/* list writes world ranks, six to a record. */
static void list(int kind, int id, int side, const int *ranks, int n)
{
	for (int i = 0; i < n; i += 6) {
		int k = n - i < 6 ? n - i : 6;
		if (pos + 40 > limit)
			flush();
		if (!recording)
			return;
		struct head *h = (struct head *)pos;
		*h = (struct head){now(), kind, side, k, id};
		memcpy(h + 1, ranks + i, k * sizeof *ranks);
		pos += 40;
	}
}

static uint64_t group_hash(MPI_Group g, MPI_Group world, int n, uint64_t h)
{
	int *in = calloc(n + 1, sizeof *in);
	for (int i = 0; i < n; i++)
		in[i] = i;
	PMPI_Group_translate_ranks(g, n, in, world, world_of);
	free(in);
	for (int i = 0; i < n; i++)
		h = mix(h, world_of[i]);
	return h;
}

/* add_comm notes a new communicator. Its key is the same on all its members
 * without asking them: the parent's key, the members, and how many of that kind
 * there were before; all members make them in the same order. */
static void add_comm(MPI_Comm c, int parent)
{
	if (c == MPI_COMM_NULL || !recording)
		return;
	if (ncomms == room_comms) {
		room_comms = room_comms ? 2 * room_comms : 64;
		comms = realloc(comms, room_comms * sizeof *comms);
	}
	int id = ncomms++;
	struct comm *k = &comms[id];
	memset(k, 0, sizeof *k);
	k->handle = c;
	k->live = 1;
	k->to = k->from = NONE;
	PMPI_Comm_size(c, &k->size);
	PMPI_Comm_rank(c, &k->rank);
	PMPI_Comm_test_inter(c, &k->inter);
	if (k->size > world_size) {
		k->live = 0; /* spawned processes: not one of ours */
		return;
	}
	MPI_Group world, g, r = MPI_GROUP_NULL;
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Comm_group(c, &g);
	uint64_t h = group_hash(g, world, k->size, parent >= 0 ? comms[parent].key : 1);
	if (k->inter) { /* both sides must get the same key */
		PMPI_Comm_remote_size(c, &k->remote);
		PMPI_Comm_remote_group(c, &r);
		uint64_t local = group_hash(g, world, k->size, 1);
		h = local + group_hash(r, world, k->remote, 1);
	}
	k->base = h;
	int before = 0;
	for (int i = 0; i < id; i++)
		before += comms[i].base == h;
	k->key = mix(h, before);
	int self = k->size == 1 && !k->inter && parent < 0;
	put_long(COMM, k->inter | self << 1, k->size, id, parent, k->remote, k->key);
	/* One member writes who they are. */
	if (k->rank == 0 && !self) {
		group_hash(g, world, k->size, 0);
		list(MEMBERS, id, 0, world_of, k->size);
		if (k->inter) {
			group_hash(r, world, k->remote, 0);
			list(MEMBERS, id, 1, world_of, k->remote);
		}
	}
	PMPI_Group_free(&g);
	PMPI_Group_free(&world);
	if (r != MPI_GROUP_NULL)
		PMPI_Group_free(&r);
}

static void drop_comm(int id)
{
	if (id > 1) {
		comms[id].live = 0;
		put(COMM_FREED, id);
	}
}

/* --- groups: who a call waits for where OTF2 names nobody --- */

enum { GROUPS = 1 << 12, UNKNOWN = 0 };
static struct { uint64_t hash; } groups[GROUPS];
static int ngroups;

/* numbered is the number of a list of world ranks, from 1 on; UNKNOWN if there
 * are too many lists. The first time its members are written. */
static int numbered(const int *ranks, int n)
{
	uint64_t h = mix(17, n);
	for (int i = 0; i < n; i++)
		h = mix(h, ranks[i]);
	for (int i = 0; i < ngroups; i++)
		if (groups[i].hash == h)
			return i + 1;
	if (ngroups == GROUPS)
		return UNKNOWN;
	groups[ngroups++].hash = h;
	list(GROUP, ngroups, 0, ranks, n);
	return ngroups;
}

/* translated gives world ranks for ranks of a group; those of nobody are left
 * out. It returns how many there are. */
static int translated(MPI_Group g, const int *in, int n, int *out)
{
	MPI_Group world;
	int k = 0;
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	for (int i = 0; i < n; i++) {
		int r = MPI_UNDEFINED;
		if (in[i] >= 0)
			PMPI_Group_translate_ranks(g, 1, &in[i], world, &r);
		if (r >= 0)
			out[k++] = r;
	}
	PMPI_Group_free(&world);
	return k;
}

static int group_id(MPI_Group g)
{
	int n = 0;
	PMPI_Group_size(g, &n);
	int *ranks = calloc(2 * n + 1, sizeof *ranks);
	for (int i = 0; i < n; i++)
		ranks[i] = i;
	int id = numbered(ranks + n, translated(g, ranks, n, ranks + n));
	free(ranks);
	return id;
}

/* neighbours lists who a member of a communicator sends to (from = 0) or
 * receives from, as its topology says; the caller frees it. */
static int *neighbours(MPI_Comm c, int from, int *n)
{
	int kind = MPI_UNDEFINED, dims = 0, in = 0, out = 0, weighted, *list = NULL;
	*n = 0;
	PMPI_Topo_test(c, &kind);
	if (kind == MPI_CART) {
		PMPI_Cartdim_get(c, &dims);
		list = calloc(2 * dims + 1, sizeof *list);
		for (int d = 0; d < dims; d++, *n += 2)
			PMPI_Cart_shift(c, d, 1, &list[2 * d], &list[2 * d + 1]);
	} else if (kind == MPI_GRAPH) {
		PMPI_Graph_neighbors_count(c, comms[comm_id(c)].rank, n);
		list = calloc(*n + 1, sizeof *list);
		PMPI_Graph_neighbors(c, comms[comm_id(c)].rank, *n, list);
	} else if (kind == MPI_DIST_GRAPH) {
		PMPI_Dist_graph_neighbors_count(c, &in, &out, &weighted);
		int *weights = calloc(in + out + 1, sizeof *weights), *others = calloc(in + out + 1, sizeof *others);
		list = calloc(in + out + 1, sizeof *list);
		PMPI_Dist_graph_neighbors(c, in, from ? list : others, weights, out, from ? others : list, weights + in);
		*n = from ? in : out;
		free(weights);
		free(others);
	}
	return list;
}

static int near(MPI_Comm c, int from)
{
	struct comm *k = &comms[comm_id(c)];
	int *known = from ? &k->from : &k->to, n;
	if (*known != NONE || k->handle != c)
		return *known;
	int *ranks = neighbours(c, from, &n), *world = calloc(n + 1, sizeof *world);
	MPI_Group g;
	PMPI_Comm_group(c, &g);
	*known = numbered(world, translated(g, ranks, n, world));
	PMPI_Group_free(&g);
	free(ranks);
	free(world);
	return *known;
}

/* near_sent and near_got tell of the two sides of a collective of neighbours. */
static void near_sent(MPI_Comm c)
{
	if (near(c, 0) > 0)
		put_long(NEAR, 0, near(c, 0), 0, 0, 0, 0);
}

static inline void near_got(int group)
{
	if (group > 0)
		put_long(NEAR, 1, group, 0, 0, 0, 0);
}

/* --- requests --- */

/* R_BOTH is a send and a receive in one (id and len are their numbers), R_PARTS a
 * receive in parts. R_RMA and R_FILE have a window or a file in place of a
 * communicator, R_NEAR the group that is received from. */
enum { R_SEND = 1, R_RECV, R_COLL, R_COMM, R_BOTH, R_PARTS, R_RMA, R_FILE, R_NEAR };

static void rma_done(int win, uint64_t id);

struct request {
	MPI_Request handle;
	uint64_t id, len, len2;
	int next, kind, op, comm, peer, tag, persistent, active, cancelled;
	MPI_Comm *made;
	MPI_Fint *made_f; /* the same in Fortran */
};

enum { BUCKETS = 1 << 14 };
static struct request *requests;
static int nrequests, room_requests, spare = NONE;
static int bucket[BUCKETS];

static unsigned slot(MPI_Request h)
{
	return ((uint64_t)(uintptr_t)h * 0x9E3779B97F4A7C15u) >> 50;
}

/* Libraries give the same handle to several sends that are already done, so
 * equal handles queue up, oldest first. */
static struct request *add_request(MPI_Request h)
{
	int i = spare;
	if (i != NONE)
		spare = requests[i].next;
	else {
		if (nrequests == room_requests) {
			room_requests = room_requests ? 2 * room_requests : 1024;
			requests = realloc(requests, room_requests * sizeof *requests);
		}
		i = nrequests++;
	}
	memset(&requests[i], 0, sizeof requests[i]);
	requests[i].handle = h;
	requests[i].next = NONE;
	int *at = &bucket[slot(h)];
	while (*at != NONE)
		at = &requests[*at].next;
	*at = i;
	return &requests[i];
}

static struct request *find_request(MPI_Request h)
{
	if (h == MPI_REQUEST_NULL)
		return NULL;
	for (int i = bucket[slot(h)]; i != NONE; i = requests[i].next)
		if (requests[i].handle == h)
			return &requests[i];
	return NULL;
}

static void drop_request(struct request *r)
{
	int i = r - requests;
	for (int *at = &bucket[slot(r->handle)]; *at != NONE; at = &requests[*at].next)
		if (*at == i) {
			*at = r->next;
			r->next = spare;
			spare = i;
			return;
		}
}

static uint64_t received(MPI_Status *st)
{
	int n = 0;
	PMPI_Get_count(st, MPI_BYTE, &n);
	return n < 0 ? 0 : n;
}

static inline void note_send(int dest, int tag, MPI_Comm c, uint64_t len)
{
	if (dest >= 0)
		put_long(SEND, 0, dest, comm_id(c), tag, len, 0);
}

static inline void note_recv(MPI_Status *st, MPI_Comm c)
{
	if (st->MPI_SOURCE >= 0)
		put_long(RECV, 0, st->MPI_SOURCE, comm_id(c), st->MPI_TAG, received(st), 0);
}

/* issue records the start of a send before the call; the handle comes later. */
static inline uint64_t issue(int dest, int tag, MPI_Comm c, uint64_t len)
{
	if (dest < 0)
		return 0;
	uint64_t id = next_request++;
	put_long(ISEND, 0, dest, comm_id(c), tag, len, id);
	return id;
}

static void opened(MPI_Request h, int kind, uint64_t id, MPI_Comm c)
{
	if (id == 0 || h == MPI_REQUEST_NULL)
		return;
	struct request *r = add_request(h);
	r->kind = kind;
	r->id = id;
	r->active = 1;
	r->comm = comm_id(c);
}

static void opened_near(MPI_Request h, MPI_Comm c)
{
	opened(h, R_NEAR, next_request++, c);
	struct request *r = find_request(h);
	if (r)
		r->comm = near(c, 1);
}

static inline void opened_both(MPI_Request h, uint64_t sent, uint64_t posted, MPI_Comm c, int source, int tag, uint64_t room)
{
	opened(h, sent && posted ? R_BOTH : sent ? R_SEND : R_RECV, sent ? sent : posted, c);
	struct request *r = find_request(h);
	if (!r || !sent || !posted)
		return;
	r->len = posted;
	r->len2 = room;
	r->peer = source;
	r->tag = tag;
}

/* both_done records the ends of a send and a receive. MPICH 4.0 leaves the status
 * of such a pair as it was, so what is known already is not taken from it. */
static void both_done(struct request *r, MPI_Status *st)
{
	int source = r->peer == MPI_ANY_SOURCE ? st->MPI_SOURCE : r->peer;
	int tag = r->tag == MPI_ANY_TAG ? st->MPI_TAG : r->tag;
	uint64_t n = received(st);
	put_long(ISEND_DONE, 0, 0, 0, 0, 0, r->id);
	put_long(IRECV, 0, source, r->comm, tag, n > r->len2 || st->MPI_TAG != tag ? r->len2 : n, r->len);
}

static uint64_t post_recv(int source)
{
	if (source == MPI_PROC_NULL)
		return 0;
	uint64_t id = next_request++;
	put_long(RECV_POSTED, 0, 0, 0, 0, 0, id);
	return id;
}

static void keep_persistent(MPI_Request h, int kind, int peer, int tag, MPI_Comm c, uint64_t len)
{
	if (peer == MPI_PROC_NULL)
		return;
	struct request *r = add_request(h);
	r->kind = kind;
	r->persistent = 1;
	r->peer = peer;
	r->tag = tag;
	r->comm = comm_id(c);
	r->len = len;
}

static inline void keep_collective(MPI_Request h, int op, MPI_Comm c, uint32_t root, uint64_t sent, uint64_t got)
{
	keep_persistent(h, R_COLL, 0, 0, c, sent);
	struct request *r = find_request(h);
	if (r) {
		r->op = op;
		r->peer = root;
		r->len2 = got;
	}
}

static void start_persistent(MPI_Request h)
{
	struct request *r = find_request(h);
	if (!r || !r->persistent)
		return;
	r->id = next_request++;
	r->active = 1;
	if (r->kind == R_SEND)
		put_long(ISEND, 0, r->peer, r->comm, r->tag, r->len, r->id);
	else if (r->kind == R_COLL)
		put_long(NBC_REQUEST, 0, 0, 0, 0, 0, r->id);
	else
		put_long(RECV_POSTED, 0, 0, 0, 0, 0, r->id);
}

/* done records the completion of a request. */
static void done(MPI_Request h, MPI_Status *st)
{
	struct request *r = find_request(h);
	if (!r || !r->active)
		return;
	int cancelled = 0;
	if (r->cancelled)
		PMPI_Test_cancelled(st, &cancelled);
	if (cancelled)
		put_long(CANCELLED, 0, 0, 0, 0, 0, r->id);
	else if (r->kind == R_SEND)
		put_long(ISEND_DONE, 0, 0, 0, 0, 0, r->id);
	else if (r->kind == R_RECV && st->MPI_SOURCE >= 0)
		put_long(IRECV, 0, st->MPI_SOURCE, r->comm, st->MPI_TAG, received(st), r->id);
	else if (r->kind == R_BOTH)
		both_done(r, st);
	else if (r->kind == R_PARTS)
		put_long(IRECV, 0, r->peer, r->comm, r->tag, r->len, r->id);
	else if (r->kind == R_COLL) {
		put_long(NBC_GOT, 0, 0, 0, 0, r->len2, r->id); /* completes the next */
		put_long(NBC_DONE, r->op, r->peer, r->comm, 0, r->len, r->id);
	} else if (r->kind == R_RMA)
		rma_done(r->comm, r->id);
	else if (r->kind == R_FILE)
		put_long(IO_DONE, 0, 0, r->comm, 0, received(st), r->id);
	else if (r->kind == R_NEAR)
		near_got(r->comm);
	else if (r->kind == R_COMM)
		add_comm(r->made ? *r->made : PMPI_Comm_f2c(*r->made_f), r->comm);
	r->active = 0;
	r->cancelled = 0;
	if (!r->persistent)
		drop_request(r);
}

static void tested(MPI_Request h)
{
	struct request *r = find_request(h);
	if (r && r->active)
		put_long(TESTED, 0, 0, 0, 0, 0, r->id);
}

static void freed(MPI_Request h)
{
	struct request *r = find_request(h);
	if (r)
		drop_request(r);
}

static void cancel(MPI_Request h)
{
	struct request *r = find_request(h);
	if (r)
		r->cancelled = 1;
}

/* A root of an inter-communicator is named by special values; those of OTF2
 * are -2 for the caller itself and -3 for another member of its group. */
static uint32_t root_of(int root)
{
	if (root == MPI_ROOT)
		return (uint32_t)-2;
	if (root == MPI_PROC_NULL)
		return (uint32_t)-3;
	return root;
}

static inline int at_root(int root, MPI_Comm c)
{
	return root == MPI_ROOT || (root >= 0 && comms[comm_id(c)].rank == root);
}

/* others is how many processes a member of a communicator exchanges data with. */
static inline int others(MPI_Comm c)
{
	struct comm *k = &comms[comm_id(c)];
	return k->inter ? k->remote : k->size;
}

static inline int my_rank(MPI_Comm c) { return comms[comm_id(c)].rank; }

/* The Fortran constant for "in place" is a variable of the library's. */
static int in_place_f(const void *buf)
{
	static void *open_mpi, **mpich;
	static int known;
	if (!known) {
		open_mpi = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
		mpich = dlsym(RTLD_DEFAULT, "MPIR_F_MPI_IN_PLACE");
		known = 1;
	}
	return buf && (buf == open_mpi || (mpich && buf == *mpich));
}

static MPI_Status *status_at(MPI_Fint *all, int i, MPI_Status *out)
{
	PMPI_Status_f2c(all + i * (sizeof(MPI_Status) / sizeof(MPI_Fint)), out);
	return out;
}

static inline void coll_begin(void) { put(COLL_BEGIN, 0); }

static inline void coll_end(int op, MPI_Comm c, uint32_t root, uint64_t sent, uint64_t got)
{
	put_long(COLL_END, op, root, comm_id(c), 0, sent, got);
}

static void nbc(MPI_Request h, int op, MPI_Comm c, uint32_t root, uint64_t sent, uint64_t got, uint64_t id)
{
	if (h == MPI_REQUEST_NULL)
		return;
	struct request *r = add_request(h);
	r->kind = R_COLL;
	r->active = 1;
	r->id = id;
	r->op = op;
	r->comm = comm_id(c);
	r->peer = root;
	r->len = sent;
	r->len2 = got;
}

static uint64_t nbc_begin(void)
{
	uint64_t id = next_request++;
	put_long(NBC_REQUEST, 0, 0, 0, 0, 0, id);
	return id;
}

/* made_later notes a communicator that exists once its request is done. */
static void made_later(MPI_Request h, MPI_Comm *made, MPI_Fint *made_f, MPI_Comm parent)
{
	if (h == MPI_REQUEST_NULL)
		return;
	struct request *r = add_request(h);
	r->kind = R_COMM;
	r->id = next_request++;
	r->active = 1;
	r->comm = comm_id(parent);
	r->made = made;
	r->made_f = made_f;
}

/* Messages taken by a matched probe: which communicator they came from. */
struct message {
	MPI_Message handle;
	MPI_Comm comm;
};
static struct message messages[256];

static void probed(MPI_Message m, MPI_Comm c)
{
	for (int i = 0; i < 256; i++)
		if (messages[i].handle == MPI_MESSAGE_NULL || messages[i].handle == m) {
			messages[i] = (struct message){m, c};
			return;
		}
}

static MPI_Comm message_comm(MPI_Message m)
{
	for (int i = 0; i < 256; i++)
		if (messages[i].handle == m) {
			messages[i].handle = MPI_MESSAGE_NULL;
			return messages[i].comm;
		}
	return MPI_COMM_WORLD;
}

/* room returns scratch memory of a wrapper; the calls of one thread do not
 * overlap. */
static void *room(int which, size_t n)
{
	static __thread void *at[3];
	static __thread size_t have[3];
	if (n > have[which]) {
		free(at[which]);
		have[which] = n * 2;
		at[which] = malloc(have[which]);
	}
	return at[which];
}

/* --- start and end --- */

/* offset measures by how much the clock of rank 0 is ahead of ours, by the
 * quickest of several exchanges. Processes of one host share a clock: only one
 * of each host asks. */
static void measure(int which)
{
	enum { ROUNDS = 20, TAG = 32001 };
	struct { char host[128]; } mine, *all = malloc(world_size * sizeof *all);
	int64_t offset = 0, *offsets = malloc(world_size * sizeof *offsets);
	memset(&mine, 0, sizeof mine);
	snprintf(mine.host, sizeof mine.host, "%s", about->host);
	PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
	int leader = 0;
	while (strcmp(all[leader].host, mine.host) != 0)
		leader++;
	for (int r = 1; r < world_size; r++) {
		int first = 0;
		while (strcmp(all[first].host, all[r].host) != 0)
			first++;
		if (first != r)
			continue; /* another asks for this host, or it is that of rank 0 */
		uint64_t best = ~0ull;
		for (int i = 0; i < ROUNDS && (world_rank == 0 || world_rank == r); i++) {
			uint64_t t = 0;
			if (world_rank == 0) {
				PMPI_Recv(&t, 1, MPI_UINT64_T, r, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				t = now();
				PMPI_Send(&t, 1, MPI_UINT64_T, r, TAG, MPI_COMM_WORLD);
				continue;
			}
			uint64_t t0 = now();
			PMPI_Send(&t, 1, MPI_UINT64_T, 0, TAG, MPI_COMM_WORLD);
			PMPI_Recv(&t, 1, MPI_UINT64_T, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			uint64_t t1 = now();
			if (t1 - t0 < best) {
				best = t1 - t0;
				offset = (int64_t)(t - (t0 + best / 2));
			}
		}
	}
	PMPI_Allgather(&offset, 1, MPI_INT64_T, offsets, 1, MPI_INT64_T, MPI_COMM_WORLD);
	about->offset[which] = offsets[leader];
	about->time[which] = now();
	free(all);
	free(offsets);
}

static void start(void)
{
	const char *dir = getenv("ISOBATH_MPI_DIR");
	char path[4096];
	if (!dir || recording || file >= 0)
		return;
	if (getenv("ISOBATH_MPI_SKEW")) {
		int r;
		PMPI_Comm_rank(MPI_COMM_WORLD, &r);
		skew = r * atoll(getenv("ISOBATH_MPI_SKEW"));
	}
	PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
	PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	snprintf(path, sizeof path, "%s/rank.%d", dir, world_rank);
	file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int ok = file >= 0 && move(0) == 0, all = 0;
	PMPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (!all) {
		if (!ok)
			fprintf(stderr, "isobath: rank %d cannot write %s: the messages are not recorded\n", world_rank, path);
		return;
	}
	about = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (about == MAP_FAILED)
		return;
	memcpy(about->magic, "isompi01", 8);
	about->rank = world_rank;
	about->size = world_size;
	about->pid = getpid();
	about->windows = 1;
	pos = window + 4096;
	if (getenv("ISOBATH_MPI_SKEW")) /* as if every process had a host of its own */
		snprintf(about->host, sizeof about->host, "host%d", world_rank);
	else
		gethostname(about->host, sizeof about->host - 1);
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	about->realtime = (uint64_t)t.tv_sec * 1000000000u + t.tv_nsec;
	about->origin = now();
	memset(bucket, 0xff, sizeof bucket);
	for (int i = 0; i < 256; i++)
		messages[i].handle = MPI_MESSAGE_NULL;
	world_of = malloc(world_size * sizeof *world_of);
	thread = threads = writing = 1;
	int level = MPI_THREAD_SINGLE;
	PMPI_Query_thread(&level);
	multiple = level >= MPI_THREAD_SERIALIZED;
	measure(0);
	recording = 1;
	add_comm(MPI_COMM_WORLD, NONE);
	add_comm(MPI_COMM_SELF, NONE);
	keep_maps(dir);
	edge(); /* from here on waiting for a processor is known */
	PMPI_Barrier(MPI_COMM_WORLD); /* no time of the program */
	put_at(edge(), ENTER, PROGRAM);
}

static void stop(void)
{
	if (!recording)
		return;
	take();
	put(LEAVE, PROGRAM);
	recording = 0;
	give();
	memset(pos, 0, window + WINDOW - pos);
	measure(1);
	keep_maps(getenv("ISOBATH_MPI_DIR"));
	about->complete = 1;
	munmap(window, WINDOW);
	munmap(about, 4096);
	close(file);
}

/* Fortran entry points of the library, under the name its compiler used. */
static void *fortran(const char *name)
{
	char other[128];
	void *p = NULL;
	for (int i = 0; i < 3 && !p; i++) {
		snprintf(other, sizeof other, "%s%.*s", name, i == 2 ? 2 : i == 0, "__");
		p = dlsym(RTLD_NEXT, other);
	}
	if (!p) {
		fprintf(stderr, "isobath: the MPI library has no %s\n", name);
		abort();
	}
	return p;
}

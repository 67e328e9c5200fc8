/* --- one-sided communication --- */

enum { EVERY = -1000 }; /* target; MPI_PROC_NULL is another negative number */

struct win {
	MPI_Win handle;
	int live, allocated, rank, comm;
	int posted, started; /* groups of its epochs */
};

static struct win *wins;
static int nwins, room_wins;

static int win_id(MPI_Win w)
{
	for (int i = nwins - 1; i >= 0; i--)
		if (wins[i].live && wins[i].handle == w)
			return i;
	return NONE; /* made behind our back */
}

/* A window has no name that its processes share: they make them together, so
 * the communicator and how many it had before say which it is. */
static void made_win(MPI_Win w, MPI_Comm c, int allocated)
{
	if (w == MPI_WIN_NULL)
		return;
	if (nwins == room_wins) {
		room_wins = room_wins ? 2 * room_wins : 16;
		wins = realloc(wins, room_wins * sizeof *wins);
	}
	int id = nwins++, before = 0, comm = comm_id(c);
	for (int i = 0; i < id; i++)
		before += wins[i].comm == comm;
	wins[id] = (struct win){w, 1, allocated, comms[comm].rank, comm, UNKNOWN, UNKNOWN};
	put_long(WIN, 0, 0, id, comm, 0, mix(comms[comm].key, before));
	put_long(RMA_END, allocated ? 21 : 17, 0, id, 0, 0, 0); /* of OTF2: create a handle, and allocate */
}

/* Operations that are under way at their target: an end of an epoch tells of
 * each. Of a program that never ends one the oldest are kept. */
struct pending {
	uint64_t id;
	int win, target, local; /* done here */
};
enum { PENDING = 1 << 20 };
static struct pending *pendings;
static int npending, room_pending;

static void underway(int win, int target, uint64_t id)
{
	if (npending == PENDING)
		return;
	if (npending == room_pending) {
		room_pending = room_pending ? 2 * room_pending : 256;
		pendings = realloc(pendings, room_pending * sizeof *pendings);
	}
	pendings[npending++] = (struct pending){id, win, target, 0};
}

static uint64_t put_or_get(int kind, MPI_Win w, int target, uint64_t len)
{
	int win = win_id(w);
	if (win < 0 || target < 0)
		return 0;
	uint64_t id = next_request++;
	put_long(kind, 0, target, win, 0, len, id);
	underway(win, target, id);
	return id;
}

/* Kinds of atomic operations, of OTF2. */
enum { ACCUMULATE = 0, COMPARE_AND_SWAP = 3, FETCH_AND_ACCUMULATE = 7 };

static uint64_t atomic(int type, MPI_Win w, int target, uint64_t sent, uint64_t got)
{
	int win = win_id(w);
	if (win < 0 || target < 0)
		return 0;
	uint64_t id = next_request++;
	put_long(RMA_GOT, 0, 0, 0, 0, got, 0); /* completes the next */
	put_long(RMA_ATOMIC, type, target, win, 0, sent, id);
	underway(win, target, id);
	return id;
}

/* opened_rma notes an operation with a request of its own. */
static inline void opened_rma(MPI_Request h, MPI_Win w, uint64_t id)
{
	if (id == 0 || h == MPI_REQUEST_NULL)
		return;
	struct request *r = add_request(h);
	r->kind = R_RMA;
	r->id = id;
	r->active = 1;
	r->comm = win_id(w);
}

static void rma_done(int win, uint64_t id)
{
	put_long(RMA_DONE, 0, 0, win, 0, 0, id);
	for (int i = npending - 1; i >= 0; i--) /* mostly one of the last */
		if (pendings[i].id == id) {
			pendings[i].local = 1;
			return;
		}
}

/* arrived tells that the operations at a target, or at all, are done there;
 * flushed, that their buffers may be used again. */
static void arrived(MPI_Win w, int target)
{
	int win = win_id(w), left = 0;
	for (int i = 0; i < npending; i++)
		if (win >= 0 && pendings[i].win == win && (target == EVERY || pendings[i].target == target))
			put_long(RMA_DONE, 1, 0, win, 0, 0, pendings[i].id);
		else
			pendings[left++] = pendings[i];
	npending = left;
}

static void flushed(MPI_Win w, int target)
{
	int win = win_id(w);
	for (int i = 0; i < npending; i++)
		if (win >= 0 && pendings[i].win == win && !pendings[i].local && (target == EVERY || pendings[i].target == target)) {
			put_long(RMA_DONE, 0, 0, win, 0, 0, pendings[i].id);
			pendings[i].local = 1;
		}
}

static inline void rma_begin(void) { put(RMA_BEGIN, 0); }

static void fenced(MPI_Win w)
{
	arrived(w, EVERY);
	if (win_id(w) >= 0)
		put_long(RMA_END, 0, 0, win_id(w), 0, 0, 0); /* of OTF2: a barrier */
}

/* An epoch of a group is opened with the group and ended without. */
static void epoch(MPI_Win w, int exposed)
{
	int id = win_id(w), group = id < 0 ? UNKNOWN : exposed ? wins[id].posted : wins[id].started;
	if (group != UNKNOWN)
		put_long(EPOCH, 0, group, id, 0, 0, 0);
}

static void open_epoch(MPI_Win w, MPI_Group g, int exposed)
{
	int id = win_id(w);
	if (id < 0)
		return;
	*(exposed ? &wins[id].posted : &wins[id].started) = group_id(g);
	epoch(w, exposed);
}

static void freed_win(int id)
{
	if (id < 0)
		return;
	put_long(RMA_END, wins[id].allocated ? 22 : 18, 0, id, 0, 0, 0); /* of OTF2: destroy */
	put(WIN_FREED, id);
	wins[id].live = 0;
}

static void locked(MPI_Win w, int target, int exclusive)
{
	if (win_id(w) >= 0 && target != MPI_PROC_NULL)
		put_long(RMA_LOCK, !exclusive, target == EVERY ? NONE : target, win_id(w), 0, 0, 0);
}

static void unlocked(MPI_Win w, int target)
{
	if (target == MPI_PROC_NULL)
		return;
	arrived(w, target);
	if (win_id(w) >= 0)
		put_long(RMA_UNLOCK, 0, target == EVERY ? NONE : target, win_id(w), 0, 0, 0);
}

static void synced(MPI_Win w)
{
	if (win_id(w) >= 0)
		put_long(RMA_SYNC, 0, wins[win_id(w)].rank, win_id(w), 0, 0, 0);
}

/* --- files --- */

struct open_file {
	MPI_File handle;
	int live, comm;
	uint64_t split; /* a collective operation between its two calls */
};

static struct open_file *open_files;
static int nfiles, room_files;

static int file_id(MPI_File f)
{
	for (int i = nfiles - 1; i >= 0; i--)
		if (open_files[i].live && open_files[i].handle == f)
			return i;
	return NONE;
}

/* name_file writes a name, 24 bytes to a record, before what it belongs to. */
static void name_file(const char *name, size_t n)
{
	for (size_t i = 0; i < n; i += 24) {
		size_t k = n - i < 24 ? n - i : 24;
		if (pos + 40 > limit)
			flush();
		if (!recording)
			return;
		struct head *h = (struct head *)pos;
		*h = (struct head){now(), FILE_NAME, 0, k, 0};
		memset(h + 1, 0, 24);
		memcpy(h + 1, name + i, k);
		pos += 40;
	}
}

/* Names from Fortran end in blanks. */
static size_t trimmed(const char *name, long n)
{
	while (n > 0 && name[n - 1] == ' ')
		n--;
	return n;
}

static void made_file(MPI_File f, MPI_Comm c, const char *name, size_t n, int mode)
{
	if (f == MPI_FILE_NULL)
		return;
	if (nfiles == room_files) {
		room_files = room_files ? 2 * room_files : 16;
		open_files = realloc(open_files, room_files * sizeof *open_files);
	}
	int id = nfiles++, before = 0, comm = comm_id(c);
	for (int i = 0; i < id; i++)
		before += open_files[i].comm == comm;
	open_files[id] = (struct open_file){f, 1, comm, 0};
	/* Ways of access, and flags of creation and state, as OTF2 has them. */
	int access = mode & MPI_MODE_RDWR ? 2 : mode & MPI_MODE_WRONLY ? 1 : 0;
	int creation = (mode & MPI_MODE_CREATE ? 1 : 0) | (mode & MPI_MODE_EXCL ? 8 : 0) | (mode & MPI_MODE_UNIQUE_OPEN ? 1 << 10 : 0) | (mode & MPI_MODE_SEQUENTIAL ? 1 << 9 : 0);
	int state = (mode & MPI_MODE_APPEND ? 2 : 0) | (mode & MPI_MODE_DELETE_ON_CLOSE ? 1 << 8 : 0);
	name_file(name, n);
	put_long(FILE_OPENED, access, comm, id, creation, state, mix(comms[comm].key, before));
}

static void closed(int id)
{
	if (id < 0)
		return;
	put(FILE_CLOSED, id);
	open_files[id].live = 0;
}

static void deleted(const char *name, size_t n)
{
	name_file(name, n);
	put_long(FILE_DELETED, 0, 0, 0, 0, 0, 0);
}

/* What is done with a file, and how, of OTF2. */
enum { IO_READ = 0, IO_WRITE, IO_FLUSH, BLOCKING = 0, NON_BLOCKING = 1, COLLECTIVE = 2 };

static uint64_t io_begin(MPI_File f, int what, int how, uint64_t len)
{
	int id = file_id(f);
	if (id < 0)
		return 0;
	uint64_t op = next_request++;
	put_long(IO_BEGIN, what, how, id, 0, len, op);
	return op;
}

static void io_end(MPI_File f, uint64_t op, uint64_t len)
{
	if (op)
		put_long(IO_DONE, 0, 0, file_id(f), 0, len, op);
}

static inline void opened_io(MPI_Request h, MPI_File f, uint64_t op)
{
	if (op == 0 || h == MPI_REQUEST_NULL)
		return;
	put_long(IO_ISSUED, 0, 0, file_id(f), 0, 0, op);
	struct request *r = add_request(h);
	r->kind = R_FILE;
	r->id = op;
	r->active = 1;
	r->comm = file_id(f);
}

static void split_begin(MPI_File f, int what, uint64_t len)
{
	uint64_t op = io_begin(f, what, NON_BLOCKING | COLLECTIVE, len);
	if (op)
		open_files[file_id(f)].split = op;
}

static void split_issued(MPI_File f)
{
	int id = file_id(f);
	if (id >= 0 && open_files[id].split)
		put_long(IO_ISSUED, 0, 0, id, 0, 0, open_files[id].split);
}

static void split_end(MPI_File f, uint64_t len)
{
	int id = file_id(f);
	if (id < 0)
		return;
	io_end(f, open_files[id].split, len);
	open_files[id].split = 0;
}

/* sought notes where a file pointer went, in bytes; what was asked for counts
 * in the units of the view. */
static void sought(MPI_File f, MPI_Offset asked, int whence, int shared)
{
	MPI_Offset at = 0, bytes = 0;
	int id = file_id(f);
	if (id < 0)
		return;
	if ((shared ? PMPI_File_get_position_shared(f, &at) : PMPI_File_get_position(f, &at)) != MPI_SUCCESS || PMPI_File_get_byte_offset(f, at, &bytes) != MPI_SUCCESS)
		return;
	put_long(FILE_SEEK, whence == MPI_SEEK_SET ? 0 : whence == MPI_SEEK_CUR ? 1 : 2, 0, id, 0, asked, bytes);
}

package mpitrace

import (
	"fmt"
	"strings"
)

// function is one function of MPI that is wrapped.
type function struct {
	name   string // without MPI_
	params []param
	role   string
	// Collectives: the code of OTF2, the root, and the bytes this process sends
	// and receives, as C expressions.
	op, root, sent, got string
}

type param struct{ kind, name string }

// A kind of parameter: its C type, and how to make a local of that type from the
// pointer that Fortran passes. Arrays and outputs are used through their names.
var kinds = map[string]struct{ ctype, fromFortran string }{
	"in":       {"const void *", ""},
	"out":      {"void *", ""},
	"int":      {"int", "*(MPI_Fint *)%s"},
	"ints":     {"const int *", "(const int *)%s"},
	"flag":     {"int *", "(int *)%s"},
	"dt":       {"MPI_Datatype", "PMPI_Type_f2c(*(MPI_Fint *)%s)"},
	"dts":      {"const MPI_Datatype *", ""},
	"op":       {"MPI_Op", ""},
	"comm":     {"MPI_Comm", "PMPI_Comm_f2c(*(MPI_Fint *)%s)"},
	"group":    {"MPI_Group", ""},
	"info":     {"MPI_Info", ""},
	"newcomm":  {"MPI_Comm *", ""},
	"request":  {"MPI_Request *", ""},
	"requests": {"MPI_Request *", ""},
	"status":   {"MPI_Status *", ""},
	"statuses": {"MPI_Status *", ""},
	"message":  {"MPI_Message *", ""},
}

// table lists what is wrapped: name, parameters, role. Roles are in roles below.
const table = `
Send             in:buf int:count dt:datatype int:dest int:tag comm:comm | send
Ssend            in:buf int:count dt:datatype int:dest int:tag comm:comm | send
Bsend            in:buf int:count dt:datatype int:dest int:tag comm:comm | send
Rsend            in:buf int:count dt:datatype int:dest int:tag comm:comm | send
Recv             out:buf int:count dt:datatype int:source int:tag comm:comm status:status | recv
Sendrecv         in:buf int:count dt:datatype int:dest int:tag out:recvbuf int:recvcount dt:recvtype int:source int:recvtag comm:comm status:status | sendrecv
Sendrecv_replace out:buf int:count dt:datatype int:dest int:tag int:source int:recvtag comm:comm status:status | sendrecv
Probe            int:source int:tag comm:comm status:status | plain
Iprobe           int:source int:tag comm:comm flag:flag status:status | plain
Mprobe           int:source int:tag comm:comm message:message status:status | mprobe
Improbe          int:source int:tag comm:comm flag:flag message:message status:status | improbe
Mrecv            out:buf int:count dt:datatype message:message status:status | mrecv
Imrecv           out:buf int:count dt:datatype message:message request:request | imrecv
Isend            in:buf int:count dt:datatype int:dest int:tag comm:comm request:request | isend
Issend           in:buf int:count dt:datatype int:dest int:tag comm:comm request:request | isend
Ibsend           in:buf int:count dt:datatype int:dest int:tag comm:comm request:request | isend
Irsend           in:buf int:count dt:datatype int:dest int:tag comm:comm request:request | isend
Irecv            out:buf int:count dt:datatype int:source int:tag comm:comm request:request | irecv
Send_init        in:buf int:count dt:datatype int:dest int:tag comm:comm request:request | sendinit
Ssend_init       in:buf int:count dt:datatype int:dest int:tag comm:comm request:request | sendinit
Bsend_init       in:buf int:count dt:datatype int:dest int:tag comm:comm request:request | sendinit
Rsend_init       in:buf int:count dt:datatype int:dest int:tag comm:comm request:request | sendinit
Recv_init        out:buf int:count dt:datatype int:source int:tag comm:comm request:request | recvinit
Start            request:request | start
Startall         int:count requests:requests | startall
Request_free     request:request | requestfree
Cancel           request:request | cancel
Wait             request:request status:status | wait
Waitall          int:count requests:requests statuses:statuses | waitall
Waitany          int:count requests:requests flag:index status:status | waitany
Waitsome         int:count requests:requests flag:outcount flag:indices statuses:statuses | some
Test             request:request flag:flag status:status | test
Testall          int:count requests:requests flag:flag statuses:statuses | testall
Testany          int:count requests:requests flag:index flag:flag status:status | testany
Testsome         int:count requests:requests flag:outcount flag:indices statuses:statuses | some
Comm_dup         comm:comm newcomm:newcomm | newcomm
Comm_dup_with_info comm:comm info:info newcomm:newcomm | newcomm
Comm_idup        comm:comm newcomm:newcomm request:request | idup
Comm_create      comm:comm group:group newcomm:newcomm | newcomm
Comm_create_group comm:comm group:group int:tag newcomm:newcomm | newcomm
Comm_split       comm:comm int:color int:key newcomm:newcomm | newcomm
Comm_split_type  comm:comm int:split_type int:key info:info newcomm:newcomm | newcomm
Cart_create      comm:comm int:ndims ints:dims ints:periods int:reorder newcomm:newcomm | newcomm
Cart_sub         comm:comm ints:remain newcomm:newcomm | newcomm
Graph_create     comm:comm int:nnodes ints:index ints:edges int:reorder newcomm:newcomm | newcomm
Dist_graph_create_adjacent comm:comm int:indegree ints:sources ints:sourceweights int:outdegree ints:destinations ints:destweights info:info int:reorder newcomm:newcomm | newcomm
Intercomm_create comm:comm int:local_leader comm:peer_comm int:remote_leader int:tag newcomm:newcomm | newcomm
Intercomm_merge  comm:comm int:high newcomm:newcomm | newcomm
Comm_free        newcomm:comm | commfree
`

// collectives lists name, parameters, OTF2's code, root, bytes sent, bytes
// received. The non-blocking form of each has a request behind.
const collectives = `
Barrier     comm:comm | 0 | -1 | 0 | 0
Bcast       out:sendbuf int:count dt:datatype int:root comm:comm | 1 | root | at_root(root, comm) ? bytes(count, datatype) : 0 | at_root(root, comm) ? 0 : bytes(count, datatype)
Gather      in:sendbuf int:sendcount dt:sendtype out:recvbuf int:recvcount dt:recvtype int:root comm:comm | 2 | root | root == MPI_ROOT ? 0 : bytes(sendcount, sendtype) | at_root(root, comm) ? bytes((MPI_Count)recvcount * others(comm), recvtype) : 0
Gatherv     in:sendbuf int:sendcount dt:sendtype out:recvbuf ints:recvcounts ints:displs dt:recvtype int:root comm:comm | 3 | root | root == MPI_ROOT ? 0 : bytes(sendcount, sendtype) | at_root(root, comm) ? total(recvcounts, others(comm), recvtype) : 0
Scatter     in:sendbuf int:sendcount dt:sendtype out:recvbuf int:recvcount dt:recvtype int:root comm:comm | 4 | root | at_root(root, comm) ? bytes((MPI_Count)sendcount * others(comm), sendtype) : 0 | PLACE(recvbuf) || root == MPI_ROOT ? 0 : bytes(recvcount, recvtype)
Scatterv    in:sendbuf ints:sendcounts ints:displs dt:sendtype out:recvbuf int:recvcount dt:recvtype int:root comm:comm | 5 | root | at_root(root, comm) ? total(sendcounts, others(comm), sendtype) : 0 | PLACE(recvbuf) || root == MPI_ROOT ? 0 : bytes(recvcount, recvtype)
Allgather   in:sendbuf int:sendcount dt:sendtype out:recvbuf int:recvcount dt:recvtype comm:comm | 6 | -1 | bytes(sendcount, sendtype) | bytes((MPI_Count)recvcount * others(comm), recvtype)
Allgatherv  in:sendbuf int:sendcount dt:sendtype out:recvbuf ints:recvcounts ints:displs dt:recvtype comm:comm | 7 | -1 | bytes(sendcount, sendtype) | total(recvcounts, others(comm), recvtype)
Alltoall    in:sendbuf int:sendcount dt:sendtype out:recvbuf int:recvcount dt:recvtype comm:comm | 8 | -1 | bytes((MPI_Count)sendcount * others(comm), sendtype) | bytes((MPI_Count)recvcount * others(comm), recvtype)
Alltoallv   in:sendbuf ints:sendcounts ints:sdispls dt:sendtype out:recvbuf ints:recvcounts ints:rdispls dt:recvtype comm:comm | 9 | -1 | total(sendcounts, others(comm), sendtype) | total(recvcounts, others(comm), recvtype)
Alltoallw   in:sendbuf ints:sendcounts ints:sdispls dts:sendtypes out:recvbuf ints:recvcounts ints:rdispls dts:recvtypes comm:comm | 10 | -1 | 0 | 0
Allreduce   in:sendbuf out:recvbuf int:count dt:datatype op:op comm:comm | 11 | -1 | bytes(count, datatype) | bytes(count, datatype)
Reduce      in:sendbuf out:recvbuf int:count dt:datatype op:op int:root comm:comm | 12 | root | bytes(count, datatype) | at_root(root, comm) ? bytes(count, datatype) : 0
Reduce_scatter in:sendbuf out:recvbuf ints:recvcounts dt:datatype op:op comm:comm | 13 | -1 | total(recvcounts, others(comm), datatype) | bytes(recvcounts[my_rank(comm)], datatype)
Scan        in:sendbuf out:recvbuf int:count dt:datatype op:op comm:comm | 14 | -1 | bytes(count, datatype) | bytes(count, datatype)
Exscan      in:sendbuf out:recvbuf int:count dt:datatype op:op comm:comm | 15 | -1 | bytes(count, datatype) | bytes(count, datatype)
Reduce_scatter_block in:sendbuf out:recvbuf int:recvcount dt:datatype op:op comm:comm | 16 | -1 | bytes((MPI_Count)recvcount * others(comm), datatype) | bytes(recvcount, datatype)
`

// inPlaceSends are the collectives whose first buffer may be MPI_IN_PLACE with a
// count and type that mean nothing.
var inPlaceSends = map[string]bool{"Gather": true, "Gatherv": true, "Allgather": true, "Allgatherv": true, "Alltoall": true, "Alltoallv": true}

// role is the C text before and after the call. PLACE, REQ, ST, BASE and NEW
// differ between C and Fortran.
type role struct{ before, after string }

var roles = map[string]role{
	"plain":       {},
	"send":        {"note_send(dest, tag, comm, bytes(count, datatype));", ""},
	"recv":        {"", "note_recv(ST, comm);"},
	"sendrecv":    {"note_send(dest, tag, comm, bytes(count, datatype));", "note_recv(ST, comm);"},
	"mprobe":      {"", "probed(MSG, comm);"},
	"improbe":     {"", "if (*flag) probed(MSG, comm);"},
	"mrecv":       {"id = 1; from = message_comm(MSG);", "note_recv(ST, from);"},
	"imrecv":      {"from = message_comm(MSG); id = post_recv(0);", "opened(REQ, R_RECV, id, from);"},
	"isend":       {"id = issue(dest, tag, comm, bytes(count, datatype));", "opened(REQ, R_SEND, id, comm);"},
	"irecv":       {"id = post_recv(source);", "opened(REQ, R_RECV, id, comm);"},
	"sendinit":    {"", "keep_persistent(REQ, R_SEND, dest, tag, comm, bytes(count, datatype));"},
	"recvinit":    {"", "keep_persistent(REQ, R_RECV, source, tag, comm, 0);"},
	"start":       {"start_persistent(REQ);", ""},
	"startall":    {"for (int i = 0; i < count; i++) start_persistent(hs[i]);", ""},
	"requestfree": {"freed(REQ);", ""},
	"cancel":      {"cancel(REQ);", ""},
	"wait":        {"h = REQ;", "done(h, ST);"},
	"waitall":     {"", "for (int i = 0; i < count; i++) done(hs[i], STS(i));"},
	"waitany":     {"", "if (*index != MPI_UNDEFINED) done(hs[*index - BASE], ST);"},
	"some": {"", "for (int i = 0; *outcount != MPI_UNDEFINED && i < *outcount; i++) done(hs[indices[i] - BASE], STS(i));\n" +
		"\t\tfor (int i = 0; *outcount == 0 && i < count; i++) tested(hs[i]);"},
	"test":       {"h = REQ;", "if (*flag) done(h, ST); else tested(h);"},
	"testall":    {"", "for (int i = 0; i < count; i++) if (*flag) done(hs[i], STS(i)); else tested(hs[i]);"},
	"testany":    {"", "if (*flag && *index != MPI_UNDEFINED) done(hs[*index - BASE], ST);\n\t\tfor (int i = 0; !*flag && i < count; i++) tested(hs[i]);"},
	"newcomm":    {"", "add_comm(NEW, comm_id(comm));"},
	"idup":       {"", "made_later(REQ, MADE, comm);"},
	"commfree":   {"id = comm_id(NEW);", "drop_comm(id);"},
	"collective": {"coll_begin();", "coll_end(OP, comm, root_of(ROOT), SENT, GOT);"},
	"nbc":        {"id = nbc_begin();", "nbc(REQ, OP, comm, root_of(ROOT), SENT, GOT, id);"},
}

// functions reads the tables.
func functions() []function {
	var all []function
	for line := range strings.Lines(strings.TrimSpace(table)) {
		head, role, _ := strings.Cut(line, "|")
		name, params := parameters(head)
		all = append(all, function{name: name, params: params, role: strings.TrimSpace(role)})
	}
	for line := range strings.Lines(strings.TrimSpace(collectives)) {
		f := strings.Split(line, " | ")
		name, params := parameters(f[0])
		sent := strings.TrimSpace(f[3])
		if inPlaceSends[name] {
			sent = "PLACE(sendbuf) ? 0 : " + sent
		}
		c := function{name: name, params: params, role: "collective", op: strings.TrimSpace(f[1]), root: strings.TrimSpace(f[2]), sent: sent, got: strings.TrimSpace(f[4])}
		all = append(all, c)
		c.name, c.role = "I"+strings.ToLower(name), "nbc"
		c.params = append(append([]param{}, params...), param{"request", "request"})
		all = append(all, c)
	}
	return all
}

func parameters(text string) (string, []param) {
	f := strings.Fields(text)
	var out []param
	for _, p := range f[1:] {
		kind, name, _ := strings.Cut(p, ":")
		out = append(out, param{kind, name})
	}
	return f[0], out
}

// regions are the names of the regions by their numbers in the files.
func regions() []string {
	names := []string{"PROGRAM"}
	for _, f := range functions() {
		names = append(names, "MPI_"+f.name)
	}
	return names
}

// source returns the whole text of the shim.
func source() []byte {
	var b strings.Builder
	b.WriteString("enum { PROGRAM")
	for _, name := range regions()[1:] {
		b.WriteString(", R_" + strings.TrimPrefix(name, "MPI_"))
	}
	b.WriteString(" };\n")
	b.Write(shimSource)
	for _, f := range functions() {
		f.writeC(&b)
		f.writeFortran(&b)
	}
	b.WriteString(startAndEnd)
	writeAliases(&b, "init", "void *")
	writeAliases(&b, "init_thread", "void *, void *, void *")
	writeAliases(&b, "finalize", "void *")
	return []byte(b.String())
}

// body replaces the words that differ between languages.
func (f *function) body(text, lang string) string {
	words := map[string]string{"PLACE(": "MPI_IN_PLACE == (const void *)(", "BASE": "0", "REQ": "*request", "MSG": "*message", "NEW": "*newcomm", "MADE": "newcomm", "STS(i)": "&sts[i]", "ST": "st"}
	if lang == "fortran" {
		words = map[string]string{"PLACE(": "in_place_f(", "BASE": "1", "REQ": "PMPI_Request_f2c(*(MPI_Fint *)request)", "MSG": "PMPI_Message_f2c(*(MPI_Fint *)message)",
			"NEW": "PMPI_Comm_f2c(*(MPI_Fint *)newcomm)", "MADE": "NULL", "STS(i)": "status_at(fsts, i, &cst)", "ST": "status_at(fst, 0, &cst)"}
	}
	if f.role == "commfree" {
		words["NEW"] = strings.ReplaceAll(words["NEW"], "newcomm", "comm")
	}
	text = strings.NewReplacer("SENT", f.sent, "GOT", f.got, "ROOT", f.root, "OP,", f.op+",").Replace(text)
	return strings.NewReplacer("PLACE(", words["PLACE("], "BASE", words["BASE"], "REQ", words["REQ"], "MSG", words["MSG"], "NEW", words["NEW"], "MADE", words["MADE"],
		"MPI_STATUS", "MPI_STATUS", "STS(i)", words["STS(i)"], "ST,", words["ST"]+",", "ST)", words["ST"]+")").Replace(text)
}

func (f *function) has(kind string) bool {
	for _, p := range f.params {
		if p.kind == kind {
			return true
		}
	}
	return false
}

const locals = "\tuint64_t id = 0;\n\tMPI_Request h = MPI_REQUEST_NULL, *hs = NULL;\n\tMPI_Comm from = MPI_COMM_NULL;\n\t(void)id; (void)h; (void)hs; (void)from;\n"

func (f *function) writeC(b *strings.Builder) {
	var params, args []string
	for _, p := range f.params {
		params = append(params, kinds[p.kind].ctype+" "+p.name)
		switch p.kind {
		case "status":
			args = append(args, "st")
		case "statuses":
			args = append(args, "sts")
		default:
			args = append(args, p.name)
		}
	}
	fmt.Fprintf(b, "\nint MPI_%s(%s)\n{\n", f.name, strings.Join(params, ", "))
	b.WriteString(locals)
	fmt.Fprintf(b, "\tint on = begin(R_%s);\n", f.name)
	if f.has("status") {
		b.WriteString("\tMPI_Status own, *st = on && status == MPI_STATUS_IGNORE ? &own : status;\n")
	}
	if f.has("statuses") {
		b.WriteString("\tMPI_Status *sts = on && statuses == MPI_STATUSES_IGNORE ? room(1, count * sizeof *sts) : statuses;\n")
	}
	b.WriteString("\tif (on) {\n")
	if f.has("requests") {
		b.WriteString("\t\ths = room(0, count * sizeof *hs);\n\t\tmemcpy(hs, requests, count * sizeof *hs);\n")
	}
	fmt.Fprintf(b, "\t\t%s\n\t}\n", f.body(roles[f.role].before, "c"))
	fmt.Fprintf(b, "\tint err = PMPI_%s(%s);\n", f.name, strings.Join(args, ", "))
	fmt.Fprintf(b, "\tif (on) {\n\t\t%s\n\t\tend(R_%s);\n\t}\n\treturn err;\n}\n", f.body(roles[f.role].after, "c"), f.name)
}

// writeFortran wraps the Fortran entry points. They go to the library's own, not
// to C: constants such as MPI_BOTTOM differ between the languages.
func (f *function) writeFortran(b *strings.Builder) {
	if f.role == "idup" { // the new handle lives in a Fortran variable
		return
	}
	lower := strings.ToLower(f.name)
	var params, args, types []string
	for _, p := range f.params {
		params = append(params, "void *"+argument(p))
		types = append(types, "void *")
		switch p.kind {
		case "status":
			args = append(args, "fst")
		case "statuses":
			args = append(args, "fsts")
		default:
			args = append(args, argument(p))
		}
	}
	fmt.Fprintf(b, "\nvoid mpi_%s_(%s, void *ierr)\n{\n", lower, strings.Join(params, ", "))
	fmt.Fprintf(b, "\tstatic void (*real)(%s, void *);\n\tif (!real)\n\t\treal = fortran(\"pmpi_%s\");\n", strings.Join(types, ", "), lower)
	b.WriteString(locals)
	fmt.Fprintf(b, "\tint on = begin(R_%s);\n", f.name)
	if f.has("status") {
		b.WriteString("\tMPI_Status cst;\n\tMPI_Fint own[sizeof(MPI_Status) / sizeof(MPI_Fint)], *fst = on && status == (void *)MPI_F_STATUS_IGNORE ? own : status;\n\t(void)cst;\n")
	}
	if f.has("statuses") {
		b.WriteString("\tMPI_Status cst;\n\tMPI_Fint *fsts = on && statuses == (void *)MPI_F_STATUSES_IGNORE ? room(1, *(MPI_Fint *)f_count * sizeof(MPI_Status)) : statuses;\n\t(void)cst;\n")
	}
	converted := f.converted()
	fmt.Fprintf(b, "\tif (on) {\n%s", converted)
	if f.has("requests") {
		b.WriteString("\t\ths = room(0, count * sizeof *hs);\n\t\tfor (int i = 0; i < count; i++)\n\t\t\ths[i] = PMPI_Request_f2c(((MPI_Fint *)requests)[i]);\n")
	}
	fmt.Fprintf(b, "\t\t%s\n\t}\n\treal(%s, ierr);\n", f.body(roles[f.role].before, "fortran"), strings.Join(args, ", "))
	fmt.Fprintf(b, "\tif (on) {\n%s\t\t%s\n\t\tend(R_%s);\n\t}\n}\n", converted, f.body(roles[f.role].after, "fortran"), f.name)
	writeAliases(b, lower, strings.Join(types, ", ")+", void *")
}

// argument is the name of a Fortran argument; those that become locals of a C
// type leave their names to these.
func argument(p param) string {
	if kinds[p.kind].fromFortran != "" {
		return "f_" + p.name
	}
	return p.name
}

func (f *function) converted() string {
	var b strings.Builder
	for _, p := range f.params {
		if conv := kinds[p.kind].fromFortran; conv != "" {
			fmt.Fprintf(&b, "\t\t%s %s = %s;\n\t\t(void)%s;\n", kinds[p.kind].ctype, p.name, fmt.Sprintf(conv, "f_"+p.name), p.name)
		}
	}
	return b.String()
}

// writeAliases gives a wrapper the names other Fortran compilers use, and the
// one that Open MPI's modern module calls.
func writeAliases(b *strings.Builder, lower, types string) {
	for _, alias := range []string{"mpi_" + lower, "mpi_" + lower + "__", "MPI_" + strings.ToUpper(lower), "ompi_" + lower + "_f"} {
		fmt.Fprintf(b, "void %s(%s) __attribute__((alias(\"mpi_%s_\")));\n", alias, types, lower)
	}
}

const startAndEnd = `
int MPI_Init(int *argc, char ***argv)
{
	int err = PMPI_Init(argc, argv);
	if (err == MPI_SUCCESS && depth == 0)
		start();
	return err;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int err = PMPI_Init_thread(argc, argv, required, provided);
	if (err == MPI_SUCCESS && depth == 0)
		start();
	return err;
}

int MPI_Finalize(void)
{
	stop();
	return PMPI_Finalize();
}

void mpi_init_(void *ierr)
{
	void (*real)(void *) = fortran("pmpi_init");
	depth++;
	real(ierr);
	depth--;
	if (*(MPI_Fint *)ierr == MPI_SUCCESS)
		start();
}

void mpi_init_thread_(void *required, void *provided, void *ierr)
{
	void (*real)(void *, void *, void *) = fortran("pmpi_init_thread");
	depth++;
	real(required, provided, ierr);
	depth--;
	if (*(MPI_Fint *)ierr == MPI_SUCCESS)
		start();
}

void mpi_finalize_(void *ierr)
{
	void (*real)(void *) = fortran("pmpi_finalize");
	stop();
	real(ierr);
}
`

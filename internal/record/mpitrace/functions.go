package mpitrace

import (
	"fmt"
	"slices"
	"strings"
)

// function is one function of MPI that is wrapped.
type function struct {
	name   string // without MPI_
	params []param
	role   string
	// later is set for what MPI 4 brought; libraries before do not have it. large
	// is set for the form with large counts, which only C has.
	later, large bool
	// Collectives: the code of OTF2, the root, and the bytes this process sends
	// and receives, as C expressions.
	op, root, sent, got string
}

type param struct{ kind, name string }

// A kind of parameter: its C type, and how to make a local of that type from the
// pointer that Fortran passes. Arrays and outputs are used through their names.
var kinds = map[string]struct{ ctype, fromFortran string }{
	"in":         {"const void *", ""},
	"out":        {"void *", ""},
	"int":        {"int", "*(MPI_Fint *)%s"},
	"ints":       {"const int *", "(const int *)%s"},
	"n":          {"int", "*(MPI_Fint *)%s"},         // a number of elements
	"ns":         {"const int *", "(const int *)%s"}, // such numbers
	"ds":         {"const int *", "(const int *)%s"}, // displacements
	"unit":       {"int", ""},                        // of a window
	"large n":    {"MPI_Count", "*(MPI_Count *)%s"},  // the same in the form for large counts
	"large ns":   {"const MPI_Count *", ""},
	"large ds":   {"const MPI_Aint *", ""},
	"large unit": {"MPI_Aint", ""},
	"flag":       {"int *", "(int *)%s"},
	"dt":         {"MPI_Datatype", "PMPI_Type_f2c(*(MPI_Fint *)%s)"},
	"dts":        {"const MPI_Datatype *", ""},
	"op":         {"MPI_Op", ""},
	"comm":       {"MPI_Comm", "PMPI_Comm_f2c(*(MPI_Fint *)%s)"},
	"group":      {"MPI_Group", "PMPI_Group_f2c(*(MPI_Fint *)%s)"},
	"info":       {"MPI_Info", ""},
	"newcomm":    {"MPI_Comm *", ""},
	"request":    {"MPI_Request *", ""},
	"requests":   {"MPI_Request *", ""},
	"status":     {"MPI_Status *", ""},
	"statuses":   {"MPI_Status *", ""},
	"message":    {"MPI_Message *", ""},
	"req":        {"MPI_Request", ""},
	"aint":       {"MPI_Aint", ""},
	"aints":      {"const MPI_Aint *", ""},
	"win":        {"MPI_Win", "PMPI_Win_f2c(*(MPI_Fint *)%s)"},
	"winp":       {"MPI_Win *", ""},
	"file":       {"MPI_File", "PMPI_File_f2c(*(MPI_Fint *)%s)"},
	"filep":      {"MPI_File *", ""},
	"off":        {"MPI_Offset", "*(MPI_Offset *)%s"},
	"str":        {"const char *", ""}, // Fortran passes its length behind everything else
	"strout":     {"char *", ""},
	"argv":       {"char **", ""},
	"argvs":      {"char ***", ""},
	"infos":      {"const MPI_Info *", ""},
}

// table lists what is wrapped: name, parameters, role. Roles are in roles below.
const table = `
Send             in:buf n:count dt:datatype int:dest int:tag comm:comm | send
Ssend            in:buf n:count dt:datatype int:dest int:tag comm:comm | send
Bsend            in:buf n:count dt:datatype int:dest int:tag comm:comm | send
Rsend            in:buf n:count dt:datatype int:dest int:tag comm:comm | send
Recv             out:buf n:count dt:datatype int:source int:tag comm:comm status:status | recv
Sendrecv         in:buf n:count dt:datatype int:dest int:tag out:recvbuf n:recvcount dt:recvtype int:source int:recvtag comm:comm status:status | sendrecv
Sendrecv_replace out:buf n:count dt:datatype int:dest int:tag int:source int:recvtag comm:comm status:status | sendrecv
Probe            int:source int:tag comm:comm status:status | plain
Iprobe           int:source int:tag comm:comm flag:flag status:status | plain
Mprobe           int:source int:tag comm:comm message:message status:status | mprobe
Improbe          int:source int:tag comm:comm flag:flag message:message status:status | improbe
Mrecv            out:buf n:count dt:datatype message:message status:status | mrecv
Imrecv           out:buf n:count dt:datatype message:message request:request | imrecv
Isend            in:buf n:count dt:datatype int:dest int:tag comm:comm request:request | isend
Issend           in:buf n:count dt:datatype int:dest int:tag comm:comm request:request | isend
Ibsend           in:buf n:count dt:datatype int:dest int:tag comm:comm request:request | isend
Irsend           in:buf n:count dt:datatype int:dest int:tag comm:comm request:request | isend
Irecv            out:buf n:count dt:datatype int:source int:tag comm:comm request:request | irecv
Send_init        in:buf n:count dt:datatype int:dest int:tag comm:comm request:request | sendinit
Ssend_init       in:buf n:count dt:datatype int:dest int:tag comm:comm request:request | sendinit
Bsend_init       in:buf n:count dt:datatype int:dest int:tag comm:comm request:request | sendinit
Rsend_init       in:buf n:count dt:datatype int:dest int:tag comm:comm request:request | sendinit
Recv_init        out:buf n:count dt:datatype int:source int:tag comm:comm request:request | recvinit
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
Dist_graph_create comm:comm int:n ints:sources ints:degrees ints:destinations ints:weights info:info int:reorder newcomm:newcomm | newcomm
Dist_graph_create_adjacent comm:comm int:indegree ints:sources ints:sourceweights int:outdegree ints:destinations ints:destweights info:info int:reorder newcomm:newcomm | newcomm
Intercomm_create comm:comm int:local_leader comm:peer_comm int:remote_leader int:tag newcomm:newcomm | newcomm
Intercomm_merge  comm:comm int:high newcomm:newcomm | newcomm
Comm_free        newcomm:comm | commfree
Comm_disconnect  newcomm:comm | commfree
`

// tableLater is the same for what MPI 4 brought.
const tableLater = `
Isendrecv         in:buf n:count dt:datatype int:dest int:tag out:recvbuf n:recvcount dt:recvtype int:source int:recvtag comm:comm request:request | isendrecv
Isendrecv_replace out:buf n:count dt:datatype int:dest int:tag int:source int:recvtag comm:comm request:request | isendreplace
Psend_init        in:buf int:partitions large_n:count dt:datatype int:dest int:tag comm:comm info:info request:request | psendinit
Precv_init        out:buf int:partitions large_n:count dt:datatype int:source int:tag comm:comm info:info request:request | precvinit
Comm_idup_with_info comm:comm info:info newcomm:newcomm request:request | idup
`

// sided lists one-sided communication and files in the same way: OTF2 has records
// of its own for them.
const sided = `
Put              in:buf n:count dt:datatype int:target aint:disp n:tcount dt:ttype win:win | put
Get              out:buf n:count dt:datatype int:target aint:disp n:tcount dt:ttype win:win | get
Accumulate       in:buf n:count dt:datatype int:target aint:disp n:tcount dt:ttype op:op win:win | accumulate
Get_accumulate   in:buf n:count dt:datatype out:result n:rcount dt:rtype int:target aint:disp n:tcount dt:ttype op:op win:win | fetch
Fetch_and_op     in:buf out:result dt:datatype int:target aint:disp op:op win:win | fetchone
Compare_and_swap in:buf in:compare out:result dt:datatype int:target aint:disp win:win | swap
Rput             in:buf n:count dt:datatype int:target aint:disp n:tcount dt:ttype win:win request:request | rput
Rget             out:buf n:count dt:datatype int:target aint:disp n:tcount dt:ttype win:win request:request | rget
Raccumulate      in:buf n:count dt:datatype int:target aint:disp n:tcount dt:ttype op:op win:win request:request | raccumulate
Rget_accumulate  in:buf n:count dt:datatype out:result n:rcount dt:rtype int:target aint:disp n:tcount dt:ttype op:op win:win request:request | rfetch
Win_create       out:base aint:size unit:unit info:info comm:comm winp:winp | winmake
Win_create_dynamic info:info comm:comm winp:winp | winmake
Win_allocate     aint:size unit:unit info:info comm:comm out:base winp:winp | winalloc
Win_allocate_shared aint:size unit:unit info:info comm:comm out:base winp:winp | winalloc
Win_free         winp:winp | winfree
Win_fence        int:assert win:win | fence
Win_post         group:group int:assert win:win | post
Win_start        group:group int:assert win:win | begin
Win_complete     win:win | complete
Win_wait         win:win | exposed
Win_test         win:win flag:flag | exposedtest
Win_lock         int:type int:target int:assert win:win | lock
Win_lock_all     int:assert win:win | lockall
Win_unlock       int:target win:win | unlock
Win_unlock_all   win:win | unlockall
Win_flush        int:target win:win | flush
Win_flush_all    win:win | arrive
Win_flush_local  int:target win:win | flushlocal
Win_flush_local_all win:win | flushlocalall
Win_sync         win:win | winsync
File_open        comm:comm str:name int:mode info:info filep:filep | fileopen
File_close       filep:filep | fileclose
File_delete      str:name info:info | filedelete
File_sync        file:file | filesync
File_seek        file:file off:offset int:whence | seek
File_seek_shared file:file off:offset int:whence | seekshared
File_read        file:file out:buf n:count dt:datatype status:status | read
File_read_all    file:file out:buf n:count dt:datatype status:status | readall
File_read_at     file:file off:offset out:buf n:count dt:datatype status:status | read
File_read_at_all file:file off:offset out:buf n:count dt:datatype status:status | readall
File_read_shared file:file out:buf n:count dt:datatype status:status | read
File_read_ordered file:file out:buf n:count dt:datatype status:status | readall
File_write       file:file in:buf n:count dt:datatype status:status | write
File_write_all   file:file in:buf n:count dt:datatype status:status | writeall
File_write_at    file:file off:offset in:buf n:count dt:datatype status:status | write
File_write_at_all file:file off:offset in:buf n:count dt:datatype status:status | writeall
File_write_shared file:file in:buf n:count dt:datatype status:status | write
File_write_ordered file:file in:buf n:count dt:datatype status:status | writeall
File_iread       file:file out:buf n:count dt:datatype request:request | iread
File_iread_all   file:file out:buf n:count dt:datatype request:request | ireadall
File_iread_at    file:file off:offset out:buf n:count dt:datatype request:request | iread
File_iread_at_all file:file off:offset out:buf n:count dt:datatype request:request | ireadall
File_iread_shared file:file out:buf n:count dt:datatype request:request | iread
File_iwrite      file:file in:buf n:count dt:datatype request:request | iwrite
File_iwrite_all  file:file in:buf n:count dt:datatype request:request | iwriteall
File_iwrite_at   file:file off:offset in:buf n:count dt:datatype request:request | iwrite
File_iwrite_at_all file:file off:offset in:buf n:count dt:datatype request:request | iwriteall
File_iwrite_shared file:file in:buf n:count dt:datatype request:request | iwrite
File_read_all_begin file:file out:buf n:count dt:datatype | readbegin
File_read_all_end file:file out:buf status:status | splitend
File_read_at_all_begin file:file off:offset out:buf n:count dt:datatype | readbegin
File_read_at_all_end file:file out:buf status:status | splitend
File_read_ordered_begin file:file out:buf n:count dt:datatype | readbegin
File_read_ordered_end file:file out:buf status:status | splitend
File_write_all_begin file:file in:buf n:count dt:datatype | writebegin
File_write_all_end file:file in:buf status:status | splitend
File_write_at_all_begin file:file off:offset in:buf n:count dt:datatype | writebegin
File_write_at_all_end file:file in:buf status:status | splitend
File_write_ordered_begin file:file in:buf n:count dt:datatype | writebegin
File_write_ordered_end file:file in:buf status:status | splitend
`

// near lists the collectives of neighbours in the same way: OTF2 has no records
// for them, so what is kept is who sends to whom.
const near = `
Neighbor_allgather in:buf n:count dt:datatype out:recvbuf n:recvcount dt:recvtype comm:comm | near
Neighbor_allgatherv in:buf n:count dt:datatype out:recvbuf ns:recvcounts ds:displs dt:recvtype comm:comm | near
Neighbor_alltoall in:buf n:count dt:datatype out:recvbuf n:recvcount dt:recvtype comm:comm | near
Neighbor_alltoallv in:buf ns:counts ds:displs dt:datatype out:recvbuf ns:recvcounts ds:rdispls dt:recvtype comm:comm | near
Neighbor_alltoallw in:buf ns:counts aints:displs dts:datatypes out:recvbuf ns:recvcounts aints:rdispls dts:recvtypes comm:comm | near
Ineighbor_allgather in:buf n:count dt:datatype out:recvbuf n:recvcount dt:recvtype comm:comm request:request | inear
Ineighbor_allgatherv in:buf n:count dt:datatype out:recvbuf ns:recvcounts ds:displs dt:recvtype comm:comm request:request | inear
Ineighbor_alltoall in:buf n:count dt:datatype out:recvbuf n:recvcount dt:recvtype comm:comm request:request | inear
Ineighbor_alltoallv in:buf ns:counts ds:displs dt:datatype out:recvbuf ns:recvcounts ds:rdispls dt:recvtype comm:comm request:request | inear
Ineighbor_alltoallw in:buf ns:counts aints:displs dts:datatypes out:recvbuf ns:recvcounts aints:rdispls dts:recvtypes comm:comm request:request | inear
`

// regionsOnly lists functions of which only entry and end are recorded, with the
// kinds of their parameters: memory of windows, views of files, processes that
// come later.
const regionsOnly = `
Win_attach win out aint
Win_detach win in
File_preallocate file off
File_set_size file off
File_set_view file off dt dt str info
Comm_accept str info int comm newcomm
Comm_connect str info int comm newcomm
Comm_join int newcomm
Comm_spawn str argv int info int comm newcomm flag
Comm_spawn_multiple int argv argvs ints infos int comm newcomm flag
Open_port info strout
Close_port str
`

// regionsOnlyLater is the same for what MPI 4 brought.
const regionsOnlyLater = `
Pready int req
Pready_range int int req
Pready_list int flag req
Parrived req int flag
Neighbor_allgather_init in n dt out n dt comm info request
Neighbor_allgatherv_init in n dt out ns ds dt comm info request
Neighbor_alltoall_init in n dt out n dt comm info request
Neighbor_alltoallv_init in ns ds dt out ns ds dt comm info request
Neighbor_alltoallw_init in ns aints dts out ns aints dts comm info request
`

// collectives lists name, parameters, OTF2's code, root, bytes sent, bytes
// received. The non-blocking form of each has a request behind.
const collectives = `
Barrier     comm:comm | 0 | -1 | 0 | 0
Bcast       out:sendbuf n:count dt:datatype int:root comm:comm | 1 | root | at_root(root, comm) ? bytes(count, datatype) : 0 | at_root(root, comm) ? 0 : bytes(count, datatype)
Gather      in:sendbuf n:sendcount dt:sendtype out:recvbuf n:recvcount dt:recvtype int:root comm:comm | 2 | root | root == MPI_ROOT ? 0 : bytes(sendcount, sendtype) | at_root(root, comm) ? bytes((MPI_Count)recvcount * others(comm), recvtype) : 0
Gatherv     in:sendbuf n:sendcount dt:sendtype out:recvbuf ns:recvcounts ds:displs dt:recvtype int:root comm:comm | 3 | root | root == MPI_ROOT ? 0 : bytes(sendcount, sendtype) | at_root(root, comm) ? total(recvcounts, others(comm), recvtype) : 0
Scatter     in:sendbuf n:sendcount dt:sendtype out:recvbuf n:recvcount dt:recvtype int:root comm:comm | 4 | root | at_root(root, comm) ? bytes((MPI_Count)sendcount * others(comm), sendtype) : 0 | PLACE(recvbuf) || root == MPI_ROOT ? 0 : bytes(recvcount, recvtype)
Scatterv    in:sendbuf ns:sendcounts ds:displs dt:sendtype out:recvbuf n:recvcount dt:recvtype int:root comm:comm | 5 | root | at_root(root, comm) ? total(sendcounts, others(comm), sendtype) : 0 | PLACE(recvbuf) || root == MPI_ROOT ? 0 : bytes(recvcount, recvtype)
Allgather   in:sendbuf n:sendcount dt:sendtype out:recvbuf n:recvcount dt:recvtype comm:comm | 6 | -1 | bytes(sendcount, sendtype) | bytes((MPI_Count)recvcount * others(comm), recvtype)
Allgatherv  in:sendbuf n:sendcount dt:sendtype out:recvbuf ns:recvcounts ds:displs dt:recvtype comm:comm | 7 | -1 | bytes(sendcount, sendtype) | total(recvcounts, others(comm), recvtype)
Alltoall    in:sendbuf n:sendcount dt:sendtype out:recvbuf n:recvcount dt:recvtype comm:comm | 8 | -1 | bytes((MPI_Count)sendcount * others(comm), sendtype) | bytes((MPI_Count)recvcount * others(comm), recvtype)
Alltoallv   in:sendbuf ns:sendcounts ds:sdispls dt:sendtype out:recvbuf ns:recvcounts ds:rdispls dt:recvtype comm:comm | 9 | -1 | total(sendcounts, others(comm), sendtype) | total(recvcounts, others(comm), recvtype)
Alltoallw   in:sendbuf ns:sendcounts ds:sdispls dts:sendtypes out:recvbuf ns:recvcounts ds:rdispls dts:recvtypes comm:comm | 10 | -1 | 0 | 0
Allreduce   in:sendbuf out:recvbuf n:count dt:datatype op:op comm:comm | 11 | -1 | bytes(count, datatype) | bytes(count, datatype)
Reduce      in:sendbuf out:recvbuf n:count dt:datatype op:op int:root comm:comm | 12 | root | bytes(count, datatype) | at_root(root, comm) ? bytes(count, datatype) : 0
Reduce_scatter in:sendbuf out:recvbuf ns:recvcounts dt:datatype op:op comm:comm | 13 | -1 | total(recvcounts, others(comm), datatype) | bytes(recvcounts[my_rank(comm)], datatype)
Scan        in:sendbuf out:recvbuf n:count dt:datatype op:op comm:comm | 14 | -1 | bytes(count, datatype) | bytes(count, datatype)
Exscan      in:sendbuf out:recvbuf n:count dt:datatype op:op comm:comm | 15 | -1 | bytes(count, datatype) | bytes(count, datatype)
Reduce_scatter_block in:sendbuf out:recvbuf n:recvcount dt:datatype op:op comm:comm | 16 | -1 | bytes((MPI_Count)recvcount * others(comm), datatype) | bytes(recvcount, datatype)
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
	"test":          {"h = REQ;", "if (*flag) done(h, ST); else tested(h);"},
	"testall":       {"", "for (int i = 0; i < count; i++) if (*flag) done(hs[i], STS(i)); else tested(hs[i]);"},
	"testany":       {"", "if (*flag && *index != MPI_UNDEFINED) done(hs[*index - BASE], ST);\n\t\tfor (int i = 0; !*flag && i < count; i++) tested(hs[i]);"},
	"isendrecv":     {"id = issue(dest, tag, comm, bytes(count, datatype)); id2 = post_recv(source);", "opened_both(REQ, id, id2, comm, source, recvtag, bytes(recvcount, recvtype));"},
	"isendreplace":  {"id = issue(dest, tag, comm, bytes(count, datatype)); id2 = post_recv(source);", "opened_both(REQ, id, id2, comm, source, recvtag, bytes(count, datatype));"},
	"psendinit":     {"", "keep_persistent(REQ, R_SEND, dest, tag, comm, bytes(partitions * count, datatype));"},
	"precvinit":     {"", "keep_persistent(REQ, R_PARTS, source, tag, comm, bytes(partitions * count, datatype));"},
	"nbcinit":       {"", "keep_collective(REQ, OP, comm, root_of(ROOT), SENT, GOT);"},
	"newcomm":       {"", "add_comm(NEW, comm_id(comm));"},
	"idup":          {"", "made_later(REQ, MADE, comm);"},
	"commfree":      {"id = comm_id(NEW);", "drop_comm(id);"},
	"collective":    {"coll_begin();", "coll_end(OP, comm, root_of(ROOT), SENT, GOT);"},
	"put":           {"put_or_get(RMA_PUT, win, target, bytes(count, datatype));", ""},
	"get":           {"put_or_get(RMA_GET, win, target, bytes(count, datatype));", ""},
	"accumulate":    {"atomic(ACCUMULATE, win, target, bytes(count, datatype), 0);", ""},
	"fetch":         {"atomic(FETCH_AND_ACCUMULATE, win, target, bytes(count, datatype), bytes(rcount, rtype));", ""},
	"fetchone":      {"atomic(FETCH_AND_ACCUMULATE, win, target, bytes(1, datatype), bytes(1, datatype));", ""},
	"swap":          {"atomic(COMPARE_AND_SWAP, win, target, bytes(1, datatype), bytes(1, datatype));", ""},
	"rput":          {"id = put_or_get(RMA_PUT, win, target, bytes(count, datatype));", "opened_rma(REQ, win, id);"},
	"rget":          {"id = put_or_get(RMA_GET, win, target, bytes(count, datatype));", "opened_rma(REQ, win, id);"},
	"raccumulate":   {"id = atomic(ACCUMULATE, win, target, bytes(count, datatype), 0);", "opened_rma(REQ, win, id);"},
	"rfetch":        {"id = atomic(FETCH_AND_ACCUMULATE, win, target, bytes(count, datatype), bytes(rcount, rtype));", "opened_rma(REQ, win, id);"},
	"winmake":       {"rma_begin();", "made_win(WINP, comm, 0);"},
	"winalloc":      {"rma_begin();", "made_win(WINP, comm, 1);"},
	"winfree":       {"arrived(WINP, EVERY); id = win_id(WINP); rma_begin();", "freed_win((int)id);"},
	"fence":         {"rma_begin();", "fenced(win);"},
	"arrive":        {"", "arrived(win, EVERY);"},
	"post":          {"open_epoch(win, group, 1);", ""},
	"begin":         {"open_epoch(win, group, 0);", ""},
	"complete":      {"", "arrived(win, EVERY); epoch(win, 0);"},
	"exposed":       {"", "epoch(win, 1);"},
	"exposedtest":   {"", "if (*flag) epoch(win, 1);"},
	"near":          {"near_sent(comm);", "near_got(near(comm, 1));"},
	"inear":         {"near_sent(comm);", "opened_near(REQ, comm);"},
	"lock":          {"locked(win, target, type == MPI_LOCK_EXCLUSIVE);", ""},
	"lockall":       {"locked(win, EVERY, 0);", ""},
	"unlock":        {"", "unlocked(win, target);"},
	"unlockall":     {"", "unlocked(win, EVERY);"},
	"flush":         {"", "arrived(win, target);"},
	"flushlocal":    {"", "flushed(win, target);"},
	"flushlocalall": {"", "flushed(win, EVERY);"},
	"winsync":       {"", "synced(win);"},
	"fileopen":      {"", "made_file(FILEP, comm, NAMED, mode);"},
	"fileclose":     {"id = file_id(FILEP);", "closed((int)id);"},
	"filedelete":    {"", "deleted(NAMED);"},
	"filesync":      {"id = io_begin(file, IO_FLUSH, COLLECTIVE, 0);", "io_end(file, id, 0);"},
	"seek":          {"", "sought(file, offset, whence, 0);"},
	"seekshared":    {"", "sought(file, offset, whence, 1);"},
	"read":          {"id = io_begin(file, IO_READ, BLOCKING, bytes(count, datatype));", "io_end(file, id, received(ST));"},
	"readall":       {"id = io_begin(file, IO_READ, COLLECTIVE, bytes(count, datatype));", "io_end(file, id, received(ST));"},
	"write":         {"id = io_begin(file, IO_WRITE, BLOCKING, bytes(count, datatype));", "io_end(file, id, received(ST));"},
	"writeall":      {"id = io_begin(file, IO_WRITE, COLLECTIVE, bytes(count, datatype));", "io_end(file, id, received(ST));"},
	"iread":         {"id = io_begin(file, IO_READ, NON_BLOCKING, bytes(count, datatype));", "opened_io(REQ, file, id);"},
	"ireadall":      {"id = io_begin(file, IO_READ, NON_BLOCKING | COLLECTIVE, bytes(count, datatype));", "opened_io(REQ, file, id);"},
	"iwrite":        {"id = io_begin(file, IO_WRITE, NON_BLOCKING, bytes(count, datatype));", "opened_io(REQ, file, id);"},
	"iwriteall":     {"id = io_begin(file, IO_WRITE, NON_BLOCKING | COLLECTIVE, bytes(count, datatype));", "opened_io(REQ, file, id);"},
	"readbegin":     {"split_begin(file, IO_READ, bytes(count, datatype));", "split_issued(file);"},
	"writebegin":    {"split_begin(file, IO_WRITE, bytes(count, datatype));", "split_issued(file);"},
	"splitend":      {"", "split_end(file, received(ST));"},
	"nbc":           {"id = nbc_begin();", "nbc(REQ, OP, comm, root_of(ROOT), SENT, GOT, id);"},
}

// functions reads the tables.
func functions() []function {
	var all []function
	for i, text := range []string{table + strings.TrimPrefix(sided, "\n") + strings.TrimPrefix(near, "\n"), tableLater} {
		for line := range strings.Lines(strings.TrimSpace(text)) {
			head, role, _ := strings.Cut(line, "|")
			name, params := parameters(head)
			all = append(all, function{name: name, params: params, role: strings.TrimSpace(role), later: i == 1})
		}
	}
	for i, text := range []string{regionsOnly, regionsOnlyLater} {
		for line := range strings.Lines(strings.TrimSpace(text)) {
			all = append(all, function{name: strings.Fields(line)[0], params: nameless(line), role: "plain", later: i == 1})
		}
	}
	for line := range strings.Lines(strings.TrimSpace(collectives)) {
		all = append(all, collective(line)...)
	}
	for _, f := range all {
		if l, ok := f.largeForm(); ok {
			all = append(all, l)
		}
	}
	return all
}

// collective reads a line of the table: the function itself, its non-blocking
// and its persistent form.
func collective(line string) []function {
	f := strings.Split(line, " | ")
	name, params := parameters(f[0])
	sent := strings.TrimSpace(f[3])
	if inPlaceSends[name] {
		sent = "PLACE(sendbuf) ? 0 : " + sent
	}
	c := function{name: name, params: params, role: "collective", op: strings.TrimSpace(f[1]), root: strings.TrimSpace(f[2]), sent: sent, got: strings.TrimSpace(f[4])}
	n := c
	n.name, n.role = "I"+strings.ToLower(name), "nbc"
	n.params = append(slices.Clone(params), param{"request", "request"})
	p := c
	p.name, p.role, p.later = name+"_init", "nbcinit", true
	p.params = append(slices.Clone(params), param{"info", "info"}, param{"request", "request"})
	return []function{c, n, p}
}

// nameless gives parameters that nothing refers to a name.
func nameless(line string) []param {
	var out []param
	for i, kind := range strings.Fields(line)[1:] {
		p := param{kind, fmt.Sprintf("p%d", i)}
		if kind == "status" {
			p.name = kind // the wrappers know it
		}
		out = append(out, p)
	}
	return out
}

// largeForm is the form of MPI 4 with counts of 64 bits.
func (f *function) largeForm() (function, bool) {
	l := *f
	l.name, l.params, l.later, l.large = f.name+"_c", slices.Clone(f.params), true, true
	found := false
	for i, p := range l.params {
		if _, ok := kinds["large "+p.kind]; ok {
			l.params[i].kind, found = "large "+p.kind, true
		}
	}
	return l, found
}

func parameters(text string) (string, []param) {
	f := strings.Fields(text)
	var out []param
	for _, p := range f[1:] {
		kind, name, _ := strings.Cut(p, ":")
		out = append(out, param{strings.ReplaceAll(kind, "_", " "), name})
	}
	return f[0], out
}

package exchange

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/formats/paraver"
	"github.com/isobath/isobath/internal/messages/trace"
)

// Paraver is a trace in the three files that Paraver reads.
type Paraver struct {
	trace   *trace.Trace
	tasks   int // ranks
	nodes   []string
	node    []int   // of each task, from 1
	threads [][]row // of each task
	calls   map[string][2]int64
	funcs   map[string]int64
	records []record
}

// record is a line of the trace, before it is sorted.
type record struct {
	time  int64
	order int8 // ends before begins, messages last
	seq   int32
	text  string
}

// NewParaver collects the records of a trace.
func NewParaver(ctx context.Context, t *trace.Trace) (*Paraver, error) {
	p := &Paraver{trace: t, calls: map[string][2]int64{}, funcs: map[string]int64{}}
	byTask := map[int64]int{}
	for _, r := range rowsOf(t) {
		task, ok := byTask[r.track.PID]
		if !ok {
			task = len(p.threads)
			byTask[r.track.PID] = task
			p.threads = append(p.threads, nil)
			p.node = append(p.node, p.nodeOf(t.Procs[r.process].Host))
		}
		p.threads[task] = append(p.threads[task], r)
	}
	p.tasks = len(p.threads)
	for task, rows := range p.threads {
		for k, r := range rows {
			if err := p.row(ctx, task+1, k+1, r); err != nil {
				return nil, err
			}
		}
	}
	p.messages()
	slices.SortStableFunc(p.records, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.order, b.order), cmp.Compare(a.seq, b.seq))
	})
	return p, nil
}

func (p *Paraver) nodeOf(host string) int {
	i := slices.Index(p.nodes, host)
	if i < 0 {
		i = len(p.nodes)
		p.nodes = append(p.nodes, host)
	}
	return i + 1
}

// firstOwn is where values of calls begin that Extrae has no number for.
const firstOwn = 1000

// call returns the type and value of a call of MPI.
func (p *Paraver) call(name string) [2]int64 {
	number, ok := p.calls[name]
	if !ok {
		if number, ok = paraver.Calls[name]; !ok {
			number = [2]int64{paraver.TypeOther, firstOwn + int64(len(p.calls))}
		}
		p.calls[name] = number
	}
	return number
}

func (p *Paraver) function(name string) int64 {
	id, ok := p.funcs[name]
	if !ok {
		id = int64(len(p.funcs) + 1)
		p.funcs[name] = id
	}
	return id
}

func (p *Paraver) add(time int64, order int8, format string, args ...any) {
	p.records = append(p.records, record{time, order, int32(len(p.records)), fmt.Sprintf(format, args...)})
}

// row writes the regions of one thread as events. Calls inside calls of MPI are
// left out: a type of event is in one call at a time.
func (p *Paraver) row(ctx context.Context, task, thread int, r row) error {
	stacks, err := p.trace.Stacks(ctx, []int32{r.number})
	if err != nil {
		return err
	}
	s := stacks[0]
	colls := map[int]string{}
	if int(r.number) < len(p.trace.Procs) {
		colls = p.collectives(r.number, s)
	}
	// Ends and begins of one thread keep their order even at the same time.
	var open []int
	inMPI := -1
	end := func(i int) {
		region := &p.trace.Regions[s.Region[i]]
		time := at(p.trace, s.Exit[i])
		switch {
		case i == inMPI:
			p.add(time, 0, "2:%d:1:%d:%d:%d:%d:0", task, task, thread, time, p.call(region.Name)[0])
			inMPI = -1
		case inMPI < 0 && !region.MPI:
			p.add(time, 0, "2:%d:1:%d:%d:%d:%d:0", task, task, thread, time, paraver.TypeFunction)
		}
	}
	for i := range s.Region {
		for n := len(open); n > int(s.Depth[i]); n-- {
			end(open[n-1])
			open = open[:n-1]
		}
		open = append(open, i)
		if inMPI >= 0 {
			continue
		}
		region := &p.trace.Regions[s.Region[i]]
		time := at(p.trace, s.Enter[i])
		if region.MPI {
			inMPI = i
			number := p.call(region.Name)
			p.add(time, 0, "2:%d:1:%d:%d:%d:%d:%d%s", task, task, thread, time, number[0], number[1], colls[i])
			continue
		}
		p.add(time, 0, "2:%d:1:%d:%d:%d:%d:%d", task, task, thread, time, paraver.TypeFunction, p.function(region.Name))
	}
	for n := len(open); n > 0; n-- {
		end(open[n-1])
	}
	return nil
}

// collectives says for each region that is one which communicator it is of, and
// whether the process is its root.
func (p *Paraver) collectives(proc int32, s *trace.Stack) map[int]string {
	t := p.trace
	out := map[int]string{}
	eachOp(t, proc, s, func(i int, op int32) {
		c := t.Ops.Ref[op]
		if t.Ops.Kind[op] != trace.Collective || t.Ops.Flags[op]&(trace.Starts|trace.Completes) != 0 || c < 0 {
			return
		}
		text, ranks := "", t.Comms[t.Colls.Comm[c]].Ranks
		if root := t.Colls.Root[c]; root >= 0 && int(root) < len(ranks) && ranks[root] == proc {
			text = fmt.Sprintf(":%d:1", paraver.TypeRoot)
		}
		out[i] = fmt.Sprintf("%s:%d:%d", text, paraver.TypeCommunicator, t.Colls.Comm[c]+1)
	})
	return out
}

// place is where a process stands among tasks and threads.
func (p *Paraver) place(proc int32) (task, thread int) {
	for i, rows := range p.threads {
		for k, r := range rows {
			if r.number == proc {
				return i + 1, k + 1
			}
		}
	}
	return 0, 0
}

// messages writes a record for each message whose both ends are known.
func (p *Paraver) messages() {
	t := p.trace
	places := make([][2]int, len(t.Procs))
	for proc := range places {
		task, thread := p.place(int32(proc))
		places[proc] = [2]int{task, thread}
	}
	for s, r := range t.Sends.Match {
		if r < 0 || t.Signal(t.Sends.Comm[s]) {
			continue
		}
		send, receive := t.Sends.Op[s], t.Recvs.Op[r]
		sent, left := at(t, t.Ops.Enter[send]), at(t, t.Ops.Exit[send])
		posted, arrived := at(t, t.Ops.Enter[receive]), at(t, t.Ops.Exit[receive])
		if c := t.Recvs.Post[r]; c >= 0 {
			posted = at(t, t.Calls.Enter[c])
		}
		from, to := places[t.ProcOf(send)], places[t.ProcOf(receive)]
		p.add(sent, 1, "3:%d:1:%d:%d:%d:%d:%d:1:%d:%d:%d:%d:%d:%d", from[0], from[0], from[1], sent, left, to[0], to[0], to[1], posted, arrived, max(t.Sends.Bytes[s], 0), t.Sends.Tag[s])
	}
}

// WriteTrace writes the .prv. The date is fixed: the same trace gives the same
// bytes.
func (p *Paraver) WriteTrace(w io.Writer) error {
	b := bufio.NewWriterSize(w, 1<<16)
	cpus := make([]int, len(p.nodes))
	tasks := make([]string, p.tasks)
	for i, node := range p.node {
		cpus[node-1]++
		tasks[i] = fmt.Sprintf("%d:%d", len(p.threads[i]), node)
	}
	counts := make([]string, len(cpus))
	for i, n := range cpus {
		counts[i] = fmt.Sprint(n)
	}
	fmt.Fprintf(b, "#Paraver (01/01/1970 at 00:00):%d_ns:%d(%s):1:%d(%s),%d\n", at(p.trace, p.trace.Last), len(cpus), strings.Join(counts, ","), p.tasks, strings.Join(tasks, ","), len(p.trace.Comms))
	for i, c := range p.trace.Comms {
		var members []string
		for _, proc := range c.Ranks {
			if proc >= 0 {
				task, _ := p.place(proc)
				members = append(members, fmt.Sprint(task))
			}
		}
		if len(members) > 0 {
			fmt.Fprintf(b, "c:1:%d:%d:%s\n", i+1, len(members), strings.Join(members, ":"))
		}
	}
	for _, r := range p.records {
		fmt.Fprintln(b, r.text)
	}
	return b.Flush()
}

// WriteNames writes the .pcf: what types and values are called.
func (p *Paraver) WriteNames(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\n")
	labels := map[int64]string{paraver.TypePointToPoint: "MPI Point-to-point", paraver.TypeCollective: "MPI Collective Comm", paraver.TypeOther: "MPI Other"}
	for _, typ := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(b, "EVENT_TYPE\n9   %d    %s\nVALUES\n", typ, labels[typ])
		for _, name := range slices.Sorted(maps.Keys(p.calls)) {
			if number := p.calls[name]; number[0] == typ {
				fmt.Fprintf(b, "%d   %s\n", number[1], oneLine(name))
			}
		}
		fmt.Fprint(b, "0   Outside MPI\n\n")
	}
	fmt.Fprintf(b, "EVENT_TYPE\n0   %d    User function\nVALUES\n", paraver.TypeFunction)
	for _, name := range slices.SortedFunc(maps.Keys(p.funcs), func(a, c string) int { return cmp.Compare(p.funcs[a], p.funcs[c]) }) {
		fmt.Fprintf(b, "%d   %s\n", p.funcs[name], oneLine(name))
	}
	fmt.Fprintf(b, "0   End\n\nEVENT_TYPE\n9   %d    Send Size in MPI Global OP\n9   %d    Recv Size in MPI Global OP\n9   %d    Root in MPI Global OP\n9   %d    Communicator in MPI Global OP\n\n",
		paraver.TypeSent, paraver.TypeReceived, paraver.TypeRoot, paraver.TypeCommunicator)
	return b.Flush()
}

func oneLine(name string) string { return strings.Join(strings.Fields(name), " ") }

// WriteRows writes the .row: what nodes and threads are called.
func (p *Paraver) WriteRows(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "LEVEL NODE SIZE %d\n", len(p.nodes))
	for i, n := range p.nodes {
		fmt.Fprintln(b, cmp.Or(oneLine(n), fmt.Sprintf("node %d", i+1)))
	}
	all := 0
	for _, rows := range p.threads {
		all += len(rows)
	}
	fmt.Fprintf(b, "\nLEVEL THREAD SIZE %d\n", all)
	for i, rows := range p.threads {
		for k, r := range rows {
			fmt.Fprintf(b, "THREAD 1.%d.%d %s\n", i+1, k+1, oneLine(r.name))
		}
	}
	return b.Flush()
}

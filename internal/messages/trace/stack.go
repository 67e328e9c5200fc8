package trace

import (
	"context"
	"strings"

	"github.com/isobath/isobath/internal/formats/otf2"
)

// Stack is every region one process was in, in the order they were entered:
// also those without communication, which the trace itself does not keep.
type Stack struct {
	Region, Depth []int32
	Enter, Exit   []int64
	Deepest       int32
	Cut           bool
}

// maxStack bounds the regions of one process that are kept; Cut says that later
// ones are missing.
const maxStack = 4 << 20

// Stacks reads the archive again for the call stacks of some processes and
// threads; the first thread has the number after the last process.
func (t *Trace) Stacks(ctx context.Context, rows []int32) ([]*Stack, error) {
	a, err := t.Archive()
	if err != nil {
		return nil, err
	}
	n := newNames(a.Defs)
	out := make([]*Stack, len(rows))
	for i, row := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := row
		location := uint64(0)
		if k := int(row) - len(t.Procs); k >= 0 {
			p, location = t.Threads[k].Process, t.Threads[k].Location
		} else {
			location = t.Procs[p].Location
		}
		r, err := a.Events(location)
		if err != nil {
			return nil, err
		}
		out[i] = t.stack(p, r, n)
		r.Close()
	}
	return out, nil
}

func (t *Trace) stack(p int32, r *otf2.EventReader, n *names) *Stack {
	s := &Stack{}
	var open []int32
	last := int64(0)
	enter := func(region int32) {
		if len(s.Region) >= maxStack {
			s.Cut = true
			open = append(open, None)
			return
		}
		s.Deepest = max(s.Deepest, int32(len(open)))
		s.Region, s.Depth = append(s.Region, region), append(s.Depth, int32(len(open)))
		s.Enter, s.Exit = append(s.Enter, last), append(s.Exit, last)
		open = append(open, int32(len(s.Region)-1))
	}
	leave := func() {
		if k := len(open) - 1; k >= 0 {
			if open[k] >= 0 {
				s.Exit[open[k]] = last
			}
			open = open[:k]
		}
	}
	var ev otf2.Event
	for r.Next(&ev) {
		last = max(last, t.timeOf(p, ev.Time))
		switch ev.Kind {
		case otf2.Enter:
			enter(n.region(ev.F[0]))
		case otf2.CallingEnter:
			enter(n.context(ev.F[0]))
		case otf2.Leave, otf2.CallingLeave:
			leave()
		}
	}
	for len(open) > 0 {
		leave()
	}
	return s
}

// Group is what kind of work a region is.
type Group uint8

// The groups.
const (
	GroupComputing Group = iota
	GroupPointToPoint
	GroupCollective
	GroupWaiting
	GroupMPI
	GroupThreads
	GroupAccelerator
	GroupFiles
	GroupTracer
)

// GroupNames are the groups in words, by number.
var GroupNames = []string{"computing", "point to point", "collective", "waiting for requests", "other MPI", "threads", "accelerator", "files", "tracer"}

// Paradigms and roles of OTF2 that tell groups apart.
const (
	roleCollectiveFirst = 23
	roleCollectiveLast  = 26
	roleFile            = 27
	rolePointToPoint    = 28
	roleFileMetadata    = 38
)

// groupOf sorts a region by what its definition says, and MPI calls whose role
// is not given by their names.
func groupOf(name string, paradigm, kind uint8) Group {
	switch {
	case kind == roleFile || kind == roleFileMetadata:
		return GroupFiles
	case paradigm == otf2.ParadigmMPI || strings.HasPrefix(name, "MPI_"):
		return mpiGroup(strings.TrimPrefix(strings.ToLower(name), "mpi_"), kind)
	}
	switch paradigm {
	case 3, 7, 9, 14, 15, 16, 17, 20: // OpenMP, pthreads, OmpSs, and threads of Windows, Qt, ACE, TBB, MTAPI
		return GroupThreads
	case 5, 8, 10, 18, 19, 23, 24: // CUDA, HMPP, hardware, OpenACC, OpenCL, HIP, Kokkos
		return GroupAccelerator
	case 6:
		return GroupTracer
	case 11, 12, 13: // GASPI, UPC, SHMEM
		return GroupMPI
	}
	return GroupComputing
}

func mpiGroup(name string, kind uint8) Group {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.HasPrefix(name, w) || strings.HasPrefix(name, "i"+w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("wait", "test"):
		return GroupWaiting
	case strings.HasPrefix(name, "file"):
		return GroupFiles
	case kind >= roleCollectiveFirst && kind <= roleCollectiveLast, has("barrier", "bcast", "gather", "scatter", "all", "reduce", "scan", "exscan"):
		return GroupCollective
	case kind == rolePointToPoint, has("send", "recv", "bsend", "ssend", "rsend", "mrecv", "probe", "start"):
		return GroupPointToPoint
	}
	return GroupMPI
}

// Locality is the process that the rows of locality measure. Each does its work
// on references that it makes up, as of a program: a stack, sweeps, nodes of a
// hash table, and a hot table. The first four do it on a recorded run, too.
//
//	locality generate N     make N references and do nothing with them, or read RUN
//	locality distances N    reuse distances alone, of N or RUN
//	locality textbook N     the same as textbooks do it, for comparison
//	locality pass N         the whole pass with lines, objects and fields
//	locality caches N       three levels and two TLBs
//	locality layout N       one change of a layout, replayed
//	locality keep N         keep N references in memory, to be replayed
//	locality text N         write N references as Valgrind's lackey does
//	locality machines N DIR the same on every machine that DIR describes, or on all presets
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"

	"github.com/isobath/isobath/internal/app/refset"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/locality/reuse"
)

func main() {
	if err := do(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "locality:", err)
		os.Exit(1)
	}
}

func do(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("want what to do and how many references")
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return recorded(args[0], args[1])
	}
	m, _ := platform.Preset("classic")
	if add, end := inOnePass(args[0], table()); add != nil {
		each(n, add)
		end()
		return nil
	}
	switch args[0] {
	case "caches":
		c := replay.NewCaches(m)
		each(n, func(batch []refs.Ref) {
			for i := range batch {
				c.Access(0, batch[i].Addr, batch[i].Size)
			}
		})
	case "layout":
		return split(n, m)
	case "keep":
		_, _, err := keep(n)
		return err
	case "text":
		return text(n, os.Stdout)
	case "machines":
		return everywhere(n, args[2:])
	default:
		return fmt.Errorf("unknown work %q", args[0])
	}
	return nil
}

// inOnePass is what a kind of work does with a batch of references, and at the
// end; nil if it is none of those that also take recorded ones.
func inOnePass(work string, t *layout.Table) (add func([]refs.Ref), end func()) {
	end = func() {}
	switch work {
	case "generate":
		add = func([]refs.Ref) {}
	case "distances":
		s := reuse.NewStack()
		add = func(batch []refs.Ref) {
			for i := range batch {
				s.Access(batch[i].Addr / 64)
			}
		}
	case "textbook":
		b := newTextbook()
		add = func(batch []refs.Ref) {
			for i := range batch {
				b.access(batch[i].Addr / 64)
			}
		}
	case "pass":
		m, _ := platform.Preset("classic")
		p := reuse.NewPass(reuse.Options{Cache: m.Levels[0].Geometry(), Member: t.Member})
		add, end = p.Add, func() { p.Result() }
	}
	return add, end
}

// recorded does a kind of work on the references of a run.
func recorded(work, path string) error {
	set, err := refset.Open(context.Background(), path, refset.Options{})
	if err != nil {
		return err
	}
	defer set.Close()
	add, end := inOnePass(work, set.Table)
	if add == nil {
		return fmt.Errorf("%s takes a number of references, not a run", work)
	}
	defer end()
	return set.Each(context.Background(), func(batch []refs.Ref) error {
		add(batch)
		return nil
	})
}

const (
	stackAt, sweepAt, nodesAt, tableAt = 0x7fff0000, 0x10000000, 0x90000000, 0x50000000
	nodes, nodeBytes                   = 100_000, 80
)

// each makes references in batches.
func each(n int, visit func([]refs.Ref)) {
	batch := make([]refs.Ref, refs.BatchSize)
	random := uint64(88172645463325252)
	for from := 0; from < n; from += len(batch) {
		batch = batch[:min(len(batch), n-from)]
		for k := range batch {
			i := from + k
			random ^= random << 13
			random ^= random >> 7
			random ^= random << 17
			batch[k] = reference(uint64(i), random)
		}
		visit(batch)
	}
}

// reference makes the i-th reference. More than half of the references of most
// programs are to a line just used.
func reference(i, random uint64) refs.Ref {
	r := refs.Ref{Size: 8, PC: 0x401000 + i%16*4, Place: uint32(1 + i%16)}
	switch i % 16 {
	default:
		r.Addr, r.Object = stackAt+i%5*8, 1
	case 8, 9, 10, 11:
		r.Addr, r.Object = sweepAt+i/16%500_000*8+i%4*0x1000000, 2
	case 12, 13:
		r.Addr, r.Object = tableAt+random%512*8, 3
	case 14, 15:
		r.Addr, r.Object = nodesAt+random%nodes*nodeBytes+i%2*72, 4
	}
	return r
}

// text writes references with their instructions, as lackey does.
func text(n int, to io.Writer) error {
	out := bufio.NewWriterSize(to, 1<<16)
	var line []byte
	each(n, func(batch []refs.Ref) {
		for i := range batch {
			line = append(line[:0], "I  "...)
			line = strconv.AppendUint(line, batch[i].PC, 16)
			line = append(line, ",4\n L "...)
			line = strconv.AppendUint(line, batch[i].Addr, 16)
			line = append(line, ",8\n"...)
			out.Write(line) // Flush has the error
		}
	})
	return out.Flush()
}

func objects() *refs.About {
	return &refs.About{Has: refs.HasObject, Objects: []refs.Object{{}, {Name: "stack", Start: stackAt}, {Name: "a", Start: sweepAt}, {Name: "table", Start: tableAt}, {Name: "nodes", Start: nodesAt}}}
}

func table() *layout.Table { return layout.NewTable(objects(), nil, nil) }

// keep gathers references and their objects.
func keep(n int) (*replay.Trace, *layout.Table, error) {
	t := table()
	r := replay.NewReader(t.Number, n)
	var failed error
	each(n, func(batch []refs.Ref) {
		if err := r.Add(batch); err != nil {
			failed = err
		}
	})
	t.Finish()
	return r.Trace(nil), t, failed
}

// split replays the nodes with key and link side by side.
func split(n int, m *platform.Machine) error {
	trace, t, err := keep(n)
	for _, o := range t.Objects[1:] {
		if err != nil || o.Name != "nodes" {
			continue
		}
		c, err := replay.NewChange(o, nodeBytes, []replay.Part{{Name: "hot", Stride: 16}, {Name: "cold", Stride: 64}},
			[]replay.Move{{From: 0, Size: 8, Part: 0, To: 0}, {From: 72, Size: 8, Part: 0, To: 8}, {From: 8, Size: 64, Part: 1}})
		if err != nil {
			return err
		}
		if _, err = replay.Run(context.Background(), trace, m, &replay.Plan{Changes: []*replay.Change{c}}, replay.Malloc); err != nil {
			return err
		}
	}
	return err
}

// everywhere replays the references on the machines of a folder.
func everywhere(n int, dirs []string) error {
	trace, _, err := keep(n)
	if err != nil {
		return err
	}
	machines := 0
	for m := range described(dirs) {
		if _, err := replay.Run(context.Background(), trace, m, nil, replay.Kept); err != nil {
			return err
		}
		machines++
	}
	fmt.Println(machines)
	return nil
}

// described are the machines that files of folders describe with the sizes of
// their caches; without folders, the presets.
func described(dirs []string) iter.Seq[*platform.Machine] {
	return func(yield func(*platform.Machine) bool) {
		if len(dirs) == 0 {
			for _, name := range platform.Presets() {
				if m, ok := platform.Preset(name); ok && !yield(m) {
					return
				}
			}
		}
		for _, dir := range dirs {
			files, _ := filepath.Glob(filepath.Join(dir, "*"))
			for _, f := range files {
				t, err := formats.OpenTopology(f)
				if err != nil {
					continue
				}
				if m, err := platform.FromTopology(t); err == nil && m.Check() == nil && !yield(m) {
					return
				}
			}
		}
	}
}

package logical

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/messages/mpiprog"
	"github.com/isobath/isobath/internal/messages/trace"
)

// verify checks a structure against the trace alone: it shares no code with
// the analysis beyond the columns, and reads messages and collectives from
// the trace's tables.
func verify(s *Structure) error {
	for _, check := range []func(*Structure) error{verifyOrder, verifyMessages, verifyCollectives, verifyAsync, verifyPartitions, verifyMetrics} {
		if err := check(s); err != nil {
			return err
		}
	}
	return nil
}

// verifyOrder: steps rise along every process; with reordering along the
// order that is shown, in which sends and collectives keep theirs and nothing
// leaves its partition.
func verifyOrder(s *Structure) error {
	for p := range s.Trace.Procs {
		ops := make([]int32, 0, s.Start[p+1]-s.Start[p])
		for i := s.Start[p]; i < s.Start[p+1]; i++ {
			ops = append(ops, i)
		}
		if s.Options.Reorder {
			slices.SortStableFunc(ops, func(a, b int32) int { return int(s.Step[a] - s.Step[b]) })
			last := trace.None
			for _, i := range ops {
				if s.Kind[i] != trace.Recv {
					if i < last {
						return fmt.Errorf("process %d: reordering moved send or collective %d", p, i)
					}
					last = i
				}
			}
		}
		for k := 1; k < len(ops); k++ {
			if s.Step[ops[k]] <= s.Step[ops[k-1]] {
				return fmt.Errorf("process %d: operation %d at step %d follows %d at step %d", p, ops[k], s.Step[ops[k]], ops[k-1], s.Step[ops[k-1]])
			}
		}
	}
	return nil
}

func opOf(s *Structure, traceOp int32) int32 {
	k, found := slices.BinarySearch(s.First, traceOp)
	if !found {
		k--
	}
	return int32(k)
}

func verifyMessages(s *Structure) error {
	t := s.Trace
	for i, m := range t.Sends.Match {
		if m < 0 {
			continue
		}
		a, b := opOf(s, t.Sends.Op[i]), opOf(s, t.Recvs.Op[m])
		if s.Step[a] >= s.Step[b] {
			return fmt.Errorf("message %d is sent at step %d and received at %d", i, s.Step[a], s.Step[b])
		}
		if s.Part[a] != s.Part[b] {
			return fmt.Errorf("message %d crosses from partition %d to %d", i, s.Part[a], s.Part[b])
		}
		if t.Recvs.Match[m] != int32(i) {
			return fmt.Errorf("message %d: its receive belongs to %d", i, t.Recvs.Match[m])
		}
	}
	return nil
}

func verifyCollectives(s *Structure) error {
	c := &s.Trace.Colls
	for i := range c.Comm {
		first := opOf(s, c.Member[c.Start[i]])
		for _, m := range c.Member[c.Start[i]:c.Start[i+1]] {
			if op := opOf(s, m); s.Step[op] != s.Step[first] || s.Part[op] != s.Part[first] {
				return fmt.Errorf("collective %d is at steps %d and %d, partitions %d and %d", i, s.Step[first], s.Step[op], s.Part[first], s.Part[op])
			}
		}
	}
	return nil
}

// verifyAsync: a completion comes after every start its kind waits for.
func verifyAsync(s *Structure) error {
	a := &s.Trace.Async
	for i := range a.Comm {
		for x := a.Start[i]; x < a.Start[i+1]; x++ {
			if a.Done[x] < 0 {
				continue
			}
			done := opOf(s, a.Done[x])
			for y := a.Start[i]; y < a.Start[i+1]; y++ {
				begin := opOf(s, a.Begin[y])
				waits := true
				switch a.Code[i] {
				case 1, 4, 5:
					waits = a.Rank[y] == a.Root[i]
				case 2, 3, 12:
					waits = a.Rank[x] == a.Root[i] || x == y
				case 14, 15:
					waits = a.Rank[y] <= a.Rank[x]
				}
				if waits && s.Step[begin] >= s.Step[done] {
					return fmt.Errorf("non-blocking collective %d (kind %d): started at step %d, completed at %d", i, a.Code[i], s.Step[begin], s.Step[done])
				}
				if s.Part[begin] != s.Part[done] {
					return fmt.Errorf("non-blocking collective %d lies in two partitions", i)
				}
			}
		}
	}
	return nil
}

// verifyPartitions: a partition is one stretch of each process, a partition
// that follows another begins after it ends, and the numbers add up.
func verifyPartitions(s *Structure) error {
	n := s.Parts.Count()
	lo, hi, ops := make([]int32, n), make([]int32, n), make([]int32, n)
	for q := range lo {
		lo[q], hi[q] = 1<<30, -1
	}
	for i, q := range s.Part {
		lo[q], hi[q] = min(lo[q], s.Step[i]), max(hi[q], s.Step[i])
		ops[q]++
	}
	for q := range lo {
		if ops[q] == 0 || s.Parts.First[q] != lo[q] || s.Parts.Len[q] != hi[q]-lo[q]+1 || s.Parts.Ops[q] != ops[q] {
			return fmt.Errorf("partition %d: first %d, length %d, %d operations; found %d, %d, %d", q, s.Parts.First[q], s.Parts.Len[q], s.Parts.Ops[q], lo[q], hi[q]-lo[q]+1, ops[q])
		}
	}
	for p := range s.Trace.Procs {
		seen := map[int32]bool{}
		for i := s.Start[p]; i < s.Start[p+1]; i++ {
			q := s.Part[i]
			if i > s.Start[p] && s.Part[i-1] == q {
				continue
			}
			if seen[q] {
				return fmt.Errorf("process %d returns to partition %d", p, q)
			}
			seen[q] = true
			if i > s.Start[p] && hi[s.Part[i-1]] >= lo[q] {
				return fmt.Errorf("partition %d begins at step %d, before %d ends at %d", q, lo[q], s.Part[i-1], hi[s.Part[i-1]])
			}
		}
	}
	return nil
}

// verifyMetrics recomputes all eight by their definitions, with maps.
func verifyMetrics(s *Structure) error {
	type cell struct{ part, step int32 }
	for _, global := range []bool{false, true} {
		key := func(i int32) cell {
			if global {
				return cell{-1, s.Step[i]}
			}
			return cell{s.Part[i], s.Step[i]}
		}
		minExit, minEnter := map[cell]int64{}, map[cell]int64{}
		for i := range int32(s.Len()) {
			if v, ok := minExit[key(i)]; !ok || s.Exit[i] < v {
				minExit[key(i)] = s.Exit[i]
			}
			if v, ok := minEnter[key(i)]; !ok || s.Enter[i] < v {
				minEnter[key(i)] = s.Enter[i]
			}
		}
		late, agg, diff, aggDiff := s.Late, s.AggLate, s.Diff, s.AggDiff
		if global {
			late, agg, diff, aggDiff = s.GlobalLate, s.GlobalAggLate, s.GlobalDiff, s.GlobalAggDiff
		}
		for i := range int32(s.Len()) {
			if late[i] != s.Exit[i]-minExit[key(i)] || agg[i] != s.Enter[i]-minEnter[key(i)] {
				return fmt.Errorf("operation %d: lateness %d, %d; want %d, %d", i, late[i], agg[i], s.Exit[i]-minExit[key(i)], s.Enter[i]-minEnter[key(i)])
			}
			before := agg[i]
			for _, u := range senders(s, i) {
				before = max(before, late[u])
			}
			prev := int64(0)
			if i > s.Start[s.Proc[i]] {
				prev = late[i-1]
			}
			if diff[i] != max(0, late[i]-before) || aggDiff[i] != max(0, agg[i]-prev) || diff[i] < 0 {
				return fmt.Errorf("operation %d: differential %d, %d; want %d, %d", i, diff[i], aggDiff[i], max(0, late[i]-before), max(0, agg[i]-prev))
			}
		}
	}
	return nil
}

// senders lists all operations a receive waits for, from the trace's tables.
func senders(s *Structure, op int32) []int32 {
	t := s.Trace
	var out []int32
	if s.Kind[op] != trace.Recv {
		return nil
	}
	for row, o := range t.Recvs.Op {
		if opOf(s, o) == op && t.Recvs.Match[row] >= 0 {
			out = append(out, opOf(s, t.Sends.Op[t.Recvs.Match[row]]))
		}
	}
	a := &t.Async
	for i := range a.Comm {
		for x := a.Start[i]; x < a.Start[i+1]; x++ {
			if a.Done[x] < 0 || opOf(s, a.Done[x]) != op {
				continue
			}
			for y := a.Start[i]; y < a.Start[i+1]; y++ {
				waits := true
				switch a.Code[i] {
				case 1, 4, 5:
					waits = a.Rank[y] == a.Root[i] && x != y
				case 2, 3, 12:
					waits = a.Rank[x] == a.Root[i]
				case 14, 15:
					waits = a.Rank[y] <= a.Rank[x]
				}
				if waits {
					out = append(out, opOf(s, a.Begin[y]))
				}
			}
		}
	}
	return out
}

// variants are the option sets every trace is verified with.
func variants() map[string]Options {
	return map[string]Options{
		"default":       Default(),
		"plain":         {Ratio: DefaultRatio},
		"leaps":         with(func(o *Options) { o.Leaps = true }),
		"leaps force":   with(func(o *Options) { o.Leaps, o.Force = true, true }),
		"across":        with(func(o *Options) { o.MergeGlobal = true }),
		"calls":         with(func(o *Options) { o.Calls = true }),
		"leaps reorder": with(func(o *Options) { o.Leaps, o.Reorder = true, true }),
	}
}

// TestSharedTracesVerify runs the verifier on every shared trace with every
// set of options; the metrics by definition only on the small ones, where
// their quadratic cost is bearable.
func TestSharedTracesVerify(t *testing.T) {
	for _, name := range []string{"amg8", "binomial16", "commtag8", "dissem16", "halo16", "halo16_skew", "halo64_big", "lu8", "lulesh8",
		"mergetree64", "mg16", "ring16", "thirdparty/pipit-ping-pong-otf2", "thirdparty/sst-elements-emberotf2", "eztrace/halo16/halo_trace"} {
		t.Run(name, func(t *testing.T) {
			tr := openShared(t, name)
			for option, o := range variants() {
				s := analyze(t, tr, o)
				checks := []func(*Structure) error{verifyOrder, verifyMessages, verifyCollectives, verifyAsync, verifyPartitions}
				if s.Len() < 1000 {
					checks = append(checks, verifyMetrics)
				}
				for _, check := range checks {
					if err := check(s); err != nil {
						t.Errorf("%s: %v", option, err)
					}
				}
			}
		})
	}
}

// TestRandomPrograms verifies the structure of random programs and compares
// partitions and steps with the slow direct version.
func TestRandomPrograms(t *testing.T) {
	programs := uint64(120)
	if testing.Short() {
		programs = 40
	}
	for seed := range programs {
		rng := rand.New(rand.NewPCG(seed, 9))
		n := 1 + rng.IntN(9)
		tr := run(t, n, func(p *mpiprog.Program) { random(p, rng, 10+rng.IntN(150)) })
		if sends, recvs := tr.Unmatched(); sends+recvs > 0 || tr.Repairs != (trace.Repairs{}) {
			t.Fatalf("seed %d: %d sends, %d receives unmatched, repairs %+v", seed, sends, recvs, tr.Repairs)
		}
		for option, o := range variants() {
			s := analyze(t, tr, o)
			if err := verify(s); err != nil {
				t.Fatalf("seed %d, %s: %v", seed, option, err)
			}
			if option == "default" || option == "plain" {
				compareSlow(t, fmt.Sprintf("seed %d, %s", seed, option), s)
			}
		}
	}
}

// TestManyProcesses verifies random programs of up to 4,096 processes.
func TestManyProcesses(t *testing.T) {
	sizes := []int{257, 1024, 4096}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, n := range sizes {
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		tr := run(t, n, func(p *mpiprog.Program) {
			random(p, rng, 3*n)
			p.Collective(mpiprog.World, mpiprog.Allreduce)
			random(p, rng, n)
		})
		for _, o := range []Options{Default(), with(func(o *Options) { o.Leaps = true }), with(func(o *Options) { o.Leaps, o.Reorder = true, true })} {
			s := analyze(t, tr, o)
			for _, check := range []func(*Structure) error{verifyOrder, verifyMessages, verifyCollectives, verifyAsync, verifyPartitions} {
				if err := check(s); err != nil {
					t.Fatalf("%d processes: %v", n, err)
				}
			}
		}
	}
}

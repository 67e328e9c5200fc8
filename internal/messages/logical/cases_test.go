package logical

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/messages/mpiprog"
	"github.com/isobath/isobath/internal/messages/trace"
)

const world = mpiprog.World

// TestSmallPrograms: programs small enough to work out by hand.
func TestSmallPrograms(t *testing.T) {
	tests := []struct {
		name              string
		ranks             int
		body              func(p *mpiprog.Program)
		o                 Options
		partitions, steps int
	}{
		{"nothing", 3, func(*mpiprog.Program) {}, Default(), 0, 0},
		{"one process", 1, func(p *mpiprog.Program) { p.Collective(world, mpiprog.Barrier) }, Default(), 1, 1},
		{"self message", 1, func(p *mpiprog.Program) { p.Send(0, 0, world, 0); p.Recv(0, 0, world, 0) }, Default(), 1, 2},
		{"empty process", 3, func(p *mpiprog.Program) { p.Send(0, 1, world, 0); p.Recv(1, 0, world, 0) }, Default(), 1, 2},
		{"unmatched send", 2, func(p *mpiprog.Program) { p.Send(0, 1, world, 0); p.Send(1, 0, world, 0); p.Recv(0, 1, world, 0) }, Default(), 2, 3},
		{"unmatched receive", 2, func(p *mpiprog.Program) { p.Recv(1, 0, world, 0); p.Send(1, 0, world, 1); p.Recv(0, 1, world, 1) }, Default(), 2, 3},
		{"shift by Sendrecv", 5, shift, Default(), 1, 2},
		{"open chain", 8, chain, Default(), 1, 2},
		{"open chain, calls apart", 8, chain, with(func(o *Options) { o.Waitall = false }), 7, 14},
		{"overlapping exchanges", 2, overlap, with(func(o *Options) { o.Coalesce = false }), 1, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := simulate(t, tt.ranks, tt.o, tt.body)
			if s.Parts.Count() != tt.partitions || s.Steps != tt.steps {
				t.Errorf("%d partitions, %d steps; want %d, %d", s.Parts.Count(), s.Steps, tt.partitions, tt.steps)
			}
			if err := verify(s); err != nil {
				t.Error(err)
			}
		})
	}
}

// shift: everyone sends to the right and receives from the left in one call.
// Kept as one operation each this would be a cycle without steps.
func shift(p *mpiprog.Program) {
	n := p.Size()
	for r := range n {
		p.BeginSendrecv(r, (r+1)%n, world, 0)
	}
	for r := range n {
		p.EndSendrecv(r, (r+n-1)%n, world, 0)
	}
}

// chain: rank r receives from r-1 and sends to r+1, one Waitall for both.
func chain(p *mpiprog.Program) {
	n := p.Size()
	requests := make([][]*mpiprog.Request, n)
	for r := range n {
		if r > 0 {
			requests[r] = append(requests[r], p.Irecv(r, r-1, world, 0))
		}
		if r+1 < n {
			requests[r] = append(requests[r], p.Isend(r, r+1, world, 0))
		}
	}
	for r := range n {
		p.Waitall(r, requests[r]...)
	}
}

// overlap: Isend A, Isend B, Waitall A, Waitall B on both ranks.
func overlap(p *mpiprog.Program) {
	var a, b [2][]*mpiprog.Request
	for r := range 2 {
		a[r] = append(a[r], p.Irecv(r, 1-r, world, 0))
		b[r] = append(b[r], p.Irecv(r, 1-r, world, 1))
		a[r] = append(a[r], p.Isend(r, 1-r, world, 0))
		b[r] = append(b[r], p.Isend(r, 1-r, world, 1))
	}
	for r := range 2 {
		p.Waitall(r, a[r]...)
		p.Waitall(r, b[r]...)
	}
}

// TestFormulas: the structures of section 5.1 of the paper for several sizes.
func TestFormulas(t *testing.T) {
	for _, n := range []int{2, 4, 8, 32} {
		log := 0
		for 1<<log < n {
			log++
		}
		tests := []struct {
			name                     string
			body                     func(*mpiprog.Program)
			partitions, steps, acros int
		}{
			{"binomial", binomial, 2*(n-1) + 2, 4*log + 2, 2*log + 2},
			{"ring", ring, n - 1 + 2, 2*(n-1) + 2, n - 1 + 2},
			{"dissemination", dissemination, n + 1, 2*log + 2, log + 2},
		}
		for _, tt := range tests {
			s := simulate(t, n, Default(), tt.body)
			if s.Parts.Count() != tt.partitions || s.Steps != tt.steps {
				t.Errorf("%s of %d: %d partitions, %d steps; want %d, %d", tt.name, n, s.Parts.Count(), s.Steps, tt.partitions, tt.steps)
			}
			s = analyze(t, s.Trace, with(func(o *Options) { o.MergeGlobal = true }))
			if s.Parts.Count() != tt.acros {
				t.Errorf("%s of %d: %d partitions after merging across steps, want %d", tt.name, n, s.Parts.Count(), tt.acros)
			}
		}
	}
}

func binomial(p *mpiprog.Program) {
	n := p.Size()
	p.Collective(world, mpiprog.Barrier)
	for m := 1; m < n; m <<= 1 {
		for r := m; r < n; r += 2 * m {
			p.Send(r, r-m, world, 0)
			p.Recv(r-m, r, world, 0)
		}
	}
	for m := n / 2; m > 0; m >>= 1 {
		for r := 0; r < n; r += 2 * m {
			p.Send(r, r+m, world, 1)
			p.Recv(r+m, r, world, 1)
		}
	}
	p.Collective(world, mpiprog.Barrier)
}

func ring(p *mpiprog.Program) {
	n := p.Size()
	p.Collective(world, mpiprog.Barrier)
	for range n - 1 {
		q := make([]*mpiprog.Request, n)
		for r := range n {
			q[r] = p.Isend(r, (r+1)%n, world, 0)
		}
		for r := range n {
			p.Recv(r, (r+n-1)%n, world, 0)
			p.Waitall(r, q[r])
		}
	}
	p.Collective(world, mpiprog.Barrier)
}

func dissemination(p *mpiprog.Program) {
	n := p.Size()
	p.Collective(world, mpiprog.Barrier)
	for m := 1; m < n; m <<= 1 {
		q := make([][]*mpiprog.Request, n)
		for r := range n {
			q[r] = append(q[r], p.Isend(r, (r+m)%n, world, 0), p.Irecv(r, (r-m+n)%n, world, 0))
		}
		for r := range n {
			p.Waitall(r, q[r]...)
		}
	}
	p.Collective(world, mpiprog.Barrier)
}

// TestHaloDelay: a delay put into one rank is found there, exactly.
func TestHaloDelay(t *testing.T) {
	const delay = 3_000_000
	s := simulate(t, 24, Default(), func(p *mpiprog.Program) { p.Halo(4, 6, 5, 9, 3, delay) })
	if s.Parts.Count() != 10 || s.Steps != 15 {
		t.Errorf("%d partitions, %d steps; want 10, 15", s.Parts.Count(), s.Steps)
	}
	c := causes(t, s, CauseOptions{Threshold: s.Threshold()})
	r := s.NewReport(c, 3)
	if len(r.Top) == 0 || r.Top[0].Process != 9 || r.Top[0].Amount < delay*9/10 || r.Top[0].Amount > delay*11/10 || r.Top[0].Waiting != 23 {
		t.Errorf("top %+v; want rank 9, %d ns, 23 waiting", r.Top, delay)
	}
	if len(r.Patterns) != 1 || r.Patterns[0].Name != "stencil on a 4 x 6 grid" {
		t.Errorf("patterns %+v", r.Patterns)
	}
}

// TestTimesDoNotMatter: partitions and steps stay when each process's clock
// runs at its own rate and offset. (The leap merge looks at times.)
func TestTimesDoNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	tr := run(t, 7, func(p *mpiprog.Program) { random(p, rng, 400) })
	want := analyze(t, tr, Default())
	warped := *tr
	warped.Ops.Enter, warped.Ops.Exit = slices.Clone(tr.Ops.Enter), slices.Clone(tr.Ops.Exit)
	for p := range tr.Procs {
		rate, offset := 1+rng.Int64N(9), rng.Int64N(1<<40)
		for i := tr.Ops.Start[p]; i < tr.Ops.Start[p+1]; i++ {
			warped.Ops.Enter[i] = offset + rate*tr.Ops.Enter[i]
			warped.Ops.Exit[i] = offset + rate*tr.Ops.Exit[i]
		}
	}
	got := analyze(t, &warped, Default())
	if !slices.Equal(got.Part, want.Part) || !slices.Equal(got.Step, want.Step) {
		t.Error("partitions or steps changed with the clocks")
	}
}

// TestSkewedClocks: halo16_skew without its clock correction keeps its
// structure, but not its lateness; the messages that go back in time tell.
func TestSkewedClocks(t *testing.T) {
	tr := openShared(t, "halo16_skew")
	want := analyze(t, tr, Default())
	skewed := *tr
	skewed.Ops.Enter, skewed.Ops.Exit = slices.Clone(tr.Ops.Enter), slices.Clone(tr.Ops.Exit)
	for p := range tr.Procs {
		for i := tr.Ops.Start[p]; i < tr.Ops.Start[p+1]; i++ {
			skewed.Ops.Enter[i] += int64(p) * 50_000_000
			skewed.Ops.Exit[i] += int64(p) * 50_000_000
		}
	}
	got := analyze(t, &skewed, Default())
	if !slices.Equal(got.Part, want.Part) || !slices.Equal(got.Step, want.Step) {
		t.Error("partitions or steps changed with the clocks")
	}
	if slices.Equal(got.GlobalLate, want.GlobalLate) {
		t.Error("lateness did not change with the clocks")
	}
	if want.skewed() != 0 || got.skewed() == 0 {
		t.Errorf("%d messages go back in time with correction, %d without; want 0 and some", want.skewed(), got.skewed())
	}
}

// TestRenumbered: the same program with its ranks permuted gives the same
// structure up to names.
func TestRenumbered(t *testing.T) {
	const n = 6
	perm := rand.New(rand.NewPCG(3, 3)).Perm(n)
	body := func(name func(int) int) func(p *mpiprog.Program) {
		return func(p *mpiprog.Program) {
			for k := range 40 {
				a, b := name(k*5%n), name((k*7+1)%n)
				if a != b {
					p.Send(a, b, world, 0)
					p.Recv(b, a, world, 0)
				}
			}
			p.Collective(world, mpiprog.Allreduce)
		}
	}
	a := simulate(t, n, Default(), body(func(r int) int { return r }))
	b := simulate(t, n, Default(), body(func(r int) int { return perm[r] }))
	if a.Parts.Count() != b.Parts.Count() || a.Steps != b.Steps {
		t.Fatalf("%d partitions, %d steps; permuted %d, %d", a.Parts.Count(), a.Steps, b.Parts.Count(), b.Steps)
	}
	for r := range n {
		x, y := a.Step[a.Start[r]:a.Start[r+1]], b.Step[b.Start[perm[r]]:b.Start[perm[r]+1]]
		if !slices.Equal(x, y) {
			t.Errorf("rank %d has steps %v, as rank %d %v", r, x, perm[r], y)
		}
	}
}

// TestSameEveryTime: reading with one and with many goroutines, twice, prints
// the same bytes.
func TestSameEveryTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.otf2")
	p, err := mpiprog.New(path, 12)
	if err != nil {
		t.Fatal(err)
	}
	random(p, rand.New(rand.NewPCG(8, 8)), 600)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	var first []byte
	for _, procs := range []int{1, 4, 4} {
		old := runtime.GOMAXPROCS(procs)
		tr, err := trace.Open(context.Background(), path)
		runtime.GOMAXPROCS(old)
		if err != nil {
			t.Fatal(err)
		}
		s := analyze(t, tr, with(func(o *Options) { o.Leaps = true }))
		c := causes(t, s, CauseOptions{Threshold: s.Threshold()})
		r := s.NewReport(c, 10)
		r.AddProfile(tr)
		if err := r.AddClusters(context.Background(), s, ClusterOptions{Part: None}); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := json.NewEncoder(&out).Encode(r); err != nil {
			t.Fatal(err)
		}
		if err := s.WriteTSV(&out, true); err != nil {
			t.Fatal(err)
		}
		if err := s.WriteJSON(&out, true); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = bytes.Clone(out.Bytes())
		} else if !bytes.Equal(first, out.Bytes()) {
			t.Error("output differs between runs")
		}
	}
}

// TestPhases: phases the user gives become the partitions, and a message that
// crosses a border pulls its receive into the later phase.
func TestPhases(t *testing.T) {
	tr := run(t, 3, func(p *mpiprog.Program) {
		for k := range 4 {
			for r := range 3 {
				p.Enter(r, "iteration")
				p.Leave(r, "iteration")
			}
			p.Send(0, 1, world, 0)
			if k != 1 { // the message of the second phase is received in the third
				p.Recv(1, 0, world, 0)
			}
			if k == 2 {
				p.Recv(1, 0, world, 0)
			}
			p.Send(1, 2, world, 0)
			p.Recv(2, 1, world, 0)
		}
	})
	marks, err := tr.Enters(context.Background(), []string{"iter*"})
	if err != nil {
		t.Fatal(err)
	}
	s := analyze(t, tr, with(func(o *Options) { o.Phases = marks }))
	if err := verify(s); err != nil {
		t.Error(err)
	}
	if s.Parts.Count() < 3 || s.Parts.Count() > 4 {
		t.Errorf("%d partitions, want 3 or 4", s.Parts.Count())
	}
	if s.Part[s.Start[0]] != 0 || s.Part[s.Start[1]-1] != int32(s.Parts.Count()-1) {
		t.Errorf("rank 0 is in partitions %v", s.Part[s.Start[0]:s.Start[1]])
	}
}

// TestClusters: two groups of ranks, one late by 2 ms throughout.
func TestClusters(t *testing.T) {
	s := simulate(t, 12, Default(), func(p *mpiprog.Program) {
		p.Collective(world, mpiprog.Barrier)
		for r := range 12 {
			if r%3 == 0 {
				p.Compute(r, 2_000_000)
			}
			for range 10 {
				p.Send(r, r, world, 0)
				p.Recv(r, r, world, 0)
			}
		}
	})
	c, err := s.Cluster(context.Background(), ClusterOptions{Part: None})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.List) != 2 || c.Silhouette < 0.9 {
		t.Fatalf("%d clusters, separation %.2f; want 2, above 0.9", len(c.List), c.Silhouette)
	}
	for p, k := range c.Of {
		if (p%3 == 0) != (k == c.Of[0]) {
			t.Errorf("process %d is in the wrong cluster", p)
		}
	}
}

// TestCancelled: an analysis stops when its context does.
func TestCancelled(t *testing.T) {
	tr := run(t, 4, func(p *mpiprog.Program) { p.Halo(2, 2, 3, -1, 0, 0) })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Analyze(ctx, tr, Default()); err == nil {
		t.Error("a cancelled analysis returned a result")
	}
}

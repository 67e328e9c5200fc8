package whatif

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/messages/trace"
)

// Scenario is a run with changes.
type Scenario struct {
	*Causes
	Changes []string
	W       *Weights
	// Other is the second end of what is not known: latency and bandwidth that
	// cannot be told apart. Nil if one number is enough.
	Other       *Weights
	Assumptions []string
	quiet       bool // everything above usual is gone as well
}

// NewScenario begins with the recording.
func (c *Causes) NewScenario() *Scenario {
	return &Scenario{Causes: c, W: c.Recorded()}
}

// Apply makes one change, in the text form of command line, address and page.
func (s *Scenario) Apply(ctx context.Context, text string) error {
	words := strings.Fields(spaced.Replace(text))
	if len(words) == 0 {
		return fmt.Errorf("an empty change; want for example %q", "rank 3 = median")
	}
	verbs := map[string]func(context.Context, []string) error{
		"cause": s.cause, "rank": s.chosen, "ranks": s.chosen, "process": s.chosen, "partition": s.chosen, "step": s.chosen, "steps": s.chosen,
		"function": s.function, "latency": s.network, "bandwidth": s.network, "network": s.network, "messages": s.network, "eager": s.eager,
		"no": s.without, "undisturbed": s.undisturbed, "map": s.remap,
	}
	apply, ok := verbs[words[0]]
	if !ok {
		return fmt.Errorf("%q: want cause, rank, step, partition, function, latency, bandwidth, network, eager, no, undisturbed or map", words[0])
	}
	if err := apply(ctx, words); err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	s.Changes = append(s.Changes, strings.TrimSpace(text))
	return nil
}

// spaced sets signs apart, so that "rank 3*0.5" is four words.
var spaced = strings.NewReplacer("=", " = ", "*", " * ", " - ", " - ", "×", " * ")

func (s *Scenario) cause(_ context.Context, words []string) error {
	n, err := strconv.Atoi(strings.Join(words[1:], ""))
	if err != nil || n < 1 || n > len(s.Entries) {
		return fmt.Errorf("there are %d causes; want one of them, such as cause 1", len(s.Entries))
	}
	s.remove(int32(n-1), s.W, 1)
	return nil
}

// selection is which computations a change concerns.
type selection struct {
	lines    []int32 // nil for all
	from, to int32   // steps, to exclusive
	steps    bool
	part     int32
}

// chosen is "rank 3,5 at step 17 - 5ms", "step 100:200 = median" and the like.
func (s *Scenario) chosen(_ context.Context, words []string) error {
	sel := selection{part: trace.None}
	i := 0
	for i < len(words) && !slices.Contains([]string{"=", "*", "-", "+"}, words[i]) {
		if words[i] == "at" {
			i++
			continue
		}
		if i+1 >= len(words) {
			return fmt.Errorf("nothing after %q", words[i])
		}
		if err := s.choose(&sel, words[i], words[i+1]); err != nil {
			return err
		}
		i += 2
	}
	if i+1 >= len(words) {
		return fmt.Errorf("what is to change? For example = median, * 0.5 or - 5ms")
	}
	edit, err := s.editOf(words[i], words[i+1])
	if err != nil {
		return err
	}
	n := 0
	for p := range int32(s.Lines()) {
		if sel.lines != nil && !slices.Contains(sel.lines, p) {
			continue
		}
		for i := s.Start[p]; i < s.Start[p+1]; i++ {
			if s.selects(&sel, i) {
				n++
				s.W.Comp[i] = max(0, edit(i, s.W.Comp[i]))
			}
		}
		if !sel.steps && sel.part < 0 && words[i] == "*" {
			s.W.Tail[p] = edit(trace.None, s.W.Tail[p])
		}
	}
	if n == 0 {
		return fmt.Errorf("no computation is there")
	}
	return nil
}

func (s *Scenario) choose(sel *selection, what, value string) error {
	switch what {
	case "rank", "ranks", "process":
		return s.chooseRanks(sel, value)
	case "partition":
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 0 || int(n) >= s.S.Parts.Count() {
			return fmt.Errorf("there are partitions 0 to %d", s.S.Parts.Count()-1)
		}
		sel.part = int32(n)
		return nil
	case "step", "steps":
		return s.chooseSteps(sel, value)
	}
	return fmt.Errorf("%q: want rank, step or partition", what)
}

func (s *Scenario) chooseSteps(sel *selection, value string) error {
	a, b, span := strings.Cut(value, ":")
	from, err := strconv.ParseInt(a, 10, 32)
	to := from + 1
	if span && err == nil {
		if to = int64(s.S.Steps); b != "" {
			to, err = strconv.ParseInt(b, 10, 32)
		}
	}
	if err != nil || from < 0 || to <= from || from >= int64(s.S.Steps) {
		return fmt.Errorf("there are steps 0 to %d; want one, or a range such as 100:200", s.S.Steps-1)
	}
	sel.from, sel.to, sel.steps = int32(from), int32(to), true
	return nil
}

func (s *Scenario) chooseRanks(sel *selection, value string) error {
	for item := range strings.SplitSeq(value, ",") {
		n, err := strconv.ParseInt(item, 10, 32)
		found := false
		for p := range s.Trace.Procs {
			home := s.Trace.Procs[s.Trace.Procs[p].Home]
			if err == nil && (int64(home.Rank) == n || home.Rank < 0 && int64(p) == n) {
				sel.lines = append(sel.lines, int32(p))
				found = true
			}
		}
		if !found {
			return fmt.Errorf("there is no rank %s; the run has %s", item, term.Counted(s.Lines(), "process"))
		}
	}
	return nil
}

func (s *Scenario) selects(sel *selection, i int32) bool {
	step := s.Peers.Step[i]
	if sel.steps && (step < sel.from || step >= sel.to) {
		return false
	}
	return sel.part < 0 || s.partOf(i) == sel.part
}

// partOf is the partition of the operation a call belongs to or comes before.
func (s *Scenario) partOf(i int32) int32 {
	o := &s.Trace.Ops
	p := s.Line[i]
	k, _ := slices.BinarySearch(o.Call[o.Start[p]:o.Start[p+1]], i)
	if op := o.Start[p] + int32(k); op < o.Start[p+1] {
		return s.S.Part[s.S.Of(op)]
	}
	return trace.None
}

// editOf returns what becomes of a computation before a call.
func (s *Scenario) editOf(sign, value string) (func(i int32, was int64) int64, error) {
	switch sign {
	case "=":
		if value != "median" {
			return nil, fmt.Errorf("= %s: want = median", value)
		}
		return func(i int32, was int64) int64 {
			if i < 0 || s.Peers.Rule[i] == 0 {
				return was
			}
			return min(was, s.Peers.Usual[i])
		}, nil
	case "*":
		k, err := strconv.ParseFloat(value, 64)
		if err != nil || k < 0 || k > 1e6 {
			return nil, fmt.Errorf("* %s: want a factor such as 0.5", value)
		}
		return func(_ int32, was int64) int64 { return int64(k * float64(was)) }, nil
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 {
		return nil, fmt.Errorf("%s %s: want a time such as 5ms", sign, value)
	}
	by := s.Trace.Ticks(d.Nanoseconds())
	if sign == "-" {
		by = -by
	}
	return func(_ int32, was int64) int64 { return was + by }, nil
}

// function is "function f * 0.5" and "function f with callees * 0.5".
func (s *Scenario) function(ctx context.Context, words []string) error {
	star := slices.Index(words, "*")
	if star < 2 || star+1 >= len(words) {
		return fmt.Errorf("want a function and a factor, such as function solve * 0.5")
	}
	name := words[1:star]
	callees := len(name) > 2 && name[len(name)-2] == "with" && name[len(name)-1] == "callees"
	if callees {
		name = name[:len(name)-2]
	}
	k, err := strconv.ParseFloat(words[star+1], 64)
	if err != nil || k < 0 || k > 1e6 {
		return fmt.Errorf("* %s: want a factor such as 0.5", words[star+1])
	}
	wanted, err := s.regions(strings.Join(name, " "))
	if err != nil {
		return err
	}
	before, after, err := s.Trace.FunctionTimes(ctx, func(r int32) bool { return slices.Contains(wanted, r) }, callees)
	if err != nil {
		return err
	}
	any := false
	scale := func(to *int64, part int64) {
		any = any || part > 0
		*to = max(0, *to-int64((1-k)*float64(min(part, *to))))
	}
	for i, part := range before {
		scale(&s.W.Comp[i], part)
	}
	for p, part := range after {
		scale(&s.W.Tail[p], part)
	}
	if !any {
		return fmt.Errorf("the function takes no time of its own between calls of MPI; try it with callees")
	}
	return nil
}

// regions are the rows of a function by its name, in full or without
// parameters.
func (s *Scenario) regions(name string) ([]int32, error) {
	var rows []int32
	near := ""
	for r := range s.Trace.Regions {
		g := &s.Trace.Regions[r]
		if g.MPI {
			continue
		}
		if g.Name == name || g.Short() == name {
			rows = append(rows, int32(r))
		}
		if strings.Contains(strings.ToLower(g.Name), strings.ToLower(name)) && (near == "" || len(g.Name) < len(near)) {
			near = g.Name
		}
	}
	switch {
	case len(rows) > 0:
		return rows, nil
	case near != "":
		return nil, fmt.Errorf("the trace has no function %q; did you mean %q?", name, near)
	}
	return nil, fmt.Errorf("the trace has no function %q; `isobath steps --profile` lists them", name)
}

// eager lets sends up to a size go without their receiver.
func (s *Scenario) eager(_ context.Context, words []string) error {
	if len(words) != 3 || words[1] != "=" {
		return fmt.Errorf("want a size such as eager = 64k")
	}
	m := bytesOf.FindStringSubmatch(words[2])
	if m == nil {
		return fmt.Errorf("%q: want a size such as 64k", words[2])
	}
	n, err := strconv.ParseInt(m[1], 10, 40)
	if err != nil {
		return err
	}
	n <<= map[string]uint{"": 0, "k": 10, "m": 20, "g": 30}[strings.ToLower(m[2])]
	found := 0
	for d, kind := range s.Deps.Kind {
		if kind == Rendezvous && s.Deps.Bytes[d] <= n {
			s.W.Lag[d] = never
			found++
		}
	}
	if found == 0 {
		return fmt.Errorf("no send up to that size waited for its receiver")
	}
	s.assume("sends up to %d bytes (%d of them) return without waiting for their receiver", n, found)
	return nil
}

var bytesOf = regexp.MustCompile(`^(\d+)([kKmMgG]?)[bB]?$`)

// keptOwn is what a member of a collective that is taken out still takes, in ns.
const keptOwn = 20_000

// without is "no MPI_Barrier" with or without "at step 3" or "at step 3:9".
func (s *Scenario) without(_ context.Context, words []string) error {
	if len(words) != 2 && (len(words) != 5 || words[2] != "at" || words[3] != "step" && words[3] != "steps") {
		return fmt.Errorf("want a collective such as no MPI_Barrier, or no MPI_Barrier at step 3")
	}
	sel := selection{part: trace.None}
	if len(words) == 5 {
		if err := s.chooseSteps(&sel, words[4]); err != nil {
			return err
		}
	}
	n := 0
	for i := range int32(s.Len()) {
		if !strings.EqualFold(s.Trace.Regions[s.Trace.Calls.Region[i]].Name, words[1]) || !s.selects(&sel, i) {
			continue
		}
		for d := s.First[i]; d < s.First[i+1]; d++ {
			if s.Deps.Kind[d] != dropped {
				s.W.Lag[d] = never
				n++
			}
		}
		s.W.Own[i] = min(s.W.Own[i], s.Trace.Ticks(keptOwn))
	}
	if n == 0 {
		return fmt.Errorf("no %s there waits for anybody", words[1])
	}
	s.assume("%s of %s %s for nobody and %s at most 20 µs; the program is right without", term.Counted(n, "call"), words[1], term.Agree(n, "waits", "wait"), term.Agree(n, "takes", "take"))
	return nil
}

func (s *Scenario) undisturbed(context.Context, []string) error {
	s.Undisturbed(s.W)
	s.quiet = true
	return nil
}

func (s *Scenario) assume(format string, args ...any) {
	s.Assumptions = append(s.Assumptions, fmt.Sprintf(format, args...))
}

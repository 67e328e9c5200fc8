package timeline

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Finder is what a text such as "rank 20 MPI_Waitall late > 10ms" means: every
// part must hold.
type Finder struct {
	Text  string // as it is understood
	tests []func(op int32) bool
}

var findPart = regexp.MustCompile(`(?i)^\s*(?:(rank|step|partition)\s+(\d+)|(late|took|waited|computed)\s*([<>]=?)\s*(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s)|(\S+))`)

// Finder reads a text. Words that are no comparison are part of the name of a
// call or of the function around it; one that occurs in none is an error.
func (t *Timeline) Finder(text string) (*Finder, error) {
	f := &Finder{}
	var words []string
	for rest := text; strings.TrimSpace(rest) != ""; {
		m := findPart.FindStringSubmatch(rest)
		rest = rest[len(m[0]):]
		var err error
		switch {
		case m[1] != "":
			err = f.number(t, strings.ToLower(m[1]), m[2])
			words = append(words, strings.ToLower(m[1])+" "+m[2])
		case m[3] != "":
			err = f.compare(t, strings.ToLower(m[3]), m[4], m[5]+m[6])
			words = append(words, fmt.Sprintf("%s %s %s%s", strings.ToLower(m[3]), m[4], m[5], m[6]))
		default:
			err = f.name(t, m[7])
			words = append(words, m[7])
		}
		if err != nil {
			return nil, err
		}
	}
	if len(f.tests) == 0 {
		return nil, fmt.Errorf("find what? For example rank 20, MPI_Waitall or late > 10ms")
	}
	f.Text = strings.Join(words, " ")
	return f, nil
}

func (f *Finder) number(t *Timeline, what, digits string) error {
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		return fmt.Errorf("%s %s: no such number", what, digits)
	}
	s := t.S
	of := map[string]func(op int32) int32{
		"rank": func(op int32) int32 { return t.rankOf(s.Proc[op]) }, "step": func(op int32) int32 { return s.Step[op] }, "partition": func(op int32) int32 { return s.Part[op] },
	}[what]
	f.tests = append(f.tests, func(op int32) bool { return of(op) == int32(n) })
	return nil
}

func (f *Finder) compare(t *Timeline, what, sign, amount string) error {
	d, err := time.ParseDuration(amount)
	if err != nil {
		return err
	}
	s, limit := t.S, d.Nanoseconds()
	of := map[string]func(op int32) int64{
		"late": func(op int32) int64 { return s.GlobalLate[op] }, "took": func(op int32) int64 { return s.Exit[op] - s.Enter[op] },
		"computed": func(op int32) int64 { return s.Enter[op] - s.Began(op) }, "waited": t.waited,
	}[what]
	f.tests = append(f.tests, func(op int32) bool {
		v := s.Trace.NS(of(op))
		switch sign {
		case ">":
			return v > limit
		case ">=":
			return v >= limit
		case "<":
			return v < limit
		}
		return v <= limit
	})
	return nil
}

// waited is how long an operation waited for its last sender or the last member
// of its collective to enter.
func (t *Timeline) waited(op int32) int64 {
	s := t.S
	last := s.Enter[op]
	s.Senders(op, func(u int32) { last = max(last, s.Enter[u]) })
	for _, m := range s.Collective(op) {
		last = max(last, s.Trace.Ops.Enter[m])
	}
	return min(last, s.Exit[op]) - s.Enter[op]
}

func (f *Finder) name(t *Timeline, word string) error {
	s := t.S
	part := strings.ToLower(word)
	has := make([]bool, len(s.Trace.Regions))
	for r := range has {
		has[r] = strings.Contains(strings.ToLower(s.Trace.Regions[r].Name), part)
	}
	if !slices.Contains(has, true) {
		return fmt.Errorf("no function of this trace has %q in its name", word)
	}
	f.tests = append(f.tests, func(op int32) bool {
		if has[s.Trace.Ops.Region[s.First[op]]] {
			return true
		}
		around := s.Around(op)
		return around >= 0 && has[around]
	})
	return nil
}

// FoundOperation is what a search found: how many operations, and which of them is next.
type FoundOperation struct {
	Text  string `json:"text"`  // as it was understood
	Count int    `json:"count"` // operations in all
	At    int    `json:"at"`    // number of the one that is next, from 1 on; 0 if there is none
	Place *Place `json:"place"` // the next; null if there is none
}

// Find returns the operation after one (None for the first), or before it, in
// the order of time; after the last comes the first.
func (t *Timeline) Find(f *Finder, from int32, back bool) *FoundOperation {
	s := t.S
	var ops []int32
	for op := range int32(s.Len()) {
		if !slices.ContainsFunc(f.tests, func(ok func(int32) bool) bool { return !ok(op) }) {
			ops = append(ops, op)
		}
	}
	out := &FoundOperation{Text: f.Text, Count: len(ops)}
	if len(ops) == 0 {
		return out
	}
	order := func(a, b int32) int { return cmp.Or(cmp.Compare(s.Enter[a], s.Enter[b]), cmp.Compare(a, b)) }
	slices.SortFunc(ops, order)
	next := 0
	if from >= 0 && int(from) < s.Len() {
		at, here := slices.BinarySearchFunc(ops, from, order)
		switch {
		case back:
			next = at - 1
		case here:
			next = at + 1
		default:
			next = at
		}
	}
	next = (next + len(ops)) % len(ops)
	place := t.Place(ops[next])
	out.At, out.Place = next+1, &place
	return out
}

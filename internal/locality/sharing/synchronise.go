package sharing

import (
	"regexp"
	"slices"

	"github.com/isobath/isobath/internal/data/refs"
)

// synchronising are the functions whose purpose is that threads wait for one
// another: locks, barriers, conditions and teams of the C library and of the
// runtimes of OpenMP, as their symbols are called.
var synchronising = regexp.MustCompile(`^_*(pthread_(barrier|mutex|cond|rwlock|spin|once|join|create)|lll_|futex|sem_(wait|post|timedwait|trywait|clockwait)|new_sem_|(mtx|cnd)_|call_once|gomp_|GOMP_|omp_(set|unset|test)_(nest_)?lock|kmp|start_thread)`)

// Synchronises reports whether a function is one of those that threads wait for
// one another in.
func Synchronises(function string) bool { return synchronising.MatchString(function) }

// synchronise finds the lines that threads share because they synchronise there: a
// lock or barrier is one line for all of them, whatever lies beside it. What a
// library without symbols keeps for itself is told as that, where the code of the
// program has places. What is used by other code too stays what it is.
func (a *analysis) synchronise() {
	waits, nameless := make([]bool, len(a.whole.Codes)), make([]bool, len(a.whole.Codes))
	placed := false
	for i := range a.whole.Codes {
		p := a.whole.PlaceOf(uint32(i))
		waits[i] = Synchronises(p.Function)
		nameless[i] = waits[i] || p == refs.Place{}
		placed = placed || p.Line > 0
	}
	for _, l := range a.result.Lines {
		if by, rest := a.without(l, waits); by > 0 && rest.Coherence < worthLine {
			l.Kind = Synchronisation
		} else if by, rest = a.without(l, nameless); placed && by > 0 && rest.Coherence < worthLine {
			l.Kind = Library
		}
	}
	// What might cost elsewhere is worth a word only where a layout can part it.
	a.result.Lines = slices.DeleteFunc(a.result.Lines, func(l *Line) bool {
		return (l.Kind == Synchronisation || l.Kind == Library) && l.Most.Coherence == 0
	})
}

// without counts the accesses to a line by some code, and the most misses that the
// others leave.
func (a *analysis) without(l *Line, code []bool) (by uint64, rest Misses) {
	others := &Trace{threads: a.threads, turn: a.turn}
	for i := range a.refs {
		switch r := &a.refs[i]; {
		case !l.holds(r):
		case code[r.code]:
			by++
		default:
			others.refs = append(others.refs, *r)
		}
	}
	if by > 0 {
		rest = others.worst()
	}
	return by, rest
}

// holds reports whether an access touches a line.
func (l *Line) holds(r *ref) bool {
	return r.addr < l.Addr+uint64(l.Bytes) && r.addr+uint64(r.size) > l.Addr
}

// worst is the most misses of accesses whose threads take turns.
func (t *Trace) worst() (most Misses) {
	t.split()
	for _, q := range []int{1, 16} {
		if m := t.count(t.turns(q), shift64, 0, nil); m.Coherence > most.Coherence {
			most = m
		}
	}
	return most
}

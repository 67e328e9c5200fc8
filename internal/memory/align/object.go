package align

import (
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// Threads numbers the threads of a run: main is 0, then in order of first sample.
// Their own numbers are chance.
type Threads map[string]int

// ThreadsOf reads the threads of a table of samples.
func ThreadsOf(t *table.Table) Threads {
	tid, pid := t.Column(samples.TID), t.Column(samples.PID)
	if tid == nil || tid.Kind != table.Number {
		return nil
	}
	var order Order
	for i := range t.Rows() {
		if tid.Has(i) {
			n := int64(tid.Float(i))
			order.Meet(n, pid != nil && pid.Kind == table.Number && pid.Has(i) && int64(pid.Float(i)) == n)
		}
	}
	return order.Threads()
}

// Order is the threads of a run in the order in which samples of them are met.
type Order struct {
	at    map[int64]int
	mains map[int64]bool
}

// Meet says that the next sample is of a thread, and whether it is the main one of
// its process; only the first sample of a thread counts.
func (o *Order) Meet(thread int64, main bool) {
	if o.at == nil {
		o.at, o.mains = map[int64]int{}, map[int64]bool{}
	}
	if _, seen := o.at[thread]; !seen {
		o.at[thread], o.mains[thread] = len(o.at), main
	}
}

// Threads numbers them; the first main thread is before all others.
func (o *Order) Threads() Threads {
	first := int64(-1)
	for n, at := range o.at {
		if o.mains[n] && (first < 0 || at < o.at[first]) {
			first = n
		}
	}
	out := Threads{}
	for n, at := range o.at {
		switch {
		case first < 0 || at > o.at[first]:
		case n == first:
			at = 0
		default:
			at++
		}
		out[strconv.FormatInt(n, 10)] = at
	}
	return out
}

var (
	ordinal    = regexp.MustCompile(` #(?:\d+|…)$`)
	stackName  = regexp.MustCompile(`^stack (\d+)$`)
	anonymous  = regexp.MustCompile(`^(?:anonymous|//anon|\[anon[^\]]*\]).*$`)
	allocation = regexp.MustCompile(`^(.+):(\d+) ([\d.]+) (B|bytes|KiB|MiB|GiB|TiB)$`)
)

// Object is the name of a data object without what chance gave it: the order of
// discovery, and the number of the thread that a stack belongs to.
func (t Threads) Object(name string) string {
	name = ordinal.ReplaceAllString(name, "")
	if m := stackName.FindStringSubmatch(name); m != nil {
		if k, known := t[m[1]]; known {
			return "stack of thread " + strconv.Itoa(k)
		}
		return "stack of another thread"
	}
	if anonymous.MatchString(name) {
		return "anonymous"
	}
	return name
}

// site is where and how large an allocation was made.
type site struct {
	file string // its base name
	line int
	size float64
}

var units = map[string]float64{"B": 1, "bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}

func siteOf(object string) (site, bool) {
	m := allocation.FindStringSubmatch(object)
	if m == nil {
		return site{}, false
	}
	line, err := strconv.Atoi(m[2])
	if err != nil {
		return site{}, false
	}
	size, err := strconv.ParseFloat(m[3], 64)
	return site{path.Base(m[1]), line, size * units[m[4]]}, err == nil
}

// sizeTolerance is how much two allocations of one line may differ in size and
// still be one.
const sizeTolerance = .02

func sameSize(a, b float64) bool {
	return math.Abs(a-b) <= sizeTolerance*max(a, b)
}

// withoutArguments cuts template arguments and parameters out of a demangled
// name.
func withoutArguments(name string) string {
	var out strings.Builder
	depth := 0
	for _, r := range name {
		switch r {
		case '<', '(':
			depth++
		case '>', ')':
			depth = max(depth-1, 0)
		default:
			if depth == 0 {
				out.WriteRune(r)
			}
		}
	}
	return out.String()
}

// cloned ends the name of a copy that the compiler made.
var cloned = regexp.MustCompile(`\.(?:part|constprop|isra|cold|lto_priv|localalias)(?:\.\d+)*$|\.\d+$`)

// qualified ends the name of a method.
var qualified = regexp.MustCompile(`(?: const| volatile| &&?|\[abi:\w+\])+$`)

// lastName is the name of a function as its source has it: without namespaces,
// classes, arguments and what the compiler added.
func lastName(name string) string {
	name = withoutArguments(name)
	for cloned.MatchString(name) {
		name = cloned.ReplaceAllString(name, "")
	}
	name = strings.TrimSpace(qualified.ReplaceAllString(name, ""))
	if i := strings.LastIndexByte(name, ' '); i >= 0 && !strings.Contains(name, "operator") {
		name = name[i+1:] // what it returns stands before it
	}
	if i := strings.LastIndex(name, "::"); i >= 0 {
		name = name[i+2:]
	}
	return name[strings.LastIndexByte(name, '.')+1:]
}

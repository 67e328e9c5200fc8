package frame

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/isobath/isobath/internal/data/source"
)

// Run is an open run: its name, what is known of its origin, the files that were
// kept of it, and its data by kind.
type Run struct {
	// ID is a prefix of a hash of the content.
	ID, Name, Path, Kind, Format string

	// Order is the number of the import that made it: runs are listed as they were
	// asked for, whichever is read first. 0 is last of those that are there.
	Order int

	// TopologyNote says why the run has no topology.
	TopologyNote string

	// Sources maps the file names in the samples to files on disk, Texts to the
	// texts of those that are kept in memory.
	Sources map[string]source.File
	Texts   map[string][]byte

	Warnings, Caveats []string
	Origin            Origin

	// Live says that the run is a moment of a recording that goes on.
	Live bool

	// Foreign says that the run was made of a foreign file when it was opened,
	// Reading how that file was read.
	Foreign bool
	Reading Reading

	// Selections are kept by Save; nil keeps them only as long as the server
	// runs.
	Selections []NamedSelection
	Save       func([]NamedSelection) error
	SavedIn    string // where Save writes; empty: SavedInRun

	// Changed reports whether the run's files are others than those that were
	// opened; nil if it has none.
	Changed func() bool
	// Release gives the run's files back; nil if it has none.
	Release func() error

	mu      sync.RWMutex // guards Selections, folders and parts
	parts   []Part       // the first is what the run mostly is
	folders []*sourceFolder

	use  sync.RWMutex // held for reading by requests, for writing while closing
	idle func()       // ends what Foresee began; nil if nothing did
}

// Put adds a part to the run, in place of the one of its kind, which is
// returned.
func (r *Run) Put(p Part) (old Part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	parts := slices.Clone(r.parts)
	if i := slices.IndexFunc(parts, func(o Part) bool { return o.Kind() == p.Kind() }); i >= 0 {
		old, parts[i] = parts[i], p
	} else {
		parts = append(parts, p)
	}
	r.parts = parts
	return old
}

// Parts returns what the run holds.
func (r *Run) Parts() []Part {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.parts // replaced, never changed
}

// PartOf returns the part of one kind, or nil of its type if the run has none.
func PartOf[P Part](r *Run) P {
	for _, p := range r.Parts() {
		if found, ok := p.(P); ok {
			return found
		}
	}
	var none P
	return none
}

// OfPart makes a handler of one that needs a part of the run; refuse says why a
// run without it cannot be asked.
func OfPart[P Part](refuse func(*Run) error, f func(http.ResponseWriter, *http.Request, P) error) func(http.ResponseWriter, *http.Request, *Run) error {
	return func(w http.ResponseWriter, r *http.Request, run *Run) error {
		for _, p := range run.Parts() {
			if found, ok := p.(P); ok {
				return f(w, r, found)
			}
		}
		return refuse(run)
	}
}

// Foreseer is a part that can begin what is nearly sure to be asked for; stop
// ends that, and returns when it has ended.
type Foreseer interface {
	Foresee(ctx context.Context) (stop func())
}

// Foresee begins what is nearly sure to be asked for next.
func (r *Run) Foresee(ctx context.Context) {
	var stops []func()
	for _, p := range r.Parts() {
		if f, ok := p.(Foreseer); ok {
			stops = append(stops, f.Foresee(ctx))
		}
	}
	r.idle = func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// TryUse holds the run open until release is called, unless it is being closed:
// waiting could lock two runs that close against each other.
func (r *Run) TryUse() (release func(), ok bool) {
	if !r.use.TryRLock() {
		return nil, false
	}
	return r.use.RUnlock, true
}

// Leaver is a part that pages follow: Leave lets them go, so that a run can be
// closed.
type Leaver interface {
	Leave()
}

// Close waits for requests under way, then releases the run.
func (r *Run) Close() error {
	for _, p := range r.Parts() {
		if l, ok := p.(Leaver); ok {
			l.Leave()
		}
	}
	if r.idle != nil {
		r.idle()
	}
	r.use.Lock()
	defer r.use.Unlock()
	for _, p := range r.Parts() {
		p.Close()
	}
	if r.Release == nil {
		return nil
	}
	return r.Release()
}

// Summary names the run.
func (r *Run) Summary() RunSummary {
	s := RunSummary{ID: r.ID, Name: r.Name, Kind: r.Kind, Parts: []string{}}
	for i, p := range r.Parts() {
		if i == 0 {
			s.Rows = p.Rows()
		}
		s.Parts = append(s.Parts, p.Kind())
	}
	s.Trace = slices.Contains(s.Parts, Messages)
	return s
}

// String says in a line what the run holds.
func (r *Run) String() string {
	var said []string
	for _, p := range r.Parts() {
		if text := p.String(); text != "" {
			said = append(said, text)
		}
	}
	if len(said) == 0 {
		return r.Name + ": " + r.Kind
	}
	return r.Name + ": " + strings.Join(said, ", ")
}

// Info is what the page must know about the run; its parts look through their
// data for it when they are first asked.
func (r *Run) Info(ctx context.Context) (Info, error) {
	info := Info{
		RunSummary: r.Summary(), Path: r.Path, Format: r.Format, Columns: []ColumnInfo{}, TopologyNote: r.TopologyNote,
		Sources: r.sources(), Warnings: List(r.Warnings), Caveats: List(r.Caveats), Origin: r.Origin,
		Selections: r.NamedSelections(), Saved: r.Save != nil, SavedIn: r.savedIn(), Foreign: r.Foreign, Live: r.Live,
	}
	info.SelectionsVersion = versionOf(info.Selections)
	info.Origin.Command = List(info.Origin.Command)
	for _, p := range r.Parts() {
		if err := p.Tell(ctx, &info); err != nil {
			return Info{}, err
		}
	}
	return info, nil
}

func (r *Run) savedIn() string {
	switch {
	case r.Save == nil:
		return ""
	case r.SavedIn == "":
		return SavedInRun
	}
	return r.SavedIn
}

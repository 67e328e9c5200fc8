package target

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
)

// Region is what of a program is recorded, as the user names it: a function
// from its entry to its return, a stretch of code, or what runs between the
// return of one function and the entry of another.
type Region struct {
	Function   string
	Begin, End string
	// Skip is how many times a thread passes through before it is recorded, Calls
	// how many times it is recorded then; see Bounds.
	Skip, Calls uint64
}

// EveryCall is a number of calls that is never reached.
const EveryCall = ^uint64(0) >> 1

// Bounds is a region by link addresses.
type Bounds struct {
	// In is the file of the region's code: the program, or a library.
	In *Program
	// Start is the function, or the one after whose return the region begins.
	Start refs.Range
	// Stop is the function whose entry ends the region; zero if Start's return
	// does.
	Stop  refs.Range
	After bool // the region begins after Start returned
	// Pieces are a region that is no function: it begins with any of their
	// instructions, and ends where the same call of the function goes on outside.
	Pieces []refs.Range
	// Skip and Calls count for each thread by itself. A region that is entered
	// again from inside is one. No Calls are one, or all where every thread is
	// recorded.
	Skip, Calls uint64
}

// Times is how often a thread is recorded.
func (b *Bounds) Times(allThreads bool) uint64 {
	switch {
	case b.Calls > 0:
		return b.Calls
	case allThreads:
		return EveryCall
	}
	return 1
}

// Within reports whether a link address lies in the pieces.
func (b *Bounds) Within(addr uint64) bool {
	return slices.ContainsFunc(b.Pieces, func(r refs.Range) bool { return r.Contains(addr) })
}

// Resolve finds the code of a region.
func (p *Program) Resolve(r Region) (Bounds, error) {
	b := Bounds{Skip: r.Skip, Calls: r.Calls}
	if r.Begin == "" && r.End == "" {
		at, err := p.place(r.Function)
		b.In, b.Start, b.Pieces = at.in, at.function, at.pieces
		return b, err
	}
	if r.Begin == "" || r.End == "" {
		return b, errors.New("--begin and --end go together")
	}
	begin, err := p.place(r.Begin)
	if err != nil {
		return b, err
	}
	end, err := p.place(r.End)
	switch {
	case err != nil:
		return b, err
	case begin.pieces != nil || end.pieces != nil:
		return b, errors.New("--begin and --end want functions or addresses; a stretch of code or a line is a region by itself: --function")
	case begin.in.Path != end.in.Path:
		return b, fmt.Errorf("--begin is in %s, --end in %s; they must be in one file", begin.in.Path, end.in.Path)
	}
	b.In, b.Start, b.Stop, b.After = begin.in, begin.function, end.function, true
	return b, nil
}

func (r Region) String() string {
	what := r.Function
	if r.Begin != "" {
		what = "between " + r.Begin + " and " + r.End
	}
	switch {
	case r.Calls == EveryCall:
		what += ", every time"
	case r.Calls > 1:
		what += fmt.Sprintf(", %d times", r.Calls)
	}
	if r.Skip > 0 {
		what += fmt.Sprintf(" after %d", r.Skip)
	}
	return what
}

// place is where a name of the user leads: a function, or pieces of code.
type place struct {
	in       *Program
	function refs.Range
	pieces   []refs.Range
}

var (
	// inLibrary is a name that begins with a library: libm.so.6:sin,
	// ./plugin.so+0x1000.
	inLibrary = regexp.MustCompile(`^(.*\.so(?:\.[0-9.]*[0-9])?)(?:\+(0x.*)|:([^:].*))$`)
	stretch   = regexp.MustCompile(`^(0x[0-9a-fA-F]+)-(0x[0-9a-fA-F]+)$`)
	lineName  = regexp.MustCompile(`^(.+[^:]):([0-9]+)$`)
)

// place finds what the user names: in the library that the name begins with, else
// in the program, else in the libraries that it is linked with.
func (p *Program) place(name string) (place, error) {
	if m := inLibrary.FindStringSubmatch(name); m != nil {
		lib, err := p.library(m[1])
		if err != nil {
			return place{}, err
		}
		return lib.own(m[2] + m[3])
	}
	at, err := p.own(name)
	if err == nil || strings.HasPrefix(name, "0x") || p.Static {
		return at, err
	}
	linked, listed := p.linked()
	for _, path := range linked {
		lib, failed := Open(path)
		if failed != nil {
			continue
		}
		if at, failed := lib.own(name); failed == nil || lib.chosen[name] {
			return at, failed
		}
	}
	if listed == nil {
		err = fmt.Errorf("%w Nor do the libraries have it that it is linked with; of one that it loads itself say which: ./plugin.so:%s", sentence(err), name)
	}
	return place{}, err
}

// sentence ends an error so that another may follow.
func sentence(err error) error {
	if strings.HasSuffix(err.Error(), "?") {
		return err
	}
	return fmt.Errorf("%w.", err)
}

// own finds what is named in this file.
func (p *Program) own(name string) (place, error) {
	if m := stretch.FindStringSubmatch(name); m != nil {
		low, err := p.address(m[1])
		if err != nil {
			return place{}, err
		}
		high, err := strconv.ParseUint(m[2][2:], 16, 64)
		if err != nil || high <= low || high-low > maxPieces || len(p.Code(high-1)) == 0 {
			return place{}, fmt.Errorf("%s: want the first address and the one behind the last, in the code of %s and at most %d bytes", name, filepath.Base(p.Path), maxPieces)
		}
		return place{in: p, pieces: []refs.Range{{Low: low, High: high}}}, nil
	}
	if m := lineName.FindStringSubmatch(name); m != nil {
		number, err := strconv.Atoi(m[2])
		if err != nil {
			return place{}, fmt.Errorf("%s: there is no such line", name)
		}
		pieces, err := p.line(m[1], number)
		return place{in: p, pieces: pieces}, err
	}
	if p.chosen[name] {
		return place{}, fmt.Errorf("%s of %s stands for one of several functions, chosen by the processor when the program starts: name the one that runs, which a recording of its caller shows", name, filepath.Base(p.Path))
	}
	at, err := p.Function(name)
	return place{in: p, function: at}, err
}

// maxPieces bounds the code of a region that is no function: each of its
// instructions is a place to stop at.
const maxPieces = 1 << 20

// line returns the code of a source line.
func (p *Program) line(file string, line int) ([]refs.Range, error) {
	b, err := symbol.Open(p.Path)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	base := filepath.Base(p.Path)
	if b.NoLines() != "" {
		return nil, fmt.Errorf("%s:%d: %s has no source lines: %s", file, line, base, b.NoLines())
	}
	pieces, near := b.Lines(file, line)
	size := uint64(0)
	for _, r := range pieces {
		size += r.High - r.Low
	}
	switch {
	case size > maxPieces:
		return nil, fmt.Errorf("%s:%d: its %d bytes of code are too many", file, line, size)
	case len(pieces) > 0:
		return pieces, nil
	case near > 0:
		return nil, fmt.Errorf("%s:%d: %s has no code of that line; the next with code is %d", file, line, base, near)
	}
	return nil, fmt.Errorf("%s:%d: %s has no code of that file", file, line, base)
}

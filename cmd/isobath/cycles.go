package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/loops/cycle"
	"github.com/isobath/isobath/internal/loops/tree"
)

// cyclesFlags are the flags of `isobath cycles` as the user wrote them.
type cyclesFlags struct {
	symbol, epsilon, limit, span, binary, roi, modify, memory string
	bias, window                                              string
	every, landmarks, folds, persistence, top                 int
	thread                                                    int64
	time                                                      time.Duration
	json                                                      bool
	frames, morph                                             string
}

func newCycles() *cobra.Command {
	var f cyclesFlags
	cmd := &cobra.Command{
		Use:   "cycles REFS",
		Short: "Find the loops that memory traffic runs in",
		Long: `Find the loops that memory traffic runs in.

REFS is a trace of every memory reference: a run made by 'isobath record
--refs', or lackey, pinatrace, drmemtrace, ChampSim, gem5, DRAMsim3, Ramulator
or CSV, packed or not; - reads standard input. Windows of references become
points, persistent cohomology finds the circles they lie on, and the trace is
followed around each one. Turns are counted exactly where a window exists that
is passed once per turn.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("cycles wants one trace, got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), args[0])
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.symbol, "symbol", "auto", "what makes two references the same: pc, line, addr, op+addr, pc+addr, cacheline, object")
	fl.StringVar(&f.window, "window", "auto", "references per window; auto is 10, and less than the shortest turn")
	fl.StringVar(&f.epsilon, "epsilon", "auto", "smooth classes here; auto is each class's birth")
	fl.StringVar(&f.limit, "epsilon-cap", "auto", "largest epsilon to look at; auto is 7, and the window for few points")
	fl.IntVar(&f.every, "every", 1, "keep every K-th reference")
	fl.StringVar(&f.span, "range", "", "records A:B of the file only, counted from 0")
	fl.Int64Var(&f.thread, "thread", -1, "this thread only")
	fl.StringVar(&f.binary, "binary", "", "the program, for source lines and objects")
	fl.StringVar(&f.bias, "bias", "", "where the program was loaded, minus its link address")
	fl.StringVar(&f.roi, "roi", "", "keep what runs between functions BEGIN,END of --binary")
	fl.StringVar(&f.modify, "modify", "keep", "a modify is one reference (keep), load and store (split), or joined from them (join)")
	fl.IntVar(&f.landmarks, "landmarks", 0, "use at most N points that cover the rest")
	fl.IntVar(&f.folds, "fold", 0, "fold the N innermost loops to one turn before looking")
	fl.IntVar(&f.persistence, "persistence", cycle.DefaultPersistence, "shortest bar that becomes a class")
	fl.StringVar(&f.memory, "memory", "2GB", "lower the cap rather than use more")
	fl.DurationVar(&f.time, "time", cycle.DefaultTime, "lower the cap rather than take longer")
	fl.IntVar(&f.top, "top", 12, "classes to print as text")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.StringVar(&f.frames, "frames", "", "write the morph between two classes to `DIR`: numbered SVG, and CSV of positions")
	fl.StringVar(&f.morph, "morph", "auto", "with --frames: classes `A:B`, counted from 0 as in --json; auto is the first and the next that turns")
	return cmd
}

func (f *cyclesFlags) run(ctx context.Context, out io.Writer, path string) (err error) {
	opts, err := f.options()
	if err != nil {
		return err
	}
	src, format, err := formats.OpenRefs(path, parallel.Reader(ctx, os.Stdin))
	if err != nil {
		return err
	}
	defer src.Close()
	in, trace, err := f.input(src, format)
	if err != nil {
		return err
	}
	in.Files = &cycle.Files{}
	defer func() { err = errors.Join(err, in.Files.Close()) }()
	if opts.Loops, err = f.loops(ctx, path, src.About()); err != nil {
		return err
	}
	report, err := f.analyse(ctx, trace, in, opts)
	if err != nil {
		return err
	}
	if f.frames != "" {
		if err := f.writeFrames(ctx, report, path); err != nil {
			return err
		}
	}
	if f.json {
		return report.writeJSON(out, opts)
	}
	return report.writeText(out, f.top)
}

// loops counts the loops of the code, against which turns are held. Standard
// input cannot be read twice, and without instructions there are none.
func (f *cyclesFlags) loops(ctx context.Context, path string, about *refs.About) (cycle.Loops, error) {
	if path == formats.Stdin || about.Has&refs.HasPC == 0 {
		return nil, nil
	}
	file, err := tree.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return buildTree(ctx, file)
}

// analyse reads the trace and analyses every thread, with progress.
func (f *cyclesFlags) analyse(ctx context.Context, src refs.Source, in *cycle.Input, opts cycle.Options) (*cyclesReport, error) {
	line := term.NewProgress(os.Stderr, "cycles")
	defer line.Done()
	in.Progress = func(n uint64) { line.Say("reading, " + term.Thousands(n) + " references") }
	opts.Progress = func(p cycle.Progress) {
		line.Say(fmt.Sprintf("%s, %d %%", p.Stage, 100*p.Done/max(p.Total, 1)))
	}
	traces, err := cycle.Load(ctx, src, *in)
	if err != nil {
		return nil, err
	}
	report := &cyclesReport{notes: src.About().Notes, symbol: in.Symbol}
	if f.every > 1 {
		report.notes = append(report.notes, fmt.Sprintf("one reference in %d is kept: turns are those of the thinned trace, not of the program", f.every))
	}
	for _, tr := range traces {
		if err := report.add(ctx, tr, opts, f.folds); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// input turns flags into what to read, wrapping the source as asked.
func (f *cyclesFlags) input(src refs.Reader, format string) (*cycle.Input, refs.Source, error) {
	in := &cycle.Input{Every: f.every}
	var err error
	if f.symbol == "auto" {
		if in.Symbol = cycle.PC; src.About().Has&refs.HasPC == 0 {
			in.Symbol = cycle.Addr
		}
	} else if in.Symbol, err = cycle.ParseSymbol(f.symbol); err != nil {
		return nil, nil, usageError{err}
	}
	if in.From, in.To, err = parseRange(f.span); err != nil {
		return nil, nil, err
	}
	if f.thread >= 0 {
		if f.thread > math.MaxUint32 {
			return nil, nil, usagef("--thread %d: want a thread id", f.thread)
		}
		t := uint32(f.thread)
		in.Thread = &t
	}
	r := src
	switch f.modify {
	case "keep":
	case "split":
		r = refs.Split(r)
	case "join":
		r = refs.Join(r)
	default:
		return nil, nil, usagef("--modify %q: want keep, split or join", f.modify)
	}
	r, err = f.useBinary(in, r, format)
	return in, r, err
}

// useBinary opens the program and cuts the trace to the region of interest.
func (f *cyclesFlags) useBinary(in *cycle.Input, r refs.Reader, format string) (refs.Reader, error) {
	if f.binary == "" {
		if f.roi != "" {
			return nil, usagef("--roi needs --binary")
		}
		return r, nil
	}
	biases := symbol.BiasesOf(format)
	if f.bias != "" {
		b, err := strconv.ParseUint(f.bias, 0, 64)
		if err != nil {
			return nil, usagef("--bias %q: want an address such as 0x108000", f.bias)
		}
		biases = []uint64{b}
	}
	prog, err := symbol.OpenProgram(f.binary, biases...)
	if err != nil {
		return nil, err
	}
	if prog.NoLines() != "" {
		return nil, fmt.Errorf("no source lines of %s: %s", f.binary, prog.NoLines())
	}
	in.Resolver, in.Objects = prog, prog
	if f.roi == "" {
		return r, nil
	}
	begin, end, ok := strings.Cut(f.roi, ",")
	if !ok {
		return nil, usagef("--roi %q: want two functions, BEGIN,END", f.roi)
	}
	from, err := prog.Function(begin)
	if err != nil {
		return nil, err
	}
	to, err := prog.Function(end)
	if err != nil {
		return nil, err
	}
	return refs.Region(r, from, to), nil
}

func (f *cyclesFlags) options() (cycle.Options, error) {
	o := cycle.Options{Persistence: f.persistence, Time: f.time, Landmarks: f.landmarks}
	var err error
	if o.Window, err = autoInt("--window", f.window); err != nil {
		return o, err
	}
	if o.Epsilon, err = autoInt("--epsilon", f.epsilon); err != nil {
		return o, err
	}
	if o.Cap, err = autoInt("--epsilon-cap", f.limit); err != nil {
		return o, err
	}
	if o.Memory, err = parseBytes(f.memory); err != nil {
		return o, usagef("--memory: %v", err)
	}
	switch {
	case o.Window != 0 && (o.Window < cycle.MinWindow || o.Window > cycle.MaxWindow):
		return o, usagef("--window %d: want %d to %d", o.Window, cycle.MinWindow, cycle.MaxWindow)
	case o.Cap > cmp.Or(o.Window, cycle.DefaultWindow):
		return o, usagef("--epsilon-cap %d is more than the window of %d, the largest distance there is", o.Cap, cmp.Or(o.Window, cycle.DefaultWindow))
	case f.every < 1:
		return o, usagef("--every %d: want 1 or more", f.every)
	case f.persistence < 1:
		return o, usagef("--persistence %d: want 1 or more", f.persistence)
	case f.time <= 0:
		return o, usagef("--time %v: want a duration such as 2m", f.time)
	}
	return o, nil
}

// autoInt reads a positive number, or 0 for auto.
func autoInt(flag, s string) (int, error) {
	if s == "auto" {
		return 0, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, usagef("%s %q: want auto or a number from 1", flag, s)
	}
	return n, nil
}

// parseRange reads "A:B", "A:" or ":B".
func parseRange(s string) (from, to uint64, err error) {
	if s == "" {
		return 0, 0, nil
	}
	a, b, ok := strings.Cut(s, ":")
	if !ok {
		return 0, 0, usagef("--range %q: want A:B", s)
	}
	if a != "" {
		from, err = strconv.ParseUint(a, 10, 64)
	}
	if b != "" && err == nil {
		to, err = strconv.ParseUint(b, 10, 64)
	}
	if err != nil || b != "" && to <= from {
		return 0, 0, usagef("--range %q: want A:B with A before B", s)
	}
	return from, to, nil
}

// parseBytes reads a size such as 512MB or 2GB.
func parseBytes(s string) (int64, error) {
	t := strings.TrimSuffix(strings.ToUpper(s), "B")
	shift := 0
	for i, unit := range "KMGT" {
		if strings.HasSuffix(t, string(unit)) {
			t, shift = t[:len(t)-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseFloat(t, 64)
	if err != nil || n <= 0 || n*math.Pow(2, float64(shift)) > 1<<50 {
		return 0, fmt.Errorf("%q: want a size such as 512MB or 2GB", s)
	}
	return int64(n * math.Pow(2, float64(shift))), nil
}

// cyclesReport is the results of all threads.
type cyclesReport struct {
	symbol  cycle.Symbol
	notes   []string
	results []*cycle.Result
	folds   [][]cycle.Fold
}

// maxFolds bounds the loop nest that is looked for: no program nests deeper.
const maxFolds = 8

func (r *cyclesReport) add(ctx context.Context, tr *cycle.Trace, o cycle.Options, folds int) error {
	if folds > 0 {
		folded, _, err := cycle.FoldLoops(ctx, tr, cmp.Or(o.Window, cycle.DefaultWindow), folds)
		if err != nil {
			return err
		}
		r.notes = append(r.notes, fmt.Sprintf("thread %d: %s folded to %d", tr.Thread, term.Counted(len(tr.Syms), "reference"), len(folded.Syms)))
		tr = folded
	}
	res, err := cycle.Analyse(ctx, tr, o)
	if err != nil {
		return fmt.Errorf("thread %d: %w", tr.Thread, err)
	}
	_, nest, err := cycle.FoldLoops(ctx, tr, res.Points.Window, maxFolds)
	if err != nil {
		return err
	}
	r.results = append(r.results, res)
	r.folds = append(r.folds, nest)
	return nil
}

// busiest is the thread with the most references.
func (r *cyclesReport) busiest() int {
	best := 0
	for i, res := range r.results {
		if len(res.Trace.Syms) > len(r.results[best].Trace.Syms) {
			best = i
		}
	}
	return best
}

func (r *cyclesReport) writeJSON(out io.Writer, o cycle.Options) error {
	all := make([]map[string]any, len(r.results))
	for i, res := range r.results {
		all[i] = cyclesJSON(res, r.folds[i])
	}
	top := map[string]any{
		"records": 0, "windows": 0, "unique": 0, "symbol": r.symbol.String(), "window": cmp.Or(o.Window, cycle.DefaultWindow),
		"prime": cycle.DefaultPrimes[0], "bars": [][2]any{}, "classes": []any{},
	}
	if len(all) > 0 {
		top = all[r.busiest()]
	}
	notes := append([]string{}, r.notes...)
	if len(all) > 0 {
		notes = append(notes, r.results[r.busiest()].Notes...)
	} else {
		notes = append(notes, "the trace has no references to analyse")
	}
	doc := map[string]any{"notes": notes}
	for k, v := range top {
		if k != "notes" {
			doc[k] = v
		}
	}
	if len(all) > 1 {
		doc["threads"] = all
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(doc)
}

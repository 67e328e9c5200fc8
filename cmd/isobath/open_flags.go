package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/engine/clickhouse"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// importFlags are the flags of every verb that may have to import its file.
type importFlags struct {
	maps      []string
	l1Latency int
	sources   []string
	topology  string
	names     string
	kallsyms  string
	allOps    bool
	salvage   bool
	noSources bool
}

func (f *importFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.maps, "map", nil, "take a foreign column for one of ours: `column=NAME`, time with its unit as time=t_us:us, a word for a level as level:HBM=L4 (repeatable)")
	flags.IntVar(&f.l1Latency, "l1-latency", foreign.DefaultL1Latency, "assumed latency of an L1 hit in `cycles`, where hardware measures misses only; -1 for none")
	flags.BoolVar(&f.allOps, "all-ops", false, "keep the micro-ops of an IBS file that access no memory, such as branches")
	flags.StringArrayVar(&f.sources, "sources", nil, "look for source files in this `folder` too (repeatable)")
	flags.BoolVar(&f.noSources, "no-sources", false, "keep no source files in the run")
	flags.StringVar(&f.topology, "topology", "", "hardware topology to use: hwloc, Mitos or sys-sage `XML`")
	flags.StringVar(&f.names, "objects", "", "a `file` that says what objects are: \"allocation at heat.c:57 is u double[1024][1024]\"")
	flags.StringVar(&f.kallsyms, "kallsyms", "", "symbols of the recorded kernel: a copy of its /proc/kallsyms `file`")
	flags.BoolVar(&f.salvage, "salvage", false, "import what is readable of a damaged file")
}

func (f *importFlags) options() (dataset.Options, error) {
	opt := dataset.Options{Topology: f.topology, Sources: f.sources, NoSources: f.noSources, Names: f.names}
	opt.L1Latency, opt.AllOps, opt.Salvage, opt.Kallsyms = f.l1Latency, f.allOps, f.salvage, f.kallsyms
	for _, m := range f.maps {
		to, from, ok := strings.Cut(m, "=")
		if !ok || to == "" || from == "" {
			return opt, usagef("--map %q: want column=NAME, such as --map cpu=core", m)
		}
		if opt.Map == nil {
			opt.Map = map[string]string{}
		}
		opt.Map[to] = from
	}
	return opt, nil
}

// open opens a data set of samples with a progress line.
func (f *importFlags) open(ctx context.Context, path string) (*dataset.Set, error) {
	return reading(f, path, func(opt dataset.Options) (*dataset.Set, error) { return dataset.Open(ctx, path, opt) })
}

// ask is open for verbs that only ask questions: the rows of a run that is kept in
// an engine stay there.
func (f *importFlags) ask(ctx context.Context, path string) (*dataset.Set, error) {
	return reading(f, path, func(opt dataset.Options) (*dataset.Set, error) {
		opt.Asked = true
		return dataset.Open(ctx, path, opt)
	})
}

// part is open for verbs that need no rows but the selected ones: only those of a
// run that is kept in an engine are brought here.
func (f *importFlags) part(ctx context.Context, path, where string) (*dataset.Set, error) {
	return reading(f, path, func(opt dataset.Options) (*dataset.Set, error) {
		opt.Fetch = where
		return dataset.Open(ctx, path, opt)
	})
}

// load reads a file that is only to be kept.
func (f *importFlags) load(ctx context.Context, path string) (*run.Run, error) {
	return reading(f, path, func(opt dataset.Options) (*run.Run, error) { return dataset.Load(ctx, path, opt) })
}

// reading shows how far a file has been read.
func reading[T any](f *importFlags, path string, read func(dataset.Options) (T, error)) (T, error) {
	opt, err := f.options()
	if err != nil {
		var none T
		return none, err
	}
	if clickhouse.IsAddress(path) { // which may hold what nobody should see
		a, err := clickhouse.ParseAddress(path)
		if err != nil {
			var none T
			return none, err
		}
		path = a.String()
	}
	progress := term.NewProgress(os.Stderr, "reading "+path)
	defer progress.Done()
	opt.Progress = progress.Set
	return read(opt)
}

// selection parses --where against a data set, and says which names in it are nowhere.
func selection(s *dataset.Set, where string) (query.Expr, error) {
	e, err := query.Parse(where, s.Table)
	if err != nil {
		return nil, usageError{err}
	}
	warn(query.Absent(e, s.Table))
	return e, nil
}

// printJSON writes one indented JSON value.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// warn prints the warnings of a data set to stderr.
func warn(warnings []string) {
	for _, w := range warnings {
		note(w)
	}
}

// Table1 rebuilds Table 1 of "Topological Analysis and Visualization of
// Cyclical Behavior in Memory Reference Traces" (2012) from recordings of the
// programs in examples/loops, and prints it beside the paper's numbers.
//
// It compiles the programs without optimisation, records them with Valgrind's
// lackey tool, and analyses the references the way the paper does: by address,
// in windows of ten.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/lackey"
	"github.com/isobath/isobath/internal/loops/cycle"
)

// row is one line of the paper's table and how we make ours.
type row struct {
	name    string
	source  string
	args    []string
	records int // the paper's "records used"
	every   int // its sample interval; 0 in the paper is every record
	total   int // its "total parameterizations"
}

var rows = []row{
	{"vector, sorted", "bubble_vector.cpp", []string{"1", "2", "3", "4", "5"}, 680, 1, 14},
	{"vector, reverse", "bubble_vector.cpp", []string{"5", "4", "3", "2", "1"}, 1275, 1, 6},
	{"vector, shuffled", "bubble_vector.cpp", []string{"3", "5", "1", "4", "2"}, 1115, 1, 2},
	{"array, sorted", "bubble_array.c", []string{"1", "2", "3", "4", "5"}, 460, 1, 6},
	{"array, reverse", "bubble_array.c", []string{"5", "4", "3", "2", "1"}, 690, 1, 3},
	{"matmul, standard", "matmul.c", nil, 1000, 1, 4},
	{"matmul, blocked", "matmul_blocked.c", nil, 1000, 1, 4},
	{"particles, 5", "particles.c", []string{"5"}, 2000, 1, 9},
	{"particles, 60", "particles.c", []string{"60"}, 1000, 1, 2},
	{"particles, 60", "particles.c", []string{"60"}, 1000, 10, 5},
}

const differences = `
Why the numbers differ. The paper does not say what makes two references the
same, which eps it used, or which code its records cover: 460 records cannot be
needed for the 4 comparisons of a sorted array, so code around the sort must be
among them. Here the records start where the sort, product or interpolation
starts; "as many" takes the paper's number of records from there on, past the
end of the region if need be, and "region" takes the region alone. "classes"
counts bars of persistence 3 or more, a threshold the paper does not give. The
compiler, the library and the particle code are not the paper's either. What
does agree are the loops: "turns" lists the exact counts found by instruction
and by line in the region, some of which the paper reads off its pictures (4
comparisons and 8 lookups in a sorted vector, 10 comparisons in 4 passes when reversed, 6 swaps
and 4 plain comparisons when shuffled, the three and five loops of the two
products).
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	sources := filepath.Join("examples", "loops")
	if len(os.Args) > 1 {
		sources = os.Args[1]
	}
	if err := run(ctx, os.Stdout, sources); err != nil {
		fmt.Fprintln(os.Stderr, "table1:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, sources string) error {
	dir, err := os.MkdirTemp("", "table1-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintf(out, "%-18s %-22s %-20s %-15s\n", "", "paper", "ours, as many", "ours, region")
	fmt.Fprintf(out, "%-18s %7s %5s %8s %10s %8s %7s %8s   %s\n",
		"", "records", "every", "classes", "records", "classes", "records", "classes", "turns")
	for _, r := range rows {
		line, err := r.measure(ctx, sources, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		fmt.Fprintln(out, line)
	}
	_, err = io.WriteString(out, differences)
	return err
}

// measure records the program and analyses the two selections.
func (r *row) measure(ctx context.Context, sources, dir string) (string, error) {
	exe, err := build(ctx, sources, dir, r.source)
	if err != nil {
		return "", err
	}
	trace := exe + ".lackey"
	if err := command(ctx, "valgrind", append([]string{"--tool=lackey", "--trace-mem=yes", "--log-file=" + trace, exe}, r.args...)...); err != nil {
		return "", err
	}
	defer os.Remove(trace)
	asMany, err := r.analyse(ctx, trace, exe, cycle.Addr, false)
	if err != nil {
		return "", err
	}
	byCode, err := r.analyse(ctx, trace, exe, cycle.PC, true)
	if err != nil {
		return "", err
	}
	byLine, err := r.analyse(ctx, trace, exe, cycle.Line, true)
	if err != nil {
		return "", err
	}
	inRegion := "-"
	if len(byCode.Trace.Syms) <= longest {
		region, err := r.analyse(ctx, trace, exe, cycle.Addr, true)
		if err != nil {
			return "", err
		}
		inRegion = fmt.Sprint(classes(region))
	}
	return fmt.Sprintf("%-18s %7d %5d %8d %10d %8d %7d %8s   %s", r.name, r.records, r.every, r.total,
		len(asMany.Trace.Syms), classes(asMany), len(byCode.Trace.Syms), inRegion, turns(byCode, byLine)), nil
}

// longest is the longest region that is also analysed by address: twice the
// records of the paper's longest row.
const longest = 4000

func build(ctx context.Context, sources, dir, source string) (string, error) {
	exe := filepath.Join(dir, strings.TrimSuffix(source, filepath.Ext(source)))
	if _, err := os.Stat(exe); err == nil {
		return exe, nil
	}
	mark := filepath.Join(dir, "region.o")
	if err := command(ctx, "cc", "-g", "-O0", "-c", filepath.Join(sources, "region.c"), "-o", mark); err != nil {
		return "", err
	}
	compiler := "cc"
	if filepath.Ext(source) == ".cpp" {
		compiler = "c++"
	}
	return exe, command(ctx, compiler, "-g", "-O0", filepath.Join(sources, source), mark, "-o", exe)
}

func command(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, text)
	}
	return nil
}

// analyse reads the trace from the start of the region: to its end, or for the
// paper's number of records.
func (r *row) analyse(ctx context.Context, trace, exe string, by cycle.Symbol, region bool) (*cycle.Result, error) {
	prog, err := symbol.OpenProgram(exe, symbol.ValgrindBias)
	if err != nil {
		return nil, err
	}
	begin, err := prog.Function("region_begin")
	if err != nil {
		return nil, err
	}
	end, err := prog.Function("region_end")
	if err != nil {
		return nil, err
	}
	in := cycle.Input{Symbol: by, Every: r.every, Resolver: prog}
	if !region {
		end = refs.Range{} // contains nothing
		in.To = uint64(r.records * r.every)
	}
	f, err := os.Open(trace)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src := refs.Region(reader{lackey.NewReader(f), f}, begin, end)
	traces, err := cycle.Load(ctx, src, in)
	if err != nil {
		return nil, err
	}
	if len(traces) == 0 {
		return nil, fmt.Errorf("no references in the region")
	}
	return cycle.Analyse(ctx, traces[0], cycle.Options{Window: cycle.DefaultWindow})
}

type reader struct {
	*lackey.Reader
	io.Closer
}

func classes(r *cycle.Result) int {
	n := 0
	for _, b := range r.Bars {
		if b.Persistence() >= cycle.DefaultPersistence {
			n++
		}
	}
	return n
}

// turns lists the distinct exact counts in the order of rank.
func turns(results ...*cycle.Result) string {
	var out []string
	seen := map[int64]bool{}
	for _, r := range results {
		for _, c := range r.Classes {
			if c.Exact && !seen[c.Turns] {
				seen[c.Turns] = true
				out = append(out, fmt.Sprint(c.Turns))
			}
		}
	}
	return strings.Join(out, " ")
}

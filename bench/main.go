// Bench measures Isobath against its peers and against limits of the machine,
// and prints one line a row:
//
//	bench NAME ours=… peer=… ratio=… bar=… ok|short
//
// then a table of the same. Ours and the peer are timed in turns in one run, so
// the ratio means something on a busy machine too. To add a row, write a file
// like screen.go and list its rows in rows.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"text/tabwriter"
)

// Row is a measurement, or several that share what they are measured on.
type Row struct {
	Name string // what --only matches; also the name of its single result
	Run  func(ctx context.Context) ([]Result, error)
}

// Result is one line.
type Result struct {
	Name       string
	Ours, Peer float64
	Unit       string // of both
	Versus     string // what the peer is
	Ratio      float64
	Bar        float64
	AtLeast    bool // the ratio should be at least the bar, not at most
	Skipped    string
}

// OK reports whether the bar is met.
func (r Result) OK() bool {
	if r.AtLeast {
		return r.Ratio >= r.Bar
	}
	return r.Ratio <= r.Bar
}

func (r Result) verdict() string {
	switch {
	case r.Skipped != "":
		return "skipped: " + r.Skipped
	case r.OK():
		return "ok"
	}
	return "short"
}

func (r Result) bar() string {
	if r.AtLeast {
		return ">=" + threeDigits(r.Bar)
	}
	return "<=" + threeDigits(r.Bar)
}

func threeDigits(f float64) string { return strconv.FormatFloat(f, 'g', 3, 64) }

// ratio has a digit more: some bars are one percent above 1.
func ratio(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) }

func (r Result) line() string {
	return fmt.Sprintf("bench %s ours=%s%s peer=%s%s ratio=%s bar=%s %s",
		r.Name, threeDigits(r.Ours), r.Unit, threeDigits(r.Peer), r.Unit, ratio(r.Ratio), r.bar(), r.verdict())
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == launchWord {
		os.Exit(launch(os.Args[2:]))
	}
	only := flag.String("only", "", "run rows whose name matches this regular expression")
	list := flag.Bool("list", false, "list the rows")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	match, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: --only: %v\n", err)
		os.Exit(2)
	}
	if !run(ctx, match, *list) {
		os.Exit(1)
	}
}

// run prints the rows that match, and reports whether all could be measured.
// Falling short of a bar is a result, not a failure.
func run(ctx context.Context, match *regexp.Regexp, list bool) bool {
	var results []Result
	ok := true
	for _, row := range rows {
		if !match.MatchString(row.Name) || ctx.Err() != nil {
			continue
		}
		if list {
			fmt.Println(row.Name)
			continue
		}
		measured, err := row.Run(ctx)
		for _, r := range measured {
			fmt.Println(r.line())
		}
		results = append(results, measured...)
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", row.Name, err)
			ok = false
		}
	}
	if len(results) > 0 {
		printTable(results)
	}
	return ok
}

func printTable(results []Result) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nname\tours\tpeer\tratio\tbar\t\tpeer is\n")
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%s %s\t%s %s\t%s\t%s\t%s\t%s\n",
			r.Name, threeDigits(r.Ours), r.Unit, threeDigits(r.Peer), r.Unit, ratio(r.Ratio), r.bar(), r.verdict(), r.Versus)
	}
	w.Flush()
}

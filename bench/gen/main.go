// Gen writes files of made-up samples to standard output, for benchmarks.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/isobath/isobath/bench/synth"
)

func main() {
	rows := flag.Int("rows", 300_000, "number of samples")
	format := flag.String("format", "mitos", "mitos: CSV of 24 columns; arrow: a table of 21 columns")
	flag.Parse()
	var err error
	switch *format {
	case "mitos":
		err = synth.WriteMitos(os.Stdout, *rows)
	case "arrow":
		err = synth.Samples(*rows).WriteArrow(os.Stdout)
	default:
		err = fmt.Errorf("--format %q: want mitos or arrow", *format)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "gen: %v\n", err)
		os.Exit(1)
	}
}

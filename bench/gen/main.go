// Gen writes made-up samples for benchmarks and tests of the page: a file to standard
// output, or into a folder the recordings of many hosts, of which two are odd.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/isobath/isobath/bench/synth"
)

func main() {
	rows := flag.Int("rows", 300_000, "number of samples")
	format := flag.String("format", "mitos", "mitos: CSV of 24 columns; arrow: a table of 21 columns; hosts: a run a host, in the folder that is named")
	hosts := flag.Int("hosts", 256, "number of hosts of --format hosts, with so many samples each")
	flag.Parse()
	var err error
	switch *format {
	case "hosts":
		_, err = synth.WriteHosts(context.Background(), flag.Arg(0), *hosts, *rows)
	case "mitos":
		err = synth.WriteMitos(os.Stdout, *rows)
	case "arrow":
		err = synth.Samples(*rows).WriteArrow(os.Stdout)
	default:
		err = fmt.Errorf("--format %q: want mitos, arrow or hosts", *format)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "gen: %v\n", err)
		os.Exit(1)
	}
}

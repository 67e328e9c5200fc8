// Package perfdata reads perf.data, the file of Linux perf: samples of memory
// accesses with the hardware's own words about each, and what is needed to
// attribute them (mappings, threads, features of the machine).
//
// Layouts follow include/uapi/linux/perf_event.h of the kernel and
// tools/perf/Documentation/perf.data-file-format.txt.
package perfdata

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/formats/foreign"
)

// Format is a perf.data file, written to disk or through a pipe, or the folder
// that perf record --threads makes.
var Format = foreign.Format{Name: "perf", Kind: kind.Samples, Sniff: sniff, Samples: read}

var magics = [][]byte{[]byte("PERFILE2"), []byte("2ELIFREP"), []byte("PERFFILE"), []byte("ELIFFREP")}

// mainFile is the file in a folder that has the header. The records of each
// thread that perf ran are beside it, as data.0, data.1 …, without one.
const mainFile = "data"

func sniff(in *foreign.Input) bool {
	head := in.Head
	if in.Dir() {
		if !slices.Contains(in.Names, mainFile) {
			return false
		}
		inside, err := foreign.Look(filepath.Join(in.Path, mainFile))
		if err != nil {
			return false
		}
		head = inside.Head
	}
	for _, m := range magics {
		if bytes.HasPrefix(head, m) {
			return true
		}
	}
	return false
}

func read(ctx context.Context, in *foreign.Input, opt *foreign.Options) (*foreign.Imported, error) {
	path := in.Path
	var beside folder
	if in.Dir() {
		path = filepath.Join(in.Path, mainFile)
		beside = folder{in.Path, threadFiles(in)}
	}
	f, err := plainfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	out, err := parse(ctx, f, info.Size(), opt, beside)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Path, err)
	}
	return out, nil
}

// threadFiles lists the records of perf's threads in their order.
func threadFiles(in *foreign.Input) []string {
	var numbers []int
	for _, name := range in.Names {
		if n, err := strconv.Atoi(strings.TrimPrefix(name, mainFile+".")); err == nil && n >= 0 && name == fmt.Sprintf("%s.%d", mainFile, n) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	var out []string
	for _, n := range numbers {
		out = append(out, filepath.Join(in.Path, fmt.Sprintf("%s.%d", mainFile, n)))
	}
	return out
}

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
	"os"

	"isobath/internal/formats"
)

// Format is a perf.data file, written to disk or through a pipe.
var Format = formats.Format{Name: "perf", Kind: formats.Samples, Sniff: sniff, Samples: read}

var magics = [][]byte{[]byte("PERFILE2"), []byte("2ELIFREP"), []byte("PERFFILE"), []byte("ELIFFREP")}

func sniff(in *formats.Input) bool {
	for _, m := range magics {
		if bytes.HasPrefix(in.Head, m) {
			return true
		}
	}
	return false
}

func read(ctx context.Context, in *formats.Input, opt *formats.Options) (*formats.Imported, error) {
	f, err := os.Open(in.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	out, err := parse(ctx, f, info.Size(), opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Path, err)
	}
	return out, nil
}

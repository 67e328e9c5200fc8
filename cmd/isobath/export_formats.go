package main

import (
	"context"
	"io"
	"strings"

	"github.com/isobath/isobath/internal/base/tracks"
	"github.com/isobath/isobath/internal/base/wholefile"
	"github.com/isobath/isobath/internal/memory/profile"
	"github.com/isobath/isobath/internal/messages/exchange"
	"github.com/isobath/isobath/internal/messages/trace"
)

// writer writes samples.
type writer func(context.Context, io.Writer, exported) error

// saver writes a message trace to a path.
type saver func(ctx context.Context, t *trace.Trace, out string) error

// writtenFormat is a format that export writes, for samples, messages or both.
type writtenFormat struct {
	ending  string
	also    []string // other endings that mean the same
	name    string
	samples func(how) writer
	trace   saver
}

// writtenFormats are all of them, in the order in which they are listed.
var writtenFormats = []writtenFormat{
	{ending: "csv", name: "comma-separated values", samples: always(writeCSV)},
	{ending: "parquet", name: "Parquet", samples: always(func(_ context.Context, w io.Writer, x exported) error { return x.Table.WriteParquet(w, x.rows) })},
	{ending: "arrow", also: []string{"feather"}, name: "Arrow", samples: always(writeArrow)},
	{ending: "folded", name: "folded stacks", samples: withOptions(writeFolded)},
	{ending: "pb.gz", name: "pprof", samples: always(writePprof)},
	{ending: "callgrind", name: "callgrind", samples: always(writeCallgrind)},
	timeline("json", "Trace Event Format of Chrome", func(w io.Writer) tracks.Sink { return tracks.NewChrome(w) }),
	{ending: "firefox.json", name: "Firefox Profiler", samples: always(writeFirefox)},
	{ending: "speedscope.json", name: "speedscope", samples: always(writeSpeedscope)},
	timeline("perfetto", "Perfetto", func(w io.Writer) tracks.Sink { return tracks.NewPerfetto(w) }, "pftrace", "perfetto-trace"),
	{ending: "otf2", name: "OTF2", trace: saveOTF2},
	{ending: "prv", name: "Paraver", trace: saveParaver},
	{ending: "ctf", name: "Common Trace Format 1.8", trace: saveCTF},
	{ending: "svg", name: "picture of the machine", samples: always(writeMachine)},
	{ending: "png", name: "the same in pixels", samples: withOptions(writePixels)},
	{ending: "html", name: "one page to send", samples: always(writeSheet)},
}

// always is a writer that is told nothing.
func always(w writer) func(how) writer { return func(how) writer { return w } }

// withOptions is a writer that is told how.
func withOptions(w func(context.Context, io.Writer, exported, how) error) func(how) writer {
	return func(h how) writer {
		return func(ctx context.Context, out io.Writer, x exported) error { return w(ctx, out, x, h) }
	}
}

// timeline is a format of a timeline viewer: samples and messages are tracks.
func timeline(ending, name string, sink func(io.Writer) tracks.Sink, also ...string) writtenFormat {
	return writtenFormat{ending: ending, also: also, name: name,
		samples: always(func(ctx context.Context, w io.Writer, x exported) error {
			return profile.WriteTimeline(ctx, sink(w), x.Table, x.rows)
		}),
		trace: func(ctx context.Context, t *trace.Trace, out string) error {
			return wholefile.Write(ctx, out, 0, func(w io.Writer) error { return exchange.Tracks(ctx, sink(w), t) })
		},
	}
}

// writtenAs is the format that the ending of a file means, the longest that fits;
// nil if it means none.
func writtenAs(out string) *writtenFormat {
	var best *writtenFormat
	length := 0
	out = strings.ToLower(out)
	for i := range writtenFormats {
		f := &writtenFormats[i]
		for _, ending := range append([]string{f.ending}, f.also...) {
			if strings.HasSuffix(out, "."+ending) && len(ending) > length {
				best, length = f, len(ending)
			}
		}
	}
	return best
}

// endingNames lists the endings.
func endingNames() []string {
	names := make([]string, len(writtenFormats))
	for i, f := range writtenFormats {
		names[i] = f.ending
	}
	return names
}

// endings is a choice of all endings, each after a prefix.
func endings(prefix string) string {
	names := endingNames()
	for i := range names {
		names[i] = prefix + names[i]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

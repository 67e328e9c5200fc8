package foreign

import (
	"errors"
	"strings"
	"testing"
)

// TestUnknownFiles holds that a file which is not read says what it seems to be
// and what to do with it, and is unknown all the same.
func TestUnknownFiles(t *testing.T) {
	for head, want := range map[string]string{
		"SQLite format 3\x00\x10":                     "sqlite3 -header -csv",
		"\x7fELF\x02\x01":                             "isobath record",
		"CUBEX.RES":                                   "SCOREP_ENABLE_TRACING",
		`{"nodes":[{"id":1,"callFrame"`:               "node --perf-basic-prof",
		`{"meta":{"interval":1,"startTime"`:           "Firefox Profiler",
		`{"version":2,"systemHost":{"name":"Firefox"`: "Firefox Profiler",
		"desc: --massif-out-file=ms.out\ncmd: ./p":    "--tool=dhat",
		"  [1, 2]":                    "looks like JSON",
		"<?xml version=\"1.0\"?><a/>": "looks like XML",
		"\x00\x01\x02\x03":            "it starts with",
	} {
		_, err := List{}.Recognise(&Input{Path: "x", Head: []byte(head)})
		if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", head, err, want)
		}
	}
}

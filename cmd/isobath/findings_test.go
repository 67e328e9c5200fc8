package main

import (
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/findings"
	"github.com/isobath/isobath/internal/locality/answer"
)

// TestAdviceIsOnALine: advice about a loop and about an allocation is on the line
// that it is called by, about a variable on the line where that costs most.
func TestAdviceIsOnALine(t *testing.T) {
	for _, tt := range []struct {
		advice answer.Advice
		file   string
		line   int
		said   bool
	}{
		{answer.Advice{Object: "p", Line: "pic.c:31"}, "pic.c", 31, true},
		{answer.Advice{Object: "heat.c:57 8 MiB", Line: "heat.c:90"}, "heat.c", 57, false},
		{answer.Advice{Object: "a b.c:57 24 bytes in main #2", Line: "heat.c:90"}, "a b.c", 57, false},
		{answer.Advice{Object: "memory of pic.c:31", Line: "pic.c:33"}, "pic.c", 33, true},
		{answer.Advice{Object: "Go heap: 24 B", Line: "main.go:7"}, "main.go", 7, true},
		{answer.Advice{Place: "pic.c:40"}, "pic.c", 40, false},
		{answer.Advice{Object: "p"}, "", 0, false},
	} {
		tt.advice.Kind = "soa"
		l := adviceFindings(&answer.Advise{Advice: []answer.Advice{tt.advice}}, 0)
		f := l.Findings[0]
		if f.File != tt.file || f.Line != tt.line || strings.Contains(f.Text, "No other line") != tt.said {
			t.Errorf("%q at %q: %s:%d, %q", tt.advice.Object, tt.advice.Line, f.File, f.Line, f.Text)
		}
		if f.Rule != "isobath/advice-soa" || f.Level != findings.Note {
			t.Errorf("%+v", f)
		}
	}
}

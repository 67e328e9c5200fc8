// Package folded reads folded stacks: a line a stack, functions from the
// outermost with semicolons between, a blank, and how many samples it has. Flame
// graph programs of many languages write them.
package folded

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/formats/codesums"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Format recognises and reads folded stacks.
var Format = foreign.Format{Name: "folded stacks", Kind: kind.Samples, Sniff: func(in *foreign.Input) bool { return !in.Dir() && sniff(in.Head, named(in)) }, Samples: foreign.StreamedSamples(parse)}

const (
	maxLine  = 4 << 20 // deep stacks of long C++ names
	maxDepth = 4096
	// sniffLines is how many lines are looked at.
	sniffLines = 20
)

// named reports whether the name of a file says what it is.
func named(in *foreign.Input) bool {
	name := filepath.Base(in.Known()) // the ending of a packer may follow
	return strings.Contains(name, ".folded") || strings.Contains(name, ".collapsed")
}

// sniff wants lines that are all stacks with a number. Without a call in any of
// them they could be anything that is counted: then the name of the file decides.
func sniff(head []byte, named bool) bool {
	seen, calls := 0, named
	for line := range bytes.Lines(head) {
		if !bytes.HasSuffix(line, []byte("\n")) && seen > 0 || seen == sniffLines {
			break // cut by the end of the head
		}
		stack, _, err := cut(string(bytes.TrimRight(line, "\r\n")))
		if err != nil || strings.ContainsAny(stack, "\x00\t") {
			return false
		}
		calls = calls || strings.Contains(stack, ";")
		seen++
	}
	return calls && seen > 0
}

// cut takes a line apart.
func cut(line string) (stack string, count int64, err error) {
	at := strings.LastIndexByte(line, ' ')
	if at <= 0 {
		return "", 0, fmt.Errorf("no stack and number with a blank between")
	}
	if count, err = strconv.ParseInt(line[at+1:], 10, 64); err != nil || count < 0 {
		return "", 0, fmt.Errorf("%q is no number of samples", line[at+1:])
	}
	stack = strings.TrimRight(line[:at], " ;") // heaptrack_print ends stacks with a semicolon
	if first, _, _ := strings.Cut(stack, ";"); first == "" {
		return "", 0, fmt.Errorf("the stack begins with nothing")
	} else if _, err := strconv.ParseFloat(first, 64); err == nil {
		return "", 0, fmt.Errorf("%q is a number, not a function", first)
	}
	return stack, count, nil
}

func parse(ctx context.Context, r io.Reader, opt *foreign.Options) (*foreign.Imported, error) {
	p := &codesums.Profile{Tool: "folded stacks", Events: []codesums.Event{{Name: "samples"}}, Counts: true}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimRight(lines.Text(), "\r")
		if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		stack, count, err := cut(text)
		if err != nil {
			if opt.Salvage {
				p.Notes = append(p.Notes, fmt.Sprintf("line %d was left out: %v", n, err))
				continue
			}
			return nil, fmt.Errorf("line %d: %w; --salvage reads the others", n, err)
		}
		if strings.Count(stack, ";") >= maxDepth {
			return nil, fmt.Errorf("line %d: more than %d calls", n, maxDepth)
		}
		p.Rows = append(p.Rows, codesums.Row{Frames: symbol.ParseStack(stack), Values: []int64{count}})
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return p.Imported()
}

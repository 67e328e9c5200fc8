// Package perftext reads what perf prints: the lines of `perf script`, with
// whatever fields they have, and the rows of `perf mem report -D`.
//
// perf's texts are made for people and differ from version to version. The
// hexadecimal data_src is preferred to its words wherever both are there.
package perftext

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/formats/foreign"
)

// Format is the text of perf script or perf mem report -D.
var Format = foreign.Format{Name: "perf text", Kind: kind.Samples, Sniff: sniff, Samples: foreign.StreamedSamples(parse)}

const (
	// maxLine is what one line may take, folded parts included. C++ names with
	// templates reach a few kilobytes.
	maxLine = 1 << 20
	// sniffLines is how many lines with text are looked at.
	sniffLines = 20
)

// sniff accepts a text whose first lines hold a sample. The time with its six
// or nine decimals, or the words of data_src, are unmistakable.
func sniff(in *foreign.Input) bool {
	if in.Dir() || len(in.Head) == 0 || bytes.IndexByte(in.Head, 0) >= 0 {
		return false
	}
	seen := 0
	var rep reportHeader
	for text := range bytes.Lines(in.Head) {
		line := strings.TrimRight(string(text), "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if rep.read(line) {
			return true
		}
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		if s, ok := parseLine(line); ok && s.certain() {
			return true
		}
		if seen++; seen == sniffLines {
			return false
		}
	}
	return false
}

// parse reads a text.
func parse(ctx context.Context, r io.Reader, opt *foreign.Options) (*foreign.Imported, error) {
	var c collector
	lines := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		if n%(1<<16) == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		line, err := nextLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if line != "" || err == nil {
			c.line(line)
		}
		if err != nil {
			break
		}
	}
	return c.finish(opt)
}

// nextLine returns a line without its end; lines that end in a backslash were
// folded by a mail program and are joined.
func nextLine(r *bufio.Reader) (string, error) {
	var whole []byte
	for {
		part, err := r.ReadSlice('\n')
		whole = append(whole, part...)
		if len(whole) > maxLine {
			return "", fmt.Errorf("longer than %d bytes: this is no output of perf", maxLine)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		text := bytes.TrimRight(whole, "\r\n")
		if err == nil && bytes.HasSuffix(text, []byte("\\")) {
			whole = append(text[:len(text)-1], ' ')
			continue
		}
		return string(text), err
	}
}

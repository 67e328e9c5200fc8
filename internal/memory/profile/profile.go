// Package profile writes samples by call stack for other tools: folded stacks,
// which flame graph programs draw, and the format of pprof.
package profile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// Stack is the samples with one call stack.
type Stack struct {
	Frames  []symbol.Frame // outermost first
	Samples int64
	// Latency is the sum over the samples that have one, Valued their number.
	Latency int64
	Valued  int64
}

// ErrNoCode is the error for samples that say nothing about code.
var ErrNoCode = errors.New("the samples have neither call stacks nor functions nor lines")

// Stacks sums the samples of rows (nil: all) by stack, the heaviest first. Of a
// table whose rows are sums it adds up what they sum.
// Where no stacks were recorded a stack is the sampled function with those it
// was inlined into.
func Stacks(ctx context.Context, t *table.Table, rows table.Bits) ([]Stack, error) {
	key, err := newKeys(t)
	if err != nil {
		return nil, err
	}
	latency := samples.UsableLatency(t)
	summed, _ := samples.Summed(t) // a row then stands for many samples
	var out []Stack
	number := map[string]int{}
	for i := range table.Scan(ctx, rows, t.Rows()) {
		text := key.text(i)
		n, ok := number[text]
		if !ok {
			n = len(out)
			number[text] = n
			out = append(out, Stack{Frames: symbol.ParseStack(text)})
		}
		if summed != nil {
			out[n].Samples += int64(summed.Float(i))
		} else {
			out[n].Samples++
		}
		if latency != nil && latency.Has(i) {
			out[n].Latency += int64(latency.Float(i))
			out[n].Valued++
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(a, b Stack) int { return int(b.Samples - a.Samples) })
	return out, nil
}

// keys makes the text of a stack from the columns that a table has.
type keys struct {
	stack, function, file, line, inline *table.Column
}

func newKeys(t *table.Table) (*keys, error) {
	category := func(name string) *table.Column {
		if c := t.Column(name); c != nil && c.Kind == table.Category {
			return c
		}
		return nil
	}
	k := &keys{stack: category("stack"), function: category("function"), file: category("file"), inline: category("inline")}
	if c := t.Column("line"); c != nil && c.Kind == table.Number {
		k.line = c
	}
	if k.stack == nil && k.function == nil && k.file == nil {
		return nil, ErrNoCode
	}
	return k, nil
}

// unknown is the frame of samples without code.
const unknown = "(not recorded)"

func (k *keys) text(row int) string {
	if k.stack != nil && k.stack.Has(row) {
		if s := k.stack.Text(row); s != "" {
			return s
		}
	}
	var words []string
	if k.inline != nil && k.inline.Has(row) {
		words = strings.Split(k.inline.Text(row), " ← ")
		slices.Reverse(words)
	}
	f := symbol.Frame{Function: unknown}
	if k.file != nil && k.file.Has(row) {
		f = symbol.Frame{Function: "?", File: k.file.Text(row)}
	}
	if k.function != nil && k.function.Has(row) {
		f.Function = k.function.Text(row)
	}
	if k.line != nil && k.line.Has(row) {
		f.Line = int(k.line.Float(row))
	}
	return strings.Join(append(words, f.String()), ";")
}

// Value says what a line of a folded file counts.
type Value string

// The values.
const (
	Samples Value = "samples"
	Latency Value = "latency"
)

// LatencyUnit is the unit of the latencies of a table, empty if it is unknown.
func LatencyUnit(t *table.Table) string {
	if c := t.Column(samples.Latency); c != nil {
		return samples.UnitOf(c)
	}
	return ""
}

// WriteFolded writes one line a stack: the functions from the outermost, with
// semicolons between, a blank and a number. Positions are left out, so stacks
// that differ in them only are one.
func WriteFolded(w io.Writer, stacks []Stack, value Value) error {
	sums := map[string]int64{}
	var order []string
	for _, s := range stacks {
		names := make([]string, len(s.Frames))
		for i, f := range s.Frames {
			names[i] = f.Function
		}
		text := strings.Join(names, ";")
		if _, ok := sums[text]; !ok {
			order = append(order, text)
		}
		n := s.Samples
		if value == Latency {
			n = s.Latency
		}
		sums[text] += n
	}
	b := bufio.NewWriter(w)
	for _, text := range order {
		if sums[text] != 0 {
			fmt.Fprintf(b, "%s %d\n", text, sums[text])
		}
	}
	return b.Flush()
}

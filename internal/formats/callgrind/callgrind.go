// Package callgrind reads what Valgrind's callgrind and cachegrind write: costs
// by source line, in the format that callgrind's manual specifies and of which
// cachegrind's is a part.
package callgrind

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/formats/codesums"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Format recognises and reads both.
var Format = foreign.Format{Name: "callgrind", Kind: kind.Samples, Sniff: func(in *foreign.Input) bool { return !in.Dir() && sniff(in.Head) }, Samples: foreign.StreamedSamples(parse)}

const (
	maxLine   = 1 << 20 // names of C++ templates
	maxEvents = 64
)

// sniff wants the first line of callgrind's files, or the header that both
// have: lines "key: value" up to the events, then a position.
func sniff(head []byte) bool {
	if bytes.HasPrefix(head, []byte("# callgrind format")) {
		return true
	}
	events := false
	for line := range bytes.Lines(head) {
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		if events {
			if _, _, ok := position(text); ok {
				return true
			}
		}
		key, _, ok := strings.Cut(text, ":")
		if !ok || strings.ContainsAny(key, " ,;\t") {
			return false
		}
		events = events || key == "events"
	}
	return false
}

// position takes apart a line that says where the next costs are.
func position(line string) (key, name string, ok bool) {
	key, name, ok = strings.Cut(line, "=")
	return key, strings.TrimSpace(name), ok && slices.Contains(positions, key)
}

var positions = []string{"ob", "fl", "fi", "fe", "fn", "cob", "cfi", "cfl", "cfn", "calls", "jump", "jcnd", "jfi", "jfn"}

// place is what costs are summed by.
type place struct {
	object, file, function string
	line                   int64
	address                uint64
}

// reader is the state that a file is read with.
type reader struct {
	tool, command string
	events        []string
	withAddress   bool
	withLine      bool
	names         map[string]map[string]string // by kind of name: the names that have numbers
	at            place
	mainFile      string // of the function, after files of inlined code
	last          [3]int64
	inCall        bool // the next line is what a call cost, with all below it
	calls         int
	said          map[string][]int64 // what lines "totals" and "summary" say, over all parts
	sums          map[place][]int64
	order         []place
}

func parse(ctx context.Context, in io.Reader, _ *foreign.Options) (*foreign.Imported, error) {
	r := &reader{tool: "cachegrind", withLine: true, names: map[string]map[string]string{"ob": {}, "fl": {}, "fn": {}}, said: map[string][]int64{}, sums: map[place][]int64{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := r.line(strings.TrimSpace(lines.Text())); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(r.events) == 0 {
		return nil, errors.New("no line says which events were counted")
	}
	out, err := r.profile().Imported()
	if err == nil && r.command != "" {
		out.Origin.Command = strings.Fields(r.command)
	}
	return out, err
}

func (r *reader) line(text string) error {
	if text == "" {
		return nil
	}
	if text[0] == '#' {
		if strings.HasPrefix(text, "# callgrind") {
			r.tool = "callgrind"
		}
		return nil
	}
	if strings.ContainsRune("0123456789+-*", rune(text[0])) {
		return r.costs(text)
	}
	if key, name, ok := position(text); ok {
		return r.position(key, name)
	}
	if key, value, ok := strings.Cut(text, ":"); ok {
		return r.header(key, strings.TrimSpace(value))
	}
	return fmt.Errorf("%.40q is neither a position nor costs", text)
}

func (r *reader) header(key, value string) error {
	switch key {
	case "creator":
		r.tool, _, _ = strings.Cut(value, "-")
	case "cmd":
		r.command = value
	case "events":
		events := strings.Fields(value)
		if len(events) == 0 || len(events) > maxEvents {
			return fmt.Errorf("%d events; 1 to %d are read", len(events), maxEvents)
		}
		if r.events != nil && !slices.Equal(r.events, events) {
			return errors.New("a later part counts other events")
		}
		r.events = events
	case "positions":
		r.withAddress = strings.Contains(value, "instr")
		r.withLine = strings.Contains(value, "line")
		if strings.Contains(value, "bb") {
			return errors.New("positions by basic block are not read; record without --dump-bb")
		}
	case "summary", "totals":
		return r.say(key, strings.Fields(value))
	}
	return nil
}

// say adds what the file says of a part as a whole: there may be several.
func (r *reader) say(key string, costs []string) error {
	if len(costs) > maxEvents {
		return fmt.Errorf("%s: %d costs; up to %d are read", key, len(costs), maxEvents)
	}
	sums := r.said[key]
	for i, text := range costs {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if i == len(sums) {
			sums = append(sums, 0)
		}
		sums[i] += v
	}
	r.said[key] = sums
	return nil
}

func (r *reader) position(key, text string) error {
	var of string // which numbers the name is of
	switch key {
	case "calls":
		r.inCall = true
		r.calls++
		return nil
	case "jump", "jcnd":
		return nil
	case "ob", "cob":
		of = "ob"
	case "fn", "cfn", "jfn":
		of = "fn"
	default:
		of = "fl"
	}
	name, err := r.name(of, text)
	if err != nil {
		return err
	}
	switch key {
	case "ob":
		r.at.object = name
	case "fl":
		r.at.file, r.mainFile = name, name
	case "fi", "fe":
		r.at.file = name
	case "fn":
		r.at.function, r.at.file = name, r.mainFile
	}
	return nil
}

// name resolves "(3) main", which gives a name its number, and "(3)".
func (r *reader) name(of, text string) (string, error) {
	if !strings.HasPrefix(text, "(") {
		return text, nil
	}
	number, rest, ok := strings.Cut(text[1:], ")")
	if _, err := strconv.ParseUint(number, 10, 32); !ok || err != nil {
		return text, nil // a name that begins with a bracket: (below main)
	}
	if rest = strings.TrimSpace(rest); rest != "" {
		r.names[of][number] = rest
		return rest, nil
	}
	name, ok := r.names[of][number]
	if !ok {
		return "", fmt.Errorf("name (%s) is used before it is given", number)
	}
	return name, nil
}

// costs reads a line of costs. Positions may be relative to the line before.
func (r *reader) costs(text string) error {
	fields := strings.Fields(text)
	n := 0
	for i, used := range []bool{r.withAddress, r.withLine} {
		if !used {
			continue
		}
		if n == len(fields) {
			return fmt.Errorf("%.40q has too few positions", text)
		}
		v, err := relative(fields[n], r.last[i])
		if err != nil {
			return err
		}
		r.last[i] = v
		n++
	}
	if r.inCall { // of what was called, and counted there
		r.inCall = false
		return nil
	}
	if len(fields)-n > len(r.events) {
		return fmt.Errorf("%d costs of %d events", len(fields)-n, len(r.events))
	}
	if n == len(fields) {
		return nil
	}
	at := r.at
	at.line = r.last[1]
	if r.withAddress {
		at.address = uint64(r.last[0])
	}
	sums := r.sums[at]
	if sums == nil {
		sums = make([]int64, len(r.events))
		r.sums[at] = sums
		r.order = append(r.order, at)
	}
	for i, f := range fields[n:] {
		v, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			if f == "." { // cachegrind: not counted here
				continue
			}
			return fmt.Errorf("cost %q is no number", f)
		}
		sums[i] += v
	}
	return nil
}

// relative reads a position: a number, or one relative to the last.
func relative(text string, last int64) (int64, error) {
	if text == "*" {
		return last, nil
	}
	digits, sign := text, int64(0)
	switch text[0] {
	case '+':
		digits, sign = text[1:], 1
	case '-':
		digits, sign = text[1:], -1
	}
	v, err := strconv.ParseInt(digits, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("position %q is no number", text)
	}
	if sign != 0 {
		return last + sign*v, nil
	}
	return v, nil
}

func (r *reader) profile() *codesums.Profile {
	p := &codesums.Profile{Tool: r.tool}
	for _, e := range r.events {
		p.Events = append(p.Events, codesums.Event{Name: e})
	}
	all := make([]int64, len(r.events))
	for _, at := range r.order {
		row := codesums.Row{Frames: []symbol.Frame{{Function: at.function, File: at.file, Line: int(max(at.line, 0))}}, Address: at.address, Module: at.object, Values: r.sums[at]}
		if at.file == "???" {
			row.Frames[0].File, row.Frames[0].Line = "", 0
		}
		for i, v := range row.Values {
			all[i] += v
		}
		p.Rows = append(p.Rows, row)
	}
	totals, ok := r.said["totals"]
	if !ok { // cachegrind; callgrind's also has what it could not attribute
		totals = r.said["summary"]
	}
	for i, said := range totals {
		if i < len(all) && said != all[i] {
			p.Notes = append(p.Notes, fmt.Sprintf("the costs by line add up to %d %s, the file says %d", all[i], r.events[i], said))
		}
	}
	if r.calls > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%d calls with what they cost below them are not shown: costs are those of each line itself", r.calls))
	}
	return p
}

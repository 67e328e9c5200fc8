// Package term writes for people at a terminal: aligned tables that fit the
// screen, numbers that line up, one progress line.
package term

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// Width is what text output fits into where the terminal does not say.
const Width = 80

// IsTerminal reports whether w shows its text to a person.
func IsTerminal(w io.Writer) bool {
	if s, ok := w.(*Screen); ok {
		w = s.w
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Style marks text on a terminal; on anything else it does nothing.
type Style struct {
	on    bool
	begin string // of a mark
}

// StyleFor returns the style for a writer. NO_COLOR switches it off.
func StyleFor(w io.Writer) Style {
	begin := escape
	if s, ok := w.(*Screen); ok {
		begin = s.begin
	}
	return Style{on: IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb", begin: begin}
}

func (s Style) wrap(code, text string) string {
	if !s.on {
		return text
	}
	return s.begin + code + "m" + text + s.begin + "0m"
}

// Bold, Dim and Warn mark text.
func (s Style) Bold(text string) string { return s.wrap("1", text) }
func (s Style) Dim(text string) string  { return s.wrap("2", text) }
func (s Style) Warn(text string) string { return s.wrap("33", text) }

// Integer is any whole number.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Counted writes a number with its noun: 1 call, 2 calls, 12 000 dependencies.
func Counted[T Integer](n T, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return Thousands(n) + " " + noun
}

// Thousands writes a whole number in groups of three: 15 676.
func Thousands[T Integer](n T) string {
	s := fmt.Sprint(n) // a cast would make the largest uint64 -1
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return sign + s
}

var factors = []struct {
	factor float64
	name   string
}{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}}

// Short writes a quantity with at most three digits and a factor: 1.02 M.
func Short(f float64) string {
	for _, u := range factors {
		if math.Abs(f) >= u.factor*0.9995 {
			return digits(f/u.factor) + u.name
		}
	}
	if f == math.Trunc(f) {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return digits(f)
}

// Span writes both ends of a range with one factor and one number of decimals: three
// digits of the larger one, or as many as tell the ends apart: 0.00 to 5.11,
// 1.02 to 1.05 M.
func Span(from, to float64) string {
	factor, name := 1.0, ""
	for _, u := range factors {
		if larger := max(math.Abs(from), math.Abs(to)); larger >= u.factor*0.9995 {
			factor, name = u.factor, u.name
			break
		}
	}
	from, to = from/factor, to/factor
	places := placesOf(from, to)
	write := func(f float64) string {
		text := strconv.FormatFloat(f, 'f', places, 64)
		if strings.Trim(text, "-0.") == "" {
			text = strings.TrimPrefix(text, "-")
		}
		return text
	}
	return write(from) + " to " + write(to) + name
}

// placesOf is how many decimals both ends of a range are written with.
func placesOf(from, to float64) int {
	whole := func(f float64) bool { return f == math.Trunc(f) }
	if whole(from) && whole(to) {
		return 0
	}
	places := 0
	if larger := max(math.Abs(from), math.Abs(to)); larger > 0 {
		places = 2 - int(math.Floor(math.Log10(larger)))
	}
	if wide := math.Abs(to - from); wide > 0 {
		places = max(places, 1-int(math.Floor(math.Log10(wide))))
	}
	return min(max(places, 0), 9)
}

func digits(f float64) string {
	switch a := math.Abs(f); {
	case a >= 99.95:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'f', 2, 64)
}

// Roughly stands before a number that is modelled or estimated: ≈ and a space;
// nothing before others.
func Roughly(is bool) string {
	if is {
		return "≈ "
	}
	return ""
}

// Percent writes a share with one decimal.
func Percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

// Change writes a relative change with its sign: −12.5 %.
func Change(share float64) string {
	if share < 0 {
		return "−" + Percent(-share)
	}
	return "+" + Percent(share)
}

// Bytes writes a size in powers of 1024, whole where it is whole: 32 KiB,
// 1.25 MiB, 210.9 KiB.
func Bytes[T int | int64 | uint64](n T) string {
	units := []string{"TiB", "GiB", "MiB", "KiB"}
	for i, unit := range units {
		factor := float64(uint64(1) << (10 * (len(units) - i)))
		v := float64(n) / factor
		if v < 1 {
			continue
		}
		switch {
		case v == math.Trunc(v):
			return strconv.FormatFloat(v, 'f', 0, 64) + " " + unit
		case v >= 9.995:
			return strconv.FormatFloat(v, 'f', 1, 64) + " " + unit
		}
		return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 2, 64), "0") + " " + unit
	}
	return fmt.Sprint(n) + " B"
}

// Duration writes nanoseconds with three digits and a unit: 1.25 ms.
func Duration(ns int64) string {
	for _, u := range []struct {
		factor float64
		name   string
	}{{1e9, " s"}, {1e6, " ms"}, {1e3, " µs"}} {
		if v := float64(ns) / u.factor; math.Abs(v) >= 1 {
			return digits(v) + u.name
		}
	}
	return strconv.FormatInt(ns, 10) + " ns"
}

// Bar draws a share as a bar of at most width characters, in eighths.
func Bar(share float64, width int) string {
	n := int(math.Round(min(max(share, 0), 1) * float64(width) * 8))
	bar := strings.Repeat("█", n/8)
	if n%8 > 0 {
		bar += string([]rune(" ▏▎▍▌▋▊▉")[n%8])
	}
	return bar
}

// Clip cuts text to a number of characters, in the middle so that both ends of
// a path stay.
func Clip(s string, width int) string {
	if utf8.RuneCountInString(s) <= width || width < 3 {
		return s
	}
	r := []rune(s)
	head := (width - 1) / 3
	return string(r[:head]) + "…" + string(r[len(r)-(width-1-head):])
}

// ClipEnd cuts text to a number of characters, at its end.
func ClipEnd(s string, width int) string {
	if utf8.RuneCountInString(s) <= width || width < 1 {
		return s
	}
	return string([]rune(s)[:width-1]) + "…"
}

// Align says on which side of its column a cell stands.
type Align bool

// The sides.
const (
	Left  Align = false
	Right Align = true
)

// Column is one column of a Table.
type Column struct {
	Head  string
	Align Align
	// Give marks the column that gives way when the table is too wide.
	Give bool
}

// Table is text in columns.
type Table struct {
	Columns []Column
	rows    [][]string
}

// Row adds a row.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Write prints the table in at most width characters where the giving column
// allows it.
func (t *Table) Write(w io.Writer, width int) error {
	widths := make([]int, len(t.Columns))
	total := 2 * (len(t.Columns) - 1)
	for i, c := range t.Columns {
		widths[i] = utf8.RuneCountInString(c.Head)
		for _, r := range t.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(r[i]))
		}
		total += widths[i]
	}
	for i, c := range t.Columns {
		if c.Give && total > width {
			widths[i] = max(widths[i]-(total-width), 8)
		}
	}
	style := StyleFor(w)
	heads := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		heads[i] = c.Head
	}
	if _, err := fmt.Fprintln(w, style.Dim(t.line(heads, widths))); err != nil {
		return err
	}
	for _, r := range t.rows {
		if _, err := fmt.Fprintln(w, t.line(r, widths)); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) line(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		if i > 0 {
			b.WriteString("  ")
		}
		cell = Clip(inLine(cell), widths[i])
		pad := strings.Repeat(" ", max(widths[i]-utf8.RuneCountInString(cell), 0))
		if t.Columns[i].Align == Right {
			b.WriteString(pad + cell)
		} else {
			b.WriteString(cell + pad)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// Progress is one line on a terminal that says how far a long task is. It
// appears after half a second, so that short tasks leave no trace.
type Progress struct {
	mu    sync.Mutex
	w     io.Writer
	what  string
	start time.Time
	last  time.Time
	shown bool
}

const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// NewProgress returns a progress line on w, or nil if w is no terminal. All
// methods may be called on nil.
func NewProgress(w io.Writer, what string) *Progress {
	if !IsTerminal(w) {
		return nil
	}
	return &Progress{w: w, what: what, start: time.Now()}
}

// Say shows a state in words.
func (p *Progress) Say(state string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.due(time.Now()) {
		fmt.Fprintf(p.w, "\r\x1b[K%s", Clip(inLine(p.what+": "+state), Width-1))
	}
}

// due reports whether the line is to be drawn again, and notes that it is.
func (p *Progress) due(now time.Time) bool {
	if now.Sub(p.start) < progressAfter || now.Sub(p.last) < progressEvery {
		return false
	}
	p.last, p.shown = now, true
	return true
}

// Set shows bytes done of bytes in all (0: not known) and rows so far.
func (p *Progress) Set(done, total, rows int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if !p.due(now) {
		return
	}
	line := fmt.Sprintf("%s: %sB", p.what, Short(float64(done)))
	if total > 0 && done > 0 {
		left := time.Duration(float64(now.Sub(p.start)) * float64(total-done) / float64(done))
		line += fmt.Sprintf(" of %sB, %s, %s left", Short(float64(total)), Percent(float64(done)/float64(total)), left.Round(time.Second))
	}
	if rows > 0 {
		line += ", " + Thousands(rows) + " rows"
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", Clip(inLine(line), Width-1))
}

// Done removes the line.
func (p *Progress) Done() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// Agree is the verb, or another word, that goes with a number.
func Agree[T Integer](n T, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

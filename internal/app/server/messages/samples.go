package messages

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/messages/timeline"
	"github.com/isobath/isobath/internal/messages/trace"
)

// sampleLink says which samples were taken while an operation ran: those of its
// rank, between its times on the samples' clock.
type sampleLink struct {
	rank, time *table.Column
	shift      int64 // time of a sample minus ns after the first event of the trace
}

// linkSamples finds out whether samples and trace are of the same ranks and
// clock. Times are compared first as they are, then by the time of day, which
// samples of several hosts are kept in.
func linkSamples(samples *table.Table, t *trace.Trace) (*sampleLink, string) {
	rank, at := samples.Column("rank"), samples.Column("time")
	switch {
	case rank == nil || rank.Kind != table.Number:
		return nil, "the samples do not say which rank they are of; import them with 'isobath import TRACE SAMPLES…'"
	case at == nil || at.Kind != table.Time:
		return nil, "the samples do not say when they were taken"
	}
	shared := map[int32]bool{}
	for _, p := range t.Procs {
		shared[p.Rank] = true
	}
	first, last, any := int64(math.MaxInt64), int64(math.MinInt64), false
	for i := range samples.Rows() {
		if at.Has(i) {
			v := int64(at.Float(i))
			first, last = min(first, v), max(last, v)
		}
		any = any || rank.Has(i) && shared[int32(rank.Float(i))]
	}
	if !any {
		return nil, "no sample is of a rank of the trace"
	}
	span := t.SpanNS()
	starts := []uint64{uint64(t.NS(int64(t.Origin) + t.First))}
	if t.Realtime > 0 {
		starts = append(starts, t.Realtime+uint64(t.NS(t.First)))
	}
	for _, start := range starts {
		if shift := int64(start - at.Base); first <= shift+span && last >= shift {
			return &sampleLink{rank, at, shift}, ""
		}
	}
	return nil, "the clocks of samples and trace do not meet: no sample was taken while the trace ran"
}

// between is the selection of a stretch of time in ns after the first event, of
// one rank or, with -1, of all. Ends are included: a sample has no duration.
func (l *sampleLink) between(rank int32, from, to float64) string {
	a, b := l.shift+int64(math.Floor(from)), l.shift+int64(math.Ceil(to))
	text := fmt.Sprintf("time in %d..%d", a, b)
	if rank >= 0 {
		text = fmt.Sprintf("rank = %d & %s", rank, text)
	}
	return text
}

func (s routes) traceSamples(w http.ResponseWriter, r *http.Request, run *Trace) error {
	var ask SamplesAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	a, err := s.analyse(r.Context(), run, ask.TraceAsk)
	if err != nil {
		return err
	}
	link := run.link
	if link == nil {
		return frame.BadRequest("this run has no samples beside its trace")
	}
	out := SamplesAnswer{Lines: []LineCount{}}
	if ask.File != "" {
		if out.Lines, err = run.countLines(r.Context(), ask.File); err != nil {
			return err
		}
	}
	if out.Window, err = run.countSamples(r.Context(), link.between(-1, ask.TimeFrom, ask.TimeTo)); err != nil {
		return err
	}
	if ask.Op >= 0 {
		o, err := a.Operation(ask.Op, a.causes, nil)
		if err != nil {
			return frame.WrongAsk(err)
		}
		call, err := run.countSamples(r.Context(), link.between(o.Rank, o.Enter, o.Exit))
		if err != nil {
			return err
		}
		before, err := run.countSamples(r.Context(), link.between(o.Rank, o.Began, o.Enter))
		if err != nil {
			return err
		}
		out.Call, out.Before = &call, &before
	}
	return s.Answer(w, r, out)
}

func (r *Trace) countSamples(ctx context.Context, where string) (SampleCount, error) {
	rows, err := memory.Of(r.Run).Select(ctx, "", where)
	if err != nil {
		return SampleCount{}, err
	}
	return SampleCount{where, rows.Count()}, nil
}

// countLines counts the samples of each line of a file that the trace names. The
// samples may name it by more or fewer folders.
func (r *Trace) countLines(ctx context.Context, file string) ([]LineCount, error) {
	out := []LineCount{}
	samples := memory.Of(r.Run).Data.Table
	files, lines := samples.Column("file"), samples.Column("line")
	if files == nil || lines == nil || files.Kind != table.Category || lines.Kind != table.Number {
		return out, nil
	}
	codes, ok := files.Data.([]uint32)
	for code, name := range files.Dict {
		if !ok || !sameFile(name, file) {
			continue
		}
		counts := map[int]int{}
		for i, c := range codes {
			if i%(1<<20) == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if c == uint32(code) && files.Has(i) && lines.Has(i) {
				counts[int(lines.Float(i))]++
			}
		}
		for line, n := range counts {
			out = append(out, LineCount{line, SampleCount{fmt.Sprintf("file = %s & line = %d", strconv.Quote(name), line), n}})
		}
	}
	slices.SortFunc(out, func(a, b LineCount) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Where, b.Where))
	})
	return out, nil
}

// sameFile reports whether two names can be of one file: one ends with the other.
func sameFile(a, b string) bool {
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// marks counts the samples of a selection in the cells of a window of time.
func (r *Trace) marks(ctx context.Context, c *frame.Body, where string, t *timeline.Timeline, by timeline.RowOrder, a *TimelineAnswer) (*TimelineMarks, error) {
	link := r.link
	if link == nil {
		return nil, frame.BadRequest("this run has no samples beside its trace")
	}
	w := a.Window
	rows, err := memory.Of(r.Run).Select(ctx, "", where)
	if err != nil {
		return nil, err
	}
	order, err := t.Rows(ctx, by)
	if err != nil {
		return nil, err
	}
	lineOf := map[int32]uint32{} // a folded line has several ranks
	for y, l := range a.Lines {
		for _, row := range order[l.First : l.First+l.Count] {
			if row.Thread == 0 {
				lineOf[row.Rank] = uint32(y)
			}
		}
	}
	count := make([]uint32, len(a.Lines)*w.Columns)
	out := &TimelineMarks{First: math.Inf(1), Last: math.Inf(-1)}
	for i := range rows.All() {
		y, ok := lineOf[int32(link.rank.Float(i))]
		if !ok || !link.rank.Has(i) || !link.time.Has(i) {
			continue
		}
		when := link.time.Float(i) - float64(link.shift)
		out.All++
		out.First, out.Last = min(out.First, when), max(out.Last, when)
		if when < w.From || when > w.To {
			continue
		}
		x := int((when - w.From) / (w.To - w.From) * float64(w.Columns))
		count[int(y)*w.Columns+min(x, w.Columns-1)]++
		out.Samples++
	}
	if out.All == 0 {
		out.First, out.Last = 0, 0
	}
	var line, at, n []uint32
	for i, k := range count {
		if k > 0 {
			line, at, n = append(line, uint32(i/w.Columns)), append(at, uint32(i%w.Columns)), append(n, k)
		}
	}
	out.Line, out.At, out.Count = frame.Add(c, line), frame.Add(c, at), frame.Add(c, n)
	return out, nil
}

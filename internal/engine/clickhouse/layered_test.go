package clickhouse

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/isobath/isobath/internal/engine/clickhouse/clickhousetest"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/enginetest"
)

// overheard keeps the statements that are sent.
type overheard struct {
	http.RoundTripper
	mu         sync.Mutex
	statements []string
}

func (o *overheard) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	o.mu.Lock()
	o.statements = append(o.statements, string(body))
	o.mu.Unlock()
	return o.RoundTripper.RoundTrip(r)
}

// TestWholeKept selects on pages that were shown before: what no selection changes is
// not asked again, and the answers are those of the kernel.
func TestWholeKept(t *testing.T) {
	checkWholeKept(t, dial(t, clickhousetest.Start(t, 2)[0].Address("")))
}

func checkWholeKept(t *testing.T, s *Server) {
	r := rand.New(rand.NewPCG(9, 10))
	d := enginetest.Data(r, 3000)
	want := kernel.New(d, kernel.Options{})
	defer want.Close()
	e := stored(t, s, "run", d)
	heard := &overheard{RoundTripper: e.server.entry.http.Transport}
	e.server.entry.http.Transport = heard
	shown := screen(nil)
	shown.Groups = append(shown.Groups, query.Group{By: []string{"line", "level"}, Sum: "latency"}, query.Group{By: []string{"level"}, Sum: "time"})
	enginetest.Check(t, t.Context(), d, shown, want, e)
	for _, layers := range [][2]string{
		{"latency > 200", ""}, {"latency > 200", "cpu = 1"}, {"", "level = L1"}, {"cpu < 3 & latency = none", ""},
		{"latency > 1e9", ""}, {"latency > 1e9", "cpu = 1"}, {"! latency = none", "latency > 1e9"},
	} {
		q := *shown
		for i, into := range []*query.Expr{&q.Where, &q.Hover} {
			if layers[i] == "" {
				continue
			}
			x, err := query.Parse(layers[i], d.Table)
			if err != nil {
				t.Fatal(err)
			}
			*into = x
		}
		heard.statements = nil
		enginetest.Check(t, t.Context(), d, &q, want, e)
		for _, sql := range heard.statements {
			if strings.Contains(sql, " GROUP BY ") && !strings.Contains(sql, "WHERE ") && !strings.Contains(strings.Join(layers[:], ""), "1e9") {
				t.Errorf("%v: all rows are grouped again: %s", layers, sql)
			}
			if strings.Contains(sql, markPrefix) {
				t.Errorf("%v: a mark was sent: %s", layers, sql)
			}
		}
	}
	for range 8 { // TestConformance changes selections at random too
		q := enginetest.Request(r, d)
		before := *q
		before.Where, before.Hover = nil, nil
		enginetest.Check(t, t.Context(), d, &before, want, e)
		enginetest.Check(t, t.Context(), d, q, want, e)
	}
}

// What is kept is bounded, and the oldest goes first.
func TestWholeBounded(t *testing.T) {
	w := &wholes{}
	rows := mostWholeCells / 4
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		w.keep(key, &block{rows: rows, columns: make([]column, 1)})
	}
	w.keep("large", &block{rows: rows, columns: make([]column, 2)})
	if w.find("a") != nil || w.find("b") == nil || w.find("e") == nil || w.find("large") != nil || w.cells != 4*rows {
		t.Errorf("kept %v, %d numbers", w.oldest, w.cells)
	}
}

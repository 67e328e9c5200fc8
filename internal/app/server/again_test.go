package server

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
)

// wait follows a job to its end.
func wait(t *testing.T, s *Server, j frame.Job) frame.Job {
	t.Helper()
	b, err := s.jobs.find(j.ID)
	if err != nil {
		t.Fatal(err)
	}
	for {
		now, changed := b.next()
		if now.State != "running" {
			return now
		}
		<-changed
	}
}

// A file whose columns have other names is refused, shows what it has, and
// opens with the mapping a user chose.
func TestAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "samples.csv")
	text := "source,line,timestamp,core,cost,level,hit_type\na.c,1,1000000,0,5,L1,Hit\na.c,2,1000001,1,7,L2,Hit\na.c,2,1000002,1,9,L2,Hit\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	loader := NewLoader(dataset.Options{})
	s := newTestServer(t, func(o *Options) { o.Open, o.Reopen = loader.Open, loader.Reopen })
	const api = "/api/v1/"
	failed := wait(t, s, get[frame.Job](t, do(s, "POST", api+"open", `{"path":"`+path+`"}`), http.StatusAccepted))
	if failed.State != "failed" || !failed.Columns || !strings.Contains(failed.Failure.Error, `no column "time"`) {
		t.Fatalf("%+v", failed)
	}
	columns := get[frame.Columns](t, do(s, "GET", api+"jobs/"+failed.ID+"/columns", ""), http.StatusOK)
	if len(columns.Columns) != 7 || columns.Columns[3].Name != "core" || strings.Join(columns.Columns[3].Values, " ") != "0 1" || columns.Columns[0].ReadAs != "file" || len(columns.Wanted) < 20 {
		t.Errorf("columns %+v", columns)
	}

	// A mapping that names no column fails, too: nothing is guessed.
	wrong := wait(t, s, get[frame.Job](t, do(s, "POST", api+"jobs/"+failed.ID+"/again", `{"map":{"time":"none such","cpu":"core"}}`), http.StatusAccepted))
	if wrong.State != "failed" || !strings.Contains(wrong.Failure.Error, "none such") {
		t.Errorf("%+v", wrong)
	}

	done := wait(t, s, get[frame.Job](t, do(s, "POST", api+"jobs/"+failed.ID+"/again", `{"map":{"time":"timestamp","cpu":"core","latency":"cost"}}`), http.StatusAccepted))
	if done.State != "done" {
		t.Fatalf("%+v", done)
	}
	info := get[frame.Info](t, do(s, "GET", api+"runs/"+done.Run, ""), http.StatusOK)
	if info.Rows != 3 || !info.Foreign || info.L1Latency != nil {
		t.Errorf("%+v", info)
	}
	if got := get[frame.Columns](t, do(s, "GET", api+"runs/"+done.Run+"/columns", ""), http.StatusOK); got.Map["cpu"] != "core" {
		t.Errorf("the mapping is not remembered: %+v", got.Map)
	}

	// Read again in another way, the new run takes the old one's place.
	other := wait(t, s, get[frame.Job](t, do(s, "POST", api+"runs/"+done.Run+"/again", `{"map":{"time":"timestamp","cpu":"core"}}`), http.StatusAccepted))
	if other.State != "done" || other.Run == done.Run {
		t.Fatalf("%+v", other)
	}
	if why := get[memory.Why](t, do(s, "GET", api+"runs/"+other.Run+"/why?row=1", ""), http.StatusOK); !strings.HasPrefix(why.Why, "L2: ") {
		t.Errorf("%+v", why)
	}
	if why := get[memory.Why](t, do(s, "GET", api+"runs/"+other.Run+"/why?where=level+%3D+L2&filter=", ""), http.StatusOK); why.Row != 1 || !strings.HasPrefix(why.Why, "L2: ") {
		t.Errorf("%+v", why)
	}
	for _, bad := range []string{"why?row=3", "why?row=-1", "why?row=x", "why?where=level+%3D", "why?where=level+%3D+L3&filter=level+%3D+L2"} {
		get[frame.Failure](t, do(s, "GET", api+"runs/"+other.Run+"/"+bad, ""), http.StatusBadRequest)
	}
	get[frame.Failure](t, do(s, "POST", api+"runs/"+other.Run+"/again", `{"map":{},"l1Latency":100000}`), http.StatusBadRequest)
}

// Words for levels that mean nothing known are shown, and mapped like columns.
func TestAgainWithWords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words.csv")
	if err := os.WriteFile(path, []byte("time,cpu,level\n1,0,HBM\n2,1,L2\n3,1,HBM\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	loader := NewLoader(dataset.Options{})
	s := newTestServer(t, func(o *Options) { o.Open, o.Reopen = loader.Open, loader.Reopen })
	const api = "/api/v1/"
	first := wait(t, s, get[frame.Job](t, do(s, "POST", api+"open", `{"path":"`+path+`"}`), http.StatusAccepted))
	words := get[frame.Columns](t, do(s, "GET", api+"runs/"+first.Run+"/columns", ""), http.StatusOK).Words
	if len(words) != 1 || words[0].Column != "level" || strings.Join(words[0].Unknown, " ") != "HBM" || !slices.Contains(words[0].Known, "Local RAM") {
		t.Fatalf("words %+v", words)
	}
	again := wait(t, s, get[frame.Job](t, do(s, "POST", api+"runs/"+first.Run+"/again", `{"map":{"level:HBM":"Local RAM"}}`), http.StatusAccepted))
	got := get[frame.Columns](t, do(s, "GET", api+"runs/"+again.Run+"/columns", ""), http.StatusOK)
	if len(got.Words[0].Unknown) != 0 || got.Map["level:HBM"] != "Local RAM" {
		t.Errorf("mapped words %+v, map %v", got.Words, got.Map)
	}
	if why := get[memory.Why](t, do(s, "GET", api+"runs/"+again.Run+"/why?row=0", ""), http.StatusOK); !strings.HasPrefix(why.Why, "Local RAM") {
		t.Errorf("%+v", why)
	}
}

// A page learns of a run that took another's place a moment later: what it asks the
// old one until then is answered, though nobody is offered it any more.
func TestRetired(t *testing.T) {
	path := filepath.Join(t.TempDir(), "samples.csv")
	if err := os.WriteFile(path, []byte("ip,time,cpu,latency\n1,10,0,5\n2,11,1,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		loader := NewLoader(dataset.Options{})
		s := newTestServer(t, func(o *Options) { o.Open, o.Reopen = loader.Open, loader.Reopen })
		const api = "/api/v1/"
		old := wait(t, s, get[frame.Job](t, do(s, "POST", api+"open", `{"path":"`+path+`"}`), http.StatusAccepted)).Run
		other := wait(t, s, get[frame.Job](t, do(s, "POST", api+"runs/"+old+"/again", `{"map":{"latency":"cpu"}}`), http.StatusAccepted)).Run
		synctest.Wait()
		if old == "" || other == "" || old == other {
			t.Fatalf("runs %q and %q", old, other)
		}
		get[frame.Info](t, do(s, "GET", api+"runs/"+old, ""), http.StatusOK)
		if home := get[frame.Home](t, do(s, "GET", api+"runs", ""), http.StatusOK); slices.ContainsFunc(home.Runs, func(r frame.RunSummary) bool { return r.ID == old }) {
			t.Errorf("listed: %+v", home.Runs)
		}
		time.Sleep(retirement)
		synctest.Wait()
		get[frame.Failure](t, do(s, "GET", api+"runs/"+old, ""), http.StatusNotFound)
		get[frame.Info](t, do(s, "GET", api+"runs/"+other, ""), http.StatusOK)
	})
}

func TestAgainIsPrivate(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.Shared = true })
	get[frame.Failure](t, do(s, "GET", "/api/v1/runs/six/columns", ""), http.StatusForbidden)
	get[frame.Failure](t, do(s, "POST", "/api/v1/runs/six/again", `{}`), http.StatusForbidden)
}

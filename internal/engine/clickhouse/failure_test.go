package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/engine/clickhouse/clickhousetest"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/enginetest"
)

func TestParseAddress(t *testing.T) {
	a, err := ParseAddress("clickhouse://me@db1:9000/perf/big?cluster=shards&timeout=5s")
	if err != nil {
		t.Fatal(err)
	}
	if want := (Address{Host: "db1:9000", User: "me", Database: "perf", Run: "big", Cluster: "shards", Timeout: 5 * time.Second}); *a != want {
		t.Errorf("got %+v, want %+v", *a, want)
	}
	if got := a.String(); got != "clickhouse://me@db1:9000/perf/big?cluster=shards" {
		t.Errorf("shown as %s", got)
	}
	for _, wrong := range []string{
		"clickhouse://", "http://db1/perf", "clickhouse://db1/a/b/c", "clickhouse://db1/perf?colour=red", "clickhouse://db1/perf?timeout=0s",
		"clickhouse://db1/a';DROP", "clickhouse://db1/x?cluster=a'b", "clickhouse://me:hush@db1/perf", "clickhouse://me:hush@db1:port/perf",
	} {
		if _, err := ParseAddress(wrong); err == nil {
			t.Errorf("%s is accepted", wrong)
		} else if strings.Contains(err.Error(), "hush") {
			t.Errorf("the error shows a password: %v", err)
		}
	}
}

// FuzzBlocks reads what a server might send.
func FuzzBlocks(f *testing.F) {
	whole, err := (&block{rows: 2, columns: []column{{"a", []uint64{1, 2}}, {"b", []string{"x", ""}}, {"c", []float64{0.5, 1}}}}).bytes()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte("\x01\xff\xff\xff\xff\x0f\x01a\x06UInt64"))
	f.Add([]byte("\xff\xff\xff\xff\x0f\x01"))
	f.Fuzz(func(t *testing.T, in []byte) {
		b, err := readBlocks(strings.NewReader(string(in)))
		if err == nil && b == nil {
			t.Error("no block and no error")
		}
	})
}

// question needs every shard.
var question = &query.Request{Groups: []query.Group{{By: []string{"line"}, Sum: "latency"}}}

func TestShardLost(t *testing.T) {
	servers := clickhousetest.Start(t, 2)
	s := dial(t, servers[0].Address(""))
	d := enginetest.Data(rand.New(rand.NewPCG(1, 2)), 2000)
	e := stored(t, s, "run", d)
	before, err := e.Answer(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	servers[1].Kill()
	_, err = e.Answer(t.Context(), question)
	var lost *ShardError
	if !errors.As(err, &lost) || lost.Shard != servers[1].Host() {
		t.Fatalf("without %s: %v", servers[1].Host(), err)
	}
	if err := servers[1].Start(); err != nil {
		t.Fatal(err)
	}
	if diff := enginetest.Diff(d, question, before, answered(t, e)); diff != "" {
		t.Errorf("after its return: %s", diff)
	}
	if err := s.checkRows(t.Context(), e.document); err != nil { // nothing is lost or doubled
		t.Error(err)
	}
	servers[0].Kill()
	var gone *LostError
	if _, err = e.Answer(t.Context(), question); !errors.As(err, &gone) || gone.Server != servers[0].Host() {
		t.Errorf("without the first server: %v", err)
	}
}

// killedWhileAnswering asks about rows that a shard alone has, some thousand, so that
// it takes seconds; kills the shard while it is at work on that; and returns how long
// after, and what, was said.
func killedWhileAnswering(t testing.TB, e *Engine, shard *clickhousetest.Server, itsRows string) (after time.Duration, said error) {
	t.Helper()
	question := parallel.Start(t.Context(), func(ctx context.Context) error {
		_, err := e.ask(ctx, "SELECT sum(sleepEachRow(0.0025)) FROM "+e.from()+" WHERE "+itsRows)
		return err
	})
	for {
		at, err := shard.Do(t.Context(), "SELECT count() FROM system.processes WHERE query LIKE '%sleepEachRow%' AND query NOT LIKE '%processes%'")
		if err != nil {
			t.Fatal(err)
		}
		if strings.TrimSpace(at) != "0" {
			break
		}
	}
	killed := time.Now()
	shard.Kill()
	said = question.Wait()
	return time.Since(killed), said
}

// byConnection are the reasons that the end of a connection gives. Whoever waits for
// a time-out says another.
var byConnection = []string{shardCodes[32], shardCodes[101], shardCodes[210], shardCodes[279]}

// TestShardLostWhileAnswering kills a shard that is at work on a question: there is
// an error that names it, and no answer of the others. Nobody waits for a time-out,
// of which there is none within an hour; make bench has how long it takes. After its
// restart every row is there once.
func TestShardLostWhileAnswering(t *testing.T) {
	servers := clickhousetest.Start(t, 2)
	s := dial(t, servers[0].Address("")+"&timeout=1h")
	d := enginetest.Data(rand.New(rand.NewPCG(1, 2)), 2000)
	e := stored(t, s, "run", d)
	before, err := e.Answer(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	after, asked := killedWhileAnswering(t, e, servers[1], "intDiv(r, 100) % 2 = 1")
	t.Logf("said after %v: %v", after, asked)
	var lost *ShardError
	if !errors.As(asked, &lost) || lost.Shard != servers[1].Host() || !Unavailable(asked) {
		t.Fatalf("%s was killed while it answered: %v", servers[1].Host(), asked)
	}
	if !slices.Contains(byConnection, lost.Reason) {
		t.Errorf("it %s: not because its connection ended", lost.Reason)
	}
	if err := servers[1].Start(); err != nil {
		t.Fatal(err)
	}
	if diff := enginetest.Diff(d, question, before, answered(t, e)); diff != "" {
		t.Errorf("after its return: %s", diff)
	}
	if err := s.checkRows(t.Context(), e.document); err != nil {
		t.Error(err)
	}
}

// answered asks until there is an answer: the first server may keep a broken
// connection for one more question.
func answered(t testing.TB, e *Engine) *query.Answer {
	t.Helper()
	for {
		a, err := e.Answer(t.Context(), question)
		if err == nil {
			return a
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestQuestionTimesOut: a question that takes longer than the address allows is an error
// that says so, and may be asked again.
func TestQuestionTimesOut(t *testing.T) {
	servers := clickhousetest.Start(t, 1)
	s := dial(t, "clickhouse://"+servers[0].Host()+"/default?timeout=2s")
	e := stored(t, s, "run", enginetest.Data(rand.New(rand.NewPCG(1, 2)), 2000))
	s.entry.timeout = 100 * time.Millisecond
	_, err := e.ask(t.Context(), "SELECT sum(sleepEachRow(0.01)) FROM "+e.from())
	// The server is told the limit and may see by itself that it will not keep it.
	if err == nil || !Unavailable(err) || !strings.Contains(err.Error(), "did not answer within") && !strings.Contains(err.Error(), "longer than the server allows") {
		t.Errorf("a question of seconds: %v", err)
	}
	s.entry.timeout = time.Minute
	if _, err := e.Answer(t.Context(), question); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	servers := clickhousetest.Start(t, 1)
	plain := "clickhouse://" + servers[0].Host() + "/default"
	s := dial(t, plain)
	d := enginetest.Data(rand.New(rand.NewPCG(1, 2)), 200)
	stored(t, s, "run", d)

	open := func(address string) error {
		a, err := ParseAddress(address)
		if err != nil {
			return err
		}
		r, err := Open(t.Context(), a)
		if err == nil {
			r.Run.Close()
			r.Close()
		}
		return err
	}
	said := func(what string, err error, words string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: got %v, want something with %q", what, err, words)
		}
		if err != nil && strings.Contains(err.Error(), clickhousetest.Password) {
			t.Errorf("%s: the error shows the password: %v", what, err)
		}
	}
	said("no such run", open(plain+"/other"), "engine ls")
	said("no such database", open("clickhouse://"+servers[0].Host()+"/nowhere/run"), "no such database")
	said("no such cluster", open(plain+"/run?cluster=moon"), "moon")
	said("unknown user", open("clickhouse://nobody@"+servers[0].Host()+"/default/run"), "user")
	said("no time", open(plain+"/run?timeout=1ns"), "did not answer within")

	secret := "clickhouse://" + clickhousetest.Secret + "@" + servers[0].Host() + "/default/run"
	t.Setenv(passwordVariable, clickhousetest.Password+" wrong")
	said("wrong password", open(secret), "password")
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(clickhousetest.Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(passwordFileVariable, file)
	if err := open(secret); err != nil {
		t.Errorf("with the password of a file: %v", err)
	}
	t.Setenv(passwordFileVariable, "")
	t.Setenv(passwordVariable, "")

	reader := dial(t, "clickhouse://"+clickhousetest.Reader+"@"+servers[0].Host()+"/default")
	if _, err := reader.open(t.Context(), "run"); err != nil {
		t.Errorf("a reader cannot open: %v", err)
	}
	_, err := reader.Store(t.Context(), "mine", contents(d), Import{})
	said("a reader that stores", err, "may only read")
	said("a reader that removes", reader.Remove(t.Context(), "run"), "may only read")
	if err := s.checkRows(t.Context(), storedDocument(t, s, "run")); err != nil {
		t.Errorf("after a reader tried to remove it: %v", err)
	}

	t.Setenv(passwordVariable, clickhousetest.Password)
	stranger := "clickhouse://" + clickhousetest.Stranger + "@" + servers[0].Host() + "/default"
	said("a stranger that opens", open(stranger+"/run"), "the user has no rights on this database")
	a, err := ParseAddress(stranger)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Dial(t.Context(), a) // as every import begins
	said("a stranger that stores", err, "the user has no rights on this database")
	t.Setenv(passwordVariable, "")

	newer := `{"schema": 99, "run": "newer", "attempt": "a", "rows": "many"}` // of another form
	if err := s.put(t.Context(), entry{run: "newer", attempt: "a", state: committed, document: newer}); err != nil {
		t.Fatal(err)
	}
	said("a newer schema", open(plain+"/newer"), "run newer was stored with schema 99, and this program knows 2; use a newer isobath")
}

// TestLeftWhileOpen: a run that is replaced or removed while it is open says so, and by
// what; it may be asked again, and its tables may come back.
func TestLeftWhileOpen(t *testing.T) {
	servers := clickhousetest.Start(t, 2)
	s := dial(t, servers[0].Address(""))
	d := enginetest.Data(rand.New(rand.NewPCG(1, 2)), 300)
	e := stored(t, s, "run", d)
	before, err := e.Answer(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	said := func(what, words string) {
		t.Helper()
		_, err := e.Answer(t.Context(), question)
		if err == nil || !Unavailable(err) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: got %v, want something with %q that may be asked again", what, err, words)
		}
	}
	rename := func(from, to string) { // on one shard alone
		t.Helper()
		if _, err := servers[1].Do(t.Context(), "RENAME TABLE "+from+" TO "+to); err != nil {
			t.Fatal(err)
		}
	}
	rows := e.document.rowTable()
	rename(rows, "elsewhere")
	said("a table is missing", servers[1].Host()+": a table of the run is missing")
	newer := entry{run: "run", attempt: "later", state: committed, document: `{"schema": 99, "run": "run", "attempt": "later", "rows": "many"}`}
	if err := s.put(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	said("a newer schema", "by a newer isobath: it has schema 99, and this program knows 2")
	rename("elsewhere", rows)
	if diff := enginetest.Diff(d, question, before, answered(t, e)); diff != "" {
		t.Errorf("after its return: %s", diff)
	}
	if err := s.drop(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	stored(t, s, "run", enginetest.Data(rand.New(rand.NewPCG(3, 4)), 300))
	said("another run of the name", "open it again")
	if err := s.Remove(t.Context(), "run"); err != nil {
		t.Fatal(err)
	}
	said("removed", "was removed")
}

func storedDocument(t *testing.T, s *Server, run string) *document {
	t.Helper()
	d, err := s.find(t.Context(), run)
	if err != nil || d == nil {
		t.Fatalf("run %s: %v, %v", run, d, err)
	}
	return d
}

// TestSecretsStaySecret has servers that repeat the password in every way a server
// can, and one that sends its clients elsewhere: nothing of that is shown, and nobody
// else gets the password.
func TestSecretsStaySecret(t *testing.T) {
	const secret = "correct horse battery"
	got := ""
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got += fmt.Sprint(r.Header) }))
	defer other.Close()
	repeated := func(r *http.Request) string { return fmt.Sprint(r.Header, r.URL) }
	for name, answer := range map[string]http.HandlerFunc{
		"an error": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, repeated(r), http.StatusInternalServerError)
		},
		"a known error": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "Code: 279, from "+repeated(r), http.StatusInternalServerError)
		},
		"a long error": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, strings.Repeat("é", 140)+repeated(r), http.StatusBadRequest)
		},
		"another server": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		},
		"no block": func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, repeated(r)) },
		"no HTTP": func(w http.ResponseWriter, r *http.Request) {
			c, out, err := w.(http.Hijacker).Hijack()
			if err == nil {
				fmt.Fprintf(out, "%s\r\n\r\n", repeated(r))
				out.Flush()
				c.Close()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/ping" {
					answer(w, r)
				}
			}))
			defer server.Close()
			t.Setenv(passwordVariable, secret)
			a, err := ParseAddress("clickhouse://me@" + strings.TrimPrefix(server.URL, "http://") + "/default/run")
			if err != nil {
				t.Fatal(err)
			}
			if _, err = Open(t.Context(), a); err == nil {
				t.Fatal("a run was opened")
			}
			if text := err.Error(); strings.Contains(text, "horse") || !utf8.ValidString(text) || strings.Contains(text, "\n") {
				t.Errorf("the error is %q", text)
			}
			// Not even one that HTTP cannot send is shown.
			t.Setenv(passwordVariable, secret+"\n")
			if _, err = Open(t.Context(), a); err == nil || strings.Contains(err.Error(), "horse") {
				t.Errorf("a password of two lines: %v", err)
			}
		})
	}
	if got != "" {
		t.Errorf("another server was sent %s", got)
	}
}

// importVariable makes the test binary import a run, to be killed while it does.
const importVariable = "ISOBATH_TEST_IMPORT"

func TestMain(m *testing.M) {
	if address := os.Getenv(importVariable); address != "" {
		os.Exit(importOnce(address))
	}
	os.Exit(m.Run())
}

func importOnce(address string) int {
	a, err := ParseAddress(address)
	if err != nil {
		return 1
	}
	s, err := Dial(context.Background(), a)
	if err != nil {
		return 1
	}
	d := enginetest.Data(rand.New(rand.NewPCG(7, 7)), 3000)
	// One block an insert, so that there are many moments between them.
	if _, err := s.Store(context.Background(), "run", contents(d), Import{BlockRows: 100}); err != nil {
		return 1
	}
	return 0
}

// TestKilledImport kills imports at random moments and then lets one end.
func TestKilledImport(t *testing.T) {
	servers := clickhousetest.Start(t, 2)
	address := servers[0].Address("")
	kills := 6
	if text := os.Getenv("ISOBATH_KILLS"); text != "" { // make bench and make kills have 50
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	start := func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), importVariable+"="+address)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	begun := time.Now()
	if err := start().Wait(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begun)
	s := dial(t, address)
	whole, ended := 0, 0
	for killed := 0; killed < kills; {
		if err := s.Remove(t.Context(), "run"); err != nil && !strings.Contains(err.Error(), "no run") {
			t.Fatal(err)
		}
		cmd := start()
		time.Sleep(time.Duration(r.Float64() * float64(took))) // the moment is the test's input, not its condition
		cmd.Process.Kill()
		if cmd.Wait() == nil {
			ended++ // before the signal came: none that was killed
		} else {
			killed++
		}
		if err := start().Wait(); err != nil {
			t.Fatalf("the import after a killed one: %v", err)
		}
		d, err := s.find(t.Context(), "run")
		if err != nil || d == nil {
			t.Fatalf("after the second import: %v, %v", d, err)
		}
		if err := s.checkRows(t.Context(), d); err != nil {
			t.Error(err)
			continue
		}
		whole++
	}
	t.Logf("after %d of %d killed imports, and %d that had ended by themselves, another one holds each row once", whole-ended, kills, ended)
	// Nothing of the killed ones is left.
	for i, server := range servers {
		left, err := server.Do(t.Context(), "SELECT count() FROM system.tables WHERE name LIKE 'isobath_%_rows'")
		if err != nil || strings.TrimSpace(left) != "1" {
			t.Errorf("shard %d keeps %s tables of rows (%v), want 1", i, strings.TrimSpace(left), err)
		}
	}
}

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/app/server"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/data/table"
)

// livePeer is a client of the page of a recording.
type livePeer struct {
	t             *testing.T
	origin, token string
}

// peerOf reads the address that a recording prints.
func peerOf(t *testing.T, said *bufio.Scanner) *livePeer {
	t.Helper()
	line := upTo(t, said, "open    http://")
	url := line[strings.Index(line, "http://"):]
	origin, token, ok := strings.Cut(url, "/#k=")
	if !ok {
		t.Fatalf("no key in %q", line)
	}
	return &livePeer{t, origin, token}
}

func (p *livePeer) ask(method, path string, body, into any) {
	p.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	req, err := http.NewRequest(method, p.origin+"/api/v1/"+path, bytes.NewReader(text))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set(server.TokenHeader, p.token)
	req.Header.Set("Content-Type", "application/json")
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	answer, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		p.t.Fatalf("%s %s: %s, %s, %v", method, path, r.Status, answer, err)
	}
	if err := json.Unmarshal(answer, into); err != nil {
		p.t.Fatal(err)
	}
}

func (p *livePeer) do(wish string) (now frame.Live) {
	p.t.Helper()
	p.ask("POST", "live", frame.LiveWish{Do: wish}, &now)
	return now
}

// until waits for a state of the recording.
func (p *livePeer) until(what string, is func(frame.Live) bool) frame.Live {
	p.t.Helper()
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		var now frame.Live
		p.ask("GET", "live", nil, &now)
		if now.Shown > now.Samples {
			p.t.Fatalf("%d samples are shown of %d", now.Shown, now.Samples)
		}
		if is(now) {
			return now
		}
		if time.Since(begin) > 2*time.Minute {
			p.t.Fatalf("never %s: %+v", what, now)
		}
	}
}

// rows is how many samples a run has that is open in the page.
func (p *livePeer) rows(run string) (rows int, id string) {
	p.t.Helper()
	var info frame.Info
	p.ask("GET", "runs/"+run, nil, &info)
	return info.Rows, info.ID
}

// childOf is a process that another one started; 0 if there is none.
func childOf(parent int) int {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range all {
		text, _ := os.ReadFile(name) // empty for one that has ended
		pid, rest, _ := strings.Cut(string(text), " ")
		fields := strings.Fields(rest[strings.LastIndexByte(rest, ')')+1:])
		if n, err := strconv.Atoi(pid); err == nil && len(fields) > 1 && fields[0] != "Z" && fields[1] == strconv.Itoa(parent) {
			return n
		}
	}
	return 0
}

// The page of a recording grows, holds still, and ends the recording without the
// program; the run is what it is without a page.
func TestRecordLive(t *testing.T) {
	r := newRecorder(t)
	path, program := filepath.Join(r.dir, "grows.isobath"), r.build("chase", "-O2")
	cmd := r.command("record", "--live", "--no-browser", "--port", "0", "-o", path, "--rate", "2000", "--", program, "200000", "40000000000")
	cmd.SysProcAttr = own(cmd.SysProcAttr)
	var out bytes.Buffer
	cmd.Stdout = &out
	said := r.lines(cmd)
	p := peerOf(t, said)
	defer cmd.Wait()
	defer cmd.Process.Signal(syscall.SIGINT)
	defer func() { // the program outlives the recording, which waits for it in the end
		if pid := childOf(cmd.Process.Pid); pid > 0 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}()

	first := p.until("shown with samples", func(l frame.Live) bool { return l.Shown > 100 && l.State == "recording" })
	second := p.until("shown with more", func(l frame.Live) bool { return l.Shown > first.Shown+200 && l.Run != first.Run })
	if n, id := p.rows(second.Run); n < int(second.Shown) || id == first.Run {
		t.Errorf("%+v has %d rows, %s", second, n, id)
	}
	var home frame.Home
	p.ask("GET", "runs", nil, &home)
	if len(home.Runs) != 1 || !strings.HasPrefix(second.Run, home.Runs[0].ID+".") {
		t.Errorf("open are %+v, shown is %s", home.Runs, second.Run)
	}

	if now := p.do("pause"); !now.Paused {
		t.Errorf("asked to pause, it is %+v", now)
	}
	time.Sleep(500 * time.Millisecond) // a moment that is being made ready is shown yet
	held := p.until("paused", func(l frame.Live) bool { return l.Paused })
	after := p.until("recording on", func(l frame.Live) bool { return l.Samples > held.Samples+2000 }) // as many as are shown in a second
	if after.Run != held.Run || after.Shown != held.Shown {
		t.Errorf("paused at %+v, then %+v is shown", held, after)
	}
	p.do("resume")
	p.until("shown again", func(l frame.Live) bool { return l.Shown > held.Shown })

	p.do("stop")
	end := p.until("done", func(l frame.Live) bool { return l.State == "done" })
	upTo(t, said, "the page shows all of it")
	got, samples := r.open(path)
	if rows, id := p.rows(first.Run); rows != samples.Rows() || id != end.Run || int(end.Samples) != rows {
		t.Errorf("the link to a moment shows %d rows of %s, the run has %d: %+v", rows, id, samples.Rows(), end)
	}
	if got.Recording.Ended != "stopped" || exists(path+".part") {
		t.Errorf("ended %q, and the folder of the recording is there: %v", got.Recording.Ended, exists(path+".part"))
	}
	if childOf(cmd.Process.Pid) == 0 {
		t.Error("the program has ended with the recording")
	}
	if out.Len() > 0 {
		t.Errorf("in the output of the program is %q", out.String())
	}
	_, plain := r.record("--rate", "2000", "--", program, "200000", "5000000") // its end is waited for
	for _, s := range []*table.Table{samples, plain} {
		for _, name := range []string{"time", "cpu", "tid", "ip", "addr", "op", "symbol", "allocation", "line", "stack", "weight"} {
			if s.Column(name) == nil {
				t.Errorf("there is no column %s", name)
			}
		}
		if n := counts(s, "symbol")["nodes"]; float64(n) < 0.9*float64(s.Rows()) {
			t.Errorf("%d of %d samples are of nodes: %v", n, s.Rows(), counts(s, "symbol"))
		}
	}
}

// What ends before there is anything to see is shown as a whole, and the exit code
// is the program's when the page is left; Ctrl-C while it records writes the run.
func TestRecordLiveEnds(t *testing.T) {
	r := newRecorder(t)
	chase := r.build("chase", "-O2")
	t.Run("at once", func(t *testing.T) {
		path := filepath.Join(r.dir, "short.isobath")
		cmd := r.command("record", "--live", "--no-browser", "--port", "0", "-o", path, "--", "/bin/sh", "-c", "exit 3")
		said := r.lines(cmd)
		p := peerOf(t, said)
		end := p.until("done", func(l frame.Live) bool { return l.State == "done" })
		if _, id := p.rows(end.Run); id != end.Run {
			t.Errorf("%s in place of %s", id, end.Run)
		}
		upTo(t, said, "Ctrl-C stops")
		cmd.Process.Signal(syscall.SIGINT)
		if cmd.Wait(); cmd.ProcessState.ExitCode() != 3 {
			t.Errorf("exit code %d", cmd.ProcessState.ExitCode())
		}
	})
	t.Run("by Ctrl-C", func(t *testing.T) {
		path := filepath.Join(r.dir, "cut.isobath")
		cmd := r.command("record", "--live", "--no-browser", "--port", "0", "-o", path, "--rate", "2000", "--", chase, "200000", "40000000000")
		cmd.SysProcAttr = own(cmd.SysProcAttr)
		said := r.lines(cmd)
		p := peerOf(t, said)
		p.until("shown", func(l frame.Live) bool { return l.Shown > 0 })
		cmd.Process.Signal(syscall.SIGINT)
		upTo(t, said, "cut.isobath: ")
		cmd.Wait()
		if got, samples := r.open(path); got.Recording.Ended != "interrupted" || samples.Rows() == 0 {
			t.Errorf("ended %q with %d samples", got.Recording.Ended, samples.Rows())
		}
	})
	t.Run("of another process", func(t *testing.T) {
		app := exec.Command(chase, "200000", "40000000000")
		app.SysProcAttr = r.command().SysProcAttr
		if err := app.Start(); err != nil {
			t.Fatal(err)
		}
		defer app.Wait()
		defer app.Process.Kill()
		path := filepath.Join(r.dir, "there.isobath")
		cmd := r.command("record", "--live", "--no-browser", "--port", "0", "-o", path, "--pid", strconv.Itoa(app.Process.Pid))
		said := r.lines(cmd)
		p := peerOf(t, said)
		p.until("shown", func(l frame.Live) bool { return l.Shown > 0 })
		p.do("stop")
		p.until("done", func(l frame.Live) bool { return l.State == "done" })
		cmd.Process.Signal(syscall.SIGINT)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		if err := app.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("the process has ended: %v", err)
		}
	})
	t.Run("with flags that do nothing", func(t *testing.T) {
		for _, args := range [][]string{{"--port", "0", "--", "true"}, {"--no-browser", "--", "true"}, {"--live", "--refs", "--", "true"}, {"--live", "--mpi", "--", "true"},
			{"--live", "--port", "70000", "--", "true"}, {"--live", "--pair", "--", "true", "--", "true"}} {
			cmd := r.command(append([]string{"record"}, args...)...)
			if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 {
				t.Errorf("%v: exit code %d, %s", args, cmd.ProcessState.ExitCode(), out)
			}
		}
	})
}

package damagetest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/formats"
)

// Settings of a long run: how many attempts in all, how long, and from which
// number on, so that no two runs try the same.
const (
	envAttempts = "ISOBATH_TORTURE"
	envTime     = "ISOBATH_TORTURE_TIME"
	envFrom     = "ISOBATH_TORTURE_FROM"
	envChild    = "ISOBATH_TORTURE_CHILD"
)

func TestMain(m *testing.M) {
	if os.Getenv(envChild) != "" {
		if err := child(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child makes the attempts it is told of: a line is specimen, first attempt and
// how many. An answer is "ok", or "found ATTEMPT" and a quoted text. What hangs
// is found by a watch that ends the child; what ends it otherwise, by the parent.
func child(in io.Reader, out io.Writer) error {
	all, err := corpus()
	if err != nil {
		return err
	}
	// In memory, where there is such a folder: writing and removing small files on
	// a disk takes half the time of an attempt.
	folder, err := os.MkdirTemp("/dev/shm", "isobath-damage-")
	if err != nil {
		folder, err = os.MkdirTemp("", "isobath-damage-")
	}
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	var under atomic.Pointer[stopwatch] // of the attempt under way
	var at atomic.Int64
	go func() {
		for range time.Tick(time.Second) {
			if w := under.Load(); w != nil && w.over(5*time.Second) {
				stack := make([]byte, 1<<16)
				fmt.Fprintf(out, "found %d %s\n", at.Load(), strconv.Quote(fmt.Sprintf("hangs\n%s", stack[:runtime.Stack(stack, true)])))
				os.RemoveAll(folder)
				os.Exit(3)
			}
		}
	}()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var which, first, count int
		if _, err := fmt.Sscan(lines.Text(), &which, &first, &count); err != nil {
			return err
		}
		for attempt := first; attempt < first+count; attempt++ {
			at.Store(int64(attempt))
			under.Store(startWatch())
			fmt.Fprintf(out, "at %d\n", attempt)
			dir := filepath.Join(folder, strconv.Itoa(attempt))
			finding, err := all[which].try(dir, which, attempt)
			under.Store(nil)
			os.RemoveAll(dir)
			if err != nil {
				return err
			}
			if finding != "" {
				fmt.Fprintf(out, "found %d %s\n", attempt, strconv.Quote(finding))
			}
		}
		fmt.Fprintln(out, "ok")
	}
	return lines.Err()
}

// worker is a child process.
type worker struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	err *strings.Builder
}

func start(t *testing.T) *worker {
	t.Helper()
	w := &worker{cmd: exec.Command(os.Args[0], "-test.run=^$"), err: new(strings.Builder)}
	w.cmd.Env = append(os.Environ(), envChild+"=1")
	w.cmd.Stderr = &firstBytes{w.err, 4 << 10}
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.out = bufio.NewReaderSize(out, 1<<20)
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return w
}

// firstBytes keeps the start of what is written.
type firstBytes struct {
	w    io.Writer
	left int
}

func (f *firstBytes) Write(p []byte) (int, error) {
	n := min(len(p), f.left)
	f.left -= n
	if _, err := f.w.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// batch makes attempts in the child; done is how many were made before it ended.
func (w *worker) batch(which, first, count int) (findings map[int]string, done int, ended error) {
	findings = map[int]string{}
	fmt.Fprintln(w.in, which, first, count)
	at := first
	for {
		line, err := w.out.ReadString('\n')
		if err != nil {
			ended := errors.Join(err, w.cmd.Wait())
			if findings[at] == "" {
				findings[at] = fmt.Sprintf("the process ended: %v\n%s", ended, w.err)
			}
			return findings, at - first + 1, ended
		}
		switch word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "ok":
			return findings, count, nil
		case "at":
			at, _ = strconv.Atoi(rest)
		case "found":
			number, text, _ := strings.Cut(rest, " ")
			n, _ := strconv.Atoi(number)
			findings[n], _ = strconv.Unquote(text)
		}
	}
}

func (w *worker) stop() {
	w.in.Close()
	w.cmd.Wait()
}

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestDamage damages every specimen. In make test it is a share; make torture
// goes on for a million attempts or until its time is over.
func TestDamage(t *testing.T) {
	all, err := corpus()
	if err != nil {
		t.Fatal(err)
	}
	attempts := number(t, envAttempts, len(all)*60)
	if testing.Short() {
		attempts = len(all) * 20
	}
	from := number(t, envFrom, 0)
	end := time.Now().Add(40 * time.Second)
	if text := os.Getenv(envTime); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("%s: %v", envTime, err)
		}
		end = time.Now().Add(d)
	}
	w := start(t)
	defer func() { w.stop() }()
	const batch = 20
	made, found := 0, 0
	for first := from; made < attempts && time.Now().Before(end) && found < 50; first += batch {
		for which, s := range all {
			for at := first; at < first+batch && made < attempts; {
				findings, done, ended := w.batch(which, at, min(first+batch-at, attempts-made))
				made, at = made+done, at+done
				for attempt, text := range findings {
					found++
					t.Errorf("%s, attempt %d (%s): %s", s.name, attempt, keep(t, s, which, attempt), text)
				}
				if ended != nil {
					w = start(t)
				}
			}
		}
		if os.Getenv(envAttempts) != "" {
			fmt.Fprintf(os.Stderr, "%s: %d attempts, %d findings\n", time.Now().Format(time.TimeOnly), made, found)
		}
	}
	t.Logf("%d damaged inputs of %d specimens, %d findings", made, len(all), found)
	if made < len(all)*20 {
		t.Errorf("only %d attempts in the time there was", made)
	}
}

// mended are attempts that once broke a bound.
var mended = []struct {
	specimen string
	attempt  int
}{
	{"zstd.arrow", 920010687},  // a column with more values than its batch has rows: hours
	{"lz4.parquet", 920021506}, // a text of a gigabyte, by its length
}

func TestMended(t *testing.T) {
	all, err := corpus()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mended {
		which := slices.IndexFunc(all, func(s *specimen) bool { return s.name == m.specimen })
		w := start(t)
		findings, _, _ := w.batch(which, m.attempt, 1)
		for _, text := range findings {
			t.Errorf("%s, attempt %d: %s", m.specimen, m.attempt, text)
		}
		w.stop()
	}
}

// keep writes a damaged input where it can be looked at.
func keep(t *testing.T, s *specimen, which, attempt int) string {
	folder := filepath.Join(os.TempDir(), "isobath-damaged", fmt.Sprintf("%s-%d", s.name, attempt))
	path, _, err := s.lay(folder, which, attempt)
	if err != nil {
		t.Error(err)
	}
	return path
}

// Every specimen is whole before it is damaged, and no format is without one.
func TestSpecimens(t *testing.T) {
	all, err := corpus()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for i, s := range all {
		path, _, err := s.lay(filepath.Join(t.TempDir(), strconv.Itoa(i)), i, -1)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := read(t.Context(), path); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		t.Log(s.name, time.Since(began))
		if found, err := formats.Identify(path); err == nil {
			have[found.Format.Name] = true
			if found.Format.Name != s.format {
				t.Errorf("%s is %q, not %q", s.name, found.Format.Name, s.format)
			}
		} else if s.format != "" {
			t.Errorf("%s: %v", s.name, err)
		}
	}
	for _, f := range formats.Known {
		if !have[f.Name] {
			t.Errorf("format %s has no specimen to damage", f.Name)
		}
	}
}

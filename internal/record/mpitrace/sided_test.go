package mpitrace

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/trace"
)

// sidedCounts are the records of sided.c by one process.
var sidedCounts = map[string]int{
	"RMA_WIN_CREATE": 3, "RMA_WIN_DESTROY": 3,
	"RMA_COLLECTIVE_BEGIN": 3 + 6 + 3, "RMA_COLLECTIVE_END": 3 + 6 + 3, // created, fences, freed
	"RMA_PUT": 1 + 3 + 1, "RMA_GET": 1 + 1, "RMA_ATOMIC": 4,
	"RMA_OP_COMPLETE_NON_BLOCKING": 1 + 2, // the local flush, and two requests
	"RMA_OP_COMPLETE_REMOTE":       5 + 2 + 4,
	"RMA_REQUEST_LOCK":             2, "RMA_RELEASE_LOCK": 2, "RMA_SYNC": 1, "RMA_GROUP_SYNC": 4, // post, start, complete, wait
	"IO_CREATE_HANDLE": 1, "IO_DESTROY_HANDLE": 1, "IO_SEEK": 2,
	"IO_OPERATION_BEGIN": 6, "IO_OPERATION_COMPLETE": 6, "IO_OPERATION_ISSUED": 2,
}

// lines returns the lines of otf2-print that begin with a word.
func lines(t *testing.T, archive string, flags ...string) []string {
	t.Helper()
	out, err := exec.Command(test.Peer(t, "otf2-print", "otf2-tools"), append(flags, archive)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(out), "\n")
}

// number finds a number behind a word in a line of otf2-print; -1 if none.
func number(line, word string) int {
	m := regexp.MustCompile(word + `: (\d+)`).FindStringSubmatch(line)
	if m == nil {
		return -1
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

func checkSided(t *testing.T, n int, archive, path string) {
	t.Helper()
	got := printed(t, archive)
	want := map[string]int{"IO_DELETE_FILE": 1}
	for name, each := range sidedCounts {
		want[name] = n * each
	}
	for name := range got {
		if !strings.HasPrefix(name, "RMA_") && !strings.HasPrefix(name, "IO_") {
			delete(got, name)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	// Bytes by kind, of all processes.
	bytes, seen := map[string]int{}, map[string]bool{}
	for _, line := range lines(t, archive) {
		switch name, _, _ := strings.Cut(line, " "); name {
		case "RMA_PUT", "RMA_GET":
			bytes[name] += number(line, "Bytes")
		case "RMA_ATOMIC":
			bytes["sent"] += number(line, "Sent")
			bytes["got"] += number(line, "Received")
		case "IO_OPERATION_BEGIN":
			bytes["asked"] += number(line, "Bytes Request")
		case "IO_OPERATION_COMPLETE":
			bytes["moved"] += number(line, "Bytes Result")
		}
		seen[regexp.MustCompile(`^\w+ +\d+ +\d+ +|, (Matching|Handle).*| \("master thread" <\d+>\)`).ReplaceAllString(line, "")] = true
	}
	wantBytes := map[string]int{"RMA_PUT": n * (100 + 200 + 300 + 400 + 500), "RMA_GET": n * (120 + 50), "sent": n * 32, "got": n * 24,
		"asked": n * (1000 + 0 + 64 + 128 + 100 + 40), "moved": n * (1000 + 64 + 128 + 8 + 40)}
	if d := cmp.Diff(wantBytes, bytes); d != "" {
		t.Error(d)
	}
	// What single records say; the handle is the first.
	for _, want := range []string{
		`Window: "window 0" <0>, Remote: 0, Type: ACCUMULATE, Sent: 8, Received: 0`,
		`Window: "window 0" <0>, Remote: 1, Type: FETCH_AND_ACCUMULATE, Sent: 8, Received: 8`,
		`Window: "window 0" <0>, Remote: 1, Type: COMPARE_AND_SWAP, Sent: 8, Received: 8`,
		`Operation: CREATE_HANDLE, Window: "window 0" <0>, Level of Synchronicity: {PROCESS, MEMORY}, Root: NONE, Sent: 0, Received: 0`,
		`Operation: DESTROY_HANDLE_AND_DEALLOCATE, Window: "window 2" <2>, Level of Synchronicity: {PROCESS, MEMORY}, Root: NONE, Sent: 0, Received: 0`,
		`Operation: BARRIER, Window: "window 0" <0>, Level of Synchronicity: {PROCESS, MEMORY}, Root: NONE, Sent: 0, Received: 0`,
		`Window: "window 1" <1>, Remote: 1, Lock: 0, Type: EXCLUSIVE`, `Window: "window 1" <1>, Remote: UNDEFINED, Lock: 0, Type: SHARED`,
		fmt.Sprintf(`Handle: "%s" <0>, Access Mode: READ_WRITE, Creation Flags: {CREATE}, Status Flags: NONE`, path),
		fmt.Sprintf(`Handle: "%s" <0>, Offset Request: 1010, Whence: FROM_START, Offset Result: 1010`, path),
		fmt.Sprintf(`Handle: "%s" <0>, Offset Request: -4, Whence: FROM_CURRENT, Offset Result: 1070`, path),
		fmt.Sprintf(`Handle: "%s" <0>, Mode: READ, Operation Flags: {NON_BLOCKING}, Bytes Request: 128`, path),
		fmt.Sprintf(`Handle: "%s" <0>, Mode: WRITE, Operation Flags: {NON_BLOCKING, COLLECTIVE}, Bytes Request: 40`, path),
	} {
		if !seen[want] {
			t.Errorf("no record says %s", want)
		}
	}
	checkDefinitions(t, archive, path)
	tr := open(t, archive)
	moved := trace.Moved{Puts: 5 * n, Gets: 2 * n, Atomics: 4 * n, Bytes: int64(wantBytes["RMA_PUT"] + wantBytes["RMA_GET"] + wantBytes["sent"] + wantBytes["got"]),
		FileOperations: 6 * n, FileRead: int64(n * (64 + 128 + 8)), FileWritten: int64(n * (1000 + 40))}
	if d := cmp.Diff(moved, tr.Moved); d != "" {
		t.Error(d)
	}
	if got := tr.Signals(); got != 2*n { // a post and an end for each process
		t.Errorf("%d signals, want %d", got, 2*n)
	}
	if s, r := tr.Unmatched(); s+r+tr.Messages() != 0 {
		t.Errorf("%d messages, %d sends and %d receives unmatched: there are none", tr.Messages(), s, r)
	}
}

// checkDefinitions: three windows of which one exists in each half of the
// processes, one file, one handle of it.
func checkDefinitions(t *testing.T, archive, path string) {
	t.Helper()
	n := map[string]int{}
	for _, line := range lines(t, archive, "-G") {
		name, _, _ := strings.Cut(line, " ")
		n[name]++
		if (name == "IO_REGULAR_FILE" || name == "IO_HANDLE") && !strings.Contains(line, path) {
			t.Errorf("%s does not name %s", line, path)
		}
	}
	for name, want := range map[string]int{"RMA_WIN": 4, "IO_PARADIGM": 1, "IO_REGULAR_FILE": 1, "IO_HANDLE": 1} {
		if n[name] != want {
			t.Errorf("%d definitions of %s, want %d", n[name], name, want)
		}
	}
}

func TestSided(t *testing.T) {
	t.Run("Open MPI", func(t *testing.T) {
		exe, path := compile(t, "mpicc", "libopenmpi-dev", "testdata/sided.c"), filepath.Join(t.TempDir(), "a file with a name that takes several records")
		archive, res := traced(t, nil, launch(t, "4", exe, path)...)
		if res.Exit != 0 || len(res.Notes) > 0 {
			t.Fatalf("%+v", res)
		}
		checkSided(t, 4, archive, path)
	})
	t.Run("MPICH", func(t *testing.T) {
		test.Peer(t, "mpirun.mpich", "mpich")
		exe, path := compile(t, "mpicc.mpich", "libmpich-dev", "testdata/sided.c"), filepath.Join(t.TempDir(), "file")
		archive, res := traced(t, nil, "mpirun.mpich", "-n", "4", exe, path)
		if res.Exit != 0 || len(res.Notes) > 0 {
			t.Fatalf("%+v", res)
		}
		checkSided(t, 4, archive, path)
	})
}

// Package crash writes what a user can attach to a report when the program
// failed: where in the code and what kind of fault, and nothing of the data.
package crash

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/wholefile"
)

// keep is how many reports stay in the folder: a page that asks again and again
// must not fill a disk.
const keep = 20

// Write writes a report below the folder and returns its path. doing says what
// the program did, in words of the program and not of the data.
func Write(folder, version, doing string, p *parallel.Panic) (string, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(folder, time.Now().UTC().Format("fault-20060102-150405.000000000")+".txt")
	if err := wholefile.WriteBytes(path, wholefile.New|wholefile.Private, []byte(reportText(version, doing, p))); err != nil {
		return "", err
	}
	return path, bound(folder)
}

// reportText is the text of a report.
func reportText(version, doing string, p *parallel.Panic) string {
	var b strings.Builder
	fmt.Fprintf(&b, "isobath %s, %s, %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Fprintf(&b, "while: %s\nfault: %s\n\n", doing, kind(p.Value))
	for _, line := range places(p.Stack) {
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

// kind says what was wrong. Messages of the runtime hold indexes and lengths;
// others may quote data, so only their type is told.
func kind(v any) string {
	if r, ok := v.(runtime.Error); ok {
		return r.Error()
	}
	return fmt.Sprintf("%T", v)
}

var (
	// frames of a stack are a line with function and arguments, and one with the
	// place. Arguments may be data.
	function = regexp.MustCompile(`^([^\s(].*)\(.*\)$`)
	place    = regexp.MustCompile(`^\t(\S+:\d+)`)
)

// places returns the functions and lines of a stack without arguments, and
// without the folders in which this program was built.
func places(stack []byte) []string {
	var out []string
	lines := bufio.NewScanner(bytes.NewReader(stack))
	for lines.Scan() {
		if m := function.FindStringSubmatch(lines.Text()); m != nil {
			out = append(out, m[1])
		} else if m := place.FindStringSubmatch(lines.Text()); m != nil {
			out = append(out, "\t"+short(m[1]))
		}
	}
	return out
}

// short keeps the last three elements of a path.
func short(path string) string {
	parts := strings.Split(filepath.ToSlash(path), "/")
	return strings.Join(parts[max(0, len(parts)-3):], "/")
}

// bound removes the oldest reports.
func bound(folder string) error {
	names, err := filepath.Glob(filepath.Join(folder, "fault-*.txt"))
	if err != nil || len(names) <= keep {
		return err
	}
	slices.Sort(names) // by time
	var errs []error
	for _, name := range names[:len(names)-keep] {
		errs = append(errs, os.Remove(name))
	}
	return errors.Join(errs...)
}

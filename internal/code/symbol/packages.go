package symbol

import (
	"bufio"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/plainfile"
)

// dpkgLists is where Debian and its kin keep which file is of which package.
const dpkgLists = "/var/lib/dpkg/info"

// debugPackages are the packages with the debug information of files of the
// distribution, in order; nil where it does not say. Debian has that of a package in
// one that is named after it, and that of the C library in a package of the archive
// that everybody has.
func debugPackages(lists string, paths []string) []string {
	wanted := map[string]bool{}
	for _, p := range paths {
		// Files below /lib are those below /usr/lib, and a list may name either.
		p = strings.TrimPrefix(p, "/usr")
		if strings.HasPrefix(p, "/lib/") || strings.HasPrefix(p, "/lib64/") || strings.HasPrefix(p, "/bin/") || strings.HasPrefix(p, "/sbin/") {
			wanted[p], wanted["/usr"+p] = true, true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(lists, "*.list"))
	var out []string
	for _, file := range files {
		if !hasOneOf(file, wanted) {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".list"), ":")
		if name == "libc6" {
			name += "-dbg"
		} else {
			name += "-dbgsym"
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// hasOneOf reports whether a list has one of the paths.
func hasOneOf(file string, wanted map[string]bool) bool {
	f, err := plainfile.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if wanted[string(lines.Bytes())] {
			return true
		}
	}
	return false
}

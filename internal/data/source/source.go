// Package source finds the source files that samples name, in folders of the
// machine at hand, where paths are rarely the ones of the build machine.
package source

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// How says which rule found a file.
type How string

// The rules, in the order in which they are tried.
const (
	ByPath   How = "path"   // the path itself, below a folder or absolute
	BySuffix How = "suffix" // the longest common end of the path
	ByName   How = "name"   // the base name, where only one file has it
)

// Match is a file that was found.
type Match struct {
	File string
	How  How
}

// Bounds of the search: a folder given by mistake, such as a home folder, must
// not take minutes.
const (
	maxFiles = 200_000
	maxDepth = 24
)

// Find looks for each name below the roots, best root first. Names that are not
// found are not in the result.
func Find(names []string, roots []string) map[string]Match {
	found := map[string]Match{}
	wanted := map[string][]string{}
	for _, n := range names {
		if file, ok := byPath(n, roots); ok {
			found[n] = Match{file, ByPath}
			continue
		}
		base := path.Base(filepath.ToSlash(n))
		wanted[base] = append(wanted[base], n)
	}
	if len(wanted) == 0 {
		return found
	}
	candidates := index(roots, wanted)
	for base, list := range wanted {
		for _, n := range list {
			if m, ok := best(n, candidates[base]); ok {
				found[n] = m
			}
		}
	}
	return found
}

// languages are the endings of source files. A name comes from a data file,
// which may be hostile: what it names outside the roots is read only if it looks
// like source, so that no run ends up with a copy of a key.
var languages = map[string]bool{
	".c": true, ".h": true, ".cc": true, ".hh": true, ".cpp": true, ".hpp": true, ".cxx": true, ".hxx": true, ".c++": true,
	".inc": true, ".ipp": true, ".tcc": true, ".cu": true, ".cuh": true, ".hip": true, ".f": true, ".for": true, ".f77": true,
	".f90": true, ".f95": true, ".f03": true, ".f08": true, ".go": true, ".rs": true, ".zig": true, ".d": true, ".s": true,
	".asm": true, ".jl": true, ".py": true, ".pyx": true, ".java": true, ".kt": true, ".swift": true, ".chpl": true,
}

func byPath(name string, roots []string) (string, bool) {
	if filepath.IsAbs(name) && languages[strings.ToLower(filepath.Ext(name))] && regular(name) {
		return name, true
	}
	clean := strings.TrimPrefix(path.Clean("/"+filepath.ToSlash(name)), "/")
	for _, root := range roots {
		if file := filepath.Join(root, filepath.FromSlash(clean)); regular(file) {
			return file, true
		}
	}
	return "", false
}

func regular(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

// index lists the files below the roots whose base name is wanted.
func index(roots []string, wanted map[string][]string) map[string][]string {
	out := map[string][]string{}
	seen := 0
	for _, root := range roots {
		filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // an unreadable folder hides its files, no more
			}
			if seen++; seen > maxFiles {
				return fs.SkipAll
			}
			if d.IsDir() {
				rel, _ := filepath.Rel(root, file)
				hidden := strings.HasPrefix(d.Name(), ".") && rel != "."
				if hidden || strings.Count(rel, string(filepath.Separator)) > maxDepth {
					return fs.SkipDir
				}
				return nil
			}
			if d.Type().IsRegular() && wanted[d.Name()] != nil {
				out[d.Name()] = append(out[d.Name()], file)
			}
			return nil
		})
	}
	return out
}

// best takes the candidate that shares the most folders at the end of the name.
// With no folder in common it must be the only candidate.
func best(name string, candidates []string) (Match, bool) {
	longest, file, ties := 0, "", 0
	for _, c := range candidates {
		switch n := commonEnd(name, c); {
		case n > longest:
			longest, file, ties = n, c, 1
		case n == longest:
			ties++
		}
	}
	switch {
	case longest > 1 && ties == 1:
		return Match{file, BySuffix}, true
	case len(candidates) == 1:
		return Match{candidates[0], ByName}, true
	}
	return Match{}, false
}

// commonEnd counts the path elements that two names share at their end.
func commonEnd(a, b string) int {
	x := strings.Split(path.Clean(filepath.ToSlash(a)), "/")
	y := strings.Split(path.Clean(filepath.ToSlash(b)), "/")
	n := 0
	for n < len(x) && n < len(y) && x[len(x)-1-n] == y[len(y)-1-n] {
		n++
	}
	return n
}

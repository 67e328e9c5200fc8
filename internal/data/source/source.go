// Package source finds the source files that samples name, in folders of the
// machine at hand, where paths are rarely the ones of the build machine.
package source

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/plainfile"
)

// How says which rule found a file.
type How string

// The rules, in the order in which they are tried.
const (
	ByPath   How = "path"   // the path itself, below a folder or absolute
	BySuffix How = "suffix" // the longest common end of the path
	ByName   How = "name"   // the base name, where only one file has it
)

// File is a source file below a folder. What reads it goes through the folder:
// links and dots that lead out of it are refused by the system, also if somebody
// puts them there after the file was found.
type File struct{ Root, Name string }

// Path is where the file lies.
func (f File) Path() string { return filepath.Join(f.Root, f.Name) }

// Open opens the file, if it is a plain one inside its folder: a pipe or a device
// would block.
func (f File) Open() (*os.File, error) {
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return plainfile.OpenIn(root, f.Name)
}

// maxSize bounds a source file: generated ones have some megabytes.
const maxSize = 32 << 20

// Read returns the text of the file.
func (f File) Read() ([]byte, error) {
	file, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	if err == nil && len(text) > maxSize {
		err = fmt.Errorf("source %s has more than %d MiB", f.Path(), maxSize>>20)
	}
	return text, err
}

// Match is a file that was found.
type Match struct {
	File
	How How
}

// Bounds of the search: a folder given by mistake, such as a home folder, must
// not take minutes.
const (
	maxFiles = 200_000
	maxDepth = 24
)

// Find looks for each name below the roots, best root first. Names that are not
// found are not in the result. They come from a data file, which may be hostile:
// nothing outside the roots is looked at, and only what looks like source, so
// that no run ends up with a copy of a key.
func Find(names []string, roots []string) map[string]Match {
	return find(names, roots, func(string) (File, bool) { return File{}, false })
}

// FindOwn is Find for the names in a program that the user has run here: it was
// built from what its absolute names say.
func FindOwn(names []string, roots []string) map[string]Match {
	return find(names, roots, own)
}

// own takes an absolute name as it is.
func own(name string) (File, bool) {
	f := File{filepath.Dir(name), filepath.Base(name)}
	return f, filepath.IsAbs(name) && f.regular()
}

// At is Find for a name whose path must be right: nothing is searched for.
func At(name string, roots []string) (File, bool) {
	if !Looks(name) {
		return File{}, false
	}
	return byPath(name, roots)
}

// OwnAt is At for a name in a program that the user has run here.
func OwnAt(name string, roots []string) (File, bool) {
	if f, ok := At(name, roots); ok || !Looks(name) {
		return f, ok
	}
	return own(name)
}

func find(names []string, roots []string, outside func(name string) (File, bool)) map[string]Match {
	found := map[string]Match{}
	wanted := map[string][]string{}
	for _, n := range names {
		if !Looks(n) {
			continue
		}
		file, ok := byPath(n, roots)
		if !ok {
			file, ok = outside(n)
		}
		if ok {
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

// languages are the endings of source files.
var languages = map[string]bool{
	".c": true, ".h": true, ".cc": true, ".hh": true, ".cpp": true, ".hpp": true, ".cxx": true, ".hxx": true, ".c++": true,
	".inc": true, ".ipp": true, ".tcc": true, ".cu": true, ".cuh": true, ".hip": true, ".f": true, ".for": true, ".f77": true,
	".f90": true, ".f95": true, ".f03": true, ".f08": true, ".go": true, ".rs": true, ".zig": true, ".d": true, ".s": true,
	".asm": true, ".jl": true, ".py": true, ".pyx": true, ".java": true, ".kt": true, ".swift": true, ".chpl": true,
	".cl": true, ".ispc": true, ".m": true, ".mm": true, ".tpp": true, ".txx": true, ".cppm": true, ".ixx": true, ".inl": true,
	".def": true, ".y": true, ".l": true, ".cs": true, ".scala": true, ".hs": true, ".ml": true, ".nim": true, ".lua": true, ".r": true,
}

// Looks reports whether a name is that of a source file, by its ending.
func Looks(name string) bool { return languages[strings.ToLower(path.Ext(filepath.ToSlash(name)))] }

// byPath takes a name as a path below a root; an absolute one may lie below it
// as it is.
func byPath(name string, roots []string) (File, bool) {
	clean := strings.TrimPrefix(path.Clean("/"+filepath.ToSlash(name)), "/")
	for _, root := range roots {
		below := []string{filepath.FromSlash(clean)}
		if whole, err := filepath.Abs(root); err == nil && filepath.IsAbs(name) {
			if rel, err := filepath.Rel(whole, name); err == nil && filepath.IsLocal(rel) {
				below = append(below, rel)
			}
		}
		for _, rel := range below {
			if f := (File{root, rel}); !hidden(rel) && f.regular() {
				return f, true
			}
		}
	}
	return File{}, false
}

// hidden reports a path with a part that begins with a dot: settings and keys
// lie there, not sources.
func hidden(below string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(below), "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
}

func (f File) regular() bool {
	file, err := f.Open()
	if err != nil {
		return false
	}
	file.Close()
	return true
}

// index lists the files below the roots whose base name is wanted.
func index(roots []string, wanted map[string][]string) map[string][]File {
	out := map[string][]File{}
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
				if rel != "." && hidden(rel) || strings.Count(rel, string(filepath.Separator)) > maxDepth {
					return fs.SkipDir
				}
				return nil
			}
			if d.Type().IsRegular() && wanted[d.Name()] != nil {
				if rel, err := filepath.Rel(root, file); err == nil {
					out[d.Name()] = append(out[d.Name()], File{root, rel})
				}
			}
			return nil
		})
	}
	return out
}

// best takes the candidate that shares the most folders at the end of the name.
// With no folder in common it must be the only candidate.
func best(name string, candidates []File) (Match, bool) {
	longest, file, ties := 0, File{}, 0
	for _, c := range candidates {
		switch n := commonEnd(name, c.Path()); {
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

package source

import (
	"path/filepath"
	"regexp"
	"slices"
)

var included = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"`)

// Bounds of what is looked for.
const (
	maxIncluded     = 256
	maxIncludedSize = 4 << 20
)

// Included are the names that a text includes in quotes.
func Included(text []byte) []string {
	var names []string
	for _, m := range included.FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	return names
}

// WithIncluded adds to some files those that they include in quotes, which are a
// project's own: code has no place in files that only define macros, but loops
// cannot be read without them.
func WithIncluded(files []string) []string {
	all := slices.Clone(files)
	seen := map[string]bool{}
	for _, f := range files {
		seen[f] = true
	}
	for i := 0; i < len(all) && len(all) < len(files)+maxIncluded; i++ {
		if !filepath.IsAbs(all[i]) || !Looks(all[i]) {
			continue
		}
		text, err := File{filepath.Dir(all[i]), filepath.Base(all[i])}.Read()
		if err != nil || len(text) > maxIncludedSize {
			continue // a file that cannot be read includes nothing
		}
		for _, name := range Included(text) {
			name = filepath.Join(filepath.Dir(all[i]), name)
			if !seen[name] && (File{filepath.Dir(name), filepath.Base(name)}).regular() {
				seen[name] = true
				all = append(all, name)
			}
		}
	}
	return all
}

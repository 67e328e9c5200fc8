package target

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// listing is a line of a dynamic linker's list of libraries.
var listing = regexp.MustCompile(`^\s*(?:(\S+) => )?(/.*) \(0x[0-9a-f]+\)$`)

// linked asks the dynamic linker which libraries the program is linked with, in
// the order in which it looks for names: only it knows the search paths of this
// system. It loads them without running any of their code, nor the program's.
func (p *Program) linked() ([]string, error) {
	if p.Static {
		return nil, fmt.Errorf("%s is linked statically", p.Path)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	text, err := exec.CommandContext(ctx, p.Linker, "--list", p.Path).Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s for the libraries of %s: %w", p.Linker, p.Path, err)
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		if m := listing.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			all = append(all, m[2])
		}
	}
	return all, nil
}

// library opens a library by its path, or by its name one that the program is
// linked with, or that lies beside it or here.
func (p *Program) library(name string) (*Program, error) {
	if p.Static {
		return nil, fmt.Errorf("%s is linked statically and loads no %s", filepath.Base(p.Path), name)
	}
	if strings.Contains(name, "/") {
		return openLibrary(name)
	}
	linked, _ := p.linked() // those of another machine are not known
	for _, path := range linked {
		if base := filepath.Base(path); base == name || strings.HasPrefix(base, name+".") {
			return openLibrary(path)
		}
	}
	for _, dir := range []string{filepath.Dir(p.Path), "."} {
		if path := filepath.Join(dir, name); exists(path) {
			return openLibrary(path)
		}
	}
	return nil, fmt.Errorf("%s is not linked with %s; of a library that it loads itself give the path: ./%s", filepath.Base(p.Path), name, name)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func openLibrary(path string) (*Program, error) {
	lib, err := Open(path)
	if err != nil {
		return nil, err
	}
	// The path as the kernel tells where it is mapped.
	if lib.Path, err = filepath.EvalSymlinks(path); err == nil {
		lib.Path, err = filepath.Abs(lib.Path)
	}
	return lib, err
}

// LoadedAt returns what the file's link addresses have been moved by, from the
// text of /proc/PID/maps; false where it is not mapped.
func (p *Program) LoadedAt(maps []byte) (bias uint64, ok bool) {
	for _, m := range parseMaps(maps, func(string) bool { return true }) {
		if m.Path == p.Path && (!ok || m.Start-p.base < bias) {
			bias, ok = m.Start-p.base, true
		}
	}
	return bias, ok
}

// Base is the lowest link address that is mapped.
func (p *Program) Base() uint64 { return p.base }

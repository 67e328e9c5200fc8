package symbol

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/isobath/isobath/internal/base/plainfile"
)

// Files finds binaries and their debug information and keeps them open. It may
// be used by several goroutines.
type Files struct {
	// Roots are folders below which the paths of a recording made elsewhere may
	// be found.
	Roots []string
	// Debug are folders with separate debug files; those of the system are
	// always searched.
	Debug []string
	// Elsewhere says that the recording was made on another machine: a path
	// without a build id is then looked for below Roots only, for the file of
	// that name here need not be the one that ran.
	Elsewhere bool
	// SameKernel says that the kernel of the recording runs now: its own
	// library is then that of this process even without a build id.
	SameKernel bool

	mu     sync.Mutex
	opened map[[2]string]*found
	kernel *Kallsyms
	loaded bool
}

type found struct {
	binary *Binary
	err    error
}

// systemDebug is where distributions keep debug files.
const systemDebug = "/usr/lib/debug"

// ErrOtherBuild is the error for a file that was built again since.
var ErrOtherBuild = errors.New("the file has another build id: it was built again since the recording")

// ErrElsewhere is the error for a file of another machine without a build id.
var ErrElsewhere = errors.New("recorded on another machine without a build id, so the file here may be another")

// Open returns the binary of a mapping. The build id decides where it is known:
// another build has other addresses.
func (f *Files) Open(path, buildID string) (*Binary, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := [2]string{path, buildID}
	if got, ok := f.opened[key]; ok {
		return got.binary, got.err
	}
	b, err := f.open(path, strings.ToLower(buildID))
	if f.opened == nil {
		f.opened = map[[2]string]*found{}
	}
	f.opened[key] = &found{b, err}
	return b, err
}

func (f *Files) open(path, buildID string) (*Binary, error) {
	im, at, err := f.program(path, buildID)
	if err != nil {
		return nil, err
	}
	return newBinary(at, im, f.debugFile(im, at), f), nil
}

// program finds the file itself: its path, its path below a root, and what the
// build id names.
func (f *Files) program(path, buildID string) (*image, string, error) {
	if path == vdsoName {
		return f.vdso(buildID)
	}
	var candidates []string
	if !f.Elsewhere || buildID != "" {
		candidates = append(candidates, path)
	}
	for _, root := range f.Roots {
		candidates = append(candidates, filepath.Join(root, filepath.Clean("/"+path)), filepath.Join(root, filepath.Base(path)))
	}
	for _, dir := range f.idFolders(buildID) {
		candidates = append(candidates, dir, filepath.Join(dir, "elf"), dir+".debug")
	}
	if len(candidates) == 0 {
		return nil, "", ErrElsewhere
	}
	var first error
	for _, c := range candidates {
		im, err := openImage(c)
		if err == nil && buildID != "" && im.buildID != "" && !sameID(im.buildID, buildID) {
			err = errors.Join(fmt.Errorf("%s: %w", c, ErrOtherBuild), im.close())
		}
		if err == nil {
			return im, c, nil
		}
		if first == nil || errors.Is(first, fs.ErrNotExist) && !errors.Is(err, fs.ErrNotExist) {
			first = err
		}
	}
	return nil, "", first
}

// sameID compares build ids; perf pads short ones with zeros.
func sameID(a, b string) bool {
	trim := func(s string) string { return strings.TrimRight(s, "0") }
	return trim(a) == trim(b)
}

// idFolders returns the names that a build id has in the folders for debug
// files and in perf's own cache, without an ending.
func (f *Files) idFolders(buildID string) []string {
	if len(buildID) < 6 || strings.Trim(buildID, "0123456789abcdef") != "" {
		return nil
	}
	tail := filepath.Join(".build-id", buildID[:2], buildID[2:])
	var out []string
	for _, dir := range f.debugFolders() {
		out = append(out, filepath.Join(dir, tail))
	}
	if home, err := os.UserHomeDir(); err == nil {
		out = append(out, filepath.Join(home, ".debug", tail))
	}
	return out
}

// asksServers reports whether the user has named servers of debug information. They
// are not asked: a recording tells nobody what is on the machine.
func asksServers() bool { return os.Getenv("DEBUGINFOD_URLS") != "" }

// fetched is where debuginfod's client keeps the debug information of a build, if the
// user has set it up.
func fetched(buildID string) []string {
	if !asksServers() || buildID == "" {
		return nil
	}
	folder := os.Getenv("DEBUGINFOD_CACHE_PATH")
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil
		}
		folder = filepath.Join(cache, "debuginfod_client")
	}
	return []string{filepath.Join(folder, buildID, "debuginfo")}
}

func (f *Files) debugFolders() []string {
	return append(f.Debug[:len(f.Debug):len(f.Debug)], systemDebug)
}

// debugFile finds the separate debug information of a stripped file: by build
// id, else by the name and checksum it was given when it was stripped.
func (f *Files) debugFile(im *image, path string) *image {
	if im.elf.Section(".debug_info") != nil || im.elf.Section(".zdebug_info") != nil {
		return nil
	}
	named := fetched(im.buildID)
	for _, dir := range f.idFolders(im.buildID) {
		named = append(named, dir+".debug")
	}
	for _, name := range named {
		if debug, err := openImage(name); err == nil {
			if sameID(debug.buildID, im.buildID) {
				return debug
			}
			debug.close()
		}
	}
	name, sum, ok := im.debugLink()
	if !ok {
		return nil
	}
	here := filepath.Dir(path)
	candidates := []string{filepath.Join(here, name), filepath.Join(here, ".debug", name)}
	for _, dir := range f.debugFolders() {
		candidates = append(candidates, filepath.Join(dir, here, name), filepath.Join(dir, name))
	}
	for _, c := range candidates {
		if c == path {
			continue
		}
		debug, err := openImage(c)
		if err != nil {
			continue
		}
		if got, err := checksum(c); err == nil && got == sum {
			return debug
		}
		debug.close()
	}
	return nil
}

// Kernel returns the kernel's symbols of the machine at hand, nil if they
// cannot be read.
func (f *Files) Kernel() *Kallsyms {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.loaded {
		f.loaded = true
		if file, err := plainfile.Open("/proc/kallsyms"); err == nil {
			f.kernel, _ = ReadKallsyms(file)
			file.Close()
		}
	}
	return f.kernel
}

// UseKernel takes the kernel's symbols from a recording in place of those of
// the machine at hand.
func (f *Files) UseKernel(k *Kallsyms) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kernel, f.loaded = k, true
}

// Close closes everything that was opened.
func (f *Files) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, got := range f.opened {
		if got.binary != nil {
			errs = append(errs, got.binary.Close())
		}
	}
	f.opened = nil
	return errors.Join(errs...)
}

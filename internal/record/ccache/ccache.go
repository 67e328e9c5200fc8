// Package ccache compiles the small C sources that the program carries, with
// the user's own compiler, and keeps the results.
package ccache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/base/wholefile"
)

// Source is a source text and how to compile it.
type Source struct {
	Name     string // of the result, such as isobath-refs.so
	Text     []byte
	Compiler string   // cc, mpicc; looked up along PATH
	Package  string   // the Debian package that has the compiler
	Flags    []string // such as -shared
}

// ErrNoCompiler is what errors wrap where the compiler is not installed.
var ErrNoCompiler = errors.New("no compiler")

// missing says which compiler is not there.
type missing struct{ compiler, name, pkg string }

func (m missing) Error() string {
	return fmt.Sprintf("%s is needed to compile %s and is not installed; apt-get install %s", m.compiler, m.name, m.pkg)
}
func (missing) Unwrap() error { return ErrNoCompiler }

// Build returns the path of the compiled source, compiling it unless that was
// done before with the same compiler and flags. Several processes may build at
// once: the result appears whole.
func Build(ctx context.Context, s Source) (string, error) {
	compiler, err := exec.LookPath(s.Compiler)
	if err != nil {
		return "", missing{s.Compiler, s.Name, s.Package}
	}
	dir, err := folder()
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, s.key(compiler)+"-"+s.Name)
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	tmp, err := scratch.Folder(dir, "build")
	if err != nil {
		return "", fmt.Errorf("compile %s: %w", s.Name, err)
	}
	defer os.RemoveAll(tmp)
	source := filepath.Join(tmp, strings.TrimSuffix(s.Name, filepath.Ext(s.Name))+".c")
	if err := os.WriteFile(source, s.Text, 0o600); err != nil {
		return "", fmt.Errorf("compile %s: %w", s.Name, err)
	}
	built := filepath.Join(tmp, s.Name)
	cmd := exec.CommandContext(ctx, compiler, append([]string{source, "-o", built}, s.Flags...)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s cannot compile %s: %w\n%s", compiler, s.Name, err, bytes.TrimSpace(text))
	}
	if err := os.Rename(built, out); err != nil {
		return "", fmt.Errorf("compile %s: %w", s.Name, err)
	}
	return out, nil
}

// Keep puts something that is compiled already where Build puts its results, and
// returns its path.
func Keep(name string, data []byte) (string, error) {
	dir, err := folder()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	out := filepath.Join(dir, hex.EncodeToString(sum[:8])+"-"+name)
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	if err := wholefile.WriteBytes(out, wholefile.Program, data); err != nil {
		return "", fmt.Errorf("keep %s: %w", name, err)
	}
	return out, nil
}

// key names a result: another text, compiler or set of flags has another.
func (s Source) key(compiler string) string {
	h := sha256.New()
	h.Write(s.Text)
	fmt.Fprintf(h, "\x00%s\x00%q", compiler, s.Flags)
	if real, err := filepath.EvalSymlinks(compiler); err == nil {
		if info, err := os.Stat(real); err == nil {
			fmt.Fprintf(h, "\x00%s %d %d", real, info.Size(), info.ModTime().UnixNano())
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// folder is where results are kept: the user's cache, or a folder of the
// process's own where there is none.
func folder() (string, error) {
	var errs []error
	if base, err := os.UserCacheDir(); err == nil {
		dir := filepath.Join(base, "isobath", "compiled")
		if err = os.MkdirAll(dir, 0o700); err == nil {
			return dir, nil
		}
		errs = append(errs, err)
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("isobath-compiled-%d", os.Getuid()))
	err := os.Mkdir(dir, 0o700)
	if err == nil || errors.Is(err, os.ErrExist) {
		// Anyone may make a folder of this name in a shared place: what it holds
		// is only trusted if it is ours.
		if err = private(dir); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no folder for compiled recorders: %w", errors.Join(append(errs, err)...))
}

// Command dist makes what is released: a static binary for each platform, archives
// with manual pages and completions, .deb and .rpm, a list of components and
// checksums. Two runs on one revision give the same bytes: every time in them is
// that of the revision.
//
// The program that writes packages, nfpm, is built from the module in nfpm: its
// libraries are of no use to ours.
package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	var r release
	targets := ""
	flag.StringVar(&r.root, "root", ".", "the repository")
	flag.StringVar(&r.out, "out", "dist", "where to write")
	flag.StringVar(&r.version, "version", "", "the version (default: what git says)")
	flag.StringVar(&targets, "targets", "linux/amd64,linux/arm64,darwin/arm64", "platforms")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := r.make(ctx, strings.Split(targets, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// release is one version of the program on its way.
type release struct {
	root, out, version string
	revision           string    // of the source; empty outside a repository
	when               time.Time // of the revision: the time of everything
	work               string    // a temporary folder
	shared             string    // folder in it with what all platforms have: manual, completions, texts
}

func (r *release) make(ctx context.Context, targets []string) error {
	if err := r.describe(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	var err error
	if r.out, err = filepath.Abs(r.out); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "isobath-dist-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	r.shared = filepath.Join(r.work, "shared")
	if err := r.gather(ctx); err != nil {
		return err
	}
	var made []string
	for _, target := range targets {
		goos, arch, ok := strings.Cut(target, "/")
		if !ok {
			return fmt.Errorf("%q is no platform; want OS/ARCH", target)
		}
		files, err := r.platform(ctx, goos, arch)
		if err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		made = append(made, files...)
	}
	return r.checksums(made)
}

// describe finds the version and the time of the revision.
func (r *release) describe(ctx context.Context) error {
	if r.version == "" {
		out, err := r.git(ctx, "describe", "--tags", "--always", "--dirty")
		if err != nil {
			return err
		}
		r.version = out
	}
	if out, err := r.git(ctx, "rev-parse", "HEAD"); err == nil { // sources without a repository can be released too
		r.revision = out
	}
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = r.git(ctx, "log", "-1", "--format=%ct"); err != nil {
			return err
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH %q is no number of seconds", text)
	}
	r.when = time.Unix(seconds, 0).UTC()
	return nil
}

func (r *release) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// build makes the program for a platform.
func (r *release) build(ctx context.Context, goos, arch, path string) error {
	told := fmt.Sprintf("-s -w -X main.version=%s -X main.revision=%s -X main.date=%s", r.version, r.revision, r.when.Format(time.RFC3339))
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", told, "-o", path, "./cmd/isobath")
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if goos != "" {
		cmd.Env = append(cmd.Env, "GOOS="+goos, "GOARCH="+arch)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// gather makes what all platforms share, with a program for this one.
func (r *release) gather(ctx context.Context) error {
	nfpm := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(r.work, "nfpm"), "github.com/goreleaser/nfpm/v2/cmd/nfpm")
	nfpm.Dir = filepath.Join(r.root, "scripts", "dist", "nfpm")
	if out, err := nfpm.CombinedOutput(); err != nil {
		return fmt.Errorf("build nfpm: %w\n%s", err, out)
	}
	self := filepath.Join(r.work, "self")
	if err := r.build(ctx, "", "", self); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, self, "reference", "--man", filepath.Join(r.shared, "man")).CombinedOutput(); err != nil {
		return fmt.Errorf("manual pages: %w\n%s", err, out)
	}
	for name, args := range map[string][]string{
		"reference.md": {"reference"}, "completions/isobath.bash": {"completion", "bash"},
		"completions/_isobath": {"completion", "zsh"}, "completions/isobath.fish": {"completion", "fish"},
	} {
		out, err := exec.CommandContext(ctx, self, args...).Output()
		if err != nil {
			return fmt.Errorf("isobath %s: %w", strings.Join(args, " "), err)
		}
		if err := write(filepath.Join(r.shared, name), out); err != nil {
			return err
		}
	}
	texts := []string{"LICENSE", "THIRD_PARTY_NOTICES.txt", "README.md", "CHANGELOG.md"}
	others, err := r.forPrograms(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Concat(texts, others) {
		text, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return err
		}
		if err := write(filepath.Join(r.shared, name), text); err != nil {
			return err
		}
	}
	return nil
}

// forPrograms lists what people build their programs with, and the examples that
// the guide records: the tracked files, so that what a compiler left is not among
// them.
func (r *release) forPrograms(ctx context.Context) ([]string, error) {
	out, err := r.git(ctx, append([]string{"ls-files"}, programFolders...)...)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Fields(out), func(name string) bool {
		return strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/tests/")
	}), nil
}

// programFolders have what is for other people's programs.
var programFolders = []string{"clients", "examples"}

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// platform makes everything for one platform and returns the files.
func (r *release) platform(ctx context.Context, goos, arch string) ([]string, error) {
	base := filepath.Join(r.out, "isobath-"+goos+"-"+arch)
	if err := r.build(ctx, goos, arch, base); err != nil {
		return nil, err
	}
	fmt.Println(base)
	if err := r.components(base, base+".cdx.json"); err != nil {
		return nil, err
	}
	if err := r.archive(base, base+".tar.gz"); err != nil {
		return nil, err
	}
	made := []string{base, base + ".cdx.json", base + ".tar.gz"}
	if goos == "linux" {
		for _, format := range []string{"deb", "rpm"} {
			if err := r.pack(ctx, format, arch, base, base+"."+format); err != nil {
				return nil, fmt.Errorf("%s: %w", format, err)
			}
			made = append(made, base+"."+format)
		}
	}
	return made, nil
}

// checksums writes SHA256SUMS, as sha256sum -c reads it.
func (r *release) checksums(made []string) error {
	slices.Sort(made)
	text := ""
	for _, path := range made {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text += fmt.Sprintf("%x  %s\n", sha256.Sum256(content), filepath.Base(path))
	}
	return write(filepath.Join(r.out, "SHA256SUMS"), []byte(text))
}

// Command reproducible builds the program in two folders and compares what comes
// out, byte by byte. With -fresh each build begins with an empty cache.
package main

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	fresh := flag.Bool("fresh", false, "begin each build with an empty cache: takes minutes")
	flag.Parse()
	sum, err := compare(".", *fresh)
	if err != nil {
		fmt.Fprintln(os.Stderr, "reproducible:", err)
		os.Exit(1)
	}
	fmt.Printf("two builds in two folders are equal: sha256 %x\n", sum)
}

// compare builds copies of the tree at root and returns what both are.
func compare(root string, fresh bool) (sum [sha256.Size]byte, err error) {
	work, err := os.MkdirTemp("", "isobath-reproducible-")
	if err != nil {
		return sum, err
	}
	defer os.RemoveAll(work)
	var built [2][]byte
	for i, name := range []string{"first", "a/second/folder"} {
		folder := filepath.Join(work, name)
		if err := copyTree(root, folder); err != nil {
			return sum, err
		}
		cache := ""
		if fresh {
			cache = filepath.Join(work, fmt.Sprintf("cache%d", i))
		}
		if built[i], err = build(folder, cache); err != nil {
			return sum, err
		}
	}
	if !bytes.Equal(built[0], built[1]) {
		at := 0
		for at < min(len(built[0]), len(built[1])) && built[0][at] == built[1][at] {
			at++
		}
		return sum, fmt.Errorf("two builds of %d and %d bytes differ from byte %d on", len(built[0]), len(built[1]), at)
	}
	return sha256.Sum256(built[0]), nil
}

// copyTree copies what the repository holds, and the built page if there is one.
func copyTree(root, folder string) error {
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.go", "go.mod", "go.sum", "cmd", "internal", "web/dist", "web/*.go", "docs", "clients", "fixtures", "examples")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	names := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	page, err := filepath.Glob(filepath.Join(root, "web", "dist", "*"))
	if err != nil {
		return err
	}
	assets, err := filepath.Glob(filepath.Join(root, "web", "dist", "assets", "*"))
	if err != nil {
		return err
	}
	for _, path := range append(page, assets...) {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			below, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			names = append(names, below)
		}
	}
	for _, name := range names {
		if err := copyFile(filepath.Join(root, name), filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil || !info.Mode().IsRegular() {
		return nil // deleted, or a link
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}

// build makes the program as a release does, without the version of the tree.
func build(folder, cache string) ([]byte, error) {
	out := filepath.Join(folder, "isobath")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version=reproducible", "-o", out, "./cmd/isobath")
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if cache != "" {
		cmd.Env = append(cmd.Env, "GOCACHE="+cache)
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, text)
	}
	return os.ReadFile(out)
}

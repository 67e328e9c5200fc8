package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// archive writes a .tar.gz of the binary and what goes with it, below one folder,
// in the order of the names.
func (r *release) archive(binary, path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	packed, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := tar.NewWriter(packed)
	folder := "isobath-" + strings.TrimPrefix(r.version, "v") + "/"
	add := func(name, from string, mode int64) error {
		content, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := out.WriteHeader(&tar.Header{Name: folder + name, Mode: mode, Size: int64(len(content)), ModTime: r.when, Format: tar.FormatPAX}); err != nil {
			return err
		}
		_, err = out.Write(content)
		return err
	}
	err = add("isobath", binary, 0o755)
	if err == nil {
		err = filepath.WalkDir(r.shared, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(r.shared, path)
			if err != nil {
				return err
			}
			return add(filepath.ToSlash(name), path, 0o644)
		})
	}
	return errors.Join(err, out.Close(), packed.Close())
}

// pack writes a .deb or .rpm with nfpm. Its settings are YAML, of which JSON is a
// part.
func (r *release) pack(ctx context.Context, format, arch, binary, path string) error {
	contents, err := r.contents(binary)
	if err != nil {
		return err
	}
	settings, err := json.Marshal(map[string]any{
		"name": "isobath", "arch": arch, "platform": "linux", "version": packageVersion(r.version), "version_schema": "none", "release": "1",
		"section": "devel", "priority": "optional", "maintainer": "The Isobath authors", "vendor": "Isobath", "license": "Apache-2.0",
		"description": "shows why a program is slow\nHow deep its memory accesses go, how late its messages arrive, which loops its\nmemory traffic runs in, and where in the simulated domain it happens.",
		"mtime":       r.when.Format(time.RFC3339), "contents": contents, "disable_globbing": true,
		"rpm": map[string]any{"buildhost": "isobath", "compression": "gzip", "summary": "shows why a program is slow"},
		"deb": map[string]any{"compression": "gzip"},
	})
	if err != nil {
		return err
	}
	file := filepath.Join(r.work, "nfpm.yaml")
	if err := write(file, settings); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(r.work, "nfpm"), "package", "--config", file, "--packager", format, "--target", path)
	cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.when.Unix()))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("nfpm: %w\n%s", err, out)
	}
	return nil
}

// content is a file of a package.
type content struct {
	Source string   `json:"src"`
	To     string   `json:"dst"`
	Info   fileInfo `json:"file_info"`
}

type fileInfo struct {
	Owner string      `json:"owner"`
	Group string      `json:"group"`
	Mode  os.FileMode `json:"mode"`
	MTime string      `json:"mtime"`
}

// contents are the files of a package, and where each goes.
func (r *release) contents(binary string) ([]content, error) {
	var out []content
	add := func(from, to string, mode os.FileMode) {
		out = append(out, content{from, to, fileInfo{"root", "root", mode, r.when.Format(time.RFC3339)}})
	}
	add(binary, "/usr/bin/isobath", 0o755)
	pages, err := filepath.Glob(filepath.Join(r.shared, "man", "*.1"))
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		add(page, "/usr/share/man/man1/"+filepath.Base(page), 0o644)
	}
	for _, file := range [][2]string{
		{"completions/isobath.bash", "/usr/share/bash-completion/completions/isobath"},
		{"completions/_isobath", "/usr/share/zsh/site-functions/_isobath"},
		{"completions/isobath.fish", "/usr/share/fish/vendor_completions.d/isobath.fish"},
		{"LICENSE", "/usr/share/doc/isobath/copyright"},
		{"THIRD_PARTY_NOTICES.txt", "/usr/share/doc/isobath/THIRD_PARTY_NOTICES.txt"},
		{"README.md", "/usr/share/doc/isobath/README.md"},
		{"CHANGELOG.md", "/usr/share/doc/isobath/CHANGELOG.md"},
		{"reference.md", "/usr/share/doc/isobath/reference.md"},
	} {
		add(filepath.Join(r.shared, file[0]), file[1], 0o644)
	}
	for _, folder := range programFolders {
		err := filepath.WalkDir(filepath.Join(r.shared, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(r.shared, path)
			add(path, "/usr/share/isobath/"+filepath.ToSlash(name), 0o644)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// packageVersion makes a version that both kinds of packages order: it begins with
// a digit and has no dash. A build between releases comes before every release.
func packageVersion(version string) string {
	plain := strings.TrimPrefix(version, "v")
	if plain == version || plain == "" || plain[0] < '0' || plain[0] > '9' {
		plain = "0~" + version
	}
	return strings.ReplaceAll(plain, "-", "+")
}

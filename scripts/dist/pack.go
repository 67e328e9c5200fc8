package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers itself
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers itself
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

// pack writes a .deb or .rpm.
func (r *release) pack(format, arch, binary, path string) (err error) {
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	contents, err := r.contents(binary)
	if err != nil {
		return err
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "isobath", Arch: arch, Platform: "linux", Version: packageVersion(r.version), VersionSchema: "none", Release: "1",
		Section: "devel", Priority: "optional", Maintainer: "The Isobath authors", Vendor: "Isobath", License: "Apache-2.0",
		Description: "shows why a program is slow\nHow deep its memory accesses go, how late its messages arrive, which loops its\nmemory traffic runs in, and where in the simulated domain it happens.",
		MTime:       r.when,
		Overridables: nfpm.Overridables{
			Contents: contents,
			RPM:      nfpm.RPM{BuildHost: "isobath", Compression: "gzip", Summary: "shows why a program is slow"},
			Deb:      nfpm.Deb{Compression: "gzip"},
		},
	})
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(packager.Package(info, f), f.Close())
}

// contents are the files of a package, and where each goes.
func (r *release) contents(binary string) (files.Contents, error) {
	var out files.Contents
	add := func(from, to string, mode os.FileMode) {
		out = append(out, &files.Content{Source: from, Destination: to, FileInfo: &files.ContentFileInfo{Mode: mode, Owner: "root", Group: "root", MTime: r.when}})
	}
	add(binary, "/usr/bin/isobath", 0o755)
	pages, err := filepath.Glob(filepath.Join(r.shared, "man", "*.1"))
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		add(page, "/usr/share/man/man1/"+filepath.Base(page), 0o644)
	}
	for name, to := range map[string]string{
		"completions/isobath.bash": "/usr/share/bash-completion/completions/isobath",
		"completions/_isobath":     "/usr/share/zsh/site-functions/_isobath",
		"completions/isobath.fish": "/usr/share/fish/vendor_completions.d/isobath.fish",
		"LICENSE":                  "/usr/share/doc/isobath/copyright",
		"THIRD_PARTY_NOTICES.txt":  "/usr/share/doc/isobath/THIRD_PARTY_NOTICES.txt",
		"README.md":                "/usr/share/doc/isobath/README.md",
		"CHANGELOG.md":             "/usr/share/doc/isobath/CHANGELOG.md",
		"reference.md":             "/usr/share/doc/isobath/reference.md",
	} {
		add(filepath.Join(r.shared, name), to, 0o644)
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

// Package web holds the built browser page. Without a build (plain go build)
// it holds only a stub that says how to make one.
package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"
)

//go:embed all:dist
var dist embed.FS

// Files returns the built page: index.html and assets, or only stub.html.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is a constant that the embed directive proves
	}
	return Unpacked{files}
}

// Index returns the name in Files of the page to serve at the root.
func Index() string {
	if _, err := fs.Stat(dist, "dist/index.html"); err != nil {
		return "stub.html"
	}
	return "index.html"
}

// Unpacked has the files of a built page by their own names: a build leaves them
// packed, as NAME.gz.
type Unpacked struct{ fs.FS }

// Open opens a file, unpacking it if only its packed form is there.
func (u Unpacked) Open(name string) (fs.File, error) {
	f, err := u.FS.Open(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	packed, packedErr := u.FS.Open(name + ".gz")
	if packedErr != nil {
		return nil, err
	}
	defer packed.Close()
	content, err := unpack(packed)
	if err != nil {
		return nil, &fs.PathError{Op: "unpack", Path: name, Err: err}
	}
	return &unpacked{bytes.NewReader(content), path.Base(name)}, nil
}

func unpack(r io.Reader) ([]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("not packed with gzip: %w", err)
	}
	return io.ReadAll(z)
}

// unpacked is an open file and its own description.
type unpacked struct {
	*bytes.Reader
	name string
}

func (u *unpacked) Stat() (fs.FileInfo, error) { return u, nil }
func (u *unpacked) Close() error               { return nil }
func (u *unpacked) Name() string               { return u.name }
func (u *unpacked) Mode() fs.FileMode          { return 0o444 }
func (u *unpacked) ModTime() time.Time         { return time.Time{} }
func (u *unpacked) IsDir() bool                { return false }
func (u *unpacked) Sys() any                   { return nil }

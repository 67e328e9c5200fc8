// Package web holds the built browser page. Without a build (plain go build)
// it holds only a stub that says how to make one.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Files returns the built page: index.html and assets, or only stub.html.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is a constant that the embed directive proves
	}
	return files
}

// Index returns the name in Files of the page to serve at the root.
func Index() string {
	if _, err := fs.Stat(dist, "dist/index.html"); err != nil {
		return "stub.html"
	}
	return "index.html"
}

// Gen makes the built-in demo runs again: it simulates the stencil program and its
// repaired form and writes stencil.bin and stencil-fixed.bin into
// internal/app/demo/data. With -check it writes nothing and fails if a file
// differs from what it would write.
//
//	go run ./internal/app/demo/gen
//
// With -cycles DIR it records the examples of the cycles page instead, with the
// program that -isobath names. Their addresses are those of the machine and
// compiler, so they are not compared; a test counts their turns. With -locality
// FILE it records the example of the locality page.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/isobath/isobath/internal/app/demo"
)

func main() {
	out := flag.String("o", "internal/app/demo/data", "folder of the files to write or check")
	check := flag.Bool("check", false, "compare instead of writing")
	cycles := flag.String("cycles", "", "record the examples of the cycles page into this folder")
	locality := flag.String("locality", "", "record the example of the locality page into this file")
	program := flag.String("isobath", "./isobath", "program to record with")
	flag.Parse()
	err := error(nil)
	switch {
	case *cycles != "":
		err = recordCycles(*cycles, *program)
	case *locality != "":
		err = recordLocality(*locality, *program)
	default:
		err = errors.Join(generate(filepath.Join(*out, "stencil.bin"), demo.StencilOptions{}, *check),
			generate(filepath.Join(*out, "stencil-fixed.bin"), demo.StencilOptions{Fixed: true}, *check))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "gen: %v\n", err)
		os.Exit(1)
	}
}

func generate(out string, opt demo.StencilOptions, check bool) error {
	r, err := demo.Stencil(opt)
	if err != nil {
		return err
	}
	data, err := demo.Encode(r)
	if err != nil {
		return err
	}
	if !check {
		fmt.Printf("%s: %d samples in %d bytes\n", out, r.Samples.Rows(), len(data))
		return os.WriteFile(out, data, 0o644)
	}
	old, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	if !bytes.Equal(old, data) {
		return errors.New(out + " is stale; make it again with 'go run ./internal/app/demo/gen'")
	}
	return nil
}

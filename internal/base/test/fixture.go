package test

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Packed is how the name of a packed set of fixtures ends.
const Packed = ".tar.zst"

// Fixture returns the path of a file or folder of the fixtures, which are part
// of the repository. What lies there as it is, is used as it is; a packed set is
// unpacked once for each of its versions, below fixtures/.unpacked. Files are
// read-only: a test that changes one copies it first.
func Fixture(t testing.TB, name string) string {
	t.Helper()
	path, err := FindFixture(name)
	if err != nil {
		t.Fatalf("fixture %s: %v", name, err)
	}
	t.Logf("%s%s", FixtureUsed, name)
	return path
}

// FindFixture is Fixture for programs that are not tests, such as benchmarks.
func FindFixture(name string) (string, error) {
	return fixture(filepath.Join(Root(), "fixtures"), name)
}

// fixture finds a name below the folder of fixtures: as it is, or in the packed
// set named like it or like a folder above it.
func fixture(root, name string) (string, error) {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) {
		return "", errors.New("want a path below fixtures/")
	}
	if path := filepath.Join(root, local); exists(path) {
		if holdsSets(path) {
			return "", errors.New("it holds packed sets; name one of them")
		}
		return path, nil
	}
	for set := local; set != "."; set = filepath.Dir(set) {
		archive := filepath.Join(root, set+Packed)
		if !exists(archive) {
			continue
		}
		folder, err := unpacked(root, archive)
		if err != nil {
			return "", err
		}
		path := filepath.Join(folder, filepath.Base(set), strings.TrimPrefix(local, set))
		if !exists(path) {
			return "", fmt.Errorf("it is not in fixtures/%s%s", filepath.ToSlash(set), Packed)
		}
		return path, nil
	}
	return "", errors.New("no such file, and no packed set holds it; see fixtures/README.md")
}

// holdsSets reports whether packed sets lie in a folder or in those below it.
func holdsSets(folder string) bool {
	for _, pattern := range []string{"*", "*/*"} {
		if sets, _ := filepath.Glob(filepath.Join(folder, pattern+Packed)); len(sets) > 0 {
			return true
		}
	}
	return false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// unpacked returns the folder that holds what is in an archive. Its name is
// that of the archive's content, and it appears whole: tests of several packages
// unpack the same archive at the same time.
func unpacked(root, archive string) (string, error) {
	packed, err := os.ReadFile(archive)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(packed)
	parent := filepath.Join(root, ".unpacked")
	folder := filepath.Join(parent, hex.EncodeToString(sum[:8]))
	if exists(folder) {
		return folder, nil
	}
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return "", err
	}
	part, err := os.MkdirTemp(parent, "part-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(part)
	if err := unpack(archive, part); err != nil {
		return "", err
	}
	if err := os.Chmod(part, 0o755); err != nil {
		return "", err
	}
	if err := os.Rename(part, folder); err != nil && !exists(folder) {
		return "", err
	}
	return folder, nil
}

// unpack writes the files of an archive below a folder.
func unpack(archive, folder string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	plain, err := zstd.NewReader(f)
	if err != nil {
		return err
	}
	defer plain.Close()
	for files := tar.NewReader(plain); ; {
		head, err := files.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(head.Name) || head.Typeflag != tar.TypeReg {
			return fmt.Errorf("%s: %w", head.Name, fs.ErrInvalid)
		}
		path := filepath.Join(folder, head.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		body, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, body, 0o444); err != nil {
			return err
		}
	}
}

// Pack writes a folder as a packed set of fixtures. The same files make the
// same archive: no times, no owners, in the order of their names.
func Pack(folder, archive string) (err error) {
	if err := os.MkdirAll(filepath.Dir(archive), 0o777); err != nil {
		return err
	}
	f, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	packed, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(8<<20))
	if err != nil {
		return err
	}
	files := tar.NewWriter(packed)
	top := filepath.Dir(folder)
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := files.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o444, Size: int64(len(body)), Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		_, err = files.Write(body)
		return err
	})
	return errors.Join(err, files.Close(), packed.Close())
}

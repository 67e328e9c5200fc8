package wholefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// Umask and limits belong to the whole process, so tests of them run in one of
// their own.
const childTask = "WHOLEFILE_TEST_TASK"

func TestMain(m *testing.M) {
	switch os.Getenv(childTask) {
	case "":
		os.Exit(m.Run())
	case "umask":
		mask, err := strconv.ParseUint(os.Args[1], 8, 32)
		check(err)
		syscall.Umask(int(mask))
		check(WriteBytes("file", 0, nil))
		check(WriteBytes("private", Private, nil))
		check(WriteBytes("program", Program, nil))
		check(Folder(context.Background(), "folder", false, func(dir string) error {
			return Fill(context.Background(), filepath.Join(dir, "file"), text("x"))
		}))
	case "full":
		signal.Ignore(syscall.SIGXFSZ) // the kernel then answers EFBIG
		check(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: 4096}))
		big := bytes.Repeat([]byte("x"), 10_000)
		if err := WriteBytes("file", 0, big); !errors.Is(err, syscall.EFBIG) {
			check(fmt.Errorf("a file past the limit: %v", err))
		}
		err := Folder(context.Background(), "folder", true, func(dir string) error {
			return Fill(context.Background(), filepath.Join(dir, "file"), text(string(big)))
		})
		if !errors.Is(err, syscall.EFBIG) {
			check(fmt.Errorf("a folder past the limit: %v", err))
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(t *testing.T, dir, task string, args ...string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), childTask+"="+task)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func text(s string) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.WriteString(s)
		return err
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFailureLeavesWhatWas(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	bad := errors.New("bad")
	half := func(w io.Writer) error {
		io.WriteString(w, "half")
		return bad
	}
	tests := []struct {
		name  string
		write func(dir string) error
		want  error
	}{
		{"writer fails", func(dir string) error { return Write(t.Context(), filepath.Join(dir, "old"), 0, half) }, bad},
		{"writer of a new file fails", func(dir string) error { return Write(t.Context(), filepath.Join(dir, "new"), New, half) }, bad},
		{"context ends before", func(dir string) error {
			return Write(ended, filepath.Join(dir, "old"), 0, func(w io.Writer) error {
				_, err := io.WriteString(w, "new")
				return err
			})
		}, context.Canceled},
		{"context ends unnoticed", func(dir string) error {
			return Write(ended, filepath.Join(dir, "old"), 0, func(io.Writer) error { return nil })
		}, context.Canceled},
		{"name is taken", func(dir string) error { return WriteBytes(filepath.Join(dir, "old"), New, []byte("new")) }, fs.ErrExist},
		{"name is a folder", func(dir string) error { return WriteBytes(filepath.Join(dir, "folder"), 0, []byte("new")) }, syscall.EISDIR},
		{"no such folder", func(dir string) error { return WriteBytes(filepath.Join(dir, "none", "new"), 0, nil) }, fs.ErrNotExist},
		{"fill fails", func(dir string) error {
			return Folder(t.Context(), filepath.Join(dir, "folder"), true, func(d string) error {
				return errors.Join(Fill(t.Context(), filepath.Join(d, "file"), text("half")), bad)
			})
		}, bad},
		{"folder is taken", func(dir string) error {
			return Folder(t.Context(), filepath.Join(dir, "folder"), false, func(string) error { return nil })
		}, fs.ErrExist},
		{"context of a folder ends", func(dir string) error {
			return Folder(ended, filepath.Join(dir, "folder"), true, func(string) error { return nil })
		}, context.Canceled},
		{"file of an ended folder", func(dir string) error {
			return Folder(ended, filepath.Join(dir, "folder"), true, func(d string) error {
				return Fill(ended, filepath.Join(d, "file"), text("x"))
			})
		}, context.Canceled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			os.WriteFile(filepath.Join(dir, "old"), []byte("old"), 0o600)
			os.Mkdir(filepath.Join(dir, "folder"), 0o700)
			os.WriteFile(filepath.Join(dir, "folder", "file"), []byte("old"), 0o600)
			if err := tt.write(dir); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if got := names(t, dir); !slices.Equal(got, []string{"folder", "old"}) {
				t.Errorf("left behind: %q", got)
			}
			if content(t, filepath.Join(dir, "old")) != "old" || content(t, filepath.Join(dir, "folder", "file")) != "old" {
				t.Error("what was there has changed")
			}
		})
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	file, link, folder := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "folder")
	for _, s := range []string{"one", "two"} {
		if err := WriteBytes(file, 0, []byte(s)); err != nil {
			t.Fatal(err)
		}
		fill := func(d string) error { return Fill(t.Context(), filepath.Join(d, s), text(s)) }
		if err := Folder(t.Context(), folder+"/", true, fill); err != nil {
			t.Fatal(err)
		}
		if got := content(t, file); got != s {
			t.Errorf("file holds %q, want %q", got, s)
		}
		if got := names(t, folder); !slices.Equal(got, []string{s}) {
			t.Errorf("folder holds %q, want %q", got, s)
		}
	}
	os.Chmod(file, 0o640)
	os.Symlink("file", link)
	if err := WriteBytes(link, 0, []byte("three")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(file)
	if err != nil || info.Mode() != 0o640 || content(t, file) != "three" {
		t.Errorf("through a link: %v %v %q, want the file replaced with its mode", info.Mode(), err, content(t, file))
	}
	if info, _ := os.Lstat(link); info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link itself was replaced")
	}
	if err := WriteBytes(file, Private, nil); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(file); info.Mode() != 0o600 {
		t.Errorf("a private file has mode %v", info.Mode())
	}
	if got := names(t, dir); !slices.Equal(got, []string{"file", "folder", "link"}) {
		t.Errorf("left behind: %q", got)
	}
}

func TestUmask(t *testing.T) {
	tests := []struct {
		mask string
		want string
	}{
		{"022", "file -rw-r--r-- private -rw------- program -rwxr-xr-x folder drwxr-xr-x folder/file -rw-r--r--"},
		{"077", "file -rw------- private -rw------- program -rwx------ folder drwx------ folder/file -rw-------"},
		{"002", "file -rw-rw-r-- private -rw------- program -rwxrwxr-x folder drwxrwxr-x folder/file -rw-rw-r--"},
	}
	for _, tt := range tests {
		t.Run(tt.mask, func(t *testing.T) {
			dir := t.TempDir()
			child(t, dir, "umask", tt.mask)
			var got []string
			for _, name := range []string{"file", "private", "program", "folder", "folder/file"} {
				info, err := os.Stat(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, name, info.Mode().String())
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "file"), []byte("old"), 0o600)
	child(t, dir, "full")
	if got := names(t, dir); !slices.Equal(got, []string{"file"}) {
		t.Errorf("left behind: %q", got)
	}
	if got := content(t, filepath.Join(dir, "file")); got != "old" {
		t.Errorf("the file that was there holds %q", got)
	}
}

// TestDevice holds that what is not a file is written to and not replaced.
func TestDevice(t *testing.T) {
	full := filepath.Join(t.TempDir(), "full")
	if err := os.Symlink("/dev/full", full); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	if err := WriteBytes(full, 0, []byte("x")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v, want no space left", err)
	}
	if info, err := os.Stat("/dev/full"); err != nil || info.Mode()&fs.ModeCharDevice == 0 {
		t.Errorf("/dev/full is now %v, %v", info.Mode(), err)
	}
}

// TestConcurrent lets many write one name: of those that must not replace one
// wins, and readers of the others never see half a file.
func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	body := func(i int) string { return strings.Repeat(strconv.Itoa(i%10), 50_000) }
	var won, refused atomic.Int32
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			switch err := WriteBytes(filepath.Join(dir, "new"), New, []byte(body(i))); {
			case err == nil:
				won.Add(1)
			case errors.Is(err, fs.ErrExist):
				refused.Add(1)
			default:
				t.Error(err)
			}
			if err := WriteBytes(filepath.Join(dir, "file"), 0, []byte(body(i))); err != nil {
				t.Error(err)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || len(b) != 50_000 || strings.Trim(string(b), string(b[:1])) != "" {
				t.Errorf("%d bytes of several writers, %v", len(b), err)
			}
			fill := func(d string) error { return Fill(t.Context(), filepath.Join(d, "file"), text(body(i))) }
			if err := Folder(t.Context(), filepath.Join(dir, "folder"), true, fill); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	if won.Load() != 1 || refused.Load() != 7 {
		t.Errorf("%d writers won and %d were refused, want 1 and 7", won.Load(), refused.Load())
	}
	if got := names(t, dir); !slices.Equal(got, []string{"file", "folder", "new"}) {
		t.Errorf("left behind: %q", got)
	}
}

// TestPlainFileSystem holds what file systems without flags of rename get.
func TestPlainFileSystem(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, d := range []string{"a", "b", "c"} {
		os.Mkdir(at(d), 0o700)
		os.WriteFile(at(d+"/"+d), nil, 0o600)
	}
	if err := exchangeByTurns(at("a"), at("b")); err != nil {
		t.Fatal(err)
	}
	if a, b := names(t, at("a")), names(t, at("b")); a[0] != "b" || b[0] != "a" {
		t.Errorf("after the exchange a holds %q and b holds %q", a, b)
	}
	if err := renameNewPlain(at("a"), at("b")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a folder onto another: %v", err)
	}
	if err := renameNewPlain(at("c"), at("d")); err != nil {
		t.Error(err)
	}
	os.WriteFile(at("one"), nil, 0o600)
	os.WriteFile(at("two"), nil, 0o600)
	if err := renameNewPlain(at("one"), at("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file onto another: %v", err)
	}
	if err := renameNewPlain(at("one"), at("three")); err != nil {
		t.Error(err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"a", "b", "d", "three", "two"}) {
		t.Errorf("the folder holds %q", got)
	}
}

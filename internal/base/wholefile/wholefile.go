// Package wholefile is the one way to write a file or a folder that others see:
// whole or not at all.
//
// It is written under a hidden name beside its own, synced, renamed, and the
// folder that holds the name is synced. Whoever looks at the name, now or after
// a power cut, sees what was there before or all of the new. What fails, or
// whose context ends, leaves nothing behind.
//
// Permissions are the umask's business: a file asks for 0666 and a folder for
// 0777, as programs that write with open and mkdir do, and a file that is
// replaced keeps those it has. Private asks for 0600 whatever stood there.
package wholefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/isobath/isobath/internal/base/scratch"
)

// Option changes how a file is written.
type Option int

const (
	// New refuses a name that is taken, also by somebody who takes it while we
	// write: the error is fs.ErrExist.
	New Option = 1 << iota
	// Private makes a file that only its owner reads.
	Private
	// Program makes a file that can be run.
	Program
)

func (o Option) mode() fs.FileMode {
	switch {
	case o&Private != 0:
		return 0o600
	case o&Program != 0:
		return 0o777
	}
	return 0o666
}

// Write makes a file of what write writes. A write after the end of the context
// fails with the context's error.
//
// A name that leads somewhere else is followed, and what is not a file, such as
// a pipe or /dev/stdout, is written to as it is: it must not be replaced.
func Write(ctx context.Context, path string, o Option, write func(io.Writer) error) error {
	return asFile(ctx, path, o, func(f *os.File) error { return write(&until{ctx, f}) })
}

// WriteBytes makes a small file.
func WriteBytes(path string, o Option, text []byte) error {
	return asFile(context.Background(), path, o, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

func asFile(ctx context.Context, path string, o Option, write func(*os.File) error) error {
	path, before, err := destination(path, o)
	if err != nil {
		return err
	}
	if before != nil && !before.Mode().IsRegular() {
		return into(path, write)
	}
	f, err := beside(path, func(name string) (*os.File, error) {
		return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, o.mode())
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := finish(f, before, o, write); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(f.Name()))
	}
	if err := publish(ctx, f.Name(), path, o); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncFolder(filepath.Dir(path))
}

// destination follows links, and refuses what must not be replaced before the
// work is done rather than after it.
func destination(path string, o Option) (string, fs.FileInfo, error) {
	if o&New != 0 {
		if _, err := os.Lstat(path); err == nil {
			return "", nil, &fs.PathError{Op: "write", Path: path, Err: fs.ErrExist}
		}
		return path, nil, nil
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil, nil
	case err != nil:
		return "", nil, err
	case info.IsDir():
		return "", nil, &fs.PathError{Op: "write", Path: path, Err: syscall.EISDIR}
	}
	return path, info, nil
}

// into writes to a pipe or a device. It has no folder to be whole in.
func into(path string, write func(*os.File) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// finish fills, syncs and closes a file. The permissions of the one it will
// replace are taken over.
func finish(f *os.File, before fs.FileInfo, o Option, write func(*os.File) error) error {
	err := write(f)
	if err == nil && before != nil && o&Private == 0 {
		err = f.Chmod(before.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// beside calls create with hidden names in the folder of path until one is free.
// The kernel applies the umask, which os.CreateTemp and os.MkdirTemp would not
// let it do: they ask for 0600 and 0700. What killed writers left there goes.
func beside[T any](path string, create func(name string) (T, error)) (T, error) {
	scratch.Sweep(filepath.Dir(path))
	for {
		made, err := create(scratch.Beside(path))
		if !errors.Is(err, fs.ErrExist) {
			return made, err
		}
	}
}

// publish gives what is finished its name.
func publish(ctx context.Context, tmp, path string, o Option) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("write %s: %w", path, context.Cause(ctx))
	}
	rename := os.Rename
	if o&New != 0 {
		rename = renameNew
	}
	if err := rename(tmp, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Folder makes a folder of what fill puts into it. With replace a folder that has
// the name is exchanged in one step where the file system can do that, and
// removed; without, a name that is taken is fs.ErrExist. The files in it must be
// written by Fill or otherwise synced.
func Folder(ctx context.Context, path string, replace bool, fill func(dir string) error) error {
	path = filepath.Clean(path)
	if _, err := os.Lstat(path); err == nil && !replace {
		return &fs.PathError{Op: "write", Path: path, Err: fs.ErrExist}
	}
	tmp, err := beside(path, func(name string) (string, error) { return name, os.Mkdir(name, 0o777) })
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.RemoveAll(tmp)
	if err := fill(tmp); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := syncFolder(tmp); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := publishFolder(ctx, tmp, path, replace); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

func publishFolder(ctx context.Context, tmp, path string, replace bool) error {
	if err := publish(ctx, tmp, path, New); !replace || !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := exchange(tmp, path); err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}

// Fill writes and syncs a file of a folder that nobody sees yet. The file must
// be new: a second one of the same name is an error of the caller.
func Fill(ctx context.Context, path string, write func(*os.File) error) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	return finish(f, nil, 0, write)
}

// syncFolder makes the names in a folder last. File systems that cannot say so
// do it by themselves.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

// until is a writer that fails once its context has ended.
type until struct {
	ctx context.Context
	w   io.Writer
}

func (u *until) Write(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.w.Write(p)
}

// exchangeByTurns puts a in the place of b where the file system cannot exchange
// them in one step, as on NFS and Lustre. Between the two renames the name b is
// free.
func exchangeByTurns(a, b string) error {
	old := a + ".old"
	if err := os.Rename(b, old); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(old, b))
	}
	return os.Rename(old, a)
}

// renameNewPlain is for file systems that know no exclusive rename. A link does
// not replace anything; folders cannot be linked, but a rename refuses one that
// is not empty.
func renameNewPlain(tmp, path string) error {
	if info, err := os.Lstat(tmp); err != nil {
		return err
	} else if !info.IsDir() && os.Link(tmp, path) == nil {
		return os.Remove(tmp)
	}
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "rename", Path: path, Err: fs.ErrExist}
	}
	return os.Rename(tmp, path)
}

// unsupported reports the answers of a file system that does not know a flag of
// rename.
func unsupported(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.ENOTSUP)
}

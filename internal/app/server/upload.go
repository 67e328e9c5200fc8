package server

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/scratch"
)

// uploads is the folder for files dropped onto the page. It is made when it is
// first needed and only its owner can read it.
type uploads struct {
	mu     sync.Mutex
	folder string
	claims []*budget.Claim // of what lies in memory: temporary folders often do
}

// claim returns what an upload draws on: nil where files lie on a disk.
func (u *uploads) claim(ctx context.Context, dir string) (*budget.Claim, error) {
	c, err := budget.TakeFor(ctx, dir, "the dropped file, which is kept in memory here, needs")
	if c == nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.claims = append(u.claims, c)
	return c, err
}

// dir makes a fresh folder for one upload.
func (u *uploads) dir() (string, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.folder == "" {
		folder, err := scratch.Folder("", "uploads")
		if err != nil {
			return "", err
		}
		u.folder = folder
	}
	return os.MkdirTemp(u.folder, "drop-")
}

func (u *uploads) remove() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, c := range u.claims {
		c.Release()
	}
	if u.folder == "" {
		return nil
	}
	return os.RemoveAll(u.folder)
}

// upload takes a dropped file, or a folder as a tar archive, and imports it.
func (s *Server) upload(w http.ResponseWriter, r *http.Request) error {
	name := filepath.Base(filepath.Clean("/" + strings.ReplaceAll(r.URL.Query().Get("name"), `\`, "/")))
	if name == "/" || name == "." || len(name) > 255 || strings.ContainsRune(name, 0) {
		return frame.BadRequest("the upload has no name")
	}
	if r.ContentLength > s.opt.UploadLimit {
		return tooLarge(r.ContentLength, s.opt.UploadLimit)
	}
	dir, err := s.uploads.dir()
	if err != nil {
		return err
	}
	claim, err := s.uploads.claim(r.Context(), dir)
	if err != nil {
		return err
	}
	body := frame.Patient(w, http.MaxBytesReader(w, r.Body, s.opt.UploadLimit))
	if r.Header.Get("Content-Type") == frame.TypeTar {
		err = unpack(body, claim, dir, name, s.opt.UploadLimit)
	} else {
		err = save(claim.Reader(body), dir, name)
	}
	if err != nil {
		os.RemoveAll(dir)
		claim.Release()
		if errors.As(err, new(*http.MaxBytesError)) || errors.Is(err, errUnpacked) {
			return tooLarge(r.ContentLength, s.opt.UploadLimit)
		}
		return err
	}
	return s.frame.AnswerStatus(w, r, http.StatusAccepted, s.begin(name, filepath.Join(dir, name), nil))
}

func tooLarge(size, limit int64) error {
	text := "the file is too large to drop"
	if size > 0 {
		text = fmt.Sprintf("the file is too large to drop: %d MiB", size>>20)
	}
	return frame.Refused(http.StatusRequestEntityTooLarge, frame.Failure{
		Error: fmt.Sprintf("%s; the limit is %d MiB", text, limit>>20),
		Hint:  "open it by its path on the machine where isobath runs: isobath open FILE"})
}

func save(body io.Reader, dir, name string) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, body)
	return errors.Join(err, f.Close())
}

// maxEntries bounds the files of an uploaded folder: a message trace has one or
// two for each rank.
const maxEntries = 100_000

// errUnpacked is returned for an archive that holds more than it may: a sparse
// file takes a few bytes in it, and any number unpacked.
var errUnpacked = errors.New("the archive holds more than an upload may")

// unpack writes the plain files of an archive below dir/name, no more than limit
// bytes. Links and other kinds are left out; names that lead elsewhere are refused
// by the system.
func unpack(body io.Reader, claim *budget.Claim, dir, name string, limit int64) error {
	if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer root.Close()
	in := tar.NewReader(body)
	for range maxEntries {
		h, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return archiveError(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		n, err := unpackFile(root, h.Name, claim.Reader(io.LimitReader(in, limit+1)))
		if err != nil {
			return archiveError(err)
		}
		if limit -= n; limit < 0 {
			return errUnpacked
		}
	}
	return frame.BadRequest("the folder has more than %d files", maxEntries)
}

func archiveError(err error) error {
	if errors.As(err, new(*http.MaxBytesError)) || errors.As(err, new(*budget.Exceeded)) {
		return err
	}
	return frame.BadRequest("the dropped folder could not be unpacked: %v", err)
}

func unpackFile(root *os.Root, name string, in io.Reader) (int64, error) {
	name = filepath.FromSlash(name)
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return 0, err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(f, in)
	return n, errors.Join(err, f.Close())
}

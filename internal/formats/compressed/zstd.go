package compressed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// The library allocates the window that a frame names before it reads the frame.
// zstd itself refuses windows of more than 128 MB unless it is told to, and makes
// larger ones than 8 MB only with --ultra or --long.
const (
	smallWindow = 8 << 20   // that every decoder is to have room for, see RFC 8878
	freeWindow  = 32 << 20  // however small the file is
	mostWindow  = 256 << 20 // however large it is
)

// frames unpacks ZSTD from a file of that size, or of any for a negative one.
func frames(r io.Reader, size int64) (io.Reader, error) {
	most := int64(mostWindow)
	if size >= 0 {
		most = min(max(freeWindow, 4*size), mostWindow)
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(most)))
	return &framed{z, most}, err
}

type framed struct {
	z    *zstd.Decoder
	most int64
}

func (f *framed) Read(p []byte) (int, error) {
	n, err := f.z.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = fmt.Errorf("its ZSTD window is larger than the %d MB that a file of its size may ask for; unpack it first with zstd -d --long=31", f.most>>20)
	}
	return n, err
}

// sizeOf is the size of what a reader reads from, -1 if nobody knows.
func sizeOf(r io.Reader) int64 {
	f, ok := r.(*os.File)
	if !ok {
		return -1
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}

// narrow returns the start of a file of ZSTD with the least window there is room
// for everywhere: who wants the first kilobytes needs no more.
func narrow(head []byte) []byte {
	var h zstd.Header
	if h.Decode(head) != nil || h.Skippable || h.WindowSize <= smallWindow || h.DictionaryID != 0 {
		return head
	}
	flags := byte(0)
	if h.HasCheckSum {
		flags = 4
	}
	const window = (23 - 10) << 3 // of 2^23 bytes
	out := append(binary.LittleEndian.AppendUint32(nil, 0xfd2fb528), flags, window)
	return append(out, head[h.HeaderSize:]...)
}

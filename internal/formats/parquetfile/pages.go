package parquetfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// The library allocates by what the header of a page says, and unpacks a page
// until it ends, however large that is; of LZ4 it takes every error for a lack of
// room and doubles it without end. So the headers are walked first, and pages
// whose packing may hold any amount are unpacked once into nothing.

// Bounds of what pages may say they hold.
const (
	unpackFreely = 16 << 20
	mostPacked   = 1 << 10
	// A page that was packed as a stream has the window of its encoder, however
	// small it is; RFC 8878 tells encoders not to ask for more than this.
	mostWindow = 8 << 20
)

// checkPages refuses a file whose pages say that they hold more than they can.
func checkPages(r io.ReaderAt, size int64, file *parquet.File) error {
	w := &walk{r: r, size: size}
	for _, group := range file.Metadata().RowGroups {
		for _, column := range group.Columns {
			m := &column.MetaData
			base := m.DataPageOffset
			if m.DictionaryPageOffset != 0 {
				base = m.DictionaryPageOffset
			}
			if base < 0 || m.DataPageOffset < base || m.TotalCompressedSize < 0 || base > size || m.TotalCompressedSize > size-base {
				return fmt.Errorf("pages of %d bytes at byte %d of a file of %d", m.TotalCompressedSize, base, size)
			}
			end := base + m.TotalCompressedSize
			for _, from := range []int64{base, m.DataPageOffset} { // where the library begins
				if err := w.pages(m.Codec, from, end); err != nil {
					return err
				}
				if base == m.DataPageOffset {
					break
				}
			}
		}
	}
	return nil
}

type walk struct {
	r        io.ReaderAt
	size     int64
	unpacked int64
}

// pages walks the headers from one place of the file to another.
func (w *walk) pages(codec format.CompressionCodec, from, end int64) error {
	for from < end {
		if err := checkHeader(w.r, from, end); err != nil {
			return fmt.Errorf("header of a page at byte %d: %w", from, err)
		}
		counted := &counting{r: bufio.NewReaderSize(io.NewSectionReader(w.r, from, end-from), 1<<10)}
		var header format.PageHeader
		compact := thrift.CompactProtocol{}
		if err := thrift.NewDecoder(compact.NewReader(counted)).Decode(&header); err != nil {
			if errors.Is(err, io.EOF) {
				return nil // padding after the last page
			}
			return fmt.Errorf("header of a page at byte %d: %w", from, err)
		}
		from += counted.n
		packed, holds := int64(header.CompressedPageSize), int64(header.UncompressedPageSize)
		if packed < 0 || holds < 0 || packed > end-from {
			return fmt.Errorf("a page of %d bytes at byte %d that says it holds %d", packed, from, holds)
		}
		if w.unpacked += holds; w.unpacked > unpackFreely && w.unpacked > mostPacked*w.size {
			return fmt.Errorf("pages that say they hold %d bytes in a file of %d", w.unpacked, w.size)
		}
		if err := w.unpacks(codec, &header, from, packed, holds); err != nil {
			return fmt.Errorf("a page at byte %d: %w", from, err)
		}
		from += packed
	}
	return nil
}

// unpacks reports whether a page holds no more than it says.
func (w *walk) unpacks(codec format.CompressionCodec, header *format.PageHeader, at, packed, holds int64) error {
	if v2 := header.DataPageHeaderV2; v2.Valid { // its levels come first and are not packed
		levels := int64(v2.V.DefinitionLevelsByteLength) + int64(v2.V.RepetitionLevelsByteLength)
		if levels < 0 || levels > packed || levels > holds {
			return fmt.Errorf("levels of %d bytes in a page of %d", levels, packed)
		}
		at, packed, holds = at+levels, packed-levels, holds-levels
		if v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V {
			return nil
		}
	}
	body := io.NewSectionReader(w.r, at, packed)
	switch codec {
	case format.Gzip:
		r, err := gzip.NewReader(body)
		if err != nil {
			return err
		}
		return most(r, holds)
	case format.Brotli:
		return most(brotli.NewReader(body), holds)
	case format.Zstd:
		r, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(holds, mostWindow))))
		if err != nil {
			return err
		}
		defer r.Close()
		return most(r, holds)
	case format.Snappy:
		return w.whole(body, packed, func(b []byte) error {
			n, err := snappy.DecodedLen(b)
			if err == nil && int64(n) > holds {
				err = fmt.Errorf("it holds %d bytes and says %d", n, holds)
			}
			return err
		})
	case format.Lz4Raw:
		return w.whole(body, packed, func(b []byte) error {
			_, err := lz4.UncompressBlock(b, make([]byte, holds))
			return err
		})
	}
	return nil
}

func (w *walk) whole(body io.Reader, packed int64, check func([]byte) error) error {
	b := make([]byte, packed)
	if _, err := io.ReadFull(body, b); err != nil {
		return err
	}
	return check(b)
}

// most refuses a stream of more than n bytes.
func most(r io.Reader, n int64) error {
	got, err := io.Copy(io.Discard, io.LimitReader(r, n+1))
	if err == nil && got > n {
		err = fmt.Errorf("it holds more than the %d bytes it says", n)
	}
	return err
}

// counting counts what is read of a header.
type counting struct {
	r *bufio.Reader
	n int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *counting) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

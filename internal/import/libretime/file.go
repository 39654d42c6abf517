package libretime

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"

	"github.com/athir-radio/athir/internal/kit/bounded"
)

const (
	mostDump   = 16 << 30  // bytes, decompressed
	mostWindow = 128 << 20 // bytes that a zstd stream may look back
)

// readFile reads a dump by what is in the file, not by its name.
func readFile(ctx context.Context, file string) (*database, error) {
	f, err := os.Open(file) //nolint:gosec // the operator names it
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no file: choose the dump itself, and name a folder with --media")
	}
	r := bufio.NewReaderSize(f, 1<<20)
	head, _ := r.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return readZip(ctx, f, info.Size())
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("the gzip file cannot be read: is it whole? %w", err)
		}
		return readText(ctx, z)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, fmt.Errorf("the zstd file cannot be read: is it whole? %w", err)
		}
		defer z.Close()
		return readText(ctx, z)
	}
	return readText(ctx, r)
}

// readText reads a dump. PowerShell writes what a program prints as UTF-16.
func readText(ctx context.Context, from io.Reader) (*database, error) {
	r := bufio.NewReader(bounded.Reader(ctx, from, mostDump, "it has more than 16 GiB when it is unpacked: is it the dump?"))
	head, _ := r.Peek(3)
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		return readDump(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(r))
	case bytes.HasPrefix(head, []byte("\ufeff")):
		_, _ = r.Discard(len(head))
	}
	return readDump(r)
}

func readZip(ctx context.Context, f *os.File, size int64) (*database, error) {
	z, err := bounded.Zip(f, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("the zip file cannot be read: is it whole? %w", err)
	}
	var dump *zip.File
	for _, e := range z.File {
		if strings.HasSuffix(strings.ToLower(e.Name), ".sql") && (dump == nil || e.UncompressedSize64 > dump.UncompressedSize64) {
			dump = e
		}
	}
	if dump == nil {
		return nil, errors.New("there is no .sql file in it: choose the file that pg_dump makes")
	}
	r, err := dump.Open()
	if err != nil {
		return nil, fmt.Errorf("%q in the zip file: %w", dump.Name, err)
	}
	defer r.Close() //nolint:errcheck // only read
	return readText(ctx, r)
}

package sound

import (
	"encoding/binary"
	"io"
	"os"
	"strconv"
)

// soundEnd is where the sound of an MP3 ends: before the tags that older programs put behind it.
func soundEnd(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close() //nolint:errcheck // only read
	stat, err := f.Stat()
	if err != nil {
		return 0, err
	}
	end := stat.Size()
	for {
		before := trailer(f, end)
		if before <= 0 || before >= end {
			return end, nil
		}
		end = before
	}
}

const (
	id3v1Bytes = 128
	// Of APEv2: the footer, and a header that is as long.
	apeBytes = 32
	// Of Lyrics3 v2: its size in six digits, and its end.
	lyricsBytes, lyricsEnd = 15, "LYRICS200"
)

// trailer is where one tag begins that ends there; end itself: none does.
func trailer(r io.ReaderAt, end int64) int64 {
	var b [id3v1Bytes]byte
	last := func(n int64) []byte {
		if end < n {
			return nil
		}
		if _, err := r.ReadAt(b[:n], end-n); err != nil {
			return nil
		}
		return b[:n]
	}
	if t := last(id3v1Bytes); t != nil && string(t[:3]) == "TAG" {
		return end - id3v1Bytes
	}
	if t := last(apeBytes); t != nil && string(t[:8]) == "APETAGEX" {
		size := int64(binary.LittleEndian.Uint32(t[12:]))
		if t[23]&0x80 != 0 {
			size += apeBytes
		}
		return end - size
	}
	if t := last(lyricsBytes); t != nil && string(t[6:]) == lyricsEnd {
		if size, err := strconv.ParseInt(string(t[:6]), 10, 64); err == nil && size > 0 {
			return end - size - lyricsBytes
		}
	}
	return end
}

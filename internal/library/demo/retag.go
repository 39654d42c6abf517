package demo

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// retag copies the audio as it is and puts our tags in place of the file's own. What
// Debian has is Ogg Vorbis with few exceptions, and is copied here: a start waits for
// these files, and a program for each would take longer than all of the copying.
func retag(ctx context.Context, to, from string, tags [][2]string) error {
	if filepath.Ext(from) == ".ogg" {
		file, err := os.ReadFile(from) //nolint:gosec // named in the catalogue
		if err != nil {
			return err
		}
		if file, err = retagVorbis(file, tags); err == nil {
			return os.WriteFile(to, file, 0o644) //nolint:gosec // the library is for other programs to read, too
		}
	}
	format := strings.TrimPrefix(filepath.Ext(from), ".")
	args := []string{"-nostdin", "-v", "error", "-y", "-i", "file:" + from, "-map", "0:a:0", "-c", "copy", "-map_metadata", "-1"}
	for _, tag := range tags {
		// MP3 takes the file's metadata, Ogg the stream's.
		args = append(args, "-metadata", tag[0]+"="+tag[1], "-metadata:s:a:0", tag[0]+"="+tag[1])
	}
	_, err := proc.Output(ctx, proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Nice: 10, Args: append(args, "-id3v2_version", "3", "-f", format, to),
	}, 1<<10)
	return err
}

// errNotPlain says that a file is not one Vorbis stream from its first byte to its last.
var errNotPlain = errors.New("not one plain Ogg Vorbis stream")

// Ogg pages: RFC 3533, section 6.
const (
	oggFixed    = 27 // bytes before the lacing table
	oggMost     = 255
	oggGoesOn   = 1 // begins inside a packet
	oggBegins   = 2 // begins a stream
	oggNoPacket = -1
)

// oggPage is one whole page.
type oggPage []byte

func (p oggPage) lacing() []byte { return p[oggFixed : oggFixed+int(p[26])] }
func (p oggPage) body() []byte   { return p[oggFixed+int(p[26]):] }
func (p oggPage) serial() uint32 { return binary.LittleEndian.Uint32(p[14:]) }

// number gives the page its place in the stream, and its checksum.
func (p oggPage) number(n uint32) {
	binary.LittleEndian.PutUint32(p[18:], n)
	binary.LittleEndian.PutUint32(p[22:], 0)
	binary.LittleEndian.PutUint32(p[22:], oggChecksum(p))
}

// oggChecksums are the remainders of each byte: polynomial 0x04c11db7, not reflected.
var oggChecksums = func() (table [256]uint32) {
	for i := range table {
		table[i] = uint32(i) << 24 //nolint:gosec // at most 255
		for range 8 {
			table[i] = table[i]<<1 ^ table[i]>>31*0x04c11db7
		}
	}
	return table
}()

func oggChecksum(page []byte) (crc uint32) {
	for _, b := range page {
		crc = crc<<8 ^ oggChecksums[byte(crc>>24)^b]
	}
	return crc
}

// firstOggPage takes the page at the start of a file.
func firstOggPage(file []byte) (oggPage, error) {
	if len(file) < oggFixed || string(file[:5]) != "OggS\x00" || len(file) < oggFixed+int(file[26]) {
		return nil, errNotPlain
	}
	size := oggFixed + int(file[26])
	for _, n := range file[oggFixed:size] {
		size += int(n)
	}
	if size > len(file) {
		return nil, errNotPlain
	}
	return file[:size], nil
}

// retagVorbis replaces the comments of an Ogg Vorbis file; the audio's packets stay as
// they are. The three headers come first, the comments second, and the audio begins on
// a page of its own (Vorbis I, section A.2).
func retagVorbis(file []byte, tags [][2]string) ([]byte, error) {
	var pages []oggPage
	for rest := file; len(rest) > 0; {
		p, err := firstOggPage(rest)
		if err != nil {
			return nil, err
		}
		if len(pages) > 0 && (p[5]&oggBegins != 0 || p.serial() != pages[0].serial()) {
			return nil, errNotPlain
		}
		pages, rest = append(pages, p), rest[len(p):]
	}
	if len(pages) == 0 || !bytes.HasPrefix(pages[0].body(), []byte("\x01vorbis")) || len(pages[0].lacing()) != 1 {
		return nil, errNotPlain
	}
	headers := [][]byte{nil}
	at := 1
	for ; at < len(pages) && len(headers) < 3; at++ {
		body := pages[at].body()
		for _, n := range pages[at].lacing() {
			i := len(headers) - 1
			headers[i] = append(headers[i], body[:n]...)
			if body = body[n:]; n < 255 {
				headers = append(headers, nil)
			}
		}
	}
	// Some encoders put an empty packet behind the headers. It stays there; what would
	// run on into the next page does not.
	last := len(headers) - 1
	if last < 2 || len(headers[last]) > 0 {
		return nil, errNotPlain
	}
	comments, err := vorbisComments(headers[0], tags)
	if err != nil || !bytes.HasPrefix(headers[1], []byte("\x05vorbis")) {
		return nil, errNotPlain
	}
	out := make([]byte, 0, len(file)+len(comments))
	out = append(out, pages[0]...)
	ours := oggPages(pages[0].serial(), append([][]byte{comments}, headers[1:last]...)...)
	for i, p := range append(ours, pages[at:]...) {
		n := len(out)
		out = append(out, p...)
		if i < len(ours) || len(ours) != at-1 {
			oggPage(out[n:]).number(uint32(i) + 1) //nolint:gosec // far fewer
		}
	}
	return out, nil
}

// vorbisComments is a comment header of the same encoder with our tags (Vorbis I, section 5).
func vorbisComments(old []byte, tags [][2]string) ([]byte, error) {
	const magic = "\x03vorbis"
	if len(old) < len(magic)+4 || !bytes.HasPrefix(old, []byte(magic)) {
		return nil, errNotPlain
	}
	vendor := int64(binary.LittleEndian.Uint32(old[len(magic):]))
	end := int64(len(magic)+4) + vendor
	if end > int64(len(old)) {
		return nil, errNotPlain
	}
	out := bytes.Clone(old[:end])
	out = binary.LittleEndian.AppendUint32(out, uint32(len(tags))) //nolint:gosec // a handful
	for _, tag := range tags {
		text := strings.ToUpper(tag[0]) + "=" + tag[1]
		out = binary.LittleEndian.AppendUint32(out, uint32(len(text))) //nolint:gosec // a line
		out = append(out, text...)
	}
	return append(out, 1), nil // the framing bit
}

// oggPages lays header packets into pages, with no number yet.
func oggPages(serial uint32, packets ...[]byte) (out []oggPage) {
	var lacing, body []byte
	var ends []bool // whether a packet ends with this piece of lacing
	for _, p := range packets {
		for n := len(p); n >= 255; n -= 255 {
			lacing, ends = append(lacing, 255), append(ends, false)
		}
		lacing, ends = append(lacing, byte(len(p)%255)), append(ends, true) //nolint:gosec // below 255
		body = append(body, p...)
	}
	inside := false
	for len(lacing) > 0 {
		n := min(len(lacing), oggMost)
		size, granule := 0, int64(oggNoPacket)
		for i, l := range lacing[:n] {
			size += int(l)
			if ends[i] {
				granule = 0
			}
		}
		p := append(oggPage("OggS\x00"), make([]byte, oggFixed-5)...)
		if inside {
			p[5] = oggGoesOn
		}
		binary.LittleEndian.PutUint64(p[6:], uint64(granule)) //nolint:gosec // -1 is the format's own
		binary.LittleEndian.PutUint32(p[14:], serial)
		p[26] = byte(n) //nolint:gosec // at most 255
		inside = !ends[n-1]
		p = append(append(p, lacing[:n]...), body[:size]...)
		out, lacing, body, ends = append(out, p), lacing[n:], body[size:], ends[n:]
	}
	return out
}

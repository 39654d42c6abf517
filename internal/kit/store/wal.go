package store

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
)

// The format of a log (https://sqlite.org/fileformat2.html#walformat).
const (
	logHeader, frameHeader = 32, 24
	logMagic               = 0x377f0682 // the lowest bit: sums over big-endian words
)

// logEnd is the end of the last commit in a log: how many frames are before it, and what
// the sums have come to. The zero value is that of a log that is empty.
type logEnd struct {
	salt   [2]uint32 // the log's own: the first counts up when the log begins anew
	frames int64
	sum    [2]uint32
}

// errLogAnew means that a log is another one than was read before.
var errLogAnew = errors.New("the log of the database was begun anew")

// commits are what the commits after a logEnd made of the database.
type commits struct {
	end      logEnd
	round    uint32 // how often the log was begun anew; 0 for a database's first
	pageSize uint32
	pages    uint32 // of the database after the last
	changed  map[uint32][]byte
}

// readLog reads what was committed to a log after from; nothing of a commit that is not
// whole. With keep false the pages themselves are left out.
func readLog(path string, from logEnd, keep bool) (out commits, err error) {
	out.end = from
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && from == (logEnd{}) {
		return out, nil
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errLogAnew
		}
		return out, err
	}
	defer f.Close() //nolint:errcheck // only read
	var h [logHeader]byte
	if n, err := f.ReadAt(h[:], 0); err != nil {
		if !errors.Is(err, io.EOF) {
			return out, err
		}
		if n < logHeader && from != (logEnd{}) {
			return out, errLogAnew
		}
		return out, nil
	}
	word := func(b []byte) uint32 { return binary.BigEndian.Uint32(b) }
	order := binary.ByteOrder(binary.LittleEndian)
	if word(h[:])&1 == 1 {
		order = binary.BigEndian
	}
	sum := addSum(order, [2]uint32{}, h[:24])
	if word(h[:])&^1 != logMagic || sum != [2]uint32{word(h[24:]), word(h[28:])} {
		return out, nil // it is being written
	}
	salt := [2]uint32{word(h[16:]), word(h[20:])}
	out.pageSize, out.round = word(h[8:]), word(h[12:])
	at := from
	if from == (logEnd{}) {
		at = logEnd{salt: salt, sum: sum}
		out.end = at
	} else if from.salt != salt {
		return out, errLogAnew
	}
	size := int64(frameHeader) + int64(out.pageSize)
	if at.frames > 0 {
		var last [frameHeader]byte
		if _, err := f.ReadAt(last[:], logHeader+(at.frames-1)*size); err != nil && !errors.Is(err, io.EOF) {
			return out, err
		}
		if at.sum != [2]uint32{word(last[16:]), word(last[20:])} {
			return out, errLogAnew
		}
	}
	open := map[uint32][]byte{}
	out.changed = map[uint32][]byte{}
	in := io.NewSectionReader(f, logHeader+at.frames*size, 1<<62)
	frame := make([]byte, size)
	for {
		if _, err := io.ReadFull(in, frame); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return out, nil
			}
			return out, err
		}
		if [2]uint32{word(frame[8:]), word(frame[12:])} != salt {
			return out, nil
		}
		sum := addSum(order, addSum(order, at.sum, frame[:8]), frame[frameHeader:])
		if sum != [2]uint32{word(frame[16:]), word(frame[20:])} {
			return out, nil
		}
		at.frames, at.sum = at.frames+1, sum
		var page []byte
		if keep {
			page = append(page, frame[frameHeader:]...)
		}
		open[word(frame)] = page
		if pages := word(frame[4:]); pages > 0 { // the last of a commit
			for n, page := range open {
				out.changed[n] = page
			}
			clear(open)
			out.end, out.pages = at, pages
		}
	}
}

func addSum(order binary.ByteOrder, sum [2]uint32, b []byte) [2]uint32 {
	x, y, little := sum[0], sum[1], order == binary.ByteOrder(binary.LittleEndian)
	for ; len(b) >= 8; b = b[8:] {
		v, w := uint64(0), binary.LittleEndian.Uint64(b)
		if little {
			v, w = w&0xffffffff, w>>32
		} else {
			w = binary.BigEndian.Uint64(b)
			v, w = w>>32, w&0xffffffff
		}
		x += uint32(v) + y //nolint:gosec // half of a word
		y += uint32(w) + x //nolint:gosec // as above
	}
	return [2]uint32{x, y}
}

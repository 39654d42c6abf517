package audiofile

import (
	"encoding/binary"
	"fmt"
	"time"
)

// box is one box of an ISO base media file (ISO 14496-12).
type box struct {
	kind     string
	off, end int64 // of its content
}

// boxes calls visit for each box between off and end until it returns false. A box
// that claims to reach beyond end is cut there, and cut is set.
func (s *source) boxes(off, end int64, visit func(b box, cut bool) (bool, error)) error {
	for range 100_000 {
		if off+8 > end {
			return nil
		}
		b, err := s.bytes(off, 8)
		if err != nil {
			return err
		}
		size, head := int64(binary.BigEndian.Uint32(b)), int64(8)
		kind := string(b[4:8])
		switch size {
		case 0: // to the end of the file
			size = end - off
		case 1:
			if b, err = s.bytes(off+8, 8); err != nil {
				return err
			}
			size, head = int64(binary.BigEndian.Uint64(b)), 16
		}
		if size < head {
			return odd("damaged: box %q has size %d", kind, size)
		}
		cut := size > end-off
		next := off + min(size, end-off)
		more, err := visit(box{kind, off + head, next}, cut)
		if err != nil || !more {
			return err
		}
		off = next
	}
	return odd("too many boxes")
}

// find returns the first box under parent along a path of kinds.
func (s *source) find(parent box, path ...string) (box, bool, error) {
	for _, kind := range path {
		var got box
		err := s.boxes(parent.off, parent.end, func(b box, cut bool) (bool, error) {
			if b.kind == kind && !cut {
				got = b
			}
			return got.kind == "", nil
		})
		if err != nil || got.kind == "" {
			return box{}, false, err
		}
		parent = got
	}
	return parent, true, nil
}

// content returns up to n bytes of a box.
func (s *source) content(b box, n int64) ([]byte, error) {
	return s.bytes(b.off, int(min(n, b.end-b.off)))
}

func (s *source) mp4(t *tags) (Info, error) {
	var moov, mdat box
	truncated, stray, fragments := false, false, false
	err := s.boxes(0, s.size, func(b box, cut bool) (bool, error) {
		switch {
		case b.kind == "moov" && !cut:
			moov = b
		case b.kind == "mdat":
			mdat = b
		case b.kind == "moof":
			fragments = true
		}
		truncated = truncated || cut && b.kind == "mdat"
		stray = stray || cut && b.kind != "mdat"
		return true, nil
	})
	switch {
	case err != nil:
		return Info{}, err
	case moov.kind == "":
		return Info{}, broken("truncated or unfinished: the index (moov) is missing")
	case fragments:
		return Info{}, odd("a fragmented MP4")
	}
	if err := s.mp4Tags(moov, t); err != nil {
		return Info{}, err
	}
	info, err := s.mp4Audio(moov)
	if err == nil && truncated {
		return info, broken("truncated: the file ends inside its audio data")
	}
	if err == nil && stray {
		return info, odd("something that is no box follows its last box") // its sound is there
	}
	if err == nil {
		err = s.notEmpty(max(mdat.off, mdat.end-64), mdat.end)
	}
	return info, err
}

// mp4Audio reads the first sound track.
func (s *source) mp4Audio(moov box) (Info, error) {
	var info Info
	seen := false
	err := s.boxes(moov.off, moov.end, func(trak box, cut bool) (bool, error) {
		if trak.kind != "trak" || cut {
			return true, nil
		}
		hdlr, ok, err := s.find(trak, "mdia", "hdlr")
		if err != nil || !ok {
			return true, err
		}
		if b, err := s.content(hdlr, 12); err != nil || len(b) < 12 || string(b[8:12]) != "soun" {
			return true, err
		}
		seen = true
		info, err = s.mp4Track(moov, trak)
		return false, err
	})
	if err == nil && !seen {
		err = broken("there is no audio in it")
	}
	return info, err
}

func (s *source) mp4Track(moov, trak box) (Info, error) {
	var info Info
	stsd, ok, err := s.find(trak, "mdia", "minf", "stbl", "stsd")
	if err != nil || !ok {
		return info, or(err, odd("a sound track without description"))
	}
	b, err := s.content(stsd, 44)
	if err != nil || len(b) < 44 {
		return info, or(err, odd("a sound track without description"))
	}
	info.Format = mp4Codec(string(b[12:16]))
	info.Channels = int(binary.BigEndian.Uint16(b[32:]))
	info.SampleRate = int(binary.BigEndian.Uint16(b[40:]))
	mdhd, ok, err := s.find(trak, "mdia", "mdhd")
	if err != nil || !ok {
		return info, or(err, odd("a sound track without length"))
	}
	if info.Duration, _, err = s.mp4Length(mdhd); err != nil {
		return info, err
	}
	// The edit list leaves out the encoder's run-in and padding.
	if edited, err := s.mp4Edits(moov, trak); err != nil {
		return info, err
	} else if edited > 0 {
		info.Duration = edited
	}
	if info.Format == "" {
		return info, odd("an unknown codec in MP4")
	}
	return info, s.mp4DataThere(trak)
}

func mp4Codec(kind string) string {
	return map[string]string{"mp4a": "aac", "alac": "alac", "Opus": "opus", "fLaC": "flac"}[kind]
}

// mp4Length reads an mdhd or mvhd box: the length and the clock's rate.
func (s *source) mp4Length(b box) (time.Duration, int, error) {
	c, err := s.content(b, 32)
	if err != nil || len(c) < 20 {
		return 0, 0, or(err, odd("damaged: a time header is too short"))
	}
	if c[0] == 1 {
		if len(c) < 32 {
			return 0, 0, odd("damaged: a time header is too short")
		}
		rate := int(binary.BigEndian.Uint32(c[20:]))
		return perSecond(binary.BigEndian.Uint64(c[24:]), rate), rate, nil
	}
	rate := int(binary.BigEndian.Uint32(c[12:]))
	return perSecond(uint64(binary.BigEndian.Uint32(c[16:])), rate), rate, nil
}

// mp4Edits is the sum of the edits that play something, in the movie's clock.
func (s *source) mp4Edits(moov, trak box) (time.Duration, error) {
	elst, ok, err := s.find(trak, "edts", "elst")
	if err != nil || !ok {
		return 0, err
	}
	mvhd, ok, err := s.find(moov, "mvhd")
	if err != nil || !ok {
		return 0, err
	}
	_, rate, err := s.mp4Length(mvhd)
	if err != nil {
		return 0, err
	}
	c, err := s.content(elst, 64<<10)
	if err != nil || len(c) < 8 {
		return 0, err
	}
	version, count, c := c[0], binary.BigEndian.Uint32(c[4:]), c[8:]
	var sum uint64
	for ; count > 0; count-- {
		switch {
		case version == 1 && len(c) >= 20:
			if int64(binary.BigEndian.Uint64(c[8:])) >= 0 {
				sum += binary.BigEndian.Uint64(c)
			}
			c = c[20:]
		case version == 0 && len(c) >= 12:
			if int32(binary.BigEndian.Uint32(c[4:])) >= 0 {
				sum += uint64(binary.BigEndian.Uint32(c))
			}
			c = c[12:]
		default: // a list that is cut short
			return perSecond(sum, rate), nil
		}
	}
	return perSecond(sum, rate), nil
}

// mp4DataThere checks the last chunk of audio: an unfinished download may have its
// index but nothing, or zeros, in that place.
func (s *source) mp4DataThere(trak box) error {
	last, err := s.mp4LastChunk(trak)
	if err != nil {
		return err
	}
	if last == 0 {
		return odd("the index names no audio")
	}
	if last >= s.size {
		return broken("truncated: the file ends before its last piece of audio")
	}
	return s.notEmpty(last, min(s.size, last+32))
}

// notEmpty refuses zeros, which a download leaves in reserved space.
func (s *source) notEmpty(from, to int64) error {
	b, err := s.bytes(from, int(to-from))
	if err != nil {
		return err
	}
	for _, c := range b {
		if c != 0 {
			return nil
		}
	}
	return odd("the last piece of audio is empty")
}

func (s *source) mp4LastChunk(trak box) (int64, error) {
	for _, index := range []struct {
		kind string
		size int64
	}{{"stco", 4}, {"co64", 8}} {
		size := index.size
		table, ok, err := s.find(trak, "mdia", "minf", "stbl", index.kind)
		if err != nil {
			return 0, err
		}
		if !ok || table.end-table.off < 8+size {
			continue
		}
		b, err := s.content(table, 8)
		if err != nil {
			return 0, err
		}
		at := table.off + 8 + (int64(binary.BigEndian.Uint32(b[4:]))-1)*size
		if b, err = s.bytes(at, int(size)); err != nil || at+size > table.end {
			return 0, odd("damaged: the index of audio pieces is cut")
		}
		if size == 8 {
			return int64(binary.BigEndian.Uint64(b)), nil
		}
		return int64(binary.BigEndian.Uint32(b)), nil
	}
	return 0, nil
}

// mp4Tags reads iTunes' list, moov.udta.meta.ilst.
func (s *source) mp4Tags(moov box, t *tags) error {
	meta, ok, err := s.find(moov, "udta", "meta")
	if err != nil || !ok {
		return err
	}
	// QuickTime writes meta without the version that MP4 gives it.
	if b, err := s.content(meta, 8); err == nil && len(b) == 8 && string(b[4:]) != "hdlr" {
		meta.off += 4
	}
	ilst, ok, err := s.find(meta, "ilst")
	if err != nil || !ok {
		return err
	}
	return s.boxes(ilst.off, ilst.end, func(item box, cut bool) (bool, error) {
		field := mp4Field(item.kind)
		if cut || field == "" || item.end-item.off > maxFrame {
			return true, nil
		}
		if item.kind == "----" {
			name, ok, err := s.find(item, "name")
			if err != nil || !ok {
				return true, err
			}
			b, err := s.content(name, 256)
			if err != nil || len(b) <= 4 {
				return true, err
			}
			field = string(b[4:])
		}
		return true, s.mp4Item(item, field, t)
	})
}

func (s *source) mp4Item(item box, field string, t *tags) error {
	data, ok, err := s.find(item, "data")
	if err != nil || !ok {
		return err
	}
	b, err := s.content(data, maxFrame)
	if err != nil || len(b) <= 8 {
		return err
	}
	if item.kind == "gnre" && len(b) >= 10 { // ID3v1's number plus one
		t.set(field, fmt.Sprint(int(binary.BigEndian.Uint16(b[8:]))-1))
		return nil
	}
	t.set(field, Text(b[8:]))
	return nil
}

func mp4Field(kind string) string {
	switch kind {
	case "\xa9nam":
		return "TITLE"
	case "\xa9ART":
		return "ARTIST"
	case "aART":
		return "ALBUMARTIST"
	case "\xa9alb":
		return "ALBUM"
	case "\xa9gen", "gnre":
		return "GENRE"
	case "cprt":
		return "COPYRIGHT"
	case "\xa9wrt":
		return "COMPOSER"
	case "\xa9pub":
		return "PUBLISHER"
	case "\xa9cmt":
		return "COMMENT"
	case "----":
		return "----"
	}
	return ""
}

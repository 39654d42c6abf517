package relay

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Media playlists as the relay writes them and an edge reads them. The library's have room for
// one EXT-X-MAP, and a list of two runs needs two.

const (
	listVersion = 6 // EXT-X-MAP in a list of whole segments (RFC 8216, 7)
	listDate    = "2006-01-02T15:04:05.000Z"

	tagTarget        = "#EXT-X-TARGETDURATION:"
	tagSequence      = "#EXT-X-MEDIA-SEQUENCE:"
	tagEra           = "#EXT-X-DISCONTINUITY-SEQUENCE:"
	tagDiscontinuity = "#EXT-X-DISCONTINUITY"
	tagMap           = "#EXT-X-MAP:URI="
	tagDate          = "#EXT-X-PROGRAM-DATE-TIME:"
	tagLength        = "#EXTINF:"
)

// writeList writes the media playlist of segments, which are at least one. Each URI ends in mark.
func writeList(list []*segment, target int, name func(*segment) string) []byte {
	head := list[0]
	era := head.era
	if head.discontinuity {
		era-- // the tag itself is still in the list and counts from there
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "#EXTM3U\n#EXT-X-VERSION:%d\n#EXT-X-INDEPENDENT-SEGMENTS\n%s%d\n%s%d\n%s%d\n", listVersion, tagTarget, target, tagSequence, head.sequence, tagEra, era)
	for i, s := range list {
		if s.discontinuity {
			out.WriteString(tagDiscontinuity + "\n")
		}
		if i == 0 || s.sound != list[i-1].sound {
			out.WriteString(tagMap + `"` + s.sound.head() + mark + "\"\n")
		}
		fmt.Fprintf(&out, "%s%s\n%s%.5f,\n%s%s\n", tagDate, s.at.UTC().Format(listDate), tagLength, s.duration.Seconds(), name(s), mark)
	}
	return out.Bytes()
}

// parseList reads a media playlist of a relay; its segments have no audio yet.
func parseList(text []byte, of renditions) (out []*segment, target time.Duration, err error) {
	read := listReader{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if err := read.line(lines.Text(), of); err != nil {
			return nil, 0, err
		}
	}
	if err := lines.Err(); err != nil {
		return nil, 0, err
	}
	if n := len(read.out); n == 0 || read.target < 1 || read.target > 20 {
		return nil, 0, fmt.Errorf("%d segments of %d s from number %d are none of a station's", n, read.target, read.sequence)
	}
	return read.out, time.Duration(read.target) * time.Second, nil
}

// listReader reads a playlist line by line.
type listReader struct {
	out                   []*segment
	target, sequence, era int
	next                  segment // what the tags before its URI say
}

var errNoNumber = errors.New("a number of a playlist is none")

func (l *listReader) line(text string, of renditions) (err error) {
	number := func(tag string, most int) int {
		n, wrong := strconv.Atoi(text[len(tag):])
		if wrong != nil || n < 0 || n > most {
			err = errNoNumber
		}
		return n
	}
	switch {
	case strings.HasPrefix(text, tagTarget):
		l.target = number(tagTarget, 20)
	case strings.HasPrefix(text, tagSequence):
		l.sequence = number(tagSequence, highest)
	case strings.HasPrefix(text, tagEra):
		l.era = number(tagEra, highest)
	case text == tagDiscontinuity:
		l.next.discontinuity = true
		l.era++
	case strings.HasPrefix(text, tagMap):
		name, wrong := strconv.Unquote(text[len(tagMap):])
		sound, ok := soundOfHead(name)
		if wrong != nil || !ok {
			return fmt.Errorf("the header %.60q is none of a station's", text)
		}
		l.next.sound = sound
	case strings.HasPrefix(text, tagDate):
		l.next.at, err = time.Parse(time.RFC3339, text[len(tagDate):])
	case strings.HasPrefix(text, tagLength):
		var seconds float64
		seconds, err = strconv.ParseFloat(strings.TrimSuffix(text[len(tagLength):], ","), 64)
		if !(seconds > 0 && seconds <= 60) { // no number is neither
			return errNoNumber
		}
		l.next.duration = time.Duration(seconds * float64(time.Second))
	case text != "" && text[0] != '#':
		return l.entry(text, of)
	}
	return err
}

func (l *listReader) entry(name string, of renditions) error {
	s := l.next
	s.sequence, s.era = l.sequence+len(l.out), l.era
	if name != of.segment(s.sequence, 0) || s.at.IsZero() || s.duration == 0 || s.sound == (sound{}) || len(l.out) == mostListed {
		return fmt.Errorf("entry %d, %.40q, is none of a station's", len(l.out), name)
	}
	l.out = append(l.out, &s)
	l.next = segment{cut: cut{sound: s.sound}}
	return nil
}

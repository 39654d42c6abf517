package relay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// renditions are the bitrates in kbit/s in which the same sound is served. The first is the main
// one; no two are alike.
type renditions []int

const (
	// mostRenditions bounds them.
	mostRenditions = 4
	// noRendition says that none was chosen.
	noRendition = -1

	segmentBegin, segmentEnd = "seg", ".m4s"
	mediaBegin, mediaEnd     = "main_", ".m3u8"
)

// check names what is wrong.
func (r renditions) check() error {
	if len(r) == 0 || len(r) > mostRenditions {
		return fmt.Errorf("%d renditions: at least one and at most %d", len(r), mostRenditions)
	}
	for i, kbps := range r {
		if kbps < 16 || kbps > 512 || slices.Contains(r[:i], kbps) {
			return fmt.Errorf("rendition %d: must be 16 to 512 kbit/s, and no two alike", kbps)
		}
	}
	return nil
}

// media is the name of the media playlist of one.
func (r renditions) media(i int) string {
	if i == 0 {
		return mediaName
	}
	return mediaBegin + strconv.Itoa(r[i]) + mediaEnd
}

// ofMedia finds which one has the media playlist of a name.
func (r renditions) ofMedia(name string) (i int, ok bool) {
	i = slices.IndexFunc(r, func(kbps int) bool { return r.media(slices.Index(r, kbps)) == name })
	return i, i >= 0
}

// segment is the name of the segment of a number in one of them.
func (r renditions) segment(number, i int) string {
	if i == 0 {
		return segmentBegin + strconv.Itoa(number) + segmentEnd
	}
	return segmentBegin + strconv.Itoa(number) + "_" + strconv.Itoa(r[i]) + segmentEnd
}

// ofSegment reads the name of a segment.
func (r renditions) ofSegment(name string) (number, i int, ok bool) {
	text, begins := strings.CutPrefix(name, segmentBegin)
	text, ends := strings.CutSuffix(text, segmentEnd)
	if !begins || !ends {
		return 0, 0, false
	}
	text, kbps, side := strings.Cut(text, "_")
	number, err := strconv.Atoi(text)
	if side {
		i = slices.IndexFunc(r, func(one int) bool { return strconv.Itoa(one) == kbps })
	}
	if err != nil || i < 0 || len(r) == 0 {
		return 0, 0, false
	}
	return number, i, r.segment(number, i) == name
}

// chosen is the one that a listener asks for by its bitrate; noRendition where there is no such.
func (r renditions) chosen(kbps string) int {
	return slices.IndexFunc(r, func(one int) bool { return strconv.Itoa(one) == kbps })
}

// String lists them as a header has them.
func (r renditions) String() string {
	text := make([]string, len(r))
	for i, kbps := range r {
		text[i] = strconv.Itoa(kbps)
	}
	return strings.Join(text, ",")
}

// readRenditions reads such a header.
func readRenditions(text string) (renditions, error) {
	var out renditions
	for part := range strings.SplitSeq(text, ",") {
		kbps, err := strconv.Atoi(part)
		if err != nil {
			return nil, fmt.Errorf("renditions %.40q: %w", text, err)
		}
		out = append(out, kbps)
	}
	return out, out.check()
}

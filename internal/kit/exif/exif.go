// Package exif reads of a JPEG how it is to be turned, and turns it: phones write that beside the
// picture, and leave the picture as the sensor had it.
package exif

import (
	"bytes"
	"encoding/binary"
)

// OrientationOf returns how a JPEG is to be turned, as Orientation has it; 1 for what is none.
func OrientationOf(jpeg []byte) uint16 {
	if !bytes.HasPrefix(jpeg, []byte("\xff\xd8")) {
		return 1
	}
	for at := 2; ; {
		marker, content, next, ok := Segment(jpeg, at)
		if !ok || marker == 0xD9 || marker == 0xDA { // the picture itself follows
			return 1
		}
		if marker == 0xE1 {
			if turn := Orientation(content); turn != 1 {
				return turn
			}
		}
		at = next
	}
}

// Segment reads the segment of a JPEG at b[at] (ITU-T T.81, annex B); content is without marker
// and length.
func Segment(b []byte, at int) (marker byte, content []byte, next int, ok bool) {
	for at+1 < len(b) && b[at] == 0xFF && b[at+1] == 0xFF { // fill bytes
		at++
	}
	if at+1 >= len(b) || b[at] != 0xFF {
		return 0, nil, 0, false
	}
	marker = b[at+1]
	if marker == 0xD9 || marker == 0x01 || (marker >= 0xD0 && marker <= 0xD7) {
		return marker, nil, at + 2, true
	}
	if marker == 0 || marker == 0xD8 || at+4 > len(b) {
		return 0, nil, 0, false
	}
	size := int(binary.BigEndian.Uint16(b[at+2:]))
	if size < 2 || at+2+size > len(b) {
		return 0, nil, 0, false
	}
	return marker, b[at+4 : at+2+size], at + 2 + size, true
}

// Head begins the content of an Exif segment.
const Head = "Exif\x00\x00"

// Orientation returns tag 0x0112 of an Exif segment's first directory, which says how
// to turn the picture; 1, for not at all, without it.
func Orientation(content []byte) uint16 {
	t, found := bytes.CutPrefix(content, []byte(Head))
	if !found || len(t) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	switch string(t[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
	default:
		return 1
	}
	at := int64(order.Uint32(t[4:]))
	if at+2 > int64(len(t)) {
		return 1
	}
	for i := range int64(order.Uint16(t[at:])) {
		e := at + 2 + 12*i
		if e+12 > int64(len(t)) {
			return 1
		}
		if v := order.Uint16(t[e+8:]); order.Uint16(t[e:]) == 0x0112 && order.Uint16(t[e+2:]) == 3 && v >= 1 && v <= 8 {
			return v
		}
	}
	return 1
}

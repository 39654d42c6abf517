package attach

import (
	"bytes"
	"encoding/binary"
	"image/jpeg"
	"slices"
)

// readJPEG copies the segments a decoder needs (ITU-T T.81, annex B): APP0
// (JFIF), APP2 where it holds a colour profile, APP14 (Adobe's colour transform).
func readJPEG(b []byte) (Picture, error) {
	cfg, err := jpeg.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return Picture{}, refused("this JPEG cannot be read")
	}
	p := Picture{Width: cfg.Width, Height: cfg.Height}
	p.Kind, _ = KindOf("jpg")
	turn := uint16(1)
	var segments bytes.Buffer
	at, scans := 2, 0
	for {
		marker, content, next, ok := jpegSegment(b, at)
		if !ok {
			return Picture{}, refused("this JPEG is damaged")
		}
		if marker == 0xE1 && turn == 1 {
			turn = orientation(content)
		}
		if keptInJPEG(marker, content) {
			segments.Write(b[at:next])
		}
		at = next
		if marker == 0xD9 {
			break
		}
		if marker == 0xDA { // the picture itself follows, up to the next marker
			scans++
			end := jpegScan(b, at)
			segments.Write(b[at:end])
			if at = end; at >= len(b) {
				segments.WriteString("\xff\xd9") // cut off: browsers show what there is
				break
			}
		}
	}
	if scans == 0 {
		return Picture{}, refused("this JPEG holds no picture")
	}
	out := []byte("\xff\xd8")
	if turn > 1 {
		out = append(out, exifTurn(turn)...)
	}
	if turn >= 5 {
		p.Width, p.Height = p.Height, p.Width
	}
	p.Data = slices.Concat(out, segments.Bytes())
	return p, nil
}

// jpegSegment reads the segment at b[at]; content is without marker and length.
func jpegSegment(b []byte, at int) (marker byte, content []byte, next int, ok bool) {
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

func keptInJPEG(marker byte, content []byte) bool {
	switch {
	case marker == 0xE0:
		return bytes.HasPrefix(content, []byte("JFIF\x00")) && len(content) == 14 // no thumbnail
	case marker == 0xE2:
		return bytes.HasPrefix(content, []byte("ICC_PROFILE\x00"))
	case marker == 0xEE:
		return bytes.HasPrefix(content, []byte("Adobe")) && len(content) == 12
	case marker >= 0xE0 && marker <= 0xEF, marker == 0xFE, marker >= 0xF0 && marker <= 0xFD:
		return false
	}
	return true
}

// jpegScan returns the end of the coded data that begins at b[at].
func jpegScan(b []byte, at int) int {
	for ; at+1 < len(b); at++ {
		if b[at] == 0xFF && b[at+1] != 0 && b[at+1] != 0xFF && (b[at+1] < 0xD0 || b[at+1] > 0xD7) {
			return at
		}
	}
	return len(b)
}

const exifHead = "Exif\x00\x00"

// orientation returns tag 0x0112 of an Exif segment's first directory, which says how
// to turn the picture; 1, for not at all, without it.
func orientation(content []byte) uint16 {
	t, found := bytes.CutPrefix(content, []byte(exifHead))
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

// exifTurn returns an Exif segment that holds the orientation alone.
func exifTurn(turn uint16) []byte {
	out := []byte("\xff\xe1\x00\x22" + exifHead + "MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01")
	out = binary.BigEndian.AppendUint16(out, turn)
	return append(out, 0, 0, 0, 0, 0, 0)
}

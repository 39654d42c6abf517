package record

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"time"
)

// A file begins with an ID3v2.4 tag of fixed size, with the facts of the sidecar once
// more, and an Info frame (the Xing header of a constant bit rate). Both are written over
// in place when the recording ends.
const (
	tagBytes  = 2048
	headBytes = tagBytes + frameBytes
	// encoderDelay is what LAME puts before the first sample; decoders add 529 of their own.
	encoderDelay, decoderDelay = 576, 529
)

// facts is what the head keeps for a lost sidecar; title and presenter have frames of
// their own.
type facts struct {
	Stream   string `json:"stream"`
	Mode     string `json:"mode"`
	Began    int64  `json:"began"`
	Ended    int64  `json:"ended"`
	Parts    int    `json:"parts"`
	LostMS   int64  `json:"lost"`
	Complete bool   `json:"complete"`
	Why      string `json:"why,omitempty"`
}

const factsName = "athir"

// head is a file's beginning. samples is what was recorded, where it is known to the
// sample: in one part, to its end; else 0. frames is 0 while it is under way.
func head(rec Recording, frames, samples int64) []byte {
	var text bytes.Buffer
	plain := json.NewEncoder(&text)
	plain.SetEscapeHTML(false) // it would take six bytes for one
	_ = plain.Encode(facts{
		rec.StreamID, string(rec.Mode), rec.Began, rec.Ended, rec.Parts, rec.LostMS, rec.Complete, rec.Why,
	})
	out := append(make([]byte, 0, headBytes), 'I', 'D', '3', 4, 0, 0)
	out = append(out, syncSafe(tagBytes-10)...)
	out = appendText(out, "TIT2", rec.Title)
	out = appendText(out, "TPE1", rec.Presenter)
	out = appendText(out, "TDRC", time.UnixMilli(rec.Began).UTC().Format("2006-01-02T15:04:05"))
	out = appendText(out, "TXXX", factsName+"\x00"+text.String())
	out = out[:tagBytes] // zeros: made so, and the bounds of name.go fit
	return append(out, info(frames, samples)...)
}

func appendText(out []byte, id, text string) []byte {
	if text == "" {
		return out
	}
	out = append(append(out, id...), syncSafe(len(text)+1)...)
	return append(append(out, 0, 0, 3), text...) // UTF-8
}

func syncSafe(n int) []byte {
	return []byte{byte(n >> 21 & 127), byte(n >> 14 & 127), byte(n >> 7 & 127), byte(n & 127)}
}

// info is the Info frame: silence to a decoder that does not know it.
func info(frames, samples int64) []byte {
	b := make([]byte, frameBytes)
	copy(b, []byte{0xff, 0xfb, 0xd4, 0x44})
	copy(b[36:], "Info")
	if frames == 0 {
		return b
	}
	b[43] = 15 // frames, bytes, table of contents, quality
	binary.BigEndian.PutUint32(b[44:], uint32(min(frames, 1<<32-1)))
	binary.BigEndian.PutUint32(b[48:], uint32(min((frames+1)*frameBytes, 1<<32-1)))
	for i := range 100 {
		b[52+i] = byte(i * 256 / 100)
	}
	// LAME's extension: decoders leave out the delay before and the padding behind.
	copy(b[156:], "LAME3.100")
	b[165] = 1 // constant bit rate
	padding := int64(decoderDelay)
	if samples > 0 {
		padding = min(max(frames*frameSamples-encoderDelay-samples, 0), 4095)
	}
	b[176] = kbps - 1 // 255 stands for 255 and more
	b[177], b[178], b[179] = encoderDelay>>4, byte(encoderDelay&15<<4|padding>>8), byte(padding)
	binary.BigEndian.PutUint32(b[184:], uint32(min((frames+1)*frameBytes, 1<<32-1)))
	binary.BigEndian.PutUint16(b[190:], crc16(b[:190]))
	return b
}

// crc16 is LAME's checksum: CRC-16 of polynomial 0x8005, least significant bit first.
func crc16(b []byte) uint16 {
	sum := uint16(0)
	for _, v := range b {
		sum ^= uint16(v)
		for range 8 {
			sum = sum>>1 ^ sum&1*0xa001
		}
	}
	return sum
}

// parseHead reads what head wrote; false if it did not.
func parseHead(b []byte) (rec Recording, ok bool) {
	if len(b) < headBytes || string(b[:4]) != "ID3\x04" || !isFrame(b[tagBytes:]) {
		return rec, false
	}
	for at := 10; at+11 <= tagBytes && b[at] != 0; {
		size := int(b[at+4])<<21 | int(b[at+5])<<14 | int(b[at+6])<<7 | int(b[at+7])
		if size < 1 || size > tagBytes-at-10 {
			return rec, false
		}
		text := string(b[at+11 : at+10+size])
		switch string(b[at : at+4]) {
		case "TIT2":
			rec.Title = clean(text, mostTitle)
		case "TPE1":
			rec.Presenter = clean(text, mostCreator)
		case "TXXX":
			var f facts
			if len(text) > len(factsName) && json.Unmarshal([]byte(text[len(factsName)+1:]), &f) == nil {
				rec.fill(f)
				ok = true
			}
		}
		at += 10 + size
	}
	return rec, ok
}

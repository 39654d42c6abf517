package stream

import (
	"bytes"
	"mime"
)

// unit is a piece of audio as a framer cuts it: immutable, in order, complete.
type unit struct {
	data []byte
	// header is what a decoder needs before data when it starts here; nil for
	// self-framing formats, and for a unit that is itself the header.
	header []byte
	// joinable: a decoder can start at data without an audible fault.
	joinable bool
}

// framer cuts an upstream's bytes into units. It outlives connections, so that
// it recognises what a new connection repeats.
type framer interface {
	// frame takes the next bytes, which it does not keep, and emits what they complete.
	frame(p []byte, emit func(unit))
	// resume announces that the next bytes come from a new connection.
	resume()
}

// framerFor returns the framer of a media type (RFC 5334 for Ogg).
func framerFor(contentType string) framer {
	media, _, _ := mime.ParseMediaType(contentType)
	switch media {
	case "application/ogg", "audio/ogg", "video/ogg", "audio/opus", "audio/vorbis":
		return &oggFramer{}
	}
	return plainFramer{}
}

// plainFramer is for MP3, AAC and all other formats that a player can enter
// anywhere, because it finds the next frame's sync word by itself.
type plainFramer struct{}

func (plainFramer) resume() {}

func (plainFramer) frame(p []byte, emit func(unit)) {
	emit(unit{data: bytes.Clone(p), joinable: true})
}

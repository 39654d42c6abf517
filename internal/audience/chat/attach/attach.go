// Package attach takes voice notes and pictures from listeners: it recognises them by
// their bytes, removes what tells where they were made, stores each once under its
// hash, and serves them so that no browser runs them.
//
// It ignores what a sender says about a file, refuses everything but voice notes and
// pictures of the kinds listed here, and converts nothing.
package attach

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Bounds of one attachment.
const (
	MostBytes    = 2 << 20
	LongestVoice = 120 * time.Second
	// LongestURL is the longest data URL that can hold MostBytes.
	LongestURL = 128 + (MostBytes+2)/3*4
	mostSide   = 8192
	mostPixels = 25_000_000 // 100 MB when a browser unpacks it
)

// Kind is one kind of file that is accepted.
type Kind struct {
	Ext   string // without the dot
	MIME  string
	Image bool
}

// kinds returns all that are accepted.
func kinds() []Kind {
	return []Kind{
		{"jpg", "image/jpeg", true}, {"png", "image/png", true}, {"webp", "image/webp", true}, {"gif", "image/gif", true},
		{"webm", "audio/webm", false}, {"ogg", "audio/ogg", false}, {"m4a", "audio/mp4", false}, {"mp3", "audio/mpeg", false}, {"wav", "audio/wav", false},
	}
}

// KindOf finds a kind by its extension.
func KindOf(ext string) (Kind, bool) {
	for _, k := range kinds() {
		if k.Ext == ext {
			return k, true
		}
	}
	return Kind{}, false
}

func refused(format string, args ...any) error {
	return fmt.Errorf("data: %s: %w", fmt.Sprintf(format, args...), station.ErrInvalid)
}

// Decode returns the bytes of a data URL (RFC 2397) and ignores its media type.
// Errors: station.ErrInvalid, station.ErrTooLarge.
func Decode(url string) ([]byte, error) {
	if len(url) > LongestURL {
		return nil, fmt.Errorf("data: must be at most %d bytes: %w", MostBytes, station.ErrTooLarge)
	}
	head, body, found := strings.Cut(url, ",")
	if !found || len(head) > 120 || !strings.EqualFold(head[:min(5, len(head))], "data:") || !strings.HasSuffix(strings.ToLower(head), ";base64") {
		return nil, refused("must be a base64 data URL")
	}
	out, err := base64.StdEncoding.Strict().DecodeString(body)
	if err != nil || strings.ContainsAny(body, "\r\n") { // line breaks, which the decoder skips
		return nil, refused("is not base64")
	}
	if len(out) == 0 {
		return nil, refused("is empty")
	}
	if len(out) > MostBytes {
		return nil, fmt.Errorf("data: must be at most %d bytes: %w", MostBytes, station.ErrTooLarge)
	}
	return out, nil
}

// Picture is a picture that is ready to show.
type Picture struct {
	Kind          Kind
	Data          []byte // without metadata
	Width, Height int    // as it is shown
}

// ReadPicture recognises a picture and rebuilds it from the parts that are shown:
// places, times, comments, thumbnails, makers' notes and bytes after its end are left
// out. Of the metadata only the orientation is kept.
func ReadPicture(b []byte) (Picture, error) {
	var p Picture
	var err error
	switch has := func(at int, s string) bool { return len(b) >= at+len(s) && string(b[at:at+len(s)]) == s }; {
	case has(0, "\xff\xd8\xff"):
		p, err = readJPEG(b)
	case has(0, pngHead):
		p, err = readPNG(b)
	case has(0, "GIF87a"), has(0, "GIF89a"):
		p, err = readGIF(b)
	case has(0, "RIFF") && has(8, "WEBP"):
		p, err = readWebP(b)
	default:
		return p, refused("a picture must be JPEG, PNG, WebP or GIF")
	}
	if err != nil {
		return Picture{}, err
	}
	if p.Width < 1 || p.Height < 1 || p.Width > mostSide || p.Height > mostSide || p.Width*p.Height > mostPixels {
		return Picture{}, refused("the picture has %d by %d pixels: at most %d a side and %d in all are allowed", p.Width, p.Height, mostSide, mostPixels)
	}
	return p, nil
}

package social

import (
	"bytes"
	"image"
	_ "image/jpeg" // the two kinds of cover
	_ "image/png"
)

// widest bounds a picture's sides, in pixels.
const widest = 3000

// pictureType returns the media type of a picture that pages can show; empty for anything
// else. Only the header is read: what a browser makes of the rest is its sandbox's matter.
func pictureType(data []byte) string {
	config, kind, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || config.Width > widest || config.Height > widest {
		return ""
	}
	return map[string]string{"jpeg": "image/jpeg", "png": "image/png"}[kind]
}

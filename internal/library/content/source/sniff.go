package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
)

// soundAs recognises the formats a decoder here understands by their first bytes
// and returns the extension a file of that format has; empty when unknown.
func soundAs(head []byte) string {
	at := func(i int, s string) bool { return len(head) >= i+len(s) && string(head[i:i+len(s)]) == s }
	switch {
	case at(0, "ID3"):
		return "mp3"
	case at(0, "fLaC"):
		return "flac"
	case at(0, "OggS"):
		if bytes.Contains(head[:min(len(head), 256)], []byte("OpusHead")) {
			return "opus"
		}
		return "ogg"
	case (at(0, "RIFF") || at(0, "RF64") || at(0, "BW64")) && at(8, "WAVE"):
		return "wav"
	case at(0, "FORM") && (at(8, "AIFF") || at(8, "AIFC")):
		return "aiff"
	case at(4, "ftyp"):
		return "m4a"
	case at(0, "\x1aE\xdf\xa3"):
		return "webm"
	case at(0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11"):
		return "wma"
	case at(0, "wvPk"):
		return "wv"
	case at(0, "MAC "):
		return "ape"
	case at(0, "caff"):
		return "caf"
	case at(0, ".snd"):
		return "au"
	}
	return frame(bytes.TrimLeft(head, "\x00"))
}

// frame recognises MPEG audio that begins without a tag.
func frame(b []byte) string {
	if len(b) < 4 || b[0] != 0xff || b[1]&0xe0 != 0xe0 {
		return ""
	}
	version, layer := b[1]>>3&3, b[1]>>1&3
	switch {
	case b[1]&0xf6 == 0xf0 && b[2]>>2&15 < 13: // ADTS
		return "aac"
	case version != 1 && layer != 0 && b[2]>>4 != 15 && b[2]>>4 != 0 && b[2]>>2&3 != 3:
		return "mp3"
	}
	return ""
}

// inspect refuses what is certainly no sound before all of it is fetched. What
// it does not know passes, if the server calls it a sound: a decoder decides.
func inspect(head []byte, h http.Header) error {
	if h.Get("Icy-Name") != "" || h.Get("Ice-Audio-Info") != "" || h.Get("Icy-Metaint") != "" {
		return errors.New("this is a live stream, which never ends")
	}
	if soundAs(head) != "" {
		return nil
	}
	looks := http.DetectContentType(head)
	if looks == "application/octet-stream" || strings.HasPrefix(looks, "audio/") || strings.HasPrefix(looks, "video/") {
		said, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
		if said == "" || said == "application/octet-stream" || strings.HasPrefix(said, "audio/") || strings.HasPrefix(said, "video/") {
			return nil
		}
		looks = said
	}
	looks, _, _ = strings.Cut(looks, ";")
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(head), []byte("#EXTM3U")), bytes.HasPrefix(bytes.TrimSpace(head), []byte("[playlist]")):
		return errors.New("this is a playlist, not audio: give the address of the audio file")
	case looks == "text/html":
		return errors.New("this is a web page, not audio: give the address of the audio file")
	}
	return fmt.Errorf("this is %s, not audio", Clean(looks))
}

// extensions are those kept of a name whose content is not recognised.
func extensions() []string {
	return []string{"mp3", "flac", "ogg", "oga", "opus", "wav", "aiff", "aif", "m4a", "aac", "webm", "mka", "mp4", "wma", "wv", "ape", "caf", "au", "mp2"}
}

// workName names a candidate's file in the work folder. It holds nothing that
// came from outside.
func workName(c Candidate, ext string) string {
	sum := sha256.Sum256([]byte(c.Source + "\x00" + c.ID))
	return strings.ReplaceAll(c.Source, ".", "-") + "-" + hex.EncodeToString(sum[:8]) + "." + ext
}

// named gives a fetched file the extension its content has, or failing that the
// one of hint.
func named(file, hint string, c Candidate) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	head := make([]byte, 4<<10)
	n, err := io.ReadFull(f, head)
	_ = f.Close()
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	ext := soundAs(head[:n])
	if ext == "" {
		ext = strings.ToLower(strings.TrimPrefix(path.Ext(hint), "."))
		if !slices.Contains(extensions(), ext) {
			ext = "sound"
		}
	}
	to := path.Join(path.Dir(file), workName(c, ext))
	return to, os.Rename(file, to)
}

// shortID keeps an identity within the promised length.
func shortID(id string) string {
	if len(id) <= 900 && strings.IndexByte(id, 0) < 0 {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256:" + hex.EncodeToString(sum[:])
}

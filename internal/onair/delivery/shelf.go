package delivery

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Shelf names the media files of a node that pulls them, below Root, its folder
// for them: ROOT/VERSION/REL, of the file that airs for the path REL of the
// library. A file that changes gets another version and with it another name:
// the old one may be on air.
type Shelf struct{ Root string }

// AnyVersion stands for any version of a file: only its size is compared.
const AnyVersion = "_"

// asMP3 marks an MP3 whose name has another extension: its name on the shelf gets
// .mp3 added, because the engine goes by the extension.
const asMP3 = "m"

// Version identifies a file's content by size and modification time; it is the
// file's ETag at /api/sync.
func Version(info fs.FileInfo) string {
	return strconv.FormatInt(info.Size(), 36) + "-" + strconv.FormatInt(info.ModTime().UnixNano(), 36)
}

// Path returns the path on the shelf of what airs for rel: the file at airs, in
// that version.
func (s Shelf) Path(rel, airs, version string) string {
	const longest = 255
	if mp3(airs) && !mp3(rel) && len(path.Base(rel))+len(".mp3") <= longest {
		return s.Root + "/" + version + "-" + asMP3 + "/" + rel + ".mp3"
	}
	return s.Root + "/" + version + "/" + rel
}

func mp3(name string) bool { return strings.EqualFold(path.Ext(name), ".mp3") }

// Rel is the inverse of Path; false for what is not on the shelf.
func (s Shelf) Rel(name string) (rel, version string, ok bool) {
	rest, ok := strings.CutPrefix(name, s.Root+"/")
	if !ok || s.Root == "" {
		return "", "", false
	}
	version, rel, ok = strings.Cut(rest, "/")
	if v, marked := strings.CutSuffix(version, "-"+asMP3); marked {
		version, rel = v, strings.TrimSuffix(rel, ".mp3")
	}
	return rel, version, ok && version != "" && version[0] != '.' && rel != ""
}

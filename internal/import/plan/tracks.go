package plan

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/library/intake"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/station"
)

const (
	longestText  = 300              // characters of a title, as the library's notes
	longestCross = 30 * time.Second // and of a cross
	nearly       = time.Second      // lengths of the same recording differ by less
)

// tracks decides of each file, in the order of the source.
func (p *Plan) tracks(st *model.Station, lib Library, mem Memory) {
	here := newShelf(lib.Tracks)
	jingles := jinglesOf(st)
	for i := range st.Tracks {
		t := &st.Tracks[i]
		out := Track{
			ID: t.ID, From: t.Path, Title: oneLine(t.Title, longestText), Artist: oneLine(t.Artist, longestText), LengthMS: t.Length.Milliseconds(), Size: t.Size,
		}
		brought, refusal := mem.Tracks[t.ID], mem.Refused[t.ID]
		if !brought.From.Same(*out.Source()) {
			brought = Brought{}
		}
		held, matched := here.brought(brought.Path)
		if !matched {
			held, matched = here.find(t)
		}
		switch {
		case matched:
			out.Do, out.Path, out.Category = There, held.Path, held.Category
			if !held.Edited {
				out.Note = noteOf(t).Less(held)
			}
		case refusal.From.Same(*out.Source()):
			out.Do, out.Why = Not, &refusal.Why
		case brought.Path != "":
			out.Do, out.Why = Not, &Words{"An earlier import brought it, and it is not in the library any more.", "نقله استيراد سابق ولم يعد في المكتبة."}
		default:
			out.come(t, jingles[t.ID])
		}
		p.Tracks = append(p.Tracks, out)
	}
}

// come decides whether a file can be copied, and as what.
func (out *Track) come(t *model.Track, jingle bool) {
	not := func(en, ar string) { out.Do, out.Why = Not, &Words{en, ar} }
	switch {
	case !fs.ValidPath(t.Path):
		not("Its path leads out of the media folder.", "مساره يخرج من مجلد الوسائط.")
		return
	case !media.Playable(path.Base(t.Path)):
		not("Only MP3, Ogg, Opus, FLAC, M4A and WAV files can air: convert it first.", "لا تُذاع إلا ملفات MP3 وOgg وOpus وFLAC وM4A وWAV. حوّله أولًا.")
		return
	case t.Open == nil:
		out.later = true
		not("The source does not have its file: name the media folder with --media.", "لا يوجد ملفه في المصدر. حدّد مجلد الوسائط بالخيار ‎--media.")
		return
	}
	category, why := categoryOf(t, jingle)
	if info := (audiofile.Info{Duration: t.Length}); t.Length > 0 && media.Fits(category, &info) != nil {
		not(fmt.Sprintf("It lasts %s: no category takes that length.", t.Length.Round(time.Second)), fmt.Sprintf("مدته %s، ولا تناسب أي تصنيف.", t.Length.Round(time.Second)))
		return
	}
	out.Do, out.Category, out.Why, out.Note = Bring, category, &why, noteOf(t)
}

// categoryOf is a new track's: jingles of the source are jingles, and all else is guessed as the
// library guesses of an upload.
func categoryOf(t *model.Track, jingle bool) (station.Category, Words) {
	info := audiofile.Info{Duration: cmp.Or(t.Length, 4*time.Minute)}
	if jingle && media.Fits(station.Jingles, &info) == nil {
		return station.Jingles, Words{"It is in a playlist of jingles.", "المقطع في قائمة جينجل."}
	}
	if imaging(t.Kind) && media.Fits(station.Jingles, &info) == nil {
		return station.Jingles, Words{"The source sorts it under " + oneLine(t.Kind, longestWord) + ".", "تصنيفه في المصدر: " + oneLine(t.Kind, longestWord) + "."}
	}
	folder := path.Dir(t.Path)
	if folder == "." {
		folder = ""
	}
	c, why := intake.Guess(folder, &station.Track{Title: t.Title, Artist: t.Artist, Album: t.Album, Path: path.Base(t.Path), Duration: info.Duration}, &info)
	return c, Words(why)
}

// imaging reports a kind of track that means jingles.
func imaging(kind string) bool {
	switch rotation.Fold(kind) {
	case "jingle", "jingles", "ident", "idents", "station id", "station ids", "جينغل", "جينجل":
		return true
	}
	return false
}

// jinglesOf are the tracks that are in playlists of jingles and in no other.
func jinglesOf(st *model.Station) map[string]bool {
	out := map[string]bool{}
	for _, l := range st.Playlists {
		if l.Jingles {
			for _, id := range l.Items {
				out[id] = true
			}
		}
	}
	for _, l := range st.Playlists {
		if !l.Jingles {
			for _, id := range l.Items {
				delete(out, id)
			}
		}
	}
	return out
}

// noteOf is all that the source says of a track, within what the library takes; nil: nothing.
func noteOf(t *model.Track) *Note {
	n := Note{
		Title: oneLine(t.Title, longestText), Artist: oneLine(t.Artist, longestText), Album: oneLine(t.Album, longestText), Genre: oneLine(t.Genre, longestText),
		CueInMS: t.CueIn.Milliseconds(), CueOutMS: t.CueOut.Milliseconds(),
	}
	n.ISRC, _ = station.ISRC(t.ISRC) // what is none is left out
	if t.Length > 0 && t.CueOut > t.Length {
		n.CueOutMS = 0
	}
	end := cmp.Or(n.CueOutMS, t.Length.Milliseconds())
	if end > 0 && end-n.CueInMS < 1000 { // a second airs at least
		n.CueInMS, n.CueOutMS, end = 0, 0, t.Length.Milliseconds()
	}
	if cross := min(t.Cross, longestCross).Milliseconds(); cross > 0 && end > 0 {
		n.CrossMS = max(0, min(cross, (end-n.CueInMS)/2-1))
	}
	if n == (Note{}) {
		return nil
	}
	return &n
}

// Less is a note without what the library reads or was told of the track itself; nil where
// nothing is left.
func (n *Note) Less(h Held) *Note {
	if n == nil {
		return nil
	}
	out := *n
	for _, one := range []struct {
		said *string
		is   string
	}{{&out.Title, h.Title}, {&out.Artist, h.Artist}, {&out.Album, h.Album}, {&out.Genre, h.Genre}, {&out.ISRC, h.ISRC}} {
		if *one.said == oneLine(one.is, longestText) {
			*one.said = ""
		}
	}
	// A cut within a second of the end says nothing; of a file that is shorter than was said it is wrong.
	length := h.Length.Milliseconds()
	if length > 0 && out.CueOutMS > length-500 {
		out.CueOutMS = 0
	}
	if length > 0 && cmp.Or(out.CueOutMS, length)-out.CueInMS < 1000 {
		out.CueInMS, out.CueOutMS = 0, 0
	}
	if length > 0 && out.CrossMS > 0 {
		out.CrossMS = max(0, min(out.CrossMS, (cmp.Or(out.CueOutMS, length)-out.CueInMS)/2-1))
	}
	if out == (Note{}) {
		return nil
	}
	return &out
}

// shelf finds tracks of the library.
type shelf struct {
	byPath map[string]*Held
	byName map[string][]*Held
}

func newShelf(all []Held) shelf {
	s := shelf{map[string]*Held{}, map[string][]*Held{}}
	for i := range all {
		h := &all[i]
		s.byPath[h.Path] = h
		if key := nameKey(h.Artist, h.Title); key != "" {
			s.byName[key] = append(s.byName[key], h)
		}
	}
	return s
}

// SameNames reports that both are called the same, and by a title.
func SameNames(artist, title, otherArtist, otherTitle string) bool {
	key := nameKey(artist, title)
	return key != "" && key == nameKey(otherArtist, otherTitle)
}

// nameKey is what the same song is called by; empty without a title.
func nameKey(artist, title string) string {
	if title = rotation.Fold(title); title == "" {
		return ""
	}
	return rotation.Fold(artist) + "\x00" + title
}

func (s shelf) brought(path string) (Held, bool) {
	if h := s.byPath[path]; h != nil && path != "" {
		return *h, true
	}
	return Held{}, false
}

// find is the same file, by path and size, or the same recording, by names and length.
func (s shelf) find(t *model.Track) (Held, bool) {
	alike := func(h *Held) bool { return t.Length > 0 && (h.Length-t.Length).Abs() < nearly }
	if h := s.byPath[t.Path]; h != nil && (t.Size > 0 && h.Size == t.Size || t.Size == 0 && alike(h)) {
		return *h, true
	}
	for _, h := range s.byName[nameKey(t.Artist, t.Title)] {
		if alike(h) {
			return *h, true
		}
	}
	return Held{}, false
}

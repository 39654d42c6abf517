// Package plan decides what of another system's station comes over, and as what: it compares
// what was read there with what this station has, and changes nothing. The Plan is the dry run,
// and what package apply carries out.
package plan

import (
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Words say something in both languages.
type Words struct {
	En string `json:"en"`
	Ar string `json:"ar"`
}

// In returns them in a language: ar, or else English.
func (w Words) In(lang string) string {
	if lang == "ar" {
		return w.Ar
	}
	return w.En
}

func wordsOf(n model.Note) Words { return Words(n) }

// Do is what becomes of a thing.
type Do string

// What becomes of a thing.
const (
	Bring Do = "bring" // it comes over
	There Do = "there" // the station has it already
	Not   Do = "not"   // it does not come over, and Why says why
)

// Plan is what an import does.
type Plan struct {
	System  string   `json:"system"`
	Version string   `json:"version,omitempty"`
	Station string   `json:"station"`
	Zone    string   `json:"zone,omitempty"`
	Others  []string `json:"others,omitempty"` // stations that were not asked for

	Tracks    []Track    `json:"tracks"`
	Playlists []Playlist `json:"playlists"`
	People    []Person   `json:"people"`
	Webhooks  []Webhook  `json:"webhooks"`
	Left      []Left     `json:"left"`
	// Say is for the operator, about the whole.
	Say []Words `json:"say,omitempty"`
}

// Track is a media file.
type Track struct {
	ID       string           `json:"id"`
	From     string           `json:"from"` // path in the source
	Do       Do               `json:"do"`
	Path     string           `json:"path,omitempty"` // in the library, of one that is there
	Category station.Category `json:"category,omitempty"`
	Title    string           `json:"title"`
	Artist   string           `json:"artist"`
	LengthMS int64            `json:"lengthMs"`
	Size     int64            `json:"size,omitempty"` // bytes; 0: unknown
	// Note is what is said of it; of one that is copied what its file says itself is passed over.
	Note *Note  `json:"note,omitempty"`
	Why  *Words `json:"why,omitempty"` // its category, or why it does not come
	// later: it does not come now for lack of its file.
	later bool
}

// Note is what is said of a track, as PATCH /api/station/library takes it.
type Note struct {
	Title    string `json:"title,omitempty"`
	Artist   string `json:"artist,omitempty"`
	Album    string `json:"album,omitempty"`
	Genre    string `json:"genre,omitempty"`
	ISRC     string `json:"isrc,omitempty"`
	CueInMS  int64  `json:"cueInMs,omitempty"`
	CueOutMS int64  `json:"cueOutMs,omitempty"`
	CrossMS  int64  `json:"crossMs,omitempty"`
}

// Playlist is a list of tracks and when it plays.
type Playlist struct {
	ID       string   `json:"id"`
	From     string   `json:"-"`             // its name in the source
	Was      string   `json:"was,omitempty"` // its name in the source, where it gets another
	Do       Do       `json:"do"`
	Settings Settings `json:"settings"`
	Items    []string `json:"items,omitempty"`   // ids of tracks, in order
	Without  int      `json:"without,omitempty"` // tracks of it that do not come
	Notes    []Words  `json:"notes,omitempty"`
	Why      *Words   `json:"why,omitempty"`
	// Lacks are those of Without that a later run may bring, and Rest says that Items are what an
	// earlier run lacked: they come at its end.
	Lacks []string `json:"-"`
	Rest  bool     `json:"-"`

	named  bool // its name is its own already
	unmade bool // an earlier run was about to make it
}

// Settings of a playlist, as POST /api/station/playlists takes them.
type Settings struct {
	Name         string             `json:"name"`
	Note         string             `json:"note"`
	Kind         string             `json:"kind"`            // hand, smart, remote
	Query        *catalog.Query     `json:"query,omitempty"` // of smart
	Address      string             `json:"address,omitempty"`
	EveryMinutes int                `json:"everyMinutes,omitempty"`
	Order        rotation.ListOrder `json:"order"`
	Plays        rotation.ListPlays `json:"plays"`
	Share        int                `json:"share"` // percent
	EverySongs   int                `json:"everySongs"`
	Minute       int                `json:"minute"`
	When         []rotation.Window  `json:"when"`
	On           bool               `json:"on"`
}

// Person goes live. No password comes over: the one is invited.
type Person struct {
	Login string  `json:"login"`
	Name  string  `json:"name"`
	Do    Do      `json:"do"`
	Notes []Words `json:"notes,omitempty"`
	Why   *Words  `json:"why,omitempty"`
}

// Webhook is a call that the station makes.
type Webhook struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Address string   `json:"address,omitempty"`
	Events  []string `json:"events,omitempty"` // of ours
	Off     bool     `json:"off,omitempty"`
	Do      Do       `json:"do"`
	Notes   []Words  `json:"notes,omitempty"`
	Why     *Words   `json:"why,omitempty"`
}

// Left is what does not come over.
type Left struct {
	Kind  string `json:"kind"`
	Count int    `json:"count,omitempty"` // 0: not counted
	Why   Words  `json:"why"`
}

// Library is what the station has.
type Library struct {
	Tracks    []Held
	Playlists []List
	Logins    []string
	Webhooks  []string // addresses
	Zone      string   // IANA; empty: unknown
}

// List is a playlist that is there.
type List struct {
	ID     int64 `json:"id"`
	Tracks int   `json:"tracks"`
	Settings
}

// Held is a track of the library.
type Held struct {
	Path, Title, Artist, Album, Genre, ISRC string
	Category                                station.Category
	Length                                  time.Duration
	Size                                    int64
	Edited                                  bool // something is said of it already
}

// Memory is what earlier runs of the same import brought.
type Memory struct {
	Tracks    map[string]Brought // by the source's id
	Refused   map[string]Refused // by the source's id
	Playlists map[string]Made    // by the source's id
	People    map[string]bool    // logins
	Webhooks  map[string]bool    // addresses
}

// Source is what has an id in the source. A file of another server, or a database that was made
// anew, gives the same id to another.
type Source struct {
	Path     string `json:"path,omitempty"`
	Title    string `json:"title,omitempty"` // of a playlist its name
	LengthMS int64  `json:"lengthMs,omitempty"`
}

// Same reports that both are one track: with another title it was renamed there, if its length
// is the same.
func (s Source) Same(o Source) bool {
	near := s.LengthMS > 0 && o.LengthMS > 0 && max(s.LengthMS-o.LengthMS, o.LengthMS-s.LengthMS) < nearly.Milliseconds()
	return s.Path != "" && s.Path == o.Path && (s.Title == o.Title || near)
}

// Source is what the journal knows a track by.
func (t *Track) Source() *Source {
	return &Source{t.From, strings.ToValidUTF8(t.Title, "�"), t.LengthMS}
}

// Brought is a track that an earlier run brought.
type Brought struct {
	From Source
	Path string // in the library
}

// Refused is a file that the library did not take from an earlier run.
type Refused struct {
	From Source
	Why  Words
}

// Made is a playlist that an earlier run has made, or was about to.
type Made struct {
	From  string // its name in the source
	Name  string
	ID    int64    // 0: perhaps not made
	Done  bool     // with all its tracks but
	Lacks []string // those of the source that had no file
}

// Make plans an import.
func Make(st *model.Station, lib Library, mem Memory) *Plan {
	p := &Plan{System: st.System, Version: st.Version, Station: st.Name, Zone: st.Zone, Others: st.Others}
	p.tracks(st, lib, mem)
	p.playlists(st, lib, mem)
	p.people(st, lib, mem)
	p.webhooks(st, lib, mem)
	p.warn(st, lib)
	for _, l := range st.Left {
		p.Left = append(p.Left, Left{l.Kind, l.Count, wordsOf(l.Reason)})
	}
	return p
}

// warn says what of the whole the operator should know.
func (p *Plan) warn(st *model.Station, lib Library) {
	timed, share := false, 0
	for _, l := range p.Playlists {
		if l.Do != Bring {
			continue
		}
		timed = timed || len(l.Settings.When) > 0
		if l.Settings.Plays == rotation.PlaysShare && l.Settings.On && len(l.Settings.When) == 0 {
			share += l.Settings.Share
		}
	}
	if timed && st.Zone != "" && lib.Zone != "" && st.Zone != lib.Zone {
		p.Say = append(p.Say, Words{
			"The time zone there is " + oneLine(st.Zone, longestName) + ", and here " + lib.Zone + ": playlists keep their times of day, and play at them in the time of this station.",
			"المنطقة الزمنية هناك " + oneLine(st.Zone, longestName) + " وهنا " + lib.Zone + ". تبقى مواعيد القوائم كما هي، وتُحسب بتوقيت هذه المحطة.",
		})
	}
	if share == 0 {
		return
	}
	for _, l := range lib.Playlists {
		if l.Plays == rotation.PlaysShare && l.On && len(l.When) == 0 {
			share += l.Share
		}
	}
	if share >= 100 {
		p.Say = append(p.Say, Words{
			"The playlists that share the music take up all of it: what is in none of them does not air, but in clocks. Lower their shares for the station's own rotation.",
			"تأخذ القوائم ذات النسب الموسيقى كلها، فلا يُذاع ما ليس في إحداها إلا حيث يطلبه قالب ساعة. خفّض نسبها ليعمل اختيار المحطة نفسها.",
		})
	}
}

// oneLine is a text as the library takes it: one line, and no longer than it allows.
func oneLine(s string, longest int) string {
	s = strings.Join(strings.Fields(norm.NFC.String(s)), " ")
	if r := []rune(s); len(r) > longest {
		s = strings.TrimSpace(string(r[:longest]))
	}
	return s
}

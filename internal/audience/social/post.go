package social

import (
	"time"

	"github.com/athir-radio/athir/internal/audience/social/check"
	"github.com/athir-radio/athir/internal/audience/social/rank"
	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
	"github.com/athir-radio/athir/internal/station"
)

// Type is what kind of audio a post is (mission: Social post).
type Type string

// The types, in the order of the mission's table.
const (
	Song     Type = "song"
	Mashup   Type = "mashup"
	Ads      Type = "ads"
	Jingles  Type = "jingles"
	Sweepers Type = "sweepers"
	Voice    Type = "voice"
	SFX      Type = "sfx"
)

// Types returns the types in the order of the mission's table.
func Types() []Type { return []Type{Song, Mashup, Ads, Jingles, Sweepers, Voice, SFX} }

// Category is the category in which posts of a type air (mission: type to category); empty
// for an unknown type.
func (t Type) Category() station.Category {
	c, _ := station.PostCategory(string(t))
	return c
}

// Valid reports whether t is one of the types.
func (t Type) Valid() bool { return t.Category() != "" }

// Window is how long posts of a type may be, silence at the ends left out. The mission
// leaves the values open; these are the station's.
func (t Type) Window() (shortest, longest time.Duration) {
	switch t {
	case Song, Mashup:
		return 45 * time.Second, 600 * time.Second
	case Ads:
		return 5 * time.Second, 60 * time.Second
	case Jingles:
		return 2 * time.Second, 20 * time.Second
	case Sweepers, Voice:
		return 2 * time.Second, 15 * time.Second
	case SFX:
		return 200 * time.Millisecond, 5 * time.Second
	}
	return 0, 0
}

// Kinds are the kinds of reaction to a post, in the order in which pages show them.
func Kinds() (out []string) {
	for k := range rank.Kinds {
		out = append(out, k.String())
	}
	return out
}

// Client is who sends a request.
type Client struct {
	Address string // by kit/client.Address; empty for this machine
	Device  string // random id that the browser keeps; may be empty
}

// Post is one submission. Times are epoch milliseconds, 0 for never.
type Post struct {
	ID          int64
	Type        Type
	Title       string
	Artist      string
	Description string
	Tags        []string
	CreatedBy   string // the name that the submitter gave
	Submitter   string // opaque key of who submitted it
	Device      []byte // where messages to the submitter go: kit/client.DeviceKey; nil: nowhere

	Status Status
	Reason *refusal.Refusal // of Status, with a person's note; nil where it needs none
	Appeal string           // the submitter's words against a rejection

	Created  int64
	Decided  int64 // when Status last changed
	Approved int64 // when it was last approved; 0 while it is not

	// Of the mastered file; zero while there is none.
	File     string // relative to the media root: social/<type>/SOC_<id>_<slug>.mp3
	Bytes    int64
	Duration time.Duration
	Levels   Levels
	Cover    string // media type of the cover picture; empty if there is none
	Finding  check.Finding
	Alike    []Likeness

	Rights  string // the text that the submitter confirmed
	Source  Source
	Tries   int   // attempts at processing that were our fault
	NextTry int64 // of a failed post; 0: none by itself
	Reports int   // by distinct listeners, since it was last approved

	Votes     Votes
	Reactions map[string]int // listeners by kind; kinds without any are absent

	reacted   rank.Reactions // as they are weighed
	folded    string         // the text that a search looks through: see Draft
	candidate bool           // by the condition of that name, whatever the operator's rules
}

// Votes are what listeners have voted on a post.
type Votes struct {
	Up, Down int // listeners
	// Weighed are the votes that count, by rank.Tally.
	WeighedUp, WeighedDown float64
	// Support is what counts towards an approval by votes, by rank.Support.
	Support float64
	// Late are those of WeighedUp and WeighedDown that were cast within the last day.
	Late struct{ Up, Down float64 }
}

// Levels are the loudness of a mastered post.
type Levels struct {
	Integrated float64 `json:"integrated"` // LUFS, of the mastered file
	TruePeak   float64 `json:"truePeak"`   // dBTP, of the mastered file
	Gain       float64 `json:"gain"`       // dB, applied
	Source     float64 `json:"source"`     // LUFS, as it was sent
}

// Source is what was sent.
type Source struct {
	Kind  string // upload, base64, url
	Name  string // the file's own name, or the address without its query
	Bytes int64
}

// Likeness is another recording that a post sounds like, or that only has its name.
type Likeness struct {
	File       string  `json:"file,omitempty"` // of a track of the library
	Post       int64   `json:"post,omitempty"` // of a post
	Title      string  `json:"title"`
	Artist     string  `json:"artist"`
	Difference float64 `json:"difference"` // share of differing bits, 0 to 1; 1 where only names agree
	Covered    float64 `json:"covered"`    // share of the longer one that lies over the other
	SameName   bool    `json:"sameName"`
	Status     Status  `json:"status,omitempty"` // of the post, when it was compared
}

// coveredEnough is how much of the longer recording must lie over the other for the two to
// be one: a song that opens with the station's jingle is not the jingle.
const coveredEnough = 0.5

// Same reports that it is the same recording beyond doubt; short sounds are so wherever they
// are found at all.
func (l Likeness) Same() bool { return l.Difference <= fingerprint.Same && l.Covered >= coveredEnough }

// Visible reports whether everybody may see and hear the post, and it may air.
func (p *Post) Visible() bool { return p.Status == Approved }

// mastered reports whether there is a file to air.
func (p *Post) mastered() bool { return p.File != "" }

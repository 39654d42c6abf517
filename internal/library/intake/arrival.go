package intake

import (
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/station"
)

// State is how far an arrival has come:
//
//	waiting → looking   a worker listens to it
//	looking → waiting   the machine did not get it read: again in a while
//	looking → refused   it cannot air, or does not fit the category that was chosen
//	looking → asks      its category was guessed, or it looks like a track that is there
//	looking → taking    neither
//	asks    → taking    a person took it
//	taking  → asks      meanwhile a track came that it looks like, and nobody was asked
//	taking  → taken     it is in the media folder
//	taking  → refused   it cannot be placed; what it was to replace is where it was
//	taken   → undoing   a person takes it back: it goes to the archive, once it is off the air
//	undoing → undone    it is there, and what it replaced is back
//	undoing → taken     it cannot leave
//	refused → waiting   a person wants it looked at again, or changed it
//	any but taken and after → no more: a person dropped it, or nobody answered for Limits.Age
type State string

// The states.
const (
	Waiting State = "waiting"
	Looking State = "looking"
	Asks    State = "asks"
	Taking  State = "taking"
	Taken   State = "taken"
	Undoing State = "undoing"
	Undone  State = "undone"
	Refused State = "refused"
)

// Question is what a person is asked.
type Question string

// The questions.
const (
	AskCategory  Question = "category"  // it was guessed
	AskDuplicate Question = "duplicate" // see Alike
)

// Arrival is one file that staff uploaded. It is a copy; nothing in it is ever changed.
type Arrival struct {
	ID     string // no secret
	Batch  string // what was dropped together, as the page calls it
	Name   string // of the file where it came from, for people
	Folder string // that it lay in there, below what was dropped
	Size   int64  // bytes
	At     time.Time
	By     string // who sent it
	State  State

	Category station.Category // empty until it was looked at, where none was chosen
	Guessed  bool             // nobody chose it; Why says what it goes by
	Why      Words

	Title, Artist, Album string // by the person, else by its tags, else by its name
	Duration             time.Duration

	Alike   []Likeness
	Asks    []Question
	Replace string    // path of the track whose file it replaces; empty: none
	Path    string    // in the media folder, once taken; where it was, once undone
	Reason  *Refusal  // why it is refused, or not placed yet
	AirsAt  time.Time // from when it could air; zero: it cannot yet
}

// Likeness is a track of the library that an arrival looks like.
type Likeness struct {
	Path, Title, Artist string
	Category            station.Category
	Duration            time.Duration
	Size                int64
	Recording           bool    // it sounds the same; else only the names are
	Difference          float64 // 0: the very same sound, to 1: only the names
}

// kept is an arrival as it is stored.
type kept struct {
	Arrival
	Upload     string // the file that it comes from
	Here       bool   // it has come into the folder, and is at no other place
	Ext        string
	Rate       int  // of samples, Hz
	TitleSaid  bool // by a person, and so for Artist
	ArtistSaid bool
	Auto       bool  // nobody was asked: a duplicate that comes meanwhile is asked about
	Out        bool  // what it replaces leaves, or has left, for the archive
	Asked      bool  // the archive was asked for that, and takes it by itself once it is off the air
	Told       bool  // the library knows of it
	Deed       int64 // by which a person's names for it are kept; 0: none
	Left       bool  // it is being taken back, and its file is in the archive
	Dropped    bool  // its file is being removed
	DoneAt     time.Time
}

// placed reports that the arrival's file has left the intake for the media folder.
func (k *kept) placed() bool {
	return k.State == Taken || k.State == Undoing || k.State == Undone
}

// settled reports that nothing is left to be done about an arrival but to show its line.
func (k *kept) settled() bool { return (k.State == Taken || k.State == Undone) && k.Told }

// info is what a category's limits go by.
func (k *kept) info() *audiofile.Info {
	return &audiofile.Info{Duration: k.Duration, SampleRate: k.Rate}
}

// questions are what a person must be asked before an arrival is taken: whether the category
// that was guessed is right, and whether another file of a recording or name that is there is
// meant. The track that it replaces is alike by intention.
func (k *kept) questions() []Question {
	var ask []Question
	if k.Guessed || k.Category == "" {
		ask = append(ask, AskCategory)
	}
	if slices.ContainsFunc(k.Alike, func(l Likeness) bool { return l.Path != k.Replace }) {
		ask = append(ask, AskDuplicate)
	}
	return ask
}

// settle says what becomes of an arrival that was looked at.
func (k *kept) settle() {
	k.Reason, k.Asks, k.Auto = nil, nil, false
	if r := k.unfit(); r != nil {
		k.State, k.Reason = Refused, r
		return
	}
	if k.Asks = k.questions(); len(k.Asks) > 0 {
		k.State = Asks
		return
	}
	k.State, k.Auto = Taking, true
}

// unfit says why an arrival cannot be in its category.
func (k *kept) unfit() *Refusal {
	return refusalOf(media.Fits(k.Category, k.info()), k.Category, k.Duration)
}

// state is what people see.
func (e *entry) state() State {
	if e.busy && e.State == Waiting {
		return Looking
	}
	return e.State
}

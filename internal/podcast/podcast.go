// Package podcast keeps what the station offers on demand: shows, whose episodes are made of
// recorded broadcasts, bulletins, listeners' posts and files of the library, each once, and kept
// for as long as the operator says.
package podcast

import "time"

// Kind is what a show's episodes are made of.
type Kind string

// The kinds.
const (
	Live      Kind = "live"      // recorded broadcasts
	Bulletins Kind = "bulletins" // spoken bulletins
	Posts     Kind = "posts"     // listeners' posts that were approved
	Library   Kind = "library"   // files of the library, by hand alone
)

// Kinds returns all kinds, in the order in which they are shown.
func Kinds() []Kind { return []Kind{Live, Bulletins, Posts, Library} }

// Own is what an operator says of a show. It is kept as it is written here.
type Own struct {
	Slug        string   `json:"slug" doc:"In its addresses; it cannot be changed later"`
	On          bool     `json:"on" doc:"Whether listeners find it"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Language    string   `json:"language" doc:"Of the episodes, as ar or en (RFC 5646)"`
	Author      string   `json:"author" doc:"Empty: the station's name"`
	Email       string   `json:"email" doc:"Of the owner, public in the feed: directories write to it to be sure whose the show is. May be empty"`
	Copyright   string   `json:"copyright"`
	Categories  []string `json:"categories" nullable:"false" doc:"One to three of Apple's, as Music or News > Daily News"`
	Explicit    bool     `json:"explicit"`
	Serial      bool     `json:"serial" doc:"Episodes are to be heard in order, the oldest first"`
	Locked      bool     `json:"locked" doc:"Other platforms may not import it (podcast:locked)"`
	From        From     `json:"from"`
	// Held: an episode waits until somebody publishes it.
	Held bool `json:"held" doc:"New episodes wait until somebody publishes them"`
	Keep Keep `json:"keep"`
}

// From says what a show's episodes are made of.
type From struct {
	Kind    Kind     `json:"kind" enum:"live,bulletins,posts,library"`
	Streams []string `json:"streams" nullable:"false" doc:"Of live: ids of the streams; empty: all"`
	Types   []string `json:"types" nullable:"false" doc:"Of posts: their types; empty: song and mashup"`
	// Shortest leaves out what is shorter: a broadcast that was only tried.
	Shortest int `json:"shortest" doc:"Seconds: what is shorter becomes no episode"`
}

// Keep bounds a show; 0 is no bound. The oldest episodes go first, never one that is pinned.
type Keep struct {
	Episodes  int `json:"episodes"`
	Days      int `json:"days"`
	Megabytes int `json:"megabytes"`
}

// Show is a show as it stands.
type Show struct {
	Own
	Version int64  // grows with every change by an operator
	GUID    string // podcast:guid, of its first address; it stays for good
	Cover   string // stamp of the cover; empty: it is made of the station's face
	Created int64  // epoch milliseconds
	Changed int64  // epoch milliseconds: of the show or an episode that listeners see
	Removed int64  // epoch milliseconds: taken away then, and it can come back for a while; 0: it is there
	// Of the episodes that listeners see.
	Episodes int
	Latest   int64 // epoch milliseconds; 0: none
	Bytes    int64 // of all files of the show
}

// Public reports whether listeners find the show.
func (s *Show) Public() bool { return s.On && s.Removed == 0 }

// State is how far an episode is.
type State string

// The states.
//
//	making ──made──► held or published ◄──by hand──► hidden
//	   └──cannot be made──► failed ──by hand or later──► making
//	any ──removed──► removed ──brought back──► as before; else gone after a while
const (
	Making    State = "making"    // its file is being made, or waits for its turn
	Failed    State = "failed"    // it could not be made: Problem says why
	Held      State = "held"      // made, and waits for somebody to publish it
	Published State = "published" // listeners hear it from Published on
	Hidden    State = "hidden"    // it was taken back by hand
	Removed   State = "removed"   // it was removed by hand, and can come back for a while
)

// Chapter is a part of an episode that has a name.
type Chapter struct {
	StartMS int64  `json:"startMs"`
	Title   string `json:"title"`
	Artist  string `json:"artist" doc:"Empty where it is no song"`
}

// Episode is one episode. Times are epoch milliseconds, 0 for never.
type Episode struct {
	ID         string // 16 of a–z2–7, by show and source: the same source makes no second one
	Show       string // slug
	Number     int    // counts up within its show and is never used twice
	GUID       string // of the feed; it stays for good
	State      State
	Problem    string // why it could not be made, for operators
	ProblemAR  string // the same in Arabic; empty: there is no sentence for it
	Title      string
	Summary    string
	Artist     string // of a post or a file of the library
	Creator    string // presenter, or who sent the post
	Began      int64  // when it was on the air, or was made
	Published  int64  // when listeners may first hear it
	Changed    int64
	DurationMS int64
	Bytes      int64
	File       string // base name within the folder of its show; another name when its content is another
	Chapters   []Chapter
	Text       string  // what is said, where it is known word by word: a bulletin's
	Listeners  float64 // who heard it live, on average; below 0: nobody counted
	Explicit   bool
	Pinned     bool  // it is kept whatever Keep says
	Withheld   bool  // whatever its state, nobody hears it until what it is made of is approved again
	Removed    int64 // when it was removed by hand; 0: it is there
	Source     Source
	Cover      string // id of a picture in the library's covers; empty: the show's
	Downloads  int64  // by listeners, each counted once a day
}

// Source names what an episode is made of.
type Source struct {
	Kind Kind
	Key  string // a recording's or a bulletin's file, a post's id, a path in the library
}

// Heard reports whether listeners see an episode at a moment.
func (e *Episode) Heard(now time.Time) bool {
	return e.State == Published && !e.Withheld && e.Published <= now.UnixMilli()
}

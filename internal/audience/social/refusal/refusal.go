// Package refusal names every reason for which something that a listener sent is not
// taken, or not yet, and says it in words that a person understands, in English and in
// Arabic.
//
// It is pure and decides nothing: it neither looks at files nor knows what state a post is
// in.
package refusal

import (
	"slices"
	"time"
)

// Code is a reason, for programs.
type Code string

// What the file is.
const (
	NotAudio    Code = "not_audio"
	Playlist    Code = "playlist" // or another file that only points to sound
	VideoOnly   Code = "video_only"
	Protected   Code = "protected" // by DRM
	Damaged     Code = "damaged"
	Truncated   Code = "truncated"
	Empty       Code = "empty"
	TooLarge    Code = "too_large"   // Limit
	OddRate     Code = "odd_rate"    // a sample rate or a number of channels that nothing plays
	TagsAbsurd  Code = "tags_absurd" // tags or pictures far larger than any there are
	MissingFile Code = "missing_file"
)

// What is heard in it.
const (
	TooShort    Code = "too_short" // Found, Shortest
	TooLong     Code = "too_long"  // Found, Longest; Found is 0 where it was not listened to its end
	Silent      Code = "silent"    // Share of it
	Clipped     Code = "clipped"
	DeadChannel Code = "dead_channel"
	OutOfPhase  Code = "out_of_phase" // on one loudspeaker it cancels itself
	TooQuiet    Code = "too_quiet"
	Noise       Code = "noise" // or a steady tone
	NotMusic    Code = "not_music"
)

// What is written beside it.
const (
	NamesMissing Code = "names_missing" // Field
	NamesLong    Code = "names_long"    // Field, Limit characters
	NamesLinks   Code = "names_links"   // Field
	NamesWords   Code = "names_words"   // Field
	UnknownType  Code = "unknown_type"
	Unconfirmed  Code = "rights_unconfirmed"
)

// What has nothing to do with it: who sends, how much, and what the station takes now.
const (
	Blocked         Code = "blocked"          // this sender
	HourLimit       Code = "limit_hour"       // Limit posts of one sender, At
	DayLimit        Code = "limit_day"        // Limit, At
	NetworkLimit    Code = "limit_network"    // At
	WaitingLimit    Code = "limit_waiting"    // Limit posts of one sender that are not judged
	UnfinishedLimit Code = "limit_unfinished" // uploads of a network
	TooFast         Code = "too_fast"
	QueueFull       Code = "queue_full"
	NoRoom          Code = "no_room"
	Busy            Code = "busy"
	Closed          Code = "closed"
)

// Where it was to be fetched from.
const (
	SourcePrivate  Code = "source_private"
	SourceRefused  Code = "source_refused"
	SourceTooLarge Code = "source_too_large" // Limit
	SourceSlow     Code = "source_slow"
	SourceKind     Code = "source_kind"
)

// That it is here already.
const (
	Duplicate         Code = "duplicate"          // Of
	DuplicateRejected Code = "duplicate_rejected" // Of
)

// What a person decided: see Moderator.
const (
	Quality     Code = "quality"
	Rights      Code = "rights"
	Language    Code = "language"
	OffTopic    Code = "offtopic"
	Offensive   Code = "offensive"
	Advertising Code = "advertising"
	Other       Code = "other"
)

// What is no refusal, or none for good.
const (
	Withdrawn Code = "withdrawn"
	Held      Code = "held"
	Reported  Code = "reported"
	OurFault  Code = "our_fault"
)

// Field is a field of a submission, as its JSON names it.
type Field string

// The fields that people write.
const (
	Title       Field = "title"
	Artist      Field = "artist"
	Description Field = "description"
	Tags        Field = "tags"
	CreatedBy   Field = "createdBy"
)

// Refusal is a reason with what its words need. Codes say which of the parameters they
// have; the others are zero.
type Refusal struct {
	Code     Code          `json:"code"`
	Found    time.Duration `json:"found,omitempty"`
	Shortest time.Duration `json:"shortest,omitempty"`
	Longest  time.Duration `json:"longest,omitempty"`
	Limit    int64         `json:"limit,omitempty"` // bytes of a file, characters of a text, posts
	Share    float64       `json:"share,omitempty"` // 0 to 1
	Of       string        `json:"of,omitempty"`    // the name of what it equals
	Field    Field         `json:"field,omitempty"`
	// Note is what a moderator wrote to the submitter, or what a program said of the file.
	Note string `json:"note,omitempty"`
	// At is from when it may be sent again, in the zone in which people read it, and Now
	// when that is said. They are of answers and not kept.
	At  time.Time `json:"-"`
	Now time.Time `json:"-"`
}

// New returns a refusal that needs no parameters.
func New(code Code) *Refusal { return &Refusal{Code: code} }

// Error is the reason in English, with its note.
func (r *Refusal) Error() string {
	en, _ := Words(r)
	if r.Note != "" {
		en += " (" + r.Note + ")"
	}
	return en
}

// Spoken returns what an answer says of the reason: at is zero where nothing is known.
func (r *Refusal) Spoken() (code, en, ar string, at time.Time) {
	en, ar = Words(r)
	return string(r.Code), en, ar, r.At
}

// Kind returns the refusal as an error that is of other kinds too, for errors.Is and
// errors.As. Their texts add nothing to its own.
func (r *Refusal) Kind(kinds ...error) error { return &kinded{r, kinds} }

type kinded struct {
	*Refusal
	kinds []error
}

// Unwrap leads to the refusal and its kinds.
func (k *kinded) Unwrap() []error { return append([]error{k.Refusal}, k.kinds...) }

// Moderator lists the reasons that a moderator may choose, in the order of their numbers,
// from 1.
func Moderator() []Code {
	return []Code{Quality, Rights, Language, OffTopic, Offensive, Advertising, Other}
}

// ByModerator reports that a person chose the reason.
func (r *Refusal) ByModerator() bool { return slices.Contains(Moderator(), r.Code) }

// All lists every code, in the order of the manual.
func All() []Code {
	return []Code{
		NotAudio, Playlist, VideoOnly, Protected, Damaged, Truncated, Empty, TooLarge, OddRate, TagsAbsurd, MissingFile,
		TooShort, TooLong, Silent, Clipped, DeadChannel, OutOfPhase, TooQuiet, Noise, NotMusic,
		NamesMissing, NamesLong, NamesLinks, NamesWords, UnknownType, Unconfirmed,
		Blocked, HourLimit, DayLimit, NetworkLimit, WaitingLimit, UnfinishedLimit, TooFast, QueueFull, NoRoom, Busy, Closed,
		SourcePrivate, SourceRefused, SourceTooLarge, SourceSlow, SourceKind,
		Duplicate, DuplicateRejected,
		Quality, Rights, Language, OffTopic, Offensive, Advertising, Other,
		Withdrawn, Held, Reported, OurFault,
	}
}

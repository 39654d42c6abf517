// Package model is what other radio automation has of a station, in Athir's own terms. Readers
// fill it in; they decide nothing of what comes over.
package model

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/onair/rotation"
)

// Station is one station of another system.
type Station struct {
	System  string // AzuraCast, LibreTime
	Version string // as far as the source says
	ID      string // of it in the source; empty: there is but one
	Name    string
	Zone    string // IANA; empty: unknown
	// Others are names of further stations in the source, that were not asked for.
	Others    []string
	Tracks    []Track
	Playlists []Playlist
	Streamers []Streamer
	Webhooks  []Webhook
	// Left are things that have no counterpart here, by kind, with how many there are.
	Left []Left
	// Close releases what the tracks' Open reads from; nil: nothing.
	Close func() error
}

// Track is a media file.
type Track struct {
	ID                                  string
	Path                                string // within the source's media folder, slash-separated, valid
	Title, Artist, Album, Genre, Lyrics string
	ISRC                                string
	Kind                                string // how the source sorts it: Music, Jingles; empty: not
	Length                              time.Duration
	CueIn, CueOut, Cross                time.Duration // 0: none
	Gain                                float64       // dB; told, not kept: one loudness
	Size                                int64         // 0: unknown
	// Open reads the file; nil where the source has none of it.
	Open func() (io.ReadCloser, error)
}

// Playlist is a list of tracks and when it plays.
type Playlist struct {
	ID, Name string
	Off      bool
	Jingles  bool           // the source treats its tracks as imaging
	Items    []string       // ids of tracks, in order
	Remote   string         // address of a remote playlist or stream
	Stream   bool           // Remote is an endless stream
	Smart    string         // a smart block's criteria, as text; empty: none
	Query    *catalog.Query // what of Smart the library can ask for; nil: nothing
	Order    rotation.ListOrder
	Plays    rotation.ListPlays
	Weight   int // of share: the source's weight, 1 to 25
	Every    int // of songs
	Minutes  int // once in so many minutes; 0: not
	Minute   int // of hourly
	When     []rotation.Window
	// Notes say what of it has no counterpart here.
	Notes []Note
}

// Streamer is a person who goes live.
type Streamer struct {
	Login, Name, Comment string
	Off                  bool
	When                 []rotation.Window
}

// Webhook is a call that the source makes.
type Webhook struct {
	Name, Type, Address string
	Events              []string
	Off                 bool
}

// Left is what does not come over, and why.
type Left struct {
	Kind   string // mounts, relays, requests, listeners, logs, podcasts, …
	Count  int
	Reason Note
}

// Note is a sentence for the operator.
type Note struct{ En, Ar string }

// WhichError says that a source has several stations and none was named, or that it has none of
// the name.
type WhichError struct {
	Asked string
	There []string
}

func (e *WhichError) Error() string {
	var all []string
	for _, name := range e.There {
		all = append(all, strconv.Quote(name))
	}
	if e.Asked != "" {
		return fmt.Sprintf("--station: there is no %q: there are %s", e.Asked, strings.Join(all, ", "))
	}
	return "--station: there are several, name one: " + strings.Join(all, ", ")
}

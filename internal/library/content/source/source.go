// Package source searches and fetches new material: from the operator's inbox
// folder, podcast and RSS feeds, the Internet Archive's open audio, a single
// address, and yt-dlp where the operator installed it.
//
// It brings files into a work folder, with the source and licence of each. The content
// pipeline decides whether a file is fit for air and where it goes. All input from
// outside is treated as hostile: addresses go through kit/fetch, texts are cleaned
// before they leave this package, and nothing reaches a shell.
package source

import (
	"context"
	"errors"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// The sources' names, as they are recorded with every file.
const (
	NameInbox   = "inbox"
	NameFeed    = "feed"
	NameArchive = "archive.org"
	NameURL     = "url"
	NameYTDLP   = "yt-dlp"
)

// Source is a place new material comes from. Its methods may be called by many
// at once and return soon after ctx ends.
type Source interface {
	// Name is one of the Name constants.
	Name() string
	// Search lists at most w.Target candidates that suit w and that w.Known does
	// not know, best first. None is no error. An error may come with candidates:
	// part of the source answered, or ctx ended before the rest. A source that cannot work here at all returns
	// an error of kind station.ErrUnavailable that names the remedy.
	Search(ctx context.Context, w Want) ([]Candidate, error)
	// Fetch brings c's file into dir, an existing folder that is the caller's
	// alone. On an error it leaves nothing there. progress may be nil; it is
	// called from one goroutine at a time and total is 0 while unknown.
	Fetch(ctx context.Context, c Candidate, dir string, progress func(done, total int64)) (Fetched, error)
	// Settle reports the outcome of c to the source. Only the inbox acts on it: it
	// removes or sets aside the operator's file.
	Settle(ctx context.Context, c Candidate, o Outcome) error
}

// Want says what is looked for.
type Want struct {
	// Category is the deck it is for. Empty: whatever the inbox holds, including
	// the files that lie in no category's folder; the other sources find nothing.
	Category station.Category
	Kind     string   // song, mashup, ad, jingle, sfx or short; empty: any
	Singers  []string // the category's catalog, in the order to try
	Queries  []string // the category's trend queries, in the order to try
	Target   int      // how many candidates at most; none when 0 or less
	// Shortest and Longest leave out candidates whose source states another
	// length; 0 is no limit.
	Shortest, Longest time.Duration
	// Known reports whether a candidate was fetched or refused before. Nil
	// knows none.
	Known func(source, id string) bool
}

// Candidate is one file a source offers. Texts are clean (see Clean) and may be
// empty; numbers are 0 and Published is zero when unknown.
type Candidate struct {
	Source string // the source's name
	// ID is the candidate's identity within its source: stable from one search
	// to the next, at most 1024 bytes, any bytes but NUL in the inbox.
	ID   string
	URL  string // of the file; empty in the inbox
	Page string // where a person reads about it; http, https or empty

	Title, Artist, Album, Genre string
	// License is a licence's address or its words, as stated by the source.
	// Licensor is who states it.
	License, Licensor string

	Category  station.Category
	Published time.Time
	Duration  time.Duration // as the source states it
	Size      int64         // bytes, as the source states it
}

// Fetched is a file that was brought.
type Fetched struct {
	// File lies in the folder Fetch was given. Its name is made by this package:
	// plain ASCII with an extension that suits the content.
	File string
	// Candidate is c with what became known while it was fetched.
	Candidate Candidate
}

// Outcome is the pipeline's decision on a candidate.
type Outcome struct {
	// Taken: the file is in the library, and the original is no longer needed.
	Taken bool
	// Why it was not taken, in Arabic and in English, one sentence each.
	WhyArabic, WhyEnglish string
}

// suits reports whether a stated length is within w's limits; 0 is unknown.
func (w Want) suits(length time.Duration) bool {
	return length <= 0 || length >= w.Shortest && (w.Longest <= 0 || length <= w.Longest)
}

func (w Want) known(source, id string) bool { return w.Known != nil && w.Known(source, id) }

// Lasting reports whether a Search or Fetch error is about the candidate
// itself, so that trying again will not help: remember it as refused. Other
// errors (network, time, a busy server) may pass.
func Lasting(err error) bool {
	var l interface{ Lasting() bool }
	return errors.As(err, &l) && l.Lasting()
}

// lasting is an error about the candidate itself.
type lasting struct{ error }

func (l lasting) Lasting() bool { return true }
func (l lasting) Unwrap() error { return l.error }

package api

import (
	"context"
	"math"

	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/station"
)

// LibraryItem is one track of the inventory.
type LibraryItem struct {
	File       string `json:"file"`
	Title      string `json:"title"`
	Artist     string `json:"artist"`
	Album      string `json:"album"`
	Category   string `json:"category"`
	DurationMS int64  `json:"durationMs"`
	License    string `json:"license"`
	Size       int64  `json:"size" doc:"Bytes"`
}

// Deck is the sum of one category.
type Deck struct {
	Tracks     int   `json:"tracks"`
	DurationMS int64 `json:"durationMs"`
}

// Quarantined is a file that cannot be aired, and the reason.
type Quarantined struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	Since  int64  `json:"since"`
}

// Quieter is a file that airs below the loudness of its category.
type Quieter struct {
	Path string  `json:"path"`
	LUFS float64 `json:"lufs" doc:"Loudness of what airs"`
	By   float64 `json:"by" doc:"LU under the category's loudness"`
}

// Mastering is the progress of making on-air copies at the station's loudness.
type Mastering struct {
	Waiting int    `json:"waiting" doc:"Files that are not decided yet"`
	Silent  int    `json:"silent" doc:"Of them, those of which nothing airs meanwhile"`
	LeftMS  int64  `json:"leftMs" doc:"Estimated time left, milliseconds; 0 while unknown"`
	InWork  string `json:"inWork" doc:"A file in work, relative to the media root"`
	Problem string `json:"problem" doc:"What keeps files from being mastered; empty when nothing does"`
	Quieter int    `json:"quieter" doc:"Files that air below their loudness: /api/library lists them"`
	Ready   int    `json:"ready" doc:"Files that can air"`
	Early   int    `json:"early" doc:"Of them, songs that air from their own files until their copies are made"`
}

// MasteringOf returns the progress of the on-air copies.
func MasteringOf(s *aircopy.Snapshot) Mastering {
	out := Mastering{Waiting: s.Work.Waiting, Silent: s.Work.Silent, LeftMS: s.Work.Left.Milliseconds(), Problem: s.Problem, Quieter: len(s.Quieter), Ready: len(s.Tracks), Early: s.Work.Early}
	if len(s.Work.Current) > 0 {
		out.InWork = s.Work.Current[0].Path
	}
	return out
}

type libraryAnswer struct {
	Body struct {
		Tracks      int             `json:"tracks" doc:"Fit to air"`
		Categories  map[string]Deck `json:"categories"`
		Quarantined []Quarantined   `json:"quarantined" doc:"At most 500"`
		Mastering   Mastering       `json:"mastering"`
		Quieter     []Quieter       `json:"quieter" doc:"Files that air below their loudness, because a limiter would have to turn their peaks down by more than 8 dB; at most 500"`
		Scanning    bool            `json:"scanning"`
		ScannedAt   int64           `json:"scannedAt,omitempty"`
		Items       []LibraryItem   `json:"items"`
		Total       int             `json:"total" doc:"Items that match"`
		Offset      int             `json:"offset"`
		Limit       int             `json:"limit"`
	}
}

type libraryQuery struct {
	Offset   int    `query:"offset" minimum:"0"`
	Limit    int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Category string `query:"category" enum:"arabic_hits,english,mashups,ads,jingles,sweepers,sfx,shorts,news,social"`
	Q        string `query:"q" maxLength:"200" doc:"Part of title, artist, album or path"`
}

const maxQuarantined = 500

func (s *Server) library(ctx context.Context, in *libraryQuery) (*libraryAnswer, error) {
	lib := s.opt.Library()
	out := &libraryAnswer{}
	b := &out.Body
	b.Tracks, b.Scanning, b.Offset, b.Limit = len(lib.Tracks), lib.Scanning, in.Offset, in.Limit
	if b.Mastering = s.opt.Mastering(); !forOperator(ctx) {
		veil(&b.Mastering.Problem)
	}
	if !lib.ScannedAt.IsZero() {
		b.ScannedAt = lib.ScannedAt.UnixMilli()
	}
	b.Categories, b.Items, b.Quarantined = decks(lib), []LibraryItem{}, []Quarantined{}
	found, total := lib.Search(media.Search{Text: in.Q, Category: station.Category(in.Category), Offset: in.Offset, Limit: in.Limit})
	b.Total = total
	for _, t := range found {
		b.Items = append(b.Items, LibraryItem{
			File: t.Path, Title: t.Title, Artist: t.Artist, Album: t.Album, Category: string(t.Category),
			DurationMS: t.Duration.Milliseconds(), License: t.License, Size: t.Size,
		})
	}
	for _, q := range lib.Quarantined[:min(maxQuarantined, len(lib.Quarantined))] {
		b.Quarantined = append(b.Quarantined, Quarantined{q.Path, q.Reason, q.Since.UnixMilli()})
	}
	b.Quieter = []Quieter{}
	if s.opt.Quieter != nil {
		list := s.opt.Quieter()
		for _, q := range list[:min(maxQuarantined, len(list))] {
			b.Quieter = append(b.Quieter, Quieter{q.Path, math.Round(10*q.LUFS) / 10, math.Round(10*q.By) / 10})
		}
	}
	return out, nil
}

// decks sums every category, the empty ones included.
func decks(lib *media.Snapshot) map[string]Deck {
	out := map[string]Deck{}
	for _, c := range station.Categories() {
		d := lib.Decks[c]
		out[string(c)] = Deck{d.Tracks, d.Duration.Milliseconds()}
	}
	return out
}

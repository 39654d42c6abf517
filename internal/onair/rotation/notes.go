package rotation

import (
	"cmp"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// NoteKind says what a Note is about.
type NoteKind string

// The kinds.
const (
	// ArtistShare: an artist sings too much to keep ARTIST_GAP.
	ArtistShare NoteKind = "artist-share"
	// ShortWindow: the deck of a hard window is shorter than COOLDOWN_PERIOD.
	ShortWindow NoteKind = "short-window"
	// EmptyWindow: the deck of a hard window is empty, so the mix goes on in it.
	EmptyWindow NoteKind = "empty-window"
)

// Note tells operators where the library is too small or too uneven for what the
// configuration asks, and what the planner does about it.
type Note struct {
	Kind NoteKind `json:"kind" enum:"artist-share,short-window,empty-window"`
	// Of an artist: the share of the music in the daypart that has most of it, 0 to 1,
	// and the gap between the songs there.
	Artist string  `json:"artist,omitempty" doc:"As tagged"`
	Share  float64 `json:"share,omitempty" doc:"Of the music in the daypart that has most of the artist, 0 to 1"`
	Gap    Millis  `json:"gapMs,omitempty" doc:"Between the artist's songs there, in place of ARTIST_GAP_MS"`
	// Of a window: its bounds, its category and what that holds.
	Start    string           `json:"start,omitempty" doc:"HH:MM"`
	End      string           `json:"end,omitempty" doc:"HH:MM"`
	Category station.Category `json:"category,omitempty" doc:"That alone should air in the window"`
	Songs    int              `json:"songs" doc:"That the category, or the artist, has"`
	Length   Millis           `json:"lengthMs,omitempty" doc:"Playing time of the category"`
}

// mostArtists bounds the artists of Notes; those with the most songs are named.
const mostArtists = 5

// Notes compares a library with a configuration, windows first. It is cheap: the index
// has counted already.
func Notes(x *Index, cfg Config) []Note {
	var windows, artists []Note
	at := map[uint64]int{}
	for _, d := range slices.Concat(cfg.dayparts(), []Daypart{{}}) {
		if d.Start == d.End && cfg.Dayparts == nil {
			continue // the built-in ones cover the day
		}
		state := x.scarce(d.Hard, cfg.Rotation.CooldownPeriod.Duration())
		if state != plenty {
			n := Note{
				Kind: ShortWindow, Start: d.Start.String(), End: d.End.String(), Category: d.Hard,
				Songs: x.music[d.Hard].songs, Length: Millis(x.music[d.Hard].airtime.Milliseconds()),
			}
			if state == empty {
				n.Kind = EmptyWindow
			}
			windows = append(windows, n)
		}
		for _, p := range x.portions(x.mixOf(cfg, d), cfg.Rotation.ArtistGap.Duration()) {
			k, known := at[p.key]
			if !known {
				k = len(artists)
				at[p.key] = k
				artists = append(artists, Note{Kind: ArtistShare, Artist: p.name})
			}
			if n := &artists[k]; p.share > n.Share {
				n.Share, n.Gap = p.share, Millis(p.gap.Round(time.Second).Milliseconds())
			}
			artists[k].Songs = max(artists[k].Songs, p.songs)
		}
	}
	slices.SortStableFunc(artists, func(a, b Note) int { return cmp.Compare(b.Songs, a.Songs) })
	return slices.Concat(windows, artists[:min(len(artists), mostArtists)])
}

// mixOf returns the mix of a daypart; of a hard window without songs the mix that goes on.
func (x *Index) mixOf(cfg Config, d Daypart) *mix {
	floor := cfg.Rotation.MusicMin.Duration()
	open := x.scarce(d.Hard, cfg.Rotation.CooldownPeriod.Duration()) == empty
	if open {
		d = Daypart{}
	}
	return newMix(weights(cfg, d), func(c station.Category) int {
		good, _ := x.deck(c, floor)
		return len(good)
	}, d.Hard != "")
}

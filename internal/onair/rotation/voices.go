package rotation

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// voice is an artist who sings a considerable part of a deck.
type voice struct {
	key   uint64
	name  string // as tagged
	songs int
}

// chorus is who sings a music deck.
type chorus struct {
	songs   int
	airtime time.Duration // of all songs
	voices  []voice       // most songs first
}

// fewest is the part of a deck that makes an artist a voice of it: one song in two
// hundred. Such an artist keeps a gap of nine hours.
const fewest = 200

// chorusOf counts who sings a deck.
func (x *Index) chorusOf(c station.Category) chorus {
	deck := x.decks[c]
	out := chorus{songs: len(deck)}
	count := make(map[uint64]int, len(deck)/4)
	for _, id := range deck {
		out.airtime += airtime(x.tracks[id], CrossFor(&x.tracks[id]))
		for _, a := range x.names[id].artists {
			count[a]++
		}
	}
	maps.DeleteFunc(count, func(_ uint64, n int) bool { return n*fewest < len(deck) })
	if len(count) == 0 {
		return out
	}
	names := make(map[uint64]string, len(count))
	for _, id := range deck { // by a song that is theirs alone, if there is one
		artists := x.names[id].artists
		for _, a := range artists {
			if name := x.tracks[id].Artist; count[a] > 0 && (names[a] == "" || len(artists) == 1 && len(name) < len(names[a])) {
				names[a] = name
			}
		}
	}
	for key, n := range count {
		out.voices = append(out.voices, voice{key, names[key], n})
	}
	slices.SortFunc(out.voices, func(a, b voice) int { return cmp.Or(b.songs-a.songs, cmp.Compare(a.key, b.key)) })
	return out
}

// gapShare is how much of the mean distance between an artist's songs the artist gap may
// take, if all songs of a deck air alike; the rest is room for chance and the other rules.
const gapShare = 0.75

// portion is what an artist sings of the music of a daypart.
type portion struct {
	voice
	share float64
	gap   time.Duration
}

// portions returns the artists of a mix whose songs could not have as many turns as others
// if ARTIST_GAP stood between them. Their gap follows their share instead: gapShare of
// the mean airtime of a song, divided by the share.
func (x *Index) portions(m *mix, most time.Duration) []portion {
	mean, loudest := 0.0, 0.0 // of a song; the share of an artist who leads every deck
	for i, c := range m.cats {
		if deck := x.music[c]; deck.songs > 0 {
			mean += m.share[i] * float64(deck.airtime) / float64(deck.songs)
			if len(deck.voices) > 0 {
				loudest += m.share[i] * float64(deck.voices[0].songs) / float64(deck.songs)
			}
		}
	}
	if loudest == 0 || time.Duration(gapShare*mean/loudest) >= most {
		return nil
	}
	var out []portion
	at := map[uint64]int{}
	for i, c := range m.cats {
		deck := x.music[c]
		for _, v := range deck.voices {
			k, known := at[v.key]
			if !known {
				k = len(out)
				at[v.key] = k
				out = append(out, portion{voice: voice{v.key, v.name, 0}})
			}
			out[k].songs += v.songs
			out[k].share += m.share[i] * float64(v.songs) / float64(deck.songs)
		}
	}
	for i := range out {
		out[i].gap = time.Duration(gapShare * mean / out[i].share)
	}
	return slices.DeleteFunc(out, func(p portion) bool { return p.gap >= most })
}

// gapsOf returns the gaps of the artists who cannot keep ARTIST_GAP.
func gapsOf(x *Index, m *mix, most time.Duration) map[uint64]time.Duration {
	gaps := map[uint64]time.Duration{}
	for _, p := range x.portions(m, most) {
		gaps[p.key] = p.gap
	}
	return gaps
}

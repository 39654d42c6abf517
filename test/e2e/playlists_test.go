package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	radio "github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

const playlistsAt = "/api/station/playlists"

// An operator makes a playlist that has the music to itself: it is heard in its order, with
// nothing between its songs. Another control plane goes on where the one before was, and once
// the playlist is deleted the rotation is as without it; taken back, it goes on behind what was
// heard.
func TestAPlaylistIsHeardInItsOrder(t *testing.T) {
	t.Parallel()
	s := ofSongs(t)
	air := s.listen()
	want := s.unheard(6)
	paths := make([]string, len(want))
	for i, tone := range want {
		paths[i] = shelfSong(tone)
	}
	body, err := json.Marshal(map[string]any{"name": "رحلة", "kind": "hand", "order": "sequence", "plays": "only", "when": []any{}, "on": true, "paths": paths})
	if err != nil {
		t.Fatal(err)
	}
	code, text := s.operate("POST", playlistsAt, string(body))
	var made struct {
		Playlist struct {
			ID     int64
			Tracks int
			Open   bool
		}
	}
	if err := json.Unmarshal([]byte(text), &made); err != nil || code != http.StatusOK || made.Playlist.Tracks != len(want) || !made.Playlist.Open {
		t.Fatalf("%d %s %v", code, text, err)
	}
	s.eventually("it is planned, in its order", func() bool { return slices.Equal(s.toCome(len(want)), want) })
	from := time.Now()
	s.operate("POST", "/api/station/skip", "")
	heard := func(n int) (out []int) {
		segments := air.until(s, fmt.Sprintf("%d of the playlist are heard", n), air.Position(from), func(all []aircheck.Segment) bool {
			return listed(all, want) >= n
		})
		at := slices.IndexFunc(segments, func(seg aircheck.Segment) bool { return seg.ID == want[0] })
		for _, seg := range segments[max(at, 0):] {
			if seg.ID >= 0 && (len(out) == 0 || out[len(out)-1] != seg.ID) {
				out = append(out, seg.ID)
			}
		}
		return out
	}
	if got := heard(2); !slices.Equal(got[:2], want[:2]) {
		t.Fatalf("heard %v, want %v", got, want)
	}
	old := s.kill("control")
	s.eventually("the next control plane", func() bool {
		p, err := s.process("control")
		return err == nil && p.PID != old
	})
	s.whole()
	if got := heard(4); !slices.Equal(got[:4], want[:4]) {
		t.Fatalf("beside another control plane: heard %v, want %v", got, want)
	}
	code, text = s.operate("DELETE", fmt.Sprintf("%s/%d", playlistsAt, made.Playlist.ID), "")
	var gone struct{ Deed struct{ ID int64 } }
	if err := json.Unmarshal([]byte(text), &gone); err != nil || code != http.StatusOK {
		t.Fatalf("%d %s %v", code, text, err)
	}
	s.eventually("the rotation is as without it", func() bool { return s.ofPlaylists() == 0 })
	if code, text := s.operate("POST", fmt.Sprintf("%s/deeds/%d/undo", playlistsAt, gone.Deed.ID), ""); code != http.StatusOK {
		t.Fatalf("%d %s", code, text)
	}
	s.eventually("it goes on behind what was heard", func() bool {
		next := s.toCome(1)
		return len(next) == 1 && slices.Index(want, next[0]) >= 4
	})
}

// ofSongs is a station on the air with English songs alone, and nothing between them.
func ofSongs(t *testing.T) *station {
	t.Helper()
	s := newStation(t, withKeys, func(s *station) {
		rules := programmeRules(40, []rotation.Daypart{})
		rules.SFXChance, rules.AdEvery = 0, 0
		s.configure(rules)
	})
	var songs []piece
	for _, p := range library() {
		if p.category == radio.English {
			songs = append(songs, p)
		}
	}
	record(t, s.media, songs)
	s.start().whole()
	return s
}

// unheard picks songs of as many singers that were not on the air of late, nor come soon: what is
// heard now airs first in no playlist. They are in another order than the rotation has them.
func (s *station) unheard(n int) (picked []int) {
	s.t.Helper()
	all, consumed := s.schedule()
	for _, tone := range slices.Backward(tones(all)) {
		soon := slices.Contains(tones(all[:min(consumed+10, len(all))]), tone)
		sung := slices.ContainsFunc(picked, func(other int) bool { return (other-tone)%singersOfEnglish == 0 })
		if !soon && !sung && len(picked) < n {
			picked = append(picked, tone)
		}
	}
	if len(picked) < n {
		s.t.Fatalf("only %v are not heard soon in %v", picked, tones(all))
	}
	return picked
}

// listed counts how many of a playlist's tones are heard.
func listed(heard []aircheck.Segment, want []int) (n int) {
	for _, tone := range want {
		if slices.ContainsFunc(heard, func(seg aircheck.Segment) bool { return seg.ID == tone }) {
			n++
		}
	}
	return n
}

// toCome are the tones of the next entries for music.
func (s *station) toCome(n int) []int {
	all, consumed, err := s.rotation()
	if err != nil {
		return nil
	}
	music := slices.DeleteFunc(slices.Clone(all[min(consumed, len(all)):]), func(e entry) bool { return e.Type != "music" })
	return tones(music[:min(n, len(music))])
}

// ofPlaylists counts entries to come that a playlist brought.
func (s *station) ofPlaylists() (n int) {
	all, consumed, err := s.rotation()
	if err != nil {
		return -1
	}
	for _, e := range all[min(consumed, len(all)):] {
		if e.List != 0 {
			n++
		}
	}
	return n
}

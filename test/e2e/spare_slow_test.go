package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/playlist"
	radio "github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

// A node that has nothing, behind 150 kB/s, is asked for a list of songs of 2.4 MB. It pulls
// what comes first alone, and plays that as soon as it is there; a spare holds as much, and
// takes the air with it.
func TestASpareNodeThatHasNothingPlaysTheFirstSongItGets(t *testing.T) {
	var songs []piece
	for i := range 8 {
		who := fmt.Sprintf("singer %d", i)
		songs = append(songs, piece{id: i, category: radio.English, length: 100 * time.Second, title: fmt.Sprintf("song %d", i), singers: []string{who}, artist: who})
	}
	for i := range 2 {
		songs = append(songs, piece{id: 8 + i, category: radio.Jingles, length: 2 * time.Second, title: fmt.Sprintf("jingle %d", i)})
	}
	p := newSpared(t, songs, 8, everywhere)
	for _, m := range []string{"a", "b"} {
		p.net.narrow(m, true)
	}
	p.eventually("the library", func() bool { return p.logged("control:", "media library changed", "added=10") > 0 })
	begun := time.Now()
	p.startNode("a")
	p.eventually("the first song is told", func() bool { return p.logged("control:", "now playing", "music/english") > 0 })
	p.first("a")
	air := listen(t, "the first node", "http://"+p.net.address("a")+p.port("icecast")+"/main")
	song := p.sounds("the first node", air)
	if n := p.logged("control:", "pull media: context canceled"); n > 0 {
		t.Logf("the node lost its lease %d times as it pulled", n)
	}
	t.Logf("a node with nothing behind 150 kB/s: tone %d was heard %s after its start", song, time.Since(begun).Round(time.Second))

	begun = time.Now()
	p.startNode("b")
	p.eventually("the spare has a song", func() bool {
		st := p.stood()
		return st.Spare != nil && st.Spare.InPlace && st.Spare.Missing < st.Spare.Entries
	})
	p.first("b")
	t.Logf("a spare with nothing behind 150 kB/s: a song is in place %s after its start", time.Since(begun).Round(time.Second))
	fence := p.stood().Fence
	p.net.dies("a")
	p.eventually("the spare has the air", func() bool { st := p.stood(); return st.Host == p.net.address("b") && st.Fence > fence })
	air = listen(t, "the second node", "http://"+p.net.address("b")+p.port("icecast")+"/main")
	p.sounds("the second node", air)
}

// first fails where a node has pulled anything but what its list begins with, or more than
// two files of it.
func (p *spared) first(m string) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(p.air[m]), "node", "main.m3u"))
	if err != nil {
		p.t.Fatal(err)
	}
	list, err := playlist.Decode(text)
	if err != nil {
		p.t.Fatal(err)
	}
	var head, has []string
	for _, item := range list {
		head = append(head, filepath.Base(item.Path))
	}
	_ = filepath.WalkDir(p.air[m], func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.Type().IsRegular() && filepath.Base(filepath.Dir(path)) != ".part" {
			has = append(has, d.Name())
		}
		return nil
	})
	p.t.Logf("node %s plays %v, and has %v", m, head, has)
	if len(has) == 0 || len(has) > 2 {
		p.t.Errorf("node %s has %d files as its first song is there", m, len(has))
	}
	for _, name := range has {
		if !slices.Contains(head[:min(2, len(head))], name) {
			p.t.Errorf("node %s has pulled %s, and its list begins with %v", m, name, head)
		}
	}
}

// sounds waits until three seconds of a song of the station are heard, and returns which.
func (p *spared) sounds(who string, air *listener) (song int) {
	p.t.Helper()
	p.eventually("music of "+who, func() bool {
		for _, seg := range aircheck.Fine.Analyse(air.rec.PCM()).Segments {
			if song = seg.ID; seg.Length() > 3*time.Second {
				return true
			}
		}
		return false
	})
	return song
}

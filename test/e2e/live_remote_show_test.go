package e2e

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

// bedTone is the tone of a show's bed, of the fine scale, which no song is of.
const bedTone = 50

// placeBed puts a bed into the library and returns its path there.
func placeBed(t *testing.T, media string) (rel string) {
	t.Helper()
	rel = "music/english/tone 50 سرير.mp3"
	place(t, filepath.Join(media, filepath.FromSlash(rel)), time.Now().Add(-time.Hour), aircheck.Track{
		ID: bedTone, Scale: aircheck.Fine, Duration: 20 * time.Second, Title: "سرير", Artist: "سرير",
	})
	return rel
}

// showOf has a phone at a node elsewhere heard by the studio before it is on the air, then
// in a show whose bed, a file that only the control plane has, plays until an encoder speaks;
// the same file is fired as a cart over that.
func (s *station) showOf(air *ear, far *machine, bed string, encoder func() (id string, end func())) {
	s.t.Helper()
	const spoken = freeTone + 1
	id, key := s.publisher("سارة", false)
	p := s.phone(id+"."+key, spoken)
	stream := s.streamOf("سارة")
	s.listensIn(stream, spoken)
	if now, err := s.live(); err != nil || now.Active != nil {
		s.t.Errorf("listening in put %+v on the air, %v", now.Active, err)
	}

	if code, text := s.liveOrder("show", `{"title":"سهرة","minutes":60,"bed":"`+bed+`"}`); code != http.StatusOK {
		s.t.Fatalf("show: %d %s", code, text)
	}
	if code, text := s.liveOrder("start", `{"id":"`+stream+`"}`); code != http.StatusOK {
		s.t.Fatalf("start: %d %s", code, text)
	}
	air.airs(s, "the phone is heard", spoken)
	pulled := filepath.Join(far.data, "node", "bed", "_", filepath.FromSlash(bed))
	s.eventually("the bed is on the node", func() bool { _, err := os.Stat(pulled); return err == nil })
	from := air.Position(time.Now())
	p.hangUp()
	air.airs(s, "the bed while nobody speaks", bedTone)
	other, end := encoder()
	s.eventually("the second of the show is started", func() bool {
		code, _ := s.call(http.MethodPost, "control", "/api/station/live/start", testStationKey, `{"id":"`+other+`"}`)
		return code == http.StatusOK
	})
	air.airs(s, "the second of the show", freeTone)
	s.setWall(bed)
	s.firesOver(air, freeTone, bedTone)
	end()
	air.airs(s, "the bed again", bedTone)
	s.only(air, from, freeTone, spoken, bedTone)
	if code, text := s.liveOrder("show/end", ""); code != http.StatusOK {
		s.t.Errorf("the end of the show: %d %s", code, text)
	}
	air.rotates(s, "the rotation after the show")
	s.eventually("the node keeps no bed", func() bool { _, err := os.Stat(pulled); return errors.Is(err, fs.ErrNotExist) })
}

// listensIn reads two seconds of a source as the studio does, and checks what it says.
func (s *station) listensIn(stream string, tone int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url("control", "/api/station/live/sources/"+stream+"/listen"), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("X-Station-Key", testStationKey)
	var resp *http.Response
	s.eventually("the desk has it", func() bool { // it is ordered a moment after it was registered
		if resp, err = http.DefaultClient.Do(req); err != nil {
			s.t.Fatal(err)
		}
		late := resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusServiceUnavailable
		if late {
			_ = resp.Body.Close()
		}
		return !late
	})
	defer resp.Body.Close() //nolint:errcheck // only read
	wav := make([]byte, 44+2*48_000*4)
	if _, err := io.ReadFull(resp.Body, wav); resp.StatusCode != http.StatusOK || err != nil {
		s.t.Fatalf("listen in: %d, %v: %.200q", resp.StatusCode, err, wav)
	}
	file := filepath.Join(s.t.TempDir(), "listened.wav")
	if err := os.WriteFile(file, wav, 0o600); err != nil {
		s.t.Fatal(err)
	}
	pcm, err := aircheck.Capture(ctx, file, time.Minute)
	if err != nil {
		s.t.Fatal(err)
	}
	heard := aircheck.Fine.Analyse(pcm)
	if len(heard.Segments) == 0 || heard.Segments[0].ID != tone {
		s.t.Errorf("listening in hears, for tone %d,\n%s", tone, heard)
	}
}

package onpodcast

import (
	"encoding/json"
	"log/slog"
	"math"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live/record"
	"github.com/athir-radio/athir/internal/live/wire"
	"github.com/athir-radio/athir/internal/podcast"
	finishing "github.com/athir-radio/athir/internal/podcast/sound"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/loudness"
)

// A quiet recording on the node is an episode at the station's loudness, with its song as a chapter,
// by the real recorder, owner and finisher.
func TestARecordingBecomesAnEpisode(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	const name = "LIVE_20261129-200000_nour.mp3"
	path := filepath.Join(dir, name)
	if out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=440:duration=12", "-filter:a", "volume=-9dB", "-b:a", "128k", path).CombinedOutput(); err != nil { //nolint:gosec // test
		t.Fatalf("%v: %s", err, out)
	}
	stat, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now().Add(-time.Hour)
	facts, err := json.Marshal(record.Recording{
		Name: name, Title: "سهرة", Presenter: "نور", StreamID: "LIVE1", Began: began.UnixMilli(), Ended: began.Add(12 * time.Second).UnixMilli(), DurationMS: 12_000, Bytes: stat.Size(), Parts: 1, Complete: true,
		Titles: []record.Title{{AtMS: 4000, Title: "أغنية", Creator: "فيروز"}},
	})
	if err == nil {
		err = os.WriteFile(strings.TrimSuffix(path, ".mp3")+".json", facts, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	all, err := record.Open(record.Options{Dir: dir, Log: quiet, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	n := &node{server: httptest.NewServer(all.Handler())}
	defer n.server.Close()
	finish, err := finishing.Open(finishing.Options{Dir: filepath.Join(data, "work"), Profile: "-14", Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), filepath.Join(data, "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // test
	p, err := podcast.Open(t.Context(), podcast.Options{
		Log: quiet, DB: db, Dir: filepath.Join(data, "podcasts"), Finish: finish, Station: func() string { return "أثير" },
		Origins: map[podcast.Kind]podcast.Origin{podcast.Live: &broadcasts{
			node: wire.Recordings{RoundTripper: n, Piece: 20_000, Clock: &wire.Clock{Measured: func(at time.Time) time.Time { return at }}}, now: time.Now,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	own := podcast.Own{Slug: "nour", On: true, Title: "سهرات", Description: "سهرة", Language: "ar", Categories: []string{"Music"}, From: podcast.From{Kind: podcast.Live}}
	if _, err := p.Create(t.Context(), own, "https://radio.example/podcasts/nour/feed.xml"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Add(t.Context(), "nour", podcast.Source{Kind: podcast.Live, Key: name}); err != nil {
		t.Fatal(err)
	}
	stop := testkit.Background(t, p.Run)
	defer stop()
	var made podcast.Episode
	testkit.Eventually(t, "the episode is published", func() bool {
		heard, err := p.Heard("nour")
		if err != nil || len(heard) == 0 {
			return false
		}
		made = heard[0]
		return true
	})
	if made.Title != "سهرة" || made.Creator != "نور" || len(made.Chapters) != 2 || made.Chapters[1] != (podcast.Chapter{StartMS: 4000, Title: "أغنية", Artist: "فيروز"}) {
		t.Errorf("%+v", made)
	}
	file, _, err := p.Sound("nour", made.ID)
	if err != nil {
		t.Fatal(err)
	}
	meter := loudness.NewMeter(48000, loudness.Stereo)
	err = ffmpeg.Decode(t.Context(), file, ffmpeg.Decoding{Rate: 48000, Channels: 2}, func(frames []float32) error {
		meter.Write(frames)
		return nil
	})
	got := meter.Result()
	if err != nil || math.Abs(got.Integrated+14) > 1 || (got.Duration-12*time.Second).Abs() > 100*time.Millisecond || (time.Duration(made.DurationMS)*time.Millisecond-got.Duration).Abs() > 100*time.Millisecond {
		t.Errorf("at %.2f LUFS, %s, told as %d ms: %v", got.Integrated, got.Duration, made.DurationMS, err)
	}
	if stat, err := os.Stat(file); err != nil || stat.Size() != made.Bytes {
		t.Errorf("%d bytes are told: %v", made.Bytes, err)
	}
}

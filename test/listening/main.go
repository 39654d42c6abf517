// Command listening makes one asset of each kind, all sixteen stingers and a
// bulletin, as the station does, and draws how they sound: docs/listening.md
// and its pictures, by which a person can judge them by eye.
//
//	go run ./test/listening
//
// Voices are the offline one, songs those of Debian's game music; the seed is
// fixed, so that a change of the code is what changes a picture.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/library/bulletin/arabic"
	"github.com/athir-radio/athir/internal/library/imaging"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/sound/speech"
)

type options struct {
	docs, keep, song string
	seed             uint64
}

func main() {
	var o options
	flag.StringVar(&o.docs, "docs", "docs", "folder of the page and of its pictures")
	flag.StringVar(&o.keep, "keep", "", "folder to keep the sounds in")
	flag.StringVar(&o.song, "song", "/usr/share/games/singularity/music/Media Threat.ogg", "song that is cut")
	flag.Uint64Var(&o.seed, "seed", 2, "seed of every choice")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "listening:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

func run(ctx context.Context, o options) error {
	if o.keep == "" {
		dir, err := os.MkdirTemp("", "athir-listening-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir) //nolint:errcheck // the system empties its temporary folder
		o.keep = dir
	}
	pictures := filepath.Join(o.docs, "listening")
	if err := os.MkdirAll(pictures, 0o755); err != nil {
		return err
	}
	shown, err := makeAll(ctx, o)
	if err != nil {
		return err
	}
	for i := range shown {
		s := &shown[i]
		if s.heard, err = listen(ctx, s.path); err != nil {
			return err
		}
		if err := draw(filepath.Join(pictures, s.name+".png"), s.heard); err != nil {
			return err
		}
		fmt.Printf("%-24s %6.2f s  %6.2f LUFS  %6.2f dBTP\n", s.name, s.heard.length, s.heard.whole.Integrated, s.heard.whole.TruePeak)
	}
	return writePage(filepath.Join(o.docs, "listening.md"), shown)
}

// sample is one sound on the page.
type sample struct {
	name, title string
	about       string
	path        string
	heard       heard
}

func makeAll(ctx context.Context, o options) ([]sample, error) {
	voices, err := speech.Order{Offline: true}.Booth(nil)
	if err != nil {
		return nil, err
	}
	d := mastering.New(mastering.Options{})
	maker, err := imaging.New(imaging.Options{
		Dir: o.keep, Voice: voices, Master: d,
		Songs: func(context.Context) ([]imaging.Song, error) { return []imaging.Song{{Path: o.song}}, nil },
	})
	if err != nil {
		return nil, err
	}
	r, err := maker.Make(ctx, imaging.Order{Sweepers: 2, SongDrops: 1, IDs: 1, VoiceDrops: 1, Stingers: 16, Seed: o.seed}, nil)
	if err != nil {
		return nil, err
	}
	if len(r.Failed) > 0 {
		return nil, fmt.Errorf("%s %s: %w", r.Failed[0].Kind, r.Failed[0].Design, r.Failed[0].Err)
	}
	var out []sample
	for _, a := range r.Made {
		out = append(out, sampleOf(a, o.keep))
	}
	news, err := bulletinSample(ctx, o, voices, d)
	return append(out, news), err
}

func sampleOf(a imaging.Asset, dir string) sample {
	s := sample{name: strings.ToLower(string(a.Kind)), path: filepath.Join(dir, filepath.FromSlash(a.Path))}
	if a.Design != "" {
		s.name += "_" + strings.ToLower(a.Design)
	}
	switch a.Kind {
	case imaging.Stinger:
		s.title = a.Design
		return s
	case imaging.Sweeper:
		s.title = "Sweeper, " + "SWP_" + a.Design
	case imaging.SongDrop:
		s.title = "Sweeper over a song, SWP_DROP"
	case imaging.VoiceDrop:
		s.title = "Voice drop, SWP_DROP"
	case imaging.ID:
		s.title = "Station ID, ID"
	}
	s.about = fmt.Sprintf("«%s» The bed lies %.0f dB lower under the voice.", a.Text, a.Ducked)
	if a.BeatAt > 0 {
		s.about += fmt.Sprintf(" The voice is struck at %.2f s, on a beat (%s).", a.BeatAt.Seconds(), a.BeatBy)
	}
	if a.Song != nil {
		s.about += fmt.Sprintf(" Cut from %q at %s.", filepath.Base(a.Song.Path), a.Song.From.Round(100*time.Millisecond))
	}
	return s
}

func bulletinSample(ctx context.Context, o options, voices *speech.Booth, d *mastering.Master) (sample, error) {
	s := sample{name: "bulletin", title: "Bulletin, NEWS", path: filepath.Join(o.keep, "bulletin.mp3")}
	headlines := filepath.Join(o.keep, "headlines.txt")
	err := os.WriteFile(headlines, []byte("افتتاح خط جديد لمترو الأنفاق يربط شرق القاهرة بغربها\n"+
		"انطلاق معرض القاهرة الدولي للكتاب بمشاركة ألف دار نشر\nوزارة السياحة تعلن زيادة أعداد الزائرين خلال الشهر الماضي\n"), 0o600)
	if err != nil {
		return s, err
	}
	maker, err := bulletin.New(bulletin.Options{
		Dir: o.keep, Headlines: headlines, Voice: voices, Master: d, Weather: fine{},
	})
	if err != nil {
		return s, err
	}
	r, err := maker.MakeFile(ctx, time.Date(2026, 4, 6, 13, 5, 0, 0, time.UTC), s.path)
	if err == nil && len(r.Problems()) > 0 {
		err = errors.New(r.Problems()[0])
	}
	s.about = "The time, the weather, three headlines and the way back to the music; the gaps between them are the joins of 0.55 s."
	return s, err
}

// fine is a day in spring: the page does not ask the network for the weather.
type fine struct{}

func (fine) Now(context.Context) (arabic.Weather, error) {
	return arabic.Weather{Celsius: 23, WindKmh: 12, WindDeg: 320}, nil
}

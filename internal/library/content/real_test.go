package content

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/library/duplicates"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

// prints is the real index of fingerprints.
type prints struct{ *duplicates.Index }

func (p prints) Find(ctx context.Context, file string) (out []string, _ error) {
	print, err := fingerprint.Of(ctx, file)
	if errors.Is(err, fingerprint.ErrPlain) {
		return nil, nil
	}
	for _, m := range p.Index.Find("", print) {
		out = append(out, m.ID)
	}
	return out, err
}

func (p prints) SameName(artist, title string) []string { return p.Index.SameName("", artist, title) }

func (p prints) Add(ctx context.Context, path, file, artist, title string) error {
	print, err := fingerprint.Of(ctx, file)
	if err != nil && !errors.Is(err, fingerprint.ErrPlain) {
		return err
	}
	p.Index.Add(path, artist, title, print)
	return nil
}

// shelf is the real registry.
type shelf struct{ *media.Library }

func (s shelf) Tracks() []station.Track { return s.Snapshot().Tracks }

func (s shelf) Broken() map[string]string {
	out := map[string]string{}
	for _, q := range s.Snapshot().Quarantined {
		out[q.Path] = q.Reason
	}
	return out
}

func (s shelf) Refused() map[string]string { return nil }

func (s shelf) Scan(ctx context.Context, _ ...string) error {
	_, err := s.Library.Scan(ctx, nil)
	return err
}

func runs(t testing.TB, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil { //nolint:gosec // test
		t.Fatalf("%s: %v: %s", program, err, out)
	}
}

// tune makes a little piece of music; another seed, another piece.
func tune(t testing.TB, path string, seconds, seed int, more ...string) {
	t.Helper()
	note := func(k, step int) string {
		return fmt.Sprintf("0.2*sin(2*PI*t*(%d+%d*mod(floor(t*%d)*%d\\,%d)))", 140+40*k+13*seed, 27+5*k, 2+k, step, 5+k+seed)
	}
	args := []string{"-v", "error", "-y", "-f", "lavfi", "-i", fmt.Sprintf("aevalsrc=%s+%s+%s:s=22050:d=%d", note(0, 3), note(1, 5), note(2, 7), seconds)}
	runs(t, "ffmpeg", append(append(args, more...), path)...)
}

// TestFilesOfTheInboxComeOutMasteredTaggedAndRegistered goes all the way with
// the real inbox, ears, mastering desk, fingerprints and registry.
func TestFilesOfTheInboxComeOutMasteredTaggedAndRegistered(t *testing.T) {
	r := newRig(t)
	inbox := filepath.Join(r.dir, "inbox")
	for _, dir := range []string{"arabic_hits", "english", "jingles"} {
		if err := os.MkdirAll(filepath.Join(inbox, dir), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	tune(t, filepath.Join(inbox, "arabic_hits", "فرقة النيل - ليالي.flac"), 46, 1, "-metadata", "copyright=CC BY 4.0", "-af", "volume=-9dB")
	runs(t, "ffmpeg", "-v", "error", "-i", filepath.Join(inbox, "arabic_hits", "فرقة النيل - ليالي.flac"), "-af", "volume=-6dB", "-b:a", "96k", filepath.Join(inbox, "english", "a copy.mp3"))
	later := time.Now().Add(-time.Minute) // the inbox takes what waits longest first
	if err := os.Chtimes(filepath.Join(inbox, "arabic_hits", "فرقة النيل - ليالي.flac"), later, later); err != nil {
		t.Fatal(err)
	}
	tune(t, filepath.Join(inbox, "jingles", "jingle.wav"), 6, 4)
	runs(t, "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "anullsrc=r=8000:d=46", filepath.Join(inbox, "english", "silence.wav"))
	tune(t, filepath.Join(inbox, "english", "thirty seconds.wav"), 30, 2)
	if err := os.WriteFile(filepath.Join(inbox, "english", "page.mp3"), []byte("<html>not found</html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	library, err := media.Open(t.Context(), r.db, media.Options{Root: r.opt.Media, Log: slog.New(slog.DiscardHandler), Settle: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	r.opt.Registry = shelf{library}
	r.opt.Master = mastering.New(mastering.Options{})
	r.opt.Prints = prints{duplicates.NewIndex()}
	r.opt.Sources = []source.Source{&source.Inbox{Dir: inbox, Quiet: -1}}
	r.opt.Parallel = 1
	r.reopen()
	r.hear = listen
	res, err := r.Refresh(t.Context(), Request{}, nil)
	if err != nil || len(res.Problems) > 0 {
		t.Fatalf("%+v, %v", res.Problems, err)
	}
	if got := fmt.Sprint(res.Categories[station.English].Refusals); got != "map[duplicate:1 silent:1 too_short:1 unreadable:1]" && got != "map[duplicate:1 silent:1 source:1 too_short:1]" {
		t.Errorf("refused: %s", got)
	}
	const song = "music/arabic_hits/فرقة النيل - ليالي.mp3"
	track, ok := library.Snapshot().Find(song)
	if !ok || track.Artist != "فرقة النيل" || track.Title != "ليالي" || track.Category != station.ArabicHits || !strings.Contains(track.License, "CC BY 4.0") || len(library.Snapshot().Tracks) != 2 {
		t.Errorf("registered: %+v", library.Snapshot().Tracks)
	}
	info, err := ffmpeg.Probe(t.Context(), filepath.Join(r.opt.Media, song))
	if err != nil || info.Codec != "mp3" || !strings.HasPrefix(info.Tags["source"], "inbox") {
		t.Errorf("%+v, %v", info, err)
	}
	var lufs, dbtp float64
	var sum, method string
	if err := r.db.Read().QueryRow("SELECT lufs, dbtp, sha256, method FROM content_item WHERE path = ?", []byte(song)).Scan(&lufs, &dbtp, &sum, &method); err != nil {
		t.Fatal(err)
	}
	if lufs < -14.5 || lufs > -13.5 || dbtp > -1.5 || len(sum) != 64 || method == "" {
		t.Errorf("recorded %.2f LUFS, %.2f dBTP, %s, %s", lufs, dbtp, sum, method)
	}
	for _, p := range walk(inbox) {
		if !strings.HasPrefix(p, "rejected/") {
			t.Errorf("%s was not settled", p)
		}
	}
}

// TestSpeechIsToldFromMusic: espeak's voices on one side, music and noise on the other.
func TestSpeechIsToldFromMusic(t *testing.T) {
	dir := t.TempDir()
	for _, voice := range []string{"ar", "en"} {
		wav := filepath.Join(dir, voice+".wav")
		runs(t, "espeak-ng", "-v", voice, "-w", wav, strings.Repeat("مرحبا بكم في نشرة الأخبار من القاهرة. The weather will be sunny today, with some clouds over the sea. Das Wetter ist heute schön, und morgen auch. ", 4))
		if h, err := listen(t.Context(), wav, 40*time.Second, unheld); err != nil || !h.speech() {
			t.Errorf("%s: %+v, %v", voice, h, err)
		}
	}
	for seed := range 2 {
		wav := filepath.Join(dir, fmt.Sprint(seed, ".wav"))
		tune(t, wav, 21, seed)
		if h, err := listen(t.Context(), wav, 22*time.Second, unheld); err != nil || h.speech() {
			t.Errorf("tune %d: %+v, %v", seed, h, err)
		}
	}
	for name, filter := range map[string]string{
		"a beat": "aevalsrc=0.8*sin(2*PI*60*t)*exp(-20*mod(t\\,0.5))+0.3*random(0)*exp(-60*mod(t+0.25\\,0.5)):s=16000:d=21",
		"noise":  "anoisesrc=d=21:r=16000:c=pink",
		// Noise that swells four times a second has the syllables' rate, and no more.
		"swelling noise": "aevalsrc=0.5*(random(0)-0.5)*(1+sin(2*PI*4*t)):s=16000:d=21",
	} {
		wav := filepath.Join(dir, name+".wav")
		runs(t, "ffmpeg", "-v", "error", "-f", "lavfi", "-i", filter, wav)
		if h, err := listen(t.Context(), wav, 22*time.Second, unheld); err != nil || h.speech() {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}

// BenchmarkListen times one listening to a minute of sound. With ATHIR_LISTEN it
// prints the traits of each file of a folder instead.
func BenchmarkListen(b *testing.B) {
	if dir := os.Getenv("ATHIR_LISTEN"); dir != "" {
		for _, p := range walk(dir) {
			h, err := listen(b.Context(), filepath.Join(dir, p), time.Minute, unheld)
			b.Logf("quiet %.2f, modulation %.2f, zero crossings %.2f, speech %v, silent %.2f, %s: %s %v", h.low, h.four, h.zero, h.speech(), h.silent, h.length, p, err)
		}
		return
	}
	wav := filepath.Join(b.TempDir(), "minute.wav")
	tune(b, wav, 60, 1)
	for b.Loop() {
		if _, err := listen(b.Context(), wav, 2*time.Minute, unheld); err != nil {
			b.Fatal(err)
		}
	}
}

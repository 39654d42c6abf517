package check_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/social/check"
	"github.com/athir-radio/athir/internal/audience/social/refusal"
)

// Two readings, as long as a spoken "song" would be.
const (
	englishReading = `The morning news begins with the weather. In the north of the country it will rain until noon, and in the evening the sky clears.
The council met yesterday and spoke for three hours about the new bridge, which has been closed since winter. Nobody was surprised when the vote was put off again.
I walked home along the river, thinking of what my grandmother used to tell us: patience is a tree whose root is bitter, but its fruit is very sweet.
Then the telephone rang, and everything changed.`
	arabicReading = `تبدأ نشرة الصباح بحالة الطقس. تهطل الأمطار على شمال البلاد حتى الظهر، ثم تصفو السماء في المساء.
واجتمع المجلس أمس وتحدث ثلاث ساعات عن الجسر الجديد المغلق منذ الشتاء. ولم يفاجأ أحد حين أُجّل التصويت مرة أخرى.
مشيت إلى البيت على ضفة النهر وأنا أفكر فيما كانت جدتي تقوله لنا: الصبر شجرة جذرها مر وثمرها حلو. ثم رن الهاتف وتغير كل شيء.`
)

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil { //nolint:gosec // test
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

// spoken are readings by espeak-ng: language, words a minute, pitch.
func spoken(t *testing.T, dir string, speeds, pitches []int) []string {
	t.Helper()
	var out []string
	for _, r := range [][2]string{{"en", englishReading}, {"ar", arabicReading}} {
		language, text := r[0], r[1]
		for _, speed := range speeds {
			for _, pitch := range pitches {
				path := filepath.Join(dir, fmt.Sprintf("%s-%d-%d.wav", language, speed, pitch))
				command(t, "espeak-ng", "-v", language, "-s", fmt.Sprint(speed), "-p", fmt.Sprint(pitch), "-w", path, text)
				out = append(out, path)
			}
		}
	}
	return out
}

// music are files of Debian's packages, every so many.
func music(t *testing.T, every int) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{
		"/usr/share/games/singularity/music/*.ogg", "/usr/share/games/wesnoth/1.16/data/core/music/*.ogg",
		"/usr/share/games/asc/music/*", "/usr/share/hyperrogue/music/*.ogg",
	} {
		all, _ := filepath.Glob(pattern)
		if len(all) == 0 {
			t.Fatalf("no file %s: 'make deps-test' installs them", pattern)
		}
		for i := 0; i < len(all); i += every {
			// Several of Savino's are damaged in Debian's package, and one track is silence.
			if !strings.Contains(all[i], "hr-savino-") && filepath.Base(all[i]) != "silence.ogg" {
				out = append(out, all[i])
			}
		}
	}
	return out
}

// excerpt is at most a minute of a file, from its start.
func excerpt(t *testing.T, dir, path string) string {
	t.Helper()
	out := filepath.Join(dir, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))+".flac")
	command(t, "ffmpeg", "-nostdin", "-v", "error", "-y", "-t", "60", "-i", path, "-map", "0:a:0", out)
	return out
}

// over lays speech over music that is quieter by so much.
func over(t *testing.T, dir, speech, bed string, by int) string {
	t.Helper()
	out := filepath.Join(dir, fmt.Sprintf("%s-over-%s-%d.flac", filepath.Base(speech), filepath.Base(bed), by))
	command(t, "ffmpeg", "-nostdin", "-v", "error", "-y", "-i", speech, "-i", bed, "-filter_complex",
		fmt.Sprintf("[0:a]loudnorm=I=-18,aresample=44100[a];[1:a]loudnorm=I=-18,aresample=44100,volume=-%ddB[b];[a][b]amix=duration=shortest:normalize=0", by), out)
	return out
}

// verdicts are how many of some files were refused as speech, noted, and taken without a
// word.
type verdicts struct{ refused, noted, taken int }

func (v verdicts) String() string {
	return fmt.Sprintf("%3d refused %3d noted %3d taken", v.refused, v.noted, v.taken)
}

func listened(t *testing.T, paths []string) (v verdicts, refused []string) {
	t.Helper()
	want := check.Want{Shortest: 5 * time.Second, Longest: 10 * time.Minute, Music: true}
	for _, path := range paths {
		found, err := check.File(t.Context(), path, want, nil)
		var r *refusal.Refusal
		switch {
		case errors.As(err, &r) && r.Code == refusal.NotMusic:
			v.refused++
			refused = append(refused, filepath.Base(path))
		case err != nil:
			t.Errorf("%s: %v", filepath.Base(path), err)
		case strings.Contains(strings.Join(found.Notes, " "), check.NoteSpeech):
			v.noted++
		default:
			v.taken++
		}
	}
	return v, refused
}

func toldApart(t *testing.T, every int, speeds, pitches []int) {
	dir := t.TempDir()
	speech := spoken(t, dir, speeds, pitches)
	var songs, mixed []string
	for i, path := range music(t, every) {
		songs = append(songs, excerpt(t, dir, path))
		if i%3 == 0 {
			for _, by := range []int{6, 12} {
				mixed = append(mixed, over(t, dir, speech[i%len(speech)], songs[i], by))
			}
		}
	}
	heard, _ := listened(t, speech)
	wrong, names := listened(t, songs)
	spokenOver, more := listened(t, mixed)
	t.Logf("speech:            %v\nmusic:             %v\nspeech over music: %v", heard, wrong, spokenOver)
	if wrong.refused+spokenOver.refused > 0 {
		t.Errorf("music is refused as speech: %v", append(names, more...))
	}
	if heard.refused*2 < len(speech) || heard.taken*4 > len(speech) {
		t.Errorf("of %d readings: %v", len(speech), heard)
	}
}

// A refused song is worse than a spoken one that a moderator hears.
func TestSpeechAndMusicAreToldApart(t *testing.T) { toldApart(t, 12, []int{150, 180}, []int{40, 60}) }

// Speech is refused only where music is asked for.
func TestSpeechIsTakenWhereMusicIsNotAskedFor(t *testing.T) {
	path := spoken(t, t.TempDir(), []int{170}, []int{50})[0]
	if _, err := check.File(t.Context(), path, check.Want{Shortest: time.Second, Longest: time.Minute}, nil); err != nil {
		t.Error(err)
	}
}

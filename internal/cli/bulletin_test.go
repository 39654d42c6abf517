package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

func TestBulletinSaysTheTimeInCairo(t *testing.T) {
	for at, want := range map[string]string{
		"2026-04-06T15:05:00+02:00": "السَّاعَةُ الآنَ بِتَوْقِيتِ القَاهِرَةِ، الثَّالِثَةُ وَخَمْسُ دَقَائِقَ عَصْرًا.\n",
		"2026-07-06T00:45:00Z":      "السَّاعَةُ الآنَ بِتَوْقِيتِ القَاهِرَةِ، الرَّابِعَةُ إِلَّا رُبْعًا صَبَاحًا.\n", // summer time
	} {
		var out strings.Builder
		if err := Main(t.Context(), Process{Version: "test", Args: []string{"bulletin", "--say", "--at", at}, Out: &out}); err != nil || out.String() != want {
			t.Errorf("%s: %q, %v", at, out.String(), err)
		}
	}
	var out strings.Builder
	if err := Main(t.Context(), Process{Version: "test", Args: []string{"bulletin", "--say"}, Out: &out}); err != nil || !strings.HasPrefix(out.String(), "السَّاعَةُ الآنَ") {
		t.Errorf("now: %q, %v", out.String(), err)
	}
}

func TestBulletinIsMadeFromATerminal(t *testing.T) {
	dir := t.TempDir()
	headlines, file := filepath.Join(dir, "headlines.txt"), filepath.Join(dir, "bulletin.mp3")
	if err := os.WriteFile(headlines, []byte("\ufeffافتتاح خط جديد لمترو الأنفاق\r\nانطلاق معرض الكتاب\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err := Main(t.Context(), Process{Version: "test", Args: []string{"bulletin", "--offline", "--headlines", headlines, "--at", "2026-01-15T06:05:00+02:00", "--json", "--out", file}, Out: &out})
	if err != nil {
		t.Fatal(err)
	}
	var rep bulletinReport
	if err := json.Unmarshal([]byte(out.String()), &rep); err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Fatalf("%v: %s", err, out.String())
	}
	info, err := ffmpeg.Probe(t.Context(), file)
	if err != nil || info.Codec != "mp3" || info.Tags["artist"] != "Break" || info.Tags["title"] != "Break" || info.Tags["genre"] != "Break" {
		t.Errorf("it is %+v, %v", info, err)
	}
	d, err := ffmpeg.Length(t.Context(), file)
	if err != nil || (d-time.Duration(rep.Seconds*float64(time.Second))).Abs() > 100*time.Millisecond {
		t.Errorf("it lasts %s, %v", d, err)
	}
	if rep.Out != file || rep.At != "2026-01-15T06:05:00+02:00" || rep.LUFS < -14.5 || rep.LUFS > -13.5 || rep.DBTP > -1.5 || rep.Seconds < 34 || rep.Seconds > 37 {
		t.Errorf("it says %s", out.String())
	}
	var kinds []string // the date stands in for the weather
	for _, s := range rep.Segments {
		kinds = append(kinds, string(s.Kind))
		if want := map[string]string{"weather": "not asked for"}[string(s.Kind)]; s.Problem != want || (s.Voice == "espeak-ng:ar") != (want == "") {
			t.Errorf("%s says %+v", s.Kind, s)
		}
	}
	if got := strings.Join(kinds, " "); got != "time date weather headlines return" && got != "time date weather headlines programme return" {
		t.Errorf("it holds %s", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

func TestBulletinNamesTheFlagThatIsWrong(t *testing.T) {
	for args, says := range map[string]string{
		"":                          "name the file to write",
		"--say --out x.mp3":         "remove --out",
		"--say --at noon":           "--at=noon: must be a time with its zone",
		"--say --at 2026-04-06":     "--at=2026-04-06: must be a time with its zone",
		"--out x.mp3 --voice Salma": `voice "Salma": the name must look like 'ar-EG-SalmaNeural'`,
		"--offline --out /no/x.mp3": "no such file or directory",
	} {
		var out strings.Builder
		err := Main(t.Context(), Process{Version: "test", Args: append([]string{"bulletin"}, strings.Fields(args)...), Out: &out})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

package upload

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/resume"
)

func manual(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "uploads.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheManualsLinesSendAFile(t *testing.T) {
	p, url := serve(t, t.TempDir())
	content, name := song(70_000), filepath.Join(t.TempDir(), "song.mp3")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	script := "set -eu\n"
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(manual(t), -1) {
		script += block[1]
	}
	script = strings.NewReplacer("http://127.0.0.1:5000", url, "song.mp3", name).Replace(script)
	// The first PATCH brings a part, as if it had been cut.
	script = strings.Replace(script, "-T $FILE", "-T "+name+".part", 1)
	if err := os.WriteFile(name+".part", content[:30_000], 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := proc.Output(t.Context(), proc.Spec{Name: "bash", Path: "bash", Args: []string{"-c", script}}, 1<<20)
	if err != nil || !strings.Contains(string(out), "X-Post-Id: 1\r\n") {
		t.Errorf("%v\n%s", err, out)
	}
	if posts := p.all(); len(posts) != 1 || posts[0].Meta.Artist != "محمد عبد الوهاب" || !posts[0].Meta.Rights || posts[0].content != string(content) {
		t.Errorf("%d posts: %.200v", len(posts), posts)
	}
}

func TestTheManualStatesTheLimits(t *testing.T) {
	text, l := manual(t), resume.Limits{}.Defaults()
	said := []string{
		fmt.Sprintf("more than %d MiB", l.Size>>20), fmt.Sprintf("%d uploads or %d GiB", l.Uploads, l.Bytes>>30),
		fmt.Sprintf("%d unfinished uploads, or %d GiB", l.ClientUploads, l.ClientBytes>>30), fmt.Sprintf("creations: %d at once", l.Creations),
		fmt.Sprintf("keeps %d GiB free", l.Reserve>>30), fmt.Sprintf("%d KiB in %.0f s", resume.LeastPerStall>>10, l.Stall.Seconds()),
		fmt.Sprintf("waits for %.0f s", l.Patience.Seconds()), fmt.Sprintf("%.0f minutes at", l.Yield.Minutes()),
		fmt.Sprintf("may\nhave %d KiB", resume.LongestMetadata>>10), fmt.Sprintf("no more than %d KiB", resume.LongestEcho>>10), fmt.Sprintf("%d of them at most", mostTags),
		fmt.Sprintf("(%d to 64 of", resume.ShortestKey), fmt.Sprintf("last %d MiB", resume.Piece>>20),
	}
	for _, key := range keys() {
		switch row := fmt.Sprintf(`(?m)^\| .%s. \|.*\| %d \|$`, key.Name, key.Longest); {
		case key.Idle:
			said = append(said, "`"+key.Name+"`")
		case !regexp.MustCompile(row).MatchString(text):
			t.Errorf("%s and its %d characters are not in the table", key.Name, key.Longest)
		}
	}
	for _, words := range said {
		if !strings.Contains(text, words) {
			t.Errorf("the manual does not say %q", words)
		}
	}
}

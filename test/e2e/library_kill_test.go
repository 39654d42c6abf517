package e2e

import (
	"crypto/sha256"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

// A file is sent to the library from Chromium while the control plane is killed, once in the
// midst of it and once as it has all come: the page goes on by itself, and the library has the
// file once, byte for byte.
func TestAFileThatIsSentToTheLibraryOutlivesTwoKills(t *testing.T) {
	s := torment(t, inTurnOfBrowsers)
	files := t.TempDir()
	sent := filepath.Join(files, "sent.wav")
	if err := aircheck.WriteWAV(sent, aircheck.Track{ID: aircheck.MaxID, Duration: 30 * time.Second}); err != nil {
		t.Fatal(err)
	}
	placed := s.logged("upload placed")
	before := sums(t, s.media)
	t.Cleanup(func() { s.withdraw("english/sent.wav") })
	s.pages([]string{"ATHIR_KILL=1", "ATHIR_KEY=" + testStationKey, "ATHIR_SHELF=" + files}, "sent.spec.ts")
	var came []string
	for path, sum := range sums(t, s.media) {
		if _, there := before[path]; !there {
			came = append(came, path)
			if sum != sums(t, files)["sent.wav"] {
				t.Errorf("%s has other bytes than were sent", path)
			}
		}
	}
	if !slices.Equal(came, []string{"english/sent.wav"}) || s.logged("upload placed") != placed+1 {
		t.Errorf("the media folder has %q more; placed %d times", came, s.logged("upload placed")-placed)
	}
	left := sums(t, filepath.Join(s.data, "intake"))
	for path := range left {
		if info, err := os.Stat(filepath.Join(s.data, "intake", path)); err != nil || info.Size() > 1<<20 {
			t.Errorf("%s is left of the upload: %v", path, err)
		}
	}
}

// sums are the checksums of all files of a folder, by their paths in it.
func sums(t *testing.T, dir string) map[string][sha256.Size]byte {
	t.Helper()
	out := map[string][sha256.Size]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[rel] = sha256.Sum256(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// withdraw removes a track from the library of a shared station, and waits until it is planned
// no more.
func (s *station) withdraw(path string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.media, path)); err != nil && !os.IsNotExist(err) {
		s.t.Error(err)
	}
	if code, text := s.operate("POST", shelfAt+"/retry", `{"paths":["`+path+`"]}`); code != http.StatusOK {
		s.t.Errorf("read %s again: %d %s", path, code, text)
	}
	s.eventually(path+" is planned no more", func() bool {
		all, _, err := s.rotation()
		return err == nil && !slices.ContainsFunc(all, func(e entry) bool { return e.File == path })
	})
}

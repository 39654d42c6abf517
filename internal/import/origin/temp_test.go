package origin

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWhatAKillLeftIsRemovedAndWhatIsInUseIsNot(t *testing.T) {
	dir := t.TempDir()
	journal := filepath.Join(dir, "azuracast-x.jsonl")
	left := filepath.Join(dir, "files-1234")
	for _, path := range []string{journal, filepath.Join(left, "athir-import-1", "file")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, err := newTemporary(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Error("what a kill left stays:", err)
	}
	second, err := newTemporary(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{journal, first.path, second.path} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	for _, one := range []*temporary{first, second} {
		if err := one.remove(); err != nil {
			t.Error(err)
		}
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("%v %v", all, err)
	}
}

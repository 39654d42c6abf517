package policy_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// What cannot be written says why, and what is in force stays in force.
func TestAFileThatCannotBeWrittenIsNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	o, err := policy.Open(filepath.Join(dir, "station.json"), func(context.Context, rotation.Config) (bool, error) { return false, nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Patch(t.Context(), "", []byte(`{"AD_EVERY": 9}`)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil { // the folder is gone
		t.Fatal(err)
	}
	if err := o.Save(t.Context()); !errors.Is(err, station.ErrUnavailable) || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("saved into no folder: %v", err)
	}
	if o.Saved() || o.Current().AdEvery != 9 {
		t.Errorf("saved: %v, AD_EVERY %d", o.Saved(), o.Current().AdEvery)
	}
}

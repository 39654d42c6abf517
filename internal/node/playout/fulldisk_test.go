package playout_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/playout"
)

const fullDiskEnv = "PLAYOUT_TEST_FULL_DISK"

// On a full disk an engine starts with the script that is there, and says so: also after
// a change of its settings. Only where there is none it cannot start.
func TestTheEngineStartsOnAFullDisk(t *testing.T) { testkit.InOwnMounts(t, fullDiskEnv) }

func fullDiskStory(dir string) error {
	if err := testkit.SmallDisk(dir, 32<<10); err != nil {
		return err
	}
	o := playout.Options{
		Dir: dir, Playlist: dir + "/main.m3u", Password: "p", IcecastPort: 1, HarborPort: 2, MetadataURL: "http://127.0.0.1:3", Station: "أثير",
	}
	unfill, err := testkit.Fill(dir)
	if err != nil {
		return err
	}
	if _, err := playout.Prepare(context.Background(), o); !file.Full(err) {
		return fmt.Errorf("the first start on a full disk: %w", err)
	}
	unfill()
	if spec, err := playout.Prepare(context.Background(), o); err != nil || spec.Note != "" {
		return fmt.Errorf("a start with room: %q, %w", spec.Note, err)
	}
	before, err := os.ReadFile(o.Script())
	if err != nil {
		return err
	}
	if _, err := testkit.Fill(dir); err != nil {
		return err
	}
	if spec, err := playout.Prepare(context.Background(), o); err != nil || spec.Note != "" {
		return fmt.Errorf("the same script again: %q, %w", spec.Note, err)
	}
	o.Station = strings.Repeat("أثير الصباح ", 1000)
	spec, err := playout.Prepare(context.Background(), o)
	if err != nil || !strings.Contains(spec.Note, "free some space") || !strings.Contains(spec.Note, dir) {
		return fmt.Errorf("another script: %q, %w", spec.Note, err)
	}
	if after, err := os.ReadFile(o.Script()); err != nil || string(after) != string(before) {
		return errors.Join(errors.New("the script that was there is gone"), err)
	}
	return nil
}

package bridge_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/bridge"
)

const fullDiskEnv = "BRIDGE_TEST_FULL_DISK"

// On a full disk a bridge to MediaMTX starts with the login that is there, and says so
// where that is an older one. Only where there is none it cannot start.
func TestTheBridgeStartsOnAFullDisk(t *testing.T) { testkit.InOwnMounts(t, fullDiskEnv) }

func fullDiskStory(dir string) error {
	if err := testkit.SmallDisk(dir, 128); err != nil {
		return err
	}
	o := bridge.Options{
		Source: "http://127.0.0.1:1/main", Target: bridge.RTMPTarget("127.0.0.1:2"), Login: dir + "/bridge.ffpreset", User: "source", Password: "old",
	}
	unfill, err := testkit.Fill(dir)
	if err != nil {
		return err
	}
	if _, err := bridge.Prepare(o); !file.Full(err) {
		return fmt.Errorf("the first start on a full disk: %w", err)
	}
	unfill()
	if spec, err := bridge.Prepare(o); err != nil || spec.Note != "" {
		return fmt.Errorf("a start with room: %q, %w", spec.Note, err)
	}
	before, err := os.ReadFile(o.Login)
	if err != nil {
		return err
	}
	if _, err := testkit.Fill(dir); err != nil {
		return err
	}
	if spec, err := bridge.Prepare(o); err != nil || spec.Note != "" {
		return fmt.Errorf("the same login again: %q, %w", spec.Note, err)
	}
	o.Password = "new"
	if spec, err := bridge.Prepare(o); err != nil || !strings.Contains(spec.Note, "free some space") || !strings.Contains(spec.Note, dir) {
		return fmt.Errorf("another login: %q, %w", spec.Note, err)
	}
	if after, err := os.ReadFile(o.Login); err != nil || string(after) != string(before) {
		return errors.Join(errors.New("the login that was there is gone"), err)
	}
	return nil
}

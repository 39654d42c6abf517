package playout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/station"
)

// Standby is the stage of an engine whose node is the spare: it plays, and tells of nothing.
const Standby = "spare"

// StageBy is the stage of an engine whose node has the station by a fence, which its markers
// then hold.
func StageBy(fence uint64) string { return strconv.FormatUint(fence, 10) }

// SetStage says what the node is to the station: Standby or StageBy. An engine that starts
// later reads it from its file, so one that is away is no error. One that is starting may have
// read the file before and take no commands yet, and one without a processor is late: see
// TellStage.
func SetStage(ctx context.Context, o Options, stage string) error {
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return fmt.Errorf("keep the stage of the engine: %w", err)
	}
	kept := file.WriteAtomic(o.StageFile(), []byte(stage), 0o600)
	err := tellStage(ctx, o, stage)
	if errors.Is(err, station.ErrUnavailable) {
		err = nil
	}
	return errors.Join(kept, err)
}

// TellStage tells the engine until it has answered, or ctx ends.
func TellStage(ctx context.Context, o Options, stage string) {
	_ = retry.Until(ctx, func(ctx context.Context) error { return tellStage(ctx, o, stage) })
}

func tellStage(ctx context.Context, o Options, stage string) error {
	return Client{Socket: o.Socket()}.do(ctx, "athir.stage "+stage)
}

// StageOf reads what SetStage has said: the fence, 0 where there is none, or that the node is
// the spare.
func StageOf(o Options) (fence uint64, spare bool, err error) {
	text, err := os.ReadFile(o.StageFile())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	said := strings.TrimSpace(string(text))
	if said == Standby {
		return 0, true, nil
	}
	fence, err = strconv.ParseUint(said, 10, 64)
	return fence, false, err
}

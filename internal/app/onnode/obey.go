package onnode

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/node/relay"
	"github.com/athir-radio/athir/internal/node/remote"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/press"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// Part is what this node is to the station, for those who ask on its machine.
type Part struct {
	OnAir bool   `json:"onAir"`
	Spare bool   `json:"spare"`
	Fence uint64 `json:"fence"`
	Other string `json:"other"` // where the other node is; empty: none is known
}

// Obey carries out a remote control plane's orders until ctx ends, while this node has the
// air or stands by, and tells engine and relay which of the two it is. hook is the relay's
// Unix socket. part holds what it is, nil while it is nothing.
func Obey(ctx context.Context, cfg *config.Config, engine playout.Options, hook string, part *atomic.Pointer[Part], o remote.Orders) error {
	air := newAir(o.Log, hook)
	var telling sync.WaitGroup
	defer telling.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	telling.Go(func() { air.run(ctx) })
	var repeating sync.WaitGroup
	defer repeating.Wait()
	o.Host, o.See, o.Next = cfg.Node.Host, Seeing(cfg), air.next
	o.Staged = func(ctx context.Context, s remote.Stage) {
		repeating.Wait() // what was said of the stage before, which has ended
		now := &Part{s.OnAir, s.Spare, s.Fence, s.Other}
		part.Store(now)
		context.AfterFunc(ctx, func() { part.CompareAndSwap(now, nil) })
		staged(ctx, o.Log, engine, air, s)
		if s.Fence > 0 {
			repeating.Go(func() { playout.TellStage(ctx, engine, stageOf(s)) })
		}
	}
	o.Enter = func(ctx context.Context) error { return enter(ctx, o.Engine, engine.Playlist) }
	return o.Run(ctx)
}

func staged(ctx context.Context, log *slog.Logger, engine playout.Options, air *air, s remote.Stage) {
	if s.Fence == 0 { // the control plane is of the version before
		return
	}
	stage := stageOf(s)
	if err := playout.SetStage(ctx, engine, stage); err != nil && ctx.Err() == nil {
		log.Warn("cannot tell the engine what this node is to the station", "stage", stage, "err", err)
	}
	air.tell(relay.Air{Fence: s.Fence, OnAir: s.OnAir, Floor: s.Floor})
}

// stageOf is the stage as the engine is told it.
func stageOf(s remote.Stage) string {
	if s.Spare {
		return playout.Standby
	}
	return playout.StageBy(s.Fence)
}

// enter has an engine that stood by go on with the head of its list: with what comes after
// the last that was told to be heard.
func enter(ctx context.Context, player playout.Engine, list string) error {
	text, err := os.ReadFile(list) //nolint:gosec // the station's own
	if err != nil {
		return err
	}
	items, err := playlist.Decode(text)
	if err != nil || len(items) == 0 {
		return err
	}
	hand := &press.Engine{Player: Presses{player}}
	sight, err := hand.Look(ctx)
	if err != nil {
		return err
	}
	return hand.Next(ctx, scheduler.Cue{Since: sight, Head: items[0].Path, Same: true})
}

// Presses adapts the playout engine for Skip and Play.
type Presses struct{ playout.Engine }

// State implements press.Player.
func (p Presses) State(ctx context.Context) (press.State, error) {
	st, err := p.Status(ctx)
	out := press.State{
		Sight: scheduler.Sight{Engine: st.Engine, Edition: st.Edition, Entered: st.Entered}, Rotation: st.OnAir == playout.KindRotation,
		OnAir: st.OnAir, Prepared: st.Prepared, Entering: st.Entering,
	}
	if st.Last != nil {
		out.Last, out.Seq = st.Last.File, uint64(max(st.Last.Seq, 0)) //nolint:gosec // not negative
	}
	return out, err
}

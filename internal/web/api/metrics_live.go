package api

import (
	"slices"
	"strings"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// LiveFigures are what is known of live broadcasting at this moment. None of them waits
// for the node.
type LiveFigures struct {
	Status  func() takeover.Status
	Phones  func() takeover.PhoneFigures
	Streams func() (all, blacklisted int)
}

// liveFigures returns the metrics of live broadcasting; none where it is switched off.
func (s *Server) liveFigures() []Metric {
	if s.opt.Live == nil {
		return nil
	}
	f := s.opt.Live.Figures
	return slices.Concat(s.takeoverFigures(f), deskFigures(f.Status), phoneFigures(f.Phones), relayFigures(f.Phones))
}

// word is a state as the value of a label.
func word(state string) string { return strings.ReplaceAll(state, " ", "_") }

// takeoverFigures tell what is on the air, and what may be.
func (s *Server) takeoverFigures(f LiveFigures) []Metric {
	return []Metric{
		{Name: "live_takeover_state", Help: "1 for the state that the live takeover is in.", Label: "state", Read: func(add func(float64, string)) {
			now := f.Status().State
			for _, state := range []string{takeover.NormalMix, takeover.Beginning, takeover.OnLive, takeover.HandOver, takeover.Unknown} {
				add(one(state == now), word(state))
			}
		}},
		{Name: "live_on_air", Help: "1 while the engine says that live audio is on the air.", Read: value(func() float64 { return one(s.opt.Air().OnAir.Kind == scheduler.Live) })},
		{Name: "live_sources", Help: "What comes in at the live desk, by its state.", Label: "state", Read: func(add func(float64, string)) {
			counts := map[live.State]int{}
			for _, r := range f.Status().Sources {
				counts[r.State]++
			}
			for _, state := range []live.State{live.Connecting, live.Ready, live.Waiting, live.OnAir, live.Grace, live.Gone} {
				add(float64(counts[state]), word(string(state)))
			}
		}},
		{Name: "live_streams", Help: "Registered live streams.", Read: value(func() float64 { all, _ := f.Streams(); return float64(all) })},
		{Name: "live_streams_blacklisted", Help: "Of them, those that are left out of the ranking.", Read: value(func() float64 { _, marked := f.Streams(); return float64(marked) })},
	}
}

// deskFigures tell how the live desk is doing. Its counts begin with it.
func deskFigures(status func() takeover.Status) []Metric {
	counted := func(read func(live.Counters) float64) func(func(float64, string)) {
		return value(func() float64 { return read(status().Counters) })
	}
	seconds := func(ms uint64) float64 { return float64(ms) / 1000 }
	return []Metric{
		{Name: "live_desk_up", Help: "1 while the live desk is heard of.", Read: value(func() float64 { return one(status().State != takeover.Unknown) })},
		{Name: "live_harbor_open", Help: "1 while the engine takes what the desk sends.", Read: value(func() float64 { return one(status().Harbor) })},
		{Name: "live_broadcasts_total", Help: "Live broadcasts that were heard.", Counter: true, Read: counted(func(c live.Counters) float64 { return float64(c.Broadcasts) })},
		{Name: "live_failovers_total", Help: "Times another source followed one that failed.", Counter: true, Read: counted(func(c live.Counters) float64 { return float64(c.Failovers) })},
		{Name: "live_filled_seconds_total", Help: "Silence that filled holes while on the air.", Counter: true, Read: counted(func(c live.Counters) float64 { return seconds(c.FilledMS) })},
		{Name: "live_dropped_seconds_total", Help: "Audio that was dropped because it came too fast.", Counter: true, Read: counted(func(c live.Counters) float64 { return seconds(c.DroppedMS) })},
		{Name: "live_trimmed_seconds_total", Help: "Pauses that were shortened to catch up.", Counter: true, Read: counted(func(c live.Counters) float64 { return seconds(c.TrimmedMS) })},
		{Name: "live_harbor_breaks_total", Help: "Times the connection to the engine broke.", Counter: true, Read: counted(func(c live.Counters) float64 { return float64(c.HarborBreaks) })},
		{Name: "live_carts_total", Help: "Presses of the cart wall that were heard.", Counter: true, Read: counted(func(c live.Counters) float64 { return float64(c.Carts) })},
		{Name: "live_recording", Help: "1 while a broadcast is recorded.", Read: value(func() float64 { return one(status().Recording != nil) })},
		{Name: "live_recording_problem", Help: "1 while something keeps the recording from being whole.", Read: value(func() float64 {
			r := status().Recording
			return one(r != nil && r.Problem != "")
		})},
	}
}

// phoneFigures are sums of all phones: a series for each would be without a bound.
func phoneFigures(phones func() takeover.PhoneFigures) []Metric {
	sum := func(read func(takeover.PhoneFigures) float64) func(func(float64, string)) {
		return value(func() float64 { return read(phones()) })
	}
	heard := func(read func(live.Session) float64) func(func(float64, string)) {
		return func(add func(float64, string)) {
			if now := phones().Heard; now != nil {
				add(read(*now), "")
			}
		}
	}
	return []Metric{
		{Name: "live_phones_up", Help: "1 while the server of phones answers.", Read: sum(func(p takeover.PhoneFigures) float64 { return one(p.Known) })},
		{Name: "live_phones", Help: "Phones that are connected.", Read: sum(func(p takeover.PhoneFigures) float64 { return float64(p.Sessions) })},
		{Name: "live_phones_relayed", Help: "Of them, those that need TURN.", Read: sum(func(p takeover.PhoneFigures) float64 { return float64(p.Relayed) })},
		{Name: "live_phones_muted", Help: "Of them, those that are muted.", Read: sum(func(p takeover.PhoneFigures) float64 { return float64(p.Muted) })},
		{Name: "live_phone_packets_total", Help: "Packets of all phones.", Counter: true, Read: sum(func(p takeover.PhoneFigures) float64 { return float64(p.Packets) })},
		{Name: "live_phone_packets_lost_total", Help: "Packets that were lost.", Counter: true, Read: sum(func(p takeover.PhoneFigures) float64 { return float64(p.Lost) })},
		{Name: "live_phone_frames_total", Help: "Frames of 20 ms that were played of all phones.", Counter: true, Read: sum(func(p takeover.PhoneFigures) float64 { return float64(p.Frames) })},
		{Name: "live_phone_frames_concealed_total", Help: "Of them, those that were made up for what was lost.", Counter: true, Read: sum(func(p takeover.PhoneFigures) float64 { return float64(p.Concealed) })},
		{Name: "live_phone_round_trip_seconds", Help: "Round trip of the phone that speaks; absent while none does.", Read: heard(func(s live.Session) float64 { return s.RTTMS / 1000 })},
		{Name: "live_phone_jitter_seconds", Help: "Jitter of the phone that speaks; absent while none does.", Read: heard(func(s live.Session) float64 { return s.JitterMS / 1000 })},
	}
}

// relayFigures are absent where there is no TURN server of ours.
func relayFigures(phones func() takeover.PhoneFigures) []Metric {
	each := func(read func(r live.RelayReport, add func(float64, string))) func(func(float64, string)) {
		return func(add func(float64, string)) {
			if r := phones().Relay; r != nil {
				read(*r, add)
			}
		}
	}
	return []Metric{
		{Name: "live_turn_allocations", Help: "Allocations of the TURN server, now.", Read: each(func(r live.RelayReport, add func(float64, string)) { add(float64(r.Allocations), "") })},
		{Name: "live_turn_bytes_total", Help: "Bytes that it relayed.", Counter: true, Label: "way", Read: each(func(r live.RelayReport, add func(float64, string)) {
			add(float64(r.BytesUp), "up")
			add(float64(r.BytesDown), "down")
		})},
		{Name: "live_turn_ousted_total", Help: "Allocations that it ended for their age, for relaying nothing, or for another's sake.", Counter: true, Read: each(func(r live.RelayReport, add func(float64, string)) { add(float64(r.Ousted), "") })},
		{Name: "live_turn_refused_total", Help: "What it refused, and for what.", Counter: true, Label: "for", Read: each(func(r live.RelayReport, add func(float64, string)) {
			add(float64(r.Refused), "credential")
			add(float64(r.OverQuota), "quota")
			add(float64(r.Limited), "rate")
			add(float64(r.Forbidden), "target")
		})},
	}
}

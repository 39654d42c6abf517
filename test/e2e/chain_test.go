package e2e

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

// maxGap is the longest silence automation may air.
const maxGap = 100 * time.Millisecond

// The whole chain, judged by ear: what the scheduler committed is what is
// heard on Icecast and on HLS, in order, crossed, without a hole.
func TestChainAirsTheCommittedRotation(t *testing.T) {
	s := newStation(t, rules(shortRules))
	fill(t, s.media, decks)
	s.start().whole()
	s.hlsReady()

	ctx, cancel := context.WithTimeout(t.Context(), 70*time.Second)
	defer cancel()
	icecast := aircheck.NewRecorder(s.url("icecast", "/main"))
	done := make(chan error, 1)
	go func() { done <- icecast.Run(ctx) }()
	hls, err := aircheck.Capture(ctx, s.url("player", "/hls/main/index.m3u8"), 50*time.Second)
	if err != nil {
		t.Fatalf("capture HLS: %v", err)
	}
	cancel()
	<-done

	planned, consumed := s.schedule()
	heard := judge(t, "icecast", icecast.PCM(), tones(planned))
	judge(t, "hls", hls, tones(planned))

	// The cursor stands where the ear is: the last track heard is the last consumed,
	// or the one before when a marker came after the capture's end.
	last := heard[len(heard)-1]
	if i := consumed - 1; i < 1 || toneOf(planned[i].File) != last && toneOf(planned[i-1].File) != last {
		t.Errorf("cursor at %d (tone %d) while tone %d is heard", consumed, toneOf(planned[max(i, 0)].File), last)
	}
	if s.logged("Rotation verified on remote") == 0 {
		t.Error("no log line 'Rotation verified on remote'")
	}
	if s.logged("Rotation stable (", "/120 consumed)") == 0 {
		t.Error("no log line 'Rotation stable (n/120 consumed)'")
	}
}

// judge checks a capture against the plan and returns the order heard.
func judge(t *testing.T, name string, pcm aircheck.PCM, planned []int) []int {
	t.Helper()
	report := aircheck.Analyse(pcm)
	t.Logf("%s:\n%s", name, report)
	order := report.Order()
	if len(order) < 6 {
		t.Fatalf("%s: heard only %d tracks", name, len(order))
	}
	if !contains(planned, order) {
		t.Errorf("%s: heard %v, which is no part of the rotation %v", name, order, planned)
	}
	if gap := report.Gap.Length(); gap > maxGap {
		t.Errorf("%s: a gap of %s at %s", name, gap, report.Gap.Start)
	}
	for _, c := range report.Crosses() {
		if c.Overlap > 2300*time.Millisecond || c.Overlap < -maxGap {
			t.Errorf("%s: tone %d meets tone %d with an overlap of %s", name, c.From, c.To, c.Overlap)
		}
	}
	return order
}

// contains reports that part stands in whole, in one piece.
func contains(whole, part []int) bool {
	for i := 0; i+len(part) <= len(whole); i++ {
		if slices.Equal(whole[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

package bus

import (
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/tape"
)

const (
	// bedLevel is the gain of a show's bed: a file mastered to -14 LUFS is heard at -26.
	bedLevel = 0.2512
	bedRise  = bedLevel / (live.Rate * 3 / 10) // a frame, 300 ms in all
)

// Bed gives the audio that plays in a show while nobody speaks; nil takes it away.
func (m *Mixer) Bed(t *tape.Ring) {
	m.bed, m.bedCame = t, time.Time{}
	if t != nil {
		_, m.bedAt = t.Span()
		m.bedEnd = m.bedAt
	}
}

// lookAtBed notes whether the bed comes.
func (m *Mixer) lookAtBed(now time.Time) {
	if m.bed == nil {
		return
	}
	if _, end := m.bed.Span(); end != m.bedEnd || m.bedCame.IsZero() {
		m.bedEnd, m.bedCame = end, now
	}
}

// bedPlays reports that there is a bed, and not only the name of one: a file that cannot be
// read does not hold the air.
func (m *Mixer) bedPlays(now time.Time) bool { return m.bed != nil && now.Sub(m.bedCame) < LostAfter }

// addBed plays the bed of a show while nobody is heard.
func (m *Mixer) addBed(now time.Time) {
	wanted := m.bed != nil && !m.closing && m.Show(now) != nil &&
		(m.on == nil || m.on.s.state == live.Grace)
	if m.bed == nil || !wanted && m.bedGain == 0 {
		m.bedGain = 0
		return
	}
	from, end := m.bed.Span()
	if m.bedAt < from || m.bedAt > end {
		m.bedAt = from
	}
	var raw [frameLen]float32
	m.sinc.read(m.bed, float64(m.bedAt), 1, raw[:])
	m.bedAt += min(live.FrameSamples, end-m.bedAt)
	for i := 0; i < frameLen; i += live.Channels {
		if wanted {
			m.bedGain = min(m.bedGain+bedRise, bedLevel)
		} else {
			m.bedGain = max(m.bedGain-bedRise, 0)
		}
		m.sum[i] += raw[i] * m.bedGain
		m.sum[i+1] += raw[i+1] * m.bedGain
	}
}

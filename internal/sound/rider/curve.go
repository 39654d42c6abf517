package rider

// evener is a soft compressor: what it does is decided once a step.
type evener struct{ level float64 } // LU over the target, with attack and release

const (
	attack, release = 0.5, 0.04 // share of the way, a step: 7 ms and 120 ms
	// Up to kneeFrom LU over the target nothing happens, from there each LU counts as
	// kneeSlope, beyond kneeTo as topSlope.
	kneeFrom, kneeTo    = 3.0, 12.0
	kneeSlope, topSlope = 0.4, 0.1
)

func (e *evener) turn(over float64) float64 {
	share := release
	if over > e.level {
		share = attack
	}
	e.level += (max(over, -20) - e.level) * share
	return curve(e.level)
}

// curve is the gain for a level, in dB.
func curve(over float64) float64 {
	db := 0.0
	if over > kneeFrom {
		db -= (min(over, kneeTo) - kneeFrom) * (1 - kneeSlope)
	}
	if over > kneeTo {
		db -= (over - kneeTo) * (1 - topSlope)
	}
	return db
}

// hush turns down the noise of a long pause where the gain is high: what the rider has
// raised beyond hushTo. It opens within a step at the first sound above the noise.
type hush struct{ db float64 }

const (
	hushTo     = 6.0 // dB of gain that noise may keep
	hushAfter  = 15  // hops of pause
	hushDown   = 12.0 / stepsPerSecond
	hushMargin = 8.0 // LU above the noise
)

func (h *hush) turn(now, floor, gain float64, pause int) float64 {
	if pause < hushAfter || now > max(floor, -75)+hushMargin {
		h.db = 0
		return 0
	}
	h.db = max(h.db-hushDown, min(hushTo-gain, 0))
	return h.db
}

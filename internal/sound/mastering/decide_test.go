package mastering

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// limiterModel is any loudness behind a limiter that rises with the gain, ever
// more slowly, and never above the ceiling's.
func limiterModel(i, tp, firmness float64) func(gain, ceiling float64) float64 {
	return func(gain, ceiling float64) float64 {
		over := max(0, tp+gain-ceiling)
		return i + gain - over*(1-firmness)
	}
}

func TestPlansLandOnTheTargetUnderThePeakOrAsNearAsTheDepthAllows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := Named(rapid.SampledFrom(Profiles()).Draw(t, "profile"))
		if err != nil {
			t.Fatal(err)
		}
		i := rapid.Float64Range(-75, 3).Draw(t, "integrated")
		tp := i + rapid.Float64Range(0, 45).Draw(t, "crest")
		l := Levels{Integrated: i, TruePeak: tp, Sustained: tp - rapid.Float64Range(0, 20).Draw(t, "clicks"), Range: rapid.Float64Range(0, 40).Draw(t, "range")}
		l.Behind = limiterModel(i, tp, rapid.Float64Range(0, 1).Draw(t, "firmness"))
		plan, err := Decide(p, l)
		var refused *RefusedError
		if errors.As(err, &refused) {
			if ok := refused.Reason == Silent && i <= -70 || refused.Reason == TooQuiet && p.Target-i > p.MaxGain; !ok {
				t.Fatalf("refused %+v: %v", l, err)
			}
			return
		}
		switch plan.Method {
		case Linear:
			if math.Abs(i+plan.Gain-p.Target) > 1e-9 || tp+plan.Gain > p.MaxPeak || plan.Held {
				t.Fatalf("%+v of %+v", plan, l)
			}
		case Limited:
			if tp+p.Target-i < p.MaxPeak-1 {
				t.Fatalf("limited without need: %+v of %+v", plan, l)
			}
			depth := l.Sustained + plan.Gain - plan.Ceiling
			lands := l.Behind(plan.Gain, plan.Ceiling)
			if plan.Ceiling >= p.MaxPeak || depth > 8+1e-9 || lands > p.Target+p.Tolerance {
				t.Fatalf("%+v of %+v: %.2f dB deep, lands at %v", plan, l, depth, lands)
			}
			// Held down by the depth and under the target, be it within the tolerance, or on the target.
			if plan.Held && (depth < 8-1e-9 || lands > p.Target+1e-9) || !plan.Held && math.Abs(lands-p.Target) > 0.01 {
				t.Fatalf("%+v of %+v: %.2f dB deep, lands at %v", plan, l, depth, lands)
			}
		}
	})
}

// Whatever an encoder does to level and peaks, within reason, four attempts are enough.
func TestCorrectionsConverge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := Named(Station)
		if err != nil {
			t.Fatal(err)
		}
		i := rapid.Float64Range(-40, -5).Draw(t, "integrated")
		tp := i + rapid.Float64Range(3, 25).Draw(t, "crest")
		firmness := rapid.Float64Range(0.5, 1).Draw(t, "firmness")
		l := Levels{Integrated: i, TruePeak: tp, Sustained: tp, Behind: limiterModel(i, tp, firmness)}
		lost := rapid.Float64Range(-0.8, 0.8).Draw(t, "lost")
		overshoot := rapid.Float64Range(0, 1.6).Draw(t, "overshoot")
		plan, err := Decide(p, l)
		if err != nil {
			t.Fatal(err)
		}
		var made Levels
		for range 4 {
			made = Levels{Integrated: i + plan.Gain - lost, TruePeak: tp + plan.Gain + overshoot}
			if plan.Method == Limited {
				made = Levels{Integrated: l.Behind(plan.Gain, plan.Ceiling) - lost, TruePeak: min(tp+plan.Gain, plan.Ceiling) + overshoot}
			}
			if _, good := Judge(p, plan, made); good {
				return
			}
			plan = Correct(p, l, plan, made)
		}
		t.Fatalf("still %+v", made)
	})
}

// A peak that encoding makes at an abrupt end does not fall with the ceiling: the file is
// made a little quieter, and not refused.
func TestPeakThatNoLimiterSeesCostsALittleGain(t *testing.T) {
	p, err := Named(Station)
	if err != nil {
		t.Fatal(err)
	}
	l := Levels{Integrated: -17.5, TruePeak: -4, Sustained: -4, Behind: limiterModel(-17.5, -4, 0.9)}
	plan, err := Decide(p, l)
	if err != nil {
		t.Fatal(err)
	}
	edge := -1.5 - plan.Gain // dBTP of the source there
	for range 4 {
		made := Levels{Integrated: l.Behind(plan.Gain, plan.Ceiling), TruePeak: edge + plan.Gain}
		if airs, _ := Judge(p, plan, made); airs {
			if made.Integrated < -14.5 {
				t.Errorf("%.2f LUFS for %.2f dB", made.Integrated, -1.5-made.TruePeak)
			}
			return
		}
		plan = Correct(p, l, plan, made)
	}
	t.Fatalf("refused: %+v", plan)
}

func TestProfilesThatShip(t *testing.T) {
	for name, want := range map[string]float64{"-14": -14, "-16": -16, "-23": -23, "16": -16} {
		p, err := Named(name)
		if err != nil || p.Target != want || p.MaxPeak != -1.5 || p.Tolerance != 0.5 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	if _, err := Named("loud"); err == nil {
		t.Error("a profile that there is not")
	}
	c := PerCategory{"news": "-16"}
	news, err1 := c.For("news")
	songs, err2 := c.For("english")
	if err := errors.Join(err1, err2, c.Check()); err != nil || news.Target != -16 || songs.Target != -14 {
		t.Errorf("%v, %v, %v", news, songs, err)
	}
	if (PerCategory{"opera": "-16"}).Check() == nil || (PerCategory{"news": "-9"}).Check() == nil {
		t.Error("a wrong setting passes")
	}
}

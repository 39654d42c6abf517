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

func TestPlansLandOnTheTargetUnderThePeakOrRefuse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := Named(rapid.SampledFrom(Profiles()).Draw(t, "profile"))
		if err != nil {
			t.Fatal(err)
		}
		i := rapid.Float64Range(-75, 3).Draw(t, "integrated")
		tp := i + rapid.Float64Range(0, 45).Draw(t, "crest")
		l := Levels{Integrated: i, TruePeak: tp, Range: rapid.Float64Range(0, 40).Draw(t, "range")}
		l.Behind = limiterModel(i, tp, rapid.Float64Range(0, 1).Draw(t, "firmness"))
		plan, err := Decide(p, l)
		var refused *RefusedError
		if errors.As(err, &refused) {
			ok := refused.Reason == Silent && i <= -70 || refused.Reason == TooQuiet && p.Target-i > p.MaxGain ||
				refused.Reason == Unreachable && l.Behind(p.Target-i+24, p.MaxPeak-limitedRoom) < p.Target
			if !ok {
				t.Fatalf("refused %+v: %v", l, err)
			}
			return
		}
		switch plan.Method {
		case Linear:
			if math.Abs(i+plan.Gain-p.Target) > 1e-9 || tp+plan.Gain > p.MaxPeak {
				t.Fatalf("%+v of %+v", plan, l)
			}
		case Limited:
			if tp+p.Target-i < p.MaxPeak-1 {
				t.Fatalf("limited without need: %+v of %+v", plan, l)
			}
			if plan.Ceiling >= p.MaxPeak || math.Abs(l.Behind(plan.Gain, plan.Ceiling)-p.Target) > p.Tolerance+0.01 {
				t.Fatalf("%+v of %+v lands at %v", plan, l, l.Behind(plan.Gain, plan.Ceiling))
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
		l := Levels{Integrated: i, TruePeak: tp, Behind: limiterModel(i, tp, firmness)}
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
			if _, good := Judge(p, made); good {
				return
			}
			if plan, err = Correct(p, l, plan, made); err != nil {
				t.Fatal(err)
			}
		}
		t.Fatalf("still %+v", made)
	})
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

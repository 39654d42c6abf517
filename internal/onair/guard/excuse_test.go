package guard

import (
	"testing"
	"time"
)

// Silence does not wait for an answer, a loop does.
func TestExcusesHoldForAWhile(t *testing.T) {
	x, at, none := &excuse{}, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), time.Time{}
	if loops, rests, asked := x.now(at, at); !loops || rests || asked {
		t.Error("before any answer")
	}
	x.ask()
	if _, _, asked := x.now(at, at); !asked {
		t.Error("asked twice")
	}
	x.answer(at, false, 4*time.Second)
	if loops, rests, asked := x.now(at.Add(3*time.Second), none); loops || !rests || !asked {
		t.Error("within the rest")
	}
	if _, rests, _ := x.now(at.Add(5*time.Second), none); rests {
		t.Error("after the rest")
	}
	if loops, _, asked := x.now(at.Add(originalEvery), at); !loops || asked {
		t.Error("an answer that is old")
	}
	if loops, _, asked := x.now(at.Add(6*time.Second), at.Add(6*time.Second)); !loops || asked {
		t.Error("an answer from before the loop")
	}
	x.answer(at.Add(6*time.Second), false, 0)
	if loops, _, asked := x.now(at.Add(7*time.Second), at.Add(6*time.Second)); loops || !asked {
		t.Error("a loop that is not the recording's")
	}
}

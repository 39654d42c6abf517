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
	x.ask(at)
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

// A question that the machine did not answer in time says nothing: a loop stays excused
// for some of them, and the next loop for as many again.
func TestNoAnswerIsNoJudgement(t *testing.T) {
	x, at := &excuse{}, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for range 2 {
		looping := at
		for n := range mostUnanswered {
			if loops, _, asked := x.now(at, looping); !loops || asked {
				t.Errorf("after %d questions in vain: excused %t, asked %t", n, loops, asked)
			}
			x.ask(looping)
			at = at.Add(takeWithin)
			x.noAnswer(at)
			if _, _, asked := x.now(at, looping); !asked {
				t.Error("what cannot be answered is asked again at once")
			}
			at = at.Add(askAgain)
		}
		if loops, _, asked := x.now(at, looping); loops || !asked {
			t.Errorf("after too many: excused %t, asked %t", loops, asked)
		}
		if loops, _, asked := x.now(at.Add(originalEvery), looping); loops || asked {
			t.Errorf("later: excused %t, asked %t", loops, asked)
		}
		at = at.Add(time.Minute)
	}
	x.answer(at, true, 0)
	if loops, _, _ := x.now(at, at.Add(-time.Minute)); !loops {
		t.Error("an answer in the end")
	}
}

package bus

import (
	"fmt"
	"testing"
)

// knower is a rider that remembers a gain, and tells which one it was given.
type knower struct {
	plain
	recalled *float64
}

func (k knower) Remembered() float64 { return 7 }
func (k knower) Recall(gain float64) { *k.recalled = gain }

// The bus remembers who came last, however many came before since the desk's start, and no
// more than it has places for.
func TestTheOldestSourceIsForgottenForTheNewest(t *testing.T) {
	r := newRig(t)
	recalled := 0.0
	r.opt.Rider = func() Rider { return knower{recalled: &recalled} }
	comes := func(id string) (gain float64) {
		recalled = 0
		f := r.feed(id, hush)
		r.feeds = nil
		r.Detach(id, f.tape, "the encoder has ended", r.now)
		return recalled
	}
	for n := range 2 * mostLearned {
		comes(fmt.Sprint("once-", n))
		if n%(mostLearned/2) == 0 && comes("each week") == 0 && n > 0 {
			t.Fatalf("forgotten after %d others", n)
		}
	}
	if comes("each week") != 7 || comes(fmt.Sprint("once-", 2*mostLearned-1)) != 7 {
		t.Error("one that came lately is forgotten")
	}
	if comes("once-0") != 0 || len(r.learned) > mostLearned {
		t.Errorf("%d are remembered, the oldest too", len(r.learned))
	}
}

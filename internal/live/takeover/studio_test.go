package takeover_test

import (
	"errors"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/station"
)

func TestTheStudiosButtons(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		studio := takeover.Studio{Takeover: r.Takeover}
		if _, err := studio.Start(t.Context(), "", ""); !errors.Is(err, station.ErrConflict) {
			t.Errorf("no candidate: %v", err)
		}
		if stopped, err := studio.Stop(t.Context()); stopped || err != nil {
			t.Errorf("nothing to stop: %v, %v", stopped, err)
		}
		a, b := r.add("a"), r.add("b")
		r.desk.feed(a)
		r.desk.feed(b)
		r.settled()
		if all := r.Ranked(); len(all) != 2 || !all[0].Available || !all[1].Available {
			t.Errorf("%+v", all)
		}
		if s, err := studio.Start(t.Context(), a, ""); err != nil || s.ID != a {
			t.Errorf("%+v, %v", s, err)
		}
		if s, err := studio.Hand(t.Context(), b); err != nil || s.ID != b {
			t.Errorf("%+v, %v", s, err)
		}
		if err := errors.Join(studio.WrapUp(t.Context(), time.Minute), studio.Show(t.Context(), "Evening", time.Now().Add(time.Hour), "")); err != nil {
			t.Error(err)
		}
		if s := r.Status(); s.Show == nil || s.WrapUpAt == 0 || s.Active.By != "the studio" {
			t.Errorf("%+v", s)
		}
		if stopped, err := studio.Stop(t.Context()); !stopped || err != nil {
			t.Errorf("%v, %v", stopped, err)
		}
		if err := studio.EndShow(t.Context()); err != nil || r.Status().Show != nil {
			t.Error(err)
		}
	})
}

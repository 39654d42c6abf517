package guard

import (
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/sound/deadair"
)

func TestObserve(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	ago := func(s float64) time.Time { return now.Add(-seconds(s)) }
	sound := func(v deadair.Verdict, arrived, decoded float64) hearing {
		return hearing{Report: Report{Verdict: v}, told: now, arrived: ago(arrived), decoded: ago(decoded)}
	}
	good := sound(deadair.Verdict{Sounding: true}, 0.1, 0.1)
	music := scene{now: now, began: ago(100), source: Rotation, sourceAt: ago(60), limits: limits{seconds(4), seconds(30)}}
	quiet := func(s float64) hearing { return sound(deadair.Verdict{Silent: seconds(s)}, 0.1, 0.1) }
	with := func(s scene, change func(*scene)) scene { change(&s); return s }
	live := with(music, func(s *scene) { s.source = Live })
	after := func(s float64) scene { return with(music, func(c *scene) { c.returned = ago(s) }) }
	looping := sound(deadair.Verdict{Sounding: true, Looping: seconds(4)}, 0.1, 0.1)
	but := func(h hearing, change func(*hearing)) hearing { change(&h); return h }
	for name, c := range map[string]struct {
		h    hearing
		s    scene
		want happening
		kind Kind
	}{
		"music":                            {good, music, heard, None},
		"a pause in speech":                {quiet(1.5), music, unsure, None},
		"silence":                          {quiet(4.1), music, fault, Silence},
		"a rest that the recording has":    {quiet(6), with(music, func(s *scene) { s.rests = true }), unsure, None},
		"silence within an alarm":          {quiet(0.6), with(music, func(s *scene) { s.alarm = Silence }), fault, Silence},
		"one in a machine that is short":   {but(quiet(7.9), func(h *hearing) { h.Short = "no processor" }), music, unsure, None},
		"and longer than any rest":         {but(quiet(8), func(h *hearing) { h.Short = "no processor" }), music, fault, Silence},
		"a live source that is silent":     {quiet(20), live, unsure, None},
		"and is for too long":              {quiet(31), live, fault, Silence},
		"the end of its silence":           {quiet(20), after(-1), unsure, None},
		"the same a while later":           {quiet(23.9), after(3.9), unsure, None},
		"a rotation silent after it":       {quiet(24), after(4), fault, Silence},
		"one that comes and goes unheard":  {quiet(35.6), after(-1), fault, Silence},
		"the end of its repetition":        {looping, after(1), heard, None},
		"a rotation that repeats after it": {looping, after(4), fault, Frozen},
		"never anything":                   {hearing{told: now}, music, fault, Gone},
		"nothing for two seconds":          {sound(good.Verdict, 2.1, 2.1), music, unsure, None},
		"nothing for longer":               {sound(good.Verdict, 3.1, 3.1), music, fault, Gone},
		"a decoder that is behind":         {sound(good.Verdict, 0.1, 30), music, heard, None},
		"the same in a silence":            {sound(good.Verdict, 0.1, 30), with(music, func(s *scene) { s.alarm = Silence }), unsure, None},
		"audio again after it was gone":    {sound(good.Verdict, 0.1, 30), with(music, func(s *scene) { s.alarm = Gone }), heard, None},
		"a server without a place for us":  {but(sound(good.Verdict, 60, 60), func(h *hearing) { h.Full = true }), music, unsure, None},
		"a machine that is short":          {but(sound(good.Verdict, 3.1, 3.1), func(h *hearing) { h.Short = "no processor" }), music, fault, Starved},
		"one that is short, and in time":   {but(good, func(h *hearing) { h.Short = "no processor" }), music, heard, None},
		"a node that does not answer":      {but(sound(good.Verdict, 3.1, 3.1), func(h *hearing) { h.told = ago(3.0) }), music, fault, Unreachable},
		"one that only starts":             {but(sound(good.Verdict, 9, 9), func(h *hearing) { h.told = ago(9) }), with(music, func(s *scene) { s.began = ago(30) }), unsure, None},
		"one that should have by then":     {but(sound(good.Verdict, 11, 11), func(h *hearing) { h.told = ago(10) }), with(music, func(s *scene) { s.began = ago(30) }), fault, Unreachable},
		"one that has not for a while":     {but(sound(good.Verdict, 2.9, 2.9), func(h *hearing) { h.told = ago(2.8) }), music, unsure, None},
		"one that was late once":           {but(good, func(h *hearing) { h.told = ago(0.9) }), music, heard, None},
		"standby audio for a moment":       {good, with(music, func(s *scene) { s.cut = true }), fault, Gone},
		"standby audio":                    {but(good, func(h *hearing) { h.standby = ago(0.6) }), music, fault, Gone},
		"a loop":                           {looping, music, fault, Frozen},
		"a loop that the recording has":    {looping, with(music, func(s *scene) { s.loops = true }), heard, None},
		"a loop of the emergency audio":    {looping, with(music, func(s *scene) { s.source, s.held = EmergencySource, true }), heard, None},
		"a live source that repeats":       {looping, live, heard, None},
		"another playlist, just now":       {good, with(music, func(s *scene) { s.altered = ago(1) }), heard, None},
		"another playlist":                 {good, with(music, func(s *scene) { s.altered = ago(2) }), fault, Playlist},
		"emergency audio, just now":        {good, with(music, func(s *scene) { s.source, s.sourceAt = EmergencySource, ago(1) }), heard, None},
		"emergency audio":                  {good, with(music, func(s *scene) { s.source = EmergencySource }), fault, Emergency},
		"emergency audio by our own order": {good, with(music, func(s *scene) { s.source, s.held = EmergencySource, true }), heard, None},
		"silence comes before the file":    {quiet(4), with(music, func(s *scene) { s.altered = ago(9) }), fault, Silence},
	} {
		got := observe(c.h, c.s)
		if got.what != c.want || got.what == fault && got.kind != c.kind {
			t.Errorf("%s: %v %q, want %v %q", name, got.what, got.kind, c.want, c.kind)
		}
		if got.what == fault && (got.began.After(now) || got.began.IsZero()) {
			t.Errorf("%s began at %s", name, got.began)
		}
	}
}

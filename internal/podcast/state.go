package podcast

// event is what happens to an episode.
type event string

// The events.
const (
	made      event = "made"      // its file is there, and listeners may hear it
	madeHeld  event = "made held" // its file is there, and the show's episodes wait
	failed    event = "failed"    // it could not be made
	again     event = "again"     // it is to be made once more
	publish   event = "publish"
	hide      event = "hide"
	lose      event = "lose"    // its file is no longer there
	find      event = "find"    // its file is there again
	remove    event = "remove"  // by hand
	bringBack event = "restore" // by hand
)

// stages tells an episode's states apart from those that it goes back to.
type stages struct {
	State State
	Was   State // of one that is removed: its state before
	Lost  State // of one whose file has gone: its state before; it goes there once it has one
}

// next is the table of an episode's states; not ok is an event that its state forbids.
//
//	making     made → published, made held → held, or as before its file had gone
//	           failed → failed, remove → removed
//	failed     again → making, find → as before its file had gone, remove → removed
//	held       publish → published, hide → hidden, lose → failed, remove → removed
//	published  hide → hidden, lose → failed, remove → removed
//	hidden     publish → published, lose → failed, remove → removed
//	removed    restore → as before
func next(s stages, e event) (_ stages, ok bool) {
	switch {
	case s.State == Removed && e == bringBack && s.Was != "":
		return stages{s.Was, "", s.Lost}, true
	case s.State == Removed:
		return s, false
	case e == remove:
		return stages{Removed, s.State, s.Lost}, true
	case s.State == Making && (e == made || e == madeHeld) && s.Lost != "":
		return stages{State: s.Lost}, true
	case s.State == Making && e == made:
		return stages{State: Published}, true
	case s.State == Making && e == madeHeld:
		return stages{State: Held}, true
	case s.State == Making && e == failed:
		return stages{Failed, "", s.Lost}, true
	case s.State == Failed && e == again:
		return stages{Making, "", s.Lost}, true
	case s.State == Failed && e == find && s.Lost != "":
		return stages{State: s.Lost}, true
	case (s.State == Held || s.State == Hidden) && e == publish:
		return stages{State: Published}, true
	case (s.State == Held || s.State == Published) && e == hide:
		return stages{State: Hidden}, true
	case s.State.whole() && e == lose:
		return stages{State: Failed, Lost: s.State}, true
	}
	return s, false
}

// whole reports whether an episode of the state has its file.
func (s State) whole() bool { return s == Held || s == Published || s == Hidden }

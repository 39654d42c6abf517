package relay

import (
	"errors"
	"time"
)

// set is one AAC frame of each rendition, all of the same moment; the main one comes first.
type set [][]byte

// timed is a frame of one rendition with its presentation time.
type timed struct {
	PTS  time.Duration
	Data []byte
}

// joiner puts the frames of several renditions together. They come one rendition after the
// other, each a little ahead of or behind the rest. An encoder makes all of them of the same
// samples, so frames of one moment have one time.
type joiner struct {
	waiting [][]timed     // by rendition
	frame   time.Duration // how long one lasts: the publisher's sound says it
}

// mostApart is how many frames a rendition may be behind.
const mostApart = 96 // two seconds

var errRenditionStopped = errors.New("a rendition has stopped, and the main one goes on")

func newJoiner(renditions int) *joiner { return &joiner{waiting: make([][]timed, renditions)} }

// push takes the next frames of a rendition, and calls found with each set that is whole.
func (j *joiner) push(rendition int, pts time.Duration, frames [][]byte, found func(time.Duration, set) error) error {
	for i, f := range frames {
		j.waiting[rendition] = append(j.waiting[rendition], timed{PTS: pts + time.Duration(i)*j.frame, Data: f})
	}
	for {
		at, one, whole := j.next()
		if !whole {
			break
		}
		if err := found(at, one); err != nil {
			return err
		}
	}
	if len(j.waiting[0]) > mostApart {
		return errRenditionStopped
	}
	for i := range j.waiting[1:] { // the main one has stopped
		side := &j.waiting[1+i]
		*side = (*side)[max(0, len(*side)-mostApart):]
	}
	return nil
}

// next takes the oldest set, if each rendition has come that far.
func (j *joiner) next() (at time.Duration, out set, whole bool) {
	if len(j.waiting[0]) == 0 {
		return 0, nil, false
	}
	at = j.waiting[0][0].PTS
	for i := range j.waiting[1:] {
		side := &j.waiting[1+i]
		for len(*side) > 0 && (*side)[0].PTS < at-j.frame/2 {
			*side = (*side)[1:]
		}
		if len(*side) == 0 {
			return 0, nil, false
		}
	}
	for i := range j.waiting {
		first := j.waiting[i][0]
		out = append(out, first.Data)
		// Where a frame was lost on the way, the one behind it is heard twice: lengths stay equal.
		if first.PTS <= at+j.frame/2 {
			j.waiting[i] = j.waiting[i][1:]
		}
	}
	return at, out, true
}

// estate are the frames that wait, as they are left to the next program; nil where there is no
// joiner.
func (j *joiner) estate() [][]timed {
	if j == nil {
		return nil
	}
	return j.waiting
}

// reviveJoiner goes on with frames that waited.
func reviveJoiner(waiting [][]timed) *joiner {
	if waiting == nil {
		return nil
	}
	return &joiner{waiting: waiting}
}

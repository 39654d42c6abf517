package relay

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/bluenviron/gohlslib/v2/pkg/playlist"
)

// historyValidator reads the media playlists a listener sees, in order, and
// holds them against RFC 8216.
type historyValidator struct {
	seen     map[int]*playlist.MediaSegment // by media sequence number
	era      map[int]int                    // discontinuity sequence number of each
	listed   map[int]time.Time              // when each was listed last
	previous *playlist.Media
	newest   int
	longest  map[int]time.Duration // longest playlist a segment was in
	clock    func() time.Time      // nil: time stands still while a playlist is looked at
}

func newHistoryValidator() *historyValidator {
	return &historyValidator{
		seen: map[int]*playlist.MediaSegment{}, era: map[int]int{},
		listed: map[int]time.Time{}, longest: map[int]time.Duration{},
	}
}

// newLiveValidator is for playlists of a relay that goes on meanwhile: what is gone when it is
// looked for may have been there for as long as it had to be.
func newLiveValidator() *historyValidator {
	v := newHistoryValidator()
	v.clock = time.Now
	return v
}

// owed reports that a segment which is not there has still to be, as it was listed.
func (v *historyValidator) owed(now, listed time.Time, keep time.Duration) bool {
	if v.clock != nil {
		now = v.clock()
	}
	return now.Before(listed.Add(keep))
}

// see checks one playlist asked for at now; there reports whether a segment can
// still be fetched.
func (v *historyValidator) see(text []byte, now time.Time, there func(name string) bool) error {
	if !strings.HasPrefix(string(text), "#EXTM3U\n") {
		return fmt.Errorf("4.3.1.1: no EXTM3U")
	}
	list := &playlist.Media{}
	if err := list.Unmarshal(text); err != nil {
		return err
	}
	if err := v.checkList(list); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	if err := v.checkSegments(list, now, there); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	if err := v.checkRemoved(list, now, there); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	v.previous = list
	return nil
}

func (v *historyValidator) checkList(list *playlist.Media) error {
	var total time.Duration
	for _, s := range list.Segments {
		if int(math.Round(s.Duration.Seconds())) > list.TargetDuration {
			return fmt.Errorf("4.3.3.1: EXTINF %s exceeds the target duration %d s", s.Duration, list.TargetDuration)
		}
		total += s.Duration
	}
	if list.Endlist {
		return fmt.Errorf("4.3.3.4: a live playlist has an end")
	}
	if list.DiscontinuitySequence == nil {
		return fmt.Errorf("4.3.3.3: no EXT-X-DISCONTINUITY-SEQUENCE")
	}
	if v.previous == nil {
		return nil
	}
	if list.TargetDuration != v.previous.TargetDuration {
		return fmt.Errorf("6.2.1: the target duration changed")
	}
	if list.MediaSequence < v.previous.MediaSequence {
		return fmt.Errorf("6.2.2: the media sequence number went back")
	}
	if *list.DiscontinuitySequence < *v.previous.DiscontinuitySequence {
		return fmt.Errorf("6.2.2: the discontinuity sequence number went back")
	}
	if list.MediaSequence > v.previous.MediaSequence && total < 3*time.Duration(list.TargetDuration)*time.Second {
		return fmt.Errorf("6.2.2: a segment was removed from a playlist of %s", total)
	}
	return nil
}

func (v *historyValidator) checkSegments(list *playlist.Media, now time.Time, there func(string) bool) error {
	era, before := *list.DiscontinuitySequence, (*playlist.MediaSegment)(nil)
	var total time.Duration
	for _, s := range list.Segments {
		total += s.Duration
	}
	for i, s := range list.Segments {
		number := list.MediaSequence + i
		if s.Discontinuity {
			era++
		}
		if s.DateTime == nil {
			return fmt.Errorf("segment %d has no program date-time", number)
		}
		if before != nil {
			step := s.DateTime.Sub(before.DateTime.Add(before.Duration))
			if !s.Discontinuity && (step > maxSlew+2*time.Millisecond || step < -maxSlew-2*time.Millisecond) {
				return fmt.Errorf("program date-time jumps by %s without a discontinuity at segment %d", step, number)
			}
		}
		before = s
		if old := v.seen[number]; old != nil {
			if old.URI != s.URI || old.Duration != s.Duration || !old.DateTime.Equal(*s.DateTime) || old.Discontinuity != s.Discontinuity {
				return fmt.Errorf("6.2.1: segment %d changed", number)
			}
			if v.era[number] != era {
				return fmt.Errorf("6.2.2: segment %d changed its discontinuity sequence number from %d to %d", number, v.era[number], era)
			}
		} else if number <= v.newest {
			return fmt.Errorf("6.2.1: segment %d was put in behind %d", number, v.newest)
		}
		if !there(s.URI) && v.owed(now, now, s.Duration+total) {
			return fmt.Errorf("6.2.1: segment %s is listed and not there", s.URI)
		}
		v.seen[number], v.era[number], v.listed[number] = s, era, now
		v.longest[number] = max(v.longest[number], total)
		v.newest = max(v.newest, number)
	}
	return nil
}

// checkRemoved holds removed segments to 6.2.2: available for their own length
// plus that of the longest playlist they were in.
func (v *historyValidator) checkRemoved(list *playlist.Media, now time.Time, there func(string) bool) error {
	for number, s := range v.seen {
		if number >= list.MediaSequence {
			continue
		}
		listed, keep := v.listed[number], s.Duration+v.longest[number]
		if v.owed(now, listed, keep) && !there(s.URI) && v.owed(now, listed, keep) {
			return fmt.Errorf("6.2.2: segment %d is gone %s too early", number, listed.Add(keep).Sub(now))
		}
	}
	return nil
}

package relay

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
)

// Which of several relays an edge follows:
//
//	what is seen                             | what is done
//	-----------------------------------------|--------------------------------------------
//	nothing of one of them yet               | nothing: it may have the air
//	one has the air, with the highest fence  | it is followed
//	that one is silent, no other has a       | it stays: what is here is served
//	higher fence                             |
//	that one is off the air, no other has it | it stays, and nothing of it is fetched
//	one has a lower fence than was ever seen | not that: it was cut off and knows nothing
//
// A relay that says nothing of the air has it with fence 0, and of one relay there is nothing
// to choose. The highest fence is kept in a file: an edge that begins anew may reach the old
// node alone.
//
// Numbers are the relay's, so that a listener may change between edges. At the change they
// jump by whatever the two machines differ, so the list begins with the first segment of the
// new relay that is above all of the old, behind EXT-X-DISCONTINUITY: to a player the list
// has moved on, as at a restart of the relay (RFC 8216, 6.2.2). hls.js and Apple's players
// then go on at their distance from its end. EXT-X-GAP entries between would be thousands, and
// players before version 8 ask for each. So three target durations must be there to begin with.
type source struct {
	host, origin string
	trouble      string // the last problem that was logged

	pulling sync.Mutex // one at a time shows what it has

	// Of Mirror.mu:
	standing
	key    string // by which edges sign, as the relay last said it
	list   []*segment
	in     renditions // in which each of them is there
	target time.Duration
	err    error // of the last question
	away   bool  // it did not answer that as a relay does
}

// standing is what is known of a relay.
type standing struct {
	asked bool // once, with whatever answer
	known bool // it answered once
	air   Air
}

// errNoAir says that nobody can be followed.
var errNoAir = errors.New("it is off the air, and no other relay that can be asked has it")

// pick returns which relay is to be followed; -1: none, whoever is stays.
func pick(all []standing, followed int, least uint64) int {
	best := -1
	for i, s := range all {
		switch {
		case !s.asked && followed < 0:
			return -1
		case !s.known || !s.air.OnAir || s.air.Fence < least:
		case best < 0 || s.air.Fence > all[best].air.Fence || s.air.Fence == all[best].air.Fence && i == followed:
			best = i
		}
	}
	return best
}

// ask asks a relay for its list and who has the air.
func (m *Mirror) ask(ctx context.Context, s *source) {
	text, header, err := m.fetch(ctx, s, mediaName, m.waits.list, mostList)
	var list []*segment
	var target time.Duration
	var in renditions
	if err == nil {
		list, in, target, err = readList(text, header)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s.asked, s.list, s.in, s.target, s.err, s.away = true, list, in, target, err, header == nil
	if header == nil {
		m.choose()
		return
	}
	s.known, s.air = true, airOf(header)
	news := false
	if key, err := hex.DecodeString(header.Get(keyHeader)); err == nil && len(key) == sha256.Size && s.key != header.Get(keyHeader) {
		s.key, m.keys[s.host], news = header.Get(keyHeader), header.Get(keyHeader), true
	}
	if s.air.Fence > m.fence {
		m.fence, news = s.air.Fence, true
	}
	if m.choose() || news {
		m.sign()
		m.keep()
	}
}

// errVersion says that a relay tells of no renditions, as one does that serves MPEG-TS.
var errVersion = errors.New("the relay runs another version of Athir: update both")

// readList reads the playlist of a relay.
func readList(text []byte, header http.Header) (list []*segment, in renditions, target time.Duration, err error) {
	told := header.Get(renditionsHeader)
	if told == "" {
		return nil, nil, 0, errVersion
	}
	if in, err = readRenditions(told); err == nil {
		list, target, err = parseList(text, in)
	}
	if err != nil {
		return nil, nil, 0, fmt.Errorf("playlist of the relay: %w", err)
	}
	return list, in, target, nil
}

// choose follows another relay where one has the air. The caller holds mu.
func (m *Mirror) choose() bool {
	all, followed := make([]standing, len(m.relays)), -1
	for i, s := range m.relays {
		all[i] = s.standing
		if s == m.followed {
			followed = i
		}
	}
	at := 0
	if len(all) > 1 {
		at = pick(all, followed, m.fence)
	}
	if at < 0 || at == followed {
		return false
	}
	m.leave() // what is being fetched of the other
	if m.followed != nil {
		m.log.Info("HLS comes from another relay", "relay", m.relays[at].host, "fence", all[at].air.Fence, "before", m.followed.host)
	}
	m.followed, m.joining, m.from = m.relays[at], m.window.has(), 0
	return true
}

// Followed is the relay that is followed, empty before the first, and the highest fence that
// was seen.
func (m *Mirror) Followed() (relay string, fence uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.followed != nil {
		relay = m.followed.host
	}
	return relay, m.fence
}

// airOf reads what a relay tells an edge.
func airOf(h http.Header) Air {
	if h.Get(fenceHeader) == "" {
		return Air{OnAir: true}
	}
	fence, err := strconv.ParseUint(h.Get(fenceHeader), 10, 64)
	return Air{Fence: fence, OnAir: err == nil && h.Get(onAirHeader) == "true"}
}

// leads reports whether a relay is followed, or none is.
func (m *Mirror) leads(s *source) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.followed == s || m.followed == nil
}

// mayPull reports whether the followed relay has the air still. The caller holds mu.
func (m *Mirror) mayPull(s *source) bool {
	return len(m.relays) == 1 || s.air.OnAir && s.air.Fence >= m.fence
}

// unfit says why a relay could not be followed. The caller holds mu.
func (m *Mirror) unfit(s *source) error {
	switch {
	case s.away:
		return s.err
	case m.followed == nil && s.air.OnAir && s.air.Fence < m.fence:
		return fmt.Errorf("the relay %s has the air with fence %d, and %d was seen: if the station's nodes were set up anew, remove %s", s.host, s.air.Fence, m.fence, m.file)
	case m.followed == nil:
		return errNoAir
	}
	return nil
}

// expected is the part of a relay's list that may be shown. The caller holds mu.
func (m *Mirror) expected(s *source) ([]*segment, error) {
	list, end := s.list, m.window.next()
	newest := list[len(list)-1].sequence
	switch lower := newest < end-1; {
	case lower && !m.fresh(): // better than nothing for ever
		m.window.forget()
		m.joining, m.from = false, 0
	case lower && !m.joining:
		return nil, fmt.Errorf("playlist of the relay: it ends at segment %d, and %d was there: is it another station's?", newest, end-1)
	}
	first := m.from
	if m.joining {
		first = end
	}
	for len(list) > 0 && list[0].sequence < first {
		list = list[1:]
	}
	anew := len(m.relays) > 1 && m.window.has() && len(list) > 0 && list[0].sequence >= end
	if (m.joining || anew) && length(list) < enough(s.target) {
		return nil, fmt.Errorf("the relay %s has the air, and %s of segments above %d: waiting for %s", s.host, length(list), end-1, enough(s.target))
	}
	out := make([]*segment, len(list))
	for i, one := range list {
		moved := *one
		moved.era += m.eras
		out[i] = &moved
	}
	return out, nil
}

// joins reports whether a list may be shown, and puts the first one of another relay behind a
// break. The caller holds mu.
func (m *Mirror) joins(got []*segment, target time.Duration) bool {
	if !m.joining {
		return true
	}
	if length(got) < enough(target) {
		return false
	}
	theirs := got[0].era - m.eras
	m.eras = max(0, m.window.lastEra()+1-theirs)
	more := theirs + m.eras - got[0].era
	for _, s := range got {
		s.era += more
	}
	got[0].discontinuity = true
	m.joining, m.from = false, got[0].sequence
	m.keep()
	return true
}

// enough is what a list must hold that another is left for (RFC 8216, 6.2.2).
func enough(target time.Duration) time.Duration { return 3 * target }

func length(list []*segment) (sum time.Duration) {
	for _, s := range list {
		sum += s.duration
	}
	return sum
}

// sign takes the key of the followed relay, and those of all for as good: a listener of the
// other node goes on at any edge. The caller holds mu.
func (m *Mirror) sign() {
	current := ""
	if m.followed != nil {
		current = m.followed.key
	}
	var key []byte
	var also [][]byte
	for _, s := range m.relays {
		text := cmp.Or(s.key, m.keys[s.host])
		switch one, err := hex.DecodeString(text); {
		case err != nil || len(one) != sha256.Size:
		case text == current:
			key = one
		default:
			also = append(also, one)
		}
	}
	if key != nil {
		m.sessions.signWith(key, also...)
	}
}

// kept is the file of an edge with several relays.
type kept struct {
	Fence uint64            `json:"fence"`
	Eras  int               `json:"eras"` // with that fence
	Keys  map[string]string `json:"keys"`
}

func (m *Mirror) read() (k kept) {
	text, err := os.ReadFile(m.file)
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.log.Warn("cannot read which relay was followed", "file", m.file, "err", err)
	}
	return k
}

// recall reads what was kept.
func (m *Mirror) recall() {
	if m.file == "" || len(m.relays) < 2 {
		return
	}
	k := m.read()
	m.fence, m.eras = k.Fence, max(k.Eras, 0)
	for _, s := range m.relays {
		if key := k.Keys[s.host]; key != "" {
			m.keys[s.host] = key
		}
	}
}

// keep writes what is to outlive this process. Another of the same edge may have seen more.
func (m *Mirror) keep() {
	if m.file == "" || len(m.relays) < 2 {
		return
	}
	text, err := json.Marshal(kept{Fence: max(m.fence, m.read().Fence), Eras: m.eras, Keys: m.keys})
	if err == nil {
		err = file.WriteAtomic(m.file, text, 0o600)
	}
	if err != nil {
		m.log.Warn("cannot keep which relay is followed for a restart", "file", m.file, "err", err)
	}
}

// has reports whether there is a segment.
func (w *window) has() bool { return !w.end().IsZero() }

// lastEra is the discontinuity sequence number of the newest segment.
func (w *window) lastEra() int {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if len(w.listed) == 0 {
		return 0
	}
	return w.listed[len(w.listed)-1].era
}

// forget takes all segments out at once: their names may be used again.
func (w *window) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listed, w.retired = nil, nil
	clear(w.byNumber)
	w.moved()
}

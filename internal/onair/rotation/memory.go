package rotation

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// HistoryKept is how long the history reaches back (mission: *Anti-repeat state*).
const HistoryKept = 72 * time.Hour

// shards is the number of parts of a ledger: adding a value copies one of them.
const shards = 256

// ledger maps paths to values. The zero value is empty. Copies of a State share it, so
// it never changes: adding a value copies one shard.
type ledger[V any] struct{ shard *[shards]map[string]V }

func shardOf(path string) uint64 { return hash(path) % shards }

func (l ledger[V]) get(path string) (v V, ok bool) {
	if l.shard != nil {
		v, ok = l.shard[shardOf(path)][path]
	}
	return v, ok
}

// all returns every path and its value. The map is the caller's.
func (l ledger[V]) all() map[string]V {
	all := map[string]V{}
	if l.shard != nil {
		for _, m := range l.shard {
			maps.Copy(all, m)
		}
	}
	return all
}

// with returns the ledger with one more value; prune may remove others of its shard.
func (l ledger[V]) with(path string, v V, prune func(map[string]V)) ledger[V] {
	out := new([shards]map[string]V)
	if l.shard != nil {
		*out = *l.shard
	}
	i := shardOf(path)
	m := make(map[string]V, len(out[i])+1)
	maps.Copy(m, out[i])
	m[path] = v
	prune(m)
	out[i] = m
	return ledger[V]{out}
}

// ledgerOf makes a ledger of all, which the caller must not use afterwards.
func ledgerOf[V any](all map[string]V) ledger[V] {
	out := new([shards]map[string]V)
	for path, v := range all {
		i := shardOf(path)
		if out[i] == nil {
			out[i] = map[string]V{}
		}
		out[i][path] = v
	}
	return ledger[V]{out}
}

// MarshalJSON writes an object of path to value.
func (l ledger[V]) MarshalJSON() ([]byte, error) { return json.Marshal(l.all()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (l *ledger[V]) UnmarshalJSON(b []byte) error {
	var all map[string]V
	err := json.Unmarshal(b, &all)
	*l = ledgerOf(all)
	return err
}

// GobEncode keeps paths byte for byte, which JSON does not: a path may hold
// bytes that are no UTF-8.
func (l ledger[V]) GobEncode() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(l.all())
	return b.Bytes(), err
}

// GobDecode reads what GobEncode writes.
func (l *ledger[V]) GobDecode(data []byte) error {
	var all map[string]V
	err := gob.NewDecoder(bytes.NewReader(data)).Decode(&all)
	*l = ledgerOf(all)
	return err
}

// Play is one airing of a track.
type Play struct {
	Path string
	At   time.Time
	// Round is Entry.Round of the entry that aired; 0 means one more than before.
	Round int
}

// History is the mission's trackHistory: the airings of each path within 72
// hours, oldest first.
type History struct{ ledger[[]time.Time] }

// Starts returns the airings of path, oldest first. The slice must not be changed.
func (h History) Starts(path string) []time.Time {
	starts, _ := h.get(path)
	return starts
}

// All returns the airings of every path. The map is the caller's.
func (h History) All() map[string][]time.Time { return h.all() }

func (h History) add(path string, at time.Time) History {
	starts := withStart(h.Starts(path), at)
	newest := starts[len(starts)-1]
	return History{h.with(path, starts, func(all map[string][]time.Time) { pruneHistory(all, newest) })}
}

// withStart returns a new list with one more airing, without those that are 72 hours
// older than the newest.
func withStart(starts []time.Time, at time.Time) []time.Time {
	i, _ := slices.BinarySearchFunc(starts, at, time.Time.Compare)
	out := slices.Insert(slices.Clip(slices.Clone(starts)), i, at)
	return recentStarts(out, out[len(out)-1])
}

// recentStarts drops airings that are 72 hours old.
func recentStarts(starts []time.Time, now time.Time) []time.Time {
	oldest := now.Add(-HistoryKept)
	i := slices.IndexFunc(starts, func(at time.Time) bool { return !at.Before(oldest) })
	if i < 0 {
		return nil
	}
	return starts[i:]
}

func pruneHistory(all map[string][]time.Time, now time.Time) {
	for path, starts := range all {
		if left := recentStarts(starts, now); len(left) == 0 {
			delete(all, path)
		} else if len(left) < len(starts) {
			all[path] = left
		}
	}
}

// Turn is how often a track has had its turn in its deck. The tracks of a deck stay
// within one or two turns of each other, which makes their plays even.
type Turn struct {
	Round int       `json:"round"`
	At    time.Time `json:"at"` // of the last
}

// Turns remembers the turn of every path for good: a large deck takes weeks to air
// completely.
type Turns struct{ ledger[Turn] }

// Of returns the turn of path; the zero Turn when it never had one.
func (t Turns) Of(path string) Turn {
	turn, _ := t.get(path)
	return turn
}

// All returns every path and its turn. The map is the caller's.
func (t Turns) All() map[string]Turn { return t.all() }

// next returns the turn after a play, given the turn before it. Values only grow.
func (p Play) next(was Turn) Turn {
	if p.Round == 0 {
		p.Round = was.Round + 1
	}
	if was.At.After(p.At) {
		p.At = was.At
	}
	return Turn{max(p.Round, was.Round), p.At}
}

func (t Turns) add(p Play) Turns {
	return Turns{t.with(p.Path, p.next(t.Of(p.Path)), func(map[string]Turn) {})}
}

package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

// record is a stream as it is kept: the record of the mission and marks of our own.
type record struct {
	live.Stream
	Dead  mark `json:"dead,omitzero"`
	Phone bool `json:"phone,omitempty"` // the one entry of the phones' pipe
	// Owner is the account that last sent by the address; empty: none, or the phones'.
	Owner string `json:"owner,omitempty"`
}

type records []record

func (all records) find(id string) int {
	return slices.IndexFunc(all, func(s record) bool { return s.ID == id })
}

func (all records) index(id string) (int, error) {
	if at := all.find(id); at >= 0 {
		return at, nil
	}
	return -1, fmt.Errorf("live stream %.40q: %w", id, station.ErrNotFound)
}

func (all records) clone() records { return slices.Clone(all) }

// equal reports that they are the same but for listeners.
func (all records) equal(others records) bool {
	return slices.EqualFunc(all, others, func(a, b record) bool {
		a.Listeners, b.Listeners = 0, 0
		return a == b
	})
}

// shape is that of an id.
var shape = regexp.MustCompile(`^LIVE[0-9a-f]{8}$`)

// load reads live.streams. Other members beside it are kept as they are.
func (r *Registry) load() (records, error) {
	raw := r.opt.Store.Live()
	if raw == nil {
		return nil, nil
	}
	var doc struct {
		Streams []json.RawMessage `json:"streams"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("read live.streams of the station configuration: must be a list: %w", station.ErrInvalid)
	}
	var all records
	for i, text := range doc.Streams {
		var s record
		err := json.Unmarshal(text, &s)
		if err == nil {
			err = r.usable(&s, all)
		}
		if err != nil {
			r.opt.Log.Warn("live stream left out: it cannot be used", "entry", fmt.Sprintf("live.streams[%d]", i), "err", err)
			continue
		}
		all = append(all, s)
	}
	return all, nil
}

// usable refuses an entry that Register would not have made.
func (r *Registry) usable(s *record, before records) error {
	if s.ID == "" { // written by hand
		s.ID = r.freshID(before)
	}
	ingest, err := r.judge(Fields{URL: s.URL, Title: s.Title, Creator: s.Creator, Listeners: s.Listeners, Ingest: s.Ingest})
	s.Ingest = ingest
	switch {
	case !shape.MatchString(s.ID):
		return fmt.Errorf("id: must be LIVE and eight hexadecimal digits: %w", station.ErrInvalid)
	case before.find(s.ID) >= 0:
		return fmt.Errorf("id: %s appears twice: %w", s.ID, station.ErrInvalid)
	case len(before) >= mostStreams:
		return fmt.Errorf("there are more than %d: %w", mostStreams, station.ErrInvalid)
	}
	s.Votes = min(max(s.Votes, -mostVotes), mostVotes)
	return err
}

// keep writes the records, and what else live holds.
func (r *Registry) keep(ctx context.Context, all records) error {
	doc := map[string]json.RawMessage{}
	if raw := r.opt.Store.Live(); raw != nil {
		if err := json.Unmarshal(raw, &doc); err != nil {
			return fmt.Errorf("read the member live of the station configuration: %w", err)
		}
	}
	if all == nil {
		all = records{}
	}
	streams, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if len(streams) > mostStored {
		return fmt.Errorf("the live streams would take more than %d KiB: remove one first: %w", mostStored>>10, station.ErrConflict)
	}
	doc["streams"] = streams
	raw, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	return r.opt.Store.KeepLive(ctx, raw)
}

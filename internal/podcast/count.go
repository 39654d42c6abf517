package podcast

import (
	"context"
	"errors"
	"sync"

	"github.com/athir-radio/athir/internal/station"
)

// counter keeps downloads that are not on the disk yet.
type counter struct {
	mu    sync.Mutex
	heard map[string]map[string]int64 // by show and episode
}

// Count counts a download of an episode that listeners may hear; any other is left out. A kill
// loses those of half a minute.
func (p *Podcasts) Count(slug, id string) {
	if _, _, err := p.Sound(slug, id); err == nil {
		p.count.add(slug, id, 1)
	}
}

func (c *counter) add(slug, id string, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.heard[slug] == nil {
		c.heard[slug] = map[string]int64{}
	}
	c.heard[slug][id] += n
}

// flush writes what was counted.
func (p *Podcasts) flush(ctx context.Context) error {
	p.count.mu.Lock()
	all := p.count.heard
	p.count.heard = map[string]map[string]int64{}
	p.count.mu.Unlock()
	var failed error
	for slug, of := range all {
		err := p.change(ctx, slug, func(s *shelf) error {
			for id, n := range of {
				if r := s.edit(id); r != nil {
					r.Downloads += n
				}
			}
			return nil
		})
		if err == nil || errors.Is(err, station.ErrNotFound) {
			continue
		}
		failed = errors.Join(failed, err)
		for id, n := range of {
			p.count.add(slug, id, n)
		}
	}
	return failed
}

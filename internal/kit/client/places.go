package client

import (
	"errors"
	"sync"
)

// Places are what may be under way at once, of all clients and of each: such as bodies that
// come slowly, which would otherwise hold everything there is. The zero value has nobody in it.
type Places struct {
	mu  sync.Mutex
	all int
	of  map[string]int // by the names of shares
}

// Share is how many places one name may hold: of an address, or the network around it. One
// without a name, as this machine has none, has no limit.
type Share struct {
	Name string
	Most int
}

// ErrNoPlace says that all places are taken, ErrNoShare that a client has all of its own.
var (
	ErrNoPlace = errors.New("all places are taken")
	ErrNoShare = errors.New("this client has all of its places")
)

// Enter takes one of so many places, and one of each share, until leave is called. Errors:
// ErrNoPlace, ErrNoShare.
func (p *Places) Enter(places int, shares ...Share) (leave func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all >= places {
		return nil, ErrNoPlace
	}
	for _, s := range shares {
		if s.Name != "" && p.of[s.Name] >= s.Most {
			return nil, ErrNoShare
		}
	}
	p.count(1, shares)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.count(-1, shares)
	}, nil
}

func (p *Places) count(by int, shares []Share) {
	if p.of == nil {
		p.of = map[string]int{}
	}
	p.all += by
	for _, s := range shares {
		if p.of[s.Name] += by; p.of[s.Name] == 0 {
			delete(p.of, s.Name)
		}
	}
}

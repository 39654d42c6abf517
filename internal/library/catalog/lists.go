package catalog

import (
	"slices"
	"sync"
	"time"
)

const (
	// mostLists is how many lists are kept: whoever scrolls asks for parts of one list.
	mostLists = 16
	// fresh is how long a list is kept that changes with what airs.
	fresh = 10 * time.Second
)

// lists are what the latest queries found, the latest last.
type lists struct {
	mu  sync.Mutex
	all []madeList
}

type madeList struct {
	generation uint64
	key        string
	until      time.Time // zero: as long as the shelf
	list
}

// get returns the list of a query, and makes it where it is not there.
func (l *lists) get(generation uint64, key string, volatile bool, now time.Time, make func() list) list {
	l.mu.Lock()
	i := slices.IndexFunc(l.all, func(m madeList) bool { return m.generation == generation && m.key == key })
	if i >= 0 && (l.all[i].until.IsZero() || now.Before(l.all[i].until)) {
		found := l.all[i]
		l.all = append(slices.Delete(l.all, i, i+1), found)
		l.mu.Unlock()
		return found.list
	}
	if i >= 0 {
		l.all = slices.Delete(l.all, i, i+1)
	}
	l.mu.Unlock()
	made := madeList{generation: generation, key: key, list: make()}
	if volatile {
		made.until = now.Add(fresh)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, made)
	if len(l.all) > mostLists {
		l.all = slices.Delete(l.all, 0, 1)
	}
	return made.list
}

// clear forgets all lists.
func (l *lists) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = nil
}

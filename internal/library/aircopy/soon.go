package aircopy

import "maps"

// mostSoon is how many files may be ahead of all others: nobody waits for each of thousands
// that were sent or changed in one go, and a new jingle would have to wait for them all.
const mostSoon = 100

// Soon has files decided before others, in the order of the calls: somebody has just sent
// them, or changed what of them is to air, and waits for it. Only bulletins come before them.
// The registry must list them as they are now. More than 100 at once wait for their turn, and
// beyond 100 in all the oldest do again.
func (r *Rack) Soon(rels ...string) {
	if r.opt.Disabled || len(rels) == 0 || len(rels) > mostSoon {
		return
	}
	r.mu.Lock()
	for _, rel := range rels {
		r.asks++
		r.soon[rel] = r.asks
	}
	for len(r.soon) > mostSoon {
		oldest, first := "", r.asks+1
		for rel, turn := range r.soon {
			if turn < first {
				oldest, first = rel, turn
			}
		}
		delete(r.soon, oldest)
	}
	r.mu.Unlock()
	r.Recheck()
}

// waitedFor returns a copy of what somebody waits for.
func (r *Rack) waitedFor() map[string]int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return maps.Clone(r.soon)
}

// arrived forgets those of waiting, as waitedFor returned it, that are in no job and not in
// work: they air, are put off or gone. What was asked for since the tracks were listed stays.
func (w *runner) arrived(waiting map[string]int, jobs []job) {
	if len(waiting) == 0 {
		return
	}
	for i := range jobs {
		if jobs[i].soon > 0 {
			delete(waiting, jobs[i].track.Path)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for rel, turn := range waiting {
		if w.inWork[rel] == nil && w.soon[rel] == turn && turn <= w.listed {
			delete(w.soon, rel)
		}
	}
}

// urgent reports that work on a longer file may make way for a job.
func (w *runner) urgent(j *job) bool {
	if j.soon > 0 {
		return !w.early[j.track.Path].airs && !w.canOpen(j)
	}
	return !w.airsMeanwhile(j) && !(j.track.Category.Music() && w.songs > 0)
}

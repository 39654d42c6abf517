package social

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/file"
)

// mostFetching is how many posts are fetched at once, each of another network.
const mostFetching = 8

// fetchAll fetches the posts that were sent by an address, until ctx ends. It is beside the
// worker, because a server may take ten minutes to send nothing of use; and a network has one
// at a time, because whoever has such a server sends many posts.
func (s *Social) fetchAll(ctx context.Context) error {
	var all sync.WaitGroup
	defer all.Wait()
	retry := time.NewTimer(0)
	defer retry.Stop()
	for {
		t, err := s.unfetchedPost(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			s.log.Error("cannot look for posts to fetch", "err", err)
			retry.Reset(firstPause)
		case t != nil:
			work, end := s.beginTask(ctx, t)
			all.Go(func() {
				defer s.rouse()
				defer end()
				s.fetched(ctx, work, t)
			})
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.fetch:
		case <-retry.C:
		}
	}
}

// unfetchedPost returns the next post to fetch; nil if there is none, or no place.
func (s *Social) unfetchedPost(ctx context.Context) (*task, error) {
	var ids []int64
	var networks []string
	s.mu.Lock()
	for id, t := range s.now {
		if t.source == "" {
			ids, networks = append(ids, id), append(networks, hex.EncodeToString(t.wider))
		}
	}
	s.mu.Unlock()
	if len(ids) >= mostFetching {
		return nil, nil //nolint:nilnil // no place
	}
	return s.pick(ctx, `source = '' AND source_url <> '' AND id NOT IN (SELECT value FROM json_each(?))
		AND (wider IS NULL OR lower(hex(wider)) NOT IN (SELECT value FROM json_each(?)))`, listed(ids), listed(networks))
}

// fetched fetches one post, and saves what became of it.
func (s *Social) fetched(ctx, work context.Context, t *task) {
	err := errGivenUp
	if t.tries <= mostTries {
		err = s.fetchOne(work, t)
	}
	switch {
	case err == nil, ctx.Err() != nil, errors.Is(context.Cause(work), errChangedMeanwhile), errors.Is(err, errStale):
		return
	}
	err = s.conclude(ctx, t, nil, err)
	if err != nil && !errors.Is(err, errStale) && !isConflict(err) {
		s.log.Error("cannot save what became of a post: it is tried again", "post", t.id, "err", err)
		s.rest(ctx)
	}
}

func (s *Social) fetchOne(ctx context.Context, t *task) error {
	if s.opt.Hold != nil {
		if err := s.opt.Hold(ctx); err != nil {
			return err
		}
	}
	t.at(Fetching)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	name := newName()
	path := filepath.Join(s.incoming(), name)
	looked := int64(-piece)
	got, err := s.opt.Fetch.File(ctx, fetch.Request{URL: t.url, Limit: s.opt.Limits.Bytes}, path, func(done, total int64) {
		if total > 0 {
			t.progress(float64(done) / float64(total))
		}
		if done-looked >= piece {
			looked = done
			if err := s.disk(0); err != nil {
				cancel(err)
			}
		}
	})
	if full := context.Cause(ctx); err != nil && full != nil {
		return full
	}
	if err != nil {
		return unfetched(err, s.opt.Limits.Bytes)
	}
	if err := file.SyncDir(s.incoming()); err != nil {
		return fmt.Errorf("fetch a post: %w", err)
	}
	err = s.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		// The worker has not tried it yet.
		kept, err := changedRow(ctx, tx, `UPDATE social_posts SET source = ?, source_size = ?, tries = tries - 1 WHERE id = ? AND run = ?`, name, got.Size, t.id, t.run)
		if err == nil && !kept {
			err = errStale
		}
		return err
	})
	if err != nil {
		_ = os.Remove(path)
	}
	return err
}

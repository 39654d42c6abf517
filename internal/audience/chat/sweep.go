package chat

import (
	"context"
	"net/http"
	"time"
)

const (
	// tidyEvery is how often old data is deleted.
	tidyEvery = 10 * time.Minute
	// remembered is how long the id of a write is remembered.
	remembered = 48 * time.Hour
	// mostRemembered bounds the remembered ids: ten a second for a day.
	mostRemembered = 1_000_000
	// auditKept is how long entries of the audit log are kept.
	auditKept = 400 * 24 * time.Hour
	// atATime bounds the lines that one commit deletes: others wait for it.
	atATime = 500
	// mostFitted bounds the attachments that one commit deletes for lack of space.
	mostFitted = 50
)

// Run deletes old data, and attachments that no message refers to, until ctx ends.
func (c *Chat) Run(ctx context.Context) error {
	every := time.NewTicker(tidyEvery)
	defer every.Stop()
	for {
		if err := c.Tidy(ctx); err != nil && ctx.Err() == nil {
			c.opt.Log.Warn("chat cleanup failed, will try again", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
	}
}

// Tidy does once what Run does regularly. It deletes nothing for its age while the
// clock is in doubt.
func (c *Chat) Tidy(ctx context.Context) error {
	trusted, err := c.lookAtClock(ctx)
	if err == nil && trusted {
		err = c.age(ctx, c.opt.Now())
	}
	if err != nil {
		return err
	}
	for more := true; more && ctx.Err() == nil; { // the setting may be lower than it was
		if err := c.write(ctx, func(w *writer) error {
			more = w.fit("")
			return w.failed()
		}); err != nil {
			return err
		}
	}
	_, err = c.files.Sweep(c.kept(ctx))
	return err
}

// lookAtClock reports whether the clock is trusted.
func (c *Chat) lookAtClock(ctx context.Context) (trusted bool, err error) {
	var was, is clock
	err = c.write(ctx, func(w *writer) error {
		w.get(`SELECT seen, doubted FROM chat_state`, nil, &was.seen, &was.doubted)
		if was.seen == 0 { // first look: use the time of the newest line
			w.get(`SELECT coalesce(max(at), 0) FROM chat_lines`, nil, &was.seen)
		}
		is, trusted = was.look(w.now)
		w.exec(`UPDATE chat_state SET seen = ?, doubted = ?`, is.seen, is.doubted)
		return w.failed()
	})
	if err == nil && !trusted && is.doubted != was.doubted {
		c.opt.Log.Warn("clock jumped ahead, no chat is deleted for its age until the clock has run for another day",
			"from", time.UnixMilli(was.seen).UTC(), "to", time.UnixMilli(is.seen).UTC())
	}
	return trusted, err
}

// age deletes what is too old.
func (c *Chat) age(ctx context.Context, now time.Time) error {
	oldest := now.AddDate(0, 0, -c.opt.KeepDays).UnixMilli()
	for more := true; more && ctx.Err() == nil; {
		err := c.write(ctx, func(w *writer) error {
			more = w.forget(`at < ?`, oldest) == atATime
			return w.failed()
		})
		if err != nil {
			return err
		}
	}
	return c.write(ctx, func(w *writer) error {
		w.exec(`DELETE FROM chat_once WHERE at < ? OR seq <= (SELECT max(seq) FROM chat_once) - ?`, now.Add(-remembered).UnixMilli(), mostRemembered)
		w.exec(`DELETE FROM chat_audit WHERE at < ? OR id <= (SELECT max(id) FROM chat_audit) - ?`, now.Add(-auditKept).UnixMilli(), mostAudit)
		if n, _ := w.exec(`DELETE FROM chat_sanctions WHERE until <> 0 AND until <= ?`, now.UnixMilli()).RowsAffected(); n > 0 {
			w.reload()
		}
		return w.failed()
	})
}

// forget removes lines for good, the oldest first, and returns how many. No event is
// sent: they are no longer in any history.
func (w *writer) forget(where string, args ...any) int {
	if w.err != nil {
		return 0
	}
	all, err := lines(w.ctx, w.tx, where+` ORDER BY id LIMIT ?`, append(args, atATime)...)
	if err != nil {
		w.err = err
		return 0
	}
	for _, l := range all {
		w.exec(`DELETE FROM chat_lines WHERE id = ?`, l.id)
		w.release(l.media)
	}
	return len(all)
}

// release marks a deleted line's attachment as unused, unless another line refers to it.
func (w *writer) release(media string) {
	if media == "" {
		return
	}
	n, _ := w.exec(`DELETE FROM chat_media WHERE name = ? AND NOT EXISTS (SELECT 1 FROM chat_lines WHERE media = ?)`, media, media).RowsAffected()
	if n > 0 {
		w.unused = append(w.unused, media)
	}
}

// fit deletes the oldest attachments, with their messages, until all fit into
// MediaBytes; more reports that one commit was not enough. The newest stays.
func (w *writer) fit(newest string) (more bool) {
	var sum int64
	w.get(`SELECT coalesce(sum(bytes), 0) FROM chat_media`, nil, &sum)
	for range mostFitted {
		var oldest string
		var size int64
		if sum <= w.chat.opt.MediaBytes || !w.get(`SELECT m.name, m.bytes FROM chat_lines l JOIN chat_media m ON m.name = l.media
			WHERE l.media IS NOT NULL AND l.media <> ? ORDER BY l.id LIMIT 1`, []any{newest}, &oldest, &size) {
			return false
		}
		all, err := lines(w.ctx, w.tx, `media = ?`, oldest)
		if err != nil {
			w.err = err
			return false
		}
		for _, l := range all {
			w.bury(l)
		}
		sum -= size
	}
	return w.err == nil && sum > w.chat.opt.MediaBytes
}

// Media answers with the attachment of that name: see attach.Store.Serve.
func (c *Chat) Media(w http.ResponseWriter, r *http.Request, name string) error {
	return c.files.Serve(w, r, name)
}

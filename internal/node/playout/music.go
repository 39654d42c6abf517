package playout

import (
	"context"
	"errors"
)

// errNoMusic says that neither a song nor a live show is heard.
var errNoMusic = errors.New("no song is on the air")

// Music returns nil while a song or a live show is on the air, as the engine's last
// marker has it.
func (c Client) Music(ctx context.Context) error {
	st, err := c.Status(ctx)
	if err == nil && !st.music() {
		err = errNoMusic
	}
	return err
}

func (s Status) music() bool {
	return s.Last != nil && (s.Last.Kind == KindLive || s.Last.Kind == KindRotation && s.Last.Type == "")
}

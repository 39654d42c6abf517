package input

import (
	"context"
	"io"
)

// Loop is a local file that is played again and again, as it plays: the bed of a show. Its
// path comes from the station, never from a presenter.
type Loop struct{ Path string }

// Run plays until ctx ends or the file cannot be read.
func (l *Loop) Run(ctx context.Context, out io.Writer) error {
	return decode(ctx, "bed", []string{"-protocol_whitelist", "file,pipe", "-stream_loop", "-1", "-re", "-i", "file:" + l.Path}, nil, nil, out)
}

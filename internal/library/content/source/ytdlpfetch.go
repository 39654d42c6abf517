package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// progressMark begins the lines by which the program tells how far it is.
const progressMark = "athir-progress "

// ytdlpFormats takes sound alone where a site has it, over plain HTTP first, and
// else the smallest picture. Other protocols would go past the proxy.
const ytdlpFormats = "bestaudio[protocol^=http]/bestaudio[protocol^=m3u8]/worst[acodec!=none][protocol^=http]/best[protocol^=http]"

// Fetch downloads a candidate's sound.
func (y *YTDLP) Fetch(ctx context.Context, c Candidate, dir string, progress func(done, total int64)) (Fetched, error) {
	if err := y.available(); err != nil {
		return Fetched{}, err
	}
	u, err := y.Client.Check(c.URL)
	if err != nil {
		return Fetched{}, err
	}
	limit := y.Limit
	if limit <= 0 {
		limit = sizeLimit
	}
	args := func(common []string) []string {
		return append(common,
			"--format="+ytdlpFormats, "--downloader=native", "--fixup=never", "--no-mtime", "--no-continue", "--abort-on-unavailable-fragment",
			"--max-filesize="+strconv.FormatInt(limit, 10), "--max-downloads=1", "--playlist-items=1",
			"--match-filter=!is_live & duration<=?"+strconv.Itoa(int(ytdlpLongest.Seconds())),
			"--output=sound", "--dump-json", "--no-simulate", "--progress", "--newline",
			"--progress-template=download:"+progressMark+"%(progress.downloaded_bytes)s %(progress.total_bytes,progress.total_bytes_estimate)s",
			"--", u.String())
	}
	var fetched Fetched
	err = inFolderOf(dir, func(own string) error {
		out := &ytdlpOutput{progress: progress}
		var errs lastLines
		err := y.run(ctx, ytdlpFetch, limit+ytdlpJSON, own, args, proc.Spec{Stdout: out, Stderr: &errs}, func(spec proc.Spec) error {
			exit, err := proc.Run(ctx, spec, nil)
			const maxDownloads = 101 // what it leaves with after --max-downloads
			if err == nil && !exit.OK() && exit.Code != maxDownloads {
				err = fmt.Errorf("yt-dlp: %s: %s", exit, errs.last())
			}
			return err
		})
		if err != nil {
			return ytdlpError(err)
		}
		if err := y.accept(own, limit, out); err != nil {
			return err
		}
		if out.info != nil {
			c = c.fill(out.info)
		}
		name := filepath.Join(dir, workName(c, "sound"))
		if err := os.Rename(filepath.Join(own, "sound"), name); err != nil {
			return fmt.Errorf("yt-dlp: %w", err)
		}
		if fetched.File, err = named(name, "", c); err != nil {
			_ = os.Remove(name)
			return fmt.Errorf("name the download: %w", err)
		}
		fetched.Candidate = c
		return nil
	})
	if err != nil {
		return Fetched{}, err
	}
	return fetched, nil
}

// accept refuses a run that left no sound of an allowed size.
func (y *YTDLP) accept(own string, limit int64, out *ytdlpOutput) error {
	info, err := os.Lstat(filepath.Join(own, "sound"))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return lasting{fmt.Errorf("yt-dlp fetched nothing: the video is live, too long or larger than %d MB", limit>>20)}
	case err != nil:
		return fmt.Errorf("yt-dlp: %w", err)
	case !info.Mode().IsRegular():
		return lasting{errors.New("yt-dlp: its download is not a plain file")}
	case info.Size() > limit:
		return lasting{fmt.Errorf("yt-dlp: the file is larger than %d MB", limit>>20)}
	}
	f, err := os.Open(filepath.Join(own, "sound"))
	if err != nil {
		return fmt.Errorf("yt-dlp: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	head := make([]byte, 4<<10)
	n, _ := f.Read(head)
	if err := inspect(head[:n], nil); err != nil {
		return lasting{fmt.Errorf("yt-dlp: %w", err)}
	}
	_ = out
	return nil
}

// ytdlpOutput reads the program's standard output line by line: progress, and one
// line of JSON. Longer lines than that are dropped.
type ytdlpOutput struct {
	progress func(done, total int64)
	info     *ytdlpInfo
	line     []byte
	over     bool
}

func (o *ytdlpOutput) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part, after, whole := bytes.Cut(rest, []byte("\n"))
		rest = after
		if o.over = o.over || len(o.line)+len(part) > ytdlpJSON; !o.over {
			o.line = append(o.line, part...)
		}
		if whole {
			o.take(string(bytes.TrimSpace(o.line)))
			o.line, o.over = o.line[:0], false
		}
	}
	return len(p), nil
}

func (o *ytdlpOutput) take(line string) {
	if said, ok := strings.CutPrefix(line, progressMark); ok {
		done, total, _ := strings.Cut(said, " ")
		if o.progress != nil {
			o.progress(whole(done), whole(total))
		}
		return
	}
	var info ytdlpInfo
	if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &info) == nil {
		o.info = &info
	}
}

// whole reads a number of bytes, which may be "NA" or have a fraction.
func whole(s string) int64 {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n > 0 && n < 1e15) {
		return 0
	}
	return int64(n)
}

// lastLines keeps the end of what a program says.
type lastLines struct{ kept []byte }

func (l *lastLines) Write(p []byte) (int, error) {
	const most = 8 << 10
	l.kept = append(l.kept, p...)
	if len(l.kept) > most {
		l.kept = append(l.kept[:0], l.kept[len(l.kept)-most:]...)
	}
	return len(p), nil
}

func (l *lastLines) last() string {
	b := bytes.TrimSpace(l.kept)
	return string(b[bytes.LastIndexByte(b, '\n')+1:])
}

// inFolder gives a program a folder of its own, which is gone afterwards.
func inFolder(use func(dir string) error) error { return inFolderOf("", use) }

func inFolderOf(parent string, use func(dir string) error) error {
	dir, err := os.MkdirTemp(parent, "yt-dlp-")
	if err != nil {
		return fmt.Errorf("yt-dlp: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a leftover is in the caller's work folder
	return use(dir)
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vbauerster/mpb/v8/decor"

	"github.com/athir-radio/athir/internal/library/imaging"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/sound/speech"
	"github.com/athir-radio/athir/internal/sound/stinger"
)

type imagingCmd struct {
	Out     string   `help:"Media folder: sweepers, drops and IDs go into its sweepers, stingers into its sfx. Made if missing." placeholder:"DIR" required:""`
	Kind    string   `help:"Make only this kind: sweeper, drop, id or stinger." placeholder:"KIND"`
	Design  []string `help:"Make only stingers of this design, as in RISER; may be given several times." placeholder:"NAME"`
	Count   int      `help:"How many of each kind; 0: two, and sixteen stingers." default:"0" placeholder:"N"`
	Seed    *uint64  `help:"Seed of every choice, a whole number: the same one makes the same again. By chance if not given." placeholder:"S"`
	Songs   string   `help:"Folder of songs that may be cut, for sweepers and drops over a song." placeholder:"DIR"`
	Station string   `help:"Name of the station as it is spoken, with its tashkeel." default:"أَثِيرْ" placeholder:"NAME"`
	Offline bool     `help:"Use nothing over the network: no online voice."`
	Voice   string   `help:"Online voice." default:"ar-EG-SalmaNeural" placeholder:"NAME"`
	Piper   string   `help:"Piper model that speaks where the online voice does not." placeholder:"FILE"`
	JSON    bool     `name:"json" help:"Print one JSON line per asset, without progress."`
	DryRun  bool     `help:"Print what would be made, and make nothing."`
}

// Help describes the drops and the JSON.
func (imagingCmd) Help() string {
	return `Makes what the station says of itself: sweepers over music (SWP_INTRO, SWP_VOX,
8.5 to 9 s), drops (SWP_DROP: over a whoosh, 3.5 to 4 s; with --songs every other
one over a song, on its beat, 8.5 to 9 s), station IDs (ID, 4 to 5 s) and stingers
(SFX, 0.26 to 1.63 s), each at -14 LUFS and at most -1.5 dBTP, tagged Break.

With --json, an object on one line for each:
  path        the file
  kind        sweeper, song_drop, voice_drop, id or stinger
  design      INTRO or VOX of a sweeper, the design of a stinger
  text, voice what is said, and who says it
  seed        its own; order_seed is what --seed takes
  seconds, i_lufs, tp_dbtp   measured on the file
  beat_at     seconds into the file at which the voice lands on a beat
  beat_by     score, aubio, or onset where no steady beat was found
  ducked_db   how much lower the bed is under the voice
  song, cut_at   the song its bed was cut from, and where, in seconds
  error       why it could not be made; there is no path then`
}

// Validate names the flag that is wrong, and the remedy.
func (c *imagingCmd) Validate() error {
	if c.Count < 0 || c.Count > 200 {
		return fmt.Errorf("--count=%d: must be from 0 to 200", c.Count)
	}
	if !slices.Contains([]string{"", "sweeper", "drop", "id", "stinger"}, c.Kind) {
		return fmt.Errorf("--kind=%s: must be sweeper, drop, id or stinger", c.Kind)
	}
	if len(c.Design) > 0 && c.Kind != "" && c.Kind != "stinger" {
		return fmt.Errorf("--design: only stingers have designs, remove --kind=%s", c.Kind)
	}
	if strings.TrimSpace(c.Station) == "" {
		return errors.New("--station: must not be empty: the imaging speaks this name")
	}
	if c.Songs != "" {
		if info, err := os.Stat(c.Songs); err != nil || !info.IsDir() {
			return fmt.Errorf("--songs=%s: is not a readable folder, name one with music in it", c.Songs)
		}
	}
	_, err := c.order()
	return err
}

// order is what the flags ask for. The seed is drawn here where none is given.
func (c *imagingCmd) order() (imaging.Order, error) {
	o := imaging.Order{Seed: uint64(rand.Uint32())}
	if c.Seed != nil {
		o.Seed = *c.Seed
	}
	for _, name := range c.Design {
		d, err := stinger.Parse(name)
		if err != nil {
			return o, fmt.Errorf("--design=%s: %w", name, err)
		}
		o.Designs = append(o.Designs, d)
	}
	count, stingers := c.Count, c.Count
	if c.Count == 0 {
		count, stingers = 2, len(stinger.Designs())
		if len(o.Designs) > 0 {
			stingers = len(o.Designs)
		}
	}
	kind := c.Kind
	if len(o.Designs) > 0 {
		kind = "stinger"
	}
	if kind == "" || kind == "sweeper" {
		o.Sweepers = count
	}
	if kind == "" || kind == "drop" {
		o.VoiceDrops = count
		if c.Songs != "" {
			o.VoiceDrops, o.SongDrops = count/2, count-count/2
		}
	}
	if kind == "" || kind == "id" {
		o.IDs = count
	}
	if kind == "" || kind == "stinger" {
		o.Stingers = stingers
	}
	return o, nil
}

// imagingLine is one asset, for scripts: see imagingCmd.Help.
type imagingLine struct {
	Path    string  `json:"path,omitempty"`
	Kind    string  `json:"kind"`
	Design  string  `json:"design,omitempty"`
	Text    string  `json:"text,omitempty"`
	Voice   string  `json:"voice,omitempty"`
	Seed    uint32  `json:"seed"`
	Order   uint64  `json:"order_seed"`
	Seconds float64 `json:"seconds,omitempty"`
	LUFS    float64 `json:"i_lufs,omitempty"`
	DBTP    float64 `json:"tp_dbtp,omitempty"`
	BeatAt  float64 `json:"beat_at,omitempty"`
	BeatBy  string  `json:"beat_by,omitempty"`
	Ducked  float64 `json:"ducked_db,omitempty"`
	Song    string  `json:"song,omitempty"`
	CutAt   float64 `json:"cut_at,omitempty"`
	Error   string  `json:"error,omitempty"`
}

func (c imagingCmd) lineOf(p imaging.Progress) imagingLine {
	if f := p.Failed; f != nil {
		return imagingLine{Kind: string(f.Kind), Design: f.Design, Seed: f.Seed, Error: f.Err.Error()}
	}
	a := p.Asset
	line := imagingLine{
		Path: filepath.Join(c.Out, filepath.FromSlash(a.Path)), Kind: string(a.Kind), Design: a.Design, Text: a.Text, Voice: a.Voice,
		Seed: a.Seed, Seconds: thousandths(a.Duration.Seconds()), LUFS: thousandths(a.LUFS), DBTP: thousandths(a.DBTP),
		BeatAt: thousandths(a.BeatAt.Seconds()), BeatBy: string(a.BeatBy), Ducked: thousandths(a.Ducked),
	}
	if a.Song != nil {
		line.Song, line.CutAt = a.Song.Path, thousandths(a.Song.From.Seconds())
	}
	return line
}

// Run makes the imaging, and fails if any of it could not be made.
func (c imagingCmd) Run(g globals) error {
	order, err := c.order()
	if err != nil {
		return err
	}
	if c.DryRun {
		return c.printOrder(g.out, order)
	}
	maker, err := c.maker()
	if err != nil {
		return err
	}
	count := func(p imaging.Progress) string { return fmt.Sprintf("imaging %d / %d", p.Done, p.Of) }
	b := g.bar(c.JSON, count(imaging.Progress{}), decor.Percentage(), decor.Name(" "), decor.AverageETA(decor.ET_STYLE_MMSS))
	var lines []imagingLine // text waits for the bar to end
	r, err := maker.Make(g.ctx, order, func(p imaging.Progress) {
		b.show(int64(p.Done), int64(p.Of), count(p), "")
		line := c.lineOf(p)
		line.Order = order.Seed
		if c.JSON {
			_ = jsonLine(g.out, line)
			return
		}
		lines = append(lines, line)
	})
	b.end(true)
	for _, line := range lines {
		printImaging(g.out, line)
	}
	if len(r.Made) > 0 && !c.JSON {
		_, _ = fmt.Fprintf(g.out, "--seed %d makes the same again\n", order.Seed)
	}
	switch {
	case errors.Is(err, imaging.ErrUnspoken):
		return fmt.Errorf("%w: remove --offline, name another --voice or a --piper model, or install espeak-ng", err)
	case err != nil:
		return err
	case len(r.Failed) > 0:
		return fmt.Errorf("%d of %d assets could not be made", len(r.Failed), len(r.Made)+len(r.Failed))
	}
	return nil
}

func (c imagingCmd) maker() (*imaging.Maker, error) {
	log := terminalLog(slog.LevelError) // the outcome says what failed
	booth, err := speech.Order{Offline: c.Offline, Voice: c.Voice, PiperModel: c.Piper}.Booth(terminalLog(slog.LevelWarn))
	if err != nil {
		return nil, err
	}
	o := imaging.Options{
		Dir: c.Out, Voice: booth, Master: mastering.New(mastering.Options{Log: log}), Station: c.Station, Log: log,
	}
	if c.Songs != "" {
		o.Songs = func(context.Context) ([]imaging.Song, error) { return songsIn(c.Songs) }
	}
	return imaging.New(o)
}

// songsIn lists the sound files of a folder and those below it.
func songsIn(dir string) ([]imaging.Song, error) {
	var out []imaging.Song
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == dir:
			return fmt.Errorf("list songs: %w", err)
		case err != nil: // a folder that may not be read has no songs for us
			return nil
		case path != dir && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		switch strings.ToLower(filepath.Ext(path)) {
		case ".mp3", ".ogg", ".oga", ".flac", ".m4a", ".opus", ".wav":
			if d.Type().IsRegular() {
				out = append(out, imaging.Song{Path: path})
			}
		}
		return nil
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("--songs=%s: holds no sound files", dir)
	}
	return out, err
}

func printImaging(out io.Writer, l imagingLine) {
	if l.Error != "" {
		_, _ = fmt.Fprintf(out, "failed  %s %s: %s\n", l.Kind, l.Design, l.Error)
		return
	}
	_, _ = fmt.Fprintf(out, "made    %s: %.2f s, %.1f LUFS, %.1f dBTP", l.Path, l.Seconds, l.LUFS, l.DBTP)
	if l.Text != "" {
		_, _ = fmt.Fprintf(out, "; %s says %s", l.Voice, l.Text)
	}
	_, _ = fmt.Fprintln(out)
}

// printOrder says what would be made.
func (c imagingCmd) printOrder(out io.Writer, o imaging.Order) error {
	if c.JSON {
		return jsonLine(out, map[string]any{
			"out": c.Out, "seed": o.Seed, "sweepers": o.Sweepers, "song_drops": o.SongDrops,
			"voice_drops": o.VoiceDrops, "ids": o.IDs, "stingers": o.Stingers, "designs": o.Designs,
		})
	}
	_, err := fmt.Fprintf(out, "would make in %s, seed %d: %d sweepers, %d drops over a song, %d over a whoosh, %d IDs, %d stingers\n",
		c.Out, o.Seed, o.Sweepers, o.SongDrops, o.VoiceDrops, o.IDs, o.Stingers)
	return err
}

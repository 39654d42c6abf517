package cli

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/vbauerster/mpb/v8/decor"

	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/sound/speech"
)

type bulletinCmd struct {
	Out       string `help:"Make a bulletin and write it to this file, as MP3." placeholder:"FILE"`
	Say       bool   `help:"Print the sentence that tells the time, and make nothing."`
	At        string `help:"The time it tells, instead of now." placeholder:"RFC3339"`
	Headlines string `help:"Text file of one headline a line; the first three are read." placeholder:"FILE"`
	NoWeather bool   `help:"Leave the weather out."`
	Offline   bool   `help:"Use nothing over the network: no online voice, no weather."`
	Voice     string `help:"Online voice." default:"ar-EG-SalmaNeural" placeholder:"NAME"`
	Piper     string `help:"Piper model that speaks where the online voice does not." placeholder:"FILE"`
	JSON      bool   `name:"json" help:"Print one JSON line, without progress."`
}

// Help describes the JSON.
func (bulletinCmd) Help() string {
	return `Tells the time in Cairo, the weather there, the headlines, and returns to the
music. What cannot be had is left out and said; when nothing can be spoken,
there is no file, and an error.

With --json, an object on one line:
  out        the file
  at         the time it tells, RFC 3339
  seconds    its length
  i_lufs, tp_dbtp   loudness and true peak, measured on the file
  tempo      how much faster it is than it was spoken, to keep its length
  segments   time, weather, headlines and return, with date and programme where one
             of these is missing or short; each with kind, text, voice,
             at and seconds (where in the file), or problem: why it is missing
With --say --json: at and sentence.`
}

// Validate names the flag that is wrong, and the remedy.
func (c *bulletinCmd) Validate() error {
	switch {
	case c.Out == "" && !c.Say:
		return errors.New("name the file to write (--out FILE), or print the time sentence (--say)")
	case c.Out != "" && c.Say:
		return errors.New("--say: only prints the time sentence, remove --out")
	}
	_, err := c.at(time.Now())
	return err
}

func (c *bulletinCmd) at(now time.Time) (time.Time, error) {
	if c.At == "" {
		return now, nil
	}
	at, err := time.Parse(time.RFC3339, c.At)
	if err != nil {
		return time.Time{}, fmt.Errorf("--at=%s: must be a time with its zone, as in 2026-04-06T15:05:00+02:00", c.At)
	}
	return at, nil
}

// Run makes a bulletin, or prints what it would say of the time.
func (c bulletinCmd) Run(g globals) error {
	at, err := c.at(time.Now())
	if err != nil {
		return err
	}
	cairo, err := time.LoadLocation("Africa/Cairo")
	if err != nil {
		return err
	}
	if c.Say {
		return printSentence(g.out, c.JSON, at.In(cairo), bulletin.TimeSentence(at, cairo))
	}
	stage := func(s bulletin.Stage) string { return fmt.Sprintf("bulletin %8s", s) }
	b := g.bar(c.JSON, stage(0), decor.Elapsed(decor.ET_STYLE_MMSS))
	maker, err := c.maker(cairo, func(s bulletin.Stage) { b.show(int64(s), int64(bulletin.Done), stage(s), "") })
	if err != nil {
		b.end(false)
		return err
	}
	r, err := maker.MakeFile(g.ctx, at, c.Out)
	b.end(err == nil)
	if err != nil {
		return err
	}
	return printBulletin(g.out, c.JSON, r, cairo)
}

func (c bulletinCmd) maker(zone *time.Location, show func(bulletin.Stage)) (*bulletin.Maker, error) {
	log, voices := terminalLog(slog.LevelError), terminalLog(slog.LevelWarn) // the outcome lists what is missing, but not a voice that another one replaced
	booth, err := speech.Order{Offline: c.Offline, Voice: c.Voice, PiperModel: c.Piper}.Booth(voices)
	if err != nil {
		return nil, err
	}
	o := bulletin.Options{
		Headlines: c.Headlines, Voice: booth, Master: mastering.New(mastering.Options{Log: log}),
		Zone: zone, Log: log, Progress: show,
	}
	if !c.NoWeather && !c.Offline {
		o.Weather = bulletin.NewOpenMeteo()
	}
	return bulletin.New(o)
}

func printSentence(out io.Writer, asJSON bool, at time.Time, sentence string) error {
	if asJSON {
		return jsonLine(out, map[string]string{"at": at.Format(time.RFC3339), "sentence": sentence})
	}
	_, err := fmt.Fprintln(out, sentence)
	return err
}

// bulletinReport is the outcome for scripts: see bulletinCmd.Help.
type bulletinReport struct {
	Out      string          `json:"out"`
	At       string          `json:"at"`
	Seconds  float64         `json:"seconds"`
	LUFS     float64         `json:"i_lufs"`
	DBTP     float64         `json:"tp_dbtp"`
	Tempo    float64         `json:"tempo"`
	Segments []segmentReport `json:"segments"`
}

type segmentReport struct {
	Kind    bulletin.Kind `json:"kind"`
	Text    string        `json:"text,omitempty"`
	Voice   string        `json:"voice,omitempty"`
	At      float64       `json:"at,omitempty"`
	Seconds float64       `json:"seconds,omitempty"`
	Problem string        `json:"problem,omitempty"`
}

func printBulletin(out io.Writer, asJSON bool, r bulletin.Result, zone *time.Location) error {
	rep := bulletinReport{
		Out: r.Path, At: r.At.In(zone).Format(time.RFC3339), Seconds: thousandths(r.Duration.Seconds()),
		LUFS: thousandths(r.Mastered.Integrated), DBTP: thousandths(r.Mastered.TruePeak), Tempo: thousandths(r.Tempo),
	}
	for _, s := range r.Segments {
		rep.Segments = append(rep.Segments, segmentReport{s.Kind, s.Text, s.Voice, thousandths(s.At.Seconds()), thousandths(s.Length.Seconds()), s.Problem})
	}
	if asJSON {
		return jsonLine(out, rep)
	}
	_, _ = fmt.Fprintf(out, "%s: %.1f s, %.1f LUFS, %.1f dBTP\n", rep.Out, rep.Seconds, rep.LUFS, rep.DBTP)
	for _, s := range rep.Segments {
		if s.Problem != "" {
			_, _ = fmt.Fprintf(out, "  %-9s  left out: %s\n", s.Kind, s.Problem)
			continue
		}
		_, _ = fmt.Fprintf(out, "  %-9s  %4.1f s, by %s: %s\n", s.Kind, s.Seconds, s.Voice, s.Text)
	}
	return nil
}

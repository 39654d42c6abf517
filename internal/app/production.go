package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/athir-radio/athir/internal/app/onpodcast"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/library/content"
	from "github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/production"
	"github.com/athir-radio/athir/internal/sound/speech"
)

func (p *plane) openProduction(ctx context.Context) (err error) {
	o := production.Options{
		Log: p.log, DB: p.db, Library: p.lib, Noted: p.shelf.Notes.Tracks, Copies: p.rack, Deck: p.decks, OnAir: p.onair, Rules: p.owner,
		Prepared: func(ctx context.Context) ([]string, error) {
			st, err := p.node.player.Status(ctx)
			return st.Prepared, err
		},
		Voices:  speech.Order{Offline: p.cfg.Speech.Offline, Voice: p.cfg.Speech.Voice, PiperModel: p.cfg.Speech.Piper},
		Station: p.cfg.Speech.Name, Bulletin: bulletin.Options{Headlines: p.cfg.HeadlinesFile(), Zone: p.cfg.Timezone.Location},
		Every: time.Duration(p.cfg.Bulletin.Hours * float64(time.Hour)), OnBulletin: onpodcast.Both(p.out.Bulletin, p.pods.Bulletin),
		Imaging: p.cfg.Content.Imaging, Inbox: p.cfg.InboxDir(), Hold: p.shed.Wait,
	}
	if p.cfg.Bulletin.Weather && !p.cfg.Speech.Offline {
		o.Bulletin.Weather = bulletin.NewOpenMeteo()
	}
	if o.Content, err = contentOptions(p.cfg, p.log, p.version); err != nil {
		return err
	}
	p.prod, err = production.Open(ctx, o)
	return err
}

func contentOptions(cfg *config.Config, log *slog.Logger, version string) (content.Options, error) {
	sources, err := contentSources(cfg, version)
	if err != nil {
		return content.Options{}, err
	}
	profiles, err := cfg.Library.ProfileOf()
	if err != nil {
		return content.Options{}, err
	}
	days := func(n float64) time.Duration { return time.Duration(n * 24 * float64(time.Hour)) }
	return content.Options{
		Media: cfg.MediaDir(), Archive: cfg.ArchiveDir(), Work: cfg.WorkDir(), Profiles: profiles, Sources: sources,
		Log: alsoTo(log, cfg, contentLog, slog.LevelDebug), Every: time.Duration(cfg.Content.RefreshHours * float64(time.Hour)),
		ArchiveKeep: days(cfg.Content.ArchiveDays), ArchiveMaxBytes: int64(cfg.Content.ArchiveGigabytes * (1 << 30)),
		Speech: content.Speech(cfg.Content.Speech),
	}, nil
}

// contentSources returns the sources that the settings name, in the order in which
// they are asked: the operator's own choices first.
func contentSources(cfg *config.Config, version string) ([]from.Source, error) {
	networks, err := cfg.Content.NetworkList()
	if err != nil {
		return nil, err
	}
	feeds, err := cfg.Content.FeedList()
	if err != nil {
		return nil, err
	}
	client := fetch.New(fetch.Options{Version: version, Allow: networks, Setting: "content.networks"})
	out := []from.Source{&from.Inbox{Dir: cfg.InboxDir()}, &from.Link{Client: client}}
	if len(feeds) > 0 {
		s := &from.Feeds{Client: client}
		for _, f := range feeds {
			s.Feeds = append(s.Feeds, from.Feed{URL: f.URL, Category: f.Category})
		}
		out = append(out, s)
	}
	if cfg.Content.InternetArchive {
		out = append(out, &from.Archive{Client: client.Public()})
	}
	if cfg.Content.YTDLP != "" {
		out = append(out, &from.YTDLP{Client: client.Public(), Program: cfg.Content.YTDLP})
	}
	return out, nil
}

package api

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/athir-radio/athir/internal/onair/channels"
	"github.com/athir-radio/athir/internal/station"
)

// Channels are the channels beside the main one.
type Channels interface {
	List() []channels.Channel
	Create(ctx context.Context, id, name string) (channels.Channel, error)
	Remove(ctx context.Context, id string) error
	// Queue returns how many tracks come before the new one.
	Queue(ctx context.Context, id, path string) (before int, err error)
	// ListenersOf counts the listeners of a channel's /stream.
	ListenersOf(id string) int
}

// Channel is one channel of the station.
type Channel struct {
	ID         string             `json:"id"`
	Name       string             `json:"name"`
	Stream     string             `json:"stream" doc:"Path of its audio"`
	HLS        string             `json:"hls,omitempty" doc:"Path of its HLS playlist; the main channel has one"`
	Icecast    *Icecast           `json:"icecast,omitempty" doc:"Where players without scripts listen; the main channel's"`
	NowPlaying station.NowPlaying `json:"nowPlaying" doc:"What is heard on it: the main channel's, while nothing of its own is"`
	Listeners  int                `json:"listeners" doc:"Of its stream"`
	Queue      []string           `json:"queue" nullable:"false" doc:"Files that wait on it; the main channel's are in /api/upnext"`
	CreatedAt  int64              `json:"createdAt,omitempty" doc:"Epoch milliseconds; the main channel was always there"`
}

// Icecast is the streaming server of the main channel.
type Icecast struct {
	Port   int     `json:"port" doc:"Of the machine that has the air; plain HTTP"`
	Mounts []Mount `json:"mounts" nullable:"false" doc:"The main one first"`
}

// Mount is one stream of it.
type Mount struct {
	Path string `json:"path" doc:"Of its address, as /main.mp3"`
	Type string `json:"type" enum:"application/ogg,audio/mpeg,audio/aac"`
	Kbps int    `json:"kbps" doc:"Bitrate in kbit/s, about; with that of packing"`
}

type channelsAnswer struct {
	Body struct {
		Channels []Channel `json:"channels" nullable:"false" doc:"The main one first"`
	}
}

func (s *Server) channels(context.Context, *struct{}) (*channelsAnswer, error) {
	out := &channelsAnswer{}
	main := s.mainChannel()
	out.Body.Channels = []Channel{main}
	for _, c := range s.opt.Channels.List() {
		out.Body.Channels = append(out.Body.Channels, s.showChannel(c, main.NowPlaying))
	}
	return out, nil
}

func (s *Server) mainChannel() Channel {
	var b Status
	s.statusOnAir(&b, s.opt.Air(), true) // only the track is used
	server := s.opt.Icecast
	return Channel{
		Icecast: &server,
		ID:      station.MainChannel, Name: s.name(), Stream: "/stream/" + station.MainChannel,
		HLS: s.opt.HLSPrefix + station.MainChannel + "/index.m3u8", NowPlaying: b.NowPlaying,
		Listeners: s.opt.Channels.ListenersOf(station.MainChannel), Queue: []string{},
	}
}

func (s *Server) showChannel(c channels.Channel, main station.NowPlaying) Channel {
	out := Channel{
		ID: c.ID, Name: c.Name, Stream: "/stream/" + c.ID, NowPlaying: main, Listeners: s.opt.Channels.ListenersOf(c.ID),
		Queue: []string{}, CreatedAt: c.CreatedAt.UnixMilli(),
	}
	if t := c.Playing; t != nil {
		out.NowPlaying = playing(*t)
	}
	for _, path := range c.Waiting {
		out.Queue = append(out.Queue, asShown(path))
	}
	return out
}

type channelAnswer struct{ Body Channel }

func (s *Server) createChannel(ctx context.Context, in *struct {
	Body struct {
		ID   string `json:"id" minLength:"1" maxLength:"40" doc:"Part of its addresses: a-z, 0-9 and -, with a letter or a number at both ends"`
		Name string `json:"name" minLength:"1" maxLength:"60"`
	}
}) (*channelAnswer, error) {
	c, err := s.opt.Channels.Create(ctx, in.Body.ID, in.Body.Name)
	if err != nil {
		return nil, inField(err)
	}
	return &channelAnswer{s.showChannel(c, s.mainChannel().NowPlaying)}, nil
}

func (s *Server) removeChannel(ctx context.Context, in *struct {
	ID string `path:"id" maxLength:"64"`
}) (*struct{}, error) {
	if in.ID == station.MainChannel {
		return nil, fmt.Errorf("the main channel cannot be removed: %w", station.ErrConflict)
	}
	return nil, s.opt.Channels.Remove(ctx, in.ID)
}

type queuedAnswer struct {
	Body struct {
		Channel string `json:"channel"`
		Track   Track  `json:"track"`
		Before  int    `json:"before" doc:"Tracks that are heard before it, not counting what is heard now"`
	}
}

func (s *Server) queueOn(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"64"`
	Body struct {
		File     string `json:"file,omitempty" maxLength:"16384" doc:"Of the library"`
		Category string `json:"category,omitempty" enum:"arabic_hits,english,mashups,ads,jingles,sweepers,sfx,shorts,news,social" doc:"Any track of it, where no file is named"`
	}
}) (*queuedAnswer, error) {
	track, err := s.chosen(in.Body.File, station.Category(in.Body.Category))
	if err != nil {
		return nil, err
	}
	before := 0
	if in.ID == station.MainChannel {
		err = s.opt.Desk.Queue(ctx, track.Path)
	} else {
		before, err = s.opt.Channels.Queue(ctx, in.ID, track.Path)
	}
	if err != nil {
		return nil, err
	}
	out := &queuedAnswer{}
	out.Body.Channel, out.Body.Track, out.Body.Before = in.ID, s.trackOf(track, ""), before
	return out, nil
}

// chosen returns the track of a file, or any track of a category.
func (s *Server) chosen(file string, category station.Category) (station.Track, error) {
	var of []station.Track
	for _, t := range s.opt.Library().Tracks {
		if file != "" && asShown(t.Path) == file {
			return t, nil
		}
		if file == "" && t.Category == category {
			of = append(of, t)
		}
	}
	switch {
	case file != "":
		return station.Track{}, fmt.Errorf("%q in the library: %w", cut(file), station.ErrNotFound)
	case category == "":
		return station.Track{}, fieldError("body", "must contain file or category")
	case len(of) == 0:
		return station.Track{}, fmt.Errorf("category %s has no tracks: %w", category, station.ErrConflict)
	}
	return of[rand.IntN(len(of))], nil
}

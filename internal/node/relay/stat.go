package relay

import (
	"encoding/xml"
	"fmt"
	"io"
	"sort"
	"time"
)

// rtmpStat is nginx-rtmp's statistics page (ngx_rtmp_stat_module).
type rtmpStat struct {
	Apps []struct {
		Name    string       `xml:"name"`
		Streams []rtmpStream `xml:"live>stream"`
	} `xml:"server>application"`
}

type rtmpStream struct {
	Name       string    `xml:"name"`
	Age        int64     `xml:"time"` // milliseconds
	BytesIn    uint64    `xml:"bytes_in"`
	BytesOut   uint64    `xml:"bytes_out"`
	Publishing *struct{} `xml:"publishing"`
	Clients    []struct {
		ID         string    `xml:"id"`
		Address    string    `xml:"address"`
		Publishing *struct{} `xml:"publishing"`
	} `xml:"client"`
	Audio struct {
		Codec    string `xml:"codec"`
		Channels int    `xml:"channels"`
		Rate     int    `xml:"sample_rate"`
	} `xml:"meta>audio"`
	Video struct {
		Codec string `xml:"codec"`
	} `xml:"meta>video"`
}

// parseStat turns the statistics into path items, sorted by name.
func parseStat(r io.Reader, now time.Time) ([]pathItem, error) {
	var stat rtmpStat
	if err := xml.NewDecoder(r).Decode(&stat); err != nil {
		return nil, fmt.Errorf("parse nginx statistics: %w", err)
	}
	var items []pathItem
	for _, app := range stat.Apps {
		for _, stream := range app.Streams {
			if stream.Publishing != nil {
				items = append(items, stream.item(app.Name, now))
			}
		}
	}
	sort.Slice(items, func(i, j int) bool { return items[i].Name < items[j].Name })
	return items, nil
}

func (s rtmpStream) item(app string, now time.Time) pathItem {
	item := pathItem{
		Name: app + "/" + s.Name, ConfName: "~^" + app + "/", Tracks: []string{}, Tracks2: []pathTrack{}, Readers: []pathPeer{},
		BytesReceived: s.BytesIn, BytesSent: s.BytesOut, InboundBytes: s.BytesIn, OutboundBytes: s.BytesOut,
	}
	item.setReady(true, now.Add(-time.Duration(s.Age)*time.Millisecond).UTC().Truncate(time.Second))
	if s.Audio.Codec != "" {
		codec := s.Audio.Codec
		if codec == "AAC" {
			codec = "MPEG-4 Audio"
		}
		item.Tracks = append(item.Tracks, codec)
		item.Tracks2 = append(item.Tracks2, audioTrackInfo(codec, s.Audio.Rate, s.Audio.Channels))
	}
	if s.Video.Codec != "" {
		item.Tracks = append(item.Tracks, s.Video.Codec)
		item.Tracks2 = append(item.Tracks2, pathTrack{Codec: s.Video.Codec})
	}
	for _, client := range s.Clients {
		peer := pathPeer{Type: "rtmpConn", ID: client.ID}
		if client.Publishing != nil {
			item.Source, item.from = &peer, client.Address
		} else {
			item.Readers = append(item.Readers, peer)
		}
	}
	return item
}

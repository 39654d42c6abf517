package app

import (
	"testing"

	"github.com/athir-radio/athir/internal/config"
	from "github.com/athir-radio/athir/internal/library/content/source"
)

// Only what the operator has named reaches the operator's networks: links and feeds, not
// what a search or a program of another brings.
func TestSearchesDoNotReachTheOperatorsNetworks(t *testing.T) {
	cfg := &config.Config{Content: config.Content{
		Networks: []string{"192.168.1.0/24"}, Feeds: []string{"english http://192.168.1.9/feed"}, InternetArchive: true, YTDLP: "/usr/bin/yt-dlp",
	}}
	sources, err := contentSources(cfg, "test")
	must(t, err)
	reach := map[string]bool{}
	for _, s := range sources {
		const device = "http://192.168.1.1:8291/"
		var err error
		switch s := s.(type) {
		case *from.Link:
			_, err = s.Client.Check(device)
		case *from.Feeds:
			_, err = s.Client.Check(device)
		case *from.Archive:
			_, err = s.Client.Check(device)
		case *from.YTDLP:
			_, err = s.Client.Check(device)
		default:
			continue
		}
		reach[s.Name()] = err == nil
	}
	if len(reach) != 4 || !reach[from.NameURL] || !reach[from.NameFeed] || reach[from.NameArchive] || reach[from.NameYTDLP] {
		t.Errorf("who reaches the networks: %v", reach)
	}
}

package relay

import (
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/athir-radio/athir/internal/kit/client"
)

// keyHeader carries to an edge the key by which edges sign sessions: a listener whose edge
// dies goes on at another.
const keyHeader = "Athir-Hls-Key"

// renditionsHeader tells an edge in which renditions there is each segment of the list.
const renditionsHeader = "Athir-Hls-Renditions"

// fromEdge reports whether an edge fetches for its listeners.
func (o *output) fromEdge(r *http.Request) bool {
	token := r.Header.Get(client.EdgeHeader)
	return token != "" && o.edge != nil && o.edge(token)
}

// serveOpen serves a playlist or a segment without a session, so that all get the same.
//
//	file         Cache-Control
//	index.m3u8   public, max-age=10
//	playlist     public, max-age=1: it changes with every segment
//	segment      public, max-age=600, immutable: no name is used twice
//	503, 404     no-store
//
// What an edge gets is for it alone, with the key in its header: it is no-store.
func (o *output) serveOpen(w http.ResponseWriter, r *http.Request, name string, edge bool) {
	kept := func(kind string) string {
		if edge {
			return "no-store"
		}
		return "public, " + kind
	}
	if edge {
		w.Header().Set(keyHeader, hex.EncodeToString(o.sessions.edgeKey()))
		w.Header().Set(renditionsHeader, o.window.shown().String())
		o.stage.header(w.Header())
	} else {
		// The page is elsewhere than the network that the audio comes from.
		w.Header().Set("Access-Control-Allow-Origin", "*")
	}
	rendition, isMedia := o.window.ofMedia(name)
	switch {
	case strings.HasSuffix(name, segmentEnd), strings.HasSuffix(name, headEnd):
		o.writeSegment(w, r, name, kept("max-age=600, immutable"), func() {})
	case name != masterName && !isMedia:
		http.NotFound(w, r)
	case !o.fresh():
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "nothing is being published")
	case name == masterName:
		w.Header().Set("Cache-Control", kept("max-age=10"))
		o.writeMaster(w, r, r.URL.Query(), "")
	default:
		o.count.playlists.Add(1)
		w.Header().Set("Cache-Control", kept("max-age=1"))
		list := o.window.media(rendition)
		if list == nil {
			http.NotFound(w, r)
			return
		}
		writePlaylist(w, r, list, "")
	}
}

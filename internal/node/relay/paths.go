package relay

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/kit/census"
)

// pathList is MediaMTX's APIPathList (internal/defs/api_path.go of v1.20), the
// fields this relay has something to say about.
type pathList struct {
	ItemCount int        `json:"itemCount"`
	PageCount int        `json:"pageCount"`
	Items     []pathItem `json:"items"`
}

type pathItem struct {
	Name          string      `json:"name"`
	ConfName      string      `json:"confName"`
	Ready         bool        `json:"ready"`
	ReadyTime     *time.Time  `json:"readyTime"`
	Available     bool        `json:"available"`
	AvailableTime *time.Time  `json:"availableTime"`
	Online        bool        `json:"online"`
	OnlineTime    *time.Time  `json:"onlineTime"`
	Source        *pathPeer   `json:"source"`
	Tracks        []string    `json:"tracks"`
	Tracks2       []pathTrack `json:"tracks2"`
	Readers       []pathPeer  `json:"readers"`
	InboundBytes  uint64      `json:"inboundBytes"`
	OutboundBytes uint64      `json:"outboundBytes"`
	BytesReceived uint64      `json:"bytesReceived"`
	BytesSent     uint64      `json:"bytesSent"`
	LastDataTime  *time.Time  `json:"lastDataTime"` // ours: of the last audio; a watchdog's question

	// Crowd is ours: of what kinds the readers are, where any of them is counted.
	Crowd *census.Crowd `json:"crowd,omitempty"`

	from string // address of who publishes
}

type pathPeer struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

type pathTrack struct {
	Codec      string         `json:"codec"`
	CodecProps map[string]int `json:"codecProps"`
}

// fresh is how old the last audio may be for a path to count as ready.
const fresh = 5 * time.Second

const defaultItemsPerPage = 100

// pathsHandler serves the read-only path list.
func (s *Server) pathsHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v3/paths/list", func(w http.ResponseWriter, r *http.Request) {
		list, problem := paginate(s.pathItems(time.Now()), r.URL.Query().Get("page"), r.URL.Query().Get("itemsPerPage"))
		w.Header().Set("Cache-Control", "no-store")
		if problem != "" {
			writeJSON(w, http.StatusBadRequest, map[string]string{"status": "error", "error": problem})
			return
		}
		writeJSON(w, http.StatusOK, list)
	})
	return mux
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

// paginate cuts a page out of the items; problem says what is wrong with the
// request, in MediaMTX's way.
func paginate(items []pathItem, page, perPage string) (list pathList, problem string) {
	number, err := strconv.ParseUint(page, 10, 31)
	if page != "" && err != nil {
		return list, "invalid page: want a number from 0"
	}
	size, err := strconv.ParseUint(perPage, 10, 31)
	if perPage == "" {
		size, err = defaultItemsPerPage, nil
	}
	if err != nil || size == 0 {
		return list, "invalid itemsPerPage: want a number from 1"
	}
	total := uint64(len(items))
	from, to := min(number*size, total), min((number+1)*size, total)
	return pathList{ItemCount: len(items), PageCount: int((total + size - 1) / size), Items: items[from:to]}, ""
}

// pathItems lists main first, then what encoders publish.
func (s *Server) pathItems(now time.Time) []pathItem {
	items := []pathItem{s.mainItem(now)}
	return append(items, s.ingest.items()...)
}

func (s *Server) mainItem(now time.Time) pathItem {
	state := s.path.state()
	item := pathItem{
		Name: MainPath, ConfName: MainPath, Tracks: []string{}, Tracks2: []pathTrack{}, Readers: []pathPeer{},
		BytesReceived: s.count.bytesReceived.Load(), BytesSent: s.count.bytesSent.Load(),
	}
	item.InboundBytes, item.OutboundBytes = item.BytesReceived, item.BytesSent
	if !state.lastData.IsZero() {
		at := state.lastData.UTC()
		item.LastDataTime = &at
	}
	if state.source != nil {
		since := state.source.since.UTC()
		item.Source = &pathPeer{Type: "mpegtsSource", ID: state.source.id}
		item.Tracks = []string{"MPEG-4 Audio"}
		item.Tracks2 = []pathTrack{audioTrackInfo("MPEG-4 Audio", state.form.Sound.Rate, state.form.Sound.Channels)}
		item.setReady(now.Sub(state.lastData) <= fresh && !s.window.end().IsZero(), since)
	}
	ids, kinds := s.sessions.listening(now)
	if crowd := kinds.Crowd(); len(ids) > 0 {
		item.Crowd = &crowd
	}
	for _, id := range ids {
		item.Readers = append(item.Readers, pathPeer{Type: "hlsSession", ID: id})
	}
	return item
}

func audioTrackInfo(codec string, rate, channels int) pathTrack {
	return pathTrack{Codec: codec, CodecProps: map[string]int{"sampleRate": rate, "channelCount": channels}}
}

// setReady fills the three names MediaMTX has for it.
func (i *pathItem) setReady(ready bool, since time.Time) {
	if !ready {
		return
	}
	i.Ready, i.Available, i.Online = true, true, true
	i.ReadyTime, i.AvailableTime, i.OnlineTime = &since, &since, &since
}

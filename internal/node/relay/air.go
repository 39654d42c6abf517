package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
)

// Air is what a relay is told of the station's air, which one of several nodes has. One that
// was never told has it: a station of one node.
type Air struct {
	Fence uint64 `json:"fence"` // the higher one is right
	OnAir bool   `json:"onair"`
	// Floor is above all numbers of segments that the station has used on the air. It counts
	// where the relay comes on the air; 0: none is known.
	Floor int `json:"floor"`
}

// Going on the air, where it was off, or where its own numbers are below the floor:
//
//	the next number       | the floor, or its own next one if that is higher
//	the list              | begins anew behind a break, with what this node played in the last
//	                      | seconds under new numbers: a listener of the other node, who has
//	                      | some seconds left, goes on at once, and not after three new segments
//	told once more        | nothing
//	told a lower fence    | 409, nothing
const (
	// AirOrder is the path of the order, on Options.HookAddress.
	AirOrder    = "/air"
	fenceHeader = "X-Athir-Fence"
	onAirHeader = "X-Athir-Onair"

	airFile  = "hls-air"
	mostAir  = 4 << 10
	highest  = 1 << 50 // of floors; players keep numbers as floating point
	airTails = 4       // target durations: what our player keeps between it and the end
)

var errOldFence = errors.New("another node was given the air since")

// stage is whether this relay has the air.
type stage struct {
	name   string // of its file
	window *window
	log    *slog.Logger

	mu  sync.Mutex
	air atomic.Pointer[Air] // nil: never told
}

// keptAir is the file: Ahead is by how much numbers were above those of the time of day.
type keptAir struct {
	Fence uint64 `json:"fence"`
	OnAir bool   `json:"onair"`
	Ahead int    `json:"ahead"`
}

// newStage reads what the relay was told before, and has the numbers of w go on above those
// that it used then: a segment lasts a second at least.
func newStage(dir string, w *window, log *slog.Logger) *stage {
	s := &stage{name: filepath.Join(dir, airFile), window: w, log: log}
	text, err := os.ReadFile(s.name)
	if errors.Is(err, fs.ErrNotExist) {
		return s
	}
	var kept keptAir
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil || kept.Ahead < 0 || kept.Ahead > highest {
		log.Warn("cannot read whether this relay has the air, the node says so again", "file", s.name, "err", err)
		return s
	}
	if kept.Ahead > 0 {
		w.above(w.next() + kept.Ahead + mostAhead)
	}
	s.air.Store(&Air{Fence: kept.Fence, OnAir: kept.OnAir})
	return s
}

// told is what the relay was told last; nil: nothing ever.
func (s *stage) told() *Air {
	if s == nil {
		return nil
	}
	return s.air.Load()
}

// take takes an order.
func (s *stage) take(order Air, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := Air{OnAir: true}
	known := s.told()
	if known != nil {
		was = *known
	}
	if order.Fence < was.Fence {
		return fmt.Errorf("fence %d is below %d: %w", order.Fence, was.Fence, errOldFence)
	}
	// An edge that reads the header finds the list of that stage behind it.
	if order.OnAir && order.Floor > 0 && (!was.OnAir || order.Floor > s.window.next()) {
		s.window.takeAir(order.Floor, now)
	}
	news := known == nil || was.Fence != order.Fence || was.OnAir != order.OnAir
	s.air.Store(&Air{Fence: order.Fence, OnAir: order.OnAir})
	if news {
		s.log.Info("the node says who has the air", "fence", order.Fence, "onair", order.OnAir, "next", s.window.next())
		s.keep(now)
	}
	return nil
}

// keep writes the file. On a disk that takes no more the node says it again to the next life.
func (s *stage) keep(now time.Time) {
	air := s.told()
	text, err := json.Marshal(keptAir{Fence: air.Fence, OnAir: air.OnAir, Ahead: max(0, s.window.next()-numberOf(now))})
	if err == nil {
		err = file.WriteAtomic(s.name, text, 0o600)
	}
	if err != nil {
		s.log.Warn("cannot keep who has the air for a restart", "file", s.name, "err", err)
	}
}

// resume takes over what another program was told.
func (s *stage) resume(air *Air) {
	if air != nil {
		s.air.Store(air)
	}
}

// header tells an edge.
func (s *stage) header(h http.Header) {
	if air := s.told(); air != nil {
		h.Set(fenceHeader, strconv.FormatUint(air.Fence, 10))
		h.Set(onAirHeader, strconv.FormatBool(air.OnAir))
	}
}

// orders serves what the node orders, and what nginx asks.
//
//	POST /air   {"fence":7,"onair":true,"floor":900}   200 {"next":904}: the number that the
//	                                                   next segment gets; 400, 409
func (s *Server) orders() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", s.ingest.hookHandler())
	mux.HandleFunc("POST "+AirOrder, func(w http.ResponseWriter, r *http.Request) {
		var order Air
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostAir)).Decode(&order); err != nil {
			refuse(w, http.StatusBadRequest, "want JSON with fence, onair and floor: "+err.Error())
			return
		}
		if order.Floor < 0 || order.Floor > highest {
			refuse(w, http.StatusBadRequest, fmt.Sprintf("floor: %d is no number of a segment", order.Floor))
			return
		}
		if err := s.stage.take(order, time.Now()); err != nil {
			refuse(w, http.StatusConflict, err.Error())
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, "{\"next\":%d}\n", s.window.next())
	})
	return mux
}

package edge_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/web/edge"
)

// Fails where whoever has the credential of one edge makes the station send every listener
// what it likes: rooms that there are not, numbers that cannot be, or a change with each
// message.
func TestAnEdgeThatReportsWhatNoneWouldIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []edge.Presence
		a := edge.NewAttendance(func(_ string, payload any) { told = append(told, payload.(edge.Presence)) })
		report := func(process string, clients int, rooms map[string]int) {
			data, err := json.Marshal(map[string]any{"edge": process, "clients": clients, "rooms": rooms})
			if err != nil {
				t.Fatal(err)
			}
			a.OverBus("athir.present.cairo-2", data)
		}
		many := map[string]int{}
		for i := range 20_000 {
			many[fmt.Sprint("room", i)] = 1
		}
		report("1", 1, many)
		report("2", 1, map[string]int{strings.Repeat("x", 1<<19): 1})
		report("3", -1000, nil)
		report("4", 1<<40, nil)
		report("5", 1, map[string]int{"main": -5})
		report(strings.Repeat("p", 1<<19), 1, nil)
		if len(told) > 0 {
			t.Errorf("listeners are told of %d clients in %d rooms", told[0].Clients, len(told[0].Rooms))
		}
		for n := range 50 {
			report("well", n+1, map[string]int{"main": n})
		}
		if len(told) != 1 || told[0].Clients != 1 {
			t.Errorf("of 50 reports at once, told %v", told)
		}
		time.Sleep(5 * time.Second) // the time between two reports of an edge
		report("well", 7, map[string]int{"main": 3})
		if last := told[len(told)-1]; last.Clients != 7 || last.Rooms["main"] != 3 || a.Members("main") != 3 {
			t.Errorf("the next report: %+v", last)
		}
	})
}

// Fails where the credential of one edge fills the memory of the control plane with listeners
// that there are not: each is remembered by a name of its own.
func TestListenersOfAnEdgeAreBoundedInAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := edge.NewAttendance(func(string, any) {})
		report := func(process int) {
			a.OverBus("athir.present.cairo-2", fmt.Appendf(nil, `{"edge":"process%d","hlsListeners":90000}`, process))
		}
		for range 3 {
			for process := range 64 {
				report(process)
			}
			if ids, _, _ := a.HLS(); len(ids) != 100_000 {
				t.Errorf("%d listeners", len(ids))
			}
			time.Sleep(5 * time.Second)
		}
		a.OverBus("athir.present.giza", []byte(`{"edge":"one","hlsListeners":7}`))
		if ids, _, _ := a.HLS(); len(ids) != 100_007 {
			t.Errorf("with those of another edge: %d", len(ids))
		}
	})
}

// Fails where an edge has the station count kinds that there are not, or more of one kind than
// it has listeners.
func TestAnEdgesListenersAreOfKnownKindsAndNoMoreThanThereAre(t *testing.T) {
	a := edge.NewAttendance(func(string, any) {})
	hostile := map[string]int{}
	for i := range 20_000 {
		hostile[fmt.Sprint("agent", i)] = 1
	}
	report := func(name string, listeners int, devices, countries map[string]int) {
		data, err := json.Marshal(map[string]any{"edge": "1", "hlsListeners": listeners, "hlsCrowd": map[string]any{"devices": devices, "countries": countries}})
		if err != nil {
			t.Fatal(err)
		}
		a.OverBus("athir.present."+name, data)
	}
	report("cairo", 5, map[string]int{"android": 2, "iphone": 3}, map[string]int{"EG": 4, "SD": 1})
	report("giza", 3, hostile, map[string]int{"<b>": 9, "EG": -7, "JO": 900})
	report("old", 2, nil, nil)
	a.OverBus("athir.present.odd", []byte(`{"edge":"1","hlsListeners":9,"hlsCrowd":{"devices":[1,2]}}`))
	ids, _, crowd := a.HLS()
	devices, countries := map[string]int{"android": 2, "iphone": 3, "other": 5}, map[string]int{"EG": 4, "SD": 1, "JO": 3, "ZZ": 2}
	if len(ids) != 10 || !maps.Equal(crowd.Devices, devices) || !maps.Equal(crowd.Countries, countries) {
		t.Errorf("%d listeners, %v", len(ids), crowd)
	}
}

// Command sizing prints what listeners of HLS cost in edges, lines and money: from the
// figures of one edge, as test/bench/hls -edge measures them, and a day's curve of
// listeners, minute by minute.
//
//	go run ./test/bench/sizing -kbits 259 -processor 18000 -line 1000 -machine 8 -traffic 1
//
// An edge is full at the least of what its processors, its line and its memory carry, and
// no more than a share of that is used, so that the others carry one that dies at the peak.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
)

type figures struct {
	kbits      float64 // to one listener
	whole      float64 // kbit/s to an edge, which fetches every rendition
	processor  float64 // listeners that one processor serves, in the clear
	tls        float64 // how much more a listener takes over TLS
	processors float64
	line       float64 // Mbit/s
	memory     float64 // GB
	each       float64 // KB memory of a listener, events included
	share      float64 // of an edge that is used at the peak
	machine    float64 // money a month
	traffic    float64 // money for 1 TB
}

// day is how many of the most listeners there are in each hour, in per cent: a station
// with its peaks on the way to work and in the evening.
var day = [24]float64{35, 22, 14, 10, 9, 14, 30, 62, 84, 78, 66, 60, 58, 60, 62, 66, 74, 86, 95, 100, 98, 88, 70, 50}

func main() {
	var f figures
	for _, v := range []struct {
		to    *float64
		name  string
		value float64
		what  string
	}{
		{&f.kbits, "kbits", 259, "kbit/s to one listener: the rate of the audio, 256, times 1.01 for packing and playlists"},
		{&f.whole, "whole", 456, "kbit/s to an edge: all renditions, 256, 128 and 64, with their packing"},
		{&f.processor, "processor", 18_000, "listeners that one processor serves, as test/bench/hls -edge prints them"},
		{&f.tls, "tls", 2, "how much more a listener takes over TLS; assumed, not measured"},
		{&f.processors, "processors", 2, "processors of an edge"},
		{&f.line, "line", 1000, "line of an edge, Mbit/s"},
		{&f.memory, "memory", 4, "memory of an edge, GB"},
		{&f.each, "each", 45, "KB memory of a listener: HLS 36, events 9"},
		{&f.share, "share", 0.6, "share of an edge that is used at the peak"},
		{&f.machine, "machine", 8, "price of an edge for a month"},
		{&f.traffic, "traffic", 1, "price of 1 TB sent"},
	} {
		flag.Float64Var(v.to, v.name, v.value, v.what)
	}
	flag.Parse()
	if err := f.print(); err != nil {
		fmt.Fprintln(os.Stderr, "sizing:", err)
		os.Exit(1)
	}
}

// full is how many listeners an edge carries, and what bounds it.
func (f figures) full() (n float64, by string) {
	n, by = f.processor*f.processors/f.tls, "processors"
	if line := f.line * 1000 / f.kbits; line < n {
		n, by = line, "line"
	}
	if memory := f.memory * 1e6 / f.each; memory < n {
		n, by = memory, "memory"
	}
	return n, by
}

// month simulates a day by the minute, between the hours of the curve in a straight line:
// the bytes of 30 such days, in TB.
func (f figures) month(most float64) (tb float64) {
	for minute := range 24 * 60 {
		hour, part := minute/60, float64(minute%60)/60
		here := day[hour]*(1-part) + day[(hour+1)%24]*part
		tb += most * here / 100 * f.kbits * 1000 / 8 * 60
	}
	return 30 * tb / 1e12
}

func (f figures) print() error {
	n, by := f.full()
	if n < 1 || f.share <= 0 || f.share > 1 {
		return fmt.Errorf("an edge carries %.2f listeners, of which %.2f are used: check the figures", n, f.share)
	}
	fmt.Printf("an edge carries %.0f listeners (its %s is full first); %.0f are planned for\n\n", n, by, n*f.share)
	fmt.Printf("%10s %6s %12s %16s %11s %14s %10s %10s %12s\n", "listeners", "edges", "all, Gbit/s", "relay, Mbit/s", "TB a month", "one dies: use", "machines", "traffic", "a listener")
	for _, most := range []float64{1_000, 10_000, 100_000, 1_000_000} {
		edges := max(math.Ceil(most/(n*f.share)), 2) // one may die
		tb := f.month(most)
		machines, traffic := edges*f.machine, tb*f.traffic
		fmt.Printf("%10.0f %6.0f %12.2f %16.1f %11.1f %13.0f%% %10.0f %10.0f %12.4f\n",
			most, edges, most*f.kbits/1e6, edges*f.whole/1000, tb, 100*most/(edges-1)/n, machines, traffic, (machines+traffic)/most)
	}
	return nil
}

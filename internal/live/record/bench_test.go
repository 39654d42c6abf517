package record_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live/record"
)

// BenchmarkRealTime records at the pace of the bus: how far the file is behind what was
// said, and what the encoder and this process cost. Run it with -benchtime 1000x: 20 s.
func BenchmarkRealTime(b *testing.B) {
	r, err := record.Open(record.Options{Dir: b.TempDir(), Log: quiet(), Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	stop := testkit.Background(b, r.Run)
	spent := func(who int) time.Duration {
		var use syscall.Rusage
		_ = syscall.Getrusage(who, &use)
		return time.Duration(use.Utime.Nano() + use.Stime.Nano())
	}
	ticks := make([][]byte, 500)
	for n := range ticks {
		ticks[n] = ladder(n)
	}
	before := spent(syscall.RUSAGE_SELF)
	r.Begin(sara)
	most := int64(0)
	clock := time.NewTicker(20 * time.Millisecond)
	defer clock.Stop()
	for n := range b.N {
		<-clock.C
		r.Write(ticks[n%len(ticks)])
		if n > 100 {
			most = max(most, int64(n)*20-r.List()[0].DurationMS)
		}
	}
	r.End("stopped")
	ended(b, r)
	stop()
	audio := time.Duration(b.N) * 20 * time.Millisecond
	b.ReportMetric(float64(most), "ms-behind-at-most")
	b.ReportMetric(100*(spent(syscall.RUSAGE_SELF)-before).Seconds()/audio.Seconds(), "%core-recorder")
	b.ReportMetric(100*spent(syscall.RUSAGE_CHILDREN).Seconds()/audio.Seconds(), "%core-encoder")
}

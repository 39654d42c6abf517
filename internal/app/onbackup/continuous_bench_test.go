package onbackup_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/app/onbackup"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// BenchmarkContinuousCopy prints what a continuous copy costs and what it saves.
func BenchmarkContinuousCopy(b *testing.B) {
	b.Run("commits", commitsBesideACopy)
	b.Run("lost", lostWithAKill)
	b.Run("restore", restoredFromACopy)
}

// commitsBesideACopy commits one short row after the other for six seconds without the copy and
// for six with it, in turns, and compares the two of a turn: other work on the machine comes and
// goes.
func commitsBesideACopy(b *testing.B) {
	cfg := station(b)
	nas(b, cfg)
	cfg.Backup.Every = "0"
	db, err := store.Open(b.Context(), cfg.Database())
	must(b, err)
	defer db.Close() //nolint:errcheck // a test's
	commits := func() (n float64) {
		for began := time.Now(); time.Since(began) < 6*time.Second; n++ {
			must(b, comment(db, "مساء الخير يا نيل"))
		}
		return n / 6
	}
	var with, without, ratios []float64
	for b.Loop() {
		without = append(without, commits())
		k := &onbackup.Keeper{Config: cfg, Log: slog.New(slog.DiscardHandler), Database: db}
		ctx, stop := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		go func() { ended <- k.Run(ctx, nil) }()
		testkit.Eventually(b, "the whole copy", func() bool { return k.Status().Continuous.Until != 0 })
		with = append(with, commits())
		stop()
		must(b, <-ended)
		ratios = append(ratios, with[len(with)-1]/without[len(without)-1])
	}
	b.ReportMetric(middle(without), "commits/s-without")
	b.ReportMetric(middle(with), "commits/s-with")
	b.ReportMetric(middle(ratios), "with/without")
	b.ReportMetric(slices.Min(ratios), "least")
	b.ReportMetric(slices.Max(ratios), "most")
}

func middle(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// lostWithAKill kills a process that commits without a pause and copies, and measures from the
// last commit that is acknowledged back to the moment until which the copy reaches.
func lostWithAKill(b *testing.B) {
	var lost []float64
	for b.Loop() {
		cfg := station(b)
		to := nas(b, cfg)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), roleEnv+"=follow", dataEnv+"="+cfg.DataDir, fileEnv+"="+to)
		out, err := cmd.StdoutPipe()
		must(b, err)
		must(b, cmd.Start())
		ended := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, bufio.NewReader(out))
			close(ended)
		}()
		first := time.Time{}
		testkit.Eventually(b, "a step", func() bool {
			until, _, err := store.Reach(to)
			if err == nil && first.IsZero() {
				first = until
			}
			return err == nil && until.After(first)
		})
		time.Sleep(time.Duration(rand.IntN(4000)) * time.Millisecond) // anywhere between steps
		must(b, cmd.Process.Kill())
		killed := time.Now()
		<-ended
		_ = cmd.Wait()
		until, _, err := store.Reach(to)
		must(b, err)
		lost = append(lost, killed.Sub(until).Seconds())
	}
	b.ReportMetric(middle(lost), "s-lost-middle")
	b.ReportMetric(slices.Max(lost), "s-lost-most")
}

// restoredFromACopy restores a database of 100 MB with 100 pieces after its whole copy.
func restoredFromACopy(b *testing.B) {
	cfg := station(b)
	to := nas(b, cfg)
	db, err := store.Open(b.Context(), cfg.Database())
	must(b, err)
	defer db.Close() //nolint:errcheck // a test's
	for range 100 {
		must(b, sqlIn(db, `INSERT INTO said WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) SELECT hex(randomblob(200)) FROM n`))
	}
	f := &store.Follower{DB: db, To: to, Every: time.Second, Log: slog.New(slog.DiscardHandler)}
	began := time.Now()
	must(b, f.Step(b.Context()))
	whole := time.Since(began)
	bytes := f.Status().Bytes
	for range 100 {
		must(b, comment(db, "مساء الخير يا نيل"))
		must(b, f.Step(b.Context()))
	}
	text, err := os.ReadFile(cfg.File())
	must(b, err)
	data := b.TempDir()
	write(b, filepath.Join(data, "athir.yaml"), string(text))
	for b.Loop() {
		_, err := recover(b, to, data)
		must(b, err)
	}
	info, err := os.Stat(cfg.Database())
	must(b, err)
	b.ReportMetric(float64(info.Size())/1e6, "MB")
	b.ReportMetric(float64(bytes)/1e6, "MB-copied")
	b.ReportMetric(whole.Seconds(), "s-whole-copy")
}

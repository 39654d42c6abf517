package content

import (
	"fmt"
	"os"

	"github.com/athir-radio/athir/internal/station"
)

// Step is a part of a refresh.
type Step string

// The steps of a refresh, in their order; fetch and scrub stand for themselves.
const (
	StepRecover Step = "recover" // settle interrupted moves
	StepInbox   Step = "inbox"
	StepSongs   Step = "songs"
	StepAds     Step = "ads"
	StepImaging Step = "imaging"
	StepRetire  Step = "retire"
	StepRestore Step = "restore"
	StepScan    Step = "scan"
	StepRebuild Step = "rebuild"
	StepExpire  Step = "expire"
	StepFetch   Step = "fetch"
	StepScrub   Step = "scrub"
)

// English is the step's name for people.
func (s Step) English() string { return s.names()[0] }

// Arabic is the step's name for people.
func (s Step) Arabic() string { return s.names()[1] }

func (s Step) names() [2]string {
	switch s {
	case StepRecover:
		return [2]string{"settling earlier work", "إكمال ما انقطع"}
	case StepInbox:
		return [2]string{"the inbox", "صندوق الوارد"}
	case StepSongs:
		return [2]string{"new songs", "أغانٍ جديدة"}
	case StepAds:
		return [2]string{"new ads", "إعلانات جديدة"}
	case StepImaging:
		return [2]string{"new imaging", "فواصل جديدة"}
	case StepRetire:
		return [2]string{"archiving old material", "أرشفة القديم"}
	case StepRestore:
		return [2]string{"restoring from the archive", "استرجاع من الأرشيف"}
	case StepScan:
		return [2]string{"registering the library", "فحص المكتبة"}
	case StepRebuild:
		return [2]string{"rebuilding the rotation", "إعادة بناء قائمة البث"}
	case StepExpire:
		return [2]string{"clearing the archive", "تنظيف الأرشيف"}
	case StepFetch:
		return [2]string{"fetching", "جلب"}
	case StepScrub:
		return [2]string{"looking for junk", "البحث عن التالف"}
	}
	return [2]string{string(s), string(s)}
}

// Progress is how far something is.
type Progress struct {
	Step   Step
	Done   int
	Total  int    // 0 while unknown
	Detail string // what is being worked on
}

// watch keeps the progress for Status and passes it on.
func (c *Content) watch(show func(Progress)) func(Progress) {
	return func(p Progress) {
		c.mu.Lock()
		if c.running != nil {
			c.running.at = p
		}
		c.mu.Unlock()
		if show != nil {
			show(p)
		}
	}
}

// errNoSpace stops fetching; no candidate is to blame.
var errNoSpace = fmt.Errorf("the disk is nearly full: %w", station.ErrUnavailable)

// space fails when the disk has no room to fetch.
func (c *Content) space() error {
	for _, dir := range []string{c.opt.Work, c.opt.Media} {
		free, total, err := c.opt.Free(dir)
		if err != nil {
			return fmt.Errorf("measure free disk space: %w", err)
		}
		if floor := min(c.opt.MinFree, total/20); free < floor {
			return fmt.Errorf("%w: fetching needs %d MB free in %s, which has %d MB: free some space there, or lower content.archive_days", errNoSpace, floor>>20, dir, free>>20)
		}
	}
	return c.mounted()
}

// mounted fails when the media folder is empty although tracks are registered: its disk
// is unmounted, and a placed file would pass for the whole library.
func (c *Content) mounted() error {
	f, err := os.Open(c.opt.Media)
	if err != nil {
		return fmt.Errorf("read the media folder: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	if names, _ := f.Readdirnames(1); len(names) == 0 && len(c.opt.Registry.Tracks()) > 0 {
		return fmt.Errorf("the media folder is empty: is its disk mounted? %w", station.ErrUnavailable)
	}
	return nil
}

package mastering

import (
	"fmt"
	"slices"
	"strings"

	"github.com/athir-radio/athir/internal/station"
)

// Profile is the target of a mastered file. The zero value is unusable: take one of
// Named and change it.
type Profile struct {
	Name      string
	Target    float64 // LUFS, integrated
	Tolerance float64 // LU either side; beyond it a file is refused
	Aim       float64 // LU either side; beyond it a file is made once more
	MaxPeak   float64 // dBTP, never exceeded
	MaxGain   float64 // dB; a file that needs more is noise or nearly silent
	// MaxDepth is how far (dB) a limiter turns down what is not a lone click. Where the
	// target needs more, the file stays quieter: raised further, its quiet parts and
	// its room would come up beside its attacks.
	MaxDepth float64
	// Brief holds what is shorter than 3 s to the target by its short-term maximum, with
	// silence around it, in place of its integrated loudness: the ear sums over time, and
	// an effect of half a second that measures like the music about it is lost in it.
	// It comes out louder by 4.8 LU at 1 s, and by 6 LU at most.
	Brief bool
}

// Station is the profile of everything on air unless a category has its own.
const Station = "-14"

// Named returns a built-in profile: -14 for internet radio, -16 for music by AES
// TD1008, -23 for broadcast by EBU R 128. The minus may be left out, because shells
// and flags make it hard to write.
func Named(name string) (Profile, error) {
	if !strings.HasPrefix(name, "-") {
		name = "-" + name
	}
	p := stationProfile()
	p.Name = name
	switch name {
	case Station:
	case "-16":
		p.Target = -16
	case "-23":
		p.Target = -23
	default:
		return Profile{}, fmt.Errorf("profile %q: %w: choose from %s", name, station.ErrInvalid, strings.Join(Profiles(), ", "))
	}
	return p, nil
}

func stationProfile() Profile {
	return Profile{Name: Station, Target: -14, Tolerance: 0.5, Aim: 0.2, MaxPeak: -1.5, MaxGain: 40, MaxDepth: 8}
}

// Profiles lists the names that Named knows.
func Profiles() []string { return []string{Station, "-16", "-23"} }

// PerCategory gives each category of a station its profile.
type PerCategory map[station.Category]string

// Name returns the name of a category's profile: its own, else Station.
func (c PerCategory) Name(category station.Category) string {
	if name, ok := c[category]; ok {
		return name
	}
	return Station
}

// For returns the profile of a category.
func (c PerCategory) For(category station.Category) (Profile, error) { return Named(c.Name(category)) }

// Check refuses the first unknown category or profile.
func (c PerCategory) Check() error {
	for category, name := range c {
		if !slices.Contains(station.Categories(), category) {
			return fmt.Errorf("profile of category %q: %w: no such category", category, station.ErrInvalid)
		}
		if _, err := Named(name); err != nil {
			return fmt.Errorf("category %s: %w", category, err)
		}
	}
	return nil
}

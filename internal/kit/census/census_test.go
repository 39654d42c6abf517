package census_test

import (
	"maps"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func database(field string) []byte {
	return testkit.Countries(map[string]string{
		"41.32.0.0/12": "EG", "197.32.0.0/11": "EG", "203.0.113.0/24": "JO", "2001:db8::/32": "DE", "198.51.100.7/32": "Q1", "192.0.2.0/24": "fr",
	}, field)
}

// write puts a database in place with a time of its own, so that a look sees it.
func write(t *testing.T, path string, data []byte, n int) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(time.Duration(n) * time.Second)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestARequestIsClassifiedByTheAddressThatCounts(t *testing.T) {
	for _, field := range []string{"iso_code", "country_code"} {
		path := filepath.Join(t.TempDir(), "countries.mmdb")
		write(t, path, database(field), 0)
		log, _ := testkit.Log(t)
		atlas := census.OpenAtlas(log, path)
		if s := atlas.State(); !s.On || s.File != "countries.mmdb" || s.Problem != "" || s.BuiltAt.Unix() != 1_700_000_000 {
			t.Fatalf("%+v", s)
		}
		for _, c := range []struct{ remote, forwarded, want string }{
			{"41.33.1.2:99", "", "EG"}, {"203.0.113.9:1", "41.33.1.2", "JO"}, {"127.0.0.1:1", "41.33.1.2", "EG"}, {"127.0.0.1:1", "6.6.6.6, 203.0.113.1", "JO"},
			{"[2001:db8:1:2:3::4]:1", "", "DE"}, {"[::ffff:41.33.1.2]:1", "", "EG"}, {"127.0.0.1:1", "", "ZZ"}, {"127.0.0.1:1", "unknown", "ZZ"},
			{"10.0.0.1:1", "", "ZZ"}, {"[2a02::1]:1", "", "ZZ"}, {"198.51.100.7:1", "", "ZZ"}, {"192.0.2.1:1", "", "ZZ"}, {"@", "", "ZZ"},
		} {
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = c.remote
			r.Header.Set("User-Agent", "VLC/3.0")
			if c.forwarded != "" {
				r.Header.Set("X-Forwarded-For", c.forwarded)
			}
			if got := atlas.Who(r); got.Country.String() != c.want || got.Device != census.Player {
				t.Errorf("%s: %s through %q is in %s, want %s", field, c.remote, c.forwarded, got.Country, c.want)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "countries.mmdb")
	write(t, path, testkit.Countries(map[string]string{"41.32.0.0/12": "EG"}, "iso_code"), 0)
	log, _ := testkit.Log(t)
	if got := census.OpenAtlas(log, path).Country("::ffff:41.33.1.2").String(); got != "EG" { // as Icecast names it
		t.Errorf("a mapped address is in %s", got)
	}
	if got := (*census.Atlas)(nil).Who(httptest.NewRequest("GET", "/", nil)); got != (census.Who{}) {
		t.Errorf("without a database: %+v", got)
	}
	if census.OpenAtlas(nil, "") != nil || (*census.Atlas)(nil).State() != (census.State{}) || (*census.Atlas)(nil).Run(t.Context()) != nil {
		t.Error("no file is set, and something is there")
	}
}

func TestTheFileIsReadAnewWhenItChangesAndADamagedOneDisablesCountriesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "c.mmdb")
		log, logged := testkit.Log(t)
		atlas := census.OpenAtlas(log, path)
		go func() { _ = atlas.Run(t.Context()) }()
		country := func() string { return atlas.Country("41.33.1.2").String() }
		look := func() census.State {
			time.Sleep(31 * time.Second)
			synctest.Wait()
			return atlas.State()
		}
		if s := atlas.State(); s.On || !strings.Contains(s.Problem, "no such file") || country() != "ZZ" {
			t.Errorf("missing: %+v", s)
		}
		look()
		look()
		if n := strings.Count(logged.String(), "no such file"); n != 1 {
			t.Errorf("a missing file is logged %d times", n)
		}
		write(t, path, []byte("not a database"), 1)
		if s := look(); s.On || !strings.Contains(s.Problem, "format") {
			t.Errorf("no database: %+v", s)
		}
		write(t, path, database("iso_code"), 2)
		if s := look(); !s.On || s.Problem != "" || country() != "EG" {
			t.Errorf("written: %+v", s)
		}
		whole := database("iso_code")
		write(t, path, whole[:len(whole)/2], 3)
		if s := look(); !s.On || !strings.Contains(s.Problem, "the one before") || country() != "EG" {
			t.Errorf("cut: %+v, %s", s, country())
		}
		write(t, path, testkit.Countries(map[string]string{"41.32.0.0/12": "SD"}, "iso_code"), 4)
		if s := look(); s.Problem != "" || country() != "SD" {
			t.Errorf("another: %+v, %s", s, country())
		}
		if err := os.Truncate(path, 65<<20); err != nil {
			t.Fatal(err)
		}
		if s := look(); !strings.Contains(s.Problem, "edition of countries") || country() != "SD" {
			t.Errorf("too large: %+v", s)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if s := look(); !strings.Contains(s.Problem, "not a file") {
			t.Errorf("a folder: %+v", s)
		}
	})
}

// Whatever is written into the file, looking up neither ends the process nor takes long.
func FuzzAtlas(f *testing.F) {
	whole := database("iso_code")
	f.Add(whole)
	for _, at := range []int{0, 10, 300, len(whole) - 200, len(whole) - 90, len(whole) - 20} {
		hurt := append([]byte(nil), whole...)
		for i := at; i < min(at+8, len(hurt)); i++ {
			hurt[i] = 0xff
		}
		f.Add(hurt)
		f.Add(whole[:at])
	}
	path := filepath.Join(f.TempDir(), "c.mmdb")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		log, _ := testkit.Log(t)
		atlas := census.OpenAtlas(log, path)
		for _, address := range []string{"41.33.1.2", "203.0.113.9", "2001:db8:1:2::/64", "2a02::/64", "255.255.255.255"} {
			if code := atlas.Country(address).String(); code != "ZZ" && census.CountryNamed(code).String() != code {
				t.Errorf("country %q", code)
			}
		}
	})
}

func TestWhatAStrangerTellsFitsTheListenersThereAre(t *testing.T) {
	same := func(a, b census.Crowd) bool {
		return maps.Equal(a.Devices, b.Devices) && maps.Equal(a.Countries, b.Countries)
	}
	for what, c := range map[string]struct {
		told census.Crowd
		n    int
		want census.Crowd
	}{
		"as it is":     {crowd("android", 2, "linux", 1, "EG", 3), 3, crowd("android", 2, "linux", 1, "EG", 3)},
		"too few":      {crowd("android", 1), 3, crowd("android", 1, "other", 2, "ZZ", 3)},
		"too many":     {crowd("android", 7, "windows", 7, "EG", 9), 8, crowd("android", 7, "windows", 1, "EG", 8)},
		"no such":      {crowd("<script>", 5, "fridge", 1, "Egypt", 2, "eg", 1), 4, crowd("other", 4, "ZZ", 4)},
		"negative":     {crowd("android", -5, "linux", 2, "EG", -1), 3, crowd("linux", 2, "other", 1, "ZZ", 3)},
		"overflowing":  {crowd("android", math.MaxInt, "linux", math.MaxInt, "EG", math.MaxInt), 3, crowd("android", 3, "EG", 3)},
		"of nobody":    {crowd("android", 5), 0, census.Crowd{}},
		"nothing told": {census.Crowd{}, 2, crowd("other", 2, "ZZ", 2)},
	} {
		if got := c.told.Fit(c.n); !same(got, c.want) {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
	var sum census.Crowd
	sum.Join(crowd("android", 1, "EG", 1))
	sum.Join(crowd("android", 2, "ZZ", 2))
	sum.Add(census.Who{Device: census.Car, Country: census.CountryNamed("JO")}, 2)
	if want := crowd("android", 3, "car", 2, "EG", 1, "ZZ", 2, "JO", 2); !same(sum, want) {
		t.Errorf("%v, want %v", sum, want)
	}
}

// crowd is one of names and counts; two capitals are a country.
func crowd(pairs ...any) (out census.Crowd) {
	out.Devices, out.Countries = map[string]int{}, map[string]int{}
	for i := 0; i < len(pairs); i += 2 {
		name, n := pairs[i].(string), pairs[i+1].(int)
		if strings.ToLower(name) == name {
			out.Devices[name] = n
		} else {
			out.Countries[name] = n
		}
	}
	return out
}

func BenchmarkWho(b *testing.B) {
	path := filepath.Join(b.TempDir(), "c.mmdb")
	if err := os.WriteFile(path, database("iso_code"), 0o600); err != nil {
		b.Fatal(err)
	}
	log, _ := testkit.Log(b)
	atlas := census.OpenAtlas(log, path)
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "41.33.1.2:99"
	r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36")
	for b.Loop() {
		_ = atlas.Who(r)
	}
}

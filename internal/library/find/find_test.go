package find

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// names are pairs that are one name, or one title, in two spellings.
const names = `فيروز=fairuz فيروز=fayrouz فيروز=feiruz فيروز=Fairouz عمرو دياب=amr diab عمرو دياب=amr dyab عمرو دياب=3amr diab
أم كلثوم=oum kalthoum أم كلثوم=umm kulthum أم كلثوم=um kalsoum أم كلثوم=om kalthom عبد الحليم حافظ=abdel halim hafez
عبد الحليم حافظ=abdelhalim hafiz عبدالحليم=abdul haleem عبد الوهاب=abdel wahab محمد عبد الوهاب=mohamed abdelwahab محمد منير=mohamed mounir
محمد منير=muhammad munir كاظم الساهر=kadim al sahir كاظم الساهر=kazem el saher كاظم الساهر=kathem alsaher نانسي عجرم=nancy ajram
إليسا=elissa اليسا=elisa شيرين=sherine شيرين=cherine شيرين=shireen تامر حسني=tamer hosny تامر حسني=tamir husni راغب علامة=ragheb alama
راغب علامة=ragheb allama ماجدة الرومي=majida el roumi ماجدة الرومي=magida al rumi وردة=warda وردة=ouarda الجزائرية=jazairia أصالة=assala
نوال الزغبي=nawal el zoghbi نجوى كرم=najwa karam نجوى كرم=nagwa karam هاني شاكر=hany shaker أحلام=ahlam حسين الجسمي=hussain al jassmi
حسين الجسمي=hussein jasmi خالد=khaled الشاب خالد=cheb khaled سعد لمجرد=saad lamjarred ميادة الحناوي=mayada el hennawy فريد الأطرش=farid el atrache
فريد الأطرش=fareed al atrash أسمهان=asmahan صباح فخري=sabah fakhri وائل كفوري=wael kfoury وائل جسار=wael jassar فضل شاكر=fadl chaker
حماقي=hamaki بهاء سلطان=bahaa sultan مدحت صالح=medhat saleh إيهاب توفيق=ehab tawfik إيهاب توفيق=ihab tawfiq هشام عباس=hisham abbas
سميرة سعيد=samira said لطيفة=latifa ذكرى=thekra ذكرى=zekra رامي صبري=ramy sabry ويجز=wegz حبيبي=habibi حبيبي يا نور العين=habibi ya nour el ein
تملي معاك=tamally maak ليلى=layla ليلى=leila قلبي=albi قلبي=qalbi قلبي=galbi شاكيرا=shakira سيلين ديون=celine dion أديل=adele
ريهانا=rihanna كولدبلاي=coldplay إد شيران=ed sheeran زياد الرحباني=ziad rahbani مروان خوري=marwan khoury
جورج وسوف=george wassouf نور=nour غزل=ghazal kulthum=kalthoum mohamed=muhammad hussein=hossain fairuz=feiruz
عبدالله=abdallah خالد=5aled حبيبي=7abibi طارق=tarek طارق=tariq ياسمين=yasmine يوسف=youssef دنيا=donia بهية=bahia`

// strangers are pairs that are not.
const strangers = `فيروز=farid فيروز=frozen عمرو دياب=amr mostafa عمرو دياب=omar khairat أم كلثوم=me and you نوال=nile نوال=nelly شيرين=sharon
كاظم=kissing خالد=walid حبيبي=hope song ليلى=lola ليلى=love محمد منير=mohamed fouad نانسي=nas إليسا=sia أصالة=silo وردة=red تامر=tom
صباح=saber love=leave live=love my=me ياسمين=simone نور=nero حماقي=maki
راغب=rgb light وائل=whole lotta ذكرى=thriller منير=monaco`

func pairs(t *testing.T, text string) (out [][2]string) {
	t.Helper()
	// A pair is Arabic words, =, and Latin words, up to where Arabic ones begin again.
	var left, right []string
	flush := func() {
		if len(right) > 0 {
			out = append(out, [2]string{strings.Join(left, " "), strings.Join(right, " ")})
			left, right = nil, nil
		}
	}
	for word := range strings.FieldsSeq(text) {
		a, b, cut := strings.Cut(word, "=")
		switch {
		case cut && len(right) > 0:
			flush()
			left, right = append(left, a), []string{b}
		case cut:
			left, right = append(left, a), []string{b}
		case arabic(word):
			flush()
			left = append(left, word)
		default:
			right = append(right, word)
		}
	}
	flush()
	return out
}

func finds(have, query string) bool {
	found, _ := New([]Track{{Title: "x", Artist: have}}).Search(query, 0, 1, nil)
	return len(found) == 1
}

func TestANameIsFoundInTheOtherScript(t *testing.T) {
	all := pairs(t, names)
	if len(all) < 80 {
		t.Fatalf("only %d pairs were read", len(all))
	}
	for _, p := range all {
		if !finds(p[0], p[1]) {
			t.Errorf("%q is not found in %q: %v, %v", p[1], p[0], spelled(p[1]), spelled(p[0]))
		}
		if !finds(p[1], p[0]) {
			t.Errorf("%q is not found in %q", p[0], p[1])
		}
	}
}

func TestAnotherNameIsNotFound(t *testing.T) {
	all := pairs(t, strangers)
	if len(all) < 30 {
		t.Fatalf("only %d pairs were read", len(all))
	}
	for _, p := range all {
		if finds(p[0], p[1]) {
			t.Errorf("%q is found in %q: %v, %v", p[1], p[0], spelled(p[1]), spelled(p[0]))
		}
		if finds(p[1], p[0]) {
			t.Errorf("%q is found in %q", p[0], p[1])
		}
	}
}

func spelled(text string) (out [][]reading) {
	for _, w := range queried(text) {
		out = append(out, readings(w[0]))
	}
	return out
}

func TestTheBestFitComesFirst(t *testing.T) {
	x := New([]Track{{Title: "Fairuzabad", Artist: "A"}, {Title: "نسم علينا الهوى", Artist: "فيروز"}, {Title: "Fairuz", Artist: "B"}, {Title: "Bahebak", Artist: "Fairuz"}, {Title: "Other", Artist: "Amr"}})
	for query, want := range map[string]string{
		"fairuz": "[3 2 0 1]", "Fairuz bahebak": "[3]", "فيروز": "[1 3 2 0]", "فيروز الهو": "[1]", "fai": "[3 0 2]",
		"": "[0 1 2 3 4]", "!!": "[]", "zz": "[]", "fairuz amr": "[]", "هوى": "[1]",
	} {
		if found, total := x.Search(query, 0, 10, nil); fmt.Sprint(found) != want || total != len(found) {
			t.Errorf("%q: %v of %d, want %s", query, found, total, want)
		}
	}
	if found, total := x.Search("fairuz", 1, 2, func(i int) bool { return i != 2 }); fmt.Sprint(found) != "[0 1]" || total != 3 {
		t.Errorf("second page without one: %v of %d", found, total)
	}
}

func TestATrackIsFoundByItsAlbumAndOtherSpellingsAfterThoseOfThatName(t *testing.T) {
	x := New([]Track{
		{Title: "One", Artist: "A", Also: []string{"Best of Fairuz", "the first"}}, {Title: "Two", Artist: "فيروز"}, {Title: "Three", Artist: "B", Also: []string{"نهاد حداد"}},
	})
	for query, want := range map[string]string{"fairuz": "[1 0]", "best fairuz": "[0]", "nouhad": "[2]", "first": "[0]", "one best": "[0]"} {
		if found, _ := x.Search(query, 0, 10, nil); fmt.Sprint(found) != want {
			t.Errorf("%q: %v, want %s", query, found, want)
		}
	}
}

// A whole title that was pasted is looked for as a whole, in either script.
func TestALongQueryIsReadToItsEnd(t *testing.T) {
	words := strings.Fields("نسم علينا الهوى من مفرق الوادي يا هوى دخل الهوى خدني على بلادي")
	long := strings.Repeat("ش", 60) + " " + strings.Repeat("ق", 60)
	x := New([]Track{{Title: strings.Join(words, " ")}, {Title: strings.Join(words[:9], " ")}, {Title: long + " فيروز"}, {Title: long + " وديع"}})
	for query, want := range map[string]string{strings.Join(words, " "): "[0]", long + " وديع": "[3]"} {
		if found, _ := x.Search(query, 0, 10, nil); fmt.Sprint(found) != want {
			t.Errorf("%q: %v, want %s", query, found, want)
		}
	}
}

func FuzzSearch(f *testing.F) {
	x := New([]Track{{Title: "نسم علينا الهوى", Artist: "فيروز"}, {Title: "Bahebak", Artist: "Fairuz"}})
	f.Add("فيروز", 0)
	f.Add(strings.Repeat("x", 500), -1)
	f.Add("ق"+strings.Repeat("ظ", 60), 3)
	f.Fuzz(func(t *testing.T, query string, offset int) {
		found, total := x.Search(query, offset, 20, nil)
		if len(found) > total || total > 2 {
			t.Errorf("%d of %d", len(found), total)
		}
		for _, r := range readings(query) {
			if len(r.key) != len(r.gaps) {
				t.Errorf("%q: %d consonants and %d gaps", query, len(r.key), len(r.gaps))
			}
		}
	})
}

// library is a station's: artists with some hundred songs each, in both scripts.
func library(tracks int) []Track {
	rng := rand.New(rand.NewPCG(1, 2))
	syllables := strings.Fields("ما نو رد شا مي كا لي حب عي قل با تم سا ني زو fa ri no la mo sha ka ber tin don el ga wa zi pe")
	word := func() string {
		n := rng.IntN(15)
		half := 15 * rng.IntN(2)
		out := syllables[half+n]
		for range 1 + rng.IntN(3) {
			out += syllables[half+rng.IntN(15)]
		}
		return out
	}
	artists := make([]string, tracks/50+1)
	for i := range artists {
		artists[i] = word() + " " + word()
	}
	out := make([]Track, tracks)
	for i := range out {
		out[i] = Track{Title: word() + " " + word() + " " + word(), Artist: artists[rng.IntN(len(artists))]}
	}
	out[tracks/2] = Track{Title: "نسم علينا الهوى", Artist: "فيروز"}
	return out
}

// BenchmarkSearch prints what one query takes in 100,000 tracks.
func BenchmarkSearch(b *testing.B) {
	x := New(library(100_000))
	for _, query := range []string{"fairuz", "فيروز", "na", "ma no", "شامي كالي", "oum kalthoum"} {
		b.Run(strings.ReplaceAll(query, " ", "_"), func(b *testing.B) {
			total := 0
			for b.Loop() {
				_, total = x.Search(query, 0, 20, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/query")
			b.ReportMetric(float64(total), "found")
		})
	}
}

// BenchmarkNew prints what the index of 100,000 tracks takes.
func BenchmarkNew(b *testing.B) {
	all := library(100_000)
	for b.Loop() {
		New(all)
	}
}

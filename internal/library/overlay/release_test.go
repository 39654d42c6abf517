package overlay_test

import "testing"

func TestWhatReportsNameARecordingByIsSaidAndTakenBack(t *testing.T) {
	file := song("a.mp3", 1)
	file.ISRC, file.Label = "USRC17607839", "RCA"
	r := open(t, file)
	deed := r.must(`{"isrc":"eg-a01-26-00001","label":" صوت  القاهرة ","composer":"رياض السنباطي"}`, "a.mp3")
	if got := r.track("a.mp3"); got.ISRC != "EGA012600001" || got.Label != "صوت القاهرة" || got.Composer != "رياض السنباطي" {
		t.Errorf("%+v", got)
	}
	if out, err := r.change(`{"isrc":"EG A01 26 00001"}`, "a.mp3"); err != nil || out.Changed != 0 {
		t.Errorf("the same in another writing is a change: %+v, %v", out, err)
	}
	if _, _, err := r.Undo(t.Context(), deed.ID, "mona"); err != nil {
		t.Fatal(err)
	}
	if got := r.track("a.mp3"); got.ISRC != "USRC17607839" || got.Label != "RCA" || got.Composer != "" {
		t.Errorf("taken back: %+v", got)
	}
}

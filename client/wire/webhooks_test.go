package wire

import (
	"encoding/json"
	"testing"
	"time"
)

func TestMomentIsALegacyDate(t *testing.T) {
	at := time.Date(2018, 7, 3, 23, 20, 12, 345_000_000, time.UTC)
	text, err := json.Marshal(Moment(at))
	if err != nil || string(text) != `"/Date(1530660012345+0000)/"` {
		t.Fatal(string(text), err)
	}
	for _, form := range []string{string(text), `"2018-07-03T23:20:12.3450000"`, `"2018-07-03T23:20:12.345Z"`, `"\/Date(1530660012345)\/"`} {
		var got Moment
		if err := json.Unmarshal([]byte(form), &got); err != nil || !time.Time(got).Equal(at) {
			t.Errorf("%s: %v, %v", form, time.Time(got), err)
		}
	}
	if text, _ := json.Marshal(Moment{}); string(text) != "null" {
		t.Error(string(text))
	}
	for _, form := range []string{`1`, `"soon"`, `"/Date(x)/"`} {
		if err := json.Unmarshal([]byte(form), new(Moment)); err == nil {
			t.Errorf("%s is read", form)
		}
	}
}

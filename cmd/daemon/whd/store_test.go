package whd

import "testing"

func TestSeedTexts(t *testing.T) {
	for got, want := range map[string]string{
		insertedText(1):    "inserted 1 demo record",
		insertedText(1200): "inserted 1,200 demo records",
		changedText(1):     "1 value was changed to the closest that the column can hold",
		changedText(2):     "2 values were changed to the closest that the column can hold",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

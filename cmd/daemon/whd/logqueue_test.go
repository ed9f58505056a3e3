package whd

import (
	"errors"
	"testing"
)

// fullDisk writes a part of each text.
type fullDisk struct{ room int }

func (d fullDisk) Write(text []byte) (int, error) { return d.room, errors.New("no space") }

// TestLinesThatCannotBeWritten are counted, but not reported: a report could not be
// written either.
func TestLinesThatCannotBeWritten(t *testing.T) {
	q := newLogQueue(fullDisk{room: len("first\nsec")})
	q.report = func(lost int64) { t.Errorf("%d lines are reported", lost) }
	for _, line := range []string{"first\n", "second\n", "third\n"} {
		if _, err := q.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	go q.run()
	q.Close()
	if q.Lost() != 2 {
		t.Errorf("%d lines were lost", q.Lost())
	}
}

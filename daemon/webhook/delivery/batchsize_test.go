package delivery

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Steps become as large as their time allows, within their bounds, and settle
// there.
func TestStintsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom([]batchSize{fileBatch, serverBatch}).Draw(t, "stint")
		row := time.Duration(rapid.Int64Range(0, int64(10*time.Millisecond)).Draw(t, "a row takes"))
		begin := time.Duration(rapid.Int64Range(0, int64(s.aim)).Draw(t, "a step takes besides"))
		for range 40 {
			was := s.rows
			took := begin + time.Duration(was)*row
			s.learn(Removed{Rows: was, Took: took})
			switch {
			case s.rows < s.min || s.rows > s.max:
				t.Fatalf("%d rows after %d", s.rows, was)
			case took > s.aim && s.rows > was || took < s.aim && s.rows < was:
				t.Fatalf("%d rows after %d that took %v", s.rows, was, took)
			}
		}
		if took := begin + time.Duration(s.rows)*row; took > 2*s.aim && s.rows > s.min {
			t.Fatalf("steps of %d rows take %v, more than %v", s.rows, took, s.aim)
		}
	})
}

// A step that had little to do is no reason for larger ones, and one that took
// long with little is one for smaller ones.
func TestStintsOfLittle(t *testing.T) {
	s := fileBatch
	if s.learn(Removed{Rows: 3, Took: time.Microsecond}); s != fileBatch {
		t.Errorf("%+v after a step of 3 rows", s)
	}
	if s.learn(Removed{Rows: 3, Took: time.Second}); s.rows != fileBatch.rows/2 {
		t.Errorf("%+v after a step that took long", s)
	}
}

// Rests begin long and are short once a removal has gone on for a while, so that
// any rate is kept up with; a step that has only read rests as long as it took.
func TestRestsShorten(t *testing.T) {
	for _, s := range []batchSize{fileBatch, serverBatch} {
		r := Removed{Rows: 100, Took: 2 * time.Millisecond}
		before := s.rest(0, r, time.Second)
		if want := time.Duration(s.rests) * r.Took; before != want {
			t.Errorf("the first rest is %v, want %v", before, want)
		}
		for n := range 10 * hastens {
			rest := s.rest(n, r, time.Second)
			if rest > before {
				t.Fatalf("rest %d is %v after %v", n, rest, before)
			}
			before = rest
		}
		if before != r.Took {
			t.Errorf("rests end at %v beside steps of %v", before, r.Took)
		}
		if rest := s.rest(500, Removed{}, time.Second); rest != time.Second {
			t.Errorf("a step that has read for a second rests for %v", rest)
		}
	}
}

package sqlite

import "testing"

// TestLimitSteps checks that a limit ends a statement that needs more instructions, on each
// execution, and can be removed.
func TestLimitSteps(t *testing.T) {
	c := open(t)
	const rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) SELECT count(*) FROM n"

	c.LimitSteps(10_000)
	for range 2 {
		if _, _, err := c.QueryInt(rows, int64(100_000)); err == nil {
			t.Error("a statement with more instructions than the limit succeeded")
		} else if e := failure(t, err); !e.Interrupted() {
			t.Errorf("a statement with more instructions than the limit failed with %v, want an interrupt", err)
		}
		if n, _, err := c.QueryInt(rows, int64(100)); err != nil || n != 100 {
			t.Errorf("a statement with fewer instructions returned %d, %v, want 100", n, err)
		}
	}

	c.LimitSteps(0)
	if n, _, err := c.QueryInt(rows, int64(100_000)); err != nil || n != 100_000 {
		t.Errorf("without the limit the statement returned %d, %v, want 100000", n, err)
	}
}

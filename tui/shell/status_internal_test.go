package shell

import "testing"

// TestStatusLeavesOutLastParts checks that a long status ends with a whole part.
func TestStatusLeavesOutLastParts(t *testing.T) {
	const status = "1 of 3   205 messages of creditor.created to 127.0.0.1:5071/creditors, first 03:34, last 03:50"
	for room, want := range map[int]string{
		120: status,
		85:  "1 of 3   205 messages of creditor.created to 127.0.0.1:5071/creditors, first 03:34",
		78:  "1 of 3   205 messages of creditor.created to 127.0.0.1:5071/creditors",
		58:  status, // it is cut where the line ends
	} {
		if got := fitStatus(status, room); got != want {
			t.Errorf("in %d cells, the status is %q, want %q", room, got, want)
		}
	}
}

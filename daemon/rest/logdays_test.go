package rest

import (
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// TestLogOfADay checks the bounds of a day. SQL Server rejects a bound after the year 9999, with which
// the last day would end.
func TestLogOfADay(t *testing.T) {
	kind, _ := record.System().Lookup("RequestLog")
	for date, want := range map[string][]string{
		"2026-02-28": {"2026-02-28T00:00:00.0000000", "2026-03-01T00:00:00.0000000"},
		"9999-12-30": {"9999-12-30T00:00:00.0000000", "9999-12-31T00:00:00.0000000"},
		"9999-12-31": {"9999-12-31T00:00:00.0000000"},
	} {
		x := &edge.Context{Call: edge.Call{Kind: kind}}
		members := query.Members{{Name: memberDate, Texts: []string{date}}}
		where, err := logView{}.where(x, members, time.Now())
		if err != nil || len(where) != len(want) {
			t.Errorf("%s: got the conditions %v (%v), want %d", date, where, err, len(want))
			continue
		}
		for i, text := range want {
			if got := where[i].Operands[0].Text; got != text {
				t.Errorf("%s: bound %d is %s, want %s", date, i, got, text)
			}
		}
	}
}

package appdbtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/executor/executortest"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/storage"
)

// Audit checks that a change and its audit entry are stored together or not at all,
// and that the audit trail can be queried.
func Audit(t *testing.T, opened *storage.Store) {
	b := accounts{opened.AppDB.Accounts(), t}
	u := account.User{ID: "1", Name: "Ann", Role: account.Admin, Added: noon, Saved: noon}
	role := account.Reader
	step := 0
	try := func(done bool, change func(audit.Entry) (bool, error)) {
		t.Helper()
		step++
		e := entryAt(noon.Add(time.Duration(step) * time.Second))
		e.Subject = fmt.Sprint("step ", step)
		if hit, err := change(e); hit != done {
			t.Errorf("step %d: done %v (%v), want %v", step, hit, err, done)
		}
	}
	add := func(e audit.Entry) (bool, error) { err := b.AddUser(t.Context(), u, e); return err == nil, err }
	key := func(e audit.Entry) (bool, error) {
		err := b.AddKey(t.Context(), account.Key{ID: "7", Name: "till", Hash: "h", Role: role, Added: noon}, e)
		return err == nil, err
	}
	try(true, add)
	try(false, add) // the name is taken
	try(false, func(e audit.Entry) (bool, error) { return b.AddFirstUser(t.Context(), u, e) })
	try(false, func(e audit.Entry) (bool, error) {
		return b.ChangeUser(t.Context(), "ann", account.Change{Role: &role}, e)
	})
	try(false, func(e audit.Entry) (bool, error) { return b.RemoveUser(t.Context(), "ann", e) }) // the last admin
	try(true, func(e audit.Entry) (bool, error) {
		return b.ChangeUser(t.Context(), "ann", account.Change{DisplayName: &u.Name}, e)
	})
	try(true, key)
	try(false, key)
	try(true, func(e audit.Entry) (bool, error) { return b.RemoveKey(t.Context(), "7", e) })
	try(false, func(e audit.Entry) (bool, error) { return b.RemoveKey(t.Context(), "7", e) })
	long := entryAt(noon)
	long.Name = strings.Repeat("é", 300)
	long.Address = strings.Repeat("1", 99)
	long.Detail = strings.Repeat("😀", 1000)
	long.Subject = "long"
	bob := account.User{ID: "2", Name: "Bob", Role: role, Added: noon, Saved: noon}
	if err := b.AddUser(t.Context(), bob, long); err != nil {
		t.Errorf("texts that are too long: %v", err)
	}
	expectTrail(t, opened, nil, "long", "step 9", "step 7", "step 6", "step 1")
	expectTrail(t, opened,
		query.Members{executortest.Member("SubjectStartsWith", "STEP"), executortest.Member("AddedDateTimeLessThan", "2030-01-02T12:00:07"), executortest.Member("OrderBy", "AddedDateTime")},
		"step 1", "step 6")
	expectTrail(t, opened,
		query.Members{executortest.Member("UserName", "TESTER"), executortest.Member("Take", "1"), executortest.Member("Skip", "1")}, "step 7")
}

// expectTrail compares the subjects of the entries that a query returns.
func expectTrail(t *testing.T, opened *storage.Store, members query.Members, want ...string) {
	t.Helper()
	kind, ok := record.System().Lookup("WH_Audit")
	if !ok {
		t.Fatal("the kind WH_Audit is missing")
	}
	rows, _ := executortest.Run(t, opened, kind, append(members, executortest.Member("Fields", "Subject")))
	for i := range rows {
		rows[i] = strings.Trim(rows[i], `";`)
	}
	if !slices.Equal(rows, want) {
		t.Errorf("%v: got %q, want %q", members, rows, want)
	}
}

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
func Audit(t *testing.T, store *storage.Store) {
	b := accounts{store.AppDB.Accounts(), t}
	ctx := t.Context()
	role := account.Reader
	ann := account.User{ID: "1", Name: "Ann", Role: account.Admin, Added: noon, Saved: noon}
	key := account.Key{ID: "7", Name: "till", Hash: "h", Role: role, Added: noon}

	for i, step := range []struct {
		name   string
		isDone bool
		change func(audit.Entry) (bool, error)
	}{
		{"adding a user", true, func(e audit.Entry) (bool, error) {
			err := b.AddUser(ctx, ann, e)
			return err == nil, err
		}},
		{"adding a user with a name that is taken", false, func(e audit.Entry) (bool, error) {
			err := b.AddUser(ctx, ann, e)
			return err == nil, err
		}},
		{"adding a second first user", false, func(e audit.Entry) (bool, error) {
			return b.AddFirstUser(ctx, ann, e)
		}},
		{"changing the role of the last admin", false, func(e audit.Entry) (bool, error) {
			return b.ChangeUser(ctx, "ann", account.Change{Role: &role}, e)
		}},
		{"removing the last admin", false, func(e audit.Entry) (bool, error) {
			return b.RemoveUser(ctx, "ann", e)
		}},
		{"changing a name", true, func(e audit.Entry) (bool, error) {
			return b.ChangeUser(ctx, "ann", account.Change{DisplayName: &ann.Name}, e)
		}},
		{"adding a key", true, func(e audit.Entry) (bool, error) {
			err := b.AddKey(ctx, key, e)
			return err == nil, err
		}},
		{"adding a key with a name that is taken", false, func(e audit.Entry) (bool, error) {
			err := b.AddKey(ctx, key, e)
			return err == nil, err
		}},
		{"removing a key", true, func(e audit.Entry) (bool, error) {
			return b.RemoveKey(ctx, "7", e)
		}},
		{"removing a missing key", false, func(e audit.Entry) (bool, error) {
			return b.RemoveKey(ctx, "7", e)
		}},
	} {
		number := i + 1
		e := entryAt(noon.Add(time.Duration(number) * time.Second))
		e.Subject = fmt.Sprint("step ", number)
		if isDone, err := step.change(e); isDone != step.isDone {
			t.Errorf("step %d, %s: done %v (%v), want %v", number, step.name, isDone, err, step.isDone)
		}
	}

	long := entryAt(noon)
	long.Name = strings.Repeat("é", 300)
	long.Address = strings.Repeat("1", 99)
	long.Detail = strings.Repeat("😀", 1000)
	long.Subject = "long"
	bob := account.User{ID: "2", Name: "Bob", Role: role, Added: noon, Saved: noon}
	if err := b.AddUser(ctx, bob, long); err != nil {
		t.Errorf("adding a user with an entry that is too long: %v", err)
	}

	expectTrail(t, store, nil, "long", "step 9", "step 7", "step 6", "step 1")
	firstSteps := query.Members{
		executortest.Member("SubjectStartsWith", "STEP"),
		executortest.Member("AddedDateTimeLessThan", "2030-01-02T12:00:07"),
		executortest.Member("OrderBy", "AddedDateTime"),
	}
	expectTrail(t, store, firstSteps, "step 1", "step 6")
	page := query.Members{
		executortest.Member("UserName", "TESTER"),
		executortest.Member("Take", "1"),
		executortest.Member("Skip", "1"),
	}
	expectTrail(t, store, page, "step 7")
}

// expectTrail compares the subjects of the entries that a query returns.
func expectTrail(t *testing.T, store *storage.Store, members query.Members, want ...string) {
	t.Helper()
	kind, ok := record.System().Lookup("WH_Audit")
	if !ok {
		t.Fatal("the kind WH_Audit is missing")
	}
	rows, _ := executortest.Run(t, store, kind,
		append(members, executortest.Member("Fields", "Subject")))
	for i := range rows {
		rows[i] = strings.Trim(rows[i], `";`)
	}
	if !slices.Equal(rows, want) {
		t.Errorf("%v: got %q, want %q", members, rows, want)
	}
}

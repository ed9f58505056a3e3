package daemon_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// timedKinds are two kinds of one view.
const timedKinds = `[Left]
source = "ItemView"
key = ["No"]
capture = "always"
events = "debtor"
[Left.fields]
No = "int"
Name = "string?"

[Right]
source = "ItemView"
key = ["No"]
capture = "always"
[Right.fields]
No = "int"
Name = "string?"
`

const timedView = "CREATE VIEW ItemView AS SELECT No, Name FROM Items"

var timedTable = []string{
	"CREATE TABLE Items (No int NOT NULL PRIMARY KEY, Name nvarchar(60) NULL)",
	timedView,
}

// insertItems returns statements that insert rows with numbers from first, up to last.
func insertItems(first, last int) (statements []string) {
	for ; first <= last; first += 500 {
		var values []string
		for no := first; no <= min(last, first+499); no++ {
			values = append(values, fmt.Sprintf("(%d, N'item %d')", no, no))
		}
		statements = append(statements, "INSERT INTO Items VALUES "+strings.Join(values, ", "))
	}
	return statements
}

// command runs a command of whd on the data directory.
func (s *captureStory) command(args ...string) {
	s.t.Helper()
	var out bytes.Buffer
	status := whd.Main(whd.Process{
		Args:   append(args, "--data-dir", s.dir),
		Stdin:  strings.NewReader(""),
		Stdout: &out,
		Stderr: &out,
	})
	if status != 0 {
		s.t.Fatalf("whd %q: status %d, %s", args, status, &out)
	}
}

// gone checks that the changes since a token are not known.
func (s *captureStory) gone(when, kind, token string) {
	s.t.Helper()
	list, _, err := s.changes(kind, token)
	if !client.Is(err, client.ResyncRequired) {
		s.t.Errorf("%s: got the changes %+v (%v), want the error ResyncRequired", when, list, err)
	}
}

// TestOwnStoreRolledBack restores an older backup: tokens that the service has given out
// since are refused, also when there are as many changes again.
func TestOwnStoreRolledBack(t *testing.T) {
	onBothERPs(t, func(s *captureStory) {
		s.exec(append(timedTable, insertItems(1, 3)...)...)
		s.start(timedKinds)
		s.capturing("Left")
		first := s.now("Left")
		s.exec(insertItems(4, 5)...)
		s.awaitChanges("Left", 2)
		file := filepath.Join(t.TempDir(), "backup")
		s.command("backup", file)
		s.exec(insertItems(6, 7)...)
		s.awaitChanges("Left", 4)
		future := s.now("Left")
		if _, _, err := s.changes("Left", first); err != nil {
			t.Error(err)
		}
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}

		s.command("restore", "--force", file)
		restored := time.Now()
		s.start("")
		s.gone("before the first look", "Left", future)
		s.until("Left", "looked at again", func(c wire.Capture) bool { return time.Time(c.Swept).After(restored) })
		s.gone("after the restore", "Left", future)
		now := s.now("Left")
		s.exec(insertItems(8, 13)...)
		s.until("Left", "published", func(wire.Capture) bool {
			list, _, err := s.changes("Left", now)
			if err != nil {
				t.Fatal(err)
			}
			return len(list) == 6
		})
		s.gone("with as many changes", "Left", future)
	})
}

// TestAnotherERPDatabase replaces the database by one of the same name with fewer rows.
func TestAnotherERPDatabase(t *testing.T) {
	onBothERPs(t, func(s *captureStory) {
		s.exec(append(timedTable, insertItems(1, 5)...)...)
		s.start(timedKinds)
		s.capturing("Left", "Right")
		left, right := s.now("Left"), s.now("Right")
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		s.replaceERP()
		s.exec(append(timedTable, insertItems(1, 2)...)...)
		for range 2 {
			s.start("") // it remains stopped
			s.stopped("Left", "the database is another one than before")
			s.stopped("Right", "the database is another one than before")
			s.expect(0, "Left", "Right")
		}
		s.resumeBoth(left, right, 3)
	})
}

// replaceERP replaces the ERP's database by an empty one.
func (s *captureStory) replaceERP() {
	s.t.Helper()
	if s.erp == "" {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			err := os.Remove(filepath.Join(s.dir, "records.db"+suffix))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				s.t.Fatal(err)
			}
		}
		s.exec("CREATE TABLE Ticks (N INTEGER)", "INSERT INTO Ticks VALUES (0)")
		return
	}
	u, err := url.Parse(s.erp)
	if err != nil {
		s.t.Fatal(err)
	}
	mssqltest.Recreate(s.t, u.Query().Get("database"))
}

// resumeBoth resumes the kind Left, which publishes a number of deletions, and Right silently.
func (s *captureStory) resumeBoth(left, right string, deletions int) {
	s.t.Helper()
	ctx := s.t.Context()
	resume := func(kind, mode string) {
		s.t.Helper()
		s.until(kind, "resumed", func(wire.Capture) bool {
			err := s.admin.ResumeCaptureWith(ctx, kind, wire.ResumeRequest{Mode: mode})
			if err == nil {
				return true
			}
			// The error until the daemon has read the state.
			if !strings.Contains(err.Error(), "does not capture "+kind+" now") {
				s.t.Fatal(err)
			}
			return false
		})
	}
	resume("Left", wire.ResumePublish)
	s.awaitChanges("Left", int64(deletions))
	if c := s.capture("Right"); c.Phase != "stopped" || c.Kept != 0 {
		s.t.Errorf("Right was resumed with Left: %+v", c)
	}

	resume("Right", wire.ResumeSilent)
	s.capturing("Left", "Right")
	s.sweeps(1, "Left", "Right")
	s.expect(int64(deletions), "Left")
	s.expect(0, "Right")
	list, _, err := s.changes("Left", left)
	if err != nil || len(list) != deletions {
		s.t.Errorf("changes of Left: got %+v (%v), want %d deletions", list, err, deletions)
	}

	for _, c := range list {
		if c.Op != wire.OpDeleted {
			s.t.Errorf("%+v is no deletion", c)
		}
	}

	s.gone("after a silent resumption", "Right", right)
	err = s.admin.ResumeCaptureWith(ctx, "Right", wire.ResumeRequest{Mode: wire.ResumeSilent})
	if err == nil || !strings.Contains(err.Error(), "is not stopped") {
		s.t.Errorf("resumed twice: %v", err)
	}
}

// TestSourceReplacedByAnEmptyView replaces the view of two kinds by an empty one.
func TestSourceReplacedByAnEmptyView(t *testing.T) {
	onBothERPs(t, func(s *captureStory) {
		s.exec(append(timedTable, insertItems(1, 5)...)...)
		s.start(timedKinds)
		s.capturing("Left", "Right")
		left, right := s.now("Left"), s.now("Right")
		s.exec("DROP VIEW ItemView", timedView+" WHERE 1 = 0")
		for _, kind := range []string{"Left", "Right"} {
			s.stopped(kind, kind+" reads as empty, although it had 5 rows")
		}
		s.start("") // it remains stopped
		for _, kind := range []string{"Left", "Right"} {
			s.stopped(kind, "reads as empty")
		}
		s.expect(0, "Left", "Right")
		s.resumeBoth(left, right, 5)
	})
}

// TestLegitimateBulkUpdate updates all rows: every event is delivered, although the sweep
// that finds them is repeated.
func TestLegitimateBulkUpdate(t *testing.T) {
	const rows = 1500
	onBothERPs(t, func(s *captureStory) {
		s.exec(append(timedTable, insertItems(1, rows)...)...)
		s.start(timedKinds)
		to, got := receiver(t, 200)
		shop, err := s.admin.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: pointer("Shop")})
		if err == nil {
			_, err = s.admin.AddSubscription(t.Context(), shop.RecID, wire.SubscriptionRequest{
				URL:       &to,
				EventName: pointer("debtor.updated"),
			})
		}
		if err != nil {
			t.Fatal(err)
		}

		s.capturing("Left", "Right")
		s.exec("UPDATE Items SET Name = N'more expensive'")
		seen := make(map[string]bool)
		for len(seen) < rows {
			d := await(t, got)
			_, key, _ := strings.Cut(d.body, `"Key":"`)
			key, _, _ = strings.Cut(key, `"`)
			if seen[key] || !strings.Contains(d.body, `"Name":"more expensive"`) {
				t.Fatalf("repeated or wrong: %s", d.body)
			}
			seen[key] = true
		}

		s.Log.Await(t, "a sweep has found many differences and is repeated", "Left")
		s.awaitChanges("Right", rows)
		s.sweeps(1, "Left", "Right")
		s.expect(rows, "Left", "Right")
	})
}

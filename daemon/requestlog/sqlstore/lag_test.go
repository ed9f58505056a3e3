package sqlstore

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/sqlite"
)

// TestLagEndsAtOldLatestTime checks that rows have a stored lag only until the clock is as late as
// before it was set back, although the service restarts often, and that times are not found through
// IDs before the rows with the lag are deleted.
func TestLagEndsAtOldLatestTime(t *testing.T) {
	l := newRestartedLog(t)
	for second := range 40 {
		l.add(time.Duration(second) * time.Second)
	}
	for second := range 60 { // set back by 30 seconds
		l.add(time.Duration(10+second) * time.Second)
	}
	const want = 40 + 29 // at second 38
	if got := l.queryInt("SELECT MAX(LastId) FROM WH_RequestLogLag"); got != want {
		t.Errorf("the last ID with a lag is %d, want %d", got, want)
	}
	if lag := l.lag(); lag < 29*time.Second || lag > 64*time.Second {
		t.Errorf("the lag is %v, want about 30s", lag)
	}
	l.prune(listStart.Add(40 * time.Second))
	l.add(time.Hour)
	if lag := l.lag(); lag != minLag {
		t.Errorf("without the rows that have a lag, it is %v, want %v", lag, minLag)
	}
}

// TestLagOfDeletedRow checks that rows have no lag behind a row that is deleted: once those that
// were added before the deletion are deleted as well, times are found through IDs again.
func TestLagOfDeletedRow(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		l := newRestartedLog(t)
		l.keepsOpen = !restarts
		l.add(365 * 24 * time.Hour)
		for second := range 10 {
			l.add(time.Duration(second) * time.Second)
		}
		if lag := l.lag(); lag != maxLag {
			t.Errorf("restarts %t: behind a row of the next year the lag is %v, want %v", restarts, lag, maxLag)
		}
		l.deleteFirst(2) // the lag is stored by batches, here with the second row
		for second := range 10 {
			l.add(time.Duration(10+second) * time.Second)
		}
		const want = 11 // the last row before the deletion
		if got := l.queryInt("SELECT MAX(LastId) FROM WH_RequestLogLag"); got != want {
			t.Errorf("restarts %t: the last ID with a lag is %d, want %d", restarts, got, want)
		}
		l.deleteFirst(10)
		if lag := l.lag(); lag != minLag {
			t.Errorf("restarts %t: the lag is %v, want %v", restarts, lag, minLag)
		}
	}
}

// restartedLog is a log that is opened again before each entry, unless keepsOpen is set.
type restartedLog struct {
	t         *testing.T
	file      *File
	keepsOpen bool
}

func newRestartedLog(t *testing.T) *restartedLog {
	t.Helper()
	return &restartedLog{t: t, file: openLog(t, filepath.Join(t.TempDir(), appdb.LogFileName))}
}

// add adds an entry at a time after listStart.
func (l *restartedLog) add(after time.Duration) {
	l.t.Helper()
	if !l.keepsOpen {
		if err := l.file.Close(); err != nil {
			l.t.Fatal(err)
		}
		l.file = openLog(l.t, l.file.path)
	}
	entry := requestlog.Entry{At: listStart.Add(after)}
	appendEntries(l.t, l.file, []requestlog.Entry{entry})
}

// prune deletes the rows before a time.
func (l *restartedLog) prune(before time.Time) {
	l.t.Helper()
	if _, err := l.file.Prune(l.t.Context(), before, 0); err != nil {
		l.t.Fatal(err)
	}
}

// deleteFirst deletes the first rows, as Prune does if the log is too large.
func (l *restartedLog) deleteFirst(rows int64) {
	l.t.Helper()
	err := l.file.write(l.t.Context(), func(conn *sqlite.Conn) error {
		d, err := newDeletions(conn, &l.file.anonymous)
		if err != nil {
			return err
		}
		if _, _, err := d.remove(deleteOldest, rows); err != nil {
			return err
		}
		if err := d.missing.store(conn); err != nil {
			return err
		}
		return l.file.lags.forget(conn)
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *restartedLog) queryInt(statement string) (n int64) {
	l.t.Helper()
	err := l.file.read(l.t.Context(), func(conn *sqlite.Conn) (err error) {
		n, _, err = conn.QueryInt(statement)
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return n
}

// lag returns the greatest lag of the rows.
func (l *restartedLog) lag() (lag time.Duration) {
	l.t.Helper()
	err := l.file.read(l.t.Context(), func(conn *sqlite.Conn) (err error) {
		lag, err = lagOf(conn)
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return lag
}

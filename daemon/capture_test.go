package daemon_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// captureStory is a daemon that captures the changes of tables, which are in an embedded file
// or on a server.
type captureStory struct {
	*daemontest.Instance
	t     *testing.T
	dir   string
	erp   string // connection string of the server, empty for the file
	args  []string
	admin *client.Client
	kinds *record.Registry
}

// onBothERPs runs a story with both kinds of databases of the ERP.
func onBothERPs(t *testing.T, story func(*captureStory)) {
	t.Parallel() // stories wait most of the time
	t.Run("file", func(t *testing.T) { story(newCaptureStory(t, "")) })
	t.Run("server", func(t *testing.T) { story(newCaptureStory(t, mssqltest.Database(t))) })
}

func newCaptureStory(t *testing.T, erp string, args ...string) *captureStory {
	s := &captureStory{t: t, dir: t.TempDir(), erp: erp}
	s.args = append([]string{
		"--erp", "demo",
		"--erp-kinds", filepath.Join(s.dir, "kinds"),
		"--changes-sweep", "1s",
		"--changes-share", "1",
		"--webhooks-allow-targets", "127.0.0.0/8",
	}, args...)
	if erp != "" {
		s.args[1] = erp
	} else {
		s.exec("CREATE TABLE Ticks (N INTEGER)", "INSERT INTO Ticks VALUES (0)")
	}
	return s
}

// fileTypes are the types in the embedded file for those on a server.
var fileTypes = strings.NewReplacer("decimal(18,2)", "TEXT_DECIMAL", "nvarchar(60)", "TEXT", "uniqueidentifier", "TEXT", "datetime2", "TEXT", "N'", "'",
	"COLLATE Latin1_General_CS_AS", "", "SYSDATETIME()", "strftime('%Y-%m-%dT%H:%M:%f0000', 'now')")

// exec executes statements in the ERP's database.
func (s *captureStory) exec(statements ...string) {
	s.t.Helper()
	if s.erp != "" {
		mssqltest.Exec(s.t, s.erp, statements...)
		return
	}
	for _, statement := range statements {
		makeRecords(s.t, s.dir, fileTypes.Replace(statement))
	}
}

// start starts the daemon, again after the first time, with other kinds unless they are empty.
func (s *captureStory) start(kinds string) {
	s.t.Helper()
	if s.Instance != nil {
		if err := s.Stop(); err != nil {
			s.t.Fatal(err)
		}
	}
	if kinds != "" {
		writeKinds(s.t, filepath.Join(s.dir, "kinds"), "story", kinds)
	}
	s.Instance = daemontest.StartIn(s.t, s.dir, s.args...)
	s.admin = signedIn(s.t, s.Instance)
	var err error
	if s.kinds, err = s.admin.Kinds(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// capture returns the state of the capture of a kind.
func (s *captureStory) capture(kind string) wire.Capture {
	s.t.Helper()
	all, err := s.admin.Captures(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, c := range all {
		if c.Kind == kind {
			return c
		}
	}
	return wire.Capture{Kind: kind}
}

// until waits until the capture of a kind is in a state.
func (s *captureStory) until(kind, goal string, isReached func(wire.Capture) bool) wire.Capture {
	s.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(5 * time.Minute)
	for {
		c := s.capture(kind)
		if isReached(c) {
			return c
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s: not %s: %+v", kind, goal, c)
		}
		<-tick.C
	}
}

// capturing waits until the first looks at kinds have ended.
func (s *captureStory) capturing(kinds ...string) {
	s.t.Helper()
	for _, kind := range kinds {
		s.until(kind, "capturing", func(c wire.Capture) bool {
			return c.Phase == "capturing" &&
				!time.Time(c.Swept).IsZero()
		})
	}
}

// stopped waits until the capture of a kind has stopped with a reason.
func (s *captureStory) stopped(kind, reason string) {
	s.t.Helper()
	c := s.until(kind, "stopped", func(c wire.Capture) bool { return c.Phase == "stopped" })
	if !strings.Contains(c.Reason, reason) {
		s.t.Errorf("%s has stopped with %q, want %q", kind, c.Reason, reason)
	}
}

// awaitChanges waits until at least n changes of a kind exist.
func (s *captureStory) awaitChanges(kind string, n int64) {
	s.t.Helper()
	s.until(kind, "published", func(c wire.Capture) bool { return c.Kept >= n })
}

// sweeps waits for sweeps that start from now on. A file is swept only if it has changed.
func (s *captureStory) sweeps(n int, kinds ...string) {
	s.t.Helper()
	for range n + 1 { // the first one may have started before
		before := make(map[string]wire.Timestamp)
		for _, kind := range kinds {
			before[kind] = s.capture(kind).Swept
		}
		if s.erp == "" {
			s.exec("UPDATE Ticks SET N = N + 1")
		}
		for _, kind := range kinds {
			s.until(kind, "swept", func(c wire.Capture) bool { return !time.Time(c.Swept).Equal(time.Time(before[kind])) })
		}
	}
}

// expect compares the number of all changes of kinds.
func (s *captureStory) expect(changes int64, kinds ...string) {
	s.t.Helper()
	for _, kind := range kinds {
		if c := s.capture(kind); c.Kept != changes {
			s.t.Errorf("%s: %d changes, want %d: %+v", kind, c.Kept, changes, c)
		}
	}
}

// changes returns the changes of a kind since a token, and the token after them.
func (s *captureStory) changes(kind, since string) (list []wire.Change, next string, err error) {
	s.t.Helper()
	k, known := s.kinds.Lookup(kind)
	if !known {
		s.t.Fatalf("no kind %s", kind)
	}
	p, err := s.admin.Changes(s.t.Context(), k, since, 0, 0)
	if err != nil {
		return nil, "", err
	}
	return p.Changes, p.Next, nil
}

// now returns the token of the present.
func (s *captureStory) now(kind string) string {
	s.t.Helper()
	_, next, err := s.changes(kind, "")
	if err != nil {
		s.t.Fatal(err)
	}
	return next
}

//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// source is a real service that captures the kind Item of its records, which the test changes.
type source struct {
	t       *testing.T
	dir     string
	service *daemontest.Instance
	records *sqlite.Conn
	random  *rand.Rand
	serial  int // number of changes so far
}

const itemKind = `[Item]
source = "Items"
summary = "Items"
area = "Stock"
key = ["ID"]
capture = "asked"
%s
[Item.fields]
ID = "string"
Amount = "int?"
Price = "decimal?"
`

// startSource starts the service with some records.
func startSource(t *testing.T) *source {
	s := &source{t: t, dir: t.TempDir(), random: rand.New(rand.NewPCG(3, 4))}
	var err error
	s.records, err = sqlite.Open(filepath.Join(s.dir, "records.db"), sqlite.Options{BusyTimeout: testTimeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.records.Close() })
	s.exec("CREATE TABLE Items (ID TEXT PRIMARY KEY, Amount INTEGER, Price TEXT, Colour TEXT)")
	s.exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 7000) " +
		"INSERT INTO Items SELECT 'I' || i, i, i || '.50', 'c' || i FROM n")
	s.kinds("")
	s.start()
	return s
}

// start starts the service.
func (s *source) start() {
	s.service = daemontest.StartIn(s.t, s.dir,
		"--erp", "demo", "--erp-kinds", filepath.Join(s.dir, "item.toml"),
		"--changes-sweep", "1s", "--changes-share", "1")
}

// stop stops the service.
func (s *source) stop() {
	s.t.Helper()
	if err := s.service.Stop(); err != nil {
		s.t.Fatal(err)
	}
}

// kinds writes the file of the kind with other members and further fields.
func (s *source) kinds(members string, fields ...string) {
	s.t.Helper()
	text := fmt.Sprintf(itemKind, members) + strings.Join(fields, "\n")
	if err := os.WriteFile(filepath.Join(s.dir, "item.toml"), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *source) exec(statement string) {
	s.t.Helper()
	if err := s.records.Exec(statement); err != nil {
		s.t.Fatal(err)
	}
}

// alter changes some records, at least one.
func (s *source) alter() {
	s.t.Helper()
	s.exec("BEGIN IMMEDIATE")
	defer s.exec("COMMIT")
	for range 1 + s.random.IntN(20) {
		s.serial++
		id := fmt.Sprintf("'I%d'", 1+s.random.IntN(7000))
		switch s.random.IntN(5) {
		case 0:
			s.exec("DELETE FROM Items WHERE ID = " + id)
		case 1:
			s.exec(fmt.Sprintf("INSERT OR REPLACE INTO Items VALUES (%s, %d, NULL, 'new')", id, s.serial))
		case 2: // another key
			s.exec(fmt.Sprintf("UPDATE Items SET ID = 'K%d' WHERE ID = %s", s.serial, id))
		default:
			s.exec(fmt.Sprintf("UPDATE Items SET Amount = %d, Price = '%d.25' WHERE ID = %s", s.serial, s.serial, id))
		}
	}
	s.serial++ // the records above may be missing
	s.exec(fmt.Sprintf("UPDATE Items SET Amount = %d WHERE ID = (SELECT min(ID) FROM Items)", s.serial))
}

// rows returns the rows of a table, by key.
func (s *source) rows(conn *sqlite.Conn) map[string]string {
	s.t.Helper()
	table := "Item" // of the copy
	if conn == s.records {
		table = "Items"
	}
	rows := make(map[string]string)
	err := conn.Query("SELECT ID, Amount, Price FROM "+table, func(st *sqlite.Stmt) error {
		rows[st.Text(0)] = st.Text(1) + " " + st.Text(2)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return rows
}

// whctl returns a process as the administrator.
func (s *source) whctl(args ...string) *exec.Cmd {
	return adminProcess(s.t, s.service.URL, args...)
}

// mirror brings a copy up to date and returns the output of whctl.
func (s *source) mirror(path string) string {
	s.t.Helper()
	out, err := s.whctl("mirror", "Item", "--to", path, "--once").CombinedOutput()
	if err != nil {
		s.t.Fatalf("whctl mirror: %v\n%s", err, out)
	}
	return string(out)
}

// currentAt returns the time until which a copy has all changes.
func (s *source) currentAt(path string) (current string) {
	s.t.Helper()
	conn, err := sqlite.Open(path, sqlite.Options{Existing: true})
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	err = conn.Query("SELECT current_at FROM _whd_mirror", func(st *sqlite.Stmt) error {
		current = st.Text(0)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return current
}

// expect waits until the copy is equal to the records, which no longer change, and whctl has
// printed some text.
func (s *source) expect(when, path, text string) {
	s.t.Helper()
	want := s.rows(s.records)
	printed := ""
	deadline := time.Now().Add(testTimeout)
	for {
		printed += s.mirror(path)
		conn, err := sqlite.Open(path, sqlite.Options{Existing: true})
		if err != nil {
			s.t.Fatal(err)
		}
		got := s.rows(conn)
		conn.Close()
		if maps.Equal(got, want) && strings.Contains(printed, text) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s: got a copy of %d rows, want those of %d records and %q\n%s",
				when, len(got), len(want), text, printed)
		}
		time.Sleep(100 * time.Millisecond) // changes are captured every second
	}
}

// TestMirrorOfService checks that whctl mirror keeps a copy of a real service while records change
// and it is killed, and loads it again whenever its changes are not available or its fields are
// others.
//
// It is not parallel: a process that starts inherits the lock of the data directory for a moment.
func TestMirrorOfService(t *testing.T) {
	s := startSource(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	for range 6 {
		s.mirrorUntilKilled(path)
	}
	s.expect("after kills", path, "")

	s.stopCapture(path)
	s.expect("after a silent resumption", path, "Item is loaded again: ResyncRequired: ")

	s.restoreStore(path)
	s.expect("after a restore", path, "Item is loaded again: ResyncRequired: ")

	// A field is added, then one is not captured any more.
	for _, tt := range []struct{ members, loaded string }{
		{loaded: " rows\n"},
		{members: `capture_fields = ["Amount", "Price"]`, loaded: ", without Colour"},
	} {
		s.kinds(tt.members, `Colour = "string?"`)
		s.service.Set(t, "log.level", "info")
		s.alter()
		s.expect("after a change of fields", path, "Item is loaded again: its fields have changed")
		out := s.mirror(filepath.Join(t.TempDir(), "another.db"))
		if !strings.Contains(out, tt.loaded) {
			t.Errorf("whctl mirror with the members %q: got %q, want %q", tt.members, out, tt.loaded)
		}
	}
}

// mirrorUntilKilled runs whctl mirror while records change, and kills it after at most 1.5 s.
func (s *source) mirrorUntilKilled(path string) {
	s.t.Helper()
	cmd := s.whctl("mirror", "Item", "--to", path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	alterations := time.NewTicker(10 * time.Millisecond)
	defer alterations.Stop()
	kill := time.After(time.Duration(s.random.IntN(1500)) * time.Millisecond)
	for {
		select {
		case <-kill:
			if err := cmd.Process.Kill(); err != nil {
				s.t.Error(err)
			}
			<-ended
			return
		case err := <-ended:
			s.t.Fatalf("whctl mirror ended by itself: %v\n%s", err, &stderr)
		case <-alterations.C:
			s.alter()
		}
	}
}

// stopCapture stops the capture by the removal of all records, checks commands, and
// resumes it silently, as an administrator.
func (s *source) stopCapture(path string) {
	s.t.Helper()
	s.exec("CREATE TEMP TABLE saved AS SELECT * FROM Items")
	s.exec("DELETE FROM Items")
	s.service.Log.Await(s.t, "the capture of a kind has stopped", "kind=Item")

	newPath := filepath.Join(s.t.TempDir(), "new.db")
	out, err := s.whctl("mirror", "Item", "--to", newPath, "--once").CombinedOutput()
	want := "CaptureStopped: the capture of Item has stopped: Item reads as empty"
	if code := exitOf(s.t, err); code != 6 || !strings.Contains(string(out), want) {
		s.t.Errorf("whctl mirror without a copy: got exit code %d and %q, want 6 and %q",
			code, out, want)
	}

	stopped := time.Now().UTC().Format(time.RFC3339)
	s.mirror(path)
	time.Sleep(1100 * time.Millisecond) // to a later second
	s.mirror(path)
	if current := s.currentAt(path); current > stopped {
		s.t.Errorf("the copy is current at %s, although the capture stopped at %s", current, stopped)
	}

	s.exec("INSERT INTO Items SELECT * FROM saved")
	s.alter()
	out, err = s.whctl("changes", "resume", "Item", "--silent", "--yes").CombinedOutput()
	if err != nil {
		s.t.Fatalf("whctl changes resume: %v\n%s", err, out)
	}
}

// restoreStore restores the service's own store after the copy has later changes.
func (s *source) restoreStore(path string) {
	s.t.Helper()
	saved := s.t.TempDir()
	s.stop()
	copyFiles(s.t, s.dir, saved)
	s.start()
	s.alter()
	s.expect("before a restore", path, "")
	s.stop()
	copyFiles(s.t, saved, s.dir)
	s.start()
	s.alter()
}

// copyFiles copies the service's own store.
func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	for _, name := range []string{"whd.db", "shadow.db"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestServiceAwayAtStart starts whctl follow and whctl mirror before the service can be
// reached: they wait, also for a kind that only the service knows. See TestMirrorOfService for why
// it is not parallel.
func TestServiceAwayAtStart(t *testing.T) {
	s := startSource(t)
	target, err := url.Parse(s.service.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"follow", "Item", "--once"},
		{"mirror", "Item", "--once", "--to", filepath.Join(t.TempDir(), "copy.db")},
	} {
		t.Run(args[0], func(t *testing.T) {
			address := fmt.Sprintf("127.0.0.1:%d", daemontest.FreePort(t))
			cmd := adminProcess(t, "http://"+address, args...)
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(stderr)
			line, err := lines.ReadString('\n')
			hasReason := strings.Contains(line, "cannot reach http://"+address)
			if err != nil || !hasReason || !strings.Contains(line, "; retrying in ") {
				t.Fatalf("got %q, error %v; want the reason and that it tries again", line, err)
			}

			listener, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			server := &http.Server{Handler: httputil.NewSingleHostReverseProxy(target)}
			go server.Serve(listener)
			remainder, err := io.ReadAll(lines)
			if err := errors.Join(err, cmd.Wait(), server.Close()); err != nil {
				t.Errorf("after the service has started: %v\n%s%s", err, line, remainder)
			}
		})
	}
}

// TestUntrustedServiceAtStart checks that whctl does not wait for a service with a
// certificate that is not trusted.
func TestUntrustedServiceAtStart(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	out, err := process(t, server.URL, "follow", "SO_Totals").CombinedOutput()
	if code := exitOf(t, err); code != 3 || !strings.Contains(string(out), "certificate") {
		t.Errorf("whctl follow: got exit code %d and %q, want 3 and the reason", code, out)
	}
}

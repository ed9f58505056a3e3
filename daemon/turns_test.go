package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// turns reloads versions of the kind Turn while requests run. The names of a version's
// fields, such as F7_2, have its number and that of the column, and so have the values of
// the column: a response shows which registry it is from.
type turns struct {
	*serving
	written  atomic.Int64 // the last version in the files
	inEffect atomic.Int64 // the last version that has been reloaded
	begun    atomic.Int64 // requests
	done     atomic.Int64
	failed   atomic.Pointer[string]
	stop     chan struct{}
}

const (
	turnRowCount = 20_000 // of 600 bytes each: more than the buffers of a connection hold
	turnColumns  = 6
	turnFields   = 3
)

// Requests have no time limits here, so that the speed of the machine does not matter.
const turnSettings = "[auth]\nqueries = 'anonymous'\n[query]\ntimeout = '0s'\n[http]\nmax_requests = 48\nwrite_stall = '20m'\n"

var turnRows = []string{
	`CREATE TABLE Turns (C0 TEXT, C1 TEXT, C2 TEXT, C3 TEXT, C4 TEXT, C5 TEXT)`,
	fmt.Sprintf(`WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < %d), t(x) AS (SELECT 'x' || hex(zeroblob(100)) || n FROM r)
		INSERT INTO Turns SELECT '0' || x, '1' || x, '2' || x, '3' || x, '4' || x, '5' || x FROM t`, turnRowCount),
}

var (
	turnField = regexp.MustCompile(`\bF(\d+)_(\d)\b`)
	turnValue = regexp.MustCompile(`"F\d+_(\d)":"(\d)x`)
)

func newTurns(s *serving) *turns { return &turns{serving: s, stop: make(chan struct{})} }

func (s *turns) run(t *testing.T) {
	s.reload(t)
	var running sync.WaitGroup
	for _, path := range []string{
		"/Queries/Turn.csv?Take=50",
		"/Queries/Turn.csv",
		"/Queries/Turn.json?Take=50&Skip=9",
		"/Queries/Turn.html?Take=9",
		"/openapi.json",
		"/types/typescript",
		"/metadata?op=TurnQuery&format=json",
		"/Queries/Parcel.json",
		"/Queries/IN_Colours.csv",
	} {
		running.Go(func() { s.repeat(path) })
	}

	var exports []*heldExport
	for range 5 {
		if len(exports) < 4 {
			exports = append(exports, s.export(t))
		}
		s.reload(t)
		s.refuse(t)
		s.awaitRequests(15)
	}

	close(s.stop)
	running.Wait()
	http.DefaultClient.CloseIdleConnections()
	if n := concurrentRequests(t, s.url); n <= len(exports) {
		t.Errorf("%d requests in work: the exports have ended", n)
	}

	for _, e := range exports {
		e.end(t)
	}

	if failure := s.failed.Load(); failure != nil {
		t.Errorf("of %d requests failed: %s", s.begun.Load(), *failure)
	}

	t.Logf("%d requests", s.begun.Load())
}

// awaitRequests waits until a number of requests have been made, or one has failed.
func (s *turns) awaitRequests(n int64) {
	end := s.done.Load() + n
	for s.done.Load() < end && s.failed.Load() == nil {
		time.Sleep(time.Millisecond)
	}
}

// kind returns a file with a version of the kind.
func (s *turns) kind(version int64) string {
	text := fmt.Sprintf("[Turn]\nsource = 'Turns'\n[SO_Totals.fields]\nAgain%d = 'string'\n[Turn.fields]\n", version)
	for i := range int64(turnFields) {
		column := (version + i) % turnColumns
		text += fmt.Sprintf("F%d_%d = { type = 'string', column = 'C%d' }\n", version, column, column)
	}
	return text
}

// reload puts the next version into effect, each second time with a kind that has a mistake.
func (s *turns) reload(t *testing.T) {
	t.Helper()
	version := s.written.Add(1)
	writeKinds(t, filepath.Join(s.dir, "kinds"), "turns", s.kind(version))
	wrong := ""
	if version%2 == 0 {
		wrong = fmt.Sprintf("[Wrong.fields]\nX%d = 'strng'\n", version)
	}
	writeKinds(t, filepath.Join(s.dir, "kinds"), "wrong", wrong)
	s.reloads <- syscall.SIGHUP
	columns := ""
	for !strings.HasPrefix(columns, fmt.Sprintf("F%d_", version)) {
		_, columns = get(t, s.url+"/Queries/Turn.csv?Take=1")
	}
	if wrong != "" {
		s.log.Await(t, "level=WARN", fmt.Sprintf("wrong.toml:2: X%d: unknown type", version))
	}
	s.inEffect.Store(version)
}

// refuse reloads files that change nothing: a wrong settings file, or only kinds with mistakes.
func (s *turns) refuse(t *testing.T) {
	t.Helper()
	version := s.inEffect.Load()
	dir := filepath.Join(s.dir, "kinds")
	mistake := fmt.Sprintf("Never%d", version)
	reported := "turns.toml:2"
	if version%2 == 0 {
		reported = "unknown key"
		s.write(t, turnSettings+mistake+" = 1\n")
		writeKinds(t, dir, "turns", s.kind(version+1000))
	} else {
		writeKinds(t, dir, "turns", "[Turn.fields]\n"+mistake+" = 'strng'\n")
		writeKinds(t, dir, "parcels", "[Parcel.fields]\n"+mistake+" = 'strng'\n")
	}
	s.reloads <- syscall.SIGHUP
	s.log.Await(t, mistake, reported)
	s.write(t, turnSettings)
	writeKinds(t, dir, "parcels", parcelKind)
	_, columns := get(t, s.url+"/Queries/Turn.csv?Take=1")
	if !strings.HasPrefix(columns, fmt.Sprintf("F%d_", version)) {
		t.Errorf("version %d is replaced by a wrong file: %s", version, columns)
	}
}

// repeat sends a request until the end or a failure.
func (s *turns) repeat(path string) {
	for {
		select {
		case <-s.stop:
			return
		default:
		}
		s.begun.Add(1)
		if err := s.request(path); err != nil {
			text := path + ": " + err.Error()
			s.failed.CompareAndSwap(nil, &text)
			return
		}
		s.done.Add(1)
	}
}

func (s *turns) request(path string) error {
	from := s.inEffect.Load()
	reply, err := http.Get(s.url + path)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	to := s.written.Load()
	switch {
	case err != nil || reply.StatusCode != http.StatusOK:
		return fmt.Errorf("%s, %v: %.500s", reply.Status, err, body)
	case strings.HasPrefix(path, "/Queries/Turn.csv"):
		return checkTurn(string(body), from, to)
	case !strings.Contains(path, "Parcel") && !strings.Contains(path, "Colours"):
		return checkTurnNames(string(body), from, to)
	}
	return nil
}

// checkTurnNames checks that all fields in a text are those of one version, from..to, and
// that the values in JSON are of their columns.
func checkTurnNames(text string, from, to int64) error {
	names := turnField.FindAllStringSubmatch(text, -1)
	columns := make(map[string]bool)
	for _, name := range names {
		version, err := strconv.ParseInt(name[1], 10, 64)
		if err != nil || version < from || version > to || name[1] != names[0][1] {
			return fmt.Errorf("%s and %s, versions %d to %d", name[0], names[0][0], from, to)
		}
		columns[name[2]] = true
	}
	if len(columns) != turnFields {
		return fmt.Errorf("columns %v", columns)
	}
	for _, value := range turnValue.FindAllStringSubmatch(text, -1) {
		if value[1] != value[2] {
			return fmt.Errorf("the value of another column: %s", value[0])
		}
	}
	return nil
}

// checkTurn checks CSV.
func checkTurn(text string, from, to int64) error {
	head, rows, _ := strings.Cut(text, "\r\n")
	if err := checkTurnNames(head, from, to); err != nil {
		return err
	}
	names := strings.Split(head, ",")
	n := 0
	for row := range strings.SplitSeq(strings.TrimSuffix(rows, "\r\n"), "\r\n") {
		values := strings.Split(row, ",")
		if len(values) != len(names) {
			return fmt.Errorf("%q has the row %q", head, row)
		}
		for i, value := range values {
			if value[0] != names[i][len(names[i])-1] {
				return fmt.Errorf("%q has the row %q", head, row)
			}
		}
		n++
	}
	if n != 1 && n != 50 && n != turnRowCount {
		return fmt.Errorf("%d rows", n)
	}
	return nil
}

// heldExport is an export of which the client has read only the first byte.
type heldExport struct {
	version int64
	reply   *http.Response
	first   [1]byte
}

// export starts an export of the version in effect.
func (s *turns) export(t *testing.T) *heldExport {
	t.Helper()
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return conn, conn.(*net.TCPConn).SetReadBuffer(64 << 10)
		},
		DisableCompression: true, // so that the buffers cannot hold the rows
	}
	request, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/Queries/Turn.csv", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Close = true
	e := &heldExport{version: s.inEffect.Load()}
	e.reply, err = transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(e.reply.Body, e.first[:]); err != nil {
		t.Fatal(err)
	}
	return e
}

// end reads the export: all rows of its version.
func (e *heldExport) end(t *testing.T) {
	rows, err := io.ReadAll(e.reply.Body)
	err = errors.Join(err, e.reply.Body.Close())
	if err == nil {
		err = checkTurn(string(e.first[:])+string(rows), e.version, e.version)
	}
	if err != nil {
		t.Errorf("the export of version %d: %v", e.version, err)
	}
}

// concurrentRequests returns the number of requests in work.
func concurrentRequests(t *testing.T, url string) (n int) {
	t.Helper()
	_, body := get(t, url+"/metrics")
	_, number, _ := strings.Cut(body, "\nwhd_http_requests_in_work ")
	if _, err := fmt.Sscan(number, &n); err != nil {
		t.Fatal(err, body)
	}
	return n
}

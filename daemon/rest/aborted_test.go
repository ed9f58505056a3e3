package rest_test

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
	"github.com/bizhook/whd/daemon/storage"
)

// startDamaged runs a daemon on records with overwritten later pages: a query
// without an order reads thousands of rows of IN_Colours before it fails.
func startDamaged(t *testing.T, args ...string) *daemontest.Instance {
	t.Helper()
	dir := t.TempDir()
	daemontest.Prepare(t, dir)
	damaged.Do(func() { damaged.file = damagedColours(t) })
	if err := os.WriteFile(filepath.Join(dir, "records.db"), damaged.file, 0o600); err != nil {
		t.Fatal(err)
	}
	return daemontest.StartIn(t, dir, args...)
}

// damaged is the file of the records of startDamaged, made by the first test that needs it.
var damaged struct {
	sync.Once
	file []byte
}

// damagedColours returns a file of records with many rows of IN_Colours, of which the second
// half is unreadable.
func damagedColours(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	fillColours(t, dir, 20000)
	file, err := os.ReadFile(filepath.Join(dir, "records.db"))
	if err != nil {
		t.Fatal(err)
	}
	const leaf = 0x0d // the type byte of a leaf page
	pageSize := int(binary.BigEndian.Uint16(file[16:]))
	pages := 0
	for at := len(file) / pageSize / 2 * pageSize; at < len(file); at += pageSize {
		if page := file[at : at+pageSize]; page[0] == leaf {
			copy(page, bytes.Repeat([]byte{0xff}, pageSize))
			pages++
		}
	}
	if pages < 100 {
		t.Fatalf("damaged %d pages, want at least 100", pages)
	}
	return file
}

// fillColours fills a new data directory with rows of IN_Colours.
func fillColours(t *testing.T, dir string, rows int) {
	t.Helper()
	daemontest.Prepare(t, dir)
	registry := record.Builtin()
	s, err := storage.Open(t.Context(), storage.Config{Dir: dir, Registry: registry, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := registry.Lookup("IN_Colours")
	_, err = s.Load(t.Context(), []*record.Kind{kind}, func(*record.Kind) iter.Seq[[]any] {
		return func(yield func([]any) bool) {
			for n := range rows {
				id := fmt.Sprintf("%06d", n)
				if !yield([]any{id, "an unused colour " + id, id, strings.Repeat("style ", 10), int64(n)}) {
					return
				}
			}
		}
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestAbortedResponseIsIncomplete(t *testing.T) {
	i := startDamaged(t)
	c := asAdmin(t, i)
	for _, format := range []string{"json", "csv", "xml", "jsv", "html", "ndjson"} {
		a, err := c.try("GET /"+format+"/reply/IN_ColoursQuery"+allRows(format), "", "Want-Digest: sha-256")
		if a.status != 200 || len(a.body) < 64<<10 || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: status %d, %d bytes, %v", format, a.status, len(a.body), err)
		}
		if a.http.Trailer.Get("X-Row-Count") != "" || a.http.Trailer.Get("X-Digest") != "" {
			t.Errorf("%s: trailers %v", format, a.http.Trailer)
		}
		checkNoInternals(t, a)
	}
	i.Log.Await(t, "level=WARN", "response aborted", "malformed")
	i.Log.Await(t, "msg=request", "path=/csv/reply/IN_ColoursQuery", "aborted=true")
	c.do("GET /json/reply/DB_ClassQuery", "").want(t, 200)
	if a := c.do("GET /metrics", ""); !strings.Contains(a.body, "whd_http_replies_aborted_total 6") {
		t.Errorf("metrics: %s", a.body)
	}
}

func TestAbortedResponseHTTP10(t *testing.T) {
	w := dial(t, startDamaged(t))
	w.send("", "GET /csv/reply/IN_ColoursQuery HTTP/1.0")
	if _, err := io.Copy(io.Discard, w.in); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the reply ends with %v, want a reset", err)
	}
}

func TestAbortedResponseHTTP10TLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	trust := daemontest.WritePair(t, cert, key, time.Now())
	i := startDamaged(t, "--tls-cert", cert, "--tls-key", key, "--auth-queries", "anonymous")
	conn, err := tls.Dial("tcp", i.Daemon.Address().String(), trust)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /csv/reply/IN_ColoursQuery HTTP/1.0\r\n\r\n")
	if n, err := io.Copy(io.Discard, conn); err == nil {
		t.Errorf("the response ends after %d bytes without an error", n)
	}
}

func TestAbortedResponseWithCurl(t *testing.T) {
	curl := clientstest.Tool(t, "curl")
	i := startDamaged(t)
	for _, version := range []string{"--http1.1", "--http1.0"} {
		cmd := exec.CommandContext(t.Context(), curl, "--silent", "--show-error", "--noproxy", "*", version,
			"--user", "admin:"+daemontest.AdminPassword, "--output", os.DevNull, i.URL+"/csv/reply/IN_ColoursQuery")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Errorf("%s ended with %v, want an exit status: %s", version, err, out)
			continue
		}
		t.Logf("%s: %v: %s", version, err, out)
	}
}

func TestErrorBeforeTheFirstByte(t *testing.T) {
	i := startDamaged(t)
	c := asAdmin(t, i)
	for _, line := range []string{
		"GET /json/reply/IN_ColoursQuery?Description=x",          // reads every row, returns none
		"GET /json/reply/IN_ColoursQuery?Take=1&OrderBy=StyleID", // sorts every row
		"GET /json/reply/IN_ColoursQuery?Take=1&Include=COUNT(StyleID)",
		"HEAD /json/reply/IN_ColoursQuery?Description=x",
	} {
		a := c.do(line, "").want(t, 503).wantHeader(t, "Retry-After", "2").wantHeader(t, "X-Row-Count", "").
			wantHeader(t, "Content-Disposition", "")
		if !strings.HasPrefix(line, "HEAD") && !strings.Contains(a.body, "the store cannot be used at the moment") {
			t.Errorf("%s: got %s, want that the store cannot be used", line, a.body)
		}
		checkNoInternals(t, a)
	}
}

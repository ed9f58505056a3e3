package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

var update = flag.Bool("update", false, "write the expected outputs anew")

// TestMain lets tests run the program as a process of its own, under the name
// whctl.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"whctl": main})
}

// trial is one run of the program inside the test.
type trial struct {
	handler  http.HandlerFunc // of the service; nil where none may be asked
	env      map[string]string
	terminal bool
	width    int
	ctx      context.Context
}

// outcome is what a run left behind.
type outcome struct {
	code           int
	stdout, stderr string
}

func (tr trial) run(t testing.TB, args ...string) outcome {
	t.Helper()
	if tr.handler == nil {
		tr.handler = func(http.ResponseWriter, *http.Request) { t.Error("the service was asked") }
	}
	server := httptest.NewServer(tr.handler)
	defer server.Close()
	env := map[string]string{envURL: server.URL}
	for name, value := range tr.env {
		env[name] = value
	}
	if tr.ctx == nil {
		tr.ctx = context.Background()
	}
	var stdout, stderr bytes.Buffer
	p := &program{
		env: func(name string) string { return env[name] }, stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr,
		terminal: terminal{is: tr.terminal, width: max(tr.width, unknownWidth)},
		registry: record.Builtin(),
		now:      func() time.Time { return time.Date(2026, 7, 8, 9, 10, 11, 0, time.UTC) },
	}
	if tr.width > 0 {
		p.terminal.width = tr.width
	}
	code := p.main(tr.ctx, args)
	return outcome{code, stdout.String(), stderr.String()}
}

// rows answers every query with these rows, as a stream or as an envelope.
func rows(total int, lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.URL.Query().Get("format") == "json" {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			fmt.Fprintf(w, `{"Offset":0,"Results":[%s],"Total":%d,"Meta":{},"ResponseStatus":{}}`, strings.Join(lines, ","), total)
			return
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.Header().Set("Trailer", wire.HeaderRowCount)
		for _, line := range lines {
			io.WriteString(w, line+"\n")
		}
		w.(http.Flusher).Flush()
		w.Header().Set(wire.HeaderRowCount, fmt.Sprint(len(lines)))
	}
}

// recording keeps the body of the last request.
func recording(body *string, then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		*body = string(text)
		then(w, r)
	}
}

func status(code int, errorCode string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"ResponseStatus":{"ErrorCode":%q,"Message":"no good","Errors":[{"FieldName":"Take","Message":"must be a number"}],"Meta":{"RequestId":"4711"}}}`, errorCode)
	}
}

// golden compares text with a file, or writes it there.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", path, got)
	}
}

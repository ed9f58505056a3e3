package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
)

// A file has the bytes that another program, such as curl, gets from the service: all of
// them in the raw formats and NDJSON, lines of CSV that end with LF, and an array of the
// lines of NDJSON in JSON. CSV is the same if the service puts a guard before formulas.
func TestFilesHaveServiceBytes(t *testing.T) {
	service := daemontest.Start(t, "--demo")
	files := make(map[string]string) // by kind
	for _, guard := range []bool{false, true} {
		service.Set(t, "csv.formula_guard", fmt.Sprint(guard))
		filled := 0
		for _, kind := range record.Builtin().Kinds() {
			csv := exported(t, service.URL, kind.Name, "csv")
			if guard {
				if csv != files[kind.Name] {
					t.Errorf("%s: %d bytes of CSV are copied, %d are made from NDJSON", kind.Name, len(files[kind.Name]), len(csv))
				}
				continue
			}
			files[kind.Name] = csv
			filled += checkBytes(t, service.URL, kind)
		}
		if !guard && filled < 10 {
			t.Errorf("only %d kinds have rows", filled)
		}
	}
}

// checkBytes compares the files of a kind in all formats with the service's replies, and
// returns 1 if there are rows.
func checkBytes(t *testing.T, url string, kind *record.Kind) (filled int) {
	want := make(map[string]string)
	for _, format := range client.Formats() {
		if format != "html" && format != "xlsx" { // they have a time
			want["raw:"+format] = fetched(t, url, kind.Name, format)
		}
	}
	want["ndjson"] = want["raw:ndjson"]
	want["json"] = "[]\n"
	if want["ndjson"] != "" {
		want["json"] = "[\n" + strings.ReplaceAll(strings.TrimSuffix(want["ndjson"], "\n"), "\n", ",\n") + "\n]\n"
		filled = 1
	}
	if !slices.ContainsFunc(kind.Fields, func(f record.Field) bool { return f.Type == record.Bool }) { // False, not false
		want["csv"] = endedByLF(want["raw:csv"])
	}
	for format, want := range want {
		if got := exported(t, url, kind.Name, format); got != want {
			t.Errorf("%s as %s: %d bytes differ from the %d of the service", kind.Name, format, len(got), len(want))
		}
	}
	return filled
}

// endedByLF returns CSV with lines that end with LF. Values in quotes keep their line ends.
func endedByLF(csv string) string {
	parts := strings.Split(csv, `"`)
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.ReplaceAll(parts[i], "\r\n", "\n")
	}
	return strings.Join(parts, `"`)
}

// exported returns a file that whctl writes.
func exported(t *testing.T, url, kind, format string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	env := map[string]string{
		profile.EnvURL:      url,
		profile.EnvUser:     "admin",
		profile.EnvPassword: daemontest.AdminPassword,
	}
	if got := (invocation{env: env}).run(t, "query", kind, "--format", format, "-o", path); got.code != 0 {
		t.Fatalf("%s as %s: %+v", kind, format, got)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fetched returns the reply to a query without whctl.
func fetched(t *testing.T, url, kind, format string) string {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url+"/Queries/"+kind+"?format="+format, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", daemontest.AdminPassword)
	r.Header.Set("Content-Type", "application/json")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("%s as %s: %s, %v", kind, format, reply.Status, err)
	}
	return string(text)
}

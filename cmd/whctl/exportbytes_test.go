package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest"
)

// A file has the bytes that another program, such as curl, gets from the service: all of
// them in the raw formats and NDJSON, lines of CSV that end with LF, and an array of the
// lines of NDJSON in JSON. CSV is the same if the service puts a guard before formulas.
func TestFilesHaveServiceBytes(t *testing.T) {
	service := daemontest.Start(t, "--demo")
	kinds := record.Builtin().Kinds()
	copied := make(map[string]string) // CSV by kind
	filled := 0                       // number of kinds with rows
	for _, kind := range kinds {
		copied[kind.Name] = exported(t, service.URL, kind.Name, "csv")
		if hasRows := checkBytes(t, service.URL, kind); hasRows {
			filled++
		}
	}
	if filled < 10 {
		t.Errorf("only %d kinds have rows, want 10 or more", filled)
	}

	// With a guard, the CSV is made from NDJSON.
	service.Set(t, "csv.formula_guard", "true")
	for _, kind := range kinds {
		if csv := exported(t, service.URL, kind.Name, "csv"); csv != copied[kind.Name] {
			t.Errorf("%s: %d bytes of CSV are copied, but %d are made from NDJSON",
				kind.Name, len(copied[kind.Name]), len(csv))
		}
	}
}

// checkBytes compares the files of a kind in all formats with the service's replies, and
// reports whether there are rows.
func checkBytes(t *testing.T, url string, kind *record.Kind) (hasRows bool) {
	t.Helper()
	want := make(map[string]string)
	for _, format := range client.Formats() {
		if format != "html" && format != "xlsx" { // these have the time of the export
			want["raw:"+format] = fetched(t, url, kind.Name, format)
		}
	}
	rows := want["raw:ndjson"]
	want["ndjson"] = rows
	want["json"] = "[]\n"
	if rows != "" {
		lines := strings.ReplaceAll(strings.TrimSuffix(rows, "\n"), "\n", ",\n")
		want["json"] = "[\n" + lines + "\n]\n"
	}
	isBool := func(f record.Field) bool { return f.Type == record.Bool }
	if !slices.ContainsFunc(kind.Fields, isBool) { // which the service writes as False
		want["csv"] = endedByLF(want["raw:csv"])
	}
	for format, want := range want {
		if got := exported(t, url, kind.Name, format); got != want {
			t.Errorf("%s as %s: got %d bytes, which differ from the %d of the service",
				kind.Name, format, len(got), len(want))
		}
	}
	return rows != ""
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
	inv := invocation{env: adminEnv(url)}
	if got := inv.run(t, "query", kind, "--format", format, "-o", path); got.code != 0 {
		t.Fatalf("whctl query %s --format %s: %v", kind, format, got)
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
	address := url + "/Queries/" + kind + "?format=" + format
	r, err := http.NewRequest(http.MethodPost, address, strings.NewReader("{}"))
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

package daemon_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/encode/encodetest"
	"github.com/bizhook/whd/daemon/kinds"
	"github.com/bizhook/whd/daemon/kinds/kindstest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// discovered starts a daemon with the kinds that are discovered in the database of
// kindstest, and returns them.
func discovered(t *testing.T, server bool) (*daemontest.Instance, []*record.Kind) {
	t.Helper()
	dir := t.TempDir()
	var settings []string
	if server {
		dsn := mssqltest.Database(t)
		kindstest.LoadServer(t, dsn, kindstest.Objects())
		settings = []string{"--erp", dsn}
	} else {
		kindstest.LoadFile(t, filepath.Join(dir, "records.db"), kindstest.Objects())
	}
	var out, errors bytes.Buffer
	args := append([]string{"kinds", "discover", "--views", "--data-dir", dir}, settings...)
	begin := time.Now()
	if status := whd.Main(whd.Process{Args: args, Stdout: &out, Stderr: &errors}); status != 0 {
		t.Fatalf("status %d: %s", status, &errors)
	}
	t.Logf("discovered in %v", time.Since(begin))
	file := filepath.Join(dir, "erp.toml")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	begin = time.Now()
	i := daemontest.StartIn(t, dir, append(settings, "--erp-kinds", file)...)
	t.Logf("started in %v", time.Since(begin))
	set := kinds.Load(file)
	return i, set.Registry().Kinds()[len(record.Kinds()):]
}

// TestDiscoveredKinds: every discovered kind returns its rows in every format, and the
// documents of all kinds are small enough.
func TestDiscoveredKinds(t *testing.T) {
	for name, server := range map[string]bool{"SQLite": false, "SQLServer": true} {
		t.Run(name, func(t *testing.T) {
			i, all := discovered(t, server)
			if len(all) < kindstest.Tables+kindstest.Views-5 {
				t.Errorf("only %d kinds", len(all))
			}
			key := i.Key(t, "reader")
			get := func(path string) []byte {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, i.URL+path, nil)
				if err != nil {
					t.Error(err)
					return nil
				}
				request.Header.Set("Authorization", "Bearer "+key)
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Error(err)
					return nil
				}
				defer response.Body.Close()
				body, err := io.ReadAll(response.Body)
				if err != nil || response.StatusCode != http.StatusOK {
					t.Errorf("%s: %s, %v: %.300s", path, response.Status, err, body)
				}
				return body
			}
			queue := make(chan *record.Kind)
			var workers sync.WaitGroup
			for range 4 {
				workers.Go(func() {
					for kind := range queue {
						for _, f := range encode.Formats() {
							path := "/api/" + kind.Operation() + "?Take=2&format=" + f.Name
							rows, err := encodetest.Rows(f.Name, get(path), kind.FieldNames())
							if err != nil || len(rows) != 2 {
								t.Errorf("%s: %d rows, %v", path, len(rows), err)
							}
						}
					}
				})
			}
			for _, kind := range all {
				queue <- kind
			}
			close(queue)
			workers.Wait()
			document := get("/openapi.json")
			if size := len(document); size > 8<<20 || !bytes.Contains(document, []byte("/SY_EveryTypeQuery")) {
				t.Errorf("openapi.json has %d bytes", size)
			}
			if types := string(get("/types/typescript")); !strings.Contains(types, "class SY_EveryTypeQuery") {
				t.Error("there is no type SY_EveryTypeQuery")
			}
		})
	}
}

package daemon_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
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

// TestDiscoveredKinds: every discovered kind returns its rows as JSON and in one other format,
// and the documents of all kinds are small enough.
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
					t.Errorf("GET %s: %s (%v), want status 200: %.300s", path, response.Status, err, body)
				}
				return body
			}
			queue := make(chan int) // of indexes of kinds
			var workers sync.WaitGroup
			for range 4 {
				workers.Go(func() {
					for n := range queue {
						kind := all[n]
						formats := encode.Formats()
						for _, format := range []string{"json", formats[n%len(formats)].Name} {
							path := "/api/" + kind.Operation() + "?Take=2&format=" + format
							rows, err := encodetest.Rows(format, get(path), kind.FieldNames())
							if err != nil || len(rows) != 2 {
								t.Errorf("%s: %d rows, %v", path, len(rows), err)
							}
						}
					}
				})
			}

			for n := range all {
				queue <- n
			}

			close(queue)
			workers.Wait()
			document := get("/openapi.json")
			size := len(document)
			if size > 8<<20 || !bytes.Contains(document, []byte("/SY_EveryTypeQuery")) {
				t.Errorf("openapi.json has %d bytes", size)
			}

			types := string(get("/types/typescript"))
			if !strings.Contains(types, "class SY_EveryTypeQuery") {
				t.Error("there is no type SY_EveryTypeQuery")
			}
		})
	}
}

// wideProgram uses classes of discovered kinds with ServiceStack's client.
const wideProgram = `
import { JsonServiceClient } from '@servicestack/client';
import { IN_Wide, IN_WideQuery, QueryResponse, SY_EveryTypeQuery } from './dtos';

async function main(): Promise<void> {
    const client = new JsonServiceClient(process.argv[2]);
    client.bearerToken = process.argv[3];
    const page: QueryResponse<IN_Wide> = await client.post(new IN_WideQuery({ NoLessThan: 3, OrderBy: 'No' }));
    const every = await client.get(new SY_EveryTypeQuery({ OrderBy: 'ID', Take: 1 }));
    console.log(page.Total, page.Results.map(r => r.No).join(), every.Results[0].ID);
}
main().catch(e => { console.log(e); process.exit(1); });
`

// TestDiscoveredTypesCompileAndWork compiles all documents about the discovered kinds with
// the tools of third parties.
func TestDiscoveredTypesCompileAndWork(t *testing.T) {
	dir := clientstest.NodeModules(t, ".")
	i, all := discovered(t, false)
	for file, path := range map[string]string{
		"openapi.json":  "/openapi.json",
		"dtos.ts":       "/types/typescript",
		"declared.d.ts": "/types/typescript.d",
		"global.d.ts":   "/types/typescript.d?GlobalNamespace=dtos",
	} {
		reply, body := get(t, i.URL+path)
		if reply.StatusCode != http.StatusOK {
			t.Fatalf("GET %s: %s, want status 200", path, reply.Status)
		}
		for _, kind := range all {
			if !strings.Contains(body, kind.Operation()) {
				t.Errorf("%s has no %s", path, kind.Operation())
			}
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	for name, text := range map[string]string{
		"program.ts":   wideProgram,
		"package.json": `{"type":"commonjs"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	run := func(name string, args ...string) string {
		begin := time.Now()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%.5000s", name, args, err, out)
		}
		t.Logf("%s: %v", filepath.Base(name), time.Since(begin))
		return string(out)
	}
	bin := filepath.Join(dir, "node_modules", ".bin")
	run(filepath.Join(bin, "openapi-typescript"), "openapi.json", "-o", "schema.d.ts")
	run(filepath.Join(bin, "tsc"), "--strict", "--target", "es2022", "--module", "commonjs", "--moduleResolution", "node10", "--skipLibCheck", "false", "--noEmitOnError", "--types", "node",
		"program.ts", "schema.d.ts", "declared.d.ts", "global.d.ts")
	if out, want := run("node", "program.js", i.URL, i.Key(t, "reader")), "2 1,2 1\n"; out != want {
		t.Errorf("the program prints %q, want %q", out, want)
	}
}

// TestDiscoveredFeedsInTools: the tools of third parties accept the metadata of all discovered
// kinds, and each of them has rows.
func TestDiscoveredFeedsInTools(t *testing.T) {
	dir := clientstest.NodeModules(t, "odata")
	i, all := discovered(t, false)
	key := i.Key(t, "reader")
	get := func(path string) string {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, i.URL+"/odata"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+key)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("GET %s: %s (%v), want status 200: %.300s", path, response.Status, err, body)
		}
		return string(body)
	}

	for _, kind := range all {
		if rows := strings.Count(get("/"+kind.Name+"?$top=2"), `"`+kind.Fields[0].Name+`":`); rows != 2 {
			t.Errorf("%s: %d rows", kind.Name, rows)
		}
	}

	if row := get("/IN_Wide(Part='value%201',No=1)"); !strings.Contains(row, `"No":1,"Part":"value 1"`) {
		t.Errorf("the row with the key is %.300s, want No 1 and Part value 1", row)
	}

	clientstest.CheckMetadata(t, dir, get("/$metadata"), "models") // a client of hundreds of types takes odata2ts many minutes
}

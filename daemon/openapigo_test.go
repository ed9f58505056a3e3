package daemon_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
)

// goGenerators are generators of Go clients. The arguments of a generator depend on its name.
var goGenerators = []struct {
	name      string
	arguments func(config, target string) []string
}{
	{"ogen", func(config, target string) []string {
		return []string{"--config", config, "--target", target, "--package", "api", "openapi.json"}
	}},
	{"oapi-codegen", func(config, target string) []string {
		return []string{"-config", config, "-o", filepath.Join(target, "api.go"), "openapi.json"}
	}},
}

// TestOpenAPIInGo generates clients from the document. One of nearly all operations is checked
// by the front of the compiler; one of a few operations is compiled and calls them.
func TestOpenAPIInGo(t *testing.T) {
	dir := clientstest.GoModule(t, "gogenerators")
	i := daemontest.Start(t, "--demo", "--webhooks-allow-targets", "127.0.0.0/8")
	key := i.Key(t, "admin")
	_, document := get(t, i.URL+"/openapi.json")
	if err := os.WriteFile(filepath.Join(dir, "openapi.json"), []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}

	want := strings.Join([]string{
		"totals " + largestInvoices(t, i, key),
		"inputs " + countOfInputs(t, i, key),
		"events " + countOfEvents(t, i),
		"subscriber Generated",
		"subscription * http://127.0.0.1:1",
		"refused 400 EventName",
	}, "\n") + "\n"

	for _, g := range goGenerators {
		t.Run(g.name, func(t *testing.T) {
			if err := os.CopyFS(filepath.Join(dir, g.name),
				os.DirFS(filepath.Join("testdata", "openapi", g.name))); err != nil {
				t.Fatal(err)
			}
			all, some := filepath.Join(g.name, "all"), filepath.Join(g.name, "api")
			for _, target := range []string{all, some} {
				if err := os.Mkdir(filepath.Join(dir, target), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			run := func(args ...string) string { return runGo(t, dir, args...) }
			run(append([]string{"tool", g.name}, g.arguments(filepath.Join(g.name, "all.yml"), all)...)...)
			run("vet", "-assign", "./"+filepath.ToSlash(all))
			run(append([]string{"tool", g.name}, g.arguments(filepath.Join(g.name, "some.yml"), some)...)...)
			if got := run("run", "-gcflags=-dwarf=false", "./"+g.name, i.URL, key); got != want {
				t.Errorf("the client of %s printed\n%swant\n%s", g.name, got, want)
			}
		})
	}
}

// runGo runs the go command in the module of the generators, and returns its output.
func runGo(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, out, log.String())
	}
	return string(out)
}

// largestInvoices returns the invoices that the generated clients query.
func largestInvoices(t *testing.T, i *daemontest.Instance, key string) string {
	t.Helper()
	var page struct{ Results []struct{ InvoiceID string } }
	readJSON(t, i, key, "/Queries/SO_Totals?InvoiceTotalGreaterThan=24000&InvoiceIDStartsWith=D&OrderBy=-InvoiceTotal&Take=3", &page)
	var ids []string
	for _, row := range page.Results {
		ids = append(ids, row.InvoiceID)
	}
	return strings.Join(ids, ",")
}

// countOfInputs returns the number of inputs that the generated clients query.
func countOfInputs(t *testing.T, i *daemontest.Instance, key string) string {
	t.Helper()
	var page struct{ Total int }
	readJSON(t, i, key, "/Queries/BM_Inputs?ItemNoBetween=2,3&SubAssemblyExplodePolicyIn=[1,2]&Take=1&Include=Total", &page)
	return fmt.Sprint(page.Total)
}

func countOfEvents(t *testing.T, i *daemontest.Instance) string {
	t.Helper()
	var events []any
	readJSON(t, i, "", "/Webhooks/Events", &events)
	return fmt.Sprint(len(events))
}

// readJSON reads a resource, by an API key if there is one.
func readJSON(t *testing.T, i *daemontest.Instance, key, path string, into any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, i.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if err := json.NewDecoder(reply.Body).Decode(into); err != nil {
		t.Fatalf("GET %s: %s: %v", path, reply.Status, err)
	}
}

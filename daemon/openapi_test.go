package daemon_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
)

// apiTools runs third-party programs on the OpenAPI documents of a daemon.
type apiTools struct {
	*daemontest.Instance
	key string
	dir string // has node_modules and the documents
}

// TestOpenAPIInTools validates the documents, generates clients, and sends a request for
// each operation through a proxy that compares it and the response with the document.
func TestOpenAPIInTools(t *testing.T) {
	tools := apiTools{dir: clientstest.NodeModules(t, "openapi")}
	kinds := t.TempDir()
	writeKinds(t, kinds, "captured", "[SO_Totals]\ncapture = 'always'\n")
	tools.Instance = daemontest.Start(t, "--demo", "--erp-kinds", kinds, "--webhooks-allow-targets", "127.0.0.0/8")
	tools.key = tools.Key(t, "admin")
	for file, path := range map[string]string{"openapi.json": "/openapi.json", "swagger.json": "/openapi"} {
		_, text := get(t, tools.URL+path)
		if err := os.WriteFile(filepath.Join(tools.dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("Documents", func(t *testing.T) {
		const program = `const parser = require('@apidevtools/swagger-parser')
Promise.all(process.argv.slice(1).map(file => parser.validate(file))).catch(e => { console.error(e.message); process.exit(1) })`
		tools.run(t, "node", "-e", program, "openapi.json", "swagger.json")
	})
	t.Run("Generators", tools.generators)
	t.Run("Proxy", tools.proxy)
}

// command returns a command of Node.js, or of a library.
func (tools *apiTools) command(t *testing.T, name string, args ...string) *exec.Cmd {
	if name != "node" {
		name = filepath.Join(tools.dir, "node_modules", ".bin", name)
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = tools.dir
	return cmd
}

func (tools *apiTools) run(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := tools.command(t, name, args...).CombinedOutput()
	t.Logf("%s: %s", name, out)
	if err != nil {
		t.Errorf("%s %s: %v", name, args, err)
	}
}

// generators compiles the clients that several generators write.
func (tools *apiTools) generators(t *testing.T) {
	tools.run(t, "orval", "--input", "openapi.json", "--output", "made/orval.ts", "--client", "fetch")
	tools.run(t, "openapi-ts", "-i", "./openapi.json", "-o", "made/hey", "-c", "@hey-api/client-fetch")
	tools.run(t, "oazapfts", "openapi.json", "made/oazapfts.ts")
	tools.run(t, "openapi-typescript", "openapi.json", "-o", "made/types.ts")
	tools.run(t, "tsc", "--strict", "--noEmit",
		"--target", "es2022",
		"--lib", "es2022,dom,dom.iterable",
		"--module", "nodenext",
		"--moduleResolution", "nodenext",
		"--types", "node",
		"made/orval.ts", "made/hey/client.gen.ts", "made/hey/sdk.gen.ts", "made/oazapfts.ts", "made/types.ts")
}

// proxy sends the requests through Prism.
func (tools *apiTools) proxy(t *testing.T) {
	subscriber := tools.create(t, "/Webhooks/Subscribers", `{"Name": "Proxy"}`, "RecID")
	place := "/Webhooks/Subscribers/" + subscriber + "/Subscriptions"
	subscription := tools.create(t, place, `{"URL": "http://127.0.0.1:1", "EventName": "*"}`, "RecID")
	parameters, err := json.Marshal(map[string]string{
		"Kind": "SO_Totals", "Page": "changes",
		"SubscriberID": subscriber, "SubscriptionID": subscription,
		"MessageID": tools.create(t, place+"/"+subscription+"/Test", `{}`, "MessageID"),
		"KeyID":     tools.create(t, "/ApiKeys", `{"Name": "Proxy", "Role": "reader"}`, "KeyID"),
	})
	if err != nil {
		t.Fatal(err)
	}

	script, err := filepath.Abs(filepath.Join("testdata", "openapi", "requests.mjs"))
	if err != nil {
		t.Fatal(err)
	}

	for !tools.hasChanges(t) {
		time.Sleep(100 * time.Millisecond)
	}

	port, log := fmt.Sprint(daemontest.FreePort(t)), daemontest.NewLog()
	prism := tools.command(t, "prism", "proxy", "openapi.json", tools.URL, "--port", port)
	prism.Stdout, prism.Stderr = log, log
	if err := prism.Start(); err != nil {
		t.Fatal(err)
	}

	ended := make(chan error, 1)
	go func() { ended <- prism.Wait() }()
	defer prism.Process.Kill() // the error is that it has ended
	// It lists all operations first, which takes minutes on a busy machine.
	for !strings.Contains(log.String(), "Prism is listening") {
		select {
		case err := <-ended:
			t.Fatalf("prism: %v\n%s", err, log)
		case <-time.After(100 * time.Millisecond):
		}
	}

	tools.run(t, "node", script, "http://127.0.0.1:"+port, tools.key, string(parameters))
}

// hasChanges reports whether the first look at a captured kind has ended.
func (tools *apiTools) hasChanges(t *testing.T) bool {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tools.URL+"/Queries/SO_Totals/Changes", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+tools.key)
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	return reply.StatusCode == http.StatusOK
}

// create sends a POST with a JSON body, and returns a member of the response.
func (tools *apiTools) create(t *testing.T, path, body, member string) (value string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "POST", tools.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+tools.key)
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	var document map[string]any
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	value, ok := document[member].(string)
	if err != nil || !ok {
		t.Fatalf("POST %s: %s %s %v", path, reply.Status, text, err)
	}
	return value
}

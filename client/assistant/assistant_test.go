package assistant_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

// maxResult is the maximum size of a result of a tool, in bytes. It is that of the documentation,
// which is larger than the limit of the code.
const maxResult = 16 << 10

// demo is a daemon with the demo records, which the tests share.
var demo struct {
	once   sync.Once
	dir    string
	daemon *daemontest.Instance
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if demo.daemon != nil {
		if err := demo.daemon.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.RemoveAll(demo.dir)
	os.RemoveAll(programDir)
	os.Exit(code)
}

func startDemo(t *testing.T) *daemontest.Instance {
	t.Helper()
	demo.once.Do(func() {
		demo.dir, demo.err = os.MkdirTemp("", "whd-assistant-test")
		if demo.err != nil {
			return
		}
		flags := []string{"--demo", "--mcp-enabled", "--auth-queries", "anonymous"}
		demo.daemon, demo.err = daemontest.Open(demo.dir, flags...)
	})
	if demo.err != nil {
		t.Fatal(demo.err)
	}
	return demo.daemon
}

// result is the result of a call of a tool.
type result struct {
	Content           []struct{ Type, Text string }
	StructuredContent json.RawMessage
	IsError           bool
	message           []byte // the whole response
}

// decoded returns the structured content. Numbers keep all digits.
func (r result) decoded(t *testing.T) (value map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(r.StructuredContent))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		t.Fatalf("the structured content is not an object (%v): %s", err, r.message)
	}
	return value
}

// list returns a list of the structured content.
func (r result) list(t *testing.T, name string) []any {
	t.Helper()
	list, ok := r.decoded(t)[name].([]any)
	if !ok {
		t.Fatalf("the structured content has no list %s: %s", name, r.message)
	}
	return list
}

// call calls a tool by a request of its own, as the bytes on the wire show it. It checks the
// size of the result, and that the response has it as text, too.
func call(t *testing.T, daemon *daemontest.Instance, key, tool, arguments string) result {
	t.Helper()
	const request = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`
	message := post(t, daemon, key, fmt.Sprintf(request, tool, arguments))
	var response struct{ Result *result }
	if err := json.Unmarshal(message, &response); err != nil || response.Result == nil {
		t.Fatalf("%s %s: no result (%v): %s", tool, arguments, err, message)
	}
	r := *response.Result
	r.message = message

	if len(r.Content) != 1 {
		t.Fatalf("%s %s: the response has %d texts, want 1: %s", tool, arguments, len(r.Content), message)
	}
	if n := max(len(r.StructuredContent), len(r.Content[0].Text)); n > maxResult {
		t.Errorf("%s %s: the result has %d bytes, want at most %d", tool, arguments, n, maxResult)
	}
	if !r.IsError && r.Content[0].Text != string(r.StructuredContent) {
		t.Errorf("%s %s: the text differs from the result: %s", tool, arguments, message)
	}
	return r
}

// post sends a message of the protocol, with an API key unless that is empty.
func post(t *testing.T, daemon *daemontest.Instance, key, body string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, daemon.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", "2025-11-25")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("posting %s: status %d, %v: %s", body, reply.StatusCode, err, text)
	}
	return text
}

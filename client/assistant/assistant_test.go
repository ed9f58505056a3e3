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

// maxResult is the maximum size of a result of a tool, in bytes.
const maxResult = 16 << 10

// demo is a daemon with the demo records, which the tests share.
var demo struct {
	once sync.Once
	dir  string
	i    *daemontest.Instance
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if demo.i != nil {
		if err := demo.i.Stop(); err != nil {
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
		demo.i, demo.err = daemontest.Open(demo.dir, "--demo", "--mcp-enabled", "--auth-queries", "anonymous")
	})
	if demo.err != nil {
		t.Fatal(demo.err)
	}
	return demo.i
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
		t.Fatalf("%v: %s", err, r.message)
	}
	return value
}

// list returns a list of the structured content.
func (r result) list(t *testing.T, name string) []any {
	t.Helper()
	list, ok := r.decoded(t)[name].([]any)
	if !ok {
		t.Fatalf("no %s in %s", name, r.message)
	}
	return list
}

// call calls a tool by a request of its own, as the bytes on the wire show it. It checks the
// size of the result, and that the response has it as text, too.
func call(t *testing.T, i *daemontest.Instance, key, tool, arguments string) (r result) {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
	r.message = post(t, i, key, body)
	var reply struct{ Result *result }
	if err := json.Unmarshal(r.message, &reply); err != nil || reply.Result == nil {
		t.Fatalf("%s %s: %v: %s", tool, arguments, err, r.message)
	}
	reply.Result.message = r.message
	r = *reply.Result
	if len(r.StructuredContent) > maxResult || len(r.Content) != 1 || len(r.Content[0].Text) > maxResult {
		t.Errorf("%s %s: the response has %d bytes and %d texts, the result %d", tool, arguments, len(r.message), len(r.Content), len(r.StructuredContent))
	}
	if !r.IsError && r.Content[0].Text != string(r.StructuredContent) {
		t.Errorf("%s %s: the text differs from the result: %s", tool, arguments, r.message)
	}
	return r
}

func post(t *testing.T, i *daemontest.Instance, key, body string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, i.URL+"/mcp", strings.NewReader(body))
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
		t.Fatalf("status %d, %v: %s", reply.StatusCode, err, text)
	}
	return text
}

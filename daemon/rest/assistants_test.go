package rest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

// messageHeaders are the headers of a message to the tools for assistants.
var messageHeaders = []string{"Content-Type: application/json", "Accept: application/json, text/event-stream"}

// TestAssistantsAreOff checks that the tools are not served unless mcp.enabled is set,
// which takes effect at a reload.
func TestAssistantsAreOff(t *testing.T) {
	i := daemontest.Start(t)
	admin := asAdmin(t, i)
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, c := range []client{admin, anonymous(t, i)} {
		for _, line := range []string{"POST /mcp", "POST /MCP/"} {
			c.do(line, list, messageHeaders...).want(t, 404)
		}
	}
	i.Set(t, "mcp.enabled", "true")
	admin.do("POST /mcp", list, messageHeaders...).want(t, 200).wantMessage(t, `"find_kinds"`)
	anonymous(t, i).do("POST /mcp", list, messageHeaders...).want(t, 401)
	admin.do("GET /mcp", "").want(t, 405)
	admin.do("DELETE /mcp", "").want(t, 405)
	i.Set(t, "mcp.enabled", "")
	admin.do("POST /mcp", list, messageHeaders...).want(t, 404)
}

// TestMessagesOfAssistants checks the transport of messages, and the Origin even with
// explicit credentials.
func TestMessagesOfAssistants(t *testing.T) {
	i := daemontest.Start(t, "--mcp-enabled", "--http-cors-origins", "https://shop.example",
		"--http-max-body", "64KiB")
	c := anonymous(t, i).with("Authorization: Bearer " + i.Key(t, "reader"))
	ping := `{"jsonrpc":"2.0","id":"7","method":"ping"}`
	for _, tt := range []struct {
		body    string
		headers []string
		status  int
		want    string
	}{
		{body: ping, headers: messageHeaders, status: 200, want: `{"jsonrpc":"2.0","id":"7","result":{}}`},
		{
			body:    ping,
			headers: append([]string{"Origin: " + i.URL}, messageHeaders...),
			status:  200,
			want:    `"result"`,
		},
		{
			body:    ping,
			headers: append([]string{"Origin: https://shop.example"}, messageHeaders...),
			status:  200,
			want:    `"result"`,
		},
		{
			body:    ping,
			headers: append([]string{"Origin: https://evil.example"}, messageHeaders...),
			status:  403,
			want:    "cross-origin",
		},
		{
			body:    ping,
			headers: append([]string{"Origin: null"}, messageHeaders...),
			status:  403,
			want:    "cross-origin",
		},
		{
			body:    `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			headers: messageHeaders,
			status:  202,
			want:    "",
		},
		{
			body:    "[" + ping + "," + ping + "]",
			headers: messageHeaders,
			status:  400,
			want:    "lists of messages are not supported",
		},
		{body: "", headers: messageHeaders, status: 400, want: ""},
		{body: "{", headers: messageHeaders, status: 400, want: ""},
		{body: strings.Repeat(" ", 70<<10) + ping, headers: messageHeaders, status: 413, want: ""},
		{body: ping, headers: messageHeaders[:1], status: 400, want: "Accept must contain"},
		{body: ping, headers: []string{"Content-Type: text/plain", messageHeaders[1]}, status: 415, want: ""},
		{
			body:    ping,
			headers: append([]string{"MCP-Protocol-Version: 2025-03-26"}, messageHeaders...),
			status:  200,
			want:    `"result"`,
		},
		{
			body:    ping,
			headers: append([]string{"MCP-Protocol-Version: 1999-12-31"}, messageHeaders...),
			status:  400,
			want:    "Unsupported protocol version",
		},
		{
			body:    `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`,
			headers: messageHeaders,
			status:  200,
			want:    `"protocolVersion":"2024-11-05"`,
		},
		{
			body:    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"drop_kind","arguments":{}}}`,
			headers: messageHeaders,
			status:  200,
			want:    `"error"`,
		},
	} {
		a := c.do("POST /mcp", tt.body, tt.headers...)
		if a.status != tt.status || !strings.Contains(a.body, tt.want) {
			t.Errorf("POST /mcp %.100s with %q returned %d %s, want %d with %s",
				tt.body, tt.headers, a.status, shortened(a.body), tt.status, tt.want)
		}
	}

	preflight := c.do("OPTIONS /mcp", "", "Origin: https://shop.example",
		"Access-Control-Request-Method: POST").want(t, 204)
	allowed := preflight.header.Get("Access-Control-Allow-Headers")
	if !strings.Contains(allowed, "Mcp-Protocol-Version") {
		t.Errorf("the preflight allows the headers %s, want Mcp-Protocol-Version among them", allowed)
	}
}

// TestAssistantsInTheRequestLog checks that the log has the kind's filters and errors of a
// call, and the user.
func TestAssistantsInTheRequestLog(t *testing.T) {
	i := daemontest.Start(t, "--mcp-enabled", "--demo")
	c := asAdmin(t, i)
	c.do("POST /mcp", toolCall("query", `{"kind":"DB_Class","filter":{"ClassStartsWith":"B"}}`), messageHeaders...).want(t, 200)
	c.do("POST /mcp", toolCall("query", `{"kind":"DB_Class","fields":["Nope"]}`), messageHeaders...).want(t, 200)
	c.await("GET /Logs?PathInfo=/mcp", "Nope")
	log := c.do("GET /Logs?PathInfo=/mcp", "").want(t, 200).body
	for _, text := range []string{"ClassStartsWith", "Nope, which is unknown", `"UserAuthId":"admin"`} {
		if !strings.Contains(log, text) {
			t.Errorf("the request log is %s, want %s in it", log, text)
		}
	}
}

// TestAssistantsObeyLimits checks that a call is a query with the limits of the settings.
func TestAssistantsObeyLimits(t *testing.T) {
	i := daemontest.Start(t, "--mcp-enabled", "--demo", "--query-max-take", "5", "--http-rate", "6/m+5")
	c := anonymous(t, i).with("Authorization: Bearer " + i.Key(t, "reader"))
	for _, kind := range []string{"IN_Colours", "INMGT020POQty"} { // by cursor, and by skip
		body := c.do("POST /mcp", toolCall("query",
			`{"kind":"`+kind+`","limit":50}`), messageHeaders...).want(t, 200).body
		var reply struct {
			Result struct {
				StructuredContent struct {
					Rows     []json.RawMessage
					Next     string
					NextSkip int
				}
			}
		}
		if err := json.Unmarshal([]byte(body), &reply); err != nil {
			t.Fatal(err)
		}
		page := reply.Result.StructuredContent
		if len(page.Rows) != 5 {
			t.Errorf("a query for %s returned %d rows, want the maximum, 5: %s", kind, len(page.Rows), body)
		}
		if page.Next == "" && page.NextSkip != 5 {
			t.Errorf("a query for %s returned the cursor %q and nextSkip %d, want a cursor or 5",
				kind, page.Next, page.NextSkip)
		}
	}

	statuses := make(map[int]bool)
	for range 20 {
		statuses[c.do("POST /mcp", toolCall("find_kinds", `{}`), messageHeaders...).status] = true
	}
	if !statuses[429] {
		t.Errorf("statuses %v of 20 calls, want some 429", statuses)
	}
}

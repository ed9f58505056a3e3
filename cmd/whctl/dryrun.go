package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
)

// showRequest prints a request without secrets, and an equivalent curl command.
func showRequest(to io.Writer, r client.Request) {
	r.Header.Del("User-Agent") // does not change the effect
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s\n", r.Method, r.URL)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		fmt.Fprintf(&text, "%s: %s\n", name, strings.Join(r.Header[name], ", "))
	}
	body := maskedBody(r.Body)
	if len(body) > 0 {
		fmt.Fprintf(&text, "\n%s\n", body)
	}
	fmt.Fprintf(&text, "\n%s\n", curlLine(r, body))
	fmt.Fprint(&display.Writer{To: to}, text.String())
}

// maskedBody masks the passwords and the values of headers in a JSON object. Other bodies, and
// objects without secrets, are unchanged.
func maskedBody(body []byte) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return string(body)
	}
	hasSecret := false
	for name, value := range members {
		if masked := maskedMember(name, value); masked != nil {
			members[name] = masked
			hasSecret = true
		}
	}
	if !hasSecret {
		return string(body)
	}
	masked, err := json.Marshal(members)
	if err != nil {
		return ""
	}
	return string(masked)
}

// maskedMember returns the value of a member with secrets masked; nil if it has none.
func maskedMember(name string, value json.RawMessage) json.RawMessage {
	if strings.HasSuffix(strings.ToLower(name), "password") {
		return json.RawMessage(`"***"`)
	}
	var headers []wire.Header
	if name != "Headers" || json.Unmarshal(value, &headers) != nil || len(headers) == 0 {
		return nil
	}
	for i := range headers {
		headers[i].Value = "***"
	}
	masked, _ := json.Marshal(headers) // texts can always be encoded
	return masked
}

// curlSecrets has the curl arguments for masked headers.
var curlSecrets = map[string]string{
	"Authorization: Basic ***":  `-u "$WHCTL_USER"`,
	"Authorization: Bearer ***": `-H "Authorization: Bearer $WHCTL_TOKEN"`,
	"X-Ss-Id: ***":              `-H "X-Ss-Id: $SESSION"`,
}

// curlLine returns the request as a curl command for a POSIX shell.
func curlLine(r client.Request, body string) string {
	words := []string{"curl", "-X", r.Method, quoteShell(r.URL)}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		header := name + ": " + r.Header.Get(name)
		if secret, ok := curlSecrets[header]; ok {
			words = append(words, secret)
		} else {
			words = append(words, "-H", quoteShell(header))
		}
	}
	if body != "" {
		words = append(words, "--data-binary", quoteShell(body))
	}
	return strings.Join(words, " ")
}

// quoteShell quotes a text for a POSIX shell.
func quoteShell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
)

// showRequests is --dry-run: the request in full but for secrets, and a line for
// curl that does the same.
func showRequests(to io.Writer) func(client.Request) {
	return func(r client.Request) {
		r.Header.Del("User-Agent") // which changes nothing
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
}

// maskedBody hides the members of a JSON object that are secrets.
func maskedBody(body []byte) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return string(body)
	}
	changed := false
	for name := range members {
		if strings.HasSuffix(strings.ToLower(name), "password") {
			members[name], changed = json.RawMessage(`"***"`), true
		}
	}
	if !changed {
		return string(body)
	}
	masked, err := json.Marshal(members)
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(masked))
}

// curlSecrets are the arguments of curl for what the header does not show.
var curlSecrets = map[string]string{
	"Authorization: Basic ***":  `-u "$WHCTL_USER"`,
	"Authorization: Bearer ***": `-H "Authorization: Bearer $WHCTL_TOKEN"`,
	"X-Ss-Id: ***":              `-H "X-Ss-Id: $SESSION"`,
}

// curlLine is the request as a command of a POSIX shell.
func curlLine(r client.Request, body string) string {
	words := []string{"curl", "-X", r.Method, quoteShell(r.URL)}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		header := name + ": " + r.Header.Get(name)
		switch {
		case curlSecrets[header] != "":
			words = append(words, curlSecrets[header])
		default:
			words = append(words, "-H", quoteShell(header))
		}
	}
	if body != "" {
		words = append(words, "--data-binary", quoteShell(body))
	}
	return strings.Join(words, " ")
}

// quoteShell makes one word of a text.
func quoteShell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

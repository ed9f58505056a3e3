package client

import (
	"net/http"
	"regexp"
	"strings"
)

// hidden takes the place of a secret.
const hidden = "***"

// secretHeaders are those that say who asks.
var secretHeaders = [...]string{"Authorization", "Cookie", "Proxy-Authorization", "Set-Cookie", "X-Ss-Id"}

var (
	// Members of JSON whose value is a secret, also where the text breaks off
	// inside of it. The value of a header may be an Authorization.
	secretMember = regexp.MustCompile(`(?i)("(?:\w*password|secret|secrets|key|token|sessionid|value)"\s*:\s*)("(?:[^"\\]|\\.)*(?:"|\\?$)|\[[^\]]*(?:\]|$))`)

	// API keys and the secrets of subscriptions are known by their beginning.
	secretText = regexp.MustCompile(`\b(whd_|whsec_)[\w+/=-]+`)

	// A user and password in an address, such as that of a proxy.
	userInfo = regexp.MustCompile(`(://)[^/@\s"]+@`)

	guid = regexp.MustCompile(`(?i)\b([0-9a-f]{4})[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{8}([0-9a-f]{4})\b`)
)

// Redact makes a text of the wire fit for logs: secrets are replaced, and
// guids shortened to their ends, since a SubscriberID is a key as well.
func Redact(text string) string {
	text = secretMember.ReplaceAllString(text, `$1"`+hidden+`"`)
	text = secretText.ReplaceAllString(text, "${1}"+hidden)
	text = userInfo.ReplaceAllString(text, "${1}"+hidden+"@")
	return guid.ReplaceAllString(text, "$1..$2")
}

// redactHeader is a copy of a header that says nothing of who asks but the way
// in which they do.
func redactHeader(header http.Header) http.Header {
	header = header.Clone()
	for _, name := range secretHeaders {
		for i, value := range header[name] {
			scheme, _, found := strings.Cut(value, " ")
			if header[name][i] = hidden; found && strings.HasSuffix(name, "Authorization") {
				header[name][i] = scheme + " " + hidden
			}
		}
	}
	return header
}

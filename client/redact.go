package client

import (
	"net/http"
	"regexp"
	"strings"
)

// hidden replaces a secret.
const hidden = "***"

// secretHeaders has the headers with credentials.
var secretHeaders = [...]string{"Authorization", "Cookie", "Proxy-Authorization", "Set-Cookie", "X-Ss-Id"}

var (
	// JSON members with secret values, also if the text is truncated inside a value.
	// The value of a custom header can be an Authorization.
	secretMember = regexp.MustCompile(`(?i)` +
		`("(?:\w*password|secret|secrets|key|token|sessionid|value)"\s*:\s*)` +
		`("(?:[^"\\]|\\.)*(?:"|\\?$)|\[[^\]]*(?:\]|$))`)

	// API keys and secrets of subscriptions have prefixes.
	secretText = regexp.MustCompile(`\b(whd_|whsec_)[\w+/=-]+`)

	// User and password in a URL, such as that of a proxy.
	userInfo = regexp.MustCompile(`(://)[^/@\s"]+@`)

	// Parameters of a URL with secret values, such as those of a receiver. Key with a capital is a
	// filter of the service.
	secretParameter = regexp.MustCompile(
		`((?:[?&]|\\u0026)(?:(?i:[\w.-]*(?:token|secret|passw(?:or)?d|signature|api[-_]?key)|sig|auth|code|pwd)|key)=)` +
			`[^&#\s"'\\<>]+`)

	// GUIDs with or without hyphens; the groups are their first and last four digits.
	guid = regexp.MustCompile(`(?i)\b([0-9a-f]{4})[0-9a-f]{4}` +
		`-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?` +
		`[0-9a-f]{8}([0-9a-f]{4})\b`)
)

// Redact masks the secrets in a text for logs. It also shortens GUIDs, because a
// SubscriberID grants access.
func Redact(text string) string {
	text = secretMember.ReplaceAllString(text, `$1"`+hidden+`"`)
	text = secretText.ReplaceAllString(text, "${1}"+hidden)
	text = secretParameter.ReplaceAllString(text, "${1}"+hidden)
	text = userInfo.ReplaceAllString(text, "${1}"+hidden+"@")
	return guid.ReplaceAllString(text, "$1..$2")
}

// redactHeader returns a copy of a header with credentials masked, except for the
// authentication scheme.
func redactHeader(header http.Header) http.Header {
	header = header.Clone()
	for _, name := range secretHeaders {
		for i, value := range header[name] {
			header[name][i] = hidden
			scheme, _, found := strings.Cut(value, " ")
			if found && strings.HasSuffix(name, "Authorization") {
				header[name][i] = scheme + " " + hidden
			}
		}
	}
	return header
}

package ui

import (
	"net/url"
	"strings"
)

// SecretMask replaces secret values, independent of their length.
const SecretMask = "********"

// MaskURL replaces the user information and the query values of a URL. As in the request log, a URL
// that cannot be parsed is masked completely.
func MaskURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return SecretMask
	}
	if u.Opaque != "" {
		return u.Scheme + ":" + SecretMask
	}
	if u.User != nil {
		u.User = url.User(SecretMask)
	}
	if u.RawQuery != "" {
		parameters := strings.Split(u.RawQuery, "&")
		for i, parameter := range parameters {
			name, _, hasValue := strings.Cut(parameter, "=")
			parameters[i] = SecretMask
			if hasValue {
				parameters[i] = name + "=" + SecretMask
			}
		}
		u.RawQuery = strings.Join(parameters, "&")
	}
	return strings.ReplaceAll(u.String(), url.PathEscape(SecretMask), SecretMask)
}

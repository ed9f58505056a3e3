package ui

import (
	"net/url"
	"strings"
)

// SecretMask replaces secret values, independent of their length.
const SecretMask = "********"

// MaskURL replaces the query values and the password of a URL.
func MaskURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	if _, ok := u.User.Password(); ok {
		u.User = url.UserPassword(u.User.Username(), SecretMask)
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

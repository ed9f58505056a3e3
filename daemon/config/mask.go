package config

import "regexp"

// passwords are where a password stands in a connection string: in a URL, and in
// the form of options.
var passwords = regexp.MustCompile(`(?i)(://)(.*)(@)|((?:password|pwd)\s*=)[^;"]*`)

// example is what our own messages show of a connection string.
const example = "://user:password@"

// withoutPasswords is a message with stars for the passwords in it: a connection string may
// have come to where another setting, or nothing at all, was meant.
func withoutPasswords(message string) string {
	return passwords.ReplaceAllStringFunc(message, func(found string) string {
		if found == example {
			return found
		}
		return passwords.ReplaceAllString(found, "${1}${4}"+masked+"${3}")
	})
}

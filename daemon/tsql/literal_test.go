package tsql

import "strings"

// Literal quotes text for use in a LIKE pattern, where it then matches itself.
func Literal(text string) string { return quoter.Replace(text) }

var quoter = strings.NewReplacer("%", "[%]", "_", "[_]", "[", "[[]")

package encode

import (
	"bytes"
	"slices"
)

// toCamelCase changes a name of a member to camelCase by the rule of ServiceStack. Its
// clients expect exactly these names: capitals at the start become small, except for the last one
// of several before a character that is no capital, so that RecID is recID, URL is url, HTTPCode is
// httpCode and MD5Hash is mD5Hash.
func toCamelCase(name []byte) {
	// The end of the name counts as a capital.
	isCapital := func(i int) bool { return i >= len(name) || 'A' <= name[i] && name[i] <= 'Z' }
	for i := 0; i < len(name) && isCapital(i); i++ {
		if i > 0 && !isCapital(i+1) {
			return
		}
		name[i] += 'a' - 'A'
	}
}

// dictionaries are members with objects in which the names are data and stay as they are: the maps of
// package wire, which TestDictionaries compares, and cells with JSON.
var dictionaries = []string{"Meta", "Headers", "FormData", "Items", "ExceptionData", "Uncharged", "Blocked", "Where"}

// CamelNames returns JSON with the names of members in camelCase, except those in
// dictionaries. text is valid JSON, or consists of whole tokens of it.
func CamelNames(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		if text[0] != '"' {
			out = append(out, text[0])
			text = text[1:]
			continue
		}
		n := jsonStringLength(text)
		token := text[:n]
		start := len(out)
		out = append(out, token...)
		text = text[n:]
		after := bytes.TrimLeft(text, " \t\r\n")
		isName := len(after) > 0 && after[0] == ':'
		if !isName {
			continue
		}
		toCamelCase(out[start+1 : len(out)-1]) // without the quotes

		value := bytes.TrimLeft(after[1:], " \t\r\n")
		isDictionary := slices.ContainsFunc(dictionaries, func(name string) bool {
			return bytes.EqualFold(token[1:n-1], []byte(name))
		})
		if isDictionary && len(value) > 0 && value[0] == '{' {
			n = len(text) - len(value) + objectLength(value)
			out = append(out, text[:n]...)
			text = text[n:]
		}
	}
	return out
}

// objectLength returns the length of the JSON object at the start of text.
func objectLength(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += jsonStringLength(text[i:]) - 1
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(text)
}

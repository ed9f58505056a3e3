package pages

import (
	"encoding/json"
	"strings"
)

// maxShown limits the texts on the page of a message, in bytes. The rest is behind a link.
const maxShown = 64 << 10

// maxIndented is the number of levels of a JSON text that is indented: with thousands of levels, the
// indentation takes a thousand times the memory of the text.
const maxIndented = 32

// pretty returns a body for display. A long or deeply nested one is not indented.
func pretty(body string) string {
	if len(body) > maxShown || levels(body) > maxIndented || !json.Valid([]byte(body)) {
		return shortened(body)
	}
	var indented strings.Builder
	encoder := json.NewEncoder(&indented)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(json.RawMessage(body))
	if err != nil {
		return shortened(body)
	}
	return shortened(strings.TrimSuffix(indented.String(), "\n"))
}

// levels returns the greatest number of brackets that are open at the same time in a JSON text. Those
// in strings count, too.
func levels(text string) int {
	open, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '[', '{':
			open++
			most = max(most, open)
		case ']', '}':
			open--
		}
	}
	return most
}

// shortened limits a text.
func shortened(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "\n…"
}

package tui

import (
	"encoding/base64"
	"fmt"
	"io"
	"unicode/utf8"
)

// clipMost is how many characters of base64 terminals take.
const clipMost = 74994

// clip copies a text by the sequence that terminals know, also over ssh.
func (a *app) clip(text string) {
	encoded := base64.StdEncoding.EncodeToString([]byte(text))
	switch {
	case text == "":
		a.tell(warning, "there is nothing to copy")
		return
	case len(encoded) > clipMost:
		a.tell(warning, "too long for a terminal to copy: export it")
		return
	}
	if _, err := io.WriteString(a.options.Output, "\x1b]52;c;"+encoded+"\a"); err != nil {
		a.fail("copying", err)
		return
	}
	a.tell(info, fmt.Sprintf("copied %s via OSC 52", plural(utf8.RuneCountInString(text), "character", "characters")))
}

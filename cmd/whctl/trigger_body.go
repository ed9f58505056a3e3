package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// triggerBody is what is sent: that of --body, or else a sample, with the
// changes of --set, and then those that are made by hand.
func (p *program) triggerBody(c *cli.Context, event string) (string, error) {
	body, err := p.body(c)
	if err != nil {
		return "", err
	}
	switch {
	case !c.IsSet("body"):
		body = record.SampleBody(event)
	case body == "": // in whose place the service would send a sample
		return "", cmdline.Usagef("the --body is empty; without --body a sample is sent")
	}
	if sets := c.StringSlice("set"); len(sets) > 0 {
		if body, err = setMembers(body, sets); err != nil {
			return "", err
		}
	}
	if c.Bool("edit") {
		body, err = p.editBody(c, body)
	}
	return body, err
}

// editBody lets an editor change a body. JSON is put on lines of its own for
// that, and must be JSON afterwards; what is refused stays in the file, since
// somebody has worked on it.
func (p *program) editBody(c *cli.Context, body string) (string, error) {
	if c.Bool("no-input") {
		return "", cmdline.Usagef("--edit and --no-input exclude each other")
	}
	var draft bytes.Buffer
	isJSON := json.Indent(&draft, []byte(body), "", "  ") == nil
	if !isJSON {
		draft.Reset()
		draft.WriteString(body)
	}
	dir, err := os.MkdirTemp("", "whctl")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "body.json")
	if err := os.WriteFile(path, draft.Bytes(), privateFile); err != nil {
		return "", err
	}
	if err := p.runEditor(c, path); err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	edited := strings.TrimRight(string(text), "\r\n") // editors end the last line
	switch {
	case edited == "":
		err = cmdline.Usagef("nothing was sent: the body is empty")
	case isJSON && !json.Valid([]byte(edited)):
		return "", cmdline.Usagef("nothing was sent: the body is no JSON any more; it is in %s", path)
	case len(edited) >= maxArgument:
		return "", cmdline.Usagef("nothing was sent: %s has more than %d MiB, which no event may have", path, maxArgument>>20)
	}
	return edited, errors.Join(err, os.RemoveAll(dir))
}

// setMembers changes members of a JSON object. The others keep their digits, and
// all keep their order; new ones come last.
func setMembers(body string, sets []string) (string, error) {
	object, err := client.ParseRow([]byte(body))
	if err != nil {
		return "", cmdline.Usagef("--set needs a body that is a JSON object")
	}
	type member struct {
		name  string
		value []byte
	}
	var members []member
	for name, value := range object.All() {
		members = append(members, member{name, value})
	}
	for _, set := range sets {
		name, value, ok := strings.Cut(set, "=")
		if !ok || name == "" {
			return "", cmdline.Usagef("--set %q must be like InvoiceID=D1", set)
		}
		text := []byte(value)
		if !json.Valid(text) {
			text, _ = documentText(value) // a text can always be encoded
		}
		at := slices.IndexFunc(members, func(m member) bool { return m.name == name })
		if at < 0 {
			at, members = len(members), append(members, member{name: name})
		}
		members[at].value = text
	}
	var out bytes.Buffer
	for i, m := range members {
		name, _ := documentText(m.name) // the same
		if m.value == nil {
			m.value = []byte("null")
		}
		fmt.Fprintf(&out, "%s%s:%s", separators[min(i, 1)], name, m.value)
	}
	if len(members) == 0 {
		out.WriteByte('{')
	}
	return out.String() + "}", nil
}

// separators stand before the first member of an object, and before the others.
var separators = [2]string{"{", ","}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// triggerBody is what is sent: that of --body, or else a sample, with the
// changes of --set.
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
	return body, nil
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
			text, _ = output.DocumentText(value) // a text can always be encoded
		}
		at := slices.IndexFunc(members, func(m member) bool { return m.name == name })
		if at < 0 {
			at, members = len(members), append(members, member{name: name})
		}
		members[at].value = text
	}
	var out bytes.Buffer
	for i, m := range members {
		name, _ := output.DocumentText(m.name) // the same
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

package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"

	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// confirmation is a page that describes the effects of a button before it has any.
type confirmation struct {
	encode.Page
	Error   *problem
	Effects []string // a sentence each
	Facts   []encode.Pair
	Action  string        // where the form is sent
	Hidden  []encode.Pair // the members of the form
	Fields  []field       // those that the user may fill in
	Button  string
	Danger  bool   // it cannot be undone
	Back    string // where nothing happens
}

// field is an input of a form.
type field struct {
	Name, Label, Value, Help string
	Type                     string // of the input; empty for text
	Choices                  []encode.Choice
	Error                    string
	Required                 bool
}

// problem is why a form could not be carried out.
type problem struct {
	Message string
	Fields  []fault.Field
}

// problemOf returns an error for the page with the form, and the status of the page. Errors that no
// other input can avoid, such as those of the service itself, are not for the form: it returns nil.
func problemOf(err error) (*problem, int) {
	f := fault.From(err)
	switch f.Kind {
	case fault.Invalid, fault.Missing, fault.Malformed, fault.Forbidden, fault.Conflict, fault.TooMany, fault.TooLarge:
		return &problem{f.Message, f.Fields}, edge.StatusOf(f)
	default:
		return nil, 0
	}
}

// open shows the page.
func (c confirmation) open(x *edge.Context) error { return c.show(x, http.StatusOK) }

func (c confirmation) show(x *edge.Context, status int) error {
	c.Action = x.Base + c.Action
	c.Back = x.Base + c.Back
	return show(x, status, "confirm", c)
}

// retry shows the page again with the reason why the form could not be carried out.
func (c confirmation) retry(x *edge.Context, err error) error {
	reason, status := problemOf(err)
	if reason == nil {
		return err
	}
	c.Error = reason
	return c.show(x, status)
}

// memberState is the member of a form with the state that it is based on. Forms with a secret in the
// response have it, so that they have an effect only once: such a response cannot be a redirect, and
// browsers send the form again when the response is reloaded.
const memberState = "State"

// stateOf returns a digest of the state that a form is based on.
func stateOf(parts ...string) string {
	var text []byte
	for _, part := range parts {
		text = strconv.AppendQuote(text, part) // in quotes, the parts cannot run into one another
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// outdated shows the page again because the state that the form was based on has changed. change is
// the first part of the message.
func (c confirmation) outdated(x *edge.Context, change string) error {
	c.Error = &problem{Message: change + outdatedForm}
	return c.show(x, http.StatusConflict)
}

// outdatedForm is the end of a message about a change since a form was opened.
const outdatedForm = " since this form was opened, perhaps because it was sent before. " +
	"Nothing has been done now. Send the form again if that is still needed."

package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/webhook"
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

	BackText string // of the link to Back; empty for the usual one
}

// problem is why a form could not be carried out.
type problem struct {
	Message string
	Fields  []fieldProblem
}

// fieldProblem is the problem with an input.
type fieldProblem struct {
	Name  string // of the input; empty if the form has none
	Label string
	Text  string // follows the label
}

// memberRowHash is the member of forms of things that others may change at the same time.
const memberRowHash = "RowHash"

// problemOf returns an error for the page with the form, and the status of the page. It names inputs
// by their labels. Errors that no other input can avoid, such as those of the service itself, are not
// for the form: it returns nil.
func problemOf(err error, inputs []field) (*problem, int) {
	f := fault.From(err)
	switch f.Kind {
	case fault.Invalid, fault.Missing, fault.Malformed, fault.Forbidden, fault.Conflict, fault.TooMany, fault.TooLarge:
		return newProblem(f, inputs), edge.StatusOf(f)
	default:
		return nil, 0
	}
}

// newProblem returns an error of an operation for a form with the inputs.
func newProblem(f *fault.Error, inputs []field) *problem {
	if len(f.Fields) == 0 {
		return &problem{Message: f.Message}
	}
	if f.Fields[0].Name == memberRowHash {
		return &problem{Message: f.Message + ". Cancel, and open the form again to see the present values."}
	}
	p := &problem{Message: "Nothing has been done:"}
	for _, wrong := range withConditions(f.Fields) {
		shown := fieldProblem{Label: labelOf(wrong.Name), Text: " " + wrong.Message}
		i := positionOf(inputs, wrong.Name)
		hasInput := i < len(inputs)
		if hasInput {
			shown.Name = wrong.Name
			shown.Label = inputs[i].Label()
		}
		if hasMore(f) {
			shown.Text = ": " + f.Message
		}
		if hasInput {
			shown.Text = inputs[i].inWords(shown.Text)
		}
		p.Fields = append(p.Fields, shown)
	}
	slices.SortStableFunc(p.Fields, func(a, b fieldProblem) int {
		return positionOf(inputs, a.Name) - positionOf(inputs, b.Name)
	})
	return p
}

// positionOf returns the position of an input in its form. Errors without an input come last.
func positionOf(inputs []field, name string) int {
	i := slices.IndexFunc(inputs, func(input field) bool { return input.Name == name })
	if i < 0 {
		return len(inputs)
	}
	return i
}

// withConditions returns errors with one about all conditions of a subscription, which are rows of one
// group of inputs, instead of one about each.
func withConditions(wrong []fault.Field) []fault.Field {
	var shown []fault.Field
	where := -1
	for _, field := range wrong {
		member, isCondition := strings.CutPrefix(field.Name, webhook.MemberWhere+".")
		reason := conditionWords(member) + " " + field.Message
		switch {
		case !isCondition:
			shown = append(shown, field)
		case where < 0:
			where = len(shown)
			shown = append(shown, fault.Field{Name: webhook.MemberWhere, Message: "are not valid: " + reason})
		default:
			shown[where].Message += "; " + reason
		}
	}
	return shown
}

// hasMore reports whether the message of an error about one member has more than its field. Those
// of invalid members repeat it, or only report that there are invalid members.
func hasMore(f *fault.Error) bool {
	isGeneral := f.Kind == fault.Invalid || f.Kind == fault.Missing
	isRepeated := f.Message == f.Fields[0].Name+" "+f.Fields[0].Message
	return len(f.Fields) == 1 && !isGeneral && !isRepeated
}

// inWords replaces values of the input, as programs send them, by the choices that it offers, and
// examples for programs by that of the input.
func (f field) inWords(text string) string {
	if isTime(f.Name) {
		_, err := queries.ParseDate("")
		text = strings.ReplaceAll(text, err.Error(), "must be a time such as "+timeHint+", or a date such as 2026-01-31")
	}
	for _, c := range f.Choices {
		text = strings.ReplaceAll(text, f.Name+"="+c.Value, "“"+c.Text+"”")
	}
	return text
}

// marks reports whether the problem is about inputs of the form.
func (p *problem) marks() bool {
	return slices.ContainsFunc(p.Fields, func(f fieldProblem) bool { return f.Name != "" })
}

// text describes the problem with an input, empty for none.
func (p *problem) text(name string) string {
	if p == nil {
		return ""
	}
	i := slices.IndexFunc(p.Fields, func(f fieldProblem) bool { return f.Name == name })
	if i < 0 {
		return ""
	}
	return p.Fields[i].Label + p.Fields[i].Text
}

// mark returns the inputs with their errors.
func (p *problem) mark(inputs []field) []field {
	marked := slices.Clone(inputs)
	for i := range marked {
		marked[i].Error = p.text(marked[i].Name)
	}
	return marked
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
	reason, status := problemOf(err, c.Fields)
	if reason == nil {
		return err
	}
	c.Error = reason
	c.Fields = reason.mark(c.Fields)
	return c.show(x, status)
}

// memberState is the member of a form with the state that it is based on. Forms with an effect that
// would repeat have it, so that they have an effect only once: users send a form twice, or go back to
// it, and browsers send it again when its response is reloaded, if that has a secret and is no redirect.
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

package pages

import (
	"cmp"
	"net/url"
	"strconv"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// attemptRow is an attempt on the page of a message.
type attemptRow struct {
	wire.Attempt
	When   moment
	Result string
	Class  string
	Took   string
	Text   string // the text of the response, or details of the error
}

// maxAttempts is the maximum number of attempts on the page of a message.
const maxAttempts = 50

// Fields of attempts. Those about responses are for administrators.
const (
	attemptFields  = "ItemNo,LastSavedDateTime,HTTPCode,Message,Duration,URL,Status"
	responseFields = ",Detail,AnswerText"
)

// attempts returns the latest attempts of a message, the newest first, and their number if there are
// earlier ones, else 0.
func (h messages) attempts(x *edge.Context, message string) ([]attemptRow, int, error) {
	path := apiAttempts
	selection := url.Values{
		"MessageID":       {message},
		query.OrderByDesc: {"ItemNo"},
		query.Take:        {strconv.Itoa(maxAttempts + 1)},
		query.Fields:      {attemptFields + responseFields},
	}
	if h.visitor != nil {
		path = h.messagesPath() + "/" + url.PathEscape(message) + "/Responses"
		selection.Del("MessageID")
		selection.Set(query.Fields, attemptFields)
	}
	var found rows[wire.Attempt]
	err := h.get(x, path, selection, &found)
	if err != nil {
		return nil, 0, err
	}
	latest := 0
	if len(found.Results) > maxAttempts {
		found.Results = found.Results[:maxAttempts]
		latest = maxAttempts
	}
	return attemptRows(x, found.Results), latest, nil
}

// attemptRows returns attempts for a page.
func attemptRows(x *edge.Context, attempts []wire.Attempt) []attemptRow {
	var list []attemptRow
	for i := range attempts {
		a := &attempts[i]
		r := attemptRow{
			Attempt: *a,
			When:    ago(x, a.LastSavedDateTime),
			Result:  answer(a.HTTPCode, a.Message),
			Class:   "bad",
		}
		if a.HTTPCode != nil && *a.HTTPCode/100 == 2 {
			r.Class = "good"
		}
		ticks, err := wire.ParseTimeSpan(a.Duration)
		if err == nil {
			r.Took = took(time.Duration(ticks) * 100)
		}
		r.Text = shortened(cmp.Or(textOf(a.AnswerText), textOf(a.Detail)))
		list = append(list, r)
	}
	return list
}

// textOf returns a text that may be missing.
func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

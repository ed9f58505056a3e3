package pages

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
)

const (
	apiLogs = "/Logs"

	pathRecord  = Root + "/Records/{Kind}"
	pathRequest = Root + "/Requests"
)

// recordsPath returns the path of the operation that selects the records of a kind.
func recordsPath(kind string) string { return "/Queries/" + url.PathEscape(kind) }

// records has the page of a record.
type records struct {
	client
	hasWebhooks bool
}

func (h records) routes() []edge.Route {
	page := route(account.Reader, pathRecord, h.record)
	page.SignedIn = false // without a login if queries need none
	return []edge.Route{page, route(account.Admin, pathRequest, h.request)}
}

// request shows an entry of the request log.
func (h records) request(x *edge.Context) error {
	filters, err := filterSet{others: []string{"Id"}}.in(x)
	if err != nil {
		return err
	}
	id := filters.Get("Id")
	if id == "" {
		return edge.NotFound()
	}
	// Without a date, the log may list only the requests of today: see Options.LogToday.
	selection := url.Values{"Id": {id}, "DateTimeGreaterThan": {"1900-01-01"}}
	var found rows[map[string]json.RawMessage]
	err = h.get(x, apiLogs, selection, &found)
	columns, err := only(found, err, "request in the log")
	if err != nil {
		return err
	}
	page := recordPage{
		Page:    frame(x, "Request "+id, encode.Link{Name: "Requests", URL: apiLogs}),
		Summary: "A request in the log",
		Values:  valuesOf(kindOf("RequestLog"), columns),
		JSONURL: x.Base + apiLogs + "?" + selection.Encode() + "&" + query.Format + "=json",
	}
	return show(x, http.StatusOK, "record", page)
}

// valuesOf returns the values of a record in the order of its fields.
func valuesOf(kind *record.Kind, columns map[string]json.RawMessage) []encode.Pair {
	var values []encode.Pair
	for _, f := range kind.Fields {
		if value, ok := columns[f.Name]; ok {
			values = append(values, encode.Pair{Name: f.Name, Value: shortened(textOfValue(value))})
		}
	}
	return values
}

// recordPage is the page of a record.
type recordPage struct {
	encode.Page
	Summary string
	Values  []encode.Pair
	Key     string
	Steps   []whyStep // its history; nil for none
	More    bool
	WhyURL  string
	JSONURL string
}

// record shows the record with the key in the address, and its history to administrators. It sends
// one statement to the ERP.
func (h records) record(x *edge.Context) error {
	kind, err := kindIn(x)
	if err != nil {
		return err
	}
	members, err := filterSet{others: queries.KeyNames(kind)}.in(x)
	if err != nil {
		return err
	}
	key := make(url.Values)
	var texts []string // in the order of the fields
	for _, field := range queries.KeyNames(kind) {
		if members.Get(field) == "" {
			return edge.NotFound()
		}
		key.Set(field, members.Get(field))
		texts = append(texts, members.Get(field))
	}
	selection := maps.Clone(key)
	selection.Set(query.Take, "2")
	var found rows[map[string]json.RawMessage]
	err = h.get(x, recordsPath(kind.Name), selection, &found)
	columns, err := only(found, err, "record")
	if err != nil {
		return err
	}

	address := x.Base + recordsPath(kind.Name)
	if len(found.Results) > 1 { // without a declared key, several rows may have the value
		return x.Redirect(http.StatusFound, address+"?"+key.Encode())
	}
	page := recordPage{
		Page: frame(x, kind.Name+" "+strings.Join(texts, ", "),
			encode.Link{Name: kind.Area, URL: Root + "#records"},
			encode.Link{Name: kind.Name, URL: recordsPath(kind.Name)}),
		Summary: kind.Summary,
		JSONURL: address + "?" + key.Encode() + "&" + query.Format + "=json",
		Key:     queries.EventKey(kind, columns),
	}
	page.Values = valuesOf(kind, columns)
	if err := h.addHistory(x, kind, &page); err != nil {
		return err
	}
	return show(x, http.StatusOK, "record", page)
}

// addHistory adds the changes of the record, their events and messages, if they are captured and the
// user may see them.
func (h records) addHistory(x *edge.Context, kind *record.Kind, page *recordPage) error {
	mayShow := h.hasWebhooks && kind.Captured() && x.Identity.Role.Includes(account.Admin)
	if !mayShow || page.Key == "" {
		return nil
	}
	var why wire.Why
	selection := url.Values{memberKey: {page.Key}}
	err := h.get(x, apiWhy, selection, &why)
	isWrong := func(f fault.Field) bool { return f.Name == memberKey }
	if fault.Is(err, fault.Invalid) && slices.ContainsFunc(fault.From(err).Fields, isWrong) {
		return nil // no event can have the key
	}
	if err != nil {
		return err
	}
	page.WhyURL = with(x.Base+pathWhy, selection)
	page.More = why.More
	for _, s := range why.Steps {
		page.Steps = append(page.Steps, whyStepOf(x, s))
	}
	return nil
}

// textOfValue returns a value of a record as text.
func textOfValue(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

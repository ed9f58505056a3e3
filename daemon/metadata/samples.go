package metadata

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/query"
)

// sampler writes curl commands that call an operation at the service's address.
type sampler struct {
	*Operation
	serviceURL string
}

// all returns one command for each format, or a single one if the operation has no choice of them.
func (s sampler) all() []wire.OperationSample {
	if len(s.Routes) == 0 {
		return nil
	}
	formats := s.formats()
	if s.hasOneFormat() {
		formats = formats[:min(len(formats), 1)]
	}
	var samples []wire.OperationSample
	if s.Kind != nil {
		samples = append(samples, wire.OperationSample{
			Format:  "JSON, members in the body",
			Command: s.command(encode.Formats()[0], true),
		})
	}
	for _, f := range formats {
		samples = append(samples, wire.OperationSample{
			Format:  s.title(f),
			Command: s.command(f, s.Kind == nil),
		})
	}
	return samples
}

// formats returns the formats of the operation's response.
func (s sampler) formats() []encode.Format {
	if s.Formats == nil {
		return encode.Formats()
	}
	var formats []encode.Format
	for _, f := range encode.Formats() {
		if slices.Contains(s.Formats, f.Name) {
			formats = append(formats, f)
		}
	}
	return formats
}

// hasOneFormat reports whether the response has the same form in all formats: it is of a media type
// of its own, or empty.
func (s sampler) hasOneFormat() bool {
	isEmpty := s.Response == nil && s.Kind == nil
	return s.Media != "" || isEmpty
}

// title returns the heading of the sample of a format.
func (s sampler) title(f encode.Format) string {
	if s.hasOneFormat() {
		return "curl"
	}
	return strings.ToUpper(f.Name)
}

// command returns a command. The members are sent in a JSON body or in the query string.
func (s sampler) command(f encode.Format, inBody bool) string {
	path := s.Routes[0].Path
	method := s.method(inBody)
	values := s.values(path)
	formatInPath := f.Name
	hasFormatInPath := strings.Contains(path, formatMember)
	if f.Binary { // it has no path of its own
		formatInPath = encode.PathNames()[0]
		if hasFormatInPath {
			values = append(values, sampleValue{name: query.Format, text: f.Name})
		}
	}
	address := s.serviceURL + strings.Replace(path, formatMember, formatInPath, 1)

	options := ""
	if s.Role != "" {
		options += ` -H "Authorization: Bearer $KEY"`
	}
	if !hasFormatInPath && s.Media == "" {
		options += " -H " + quoted("Accept: "+f.MediaTypes[0])
	}
	if f.Binary {
		options += " -o " + s.Name + f.Suffix
	}

	hasBody := len(values) > 0 && method != "GET" && method != "DELETE"
	implied := "GET" // the method that curl uses without -X
	if hasBody {
		implied = "POST"
	}
	if method != implied {
		options += " -X " + method
	}
	if hasBody {
		options += " \\\n  -H 'Content-Type: application/json' -d " + quoted(sampleBody(values))
	} else if len(values) > 0 {
		address += "?" + sampleQuery(values)
	}
	return "curl" + options + " \\\n  " + quoted(address)
}

// method returns the method of a command: POST to send a body, if the operation has it.
func (s sampler) method(inBody bool) string {
	methods := s.Routes[0].Methods
	if inBody && slices.Contains(methods, "POST") {
		return "POST"
	}
	return methods[0]
}

// quoted quotes text for a POSIX shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// sampleValue is a member with a value for the query string and for a JSON body.
type sampleValue struct{ name, text, json string }

// examples are values of members by name or type, which the demo accepts.
var examples = map[string]any{
	"BillID":         "45A7XTVRNIFJJF7M4YW7",
	"StageID":        "A56V5IQ50VDJZMTSBHOH",
	"SettingID":      "ac11c1bf-8086-46f3-b0c6-1e332c539728",
	"Contents":       "Sewing",
	"UserName":       "kim",
	"Password":       "correct horse battery staple",
	"DisplayName":    "Kim Lee",
	"Role":           "reader",
	"Name":           "Web shop",
	"ExpiryDateTime": "2030-12-31",
	"Date":           "2024-01-31",
	"EventName":      "debtor.updated",
	"URL":            "https://shop.example/events",
	"Body":           object{"DebtorID": "0001"},
	"Header[]":       []any{object{"Name": "X-Shop", "Value": "7"}},
	"RetrySchedule":  "5s,30s,2m",
	"MaxPerMinute":   600,
	"Where":          object{},
	"Status":         3,
	"DryRun":         true,
	"Window":         "60m",
	"KeepFor":        "12h",
	"Skip":           0,
	"Take":           5,
	formatMember:     "json",
	"Format":         "cloudevents", // of subscriptions
	"op":             "SO_TotalsQuery",
	"Topics":         "stats",
	"bool":           true,
	"int":            1,
	"long":           1,
	"decimal":        1,
	"DateTime":       "2024-01-31",
	"Until":          "2030-12-31",
	"string[]":       []any{"..."},
}

// values returns sample values of members that are not in the path: a condition, an order and a page
// for a kind, and all required members. Without a kind it adds optional members with an example.
func (s sampler) values(path string) []sampleValue {
	var values []sampleValue
	if s.Kind != nil {
		values = kindSample(s.Kind)
	}
	for _, m := range s.outsidePath(path) {
		hasTypeExample := m.Type != "string" && m.Type != "Header[]"
		hasExample := hasTypeExample || examples[m.Name] != nil
		isShown := hasExample && s.Kind == nil
		if m.Required || isShown {
			values = append(values, exampleOf(m))
		}
	}
	return values
}

// exampleOf returns a sample value of a member.
func exampleOf(m Member) sampleValue {
	example := cmp.Or(examples[m.Name], examples[strings.TrimSuffix(m.Type, "?")], any("..."))
	text, isText := example.(string)
	if !isText {
		text = jsonText(example)
	}
	return sampleValue{name: m.Name, text: text, json: jsonText(example)}
}

// kindSample returns the members of a query for an ordered page, filtered by the
// first number of the kind, or by its first text.
func kindSample(k *record.Kind) []sampleValue {
	orderedBy := k.Fields[0].Name
	return []sampleValue{
		filterSample(k),
		{name: "OrderBy", text: orderedBy, json: jsonText(orderedBy)},
		{name: "Take", text: "5", json: "5"},
	}
}

// filterSample returns a condition on the first number of a kind, or on its first text.
func filterSample(k *record.Kind) sampleValue {
	for _, f := range k.Fields {
		if f.Type.Number() && f.Filter == record.OrderedFilter {
			return sampleValue{name: f.Name + record.GreaterThan.Suffix(), text: "0", json: "0"}
		}
	}
	for _, f := range k.Fields {
		if f.Filter == record.TextFilter {
			return sampleValue{name: f.Name + record.Contains.Suffix(), text: "a", json: `"a"`}
		}
	}
	return sampleValue{}
}

// jsonText returns a value as JSON.
func jsonText(v any) string {
	b, _ := json.Marshal(v) // strings, schemas and examples can always be encoded
	return string(b)
}

// sampleQuery returns values as a query string.
func sampleQuery(values []sampleValue) string {
	var pairs []string
	for _, v := range values {
		pairs = append(pairs, url.QueryEscape(v.name)+"="+url.QueryEscape(v.text))
	}
	return strings.Join(pairs, "&")
}

// sampleBody returns values as a JSON object.
func sampleBody(values []sampleValue) string {
	var members []string
	for _, v := range values {
		members = append(members, jsonText(v.name)+": "+v.json)
	}
	return "{" + strings.Join(members, ", ") + "}"
}

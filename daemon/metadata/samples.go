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

// all returns one command for each format.
func (o sampler) all() []wire.OperationSample {
	if len(o.Routes) == 0 {
		return nil
	}
	var samples []wire.OperationSample
	if o.Kind != nil {
		samples = append(samples, wire.OperationSample{
			Format:  "JSON, members in the body",
			Command: o.sample(encode.Formats()[0], true),
		})
	}
	for _, f := range encode.Formats() {
		if o.Formats != nil && !slices.Contains(o.Formats, f.Name) {
			continue
		}
		samples = append(samples, wire.OperationSample{
			Format:  strings.ToUpper(f.Name),
			Command: o.sample(f, o.Kind == nil),
		})
		if o.Media != "" || o.Response == nil && o.Kind == nil {
			samples[0].Format = "curl"
			break
		}
	}
	return samples
}

// sample returns one command. The members are sent in a JSON body or in the query
// string.
func (o sampler) sample(f encode.Format, inBody bool) string {
	route := o.Routes[0]
	method := route.Methods[0]
	for _, m := range route.Methods {
		if m == "POST" && inBody {
			method = m
		}
	}
	byPath := strings.Contains(route.Path, formatMember)
	formatInPath := f.Name
	command := "curl"
	if o.Role != "" {
		command += ` -H "Authorization: Bearer $KEY"`
	}
	if !byPath && o.Media == "" {
		command += " -H " + quoted("Accept: "+f.MediaTypes[0])
	}
	values := o.values(route.Path)
	if f.Binary {
		command += " -o " + o.Name + f.Suffix
		formatInPath = encode.PathNames()[0]
		if byPath {
			values = append(values, sampleValue{name: query.Format, text: f.Name})
		}
	}
	address := o.serviceURL + strings.Replace(route.Path, formatMember, formatInPath, 1)
	switch {
	case len(values) == 0 && method != "GET":
		command += " -X " + method
	case len(values) == 0:
	case method == "GET" || method == "DELETE":
		address += "?" + sampleQuery(values)
		if method == "DELETE" {
			command += " -X DELETE"
		}
	default:
		if method != "POST" {
			command += " -X " + method
		}
		return command + " \\\n  -H 'Content-Type: application/json' -d " + quoted(sampleBody(values)) +
			" \\\n  " + quoted(address)
	}
	return command + " \\\n  " + quoted(address)
}

// quoted quotes text for a POSIX shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

type sampleValue struct{ name, text, json string }

// examples are values of members by name or type, which the demo accepts.
var examples = map[string]any{
	"BillID": "45A7XTVRNIFJJF7M4YW7", "StageID": "A56V5IQ50VDJZMTSBHOH", "SettingID": "ac11c1bf-8086-46f3-b0c6-1e332c539728", "Contents": "Sewing",
	"UserName": "kim", "Password": "correct horse battery staple", "DisplayName": "Kim Lee", "Role": "reader", "Name": "Web shop", "ExpiryDateTime": "2030-12-31", "Date": "2024-01-31",
	"EventName": "debtor.updated", "URL": "https://shop.example/events",
	"Body": object{"DebtorID": "0001"}, "Header[]": []any{object{"Name": "X-Shop", "Value": "7"}},
	"RetrySchedule": "5s,30s,2m", "Where": object{},
	"Status": 3, "DryRun": true, "Window": "60m", "KeepFor": "12h", "Skip": 0, "Take": 5, "Format": "json", "op": "SO_TotalsQuery", "Topics": "stats",
	"bool": true, "int": 1, "long": 1, "decimal": 1, "DateTime": "2024-01-31", "string[]": []any{"..."},
}

// values returns sample values of the members outside and inside of the path.
func (o sampler) values(path string) []sampleValue {
	var values []sampleValue
	if o.Kind != nil {
		values = kindSample(o.Kind)
	}
	for _, m := range o.outsidePath(path) {
		hasExample := examples[m.Name] != nil || m.Type != "string" && m.Type != "Header[]"
		if m.Required || o.Kind == nil && hasExample {
			values = append(values, sample(m))
		}
	}
	return values
}

// sample returns a sample value of the member.
func sample(m Member) sampleValue {
	value := cmp.Or(examples[m.Name], examples[strings.TrimSuffix(m.Type, "?")], any("..."))
	text, isText := value.(string)
	if !isText {
		text = jsonText(value)
	}
	return sampleValue{m.Name, text, jsonText(value)}
}

// kindSample returns the members of a query for an ordered page, filtered by the
// first number of the kind, or by its first text.
func kindSample(k *record.Kind) []sampleValue {
	filter := sampleValue{}
	for _, f := range k.Fields {
		if f.Type.Number() && f.Filter == record.OrderedFilter {
			filter = sampleValue{f.Name + record.GreaterThan.Suffix(), "0", "0"}
			break
		}
		if f.Filter == record.TextFilter && filter.name == "" {
			filter = sampleValue{f.Name + record.Contains.Suffix(), "a", `"a"`}
		}
	}
	first := k.Fields[0].Name
	return []sampleValue{filter, {"OrderBy", first, jsonText(first)}, {"Take", "5", "5"}}
}

func jsonText(v any) string {
	b, _ := json.Marshal(v) // strings, schemas and examples can always be encoded
	return string(b)
}

func sampleQuery(values []sampleValue) string {
	var pairs []string
	for _, v := range values {
		pairs = append(pairs, url.QueryEscape(v.name)+"="+url.QueryEscape(v.text))
	}
	return strings.Join(pairs, "&")
}

func sampleBody(values []sampleValue) string {
	var members []string
	for _, v := range values {
		members = append(members, jsonText(v.name)+": "+v.json)
	}
	return "{" + strings.Join(members, ", ") + "}"
}

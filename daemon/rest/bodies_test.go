package rest_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest"
	demodata "github.com/bizhook/whd/daemon/demo"
)

// filterRequest is a way to send a filter: a list of values as In, and an order.
type filterRequest struct {
	name    string
	headers []string
	request func(field string, values []string) (query, body string)
}

var sendings = []filterRequest{
	{
		name:    "JSON",
		headers: []string{"Content-Type: application/json"},
		request: func(field string, values []string) (string, string) {
			list, _ := json.Marshal(values)
			return "", fmt.Sprintf(`{"%sIn":%s,"OrderByDesc":"%s"}`, field, list, field)
		},
	},
	{
		name:    "JSON with another Content-Type",
		headers: []string{"Content-Type: text/csv"},
		request: func(field string, values []string) (string, string) {
			list, _ := json.Marshal(values)
			return "", fmt.Sprintf("\ufeff\r\n {\"%sIn\":%s,\"orderbydesc\":\"%s\"}\n",
				strings.ToUpper(field), list, field)
		},
	},
	{
		name:    "query string",
		headers: nil,
		request: func(field string, values []string) (string, string) {
			return url.Values{field + "In": {listText(values)}, "OrderByDesc": {field}}.Encode(), ""
		},
	},
	{
		name: "query string with repeated names",
		request: func(field string, values []string) (string, string) {
			v := url.Values{"OrderByDesc": {field}}
			for _, text := range values {
				v.Add(field+"In", listText([]string{text}))
			}
			return v.Encode(), ""
		},
	},
	{
		name:    "form",
		headers: []string{"Content-Type: application/x-www-form-urlencoded"},
		request: func(field string, values []string) (string, string) {
			return "", url.Values{field + "In": {listText(values)}, "OrderByDesc": {field}}.Encode()
		},
	},
	{
		name:    "CSV",
		headers: []string{"Content-Type: text/csv; charset=utf-8"},
		request: func(field string, values []string) (string, string) {
			var b strings.Builder
			w := csv.NewWriter(&b)
			_ = w.WriteAll([][]string{{field + "In", "OrderByDesc"}, {listText(values), field}})
			return "", b.String()
		},
	},
	{
		name:    "PHP form",
		headers: []string{"Content-Type: application/x-www-form-urlencoded"},
		request: func(field string, values []string) (string, string) {
			v := url.Values{"OrderByDesc": {field}}
			for i, text := range values {
				v.Set(fmt.Sprintf("%sIn[%d]", field, i), text)
			}
			return "", v.Encode()
		},
	},
	{
		name:    "PHP query string",
		headers: nil,
		request: func(field string, values []string) (string, string) {
			return url.Values{field + "In[]": values, "OrderByDesc": {field}}.Encode(), ""
		},
	},
	{
		name:    "multipart form",
		headers: []string{multipartType},
		request: func(field string, values []string) (string, string) {
			return "", multipartBody(field+"In", listText(values), "OrderByDesc", field)
		},
	},
	{
		name:    "multipart form with repeated names",
		headers: []string{multipartType},
		request: func(field string, values []string) (string, string) {
			pairs := []string{"OrderByDesc", field}
			for _, text := range values {
				pairs = append(pairs, field+"In", listText([]string{text}))
			}
			return "", multipartBody(pairs...)
		},
	},
	{
		name:    "multipart form of PHP",
		headers: []string{multipartType},
		request: func(field string, values []string) (string, string) {
			pairs := []string{"orderbydesc", field}
			for i, text := range values {
				pairs = append(pairs, fmt.Sprintf("%sIn[%d]", field, i), text)
			}
			return "", multipartBody(pairs...)
		},
	},
	{
		name:    "XML",
		headers: []string{"Content-Type: application/xml; charset=utf-8"},
		request: func(field string, values []string) (string, string) {
			return "", xmlBody(fmt.Sprintf("<OrderByDesc>%s</OrderByDesc><%sIn>%s</%[2]sIn><Meta/><%[2]s xmlns:i='x' i:nil='true'/>", field, field, xmlItems("d:string", values)))
		},
	},
	{
		name:    "XML with a text list",
		headers: []string{"Content-Type: text/xml"},
		request: func(field string, values []string) (string, string) {
			return "", xmlBody(fmt.Sprintf("<%sIn>%s</%[1]sIn><OrderByDesc>%[1]s</OrderByDesc>", field,
				xmlText(listText(values))))
		},
	},
	{
		name:    "JSV",
		headers: []string{"Content-Type: application/jsv"},
		request: func(field string, values []string) (string, string) {
			return "", fmt.Sprintf("{%sIn:[%s],OrderByDesc:%s,Meta:{},%[1]s:}", field, listText(values), field)
		},
	},
	{
		name:    "both",
		headers: []string{"Content-Type: application/json"},
		request: func(field string, values []string) (string, string) {
			return url.Values{field + "In": {listText(values)}}.Encode(), fmt.Sprintf(`{"%sIn":["another"],"OrderByDesc":"%s"}`, field, field)
		},
	},
}

// listText returns the text form of a list.
func listText(values []string) string {
	var quoted []string
	for _, v := range values {
		quoted = append(quoted, `"`+strings.ReplaceAll(v, `"`, `""`)+`"`)
	}
	return strings.Join(quoted, ",")
}

const multipartType = "Content-Type: multipart/form-data; boundary=---------------------------7e3a"

func multipartBody(pairs ...string) string {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	_ = w.SetBoundary("---------------------------7e3a")
	for i := 0; i < len(pairs); i += 2 {
		_ = w.WriteField(pairs[i], pairs[i+1])
	}
	_ = w.Close()
	return b.String()
}

func xmlBody(members string) string {
	return `<?xml version="1.0" encoding="utf-8"?><Request xmlns="http://example.com/types" xmlns:d="http://example.com/arrays">` + members + `</Request>`
}

func xmlItems(name string, values []string) string {
	var b strings.Builder
	for _, text := range values {
		b.WriteString("<" + name + ">" + xmlText(text) + "</" + name + ">")
	}
	return b.String()
}

func xmlText(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}

func TestFilterInEveryRequestFormat(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	for _, kind := range record.Builtin().Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			c := c
			c.t = t
			field, values := kind.Fields[0].Name, firstValues(t, kind)
			want := ""
			for _, way := range sendings {
				query, body := way.request(field, values)
				method := "POST"
				if body == "" {
					method = "GET"
				}
				for _, path := range []string{
					"/json/reply/" + kind.Operation(),
					"/Queries/" + kind.Name,
					"/api/" + kind.Operation(),
					"/ndjson/reply/" + kind.Operation(),
				} {
					a := c.do(method+" "+path+"?"+query, body, way.headers...).want(t, 200).
						wantHeader(t, "X-Ignored-Members", "")
					got := rowsOf(t, a)
					if want == "" {
						want = got
					}
					if got != want {
						t.Errorf("%s to %s: got rows\n%s\nwant\n%s", way.name, path, shortened(got), shortened(want))
					}
				}
				a := c.do(method+" /csv/reply/"+kind.Operation()+"?"+query, body, way.headers...).want(t, 200)
				lines := strings.Count(a.body, "\r\n")
				if a.header.Get("X-Row-Count") != fmt.Sprint(strings.Count(want, "\n")) || lines < 2 {
					t.Errorf("%s as CSV: X-Row-Count %s, %d lines", way.name, a.header.Get("X-Row-Count"), lines)
				}
			}

			if n := strings.Count(want, "\n"); n < len(values) || n == demodata.Count(kind.Name) {
				t.Errorf("%v matches %d of %d rows", values, n, demodata.Count(kind.Name))
			}
		})
	}
}

// firstValues returns two values of the kind's first field in the demo records.
func firstValues(t *testing.T, kind *record.Kind) []string {
	var values []string
	n := 0
	for row := range demodata.Rows(kind) {
		n++
		if n == 3 || n == 7 {
			values = append(values, row[0].(string))
		}
	}
	if len(values) != 2 {
		t.Fatalf("%s has %d rows", kind.Name, n)
	}
	return values
}

// rowsOf returns the rows of a JSON or NDJSON response, one per line.
func rowsOf(t *testing.T, a answer) string {
	t.Helper()
	if strings.HasPrefix(a.header.Get("Content-Type"), "application/x-ndjson") {
		return a.body
	}
	var b strings.Builder
	for _, row := range a.envelope(t).Results {
		b.Write(row)
		b.WriteByte('\n')
	}
	return b.String()
}

// sampleValue returns a valid JSON value of the type.
func sampleValue(t record.Type) string {
	switch {
	case t == record.DateTime:
		return `"2019-05-01T10:11:12.1230000"`
	case t == record.Guid:
		return `"9f1c2e3a-0000-4000-8000-1234567890ab"`
	case t == record.Bool:
		return "true"
	case t == record.Bytes:
		return `"AQI="`
	case t == record.Decimal:
		return "12.3400"
	case t.Number():
		return "7"
	}
	return `"String"`
}

// sampleRequest returns an object with every member of the kind's queries.
func sampleRequest(kind *record.Kind) string {
	var members []string
	for _, f := range kind.Fields {
		sample := sampleValue(f.Type)
		for _, o := range f.Filter.Operators() {
			value := sample
			if o.Arity() != record.One {
				value = "[" + sample + "," + sample + "]"
				if f.Type == record.Byte {
					value = `"AQI="` // its type is byte[], as in interface.md
				}
			}
			members = append(members, fmt.Sprintf("%q:%s", f.Name+o.Suffix(), value))
		}
	}
	first := kind.Fields[0].Name
	members = append(members, `"Skip":0`, `"Take":10`, `"OrderBy":"`+first+`"`, `"OrderByDesc":"`+first+`"`,
		`"Include":"Total"`, `"Fields":"`+strings.Join(kind.FieldNames(), ",")+`"`, `"Meta":{"String":"String"}`)
	return "{" + strings.Join(members, ",") + "}"
}

func TestAllMembersAreAccepted(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	for _, kind := range record.Builtin().Kinds() {
		body := sampleRequest(kind)
		a := c.do("POST /json/reply/"+kind.Operation(), body, "Content-Type: application/json",
			"Accept: application/json").
			want(t, 200).wantHeader(t, "X-Ignored-Members", "").
			wantHeader(t, "Content-Type", "application/json; charset=utf-8")
		if e := a.envelope(t); e.Offset == nil || e.Total == nil || e.Results == nil || e.Meta == nil {
			t.Errorf("%s: not the whole envelope: %s", kind.Name, a.body)
		}
		a = c.do("POST /csv/reply/"+kind.Operation(), body, "Content-Type: text/csv", "Accept: text/csv").
			want(t, 200).wantHeader(t, "X-Ignored-Members", "").
			wantHeader(t, "Content-Type", "text/csv; charset=utf-8").
			wantHeader(t, "Content-Disposition", "attachment; filename="+kind.Operation()+".csv")
		if want := strings.Join(kind.FieldNames(), ",") + "\r\n"; a.body != want {
			t.Errorf("%s: %q, want %q", kind.Name, a.body, want)
		}
	}
}

func TestBodies(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	for _, test := range []struct {
		name, line, contentType, body string
		status                        int
		message                       string
	}{
		{
			name:        "GET with a JSON body",
			line:        "GET /json/reply/DB_ClassQuery",
			contentType: "application/json",
			body:        `{"Take":1}`,
			status:      200,
		},
		{
			name:        "HEAD with a body",
			line:        "HEAD /json/reply/DB_ClassQuery",
			contentType: "application/json",
			body:        `{"Take":1}`,
			status:      200,
		},
		{
			name:        "empty POST",
			line:        "POST /json/reply/DB_ClassQuery",
			contentType: "application/json",
			status:      200,
		},
		{
			name:        "white space",
			line:        "POST /json/reply/DB_ClassQuery",
			contentType: "application/json",
			body:        " \r\n\t",
			status:      200,
		},
		{
			name:   "no type",
			line:   "POST /json/reply/DB_ClassQuery",
			body:   `{"Take":1}`,
			status: 200,
		},
		{
			name:        "a broken type",
			line:        "POST /json/reply/DB_ClassQuery",
			contentType: "application/json; charset",
			body:        `{"Take":1}`,
			status:      200,
		},
		{
			name:   "CSV without type to a CSV route",
			line:   "POST /CSV/reply/DB_ClassQuery",
			body:   "Take\r\n1\r\n",
			status: 200,
		},
		{
			name:        "CSV with two value lines",
			line:        "POST /csv/reply/DB_ClassQuery",
			contentType: "text/csv",
			body:        "Take\n1\n2\n",
			status:      400,
			message:     "not 3 lines",
		},
		{
			name:        "CSV with a short line",
			line:        "POST /csv/reply/DB_ClassQuery",
			contentType: "text/csv",
			body:        "Take,Skip\n1\n",
			status:      400,
			message:     "CSV body cannot be read",
		},
		{
			name:        "a list",
			line:        "POST /json/reply/DB_ClassQuery",
			contentType: "application/json",
			body:        `[1]`,
			status:      400,
			message:     "not a JSON object",
		},
		{
			name:        "more behind it",
			line:        "POST /json/reply/DB_ClassQuery",
			contentType: "application/json",
			body:        `{} {}`,
			status:      400,
			message:     "unexpected data after the JSON object",
		},
		{
			name:        "cut short",
			line:        "POST /json/reply/DB_ClassQuery",
			contentType: "application/json",
			body:        `{"Class":`,
			status:      400,
			message:     "cannot be read at byte 9",
		},
		{
			name:        "a member twice",
			line:        "POST /json/reply/DB_ClassQuery",
			contentType: "application/json",
			body:        `{"Class":"a","Class":"b"}`,
			status:      400,
			message:     "duplicate member",
		},
		{
			name:        "bytes that are not UTF-8",
			line:        "POST /json/reply/DB_ClassQuery",
			contentType: "application/json",
			body:        "{\"Class\":\"\xff\"}",
			status:      400,
			message:     "not valid UTF-8",
		},
		{
			name:        "an unpaired surrogate",
			line:        "POST /json/reply/DB_ClassQuery",
			contentType: "application/json",
			body:        `{"Class":"\ud800"}`,
			status:      400,
			message:     "unpaired surrogate",
		},
		{
			name:   "deep JSON in an ignored member",
			line:   "POST /json/reply/DB_ClassQuery",
			body:   `{"Meta":` + nested(10000) + `}`,
			status: 200,
		},
		{
			name:    "deep JSON in a filter",
			line:    "POST /json/reply/DB_ClassQuery",
			body:    `{"Class":` + nested(10000) + `}`,
			status:  400,
			message: "Class",
		},
		{
			name:        "a form with a broken escape",
			line:        "POST /json/reply/DB_ClassQuery",
			contentType: "application/x-www-form-urlencoded",
			body:        "Class=%zz",
			status:      400,
			message:     "escapes",
		},
		{
			name:    "a query with a broken escape",
			line:    "GET /json/reply/DB_ClassQuery?Class=%zz",
			status:  400,
			message: "escapes",
		},
		{
			name:    "a query that is not UTF-8",
			line:    "GET /json/reply/DB_ClassQuery?Class=%ff",
			status:  400,
			message: "UTF-8",
		},
		{
			name:   "2,000 values",
			line:   "POST /json/reply/DB_ClassQuery",
			body:   `{"ClassIn":[` + strings.Repeat(`"x",`, 1999) + `"y"]}`,
			status: 200,
		},
		{
			name:    "2,001 values",
			line:    "POST /json/reply/DB_ClassQuery",
			body:    `{"ClassIn":[` + strings.Repeat(`"x",`, 2000) + `"y"]}`,
			status:  400,
			message: "at most 2000 values, not 2001",
		},
		{
			name:        "an image",
			line:        "POST /json/reply/DB_ClassQuery",
			contentType: "image/png",
			body:        `x`,
			status:      415,
			message:     "unsupported body type image/png; use application/json, application/x-www-form-urlencoded, multipart/form-data, text/csv, application/xml or text/jsv",
		},
		{
			name:        "an invalid type",
			line:        "POST /json/reply/DB_ClassQuery",
			contentType: ";;;",
			body:        "x",
			status:      415,
			message:     "Content-Type is invalid",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := c
			c.t = t
			var headers []string
			if test.contentType != "" {
				headers = []string{"Content-Type: " + test.contentType}
			}
			a := c.do(test.line, test.body, headers...).want(t, test.status)
			if !strings.Contains(a.body, test.message) {
				t.Errorf("%s does not contain %q", shortened(a.body), test.message)
			}
		})
	}

	c.do("POST /json/reply/DB_ClassQuery", "x", "Content-Encoding: gzip").want(t, http.StatusUnsupportedMediaType)
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// TestMembersInAnotherLetterCase checks that the last of them counts, as in the existing
// service, and that the response names the others.
func TestMembersInAnotherLetterCase(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	for body, ignored := range map[string]string{
		`{"Take":5,"take":1}`:          "Take",
		`{"Take":1,"take":1}`:          "",
		`{"take":7,"TAKE":6,"Take":1}`: "take, TAKE",
		`{"Take":5,"take":1,"X":1}`:    "Take, X",
	} {
		a := c.do("POST /json/reply/DB_ClassQuery", body).want(t, 200)
		a.wantHeader(t, "X-Row-Count", "1").wantHeader(t, "X-Ignored-Members", ignored)
	}
	c.do("POST /json/reply/DB_ClassQuery?Strict=true", `{"Take":5,"take":1}`).want(t, 400).
		wantMessage(t, `"FieldName":"Take","Message":"has no effect"`)
	c.do("POST /auth", `{"UserName":"other","username":"admin","password":"`+daemontest.AdminPassword+`"}`).want(t, 200).
		wantHeader(t, "X-Ignored-Members", "UserName")
}

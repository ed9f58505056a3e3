package rest_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/query"
)

// bodyWriter writes the bodies of the webhook operations in one type.
type bodyWriter struct {
	name, contentType string
	members           func(pairs ...string) string              // of names and values
	subscription      func(url string, values [2]string) string // with two headers, X-First and X-Second
}

const (
	formType = "Content-Type: application/x-www-form-urlencoded"
	jsonType = "Content-Type: application/json"
	xmlType  = "Content-Type: application/xml"
	jsvType  = "Content-Type: text/jsv"
)

func formOf(pairs ...string) string {
	v := make(url.Values)
	for i := 0; i < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v.Encode()
}

func xmlOf(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString("<" + pairs[i] + ">" + xmlText(pairs[i+1]) + "</" + pairs[i] + ">")
	}
	return xmlBody(b.String())
}

func jsvText(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

func jsvOf(pairs ...string) string {
	var all []string
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, pairs[i]+":"+jsvText(pairs[i+1]))
	}
	return "{" + strings.Join(all, ",") + "}"
}

func jsonOf(pairs ...string) string {
	var all []string
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, strconv.Quote(pairs[i])+":"+strconv.Quote(pairs[i+1]))
	}
	return "{" + strings.Join(all, ",") + "}"
}

// phpHeaders are the fields that PHP makes of a list of headers.
func phpHeaders(url string, values [2]string) []string {
	return []string{
		"URL", url, "EventName", "debtor.*", "Headers[0][Name]", "X-First",
		"Headers[0][Value]", values[0], "Headers[1][Name]", "X-Second",
		"Headers[1][Value]", values[1],
	}
}

func listHeaders(values [2]string) string {
	return `[{"Name":"X-First","Value":` + strconv.Quote(values[0]) + `},{"Name":"X-Second","Value":` + strconv.Quote(values[1]) + `}]`
}

var bodyWriters = []bodyWriter{
	{
		name:        "JSON",
		contentType: jsonType,
		members:     jsonOf,
		subscription: func(url string, v [2]string) string {
			return `{"URL":"` + url + `","EventName":"debtor.*","Headers":` + listHeaders(v) + `}`
		},
	},
	{
		name:        "form",
		contentType: formType,
		members:     formOf,
		subscription: func(url string, v [2]string) string {
			return formOf("URL", url, "EventName", "debtor.*", "Headers", listHeaders(v))
		},
	},
	{
		name:         "PHP form",
		contentType:  formType,
		members:      formOf,
		subscription: func(url string, v [2]string) string { return formOf(phpHeaders(url, v)...) },
	},
	{
		name:        "multipart",
		contentType: multipartType,
		members:     multipartBody,
		subscription: func(url string, v [2]string) string {
			return multipartBody("URL", url, "EventName", "debtor.*", "Headers",
				"[{Name:X-First,Value:"+jsvText(v[0])+"},{Name:X-Second,Value:"+jsvText(v[1])+"}]")
		},
	},
	{
		name:         "multipart of PHP",
		contentType:  multipartType,
		members:      multipartBody,
		subscription: func(url string, v [2]string) string { return multipartBody(phpHeaders(url, v)...) },
	},
	{
		name:        "XML",
		contentType: xmlType,
		members:     xmlOf,
		subscription: func(url string, v [2]string) string {
			return xmlBody("<URL>" + url + "</URL><EventName>debtor.*</EventName><Headers><Header><Name>X-First</Name><Value>" + xmlText(v[0]) +
				"</Value></Header><Header><Name>X-Second</Name><Value>" + xmlText(v[1]) + "</Value></Header></Headers>")
		},
	},
	{
		name:        "JSV",
		contentType: jsvType,
		members:     jsvOf,
		subscription: func(url string, v [2]string) string {
			return "{URL:" + url + ",EventName:debtor.*,Headers:[{Name:X-First,Value:" + jsvText(v[0]) + "},{Name:X-Second,Value:" + jsvText(v[1]) + "}]}"
		},
	},
	{
		name:        "CSV",
		contentType: "Content-Type: text/csv",
		members: func(pairs ...string) string {
			var names, values []string
			for i := 0; i < len(pairs); i += 2 {
				names, values = append(names, pairs[i]), append(values, jsvText(pairs[i+1]))
			}
			return strings.Join(names, ",") + "\r\n" + strings.Join(values, ",") + "\r\n"
		},
		subscription: func(url string, v [2]string) string {
			return "URL,EventName,Headers\r\n" + url + ",debtor.*," + jsvText(listHeaders(v)) + "\r\n"
		},
	},
}

// TestWebhooksInEveryBodyType makes a subscriber and a subscription with headers and
// publishes an event with bodies of each type, and checks the delivery byte for byte.
func TestWebhooksInEveryBodyType(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8")
	boss, c := asAdmin(t, i), anonymous(t, i)
	values := [2]string{`a, "b" <c> & {d}`, "ü 2"}
	for _, w := range bodyWriters {
		t.Run(w.name, func(t *testing.T) {
			boss, c := boss, c
			boss.t, c.t = t, t
			delivered := make(chan *http.Request, 10)
			receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { delivered <- withBody(t, r) }))
			t.Cleanup(receiver.Close)
			made := read[wire.Subscriber](t,
				boss.do("POST /Webhooks/Subscribers/",
					w.members("Name", `Shop "1", <é>`, "isenabled", "True"), w.contentType).want(t, 201))
			if made.Name != `Shop "1", <é>` || !made.IsEnabled {
				t.Errorf("the new subscriber is %+v, want the name of the request, enabled", made)
			}

			path := "/Webhooks/Subscribers/" + made.RecID
			s := read[wire.Subscription](t, c.do("POST "+path+"/Subscriptions/",
				w.subscription(receiver.URL, values), w.contentType).want(t, 201).
				wantHeader(t, "X-Ignored-Members", ""))
			if len(s.Headers) != 2 {
				t.Fatalf("the new subscription is %+v, want two headers", s)
			}

			for _, body := range []string{`{"No":"1","Lines":[1.50,null]}`, `<D a="1">,]}é</D>`} {
				boss.do("POST /Webhooks/Events/",
					w.members("EventName", "debtor.created", "Body", body), w.contentType).want(t, 201)
				r := <-delivered
				got := r.Form.Get("body")
				if got != body || r.Header.Get("X-First") != values[0] || r.Header.Get("X-Second") != values[1] {
					t.Errorf("delivered %s with %v", got, r.Header)
				}
			}

			changed := read[wire.Subscription](t,
				c.do("PATCH "+path+"/Subscriptions",
					w.members("SubscriptionID", s.RecID, "EventName",
						"debtor.created", "RowHash", ""), w.contentType).want(t, 200))
			if changed.EventName != "debtor.created" || len(changed.Headers) != 2 {
				t.Errorf("the subscription is %+v, want debtor.created with two headers", changed)
			}

			boss.do("PATCH "+path, w.members("IsEnabled", "0"), w.contentType).want(t, 200)
			boss.do("DELETE "+path, "").want(t, 204)
		})
	}
}

// withBody returns a request with its body as a form value.
func withBody(t *testing.T, r *http.Request) *http.Request {
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Error(err)
	}
	_, body, _ := strings.Cut(b.String(), "\r\n\r\n")
	r.Form = url.Values{"body": {body}}
	return r
}

// TestTestTargetDeclaresTypeOfBody checks that the target for testing webhooks has the type
// of the body that it returns, which is never that of a page.
func TestTestTargetDeclaresTypeOfBody(t *testing.T) {
	c := anonymous(t, demo.start(t))
	for body, want := range map[string]string{
		`{"a":1}`:  "application/json; charset=utf-8",
		"hello":    "text/plain; charset=utf-8",
		"<script>": "text/plain; charset=utf-8",
	} {
		a := c.do("POST /Webhooks/Test", body, "Content-Type: text/html", "Accept: text/html").want(t, 201)
		if a.body != body {
			t.Errorf("%q was returned as %q", body, a.body)
		}
		a.wantHeader(t, "Content-Type", want)
	}
}

func TestEventBodies(t *testing.T) {
	boss := asAdmin(t, daemontest.Start(t))
	for _, test := range []struct {
		name, contentType, body string
		status                  int
	}{
		{
			name:        "elements",
			contentType: xmlType,
			body:        xmlBody("<EventName>debtor.created</EventName><Body><No>1</No></Body>"),
			status:      400,
		},
		{
			name:        "CDATA",
			contentType: xmlType,
			body:        xmlBody("<EventName>debtor.created</EventName><Body><![CDATA[{\"No\":1}]]></Body>"),
			status:      201,
		},
		// As "" in JSON.
		{
			name:        "an empty element",
			contentType: xmlType,
			body:        xmlBody("<EventName>debtor.created</EventName><Body/>"),
			status:      201,
		},
		{
			name:        "fields of a body",
			contentType: multipartType,
			body:        multipartBody("EventName", "debtor.created", "Body[No]", "1"),
			status:      400,
		},
		{
			name:        "JSV in JSV",
			contentType: jsvType,
			body:        `{EventName:debtor.created,Body:{No:1}}`,
			status:      201,
		},
		{
			name:        "an empty list",
			contentType: jsonType,
			body:        `{"EventName":"debtor.created","Body":[]}`,
			status:      201,
		},
		{
			name:        "an empty object",
			contentType: jsonType,
			body:        `{"EventName":"debtor.created","Body":{}}`,
			status:      201,
		},
		{
			name:        "null",
			contentType: jsonType,
			body:        `{"EventName":"debtor.created","Body":null}`,
			status:      400,
		},
		{name: "NUL in an object", contentType: jsvType, body: "{EventName:debtor.created,Body:{a:x\x00y}}", status: 400},
		{name: "no body", contentType: jsvType, body: `{EventName:debtor.created,Body:}`, status: 400},
	} {
		a := boss.do("POST /Webhooks/Events", test.body, test.contentType)
		if a.status != test.status {
			t.Errorf("%s: status %d, want %d: %s", test.name, a.status, test.status, a.body)
		}
		if test.status == 400 && !strings.Contains(a.body, `"FieldName":"Body"`) {
			t.Errorf("%s: got %s, want an error for Body", test.name, a.body)
		}
	}
}

func TestOneHeaderIsAList(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8")
	path := "/Webhooks/Subscribers/" + read[wire.Subscriber](t,
		asAdmin(t, i).do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201)).RecID + "/Subscriptions"
	for _, test := range []struct{ query, contentType, body string }{
		{
			contentType: jsonType,
			body:        `{"URL":"http://127.0.0.1:9/","EventName":"*","Headers":{"Name":"X","Value":"1"}}`,
		},
		{
			contentType: jsvType,
			body:        `{URL:http://127.0.0.1:9/,EventName:*,Headers:{Name:X,Value:1}}`,
		},
		{
			contentType: xmlType,
			body:        xmlBody("<URL>http://127.0.0.1:9/</URL><EventName>*</EventName><Headers><Name>X</Name><Value>1</Value></Headers>"),
		},
		{
			contentType: formType,
			body:        "URL=http://127.0.0.1:9/&EventName=*&Headers[Name]=X&Headers[Value]=1",
		},
		{
			query:       "?URL=http://127.0.0.1:9/&EventName=*&Headers=%7BName:X,Value:1%7D",
			contentType: formType,
		},
	} {
		s := read[wire.Subscription](t, anonymous(t, i).do("POST "+path+test.query,
			test.body, test.contentType).want(t, 201))
		if len(s.Headers) != 1 || s.Headers[0].Name != "X" {
			t.Errorf("%s%s: got the headers %+v, want X", test.query, test.body, s.Headers)
		}
	}
}

// TestEveryBodyTypeHasATest checks that the tests use all media types and formats of
// the table.
func TestEveryBodyTypeHasATest(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	samples := map[string]string{
		"json":      `{"Take":1}`,
		"form":      "Take=1",
		"multipart": multipartBody("Take", "1"),
		"csv":       "Take\r\n1",
		"xml":       xmlOf("Take", "1"),
		"jsv":       "{Take:1}",
	}
	for _, bodyType := range query.BodyTypes() {
		for _, media := range bodyType.MediaTypes {
			if bodyType.Name == "multipart" {
				media = strings.TrimPrefix(multipartType, "Content-Type: ")
			}
			c.do("POST /api/DB_ClassQuery", samples[bodyType.Name], "Content-Type: "+media).want(t, 200).
				wantHeader(t, "X-Row-Count", "1")
		}
		if bodyType.Name != "form" && bodyType.Name != "multipart" {
			c.do("POST /"+bodyType.Name+"/reply/DB_ClassQuery", samples[bodyType.Name]).want(t, 200).
				wantHeader(t, "X-Row-Count", "1")
		}
	}
}

func TestEmptyValues(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	all := c.do("POST /json/reply/BM_InputsQuery", "{}").want(t, 200).header.Get("X-Row-Count")
	for body, contentType := range map[string]string{
		`{"RowHash":"","SubAssemblyExplodePolicyIn":"","RecIDIn":[]}`:                            jsonType,
		`{RowHash:"",SubAssemblyExplodePolicyIn:"",RecIDIn:[],NoteIn:"",RecID:}`:                 jsvType,
		xmlBody("<RowHash/><SubAssemblyExplodePolicyIn></SubAssemblyExplodePolicyIn><RecIDIn/>"): xmlType,
		"RowHash=&RecIDIn[]=&NoteIn=":                              formType,
		multipartBody("RowHash", "", "RecIDIn[0]", "", "Take", ""): multipartType,
	} {
		c.do("POST /json/reply/BM_InputsQuery", body, contentType).want(t, 200).wantHeader(t, "X-Row-Count", all)
	}
	for body, contentType := range map[string]string{
		`{"RecID":""}`:      jsonType,
		`{RecID:""}`:        jsvType,
		xmlBody("<RecID/>"): xmlType,
	} {
		c.do("POST /json/reply/BM_InputsQuery", body, contentType).want(t, 200).wantHeader(t, "X-Row-Count", "0")
	}
}

// TestDatesOfWebhooks checks the form of dates with and without jsconfig and
// webhooks.dates.
func TestDatesOfWebhooks(t *testing.T) {
	const legacy, iso = `"/Date(`, `"LastSavedDateTime":"2`
	for setting, usual := range map[string]string{"legacy": legacy, "iso": iso} {
		i := daemontest.Start(t, "--webhooks-dates", setting)
		c := asAdmin(t, i)
		id := read[wire.Subscriber](t, c.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201)).RecID
		for line, want := range map[string]string{
			"GET /Webhooks/Subscribers":                                                                 usual,
			"GET /Webhooks/Subscribers?callback=f":                                                      usual,
			"GET /Webhooks/Subscribers/" + id:                                                           usual,
			"GET /Webhooks/Subscribers?jsconfig=dh:iso8601":                                             iso,
			"GET /Webhooks/Subscribers.json?jsconfig=%7Binv:true,DateHandler:ISO8601%7D":                iso,
			"GET /json/reply/WebhooksSubscribersGETRequest?SubscriberID=" + id + "&jsconfig=DH:iso8601": iso,
			"GET /Webhooks/Subscribers?jsconfig=dh:tue":                                                 usual,
			"GET /Webhooks/Subscribers.ndjson":                                                          iso,
			"GET /Webhooks/Subscribers/" + id + "?format=ndjson":                                        iso,
		} {
			a := c.do(line, "").want(t, 200)
			if !strings.Contains(a.body, want) || strings.Contains(a.body, legacy) != (want == legacy) {
				t.Errorf("webhooks.dates=%s, %s: %s", setting, line, a.body)
			}
		}

		for _, since := range []string{
			"/Date(1530664812000)/",
			`\/Date(1530664812000+0000)\/`,
			"2018-07-04T00:40:12.0000000",
			"2018-07-04",
			"2018-07-04T00:40:12 10:00",
			"2018-07-04T00:40:12+10:00",
		} {
			for line, body := range map[string]string{
				"GET /Webhooks/Subscribers?LastSavedDateTimeGreaterThan=" + since: "",
				"POST /api/WebhooksSubscribersGETManyRequest":                     jsonOf("LastSavedDateTimeGreaterThan", since),
			} {
				line, query, _ := strings.Cut(line, "?")
				if query != "" {
					line += "?" + strings.NewReplacer(" ", "+", `\`, "%5C").Replace(query)
				}
				if rows := c.do(line, body).want(t, 200).envelope(t).Results; len(rows) != 1 {
					t.Errorf("%s %s: %d rows", line, body, len(rows))
				}
			}
		}
	}
}

// TestFormsOfTools sends a subscription with two headers by curl -F, as a form with
// fields and as a file, and by the form encoder of PHP.
func TestFormsOfTools(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8")
	path := "/Webhooks/Subscribers/" + read[wire.Subscriber](t,
		asAdmin(t, i).do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201)).RecID + "/Subscriptions"
	body := filepath.Join(t.TempDir(), "headers.json")
	if err := os.WriteFile(body, []byte(listHeaders([2]string{"1", "ü"})), 0o600); err != nil {
		t.Fatal(err)
	}

	curl := []string{
		"--silent",
		"--show-error",
		"--fail",
		"--noproxy", "*",
		i.URL + path,
		"-F", "URL=http://127.0.0.1:9/",
		"-F", "EventName=debtor.*",
		"-F",
	}

	for name, command := range map[string][]string{
		"fields": append(slices.Clip(curl), "Headers[0][Name]=X-First", "-F", "Headers[0][Value]=a, b",
			"-F", "Headers[1][Name]=X-Second"),
		"list": append(slices.Clip(curl), `Headers=[{Name:X-First,Value:1},{Name:X-Second,Value:2}]`),
		"file": append(slices.Clip(curl), "Headers=@"+body+";type=application/json"),
		"php": {
			"-r",
			`$form = ['URL' => 'http://127.0.0.1:9/', 'EventName' => 'debtor.*', 'Headers' => [['Name' => 'X-First', 'Value' => 'a, b'], ['Name' => 'X-Second', 'Value' => '']]];
			$options = ['http' => ['method' => 'POST', 'header' => 'Content-Type: application/x-www-form-urlencoded', 'content' => http_build_query($form)]];
			exit(file_get_contents($argv[1], false, stream_context_create($options)) === false ? 1 : 0);`,
			i.URL + path,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tool := "curl"
			if name == "php" {
				tool = name
			}
			if err := runTool(t, tool, command...); err != nil {
				t.Fatal(err)
			}
			all := read[[]wire.Subscription](t, anonymous(t, i).do("GET "+path, "").want(t, 200))
			last := all[len(all)-1]
			if last.URL != "http://127.0.0.1:9/" || len(last.Headers) != 2 || last.Headers[1].Name != "X-Second" {
				t.Errorf("the last subscription is %+v, want two headers, the second one X-Second", last)
			}
			anonymous(t, i).do("DELETE "+path+"/"+all[len(all)-1].RecID, "").want(t, 204)
		})
	}
}

// TestUnreadableBodies checks the errors for bodies in other encodings, and for those
// that would become large trees.
func TestUnreadableBodies(t *testing.T) {
	c := anonymous(t, demo.start(t))
	for _, contentType := range []string{xmlType, jsonType, formType} {
		c.do("POST /api/AddSubscription", xmlBody("<A>\xe9</A>"), contentType+"; charset=iso-8859-1").want(t, 415).
			wantMessage(t, "the body must be in UTF-8, not iso-8859-1")
	}
	c.do("POST /api/AddSubscription", `<?xml version="1.0" encoding="windows-1252"?>`+xmlBody("<A>\xe9</A>"), xmlType).want(t, 415).
		wantMessage(t, "the body must be in UTF-8, not windows-1252")
	c.do("POST /api/AddSubscription", strings.Repeat("a"+strings.Repeat("[]", 30)+"=1&", 10_000), formType).want(t, 400)
}

// TestBodyIsReadOnce measures the memory for a form by an operation's name, which needs
// the members for the path, for the operation, and for the request log.
func TestBodyIsReadOnce(t *testing.T) {
	var body strings.Builder
	for i := range 20_000 {
		body.WriteString("&member" + strconv.Itoa(i) + "=1")
	}
	allocated := func(work func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		work()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	c := anonymous(t, demo.start(t))
	once := allocated(func() { _, _ = query.ReadForm(body.String()) })
	all := allocated(func() {
		c.do("POST /api/AddSubscription",
			"SubscriberID=x"+body.String(), formType).want(t, 404)
	})
	if all > 2*once {
		t.Errorf("%d bytes, but %d to read the form", all, once)
	}
}

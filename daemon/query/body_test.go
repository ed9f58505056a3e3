package query

import (
	"bytes"
	"mime/multipart"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/fault"
)

// noMembers is the result for a body without members.
var noMembers = Members{}

// bodies has bodies of each type with their members; nil for a body that is refused.
var bodies = []struct {
	name, contentType, route, body string
	want                           Members
}{
	{"texts", "application/xml", "json", `<?xml version="1.0" encoding="utf-8"?><!-- c --><Op xmlns="urn:x"><A>a &amp;&#x42;<![CDATA[<c>]]> </A><b/></Op>`, Members{text("A", "a &B<c> "), text("b", "")}},
	{"prefixes", "text/xml; charset=utf-8", "json", `<q:Op xmlns:q="urn:x"><q:A>1</q:A></q:Op>`, Members{text("A", "1")}},
	{"XML null", "text/xml", "", `<Op xmlns:i="urn:i"><A i:nil="true"/><B nil="1"></B></Op>`, Members{null("A"), null("B")}},
	{"XML lists", "text/xml", "", "<Op>\n<A><string>a,b</string><string/></A> <B><Item>1</Item></B></Op>", Members{list("A", "a,b", ""), list("B", "1")}},
	{"XML objects", "text/xml", "", `<Op><H><Header><Name>X</Name><Value>"1"</Value></Header></H></Op>`, Members{other("H", true, `[{"Name":"X","Value":"\"1\""}]`)}},
	{"one XML object", "text/xml", "", `<Op><H><Name>X</Name><List><a>1</a><a>2</a></List><One><a>1</a></One></H></Op>`, Members{other("H", false, `{"List":["1","2"],"Name":"X","One":{"a":"1"}}`)}},
	{"a null in an XML list", "text/xml", "", `<Op><A><a nil="true"/><a>1</a></A></Op>`, Members{other("A", true, `[null,"1"]`)}},
	{"no members", "text/xml", "", `<Op/>`, noMembers},
	{"XML by the route", "", "XML", `<Op><A>1</A></Op>`, Members{text("A", "1")}},
	{"a document type", "text/xml", "", `<!DOCTYPE Op [<!ENTITY e "x">]><Op><A>1</A></Op>`, nil},
	{"an entity", "text/xml", "", `<Op><A>&e;</A></Op>`, nil},
	{"an HTML entity", "text/xml", "", `<Op><A>&nbsp;</A></Op>`, nil},
	{"cut XML", "text/xml", "", `<Op><A>1</A>`, nil},
	{"crossed elements", "text/xml", "", `<Op><A>1</Op></A>`, nil},
	{"two roots", "text/xml", "", `<Op/><Op/>`, nil},
	{"text behind the root", "text/xml", "", `<Op/>x`, nil},
	{"no root", "text/xml", "", `x`, nil},
	{"text between elements", "text/xml", "", `<Op><A>1<b/></A></Op>`, nil},
	{"an XML member twice", "text/xml", "", `<Op><A>1</A><a>2</a></Op>`, nil},
	{"XML attributes without a value", "text/xml", "", `<Op xmlns="urn:x" xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="Op" xml:lang="en"><A i:nil="false">1</A><B i:nil="1"> </B></Op>`, Members{text("A", "1"), null("B")}},
	{"text in the root", "text/xml", "", `<Op>Take=1</Op>`, nil},
	{"an attribute of the root", "text/xml", "", `<Op Take="1"><A>1</A></Op>`, nil},
	{"an attribute next to text", "text/xml", "", `<Op><A Name="x">1</A></Op>`, nil},
	{"text in an XML null", "text/xml", "", `<Op><A nil="true">1</A></Op>`, nil},
	{"XML that is not UTF-8", "text/xml", "", "<Op><A>\xff</A></Op>", nil},
	{"deep XML", "text/xml", "", strings.Repeat("<a>", 33) + strings.Repeat("</a>", 33), nil},
	{"large XML", "text/xml", "", "<Op><A>" + strings.Repeat("<a/>", 20_000) + "</A></Op>", nil},

	{"JSV", "text/jsv", "json", `{Name: x ,"a,b":"quoted ""text""",Empty:"",URL:http://h/?a=[1,Flag:True}`, Members{text("Name", " x "), text("a,b", `quoted "text"`), text("Empty", ""), text("URL", "http://h/?a=[1"), text("Flag", "True")}},
	{"JSV lists", "application/jsv", "", `{A:[a," b,c ",x y],B:[],C:[1]}`, Members{
		{Name: "A", Texts: []string{"a", " b,c ", "x y"}, List: true, Raw: `[a," b,c ",x y]`}, {Name: "B", List: true, Empty: true, Raw: "[]"}, {Name: "C", Texts: []string{"1"}, List: true, Raw: "[1]"}}},
	{"nested JSV", "application/x-jsv", "", `{H:[{Name:X,Value:"],"}],O:{a:{b:"}"}},N:[a,],L:[[1],2]}`, Members{
		{Name: "H", List: true, Other: true, Raw: `[{Name:X,Value:"],"}]`}, {Name: "O", Other: true, Raw: `{a:{b:"}"}}`},
		{Name: "N", List: true, Other: true, Raw: `[a,]`}, {Name: "L", List: true, Other: true, Raw: `[[1],2]`}}},
	{"JSV nulls", "text/jsv", "", `{A:,B:}`, Members{null("A"), null("B")}},
	{"JSV on lines", "text/jsv", "", "\ufeff{\r\n  A:1,\r\n  B:2\r\n}\n", Members{text("A", "1"), text("B", "2")}},
	{"JSON as JSV", "text/jsv", "", `{"A":"\u0041","B":null}`, Members{{Name: "A", Texts: []string{"A"}, Raw: `"\u0041"`}, null("B")}},
	{"JSV by the route", "", "jsv", `{A:1}`, Members{text("A", "1")}},
	{"JSV as JSON", "application/json", "jsv", `{A:1}`, nil},
	{"cut JSV", "text/jsv", "", `{A:1`, nil},
	{"an open quote", "text/jsv", "", `{A:"1}`, nil},
	{"text behind a quote", "text/jsv", "", `{A:"1"x}`, nil},
	{"text behind a list", "text/jsv", "", `{A:[1]x}`, nil},
	{"crossed brackets", "text/jsv", "", `{A:[{b:1]}}`, nil},
	{"text behind JSV", "text/jsv", "", `{A:1}x`, nil},
	{"no JSV name", "text/jsv", "", `{:1}`, nil},
	{"no colon", "text/jsv", "", `{A,B:1}`, nil},
	{"a comma too many", "text/jsv", "", `{A:1,}`, nil},
	{"no JSV object", "text/jsv", "", `[1]`, nil},
	{"a JSV member twice", "text/jsv", "", `{A:1,a:2}`, nil},
	{"JSV that is not UTF-8", "text/jsv", "", "{A:\xff}", nil},

	{"PHP lists", "application/x-www-form-urlencoded", "", "A[]=1,2&a%5B%5D=3&B[0]=x&B[7]=y&C=1", Members{text("C", "1"), list("A", "1,2", "3"), list("B", "x", "y")}},
	{"PHP objects", "application/x-www-form-urlencoded", "", "H[0][Name]=X&h[0][Value]=1&H[1][Name]=Y&H[1][Value]=&M[a]=b&M[1]=c&E[]=", Members{
		other("H", true, `[{"Name":"X","Value":"1"},{"Name":"Y","Value":""}]`), other("M", false, `{"1":"c","a":"b"}`), null("E")}},
	{"PHP objects without numbers", "application/x-www-form-urlencoded", "", "A[][x]=1&A[][x]=2", Members{other("A", true, `[{"x":"1"},{"x":"2"}]`)}},
	{"empty items", "application/x-www-form-urlencoded", "", "A[]=&A[]=1&A[]=", Members{list("A", "1")}},
	{"brackets elsewhere", "application/x-www-form-urlencoded", "", "[a]=1&b]=2&c[d=3", Members{text("[a]", "1"), text("b]", "2"), text("c[d", "3")}},
	{"a list and a text", "application/x-www-form-urlencoded", "", "A[]=1&A=2", nil},
	{"a text and a list", "application/x-www-form-urlencoded", "", "A[0]=1&A[0][x]=2", nil},
	{"an item twice", "application/x-www-form-urlencoded", "", "A[0]=1&A[0]=2", nil},
	{"deep brackets", "application/x-www-form-urlencoded", "", "A" + strings.Repeat("[a]", 33) + "=1", nil},
	{"many brackets", "application/x-www-form-urlencoded", "", manyBrackets(20_001), nil},
	{"many empty brackets", "application/x-www-form-urlencoded", "", strings.Repeat("a"+strings.Repeat("[]", 30)+"=1&", 700), nil},

	{"fields", "multipart/form-data; boundary=b", "", parts("A", "a,b", "A", " c", "E", "", "H[0][Name]", "X", "M", "é\r\n"), Members{
		{Name: "A", Texts: []string{"a,b", " c"}}, {Name: "E", Empty: true}, text("M", "é\r\n"), other("H", true, `[{"Name":"X"}]`)}},
	{"a file", `multipart/form-data; boundary="b"`, "", "--b\r\nContent-Disposition: form-data; name=\"Body\"; filename=\"a.json\"\r\nContent-Type: application/json\r\n\r\n{\"a\":1}\r\n--b--", Members{text("Body", `{"a":1}`)}},
	{"a binary file", "multipart/form-data; boundary=b", "", parts("A", "\xff\xd8"), nil},
	{"a file with NUL", "multipart/form-data; boundary=b", "", parts("A", "a\x00"), nil},
	{"no name", "multipart/form-data; boundary=b", "", "--b\r\nContent-Type: text/plain\r\n\r\na\r\n--b--", nil},
	{"no boundary", "multipart/form-data", "", parts("A", "1"), nil},
	{"another boundary", "multipart/form-data; boundary=c", "", parts("A", "1"), nil},
	{"a cut part", "multipart/form-data; boundary=b", "", strings.TrimSuffix(parts("A", "1"), "\r\n--b--\r\n"), nil},
	{"no parts", "multipart/form-data; boundary=b", "", "--b--\r\n", noMembers},
}

func text(name, value string) Member { return Member{Name: name, Texts: []string{value}} }

func null(name string) Member { return Member{Name: name, Empty: true, Raw: "null"} }

func list(name string, texts ...string) Member { return Member{Name: name, Texts: texts, List: true} }

func other(name string, list bool, json string) Member {
	return Member{Name: name, Texts: []string{json}, List: list, Other: true}
}

func manyBrackets(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("&A[" + strconv.Itoa(i) + "]=1")
	}
	return b.String()
}

// parts returns a multipart body with the boundary b.
func parts(pairs ...string) string {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	_ = w.SetBoundary("b")
	for i := 0; i < len(pairs); i += 2 {
		_ = w.WriteField(pairs[i], pairs[i+1])
	}
	_ = w.Close()
	return b.String()
}

func TestReadBody(t *testing.T) {
	for _, test := range bodies {
		got, err := ReadBody([]byte(test.body), test.contentType, test.route)
		wantRefusal := test.want == nil
		if wantRefusal != fault.Is(err, fault.Malformed) || !sameMembers(got, test.want) {
			t.Errorf("%s: %.100s\ngot  %+v, %v\nwant %+v", test.name, test.body, got, err, test.want)
			continue
		}
		for i := range got {
			if got[i].Raw != test.want[i].Raw {
				t.Errorf("%s: raw %s, want %s", test.name, got[i].Raw, test.want[i].Raw)
			}
		}
	}
}

// TestReadBodyInUTF8 checks that bodies in other encodings are refused as such.
func TestReadBodyInUTF8(t *testing.T) {
	for _, body := range []struct{ contentType, body string }{
		{"text/xml", "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><Op><A>\xe9</A></Op>"},
		{"application/json; charset=ISO-8859-1", "{\"A\":\"\xe9\"}"},
		{"application/json; charset=utf-16", "{\x00"},
	} {
		_, err := ReadBody([]byte(body.body), body.contentType, "")
		if !fault.Is(err, fault.Unsupported) || !strings.Contains(fault.From(err).Message, "UTF-8") {
			t.Errorf("reading %q as %s: got the error %v, want a fault of kind %v that names UTF-8",
				body.body, body.contentType, err, fault.Unsupported)
		}
	}
	for _, contentType := range []string{"text/xml; charset=UTF-8", "text/xml; charset=us-ascii", `text/xml; charset="iso-8859-1"`} {
		if _, err := ReadBody([]byte(`<?xml version="1.0" encoding="utf-16"?><Op/>`), contentType, ""); err != nil {
			t.Errorf("reading a body in UTF-8 as %s: %v", contentType, err)
		}
	}
}

// TestReadBodyLarge would take minutes if a reader had quadratic complexity.
func TestReadBodyLarge(t *testing.T) {
	const n = 300_000
	for contentType, body := range map[string]string{
		"text/xml":                          "<Op><A>" + strings.Repeat("a<!---->", n) + "</A></Op>",
		"text/jsv":                          "{A:\"" + strings.Repeat(`""`, n) + "\",B:[" + strings.Repeat("a,", n) + "a]}",
		"application/x-www-form-urlencoded": manyBrackets(19_000),
	} {
		if _, err := ReadBody([]byte(body), contentType, ""); err != nil {
			t.Errorf("reading %d bytes as %s: %v", len(body), contentType, err)
		}
	}
}

// fuzzReader fuzzes a reader with the bodies of a type.
func fuzzReader(f *testing.F, contentType string, read func([]byte) (Members, error)) {
	for _, test := range bodies {
		if strings.HasPrefix(test.contentType, contentType) && len(test.body) < 1000 {
			f.Add([]byte(test.body))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		members, err := read(body)
		if !bytes.Equal(body, before) {
			t.Errorf("reading the body has changed it to %q", body)
		}
		isRefused := fault.Is(err, fault.Malformed) || fault.Is(err, fault.Unsupported)
		if err != nil && !isRefused {
			t.Errorf("reading the body: got the error %v, want none or a refusal", err)
		}
		if err != nil && members != nil {
			t.Errorf("a refused body has %d members, want none", len(members))
		}
		for i, m := range members {
			if members.index(m.Name) != i {
				t.Errorf("member %d, %s, is found as member %d", i, m.Name, members.index(m.Name))
			}
			if m.Empty && len(m.Texts) > 0 {
				t.Errorf("the empty member %s has the texts %q", m.Name, m.Texts)
			}
		}
	})
}

func FuzzReadXML(f *testing.F) { fuzzReader(f, "text/xml", readXML) }

func FuzzReadJSV(f *testing.F) { fuzzReader(f, "text/jsv", ReadJSV) }

func FuzzReadMultipart(f *testing.F) {
	fuzzReader(f, "multipart/form-data", func(body []byte) (Members, error) { return readMultipart(body, "b") })
}

package rest_test

import (
	"crypto/rand"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	business "github.com/bizhook/whd/daemon/demo"
)

func bills(t *testing.T, w billsFixture) {
	for _, test := range []struct {
		name string
		test func(*testing.T, billsFixture)
	}{
		{"ReadAndChange", readAndChange},
		{"NotFound", billNotFound},
		{"Roles", billRoles},
		{"Members", billMembers},
		{"Formats", billFormats},
		{"Methods", billMethods},
		{"ConcurrentWrites", billWriters},
	} {
		t.Run(test.name, func(t *testing.T) { test.test(t, w) })
	}
}

// billPath returns the path of a field with escaped ids.
func billPath(ids ...string) string {
	for i, id := range ids {
		ids[i] = url.PathEscape(id)
	}
	return "/Bills/" + ids[0] + "/Stages/" + ids[1] + "/CustomFieldValues/" + strings.Join(ids[2:], "/")
}

func (a answer) value(t *testing.T) wire.CustomFieldValue {
	t.Helper()
	var v wire.CustomFieldValue
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return v
}

func (a answer) failure(t *testing.T) wire.ResponseStatus {
	t.Helper()
	var f wire.Failure
	if err := json.Unmarshal([]byte(a.body), &f); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return f.ResponseStatus
}

const storedValue = "SELECT RecID, BM_Stages_RecID, BM_StageCustomFields_RecID, Contents FROM BM_StageCustomValues WHERE "

func readAndChange(t *testing.T, w billsFixture) {
	billID, stageID, settingID := business.BillExample()
	c := asAdmin(t, w.Instance)
	path := billPath(billID, stageID, settingID)
	where := storedValue + "BM_Stages_RecID = '" + stageID + "' AND BM_StageCustomFields_RecID = '" + settingID + "'"
	before, others := w.sql(t, where), w.sql(t, storedValue+"NOT (BM_Stages_RecID = '"+stageID+"' AND BM_StageCustomFields_RecID = '"+settingID+"') ORDER BY RecID")

	first := c.do("GET "+path, "").want(t, 200).value(t)
	if first.SettingID != settingID || *first.SettingName != "Workstation" || *first.Contents != before[0][3] {
		t.Errorf("it was %+v", first)
	}
	if *first.PluginName != "Production Notes" || len(*first.PluginID) != 36 {
		t.Errorf("it was %+v", first)
	}
	for _, contents := range []string{"Änderung 変更 👩‍🔧 'x' <b>", "", "  two  ", "Packing"} {
		body, _ := json.Marshal(map[string]string{"BillID": "x", "StageID": "y", "SettingID": "z", "Contents": contents, "SettingName": "n", "PluginID": "p", "PluginName": "q"})
		a := c.do("PATCH "+path, string(body)).want(t, 200).wantHeader(t, "X-Ignored-Members", "")
		want := first
		want.Contents = &contents
		if text, _ := json.Marshal(want); !sameJSON(t, a.body, string(text)) {
			t.Errorf("the answer is %s, want %s", a.body, text)
		}
		if got := c.do("GET "+path, "").want(t, 200); got.body != a.body {
			t.Errorf("it reads %s, after %s", got.body, a.body)
		}
		if rows := w.sql(t, where); len(rows) != 1 || rows[0][3] != contents || !slices.Equal(rows[0][:3], before[0][:3]) {
			t.Errorf("stored is %q, before it was %q", rows, before)
		}
	}
	if now := w.sql(t, storedValue+"NOT (BM_Stages_RecID = '"+stageID+"' AND BM_StageCustomFields_RecID = '"+settingID+"') ORDER BY RecID"); len(now) != len(others) {
		t.Errorf("%d other rows, before: %d", len(now), len(others))
	} else {
		for i := range now {
			if !slices.Equal(now[i], others[i]) {
				t.Errorf("%q was %q", now[i], others[i])
			}
		}
	}

	var list []wire.CustomFieldValue
	a := c.do("GET "+billPath(billID, stageID), "").want(t, 200).wantHeader(t, "X-Total", "8")
	if err := json.Unmarshal([]byte(a.body), &list); err != nil || len(list) != 8 || list[7].SettingID != settingID || *list[7].Contents != "Packing" || list[0].SettingName == nil || *list[0].SettingName != "Nacharbeit" || list[0].Contents != nil {
		t.Errorf("the list is %s (%v)", a.body, err)
	}
	added := "Contents of a field that had none"
	if v := c.do("PATCH "+billPath(billID, stageID, list[0].SettingID), `{"contents":"`+added+`"}`).want(t, 200).value(t); *v.Contents != added || *v.SettingName != "Nacharbeit" {
		t.Errorf("the answer is %+v", v)
	}
	if rows := w.sql(t, storedValue+"Contents = '"+added+"'"); len(rows) != 1 || len(rows[0][0]) != 36 || rows[0][0] != strings.ToUpper(rows[0][0]) || rows[0][1] != stageID {
		t.Errorf("stored is %q", rows)
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y map[string]string
	if err := errors.Join(json.Unmarshal([]byte(a), &x), json.Unmarshal([]byte(b), &y)); err != nil {
		t.Fatal(err)
	}
	return len(x) == len(y) && !slices.ContainsFunc([]string{"SettingID", "SettingName", "Contents", "PluginID", "PluginName"}, func(name string) bool { return x[name] != y[name] })
}

// oddIDs are arbitrary texts in the path.
var oddIDs = []string{"nope", " ", "  x  ", "a/b", "..", ".", "%", "100%25", "日本", "👩‍🔧", "\xff", "a\x00b", "a\r\nb", `"`, "'; DROP TABLE BM_Main; --", "?x=1", "#f", "+", strings.Repeat("x", 10<<10)}

func billNotFound(t *testing.T, w billsFixture) {
	billID, stageID, settingID := business.BillExample()
	c := asAdmin(t, w.Instance)
	rows := w.sql(t, "SELECT COUNT(*) AS n, MAX(Contents) AS c FROM BM_StageCustomValues")
	otherStage := w.sql(t, "SELECT RecID FROM BM_Stages WHERE BM_Main_RecID <> '"+billID+"'")[0][0]
	for _, id := range append([]string{otherStage}, oddIDs...) {
		for message, ids := range map[string][]string{
			"there is no bill": {id, stageID, settingID}, "has no stage": {billID, id, settingID}, "there is no custom field": {billID, stageID, id},
		} {
			for line, body := range map[string]string{"GET ": "", "PATCH ": `{"Contents":"lost"}`} {
				a := c.do(line+billPath(slices.Clone(ids)...), body).want(t, 404)
				if f := a.failure(t); f.ErrorCode != "NotFound" || !strings.Contains(f.Message, message) || len(f.Message) > 400 {
					t.Errorf("%s%.40q: %s", line, ids, shortened(a.body))
				}
			}
			if message != "there is no custom field" {
				if f := c.do("GET "+billPath(ids[0], ids[1]), "").want(t, 404).failure(t); !strings.Contains(f.Message, message) {
					t.Errorf("%.40q: %s", ids, f.Message)
				}
			}
		}
	}
	for _, spelled := range []string{
		billPath(strings.ToLower(billID), stageID+"  ", strings.ToUpper(settingID)), strings.ToLower(billPath(billID, stageID, settingID)) + "/",
		"//bills//" + billID + "/STAGES/" + stageID + "/customfieldvalues/" + settingID + ".json",
	} {
		c.do("GET "+spelled, "").want(t, 200)
	}
	if now := w.sql(t, "SELECT COUNT(*) AS n, MAX(Contents) AS c FROM BM_StageCustomValues"); !slices.Equal(now[0], rows[0]) {
		t.Errorf("stored: %q, before: %q", now, rows)
	}
}

func billRoles(t *testing.T, w billsFixture) {
	billID, stageID, settingID := business.BillExample()
	path := billPath(billID, stageID, settingID)
	for _, c := range []struct {
		role                 string
		read, write, nowhere int // expected status; nowhere is for an update of a missing value
	}{
		{"", 401, 401, 401}, {"reader", 200, 403, 403}, {"publisher", 200, 403, 403}, {"writer", 200, 200, 404}, {"admin", 200, 200, 404},
	} {
		user := anonymous(t, w.Instance)
		if c.role != "" {
			user = user.with("Authorization: Bearer " + w.keyOf(t, c.role))
		}
		user.do("GET "+path, "").want(t, c.read)
		user.do("GET "+billPath(billID, stageID), "").want(t, c.read)
		user.do("PATCH "+path, `{"Contents":"by `+c.role+`"}`).want(t, c.write)
		user.do("PATCH "+billPath("nope", "nope", "nope"), `{"Contents":"x"}`).want(t, c.nowhere)
	}
	if rows := w.sql(t, storedValue+"Contents LIKE 'by %'"); len(rows) != 1 || rows[0][3] != "by admin" {
		t.Errorf("stored is %q", rows)
	}
}

// keyOf creates an API key over HTTP, which works with every store.
func (w billsFixture) keyOf(t *testing.T, role string) string {
	t.Helper()
	a := asAdmin(t, w.Instance).do("POST /ApiKeys", `{"Name":"`+role+" "+rand.Text()+`","Role":"`+role+`"}`).want(t, 201)
	var made wire.APIKey
	if err := json.Unmarshal([]byte(a.body), &made); err != nil {
		t.Fatal(err)
	}
	return made.Key
}

func billMembers(t *testing.T, w billsFixture) {
	billID, stageID, settingID := business.BillExample()
	c := asAdmin(t, w.Instance)
	path := billPath(billID, stageID, settingID)
	const form = "Content-Type: application/x-www-form-urlencoded"
	for _, test := range []struct {
		query, body, header string
		status              int
		contents            string // or the name of the invalid member
	}{
		{"", `{"CONTENTS":"a"}`, "", 200, "a"},
		{"", `{"Contents":"b"}`, "Content-Type: text/csv", 200, "b"},
		{"?contents=c", "", "", 200, "c"},
		{"?Contents=d", `{"Contents":"e"}`, "", 200, "d"},
		{"?Contents=", `{"Contents":"f"}`, "", 200, "f"},
		{"?BillID=nope&SettingID=nope", `{"Contents":"g","StageID":"nope"}`, "", 200, "g"},
		{"", "Contents=h+h", form, 200, "h h"},
		{"", "Contents\r\n\"i,i\"\r\n", "Content-Type: text/csv", 200, "i,i"},
		{"", `{"Contents":5}`, "", 200, "5"},
		{"", `{"Contents":""}`, "", 200, ""},
		{"", "", "", 400, "Contents"},
		{"", `{}`, "", 400, "Contents"},
		{"", `{"Contents":null}`, "", 400, "Contents"},
		{"?Contents=", "", "", 400, "Contents"},
		{"", `{"Contents":["a","b"]}`, "", 400, "Contents"},
		{"", `{"Contents":{"a":1}}`, "", 400, "Contents"},
		{"?Contents=a&Contents=b", "", "", 400, "Contents"},
		{"?Strict=true", `{"Contents":"k","SettingName":"n","PluginID":"p","PluginName":"q","BillID":"x"}`, "", 200, "k"},
		{"?Strict=true", `{"Contents":"l","Content":"typo"}`, "", 400, "Content"},
		{"?Strict=perhaps", `{"Contents":"m"}`, "", 400, "Strict"},
	} {
		var headers []string
		if test.header != "" {
			headers = append(headers, test.header)
		}
		a := c.do("PATCH "+path+test.query, test.body, headers...).want(t, test.status)
		if test.status == 200 {
			if v := a.value(t); *v.Contents != test.contents {
				t.Errorf("%s %s: %s", test.query, test.body, a.body)
			}
			continue
		}
		f := a.failure(t)
		if len(f.Errors) != 1 || f.Errors[0].FieldName != test.contents {
			t.Errorf("%s %s: %s", test.query, test.body, a.body)
		}
	}
	if f := c.do("PATCH "+path, `{}`).want(t, 400).failure(t); f.ErrorCode != "NotEmpty" {
		t.Errorf("without contents: %+v", f)
	}
	c.do("PATCH "+path, `{"Contents":"n","Colour":"x","Take":1}`).want(t, 200).wantHeader(t, "X-Ignored-Members", "Colour, Take")
	c.do("PATCH "+path, `{"Contents":`).want(t, 400)
	c.do("PATCH "+path, "x", "Content-Type: image/png").want(t, 415)
	c.do("PATCH "+path, `{"Contents":"`+strings.Repeat("x", 2<<20)+`"}`).want(t, 413)
	c.do("PATCH "+billPath(billID, stageID, strings.Repeat("x", 70<<10)), `{"Contents":"x"}`).want(t, 431)
}

func billFormats(t *testing.T, w billsFixture) {
	billID, stageID, settingID := business.BillExample()
	c := asAdmin(t, w.Instance)
	valuePath := billPath(billID, stageID, settingID)
	listPath := strings.TrimSuffix(billPath(billID, stageID), "/")
	const contents = `a "b", <c> & d`
	for name, check := range map[string]func(body string, rows int) bool{
		"json":   func(body string, _ int) bool { return json.Valid([]byte(body)) },
		"ndjson": func(body string, rows int) bool { return strings.Count(body, "\n") == rows },
		"csv": func(body string, rows int) bool {
			lines, err := csv.NewReader(strings.NewReader(body)).ReadAll()
			return err == nil && len(lines) == rows+1 && slices.Equal(lines[0], []string{"SettingID", "SettingName", "Contents", "PluginID", "PluginName"})
		},
		"xml": func(body string, rows int) bool {
			var doc struct {
				Inner string `xml:",innerxml"`
			}
			return xml.Unmarshal([]byte(body), &doc) == nil && strings.Count(body, "<SettingID>") == rows
		},
		"jsv": func(body string, rows int) bool { return strings.Count(body, "SettingID:") == rows },
		"html": func(body string, _ int) bool {
			return strings.Contains(body, "SettingID") && strings.Contains(body, "&lt;c&gt;")
		},
	} {
		for _, suffixed := range []bool{true, false} {
			at := func(path string) string {
				if suffixed {
					return path + "." + name
				}
				return path + "?format=" + name
			}
			body, _ := json.Marshal(map[string]string{"Contents": contents})
			for _, a := range []answer{
				c.do("PATCH "+at(valuePath), string(body)), c.do("GET "+at(valuePath), ""),
			} {
				a.want(t, 200)
				if !strings.Contains(a.header.Get("Content-Type"), name) || !check(a.body, 1) {
					t.Errorf("%s: %s, %s", name, a.header.Get("Content-Type"), shortened(a.body))
				}
			}
			if a := c.do("GET "+at(listPath), "").want(t, 200); !check(a.body, 8) {
				t.Errorf("%s: %s", name, shortened(a.body))
			}
			a := c.do("PATCH "+at(valuePath), `{}`).want(t, 400)
			if !strings.Contains(a.header.Get("Content-Type"), name) || !strings.Contains(a.body, "NotEmpty") || !strings.Contains(a.body, "Contents") {
				t.Errorf("%s: %s", name, a.body)
			}
		}
	}
	if a := c.do("GET "+listPath+"?nulls=include", "").want(t, 200); strings.Count(a.body, `"Contents":null`) == 0 {
		t.Errorf("%s", a.body)
	}
	if a := c.do("GET "+valuePath+"?callback=f", "", "Sec-Fetch-Site: same-origin").want(t, 200); !strings.HasPrefix(a.body, "f({") {
		t.Errorf("%s", a.body)
	}
}

func billMethods(t *testing.T, w billsFixture) {
	billID, stageID, settingID := business.BillExample()
	c := asAdmin(t, w.Instance)
	valuePath := billPath(billID, stageID, settingID)
	listPath := strings.TrimSuffix(billPath(billID, stageID), "/")
	for path, allow := range map[string]string{valuePath: "GET, HEAD, PATCH, OPTIONS", listPath: "GET, HEAD, OPTIONS"} {
		c.do("OPTIONS "+path, "").want(t, http.StatusNoContent).wantHeader(t, "Allow", allow)
		c.do("DELETE "+path, "").want(t, 405).wantHeader(t, "Allow", allow)
		whole := c.do("GET "+path, "").want(t, 200)
		if a := c.do("HEAD "+path, "").want(t, 200).wantHeader(t, "Content-Length", whole.header.Get("Content-Length")); a.body != "" {
			t.Errorf("HEAD answers %q", a.body)
		}
	}
	c.do("PATCH "+listPath, `{"Contents":"x"}`).want(t, 405)
	c.do("PATCH "+valuePath, `{"Contents":"x"}`, "Sec-Fetch-Site: cross-site").want(t, 403)
}

// billWriters writes one value concurrently through both daemons. All writes must
// succeed, and one row with the value of one of them must remain.
func billWriters(t *testing.T, w billsFixture) {
	stageID, settingID := "", ""
	free := w.sql(t, "SELECT s.RecID, f.RecID, s.BM_Main_RecID FROM BM_Stages s CROSS JOIN BM_StageCustomFields f WHERE NOT EXISTS"+
		" (SELECT 1 FROM BM_StageCustomValues v WHERE v.BM_Stages_RecID = s.RecID) ORDER BY s.RecID, f.RecID")[0]
	stageID, settingID = free[0], free[1]
	const writers = 32
	daemons := []*daemontest.Instance{w.Instance, w.other}
	spellings := []string{settingID, strings.ToUpper(settingID), settingID + "  "}
	var all sync.WaitGroup
	for i := range writers {
		c := asAdmin(t, daemons[i%2])
		all.Go(func() {
			spelled := spellings[i%3]
			a, err := c.try("PATCH "+billPath(free[2], stageID, spelled), `{"Contents":"writer `+strconv.Itoa(i)+`"}`)
			if err != nil || a.status != 200 {
				t.Errorf("writer %d: %d, %v, %s", i, a.status, err, a.body)
			}
		})
	}
	all.Wait()
	rows := w.sql(t, storedValue+"BM_Stages_RecID = '"+stageID+"'")
	if len(rows) != 1 {
		t.Fatalf("%d rows: %q", len(rows), rows)
	}
	number, ok := strings.CutPrefix(rows[0][3], "writer ")
	if n, err := strconv.Atoi(number); err != nil || !ok || n >= writers {
		t.Errorf("unexpected value %q", rows[0])
	}
}

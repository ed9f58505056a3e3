package rest_test

import (
	"crypto/rand"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
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

func testBills(t *testing.T, f billsFixture) {
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
		t.Run(test.name, func(t *testing.T) { test.test(t, f) })
	}
}

// billField is a custom field of a stage of a bill.
type billField struct{ billID, stageID, settingID string }

// exampleField returns a field that has a value.
func exampleField() billField {
	billID, stageID, settingID := business.BillExample()
	return billField{billID: billID, stageID: stageID, settingID: settingID}
}

// path returns the path of the field's value.
func (f billField) path() string { return billPath(f.billID, f.stageID, f.settingID) }

// listPath returns the path of the values of all fields of the stage.
func (f billField) listPath() string {
	return "/Bills/" + url.PathEscape(f.billID) + "/Stages/" + url.PathEscape(f.stageID) +
		"/CustomFieldValues"
}

// condition returns the SQL condition that only the field's stored value meets.
func (f billField) condition() string {
	return "(BM_Stages_RecID = '" + f.stageID + "'" +
		" AND BM_StageCustomFields_RecID = '" + f.settingID + "')"
}

// billPath returns the path of the value of a custom field, with escaped ids.
func billPath(billID, stageID, settingID string) string {
	list := billField{billID: billID, stageID: stageID}.listPath()
	return list + "/" + url.PathEscape(settingID)
}

// storedValue is a row of the table of values.
type storedValue struct{ recID, stageID, settingID, contents string }

// stored returns the stored values that meet an SQL condition.
func (f billsFixture) stored(t *testing.T, condition string) []storedValue {
	t.Helper()
	rows := f.sql(t, "SELECT RecID, BM_Stages_RecID, BM_StageCustomFields_RecID, Contents"+
		" FROM BM_StageCustomValues WHERE "+condition+" ORDER BY RecID")
	var values []storedValue
	for _, row := range rows {
		values = append(values, storedValue{
			recID:     row[0],
			stageID:   row[1],
			settingID: row[2],
			contents:  row[3],
		})
	}
	return values
}

// storedValue returns the only stored value that meets an SQL condition.
func (f billsFixture) storedValue(t *testing.T, condition string) storedValue {
	t.Helper()
	values := f.stored(t, condition)
	if len(values) != 1 {
		t.Fatalf("WHERE %s: got %d stored values, want 1: %q", condition, len(values), values)
	}
	return values[0]
}

// valueMembers are the members of a value in a response, which are all texts.
type valueMembers map[string]string

// wantMembers compares the members of a value with the expected ones.
func wantMembers(t *testing.T, did string, got, want valueMembers) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", did, got, want)
	}
}

func (a answer) failure(t *testing.T) wire.ResponseStatus {
	t.Helper()
	return read[wire.Failure](t, a).ResponseStatus
}

// contentsBody returns the JSON body that sets the contents of a field.
func contentsBody(contents string) string {
	return fmt.Sprintf(`{"Contents":%s}`, jsonText(contents))
}

func jsonText(text string) string {
	b, _ := json.Marshal(text) // every string can be encoded
	return string(b)
}

// readAndChange reads the value of a field, changes it, lists the values of its stage, and adds
// one to a field that had none.
func readAndChange(t *testing.T, f billsFixture) {
	admin := asAdmin(t, f.Instance)
	field := exampleField()
	stored := f.storedValue(t, field.condition())
	storedElsewhere := f.stored(t, "NOT "+field.condition())

	value := read[valueMembers](t, admin.do("GET "+field.path(), "").want(t, 200))
	wantMembers(t, "GET "+field.path(), value, valueMembers{
		"SettingID":   field.settingID,
		"SettingName": "Workstation",
		"Contents":    stored.contents,
		"PluginID":    value["PluginID"], // checked below
		"PluginName":  "Production Notes",
	})

	if n := len(value["PluginID"]); n != 36 {
		t.Errorf("GET %s: got the PluginID %q of %d bytes, want 36",
			field.path(), value["PluginID"], n)
	}

	for _, contents := range []string{"Änderung 変更 👩‍🔧 'x' <b>", "", "  two  ", "Packing"} {
		value["Contents"] = contents
		stored.contents = contents
		changeContents(t, admin, field, value)
		if got := f.storedValue(t, field.condition()); got != stored {
			t.Errorf("PATCH with the contents %q: stored is %q, want %q", contents, got, stored)
		}
	}

	if got := f.stored(t, "NOT "+field.condition()); !slices.Equal(got, storedElsewhere) {
		t.Errorf("PATCH %s changed the values of other fields: got %q, want %q",
			field.path(), got, storedElsewhere)
	}

	list := listValues(t, admin, field)
	first, last := list[0], list[7]
	wantMembers(t, "the last value of "+field.listPath(), last, value)
	if first["SettingName"] != "Nacharbeit" {
		t.Errorf("the first value of %s: got the field %q, want Nacharbeit",
			field.listPath(), first["SettingName"])
	}
	if contents, ok := first["Contents"]; ok {
		t.Errorf("the first value of %s: got the contents %q, want none",
			field.listPath(), contents)
	}

	f.addContents(t, admin, billField{
		billID:    field.billID,
		stageID:   field.stageID,
		settingID: first["SettingID"],
	})
}

// changeContents sets the contents of a field to those of the wanted value, which it expects as
// the answer and when the field is read. Members that describe the field are ignored.
func changeContents(t *testing.T, c client, field billField, want valueMembers) {
	t.Helper()
	body := `{"BillID":"x","StageID":"y","SettingID":"z","Contents":` + jsonText(want["Contents"]) +
		`,"SettingName":"n","PluginID":"p","PluginName":"q"}`
	changed := c.do("PATCH "+field.path(), body).want(t, 200).
		wantHeader(t, "X-Ignored-Members", "")
	wantMembers(t, "PATCH with "+body, read[valueMembers](t, changed), want)

	after := c.do("GET "+field.path(), "").want(t, 200)
	if after.body != changed.body {
		t.Errorf("GET %s after the PATCH: got %s, want %s", field.path(), after.body, changed.body)
	}
}

// listValues returns the eight values of the field's stage.
func listValues(t *testing.T, c client, field billField) []valueMembers {
	t.Helper()
	line := "GET " + field.listPath() + "/" // a slash at the end changes nothing
	list := read[[]valueMembers](t, c.do(line, "").want(t, 200).wantHeader(t, "X-Total", "8"))
	if len(list) != 8 {
		t.Fatalf("%s: got %d values, want 8: %q", line, len(list), list)
	}
	return list
}

// addContents sets the contents of the field Nacharbeit, which has no value yet.
func (f billsFixture) addContents(t *testing.T, c client, field billField) {
	t.Helper()
	const contents = "Contents of a field that had none"
	line := "PATCH " + field.path()
	value := read[valueMembers](t, c.do(line, contentsBody(contents)).want(t, 200))
	if value["Contents"] != contents {
		t.Errorf("%s: got the contents %q, want %q", line, value["Contents"], contents)
	}
	if value["SettingName"] != "Nacharbeit" {
		t.Errorf("%s: got the field %q, want Nacharbeit", line, value["SettingName"])
	}

	stored := f.storedValue(t, "Contents = '"+contents+"'")
	if len(stored.recID) != 36 {
		t.Errorf("%s: stored the RecID %q of %d bytes, want 36",
			line, stored.recID, len(stored.recID))
	}
	if upper := strings.ToUpper(stored.recID); stored.recID != upper {
		t.Errorf("%s: stored the RecID %s, want %s", line, stored.recID, upper)
	}
	if stored.stageID != field.stageID {
		t.Errorf("%s: stored for the stage %s, want %s", line, stored.stageID, field.stageID)
	}
}

// oddIDs are arbitrary texts in the path.
var oddIDs = []string{
	"nope", " ", "  x  ", "a/b", "..", ".", "%", "100%25", "日本", "👩‍🔧", "\xff", "a\x00b", "a\r\nb",
	`"`, "'; DROP TABLE BM_Main; --", "?x=1", "#f", "+", strings.Repeat("x", 10<<10),
}

// billNotFound requests fields by ids of which one does not exist, and by other spellings of those
// that do.
func billNotFound(t *testing.T, f billsFixture) {
	admin := asAdmin(t, f.Instance)
	field := exampleField()
	stored := f.stored(t, "1 = 1")
	stages := f.sql(t, "SELECT RecID FROM BM_Stages WHERE BM_Main_RecID <> '"+field.billID+"'")
	stageOfOtherBill := stages[0][0]

	for _, id := range append([]string{stageOfOtherBill}, oddIDs...) {
		noBill := billField{billID: id, stageID: field.stageID, settingID: field.settingID}
		wantNoField(t, admin, noBill, "there is no bill")
		wantNoList(t, admin, noBill, "there is no bill")

		noStage := billField{billID: field.billID, stageID: id, settingID: field.settingID}
		wantNoField(t, admin, noStage, "has no stage")
		wantNoList(t, admin, noStage, "has no stage")

		noSetting := billField{billID: field.billID, stageID: field.stageID, settingID: id}
		wantNoField(t, admin, noSetting, "there is no custom field")
	}

	if got := f.stored(t, "1 = 1"); !slices.Equal(got, stored) {
		t.Errorf("PATCH of missing fields: stored is %q, want %q", got, stored)
	}

	for _, path := range []string{
		billPath(
			strings.ToLower(field.billID),
			field.stageID+"  ",
			strings.ToUpper(field.settingID),
		),
		strings.ToLower(field.path()) + "/",
		"//bills//" + field.billID + "/STAGES/" + field.stageID + "/customfieldvalues/" +
			field.settingID + ".json",
	} {
		admin.do("GET "+path, "").want(t, 200)
	}
}

// wantNoField expects that a field can be neither read nor changed, with a message of the reason.
func wantNoField(t *testing.T, c client, field billField, message string) {
	t.Helper()
	wantNotFound(t, c, "GET "+field.path(), "", message)
	wantNotFound(t, c, "PATCH "+field.path(), contentsBody("lost"), message)
}

// wantNoList expects that the values of the field's stage cannot be listed.
func wantNoList(t *testing.T, c client, field billField, message string) {
	t.Helper()
	wantNotFound(t, c, "GET "+field.listPath(), "", message)
}

// maxMessage limits the message of an error, in bytes, however long the id is that it names.
const maxMessage = 400

func wantNotFound(t *testing.T, c client, line, body, message string) {
	t.Helper()
	a := c.do(line, body)
	did := shortened(line)
	if a.status != http.StatusNotFound {
		t.Errorf("%s: got status %d, want 404: %s", did, a.status, shortened(a.body))
		return
	}
	failure := a.failure(t)
	if failure.ErrorCode != "NotFound" {
		t.Errorf("%s: got error code %s, want NotFound", did, failure.ErrorCode)
	}
	if !strings.Contains(failure.Message, message) {
		t.Errorf("%s: got message %q, want one with %q", did, failure.Message, message)
	}
	if n := len(failure.Message); n > maxMessage {
		t.Errorf("%s: got a message of %d bytes, want at most %d", did, n, maxMessage)
	}
}

// billRoles reads and changes values with each role.
func billRoles(t *testing.T, f billsFixture) {
	field := exampleField()
	missing := billField{billID: "nope", stageID: "nope", settingID: "nope"}
	for _, test := range []struct {
		role                       string // empty without credentials
		read, change, changeNoBill int    // the expected status
	}{
		{"", 401, 401, 401},
		{"reader", 200, 403, 403},
		{"publisher", 200, 403, 403},
		{"writer", 200, 200, 404},
		{"admin", 200, 200, 404},
	} {
		user := anonymous(t, f.Instance)
		if test.role != "" {
			user = user.with("Authorization: Bearer " + f.keyOf(t, test.role))
		}
		user.do("GET "+field.path(), "").want(t, test.read)
		user.do("GET "+field.listPath(), "").want(t, test.read)
		user.do("PATCH "+field.path(), contentsBody("by "+test.role)).want(t, test.change)
		user.do("PATCH "+missing.path(), contentsBody("x")).want(t, test.changeNoBill)
	}
	stored := f.storedValue(t, "Contents LIKE 'by %'")
	if stored.contents != "by admin" {
		t.Errorf("after the changes with each role: stored is %q, want by admin", stored.contents)
	}
}

// keyOf creates an API key over HTTP, which works with every store.
func (f billsFixture) keyOf(t *testing.T, role string) string {
	t.Helper()
	body := fmt.Sprintf(`{"Name":"%s %s","Role":"%s"}`, role, rand.Text(), role)
	a := asAdmin(t, f.Instance).do("POST /ApiKeys", body).want(t, 201)
	return read[wire.APIKey](t, a).Key
}

// billMembers sends the members of a change in each part of a request.
func billMembers(t *testing.T, f billsFixture) {
	admin := asAdmin(t, f.Instance)
	field := exampleField()
	acceptedMembers(t, admin, field)
	refusedMembers(t, admin, field)
	ignoredMembers(t, admin, field)
	refusedRequests(t, admin, field)
}

func acceptedMembers(t *testing.T, c client, field billField) {
	t.Helper()
	const csvType = "Content-Type: text/csv"
	for _, test := range []struct{ query, header, body, want string }{
		{"", "", `{"CONTENTS":"a"}`, "a"},
		{"", csvType, `{"Contents":"b"}`, "b"},
		{"?contents=c", "", "", "c"},
		{"?Contents=d", "", `{"Contents":"e"}`, "d"},
		{"?Contents=", "", `{"Contents":"f"}`, "f"},
		{"?BillID=nope&SettingID=nope", "", `{"Contents":"g","StageID":"nope"}`, "g"},
		{"", formType, "Contents=h+h", "h h"},
		{"", csvType, "Contents\r\n\"i,i\"\r\n", "i,i"},
		{"", "", `{"Contents":5}`, "5"},
		{"", "", `{"Contents":""}`, ""},
		{
			query: "?Strict=true", // these members are known
			body: `{"Contents":"k",` +
				`"SettingName":"n","PluginID":"p","PluginName":"q","BillID":"x"}`,
			want: "k",
		},
	} {
		var headers []string
		if test.header != "" {
			headers = append(headers, test.header)
		}
		a := c.do("PATCH "+field.path()+test.query, test.body, headers...).want(t, 200)
		got := read[valueMembers](t, a)["Contents"]
		if got != test.want {
			t.Errorf("PATCH %s with %s: got the contents %q, want %q",
				test.query, test.body, got, test.want)
		}
	}
}

func refusedMembers(t *testing.T, c client, field billField) {
	t.Helper()
	for _, test := range []struct{ query, body, member string }{
		{"", "", "Contents"},
		{"", `{}`, "Contents"},
		{"", `{"Contents":null}`, "Contents"},
		{"?Contents=", "", "Contents"},
		{"", `{"Contents":["a","b"]}`, "Contents"},
		{"", `{"Contents":{"a":1}}`, "Contents"},
		{"?Contents=a&Contents=b", "", "Contents"},
		{"?Strict=true", `{"Contents":"l","Content":"typo"}`, "Content"},
		{"?Strict=perhaps", `{"Contents":"m"}`, "Strict"},
	} {
		a := c.do("PATCH "+field.path()+test.query, test.body).want(t, 400)
		var members []string
		for _, fieldError := range a.failure(t).Errors {
			members = append(members, fieldError.FieldName)
		}
		if !slices.Equal(members, []string{test.member}) {
			t.Errorf("PATCH %s with %s: got errors of the members %q, want one of %s",
				test.query, test.body, members, test.member)
		}
	}
	failure := c.do("PATCH "+field.path(), `{}`).want(t, 400).failure(t)
	if failure.ErrorCode != "NotEmpty" {
		t.Errorf("PATCH without contents: got error code %s, want NotEmpty", failure.ErrorCode)
	}
}

func ignoredMembers(t *testing.T, c client, field billField) {
	t.Helper()
	c.do("PATCH "+field.path(), `{"Contents":"n","Colour":"x","Take":1}`).want(t, 200).
		wantHeader(t, "X-Ignored-Members", "Colour, Take")
}

// refusedRequests sends changes that are invalid as a whole.
func refusedRequests(t *testing.T, c client, field billField) {
	t.Helper()
	c.do("PATCH "+field.path(), `{"Contents":`).want(t, 400)
	c.do("PATCH "+field.path(), "x", "Content-Type: image/png").want(t, 415)
	c.do("PATCH "+field.path(), contentsBody(strings.Repeat("x", 2<<20))).want(t, 413)

	longPath := billPath(field.billID, field.stageID, strings.Repeat("x", 70<<10))
	c.do("PATCH "+longPath, contentsBody("x")).want(t, 431)
}

// valueFormats are the formats of responses. The check of a format returns the fault of a
// body of values, one of them with formatContents.
var valueFormats = []struct {
	name  string
	check func(body string, values int) error
}{
	{"json", checkJSONValues},
	{"ndjson", checkNDJSONValues},
	{"csv", checkCSVValues},
	{"xml", checkXMLValues},
	{"jsv", checkJSVValues},
	{"html", checkHTMLValues},
}

// formatContents has the characters that are escaped in some format.
const formatContents = `a "b", <c> & d`

func checkJSONValues(body string, _ int) error {
	var v any
	return json.Unmarshal([]byte(body), &v)
}

func checkNDJSONValues(body string, values int) error { return checkCount(body, "\n", values) }

func checkCSVValues(body string, values int) error {
	lines, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil {
		return err
	}
	if len(lines) != values+1 {
		return fmt.Errorf("got %d lines, want a header and %d", len(lines), values)
	}
	header := []string{"SettingID", "SettingName", "Contents", "PluginID", "PluginName"}
	if !slices.Equal(lines[0], header) {
		return fmt.Errorf("got the header %q, want %q", lines[0], header)
	}
	return nil
}

func checkXMLValues(body string, values int) error {
	var document struct {
		Inner string `xml:",innerxml"`
	}
	if err := xml.Unmarshal([]byte(body), &document); err != nil {
		return err
	}
	return checkCount(body, "<SettingID>", values)
}

func checkJSVValues(body string, values int) error { return checkCount(body, "SettingID:", values) }

func checkHTMLValues(body string, _ int) error {
	for _, text := range []string{"SettingID", "&lt;c&gt;"} {
		if !strings.Contains(body, text) {
			return fmt.Errorf("got no %q, want one", text)
		}
	}
	return nil
}

func checkCount(body, text string, want int) error {
	if got := strings.Count(body, text); got != want {
		return fmt.Errorf("got %d times %q, want %d", got, text, want)
	}
	return nil
}

// billFormats requests values and errors in each format, as a suffix of the path and as a member.
func billFormats(t *testing.T, f billsFixture) {
	admin := asAdmin(t, f.Instance)
	field := exampleField()
	for _, format := range valueFormats {
		for _, suffix := range []string{"." + format.name, "?format=" + format.name} {
			value, list := field.path()+suffix, field.listPath()+suffix
			for _, reply := range []struct {
				line, body string
				values     int
			}{
				{"PATCH " + value, contentsBody(formatContents), 1},
				{"GET " + value, "", 1},
				{"GET " + list, "", 8},
			} {
				a := admin.do(reply.line, reply.body).want(t, 200)
				wantContentType(t, reply.line, a, format.name)
				if err := format.check(a.body, reply.values); err != nil {
					t.Errorf("%s: %v in %s", reply.line, err, shortened(a.body))
				}
			}

			a := admin.do("PATCH "+value, `{}`).want(t, 400).wantText(t, "NotEmpty", "Contents")
			wantContentType(t, "PATCH "+value+" without contents", a, format.name)
		}
	}

	admin.do("GET "+field.listPath()+"?nulls=include", "").want(t, 200).
		wantText(t, `"Contents":null`)

	line := "GET " + field.path() + "?callback=f"
	a := admin.do(line, "", "Sec-Fetch-Site: same-origin").want(t, 200)
	if !strings.HasPrefix(a.body, "f({") {
		t.Errorf("%s: got %s, want a call of f", line, a.body)
	}
}

// wantContentType expects that the Content-Type of an answer names the format.
func wantContentType(t *testing.T, did string, a answer, format string) {
	t.Helper()
	got := a.header.Get("Content-Type")
	if !strings.Contains(got, format) {
		t.Errorf("%s: got Content-Type %q, want one with %q", did, got, format)
	}
}

// billMethods sends the methods that the paths have, and others.
func billMethods(t *testing.T, f billsFixture) {
	admin := asAdmin(t, f.Instance)
	field := exampleField()
	wantMethods(t, admin, field.path(), "GET, HEAD, PATCH, OPTIONS")
	wantMethods(t, admin, field.listPath(), "GET, HEAD, OPTIONS")
	admin.do("PATCH "+field.listPath(), contentsBody("x")).want(t, 405)
	admin.do("PATCH "+field.path(), contentsBody("x"), "Sec-Fetch-Site: cross-site").want(t, 403)
}

// wantMethods expects the methods of a path in Allow, and that HEAD answers as GET without a body.
func wantMethods(t *testing.T, c client, path, allow string) {
	t.Helper()
	c.do("OPTIONS "+path, "").want(t, http.StatusNoContent).wantHeader(t, "Allow", allow)
	c.do("DELETE "+path, "").want(t, 405).wantHeader(t, "Allow", allow)

	whole := c.do("GET "+path, "").want(t, 200)
	head := c.do("HEAD "+path, "").want(t, 200).
		wantHeader(t, "Content-Length", whole.header.Get("Content-Length"))
	if head.body != "" {
		t.Errorf("HEAD %s: got the body %q, want none", path, head.body)
	}
}

// billWriters writes one value concurrently through both daemons. All writes must
// succeed, and one row with the value of one of them must remain.
func billWriters(t *testing.T, f billsFixture) {
	const writers = 32
	field := f.fieldWithoutValue(t)
	daemons := []*daemontest.Instance{f.Instance, f.second}
	spellings := []string{
		field.settingID,
		strings.ToUpper(field.settingID),
		field.settingID + "  ",
	}
	var group sync.WaitGroup
	for i := range writers {
		admin := asAdmin(t, daemons[i%len(daemons)])
		path := billPath(field.billID, field.stageID, spellings[i%len(spellings)])
		group.Go(func() {
			a, err := admin.try("PATCH "+path, contentsBody(writerName(i)))
			if err != nil {
				t.Errorf("PATCH by writer %d: %v", i, err)
			} else if a.status != http.StatusOK {
				t.Errorf("PATCH by writer %d: got status %d, want 200: %s", i, a.status, a.body)
			}
		})
	}

	group.Wait()

	stored := f.storedValue(t, "BM_Stages_RecID = '"+field.stageID+"'")
	names := make([]string, writers)
	for i := range names {
		names[i] = writerName(i)
	}
	if !slices.Contains(names, stored.contents) {
		t.Errorf("PATCH by %d writers: stored is %q, want one of %q",
			writers, stored.contents, names)
	}
}

// writerName returns the contents that a writer sets.
func writerName(i int) string { return "writer " + strconv.Itoa(i) }

// fieldWithoutValue returns a field of a stage without values.
func (f billsFixture) fieldWithoutValue(t *testing.T) billField {
	t.Helper()
	rows := f.sql(t, "SELECT s.BM_Main_RecID, s.RecID, f.RecID"+
		" FROM BM_Stages s CROSS JOIN BM_StageCustomFields f"+
		" WHERE NOT EXISTS"+
		" (SELECT 1 FROM BM_StageCustomValues v WHERE v.BM_Stages_RecID = s.RecID)"+
		" ORDER BY s.RecID, f.RecID")
	return billField{billID: rows[0][0], stageID: rows[0][1], settingID: rows[0][2]}
}

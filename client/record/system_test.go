package record

import (
	"strings"
	"testing"
)

// TestSystemKindsAreSeparate checks that the service's own kinds and those of the
// published interface have different names and databases.
func TestSystemKindsAreSeparate(t *testing.T) {
	both, err := NewRegistry(append(Kinds(), SystemKinds()...)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range System().Kinds() {
		if k.Database == RecordsDB || k.Area == "" || k.Summary == "" || strings.HasSuffix(k.Summary, ".") {
			t.Errorf("%s: database %d, area %q, summary %q", k.Name, k.Database, k.Area, k.Summary)
		}
		if found, ok := both.Lookup(k.Operation()); !ok || found.Name != k.Name {
			t.Errorf("%s cannot be looked up as %s", k.Name, k.Operation())
		}
		if _, public := Builtin().Lookup(k.Name); public {
			t.Errorf("%s is one of the kinds of the published interface", k.Name)
		}
	}
	for _, k := range Builtin().Kinds() {
		hasDefaultNames := k.Source() == k.Name && k.Operation() == k.Name+"Query"
		if k.Database != RecordsDB || k.NewestFirst || !hasDefaultNames {
			t.Errorf("%s does not have the defaults of a kind of the ERP", k.Name)
		}
	}
}

func TestRequestLogHasFieldsOfPublishedInterface(t *testing.T) {
	k, ok := System().Lookup("QueryRequestLogsGETManyRequest")
	if !ok {
		t.Fatal("the request log has no operation")
	}
	var got strings.Builder
	for _, f := range k.Fields {
		got.WriteString(f.Name + " " + strings.TrimSuffix(f.TypeName(), "?") + "\n")
	}
	const want = `Id long
DateTime DateTime
StatusCode int
StatusDescription string
HttpMethod string
AbsoluteUri string
PathInfo string
RequestBody string
RequestDto object
UserAuthId string
SessionId string
IpAddress string
ForwardedFor string
Referer string
Headers Dictionary<string,string>
FormData Dictionary<string,string>
Items Dictionary<string,string>
Session object
ResponseDto object
ErrorResponse object
ExceptionSource string
ExceptionData Dictionary<string,string>
RequestDuration TimeSpan
`
	if got.String() != want {
		t.Errorf("the fields are\n%s\nwant\n%s", got.String(), want)
	}
}

func TestStoredTypeIsStoredAsItself(t *testing.T) {
	for _, typ := range Types() {
		stored := typ.Stored()
		if stored.Stored() != stored {
			t.Errorf("%s is stored as %s, which is stored as %s", typ, stored, stored.Stored())
		}
		isText := typ == Dictionary || typ == Object // which familyOf does not know
		if familyOf(typ) != familyOf(stored) && !isText {
			t.Errorf("%s has other filters than %s", typ, stored)
		}
	}
}

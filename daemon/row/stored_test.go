package row

import (
	"encoding/hex"
	"testing"

	"github.com/bizhook/whd/client/record"
)

// TestBlobGuid reads and writes a GUID in both orders of its bytes. The first blob is that of
// Guid.ToByteArray of .NET.
func TestBlobGuid(t *testing.T) {
	const guid = "0f8fad5b-d9cb-469f-a165-70867728950e"
	for _, c := range []struct {
		form record.BlobForm
		blob string
	}{
		{record.BlobNet, "5bad8f0fcbd99f46a16570867728950e"},
		{record.BlobRFC, "0f8fad5bd9cb469fa16570867728950e"},
	} {
		blob, err := hex.DecodeString(c.blob)
		if err != nil {
			t.Fatal(err)
		}
		text, ok := AppendBlobGuid([]byte("x "), blob, c.form)
		if got := string(text); !ok || got != "x "+guid {
			t.Errorf("the GUID of %s in form %s: got %q (%v), want %q", c.blob, c.form, got, ok, guid)
		}
		if got := hex.EncodeToString(GuidBlob(guid, c.form)); got != c.blob {
			t.Errorf("the blob of %s in form %s: got %s, want %s", guid, c.form, got, c.blob)
		}
	}
}

func TestBlobsThatAreNoGuids(t *testing.T) {
	for _, c := range []struct {
		size int
		form record.BlobForm
	}{
		{0, record.BlobNet},
		{15, record.BlobNet},
		{17, record.BlobRFC},
		{16, ""},
	} {
		text, ok := AppendBlobGuid(nil, make([]byte, c.size), c.form)
		if ok || text != nil {
			t.Errorf("%d bytes in form %q: got %q (%v), want no GUID", c.size, c.form, text, ok)
		}
	}
}

// TestGuidBlobOfWrongArguments: no blob is returned, since it would find other rows.
func TestGuidBlobOfWrongArguments(t *testing.T) {
	const guid = "0f8fad5b-d9cb-469f-a165-70867728950e"
	for _, c := range []struct {
		guid string
		form record.BlobForm
		want string
	}{
		{guid, "", `row: unknown form "" of a GUID in a blob`},
		{guid, "NET", `row: unknown form "NET" of a GUID in a blob`},
		{guid + "0f", record.BlobRFC, `row: "` + guid + `0f" is not a GUID`},
		{guid[2:], record.BlobRFC, `row: "` + guid[2:] + `" is not a GUID`},
		{"x" + guid[1:], record.BlobNet, `row: "x` + guid[1:] + `" is not a GUID`},
	} {
		func() {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("the blob of %q in form %q: got the panic %v, want %s", c.guid, c.form, got, c.want)
				}
			}()
			blob := GuidBlob(c.guid, c.form)
			t.Errorf("the blob of %q in form %q: got %x", c.guid, c.form, blob)
		}()
	}
}

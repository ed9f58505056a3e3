package rest_test

import (
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

func TestKinds(t *testing.T) {
	i := daemontest.Start(t)
	reader := anonymous(t, i).with("Authorization: Bearer " + i.Key(t, "reader"))
	a := reader.do("GET /kinds.json", "").want(t, 200)
	kinds := read[[]wire.RecordKind](t, a)
	if len(kinds) != len(record.Builtin().Kinds()) {
		t.Fatalf("%d kinds", len(kinds))
	}
	for n, want := range record.Builtin().Kinds() {
		if kinds[n].Name != want.Name || len(kinds[n].Fields) != len(want.Fields) {
			t.Errorf("%+v, want %s", kinds[n], want.Name)
		}
	}
	tag := a.header.Get("ETag")
	for _, tags := range []string{tag, tag[2:], `"x", ` + tag, "*"} {
		b := reader.do("GET /Kinds", "", "If-None-Match: "+tags).want(t, 304).wantHeader(t, "ETag", tag)
		if b.body != "" {
			t.Errorf("a body of %d bytes", len(b.body))
		}
	}
	reader.do("GET /Kinds", "", `If-None-Match: "x"`).want(t, 200).wantHeader(t, "Cache-Control", "private, no-cache")
	for _, format := range []string{"csv", "xml", "jsv", "html", "xlsx"} {
		reader.do("GET /Kinds?format="+format, "").want(t, 200)
	}
	anonymous(t, i).do("GET /Kinds", "").want(t, 401)
	anonymous(t, daemontest.Start(t, "--auth-queries", "anonymous")).do("GET /Kinds", "").want(t, 200)
}

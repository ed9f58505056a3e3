package metadata

import (
	"strings"
	"testing"
)

// TestTypeScriptMemberNames checks that member names with a dot, such as those
// of settings, are quoted.
func TestTypeScriptMemberNames(t *testing.T) {
	s := &script{done: make(map[string]bool)}
	s.class("Change", "", "", []tsMember{{name: "log.level", typ: "string"}, {name: "Take", typ: "number"}, {name: "X-Tenant", typ: "string"}})
	for _, line := range []string{`public "log.level"?: string;`, `public Take?: number;`, `public "X-Tenant"?: string;`} {
		if !strings.Contains(s.out.String(), "    "+line+"\n") {
			t.Errorf("no line %s in\n%s", line, &s.out)
		}
	}
}

package theme

import "testing"

// The SGR parameters of every role in the mono, dark and light themes.
func TestRoleStylesPerTheme(t *testing.T) {
	themes := [...]*Theme{New(Full, Mono), New(Full, Dark), New(Full, Light)}
	for role, want := range [...][3]string{
		Plain:      {},
		Title:      {"1", "1;36", "1;34"},
		Rule:       {"", "90", "90"},
		Selected:   {"1", "1", "1"},
		Cursor:     {"7", "7", "7"},
		Marked:     {"", "36", "34"},
		Null:       {"", "90", "90"},
		Faded:      {"2", "90", "90"},
		JSONName:   {"", "36", "34"},
		JSONText:   {"", "32", "32"},
		JSONValue:  {"", "33", "35"},
		Brand:      {"1", "1;36", "1;34"},
		Dim:        {"", "90", "90"},
		Breadcrumb: {"1", "1", "1"},
		Badge:      {"", "35", "35"},
		Tab:        {"7", "7", "7"},
		Key:        {"1", "36", "34"},
		Accent:     {"", "36", "34"},
		Label:      {"", "90", "90"},
		Frame:      {"", "36", "34"},
		Match:      {"4", "4", "4"},

		Live:    {"1", "1;32", "1;32"},
		Waiting: {"1", "1;33", "1;35"},
		Offline: {"7", "1;7;31", "1;7;31"},

		Pending:      {"", "90", "90"},
		Success:      {"", "32", "32"},
		Warning:      {"", "33", "35"},
		Failure:      {"", "31", "31"},
		ToastInfo:    {"", "32", "32"},
		ToastWarning: {"1", "33", "35"},
		ToastFailure: {"7", "31", "31"},

		profileRed:     {"", "1;7;31", "1;7;31"},
		profileGreen:   {"", "1;7;32", "1;7;32"},
		profileYellow:  {"", "30;43", "30;43"},
		profileBlue:    {"", "1;37;44", "1;37;44"},
		profileMagenta: {"", "1;7;35", "1;7;35"},
		profileCyan:    {"", "30;46", "30;46"},
	} {
		for i, th := range themes {
			if got := th.styles[role]; got != want[i] {
				t.Errorf("role %d in palette %d is %q, want %q", role, i, got, want[i])
			}
		}
	}
}

// Text in two roles has both styles, the second after the first.
func TestAppendCombinesRoles(t *testing.T) {
	th := New(Full, Dark)
	for want, got := range map[string][]byte{
		"x":                  th.Append(nil, Plain, Plain, "x"),
		"\x1b[31mx\x1b[0m":   th.Append(nil, Plain, Failure, "x"),
		"\x1b[1mx\x1b[0m":    th.Append(nil, Selected, Plain, "x"),
		"\x1b[1;31mx\x1b[0m": th.Append(nil, Selected, Failure, "x"),
		"":                   th.Append(nil, Selected, Failure, ""),
	} {
		if string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

package theme

import "testing"

// The SGR parameters of the roles in the mono theme, and in the dark and light themes of terminals
// with 16 colours: these have no backgrounds but reversed text, and never colour 8.
func TestRoleStylesPerTheme(t *testing.T) {
	themes := [...]*Theme{New(Full, Mono), New(Full, Dark), New(Full, Light)}
	for role, want := range [...][3]string{
		Plain:      {},
		Title:      {"1", "1;36", "1;34"},
		Column:     {"1", "1", "1"},
		Rule:       {"", "2", "2"},
		Selected:   {"7", "7", "7"},
		Cursor:     {"7", "7", "7"},
		CursorCell: {"1;4", "1;4", "1;4"},
		Marked:     {"1", "1;36", "1;34"},
		Null:       {"", "2", "2"},
		Faded:      {"2", "2", "2"},
		JSONName:   {"", "36", "34"},
		JSONText:   {"", "32", "32"},
		JSONValue:  {"", "33", "35"},
		Brand:      {"1", "1;36", "1;34"},
		Dim:        {"", "2", "2"},
		Breadcrumb: {"1", "1", "1"},
		Badge:      {"", "36", "34"},
		Tab:        {"7", "7", "7"},
		Key:        {"1", "36", "34"},
		Accent:     {"", "36", "34"},
		Label:      {"", "2", "2"},
		Frame:      {"", "36", "34"},
		Match:      {"4", "4", "4"},

		Live:    {"1", "1;32", "1;32"},
		Waiting: {"1", "1;33", "1;35"},
		Offline: {"7", "1;7;31", "1;7;31"},

		Pending:      {"", "2", "2"},
		Success:      {"", "32", "32"},
		Warning:      {"", "33", "35"},
		Failure:      {"", "31", "31"},
		ToastInfo:    {"", "32", "32"},
		ToastWarning: {"1", "33", "35"},
		ToastFailure: {"7", "31", "31"},

		profileRed:     {"", "1;7;31", "1;7;31"},
		profileGreen:   {"", "1;7;32", "1;7;32"},
		profileYellow:  {"", "1;7;33", "1;7;33"},
		profileBlue:    {"", "1;7;34", "1;7;34"},
		profileMagenta: {"", "1;7;35", "1;7;35"},
		profileCyan:    {"", "1;7;36", "1;7;36"},
	} {
		for i, th := range themes {
			if got := th.styles[role]; got != want[i] {
				t.Errorf("role %d in palette %d is %q, want %q", role, i, got, want[i])
			}
		}
	}
}

// The selected row is a bar. Where it is reversed, its cells have no colours, which would be their
// backgrounds; the cell of the cursor is underlined.
func TestSelectedRowIsBar(t *testing.T) {
	for _, test := range []struct {
		name           string
		th             *Theme
		failed, cursor string
	}{
		{"mono", New(Full, Mono), "\x1b[7mx\x1b[0m", "\x1b[7;1;4mx\x1b[0m"},
		{"16 colours", New(Full, Dark), "\x1b[7mx\x1b[0m", "\x1b[7;1;4mx\x1b[0m"},
		{"256 colours", NewIn(Colours256, Full, Dark), "\x1b[38;5;255;48;5;237;38;5;210mx\x1b[0m",
			"\x1b[38;5;255;48;5;237;1;38;5;16;48;5;117mx\x1b[0m"},
	} {
		if got := string(test.th.Append(nil, Selected, Failure, "x")); got != test.failed {
			t.Errorf("%s: a failure in the selected row is %q, want %q", test.name, got, test.failed)
		}
		if got := string(test.th.Append(nil, Selected, CursorCell, "x")); got != test.cursor {
			t.Errorf("%s: the cell of the cursor is %q, want %q", test.name, got, test.cursor)
		}
	}
}

// Text in two roles has both styles, the second after the first.
func TestAppendCombinesRoles(t *testing.T) {
	th := New(Full, Dark)
	for want, got := range map[string][]byte{
		"x":                     th.Append(nil, Plain, Plain, "x"),
		"\x1b[31mx\x1b[0m":      th.Append(nil, Plain, Failure, "x"),
		"\x1b[1;36mx\x1b[0m":    th.Append(nil, Marked, Plain, "x"),
		"\x1b[1;36;31mx\x1b[0m": th.Append(nil, Marked, Failure, "x"),
		"":                      th.Append(nil, Marked, Failure, ""),
	} {
		if string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

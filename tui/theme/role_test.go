package theme

import "testing"

// The SGR parameters of the roles in the mono theme, and in the dark and light themes of terminals
// with 16 colours: these have no backgrounds but reversed text, and never colour 8.
func TestRoleStylesPerTheme(t *testing.T) {
	tests := []struct {
		role                    Role
		name, mono, dark, light string
	}{
		{Plain, "Plain", "", "", ""},
		{Title, "Title", "1", "1;36", "1;34"},
		{Column, "Column", "1", "1", "1"},
		{Rule, "Rule", "", "2", "2"},
		{Selected, "Selected", "7", "7", "7"},
		{Cursor, "Cursor", "7", "7", "7"},
		{CursorCell, "CursorCell", "1;4", "1;4", "1;4"},
		{Marked, "Marked", "1", "1;36", "1;34"},
		{Null, "Null", "", "2", "2"},
		{Faded, "Faded", "2", "2", "2"},
		{JSONName, "JSONName", "", "36", "34"},
		{JSONText, "JSONText", "", "32", "32"},
		{JSONValue, "JSONValue", "", "33", "35"},
		{Brand, "Brand", "1", "1;36", "1;34"},
		{Dim, "Dim", "", "2", "2"},
		{Breadcrumb, "Breadcrumb", "1", "1", "1"},
		{Badge, "Badge", "", "36", "34"},
		{Tab, "Tab", "7", "7", "7"},
		{Key, "Key", "1", "36", "34"},
		{Accent, "Accent", "", "36", "34"},
		{Label, "Label", "", "2", "2"},
		{Frame, "Frame", "", "36", "34"},
		{Match, "Match", "4", "4", "4"},

		{Live, "Live", "1", "1;32", "1;32"},
		{Waiting, "Waiting", "1", "1;33", "1;35"},
		{Offline, "Offline", "7", "1;7;31", "1;7;31"},

		{Pending, "Pending", "", "2", "2"},
		{Success, "Success", "", "32", "32"},
		{Warning, "Warning", "", "33", "35"},
		{Failure, "Failure", "", "31", "31"},
		{ToastInfo, "ToastInfo", "", "32", "32"},
		{ToastWarning, "ToastWarning", "1", "33", "35"},
		{ToastFailure, "ToastFailure", "7", "31", "31"},

		{profileRed, "profileRed", "", "1;7;31", "1;7;31"},
		{profileGreen, "profileGreen", "", "1;7;32", "1;7;32"},
		{profileYellow, "profileYellow", "", "1;7;33", "1;7;33"},
		{profileBlue, "profileBlue", "", "1;7;34", "1;7;34"},
		{profileMagenta, "profileMagenta", "", "1;7;35", "1;7;35"},
		{profileCyan, "profileCyan", "", "1;7;36", "1;7;36"},
	}
	themes := map[string]*Theme{Mono: New(Full, Mono), Dark: New(Full, Dark), Light: New(Full, Light)}
	if roles := len(themes[Mono].styles); len(tests) != roles {
		t.Errorf("the table has %d roles, want all %d", len(tests), roles)
	}
	for _, test := range tests {
		for palette, want := range map[string]string{Mono: test.mono, Dark: test.dark, Light: test.light} {
			if got := themes[palette].styles[test.role]; got != want {
				t.Errorf("the role %s in the palette %s is %q, want %q", test.name, palette, got, want)
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
	for _, test := range []struct {
		name           string
		base, override Role
		text, want     string
	}{
		{"no style", Plain, Plain, "x", "x"},
		{"failure", Plain, Failure, "x", "\x1b[31mx\x1b[0m"},
		{"marked row", Marked, Plain, "x", "\x1b[1;36mx\x1b[0m"},
		{"failure in a marked row", Marked, Failure, "x", "\x1b[1;36;31mx\x1b[0m"},
		{"no text", Marked, Failure, "", ""},
	} {
		if got := string(th.Append(nil, test.base, test.override, test.text)); got != test.want {
			t.Errorf("%s: appending %q returned %q, want %q", test.name, test.text, got, test.want)
		}
	}
}

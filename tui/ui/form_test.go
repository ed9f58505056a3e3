package ui_test

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// A paste does not submit a form, whether it is bracketed or arrives as single keys
// with line ends.
func TestPasteDoesNotSubmitForm(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	sent := 0
	f := ui.NewForm(d.App, "A form", "send")
	f.Send = func(map[string]string, bool) tea.Cmd {
		sent++
		return nil
	}
	f.Add("One", "One", "", "the only one")
	d.App.ShowOverlay(f)
	d.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("first\nsecond\r\n"), Paste: true})
	if got := f.Fields[0].Text(); sent != 0 || got != "first second" {
		t.Errorf("after a bracketed paste: sent %d times, the field is %q; want 0, first second", sent, got)
	}

	d.Erase()
	d.Clock = d.Clock.Add(500 * time.Millisecond)
	for range 3 {
		for _, r := range "line" {
			d.Clock = d.Clock.Add(1 * time.Millisecond)
			d.Send(tuitest.Letter(string(r)))
		}
		d.Send(tuitest.Keys["enter"])
	}
	if got := f.Fields[0].Text(); sent != 0 || got != "line line line" {
		t.Errorf("after an unbracketed paste: sent %d times, the field is %q; want 0, line line line", sent, got)
	}
	d.WantText("ignored because it was part of a paste")

	d.Press("enter")
	if sent != 1 {
		t.Errorf("after enter: sent %d times, want once", sent)
	}
}

// The first esc keeps a form with changes, and so does any key after it. A form without
// changes, or with a value that was typed and erased, is closed at once.
func TestEscKeepsChanges(t *testing.T) {
	const warning = "press esc again to discard the changes"
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	for _, test := range []struct {
		keys []string
		open bool
	}{
		{[]string{"esc"}, false},
		{[]string{"tab", "esc"}, false},
		{[]string{"'x", "backspace", "esc"}, false},
		{[]string{"'x", "esc"}, true},
		{[]string{"tab", "right", "esc"}, true},
		{[]string{"'x", "esc", "esc"}, false},
		{[]string{"'x", "esc", "tab", "esc"}, true},
		{[]string{"'x", "esc", "tab", "esc", "esc"}, false},
		{[]string{"'x", "esc", "wait", "esc"}, true}, // the warning is not visible any more
		{[]string{"'x", "esc", "wait", "esc", "esc"}, false},
	} {
		f := ui.NewForm(d.App, "A form", "send")
		f.Add("One", "One", "old", "")
		f.Add("Two", "Two", "no", "").Options = []string{"no", "yes"}
		d.App.ShowOverlay(f)
		for _, key := range test.keys {
			if key == "wait" {
				d.Advance(ui.ToastDuration[ui.Warning])
				continue
			}
			d.Press(key)
		}
		if f.IsOpen() != test.open {
			t.Errorf("after %q: the form is open %t, want %t", test.keys, f.IsOpen(), test.open)
		}
		if test.open {
			d.WantText(warning)
		} else {
			d.WantNoText(warning)
		}
		d.App.ShowOverlay(nil)
		d.App.ClearToast()
	}
}

// tab wraps around; only enter submits in the last field.
func TestTabInLastFieldGoesToFirst(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	sent := 0
	f := ui.NewForm(d.App, "A form", "send")
	f.Send = func(map[string]string, bool) tea.Cmd {
		sent++
		return nil
	}
	f.Add("One", "One", "", "")
	last := f.Add("Two", "Two", "", "")
	invalid := ""
	last.Check = func() string { return invalid }
	d.App.ShowOverlay(f)
	for i, want := range []int{1, 0, 1} {
		d.Press("tab")
		if f.At != want || sent != 0 {
			t.Fatalf("after tab %d: field %d, sent %d times; want field %d, not sent", i+1, f.At, sent, want)
		}
	}
	invalid = "wrong"
	d.Press("tab")
	if f.At != 1 || last.Error != "wrong" {
		t.Errorf("tab with an invalid value: field %d, error %q; want 1, wrong", f.At, last.Error)
	}
	invalid = ""
	d.Press("enter")
	if sent != 1 {
		t.Errorf("enter in the last field: sent %d times, want once", sent)
	}
}

// In an empty field, no suggestion is selected until down chooses the first, so that enter
// takes the one with the pointer or none.
func TestEnterTakesSuggestionWithPointer(t *testing.T) {
	suggest := func(typed string) []ui.Suggestion {
		if typed == "" {
			return []ui.Suggestion{{Text: "one", Name: "one"}, {Text: "two", Name: "two"}}
		}
		return []ui.Suggestion{{Text: "two", Name: "two"}}
	}
	for keys, want := range map[string]string{ // the keys before enter
		"":               "",
		"down":           "one",
		"down down":      "two",
		"down down down": "two",
		"down up":        "",
		"'t":             "two",
	} {
		d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
		f := ui.NewForm(d.App, "A form", "send")
		first := f.Add("First", "First", "", "")
		first.Suggest = suggest
		f.Add("Second", "Second", "", "")
		d.App.ShowOverlay(f)
		d.Press(strings.Fields(keys)...)
		hasPointer := strings.Contains(d.Text(), d.App.Session.Theme.Pointer+" ")
		if wantPointer := want != ""; hasPointer != wantPointer {
			t.Errorf("after %q: a suggestion has the pointer %t, want %t\n%s", keys, hasPointer, wantPointer, d.Text())
		}
		d.Press("enter")
		if first.Text() != want || f.At != 1 {
			t.Errorf("after %q and enter: %q in the first field, field %d is active; want %q, 1",
				keys, first.Text(), f.At, want)
		}
	}
}

// Characters that arrive in one message are text, even if they spell the name of a key.
func TestKeyNamesAreText(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	for _, word := range []string{
		"up", "down", "esc", "enter", "tab", "ctrl+s", "ctrl+c", "left", "home", "backspace", "delete", "alt+b",
	} {
		f := ui.NewForm(d.App, "A form", "send")
		f.Send = func(map[string]string, bool) tea.Cmd {
			t.Errorf("%s submitted the form", word)
			return nil
		}
		f.Add("One", "One", "", "")
		f.Add("Two", "Two", "", "")
		d.App.ShowOverlay(f)
		d.Key(tuitest.Letter(word))
		if got := f.Fields[0].Text(); !f.IsOpen() || f.At != 0 || got != word || d.Quit {
			t.Errorf("form: %s typed %q, field %d is active, open %v, quit %v; want the word in field 0",
				word, got, f.At, f.IsOpen(), d.Quit)
		}
		d.Press("esc")

		accepted := ""
		l := ui.NewInputLine(d.App, "test", ">", "")
		l.Accept = func(text string) tea.Cmd {
			accepted = text
			return nil
		}
		d.App.ShowInput(l)
		d.Key(tuitest.Letter(word))
		d.Press("enter")
		if accepted != word {
			t.Errorf("input line: %s typed %q", word, accepted)
		}

		ui.OpenConfirmMany(d.App, 5000, "Delete?", "delete", nil, nil)
		d.Key(tuitest.Letter(word))
		if d.App.Overlay() == nil {
			t.Errorf("confirmation: %s closed it", word)
		}
		d.App.CloseOverlay(d.App.Overlay())
	}
}

// A URL that is pasted into a field with nothing but a scheme replaces the scheme. Other text is
// added to it.
func TestPastedURLReplacesScheme(t *testing.T) {
	for _, test := range []struct{ value, pasted, want string }{
		{"https://", "http://a.test/x", "http://a.test/x"},
		{"https://", "https://a.test/x", "https://a.test/x"},
		{"https://", "a.test/x", "https://a.test/x"},
		{"https://a.test/?u=", "https://b.test", "https://a.test/?u=https://b.test"},
	} {
		field := ui.NewField("URL", "URL", test.value, "")
		field.HandleKey(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(test.pasted), Paste: true})
		if field.Text() != test.want {
			t.Errorf("%s pasted into %q: %q, want %q", test.pasted, test.value, field.Text(), test.want)
		}
	}
}

// The end of a long path is shown in a field that is not active.
func TestFieldShowsEndOfPath(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	f := ui.NewForm(d.App, "A form", "send")
	f.Add("Name", "Name", "", "")
	file := f.Add("File", "File", "/"+strings.Repeat("directory/", 10)+"größe-世界.csv", "")
	file.ShowEnd = true
	d.App.ShowOverlay(f)
	d.WantText("…", "größe-世", ".csv ")
	d.CheckScreen()
}

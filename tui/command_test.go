package tui_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/tuitest"
)

// TestAbbreviatedCommands: a command that is found by a part of its name requires its argument, as
// under its whole name.
func TestAbbreviatedCommands(t *testing.T) {
	for text, want := range map[string]string{
		"chang": `unknown record kind: ""`,
		"wh":    "give the key of an event or record, or the ID of a message",
		"sav":   "enter a name, such as :save failed-today",
		"dro":   "no saved views; add one with :save NAME",
	} {
		d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
		d.App.TypeCommand(text)
		d.Press("enter")
		d.WantText(want)
	}
}

func TestAbbreviatedCommandRuns(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	d.App.TypeCommand("erro")
	d.Press("enter")
	d.WantText("Errors")
}

// TestPaletteListsLastUsedFirst: an empty palette lists the last inputs, the newest first, and then
// groups with descriptions and keys. Of names that match equally well, the one that was used last
// is the first.
func TestPaletteListsLastUsedFirst(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	d.Press(":")
	d.WantNoText("Last used")
	d.Press("esc")
	for _, text := range []string{"Events", "Requests", "errors", "Events"} {
		d.App.TypeCommand(text)
		d.Advance(time.Second)
		d.Press("enter", "esc")
	}

	d.Resize(120, 60)
	d.Press(":")
	text := d.Text()
	for _, want := range []string{
		`Last used +Events .* 5 `, `\n +errors .* ctrl\+e `, `\n +Requests .* 6 `,
		`\n +Tabs +Home +endpoints, .* 1 `, `\n +Commands +help +show .* \? `, `\n +Records +`,
	} {
		place := regexp.MustCompile(want).FindStringIndex(text)
		if place == nil {
			t.Fatalf("%s does not follow in\n%s", want, d.Text())
		}
		text = text[place[1]:]
	}
	d.Press("tab", "enter")
	d.WantText("Events")

	d.Press(":", "'re")
	const firstSuggestion = 2 // line of the screen
	line := strings.Split(d.Text(), "\n")[firstSuggestion]
	if !strings.Contains(line, "Requests") {
		t.Errorf("re suggests %q first, want Requests", line)
	}
}

// TestSubscriptionsOpenTheirTab: subscriptions are on the tab of their subscribers, which opens by
// their name and its short form, too.
func TestSubscriptionsOpenTheirTab(t *testing.T) {
	for _, text := range []string{"subs", "subscr", "subscriptions", "Subscriptions", "subscribers"} {
		d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
		d.App.TypeCommand(text)
		d.Press("enter")
		if _, ok := d.App.Front().(*webhooks.Subscribers); !ok {
			t.Errorf(":%s opens a %T, want the subscribers:\n%s", text, d.App.Front(), d.Text())
		}
	}
}

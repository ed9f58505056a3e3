package tui_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// hostileText contains control sequences, invisible characters and characters of
// ambiguous width.
const hostileText = "\x1b[31mred\x1b]52;c;aGk=\a\x1b]0;title\a\u009b31m" +
	"\u202eright\u2066to left\u200b\u00ad\ufeff e\u0301\u0301\u0301\u0301\u0301 世界 " +
	"\x00\x07\b\r\n\t\x7f👩‍👩‍👧‍👦"

// The output may contain sgrSequence, and none of controlChars outside of it.
var (
	sgrSequence  = regexp.MustCompile("\x1b\\[[0-9;]*m")
	controlChars = regexp.MustCompile("[\x00-\x09\x0b-\x1f\x7f\u0080-\u009f\u00ad" +
		"\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
)

// checkSanitized fails if the screen contains control characters.
func checkSanitized(d *tuitest.Driver, where string) {
	d.T.Helper()
	d.CheckScreen()
	if bad := controlChars.FindString(sgrSequence.ReplaceAllString(d.App.View(), "")); bad != "" {
		d.T.Errorf("%s draws %q", where, bad)
	}
}

// driveHostile returns the driver of an app with a hostile profile and user.
func driveHostile(t *testing.T) *tuitest.Driver {
	t.Helper()
	c := tuitest.Connect(t, daemontest.Start(t))
	return tuitest.Drive(t, c, tui.Options{Profile: hostileText, User: hostileText})
}

// Control sequences in names, errors, exports, inputs and bills do not reach the terminal.
func TestHostileTextIsSanitized(t *testing.T) {
	d := driveHostile(t)
	checkSanitized(d, "the header")
	d.App.ShowError(hostileText, &client.Error{
		Kind:      client.Rejected,
		Message:   hostileText,
		RequestID: hostileText,
	})
	checkSanitized(d, "an error")
	d.Press("ctrl+e")
	checkSanitized(d, "the list of errors")

	d.Press("esc", "esc")
	d.App.SetJobs(&export.Job{
		Name:  hostileText,
		Path:  hostileText,
		Err:   errors.New(hostileText),
		Ended: d.Clock,
	})
	d.Press("J")
	checkSanitized(d, "the exports")

	d.Press("esc", ":", "'bill")
	d.App.Input().Set(hostileText)
	checkSanitized(d, "an input line")

	d.Press("esc")
	field := client.BillField{BillID: hostileText, StageID: hostileText, SettingID: hostileText}
	value := &wire.CustomFieldValue{SettingName: new(hostileText), Contents: new(hostileText)}
	d.Send(billValueResponse(d, field, value))
	checkSanitized(d, "the form of a bill field")
	d.Press("'x", "ctrl+s")
	checkSanitized(d, "the confirmation of a bill change")
}

// Control sequences in a message, its headers and its responses do not reach the terminal.
func TestHostileMessageIsSanitized(t *testing.T) {
	d := driveHostile(t)
	list := messages.New(d.App, ui.MessageFilter{Label: hostileText})
	d.App.PushIn(tui.MessagesTab, list)
	d.Resize(100, 30)
	message := wire.Message{
		MessageID:                  hostileText,
		SubscriberID:               hostileText,
		SubscriptionID:             hostileText,
		EventName:                  hostileText,
		URL:                        "https://a.test/" + hostileText,
		Body:                       `{"a":"` + strings.Repeat(hostileText, 20_000) + `"}`,
		LastMessageResponseMessage: hostileText,
		Status:                     ui.StatusRetrying,
	}
	d.Respond(list, nil, func(error) tea.Cmd {
		return list.Put(list.Pages.Generation(), 0, []wire.Message{message}, 1)
	})
	checkSanitized(d, "the list of messages")

	detail := messages.NewDetail(list, message)
	d.App.Push(detail)
	d.Resize(100, 30)
	response := wire.MessageResponse{ItemNo: 1, Message: hostileText, Duration: hostileText}
	parts := messages.MessageParts{
		Headers:   []wire.Header{{Name: hostileText}},
		NoHeaders: hostileText,
		Responses: []wire.Attempt{{MessageResponse: response, AnswerText: new(hostileText)}},
	}
	d.Respond(detail, nil, func(error) tea.Cmd {
		return detail.OnFetched(messages.FetchedMessage{Message: message, MessageParts: parts}, nil)
	})
	for _, tab := range messages.MessageTabs {
		checkSanitized(d, "the tab "+tab.Name)
		d.Press("tab")
	}
	d.Press("v", "r")
	checkSanitized(d, "a confirmation")
}

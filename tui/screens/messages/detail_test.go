package messages_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// followingScreen fetches its data, and fetches it again after changes.
type followingScreen interface {
	ui.Poller
	ui.Follower
}

// A message that changes while a screen fetches it is fetched again afterwards.
func TestChangeDuringFetch(t *testing.T) {
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusServiceUnavailable))
	s.Subscribe(t, "debtor.updated", s.Receiver)
	s.PublishPost(t, wire.EventPost{EventName: "debtor.updated", Key: "D 4711", Body: "{}"}, 2)
	page, err := s.Client.AllMessages(t.Context(), url.Values{"Key": {"D 4711"}})
	if err != nil {
		t.Fatal(err)
	}
	ofMessage := []wire.MessageChange{{MessageID: page.Results[0].MessageID}}
	ofAnother := []wire.MessageChange{{MessageID: "another"}}

	for _, test := range []struct {
		name    string
		keys    []string
		changes []wire.MessageChange
		again   bool
	}{
		{"the message", []string{"4", "enter"}, ofMessage, true},
		{"another message", []string{"4", "enter"}, ofAnother, false},
		{"a message of the history", []string{"4", "w"}, ofMessage, true},
		{"a message outside the history", []string{"4", "w"}, ofAnother, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := s.Open(t, tui.Options{})
			d.Press(test.keys...)
			screen, ok := d.App.Front().(followingScreen)
			if !ok {
				t.Fatalf("the keys %q opened a %T, want a screen that follows changes", test.keys, d.App.Front())
			}

			fetch := screen.Poll()
			if screen.Follow(test.changes, 0) != nil {
				t.Error("a second fetch started while the first was in flight")
			}
			response := fetch().(ui.Response)
			fetchedAgain := response.Apply() != nil
			if fetchedAgain != test.again {
				t.Errorf("after the fetch, another one started: %v, want %v", fetchedAgain, test.again)
			}
		})
	}
}

// The full URL is shown when revealed, and the curl command uses the saved file.
func TestRevealShowsFullURL(t *testing.T) {
	s := tuitest.StartReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("upstream is down\nsecond line"))
	})
	key := strings.Repeat("0123456789", 9)
	s.Subscribe(t, "debtor.updated", s.Receiver+"/erp?key="+key)
	s.Publish(t, "debtor.updated", `{"DebtorID":"C0"}`, 2)
	d := s.Open(t, tui.Options{Downloads: t.TempDir()})
	d.Press("4", "enter", "v")
	d.CheckScreen()
	unwrapped := strings.Join(strings.Fields(strings.ReplaceAll(d.Text(), "│", "")), "")
	if !strings.Contains(unwrapped, key) {
		t.Errorf("the screen shows\n%s\nwant the key %s of the URL", d.Text(), key)
	}
	if !strings.Contains(unwrapped, s.Subscriber) {
		t.Errorf("the screen shows\n%s\nwant the ID of the subscriber %s", d.Text(), s.Subscriber)
	}
	d.WantText("503 Service Unavailable", "upstream is down", "acme-shop")
	d.Press("v", "shift+tab")
	name := "body-" + ui.ShortID(d.App.Front().(*messages.Detail).Content.Message.MessageID) + ".json"
	d.WantText("e saves the body as "+name, "@"+name)
	d.Press("e", "enter")
	d.WantText("The body is saved as", "@"+name)
	d.Press("e")
	d.WantText("-2.json")
}

// The screen of a message closes when the message was deleted, also if it is not in front then.
func TestDeleteClosesDetail(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4", "enter", "D", "y")
	d.Wait(ui.UndoDelay)
	d.WantText("done", " Messages ─")
	d.WantNoText("no longer exists")
	d.Press("enter", "D", "y", "1")
	d.Wait(ui.UndoDelay)
	d.Press("4")
	d.WantNoText("no longer exists")
	if total := list(d).Pages.Total(); total != 6 { // also checks that the list is in front
		t.Errorf("the list has %d messages after two were deleted, want 6", total)
	}
}

// The answer below the attempts is the one of the selected attempt, at first of the newest.
func TestAnswerFollowsSelectedAttempt(t *testing.T) {
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusServiceUnavailable))
	s.Subscribe(t, "debtor.updated", s.Receiver)
	s.Publish(t, "debtor.updated", "{}", 2)
	d := s.Open(t, tui.Options{})
	d.Resize(80, 30)
	d.Press("4", "enter")
	detail := d.App.Front().(*messages.Detail)
	first := detail.Content.Responses[0]
	var attempts []wire.Attempt
	for i, answer := range []string{"the first answer", "the second answer", "the third answer"} {
		attempt := first
		attempt.ItemNo = i + 1
		attempt.AnswerText = &answer
		attempts = append(attempts, attempt)
	}
	fetched := messages.FetchedMessage{
		Message:      detail.Content.Message,
		MessageParts: messages.MessageParts{Responses: attempts},
	}
	d.Respond(detail, nil, func(error) tea.Cmd { return detail.OnFetched(fetched, nil) })

	wantOnly := func(keys []string, want string) {
		t.Helper()
		d.Press(keys...)
		_, shown, _ := strings.Cut(d.Text(), "Response of attempt ")
		for _, attempt := range attempts {
			isShown := strings.Contains(shown, *attempt.AnswerText)
			if isShown != (*attempt.AnswerText == want) {
				t.Errorf("after %q, the screen is\n%s\nwant only %s below the attempts", keys, d.Text(), want)
			}
		}
	}
	wantOnly(nil, "the third answer")
	wantOnly([]string{"g"}, "the first answer")
	wantOnly([]string{"j"}, "the second answer")
	wantOnly([]string{"j"}, "the third answer")
	wantOnly([]string{"k", "k", "G"}, "the first answer") // the cursor is in the body
	d.Advance(2 * time.Second)
	wantOnly(nil, "the first answer")

	d.Resize(120, 40) // the answer is next to the document
	d.Respond(detail, nil, func(error) tea.Cmd { return detail.OnFetched(fetched, nil) })
	d.WantText("├ Sent ─", "┬ Response of attempt 1 ─", "the first answer")
	d.Press("g", "down")
	d.WantText("┬ Response of attempt 2 ─", "the second answer", "  Attempts  ✗ 0s  ✗ 0s  ✗  ↻ in ")
	d.Press("up")
	d.WantText("┬ Response of attempt 1 ─")
	d.CheckScreen()
}

// From 120 columns on, a search finds lines of the document and of the answer, as it finds the
// attempts above them.
func TestSearchFindsDocuments(t *testing.T) {
	s := tuitest.StartReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("upstream is down"))
	})
	s.Subscribe(t, "debtor.updated", s.Receiver)
	var body strings.Builder
	body.WriteString(`{"Lines":[`)
	for i := range 200 {
		fmt.Fprintf(&body, `{"LineNo":%d},`, i)
	}
	body.WriteString(`{"Note":"needle"}],"Last":"needle"}`)
	s.Publish(t, "debtor.updated", body.String(), 2)
	d := s.Open(t, tui.Options{})
	d.Resize(120, 40)
	d.Press("4", "enter")
	d.WantText("├ Sent ─", "upstream is down")
	d.WantNoText("needle")

	d.Press("/", "'NEEDLE", "enter")
	d.WantText(`"Note": "needle"`)
	d.Press("n")
	d.WantText(`"Last": "needle"`)
	d.Press("n")
	d.WantText(`"Note": "needle"`)
	d.Press("N")
	d.WantText(`"Last": "needle"`)

	d.Press("/", "ctrl+u", "'upstream", "enter")
	d.WantText("upstream is down")
	d.Press("n") // from the attempt to the answer, next to the first line of the document
	d.WantText(`"LineNo": 0`)
	d.Press("/", "ctrl+u", "'missing", "enter")
	d.WantText("not found: missing")
	d.Press("/", "ctrl+u", "'503", "enter")
	if line := d.LineWith("▌"); !strings.Contains(line, "503") {
		t.Errorf("the selected line is %q, want an attempt with 503", line)
	}
	d.CheckScreen()
}

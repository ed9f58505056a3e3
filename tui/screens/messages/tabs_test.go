package messages_test

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// The tabs of a message show its data; secrets are hidden until revealed.
func TestMessageTabsMaskSecrets(t *testing.T) {
	s := tuitest.StartReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "upstream is down")
	})
	s.Subscribe(t, "debtor.updated", s.Receiver+"/erp?key=of-the-receiver&plain")
	s.Publish(t, "debtor.updated", `{"DebtorID":"C0"}`, 2)
	d := s.Open(t, tui.Options{})
	d.Resize(120, 40)
	d.Press("4")
	d.WantText("/erp?..")
	d.Press("enter")
	var all strings.Builder
	for range messages.MessageTabs {
		all.WriteString(d.Text())
		d.Press("tab")
	}
	for _, secret := range []string{"of-the-receiver", "Bearer", s.Subscriber} {
		if strings.Contains(all.String(), secret) {
			t.Errorf("%s is shown", secret)
		}
	}
	for _, want := range []string{
		"503 Service Unavailable",
		`"DebtorID"`,
		"Authorization",
		ui.SecretMask,
		"Webhook-Signature",
		"generated for each attempt",
		"status   503",
		"upstream is down",
		"curl -X POST",
		"key=" + ui.SecretMask,
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no tab shows %q:\n%s", want, all.String())
		}
	}

	d.Press("tab", "tab", "v")
	d.WantText("key=of-the-receiver", s.Subscriber, "Authorization", ui.SecretMask, "v hides them again")
	d.Press("v")
	d.WantNoText("of-the-receiver")
}

// A held message shows the reason in place of the next attempt.
func TestHeldMessageShowsReason(t *testing.T) {
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusServiceUnavailable))
	s.Subscribe(t, "debtor.updated", s.Receiver+"/erp")
	s.Publish(t, "debtor.updated", `{"DebtorID":"C0"}`, ui.StatusRetrying)
	d := s.Open(t, tui.Options{})
	d.Press("4", "enter")
	d.WantText("scheduled")
	detail := d.App.Front().(*messages.Detail)
	detail.OnFetched(messages.FetchedMessage{
		Message: detail.Content.Message,
		MessageParts: messages.MessageParts{
			Responses: detail.Content.Responses,
			Withheld:  "its owner may not read the record",
		},
	}, nil)
	d.WantText("[held]", "held: its owner may not read the record")
	d.WantNoText("scheduled, in ")
}

// The body of a message is saved byte for byte.
func TestSaveBody(t *testing.T) {
	const body = `{"DebtorID":"C0"}`
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusServiceUnavailable))
	s.Subscribe(t, "debtor.updated", s.Receiver+"/erp")
	s.Publish(t, "debtor.updated", body, ui.StatusRetrying)
	d := s.Open(t, tui.Options{Downloads: t.TempDir()})
	d.Press("4", "enter", "e", "enter")
	d.WantText("17 B written to")
	files := tuitest.Files(t, d.App.Session.Downloads, "body-*.json")
	if len(files) != 1 {
		t.Fatalf("the files are %q, want one", files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil || string(text) != body {
		t.Errorf("the file has %q, error %v; want %q", text, err, body)
	}
}

// On a wide screen the attempts, the last response and the body of the selected message are
// next to the list. They follow the selection and changes of the message.
func TestPreviewOfMessage(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4")
	d.WantNoText("Response of attempt")
	d.Resize(120, 40)
	d.WantText("[✓ delivered]", `"InvoiceNo": "D9"`, "HTTP   Age ")
	for range 2 { // without waiting for the responses
		d.Deliver(tuitest.Letter("j"))
	}
	d.Settle()
	d.WantText("[↻ retrying]", "503 Service Unavailable", "scheduled",
		"Response of attempt 1", "<h1>upstream is down</h1>", `"DebtorID": "C2"`)
	d.CheckScreen()
	if _, err := s.Client.RetryMessages(t.Context(), url.Values{"SubscriptionID": {s.Failing}}); err != nil {
		t.Fatal(err)
	}
	d.WaitFor("Response of attempt 2")
	d.Press("enter", "tab", "esc")
	d.WantText("Messages", "Response of attempt 2")
	d.Resize(80, 24)
	d.WantNoText("Response of attempt")
}

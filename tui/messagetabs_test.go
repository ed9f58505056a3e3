package tui

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/ui"
)

// The tabs of a message tell what the service does, and nothing secret before v.
func TestMessageTabs(t *testing.T) {
	s := startReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "upstream is down")
	})
	s.subscribe(t, "debtor.updated", s.receiver+"/erp?key=of-the-receiver&plain")
	s.raise(t, "debtor.updated", `{"DebtorID":"C0"}`, 2)
	d := s.open(t, Options{Downloads: t.TempDir()})
	d.resize(120, 40)
	d.press("4")
	d.sees("/erp?..")
	d.press("enter")
	var all strings.Builder
	for range messages.MessageTabs {
		all.WriteString(d.text())
		d.press("tab")
	}
	for _, secret := range []string{"of-the-receiver", "Bearer", s.subscriber} {
		if strings.Contains(all.String(), secret) {
			t.Errorf("%s is shown", secret)
		}
	}
	for _, want := range []string{"503 Service Unavailable", `"DebtorID"`, "Authorization", ui.SecretMask, "Webhook-Signature", "made anew for each attempt", "status   503", "upstream is down", "curl -X POST", "key=" + ui.SecretMask} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("%s is not shown:\n%s", want, all.String())
		}
	}
	d.press("tab", "tab", "v")
	d.sees("key=of-the-receiver", s.subscriber, "Authorization", ui.SecretMask, "v hides it again")
	d.press("v")
	if strings.Contains(d.text(), "of-the-receiver") {
		t.Error("v does not hide it again")
	}
	d.press("e", "enter")
	d.sees("17 B written to")
	files, _ := filepath.Glob(filepath.Join(d.app.Downloads, "body-*.json"))
	if len(files) != 1 {
		t.Fatalf("files %v", files)
	}
	if text, err := os.ReadFile(files[0]); string(text) != `{"DebtorID":"C0"}` || err != nil {
		t.Errorf("the file has %q, %v", text, err)
	}
}

func TestMaskURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://a.test/x":             "https://a.test/x",
		"https://a.test/x?key=1&b=2&c": "https://a.test/x?key=" + ui.SecretMask + "&b=" + ui.SecretMask + "&" + ui.SecretMask,
		"https://user:word@a.test/":    "https://user:" + ui.SecretMask + "@a.test/",
		"::not an address":             "::not an address",
	} {
		if got := ui.MaskURL(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

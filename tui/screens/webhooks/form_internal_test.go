package webhooks

import (
	"errors"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// noticeHost is an app that keeps the last notification, which replaces earlier ones.
type noticeHost struct {
	ui.Host
	session *ui.Session
	shown   string
}

func (h *noticeHost) CurrentSession() *ui.Session { return h.session }

func (h *noticeHost) ShowSecret(*ui.Secret) {}

func (h *noticeHost) Notify(_ ui.Level, text string) { h.shown = text }

func (h *noticeHost) ShowError(action string, _ error) { h.shown = action }

// The notice about a new subscription is shown with the result of its test.
func TestNoticeOfCreatedSubscription(t *testing.T) {
	const notice = "the subscription receives no events of changed records"
	created := wire.Subscription{EventName: "debtor.*", URL: "http://x.test/", Notice: notice}
	for name, accepted := range map[string]*acceptedTest{
		"no test":  nil,
		"queued":   {disabled: "the subscriber"},
		"not sent": {err: errors.New("cannot reach the service")},
	} {
		h := &noticeHost{session: &ui.Session{Theme: new(theme.Theme)}}
		ShowCreated(h, nil, created, accepted)
		if !strings.Contains(h.shown, notice) {
			t.Errorf("%s: the last notification is %q, want the notice %q in it", name, h.shown, notice)
		}
	}
}

package rest_test

import (
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/storage"
)

// TestRestoreEndsSessions ends a session of a user and one of a subscriber after a backup. Restoring
// the backup does not revive them.
func TestRestoreEndsSessions(t *testing.T) {
	p := newPortal(t)
	cookie := portalCookie(t, p.try(p.shop.RecID).want(t, 303))
	visitor := "Cookie: " + cookie.Name + "=" + cookie.Value
	user := "Cookie: ss-id=" + anonymous(t, p.Instance).do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
	subscriptions := "GET " + edge.PortalPath + "/Subscriptions"
	asBrowser(anonymous(t, p.Instance)).do(subscriptions, "", visitor).want(t, 200)
	anonymous(t, p.Instance).do("GET /auth", "", user).want(t, 200)

	files, err := storage.Files()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "backup")
	_, err = backup.Write(t.Context(), backup.Source{Dir: p.Dir, Files: files, Program: "whd test"}, file)
	if err != nil {
		t.Fatal(err)
	}
	asBrowser(anonymous(t, p.Instance)).do("POST "+edge.PortalPath+"/Leave", "", visitor, formType).want(t, 303)
	anonymous(t, p.Instance).do("POST /auth/logout", "", user).want(t, 200)

	restored := t.TempDir()
	_, err = backup.Restore(t.Context(), backup.Target{Dir: restored, Files: files}, file)
	if err != nil {
		t.Fatal(err)
	}
	i := daemontest.StartIn(t, restored, portalFlags...)
	asBrowser(anonymous(t, i)).do(subscriptions, "", visitor).want(t, 303).
		wantHeader(t, "Location", edge.PortalPath+"?Note=Ended")
	anonymous(t, i).do("GET /auth", "", user).want(t, 401)
	asAdmin(t, i).do("GET /Webhooks/Subscribers", "").want(t, 200).wantText(t, "Acme") // all else is restored
}

package rest_test

import "testing"

// TestMembersWithOtherLetters sends members with names that have other letters that count as the same,
// as the Turkish upper case of i: the rules for the member apply.
func TestMembersWithOtherLetters(t *testing.T) {
	m := newMessagesFixture(t)
	path := "/Webhooks/Subscribers/" + m.shops[1].Subscriber + "/Messages"
	member := "?Subscriber%C4%B0D=" + m.shops[0].Subscriber
	want := len(m.admin.do("GET "+path, "").want(t, 200).envelope(t).Results)
	got := len(m.admin.do("GET "+path+member, "").want(t, 200).envelope(t).Results)
	if got != want || want == 0 {
		t.Errorf("GET %s%s: %d messages, want the %d of the subscriber in the path", path, member, got, want)
	}
	m.admin.do("POST /Webhooks/Messages/Retry?Sk%C4%B0p=1", "").want(t, 400).
		wantMessage(t, "is not supported here")
}

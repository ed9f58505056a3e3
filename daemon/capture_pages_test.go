package daemon_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestHistoryOnRecordPages opens the pages of records by keys that their events have in another form:
// one in another letter case, and one that is too long for an event.
func TestHistoryOnRecordPages(t *testing.T) {
	t.Parallel()
	s := newCaptureStory(t, "")
	long := strings.Repeat("L", 130)
	s.exec(
		"CREATE TABLE Parts (Code TEXT COLLATE TSQL NOT NULL PRIMARY KEY, Name TEXT)",
		"INSERT INTO Parts VALUES ('ABC', 'a'), ('"+long+"', 'b')",
	)
	s.start("[Parts]\ncapture = 'always'\nevents = 'part'\n[Parts.fields]\nCode = 'string'\nName = 'string?'\n")
	s.capturing("Parts")
	s.exec("UPDATE Parts SET Name = Name || '2'")
	s.awaitChanges("Parts", 2)

	for _, key := range []string{"ABC", "abc", long} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/Pages/Records/Parts?Code="+url.QueryEscape(key), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.Key(t, "admin"))
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		hasHistory := strings.Contains(string(page), "Changes and deliveries") && strings.Contains(string(page), "part.updated")
		if err != nil || reply.StatusCode != http.StatusOK || !hasHistory {
			t.Errorf("the page of %s has no history: status %d, %v, %s", key, reply.StatusCode, err, page)
		}
	}
}

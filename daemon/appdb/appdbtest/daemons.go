package appdbtest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/account"
)

// concurrently calls work n times concurrently, as daemons do that share a store. They use one DB: on a
// server each call has a connection of its own, a file is used by one daemon anyway.
func concurrently(n int, work func(int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { work(i) })
	}
	all.Wait()
}

// oneFirstUser checks that concurrent starts create one first user. All create it with the same name, so
// that the unique index on the names ensures this; userRows checks the condition that there is no user.
func oneFirstUser(t *testing.T, b accounts) {
	const starts = 4
	var added [starts]bool
	id := func(start int) string { return fmt.Sprint("user", start) }
	concurrently(starts, func(i int) {
		u := account.User{
			ID:    id(i),
			Name:  account.FirstUser,
			Role:  account.Admin,
			Added: noon,
			Saved: noon,
		}
		var err error
		added[i], err = b.AddFirstUser(t.Context(), u, entryAt(noon))
		if err != nil {
			t.Error(err)
		}
	})
	users, err := b.Users(t.Context())
	if err != nil || len(users) != 1 {
		t.Fatalf("got users %+v (%v), want one", users, err)
	}
	for i, isFirst := range added {
		if isFirst != (users[0].ID == id(i)) {
			t.Errorf("start %d reports added %v, but the stored user has the ID %q", i, isFirst, users[0].ID)
		}
	}
}

// lastAdmin concurrently removes two admins or their roles. One admin must remain.
func lastAdmin(t *testing.T, b accounts) {
	names := []string{"ann", "bob"}
	admin := account.Admin
	reader := account.Reader
	remove := func(name string) (bool, error) {
		return b.RemoveUser(t.Context(), name, entryAt(noon))
	}
	demote := func(name string) (bool, error) {
		return b.ChangeUser(t.Context(), name, account.Change{Role: &reader}, entryAt(noon))
	}
	for round := range 10 {
		for _, name := range names {
			change := account.Change{Role: &admin}
			exists, err := b.ChangeUser(t.Context(), name, change, entryAt(noon))
			if err != nil {
				t.Fatal(err)
			}
			if !exists {
				b.addUser(name, admin)
			}
		}

		action := remove
		if round%2 == 1 {
			action = demote
		}
		var done [2]bool
		concurrently(len(names), func(i int) {
			var err error
			done[i], err = action(names[i])
			if err != nil {
				t.Error(err)
			}
		})
		if done[0] == done[1] {
			t.Fatalf("round %d: done %v, want exactly one true", round, done)
		}
	}
}

// passwordSession checks that a login with the old password during its change
// leaves no session.
func passwordSession(t *testing.T, b accounts) {
	u := b.addUser("ann", account.Reader)
	for round := range 10 {
		next := u
		next.PasswordHash = fmt.Sprint("hash ", round)
		concurrently(2, func(i int) {
			var err error
			if i == 0 {
				s := account.Session{Hash: "s", User: u, Added: noon, Expires: noon}
				_, err = b.AddSession(t.Context(), s)
			} else {
				_, err = b.ChangeUser(t.Context(), "ann",
					account.Change{PasswordHash: &next.PasswordHash}, entryAt(noon))
			}
			if err != nil {
				t.Error(err)
			}
		})
		b.expectSession("s", nil)
		u = next
	}
	b.addSession("s", u) // with the present password
}

// concurrentUses writes the same uses concurrently.
func concurrentUses(t *testing.T, b accounts) {
	u := b.addUser("ann", account.Reader)
	var hashes []string
	for i := range 8 {
		hashes = append(hashes, fmt.Sprint("s", i))
		b.addSession(hashes[i], u)
	}
	const writers = 4
	concurrently(writers, func(i int) {
		uses := account.Uses{Sessions: make(map[string]time.Time)}
		for _, hash := range hashes {
			uses.Sessions[hash] = noon.Add(time.Hour + time.Duration(i)*time.Minute)
		}
		if err := b.Write(t.Context(), uses); err != nil {
			t.Error(err)
		}
	})
	latest := noon.Add(time.Hour + (writers-1)*time.Minute)
	for _, hash := range hashes {
		s, err := b.Session(t.Context(), hash)
		if err != nil || s == nil || !s.Expires.Equal(latest) {
			t.Errorf("session %s: got %+v (%v), want it to expire at %v", hash, s, err, latest)
		}
	}
}

package account_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
)

func TestLogin(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Writer)
	tests := []struct {
		name   string
		login  account.Login
		want   string
		text   string
		fields []string
	}{
		{"valid", account.Login{UserName: "Ann", Password: goodPassword}, "ok", "", nil},
		{"other letter case of the name", account.Login{UserName: "aNN", Password: goodPassword}, "ok", "", nil},
		{"wrong password", account.Login{UserName: "Ann", Password: badPassword}, "unauthorized", "Invalid Username or Password", nil},
		{"other letter case of the password", account.Login{UserName: "Ann", Password: strings.ToUpper(goodPassword)}, "unauthorized", "Invalid Username or Password", nil},
		{"unknown user", account.Login{UserName: "Bob", Password: goodPassword}, "unauthorized", "Invalid Username or Password", nil},
		{"very long name", account.Login{UserName: strings.Repeat("A", 9000), Password: goodPassword}, "unauthorized", "Invalid Username or Password", nil},
		{"very long password", account.Login{UserName: "Ann", Password: strings.Repeat("A", 9000)}, "unauthorized", "Invalid Username or Password", nil},
		{"no password", account.Login{UserName: "Ann"}, "missing", "", []string{"Password"}},
		{"no name", account.Login{Password: goodPassword}, "missing", "", []string{"UserName"}},
		{"empty", account.Login{}, "missing", "", []string{"Password", "UserName"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := p.Login(t.Context(), tt.login)
			expectKind(t, err, tt.want)
			if tt.text != "" && fault.From(err).Message != tt.text {
				t.Errorf("message %q", fault.From(err).Message)
			}
			if err != nil && !slices.Equal(fieldsOf(err), tt.fields) {
				t.Errorf("fields %v, want %v", fieldsOf(err), tt.fields)
			}
		})
	}
}

func TestLoginRepermitsTicket(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Writer)
	ticket, err := p.Login(t.Context(), account.Login{UserName: "ann", Password: goodPassword, Remember: true})
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^[A-Za-z0-9]{20}$`).MatchString(ticket.SessionID) {
		t.Errorf("session id %q", ticket.SessionID)
	}
	id, err := p.Authenticate(t.Context(), cookie(ticket.SessionID))
	if err != nil {
		t.Fatal(err)
	}
	want := account.Identity{
		Name:        "Ann",
		DisplayName: "Ann!",
		Role:        account.Writer,
		UserID:      id.UserID,
		SessionHash: id.SessionHash,
		Expires:     p.clock.Now().Add(14 * 24 * time.Hour),
	}
	if ticket.Identity != want {
		t.Errorf("ticket is for %+v, want %+v", ticket.Identity, want)
	}
	want.AuthMethod = account.Cookie
	if id != want {
		t.Errorf("identity is %+v, want %+v", id, want)
	}
	if len(id.SessionHash) != 64 || strings.Contains(id.SessionHash, ticket.SessionID) {
		t.Errorf("session hash %q", id.SessionHash)
	}
	if sessionID := p.login(t, "Ann", false); sessionID == ticket.SessionID {
		t.Error("two logins return the same session id")
	}
}

// Known and unknown users cost the same number of hashes, so that response times do not
// reveal which users exist.
func TestUnknownUserCostsOneHash(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	for _, name := range []string{"Ann", "Bob", strings.Repeat("x", 300)} {
		before := p.hashes.Load()
		_, err := p.Login(t.Context(), account.Login{UserName: name, Password: badPassword})
		expectKind(t, err, "unauthorized")
		if n := p.hashes.Load() - before; n != 1 {
			t.Errorf("%.10s: %d hashes, want 1", name, n)
		}
	}
}

func TestLoginIsThrottled(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	p.add(t, "Bob", account.Reader)
	try := func(name, password, address string) error {
		_, err := p.Login(t.Context(), account.Login{UserName: name, Password: password, Address: address})
		return err
	}
	for range 5 {
		expectKind(t, try("Ann", badPassword, "10.0.0.1"), "unauthorized")
		p.clock.pass(2 * time.Second)
	}
	before := p.hashes.Load()
	err := try("aNN", goodPassword, "10.0.0.1:4711")
	expectKind(t, err, "too many")
	if wait := fault.From(err).RetryAfter; wait != 50*time.Second {
		t.Errorf("Retry-After %v, want 50s", wait)
	}
	if p.hashes.Load() != before {
		t.Error("a throttled attempt computed a hash")
	}
	expectKind(t, try("Ann", goodPassword, "10.0.0.2"), "ok")
	expectKind(t, try("Bob", goodPassword, "10.0.0.1"), "ok")
	p.clock.pass(50*time.Second - 1)
	expectKind(t, try("Ann", goodPassword, "10.0.0.1"), "too many")
	p.clock.pass(1)
	expectKind(t, try("Ann", goodPassword, "10.0.0.1"), "ok")
	for range 5 { // the successful login has reset the count
		expectKind(t, try("Ann", badPassword, "10.0.0.1"), "unauthorized")
	}
	expectKind(t, try("Ann", badPassword, "10.0.0.1"), "too many")
}

func TestBasicIsThrottled(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	p.add(t, "Bob", account.Reader)
	p.expect(t, basic("Ann", goodPassword), "reader")
	for _, name := range []string{"Ann", "Bob", "Carl"} {
		for range 5 {
			p.expect(t, basic(name, badPassword), "unauthorized")
		}
		p.expect(t, basic(name, badPassword), "too many")
	}
	p.expect(t, basic("Bob", goodPassword), "too many")
	p.expect(t, basic("Ann", goodPassword), "reader") // a cached verification is not throttled
}

// A client that opens many connections concurrently, all with the correct password, is
// not throttled.
func TestConcurrentRequestsShareAHash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t)
		p.add(t, "Ann", account.Reader)
		p.hashes.Store(0)
		release := make(chan struct{})
		p.CheapHashes(func() { p.hashes.Add(1); <-release })
		results := make(chan string, 50)
		for range cap(results) {
			go func() { results <- p.known(t.Context(), basic("Ann", goodPassword)) }()
		}
		synctest.Wait()
		close(release)
		for range cap(results) {
			if got := <-results; got != "reader" {
				t.Errorf("got %s, want reader", got)
			}
		}
		if n := p.hashes.Load(); n != 1 {
			t.Errorf("%d hashes, want 1", n)
		}
	})
}

func TestConcurrentHashesAreLimited(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	var mu sync.Mutex
	running, peak := 0, 0
	entered := make(chan struct{}, 200)
	release := make(chan struct{})
	p.CheapHashes(func() {
		mu.Lock()
		running++
		peak = max(peak, running)
		mu.Unlock()
		entered <- struct{}{}
		<-release
		mu.Lock()
		running--
		mu.Unlock()
	})
	results := make(chan error, 200)
	for i := range 200 {
		go func() {
			_, err := p.Login(t.Context(), account.Login{
				UserName: fmt.Sprint("user", i),
				Password: badPassword,
				Address:  "10.0.0.1",
			})
			results <- err
		}()
	}
	counts := make(map[string]int)
	served := account.Concurrency() + 32 // those computing and those waiting until release
	for range 200 - served {
		err := <-results
		counts[kindOf(err)]++
		if fault.From(err).RetryAfter <= 0 {
			t.Fatal("no Retry-After")
		}
	}
	if want := 200 - served; counts["unavailable"] != want {
		t.Errorf("%v, want %d unavailable", counts, want)
	}
	if p.Waiting() != 32 {
		t.Errorf("%d attempts wait, want 32", p.Waiting())
	}
	close(release)
	for range served {
		counts[kindOf(<-results)]++
	}
	if counts["unauthorized"] != served {
		t.Errorf("%v, want %d unauthorized", counts, served)
	}
	if peak != account.Concurrency() {
		t.Errorf("%d hashes were computed concurrently, want %d", peak, account.Concurrency())
	}
}

// An attempt rejected because of a full queue does not count as a failed login.
func TestRejectedAttemptIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t)
		p.add(t, "Ann", account.Reader)
		release := make(chan struct{})
		p.CheapHashes(func() { <-release })
		for i := range account.Concurrency() + 32 {
			other := basic(fmt.Sprint("user", i), badPassword)
			other.Address = fmt.Sprint("10.0.1.", i)
			go p.known(t.Context(), other)
		}
		synctest.Wait()
		for range 10 {
			p.expect(t, basic("Ann", goodPassword), "unavailable")
		}
		close(release)
		synctest.Wait()
		p.expect(t, basic("Ann", goodPassword), "reader")
	})
}

// A cancelled attempt does not count as a failed login, and does not affect other
// requests with the same password.
func TestCancelledAttemptIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t)
		p.add(t, "Ann", account.Reader)
		release := make(chan struct{})
		p.CheapHashes(func() { <-release })
		for i := range account.Concurrency() {
			go p.known(t.Context(), basic(fmt.Sprint("user", i), badPassword))
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		results := make(chan string, 12)
		for range 6 { // the first waits for the semaphore, the others for the first
			go func() { results <- p.known(ctx, basic("Ann", goodPassword)) }()
		}
		synctest.Wait()
		for range 6 {
			go func() { results <- p.known(t.Context(), basic("Ann", goodPassword)) }()
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(release)
		counts := make(map[string]int)
		for range cap(results) {
			counts[<-results]++
		}
		if counts["unavailable"] != 6 || counts["reader"] != 6 {
			t.Errorf("%v, want 6 unavailable and 6 reader", counts)
		}
	})
}

func TestLogsAndErrorsContainNoSecrets(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	secrets := []string{badPassword, goodPassword, "hunter2-typed-as-name"}
	var texts []string
	for _, name := range []string{"Ann", "hunter2-typed-as-name"} {
		for range 7 {
			_, err := p.Login(t.Context(), account.Login{UserName: name, Password: badPassword, Address: "10.0.0.9"})
			texts = append(texts, err.Error())
		}
	}
	_, err := p.AddUser(t.Context(), account.NewUser{Name: "a:b", Password: "hunter2"})
	texts = append(texts, err.Error(), p.log.String())
	for _, text := range texts {
		for _, secret := range append(secrets, "hunter2") {
			if strings.Contains(text, secret) {
				t.Errorf("%q contains %q", text, secret)
			}
		}
	}
	if !strings.Contains(p.log.String(), "user=Ann network=10.0.0.9") {
		t.Errorf("the log does not name the user of the failed login: %s", p.log)
	}
}

// A hash of an earlier version, with a lower cost, is replaced at the next login. The
// user's other fields, sessions and cached verification stay.
func TestWeakHashIsReplacedAtLogin(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	before, err := p.User(t.Context(), "Ann")
	if err != nil {
		t.Fatal(err)
	}
	cheap := strings.Replace(before.PasswordHash, "t=4", "t=2", 1) // CheapHashes ignores the passes
	if err := p.Rehash(t.Context(), "ann", before.PasswordHash, cheap); err != nil {
		t.Fatal(err)
	}
	session := p.login(t, "Ann", false)
	after, err := p.User(t.Context(), "Ann")
	if err != nil || after.PasswordHash == cheap || !strings.Contains(after.PasswordHash, "t=4") || !after.Saved.Equal(before.Saved) {
		t.Errorf("Ann is %+v (%v)", after, err)
	}
	p.expect(t, cookie(session), "reader")
	p.expect(t, basic("Ann", goodPassword), "reader")
	computed := p.hashes.Load()
	p.expect(t, basic("Ann", goodPassword), "reader")
	if p.hashes.Load() != computed {
		t.Error("the cached verification was lost")
	}
}

// Concurrent logins from different addresses all succeed, although the first of them
// replaces the hash that the others verified.
func TestConcurrentLoginsDuringRehash(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	u, err := p.User(t.Context(), "Ann")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Rehash(t.Context(), "ann", u.PasswordHash, strings.Replace(u.PasswordHash, "t=4", "t=2", 1)); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			_, err := p.Login(t.Context(), account.Login{
				UserName: "Ann",
				Password: goodPassword,
				Address:  fmt.Sprint("10.0.0.", i),
			})
			expectKind(t, err, "ok")
		})
	}
	all.Wait()
}

// While wrong passwords fill the queue, users that signed in from the same address before
// have priority.
func TestTrustedPairsHavePriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t)
		p.add(t, "Ann", account.Reader)
		p.add(t, "Bob", account.Reader)
		p.login(t, "Ann", false)
		permits := make(chan struct{})
		p.CheapHashes(func() { <-permits })
		try := func(name, password, address string) chan error {
			result := make(chan error, 1)
			go func() {
				_, err := p.Login(t.Context(), account.Login{UserName: name, Password: password, Address: address})
				result <- err
			}()
			synctest.Wait()
			return result
		}
		for i := range account.Concurrency() + 40 {
			try(fmt.Sprint("user", i), badPassword, fmt.Sprint("10.0.1.", i))
		}
		ann := try("Ann", goodPassword, "10.0.0.1")
		expectKind(t, <-try("Ann", goodPassword, "10.0.0.2"), "unavailable") // not trusted at this address
		expectKind(t, <-try("Bob", goodPassword, "10.0.0.1"), "unavailable") // Bob is not trusted anywhere
		for range account.Concurrency() + 1 {                                // the attempts that are computing, then Ann's
			permits <- struct{}{}
			synctest.Wait()
		}
		expectKind(t, <-ann, "ok")
		p.clock.pass(24 * time.Hour)
		for i := range account.Concurrency() + 1 {
			try(fmt.Sprint("user", i), badPassword, fmt.Sprint("10.0.2.", i))
		}
		expectKind(t, <-try("Ann", goodPassword, "10.0.0.1"), "unavailable")
		close(permits)
		synctest.Wait()
		expectKind(t, <-try("Ann", goodPassword, "10.0.0.1"), "ok")
		if p.Waiting() != 0 {
			t.Errorf("%d attempts wait, want 0", p.Waiting())
		}
	})
}

// Failures of different users from one address are counted together, whether the users
// exist or not. Users that signed in from there before are not throttled.
func TestFailuresOfOneAddressAreLimited(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	p.add(t, "Bob", account.Reader)
	p.login(t, "Ann", false)
	try := func(name, password, address string) error {
		_, err := p.Login(t.Context(), account.Login{UserName: name, Password: password, Address: address})
		return err
	}
	before := p.hashes.Load()
	for i := range 100 {
		want := "unauthorized"
		if i >= 20 {
			want = "too many"
		}
		expectKind(t, try(fmt.Sprint("user", i), badPassword, "10.0.0.1"), want)
		p.clock.pass(100 * time.Millisecond)
	}
	if n := p.hashes.Load() - before; n != 20 {
		t.Errorf("%d hashes, want 20", n)
	}
	expectKind(t, try("Ann", goodPassword, "10.0.0.1"), "ok")
	expectKind(t, try("Bob", goodPassword, "10.0.0.1"), "too many")
	expectKind(t, try("Bob", goodPassword, "10.0.0.2"), "ok")
	p.clock.pass(time.Minute)
	expectKind(t, try("Bob", goodPassword, "10.0.0.1"), "ok")
	for range 2 { // many users behind one address with successful logins
		for i := range 30 {
			name := fmt.Sprint("colleague", i)
			if _, err := p.User(t.Context(), name); err != nil {
				p.add(t, name, account.Reader)
			}
			expectKind(t, try(name, goodPassword, "10.0.0.3"), "ok")
		}
	}
}

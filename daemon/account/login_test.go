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
	login := func(name, password string) account.Login {
		return account.Login{UserName: name, Password: password}
	}
	tests := []struct {
		name   string
		login  account.Login
		want   string   // kind of the error
		fields []string // fields of the error
	}{
		{"valid", login("Ann", goodPassword), "ok", nil},
		{"other letter case of the name", login("aNN", goodPassword), "ok", nil},
		{"wrong password", login("Ann", badPassword), "unauthorized", nil},
		{"other letter case of the password", login("Ann", strings.ToUpper(goodPassword)), "unauthorized", nil},
		{"unknown user", login("Bob", goodPassword), "unauthorized", nil},
		{"very long name", login(strings.Repeat("A", 9000), goodPassword), "unauthorized", nil},
		{"very long password", login("Ann", strings.Repeat("A", 9000)), "unauthorized", nil},
		{"no password", login("Ann", ""), "missing", []string{"Password"}},
		{"no name", login("", goodPassword), "missing", []string{"UserName"}},
		{"empty", account.Login{}, "missing", []string{"Password", "UserName"}},
	}
	const unauthorized = "Invalid Username or Password" // whether or not the user exists
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := p.Login(t.Context(), tt.login)
			expectKind(t, err, tt.want)
			if err == nil {
				return
			}
			if got := fault.From(err).Message; tt.want == "unauthorized" && got != unauthorized {
				t.Errorf("got the message %q, want %q", got, unauthorized)
			}
			if !slices.Equal(fieldsOf(err), tt.fields) {
				t.Errorf("got the fields %v, want %v", fieldsOf(err), tt.fields)
			}
		})
	}
}

func TestLoginRepermitsTicket(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Writer)
	ticket, err := p.Login(t.Context(), account.Login{
		UserName: "ann",
		Password: goodPassword,
		Remember: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	sessionID := regexp.MustCompile(`^[A-Za-z0-9]{20}$`)
	if !sessionID.MatchString(ticket.SessionID) {
		t.Errorf("got the session ID %q, want one that matches %s", ticket.SessionID, sessionID)
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
		t.Errorf("the identity of the ticket: got %+v, want %+v", ticket.Identity, want)
	}
	want.AuthMethod = account.Cookie
	if id != want {
		t.Errorf("the identity of the session: got %+v, want %+v", id, want)
	}
	if len(id.SessionHash) != 64 || strings.Contains(id.SessionHash, ticket.SessionID) {
		t.Errorf("got the session hash %q, want 64 characters without the session ID", id.SessionHash)
	}
	if second := p.login(t, "Ann", false); second == ticket.SessionID {
		t.Errorf("two logins return the same session ID %s", second)
	}
}

// TestUnknownUserCostsOneHash checks that known and unknown users cost the same number of
// hashes, so that response times do not reveal which users exist.
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

// try logs in from an address, and returns the error.
func (p process) try(ctx context.Context, name, password, address string) error {
	_, err := p.Login(ctx, account.Login{UserName: name, Password: password, Address: address})
	return err
}

// TestLoginIsThrottled checks that five failures of a user from an address block this pair for
// a minute after the first one, and no others.
func TestLoginIsThrottled(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	p.add(t, "Bob", account.Reader)
	for range 5 {
		expectKind(t, p.try(t.Context(), "Ann", badPassword, "10.0.0.1"), "unauthorized")
		p.clock.pass(2 * time.Second)
	}

	before := p.hashes.Load()
	err := p.try(t.Context(), "aNN", goodPassword, "10.0.0.1:4711")
	expectKind(t, err, "too many")
	if wait := fault.From(err).RetryAfter; wait != 50*time.Second {
		t.Errorf("a throttled attempt: got Retry-After %v, want 50s", wait)
	}
	if p.hashes.Load() != before {
		t.Error("a throttled attempt computed a hash")
	}
	expectKind(t, p.try(t.Context(), "Ann", goodPassword, "10.0.0.2"), "ok")
	expectKind(t, p.try(t.Context(), "Bob", goodPassword, "10.0.0.1"), "ok")

	p.clock.pass(50*time.Second - 1)
	expectKind(t, p.try(t.Context(), "Ann", goodPassword, "10.0.0.1"), "too many")
	p.clock.pass(1)
	expectKind(t, p.try(t.Context(), "Ann", goodPassword, "10.0.0.1"), "ok")
	for range 5 { // the successful login has reset the count
		expectKind(t, p.try(t.Context(), "Ann", badPassword, "10.0.0.1"), "unauthorized")
	}
	expectKind(t, p.try(t.Context(), "Ann", badPassword, "10.0.0.1"), "too many")
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

// TestConcurrentRequestsShareAHash checks that a client that opens many connections
// concurrently, all with the correct password, costs one hash and is not throttled.
func TestConcurrentRequestsShareAHash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t)
		p.add(t, "Ann", account.Reader)
		p.hashes.Store(0)
		release := make(chan struct{})
		p.CheapHashes(func() {
			p.hashes.Add(1)
			<-release
		})
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
			t.Errorf("%d hashes for %d concurrent requests, want 1", n, cap(results))
		}
	})
}

// peak counts concurrent calls, and remembers their maximum.
type peak struct {
	mu           sync.Mutex
	running, max int
}

func (p *peak) enter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running++
	p.max = max(p.max, p.running)
}

func (p *peak) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
}

// TestConcurrentHashesAreLimited checks that a flood of logins computes few hashes at a time,
// that a bounded number of others wait, and that further ones are rejected.
func TestConcurrentHashesAreLimited(t *testing.T) {
	const (
		attempts   = 200
		maxWaiting = 32
	)
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	var hashes peak
	release := make(chan struct{})
	p.CheapHashes(func() {
		hashes.enter()
		defer hashes.leave()
		<-release
	})
	results := make(chan error, attempts)
	for i := range attempts {
		go func() {
			results <- p.try(t.Context(), fmt.Sprint("user", i), badPassword, "10.0.0.1")
		}()
	}

	// Until release, all attempts end that neither compute a hash nor wait.
	served := account.Concurrency() + maxWaiting
	for range attempts - served {
		err := <-results
		expectKind(t, err, "unavailable")
		if fault.From(err).RetryAfter <= 0 {
			t.Fatalf("a rejected attempt: got error %v without Retry-After", err)
		}
	}
	if n := p.Waiting(); n != maxWaiting {
		t.Errorf("%d attempts wait, want %d", n, maxWaiting)
	}

	close(release)
	for range served {
		expectKind(t, <-results, "unauthorized")
	}
	if hashes.max != account.Concurrency() {
		t.Errorf("%d hashes were computed concurrently, want %d", hashes.max, account.Concurrency())
	}
}

// TestRejectedAttemptIsNotCounted checks that an attempt rejected because of a full queue does
// not count as a failed login.
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

// TestCancelledAttemptIsNotCounted checks that a cancelled attempt does not count as a failed
// login, and does not affect other requests with the same password.
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
			err := p.try(t.Context(), name, badPassword, "10.0.0.9")
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

// TestWeakHashIsReplacedAtLogin checks that a hash of an earlier version, with a lower cost, is
// replaced at the next login. The user's other fields, sessions and cached verification stay.
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
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(after.PasswordHash, "t=4") {
		t.Errorf("after the login: got the hash %s, want one with 4 passes", after.PasswordHash)
	}
	if !after.Saved.Equal(before.Saved) {
		t.Errorf("after the login: the user was saved at %v, want %v as before", after.Saved, before.Saved)
	}
	p.expect(t, cookie(session), "reader")
	p.expect(t, basic("Ann", goodPassword), "reader")
	computed := p.hashes.Load()
	p.expect(t, basic("Ann", goodPassword), "reader")
	if n := p.hashes.Load() - computed; n != 0 {
		t.Errorf("a cached password: %d hashes, want none", n)
	}
}

// TestConcurrentLoginsDuringRehash checks that concurrent logins from different addresses all
// succeed, although the first of them replaces the hash that the others verified.
func TestConcurrentLoginsDuringRehash(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	u, err := p.User(t.Context(), "Ann")
	if err != nil {
		t.Fatal(err)
	}
	cheap := strings.Replace(u.PasswordHash, "t=4", "t=2", 1)
	if err := p.Rehash(t.Context(), "ann", u.PasswordHash, cheap); err != nil {
		t.Fatal(err)
	}
	var logins sync.WaitGroup
	for i := range 8 {
		logins.Go(func() {
			err := p.try(t.Context(), "Ann", goodPassword, fmt.Sprint("10.0.0.", i))
			expectKind(t, err, "ok")
		})
	}
	logins.Wait()
}

// TestTrustedPairsHavePriority checks that users that signed in from the same address before
// have priority while wrong passwords fill the queue.
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
			go func() { result <- p.try(t.Context(), name, password, address) }()
			synctest.Wait()
			return result
		}
		for i := range account.Concurrency() + 40 {
			try(fmt.Sprint("user", i), badPassword, fmt.Sprint("10.0.1.", i))
		}
		ann := try("Ann", goodPassword, "10.0.0.1")

		// Ann is not trusted at another address, and Bob nowhere.
		expectKind(t, <-try("Ann", goodPassword, "10.0.0.2"), "unavailable")
		expectKind(t, <-try("Bob", goodPassword, "10.0.0.1"), "unavailable")

		// The attempts that are computing end, then Ann's.
		for range account.Concurrency() + 1 {
			permits <- struct{}{}
			synctest.Wait()
		}
		expectKind(t, <-ann, "ok")

		// The trust ends after a day.
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

// TestFailuresOfOneAddressAreLimited checks that failures of different users from one address
// are counted together, whether the users exist or not, and that users that signed in from
// there before are not throttled.
func TestFailuresOfOneAddressAreLimited(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	p.add(t, "Bob", account.Reader)
	p.login(t, "Ann", false)
	const limit = 20
	before := p.hashes.Load()
	for i := range 100 {
		want := "unauthorized"
		if i >= limit {
			want = "too many"
		}
		expectKind(t, p.try(t.Context(), fmt.Sprint("user", i), badPassword, "10.0.0.1"), want)
		p.clock.pass(100 * time.Millisecond)
	}
	if n := p.hashes.Load() - before; n != limit {
		t.Errorf("100 failures: %d hashes, want %d", n, limit)
	}

	expectKind(t, p.try(t.Context(), "Ann", goodPassword, "10.0.0.1"), "ok")
	expectKind(t, p.try(t.Context(), "Bob", goodPassword, "10.0.0.1"), "too many")
	expectKind(t, p.try(t.Context(), "Bob", goodPassword, "10.0.0.2"), "ok")
	p.clock.pass(time.Minute)
	expectKind(t, p.try(t.Context(), "Bob", goodPassword, "10.0.0.1"), "ok")

	// Successful logins of many users behind one address are not limited.
	for range 2 {
		for i := range 30 {
			name := fmt.Sprint("colleague", i)
			if _, err := p.User(t.Context(), name); err != nil {
				p.add(t, name, account.Reader)
			}
			expectKind(t, p.try(t.Context(), name, goodPassword, "10.0.0.3"), "ok")
		}
	}
}

package tui_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"flag"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// Durations of the load tests. The defaults only show that they work; measurements need
// more.
var (
	floodFor = flag.Duration("flood", 2*time.Second, "how long events are published")
	restarts = flag.Int("restarts", 2, "how often the daemon is stopped and started again")
)

// terminal runs the screens on a pseudoterminal and reads the output.
type terminal struct {
	t     testing.TB
	keys  *os.File
	ended chan error // the result of tui.Run

	mu      sync.Mutex
	out     bytes.Buffer
	total   atomic.Int64 // bytes drawn
	pressed time.Time    // time of the last keys
}

// openTerminal runs the screens on a terminal until the test ends.
func openTerminal(t testing.TB, c *client.Client, width, height uint16, o tui.Options) *terminal {
	t.Helper()
	primary, tty, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	if err := pty.Setsize(primary, &pty.Winsize{Rows: height, Cols: width}); err != nil {
		t.Fatal(err)
	}
	m := &terminal{t: t, keys: primary, ended: make(chan error, 1)}
	o.Input = tty
	o.Output = tty
	o.Env = tuitest.Environment("WHCTL_CLIPBOARD=osc52")
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		m.ended <- tui.Run(ctx, c, o)
		_ = tty.Close()
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		m.read()
	}()
	t.Cleanup(func() {
		_, _ = primary.WriteString("\x03\x03") // ctrl+c, as a user ends it
		select {
		case err := <-m.ended:
			m.ended <- err
		case <-time.After(tuitest.Timeout):
			t.Error("ctrl+c does not quit")
		}
		stop()
		if err := <-m.ended; err != nil {
			t.Error(err)
		}
		<-read
		_ = primary.Close()
	})
	return m
}

// read collects the output until the terminal is closed.
func (m *terminal) read() {
	buffer := make([]byte, 64<<10)
	for {
		n, err := m.keys.Read(buffer)
		m.total.Add(int64(n))
		m.mu.Lock()
		m.out.Write(buffer[:n])
		m.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// drawn returns the output since the last call.
func (m *terminal) drawn() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := m.out.String()
	m.out.Reset()
	return text
}

// press presses keys no faster than a user: faster keys are treated as a paste.
func (m *terminal) press(text string) {
	m.t.Helper()
	if since := time.Since(m.pressed); since < ui.PasteInterval {
		<-time.After(ui.PasteInterval - since)
	}
	m.pressed = time.Now()
	if _, err := m.keys.WriteString(text); err != nil {
		m.t.Fatal(err)
	}
}

// await waits for output that matches, and returns all output and the time that it
// took.
func (m *terminal) await(description string, pattern *regexp.Regexp) (text string, took time.Duration) {
	m.t.Helper()
	start := time.Now()
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for time.Since(start) < tuitest.Timeout {
		text += m.drawn()
		if pattern.MatchString(text) {
			return text, time.Since(start)
		}
		<-poll.C
	}
	m.t.Fatalf("%s: no match of %s in %q", description, pattern, ansi.Strip(text))
	return "", 0
}

var (
	isLive    = regexp.MustCompile(`LIVE`)
	isNotLive = regexp.MustCompile(`OFFLINE|STALE|POLL`)
	isCopied  = regexp.MustCompile(`\x1b\]52;c;([^\a]*)\a`)
	isHelp    = regexp.MustCompile(`esc\S* close`) // keys of the last line
	isList    = regexp.MustCompile(`enter\S* detail`)
)

// selected determines the selected message by a key press, and how long that takes.
func (m *terminal) selected() (id string, took time.Duration) {
	m.t.Helper()
	m.drawn()
	m.press("y")
	text, took := m.await("the copied id", isCopied)
	decoded, err := base64.StdEncoding.DecodeString(isCopied.FindStringSubmatch(text)[1])
	if err != nil {
		m.t.Fatal(err)
	}
	return string(decoded), took
}

// changesASecond is the number of message changes per second.
const changesASecond = 300

// The selection stays on its row while hundreds of messages change per second. Response
// times and the amount of output are logged.
func TestManyChangesPerSecond(t *testing.T) {
	s := tuitest.StartReceiver(t, func(http.ResponseWriter, *http.Request) {})
	s.Subscribe(t, "salesorder.created", s.Receiver)
	for i := range 50 {
		s.Publish(t, "salesorder.created", fmt.Sprintf(`{"InvoiceNo":"A%d"}`, i), 1)
	}
	m := openTerminal(t, s.Client, 120, 40, tui.Options{URL: s.URL})
	m.await("LIVE", isLive)
	m.press("4")
	m.await("the list", regexp.MustCompile(`of 50`))
	for range 12 {
		m.press("j")
		m.await("the pointer", regexp.MustCompile(`\d+ of \d+`))
	}
	want, _ := m.selected()

	ctx, stop := context.WithTimeout(t.Context(), *floodFor)
	defer stop()
	published := publishEvents(ctx, t, s)
	drawnBefore := m.total.Load()
	start := time.Now()
	var keys []time.Duration // response times
	for ctx.Err() == nil {
		id, took := m.selected()
		if id != want {
			t.Fatalf("%s is selected, want %s", id, want)
		}
		keys = append(keys, took)
		m.press("?")
		_, took = m.await("the help", isHelp)
		m.drawn()
		m.press("\x1b")
		m.await("the list again", isList) // else esc and the next key could be read as one
		keys = append(keys, took)
		<-time.After(300 * time.Millisecond)
	}

	seconds := time.Since(start).Seconds()
	changes := 2 * <-published // a message is added and delivered
	drawnKB := float64(m.total.Load()-drawnBefore) / 1024
	t.Logf("%.0f changes a second for %.3f s; %.1f KB a second drawn",
		float64(changes)/seconds, seconds, drawnKB/seconds)
	t.Logf("%d keys drawn within %s, 99 %% of them within %s, half of them within %s",
		len(keys), quantile(keys, 1), quantile(keys, 0.99), quantile(keys, 0.5))
}

// publishers is the number of concurrent publishers, since sequential requests would be
// too slow.
const publishers = 3

// publishEvents publishes events until ctx is done and returns their number.
func publishEvents(ctx context.Context, t *testing.T, s *tuitest.Deliveries) <-chan int {
	t.Helper()
	const interval = publishers * 2 * time.Second / changesASecond // an event makes two changes
	var published atomic.Int64
	var running sync.WaitGroup
	for range publishers {
		running.Go(func() {
			next := time.Now()
			for ctx.Err() == nil {
				_, err := s.Client.PublishEvent(ctx, "salesorder.created", `{"InvoiceNo":"B"}`)
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				published.Add(1)
				next = next.Add(interval)
				<-time.After(time.Until(next))
			}
		})
	}
	count := make(chan int, 1)
	go func() {
		running.Wait()
		count <- int(published.Load())
	}()
	return count
}

// The screen shows each restart of the daemon, and is live again without a key press.
func TestReconnectAfterDaemonRestart(t *testing.T) {
	dir := t.TempDir()
	// A fixed port, which no other program takes while the daemon is away.
	address := fmt.Sprintf("127.0.0.1:%d", daemontest.FreePort(t))
	i, err := daemontest.Open(dir, "--demo", "--listen", address)
	if err != nil {
		t.Fatal(err)
	}
	m := openTerminal(t, tuitest.Connect(t, i), 100, 30, tui.Options{URL: i.URL})
	m.await("LIVE", isLive)
	var times []time.Duration
	for range *restarts {
		if err := i.Stop(); err != nil {
			t.Fatal(err)
		}
		m.drawn()
		m.await("that it is away", isNotLive)
		i, err = daemontest.Open(dir, "--demo", "--listen", address)
		if err != nil {
			t.Fatal(err)
		}
		m.drawn()
		_, took := m.await("LIVE again", isLive)
		times = append(times, took)
	}
	t.Logf("live again %d times of %d, after %s at most", len(times), *restarts, quantile(times, 1))
	if err := i.Stop(); err != nil {
		t.Error(err)
	}
}

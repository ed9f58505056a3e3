package crashtest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/daemontest"
)

const floodTime = 5 * time.Second // duration of each measurement

// BenchmarkSlowBodies prints the memory of a daemon and the latency of an authenticated
// publisher, alone and with 2,000 unauthenticated connections that each send half of a
// 4 MB body.
func BenchmarkSlowBodies(b *testing.B) {
	dir, p := launchForFlood(b)
	var key, stderr bytes.Buffer
	if whd.Main(whd.Process{Args: []string{"key", "add", "publisher", "--role", "publisher", "--data-dir", dir}, Stdout: &key, Stderr: &stderr}) != 0 {
		b.Fatal(&stderr)
	}
	publish := func() int {
		const event = `{"EventName":"debtor.created","Body":"x"}`
		return statusOf(b, p.URL+"/Webhooks/Events", event, "Authorization", "Bearer "+strings.TrimSpace(key.String()))
	}
	alone, _ := latencies(4, publish)
	idle := memoryOf(b, p, "VmRSS")
	stop := make(chan struct{})
	var senders sync.WaitGroup
	for range 2000 {
		senders.Go(func() { sendSlowly(strings.TrimPrefix(p.URL, "http://"), stop) })
	}
	time.Sleep(floodTime) // until all senders are running
	underFlood, statuses := latencies(4, publish)
	fmt.Printf("RSS idle %d MB, peak %d MB; publisher p99 alone %v, under flood %v; statuses %v\n",
		idle>>10, memoryOf(b, p, "VmHWM")>>10, p99(alone), p99(underFlood), statuses)
	close(stop)
	senders.Wait()
}

// sendSlowly sends half of a body at 64 KiB/s, and reconnects a while after it is
// rejected.
func sendSlowly(address string, stop chan struct{}) {
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			fmt.Fprint(conn, "POST /Webhooks/Test HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n\r\n")
			refused := make(chan struct{})
			go func() { io.Copy(io.Discard, conn); close(refused) }()
			piece := make([]byte, 64<<10)
			for sent := 0; err == nil; {
				if sent < 2_000_000 {
					_, err = conn.Write(piece)
					sent += len(piece)
				}
				select {
				case <-stop:
					conn.Close()
					return
				case <-refused:
					err = io.EOF
				case <-time.After(time.Second):
				}
			}
			conn.Close()
		}
		select {
		case <-stop:
			return
		case <-time.After(10 * time.Second):
		}
	}
}

// BenchmarkWrongLogins prints results and latencies of logins of users from known
// addresses during an attack by 64 clients with wrong passwords, and during an attempt
// of 100 user names from one address.
func BenchmarkWrongLogins(b *testing.B) {
	_, p := launchForFlood(b, "--http-trusted-proxies", "127.0.0.0/8")
	login := func(address, name, password string) int {
		return statusOf(b, p.URL+"/auth", fmt.Sprintf(`{"UserName":%q,"Password":%q}`, name, password), "X-Forwarded-For", address)
	}
	if status := login("10.1.0.1", "admin", daemontest.AdminPassword); status != 200 {
		b.Fatal(status)
	}
	stop := make(chan struct{})
	var attackers sync.WaitGroup
	for i := range 64 {
		attackers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					login(fmt.Sprint("10.9.0.", i), fmt.Sprint("user", rand.Int()), "wrong password")
				}
			}
		})
	}
	known, statuses := latencies(2, func() int {
		time.Sleep(100 * time.Millisecond)
		return login("10.1.0.1", "admin", daemontest.AdminPassword)
	})
	close(stop)
	attackers.Wait()
	fmt.Printf("logins of a known user: %v, p99 %v\n", statuses, p99(known)-100*time.Millisecond)
	names := make(map[int]int)
	for i := range 100 {
		names[login("10.2.0.1", fmt.Sprint("name", i), "wrong password")]++
	}
	fmt.Println("100 user names from one address:", names)
}

func launchForFlood(b *testing.B, args ...string) (dir string, p *daemontest.Process) {
	b.Helper()
	dir = b.TempDir()
	p, err := daemontest.Launch(dir, args...)
	if err == nil {
		err = p.Await()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = p.Kill() })
	return dir, p
}

func statusOf(b *testing.B, url, body, header, value string) int {
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		b.Error(err)
		return 0
	}
	r.Header.Set(header, value)
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	defer reply.Body.Close()
	io.Copy(io.Discard, reply.Body)
	return reply.StatusCode
}

// latencies returns the sorted latencies of concurrent calls and the counts of their
// results.
func latencies(clients int, call func() int) (took []time.Duration, results map[int]int) {
	var mu sync.Mutex
	results = make(map[int]int)
	var all sync.WaitGroup
	end := time.Now().Add(floodTime)
	for range clients {
		all.Go(func() {
			for time.Now().Before(end) {
				begin := time.Now()
				result := call()
				mu.Lock()
				took, results[result] = append(took, time.Since(begin)), results[result]+1
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	return took, results
}

func p99(sorted []time.Duration) time.Duration { return sorted[len(sorted)*99/100] }

// memoryOf returns a value of a process's memory statistics, in KiB.
func memoryOf(b *testing.B, p *daemontest.Process, name string) (kib int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := fmt.Sscan(regexp.MustCompile(name + `:\s+(\d+)`).FindStringSubmatch(string(text))[1], &kib); err != nil {
		b.Fatal(err)
	}
	return kib
}

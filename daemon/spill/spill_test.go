package spill

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a space on a volume with enough room. All of it must be released when the test ends.
func open(t *testing.T, limit int64) *Space {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "spill"), limit)
	if err != nil {
		t.Fatal(err)
	}
	s.free = func(string) (int64, error) { return 1 << 40, nil }
	t.Cleanup(func() {
		if s.Held() != 0 {
			t.Errorf("%d bytes are still held, want none", s.Held())
		}
	})
	return s
}

// pausedClient reads only as much as the test allows.
type pausedClient struct {
	got     bytes.Buffer
	allowed chan int // sizes of the next reads; closed: no limit
	gone    chan struct{}
	leave   func() // closes gone
}

func newPausedClient() *pausedClient {
	gone := make(chan struct{})
	return &pausedClient{allowed: make(chan int, 1000), gone: gone, leave: sync.OnceFunc(func() { close(gone) })}
}

var errGone = errors.New("the client is gone")

func (c *pausedClient) Write(b []byte) (written int, err error) {
	for len(b) > 0 {
		select {
		case n, limited := <-c.allowed:
			if !limited {
				n = len(b)
			}
			n = min(n, len(b))
			c.got.Write(b[:n])
			b = b[n:]
			written += n
		case <-c.gone:
			return written, errGone
		}
	}
	return written, nil
}

// someBytes returns bytes that do not repeat.
func someBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// TestSlowClientGetsEverything writes to clients that read nothing, little by little, or
// at once, in pieces of any size, and compares the bytes that they got.
func TestSlowClientGetsEverything(t *testing.T) {
	s := open(t, 4*responseShare*segmentSize)
	all := someBytes(3*segmentSize + 12345)
	for name, reads := range map[string][]int{
		"reads at once":      nil,
		"reads at the end":   {},
		"reads in between":   {1, bufferSize, 5 << 20, 3, 17 << 20},
		"reads in the start": {100 << 10, 100 << 10, 100 << 10},
	} {
		client := newPausedClient()
		if reads == nil {
			close(client.allowed)
		}
		p := s.Pipe(client)
		random := rand.New(rand.NewPCG(1, 2))
		unsent := all
		for len(unsent) > 0 {
			n := min(len(unsent), 1+random.IntN(200<<10))
			if got, err := p.Write(unsent[:n]); got != n || err != nil {
				t.Fatalf("%s: wrote %d of %d bytes (%v)", name, got, n, err)
			}
			unsent = unsent[n:]
			if len(reads) > 0 {
				client.allowed <- reads[0]
				reads = reads[1:]
			}
		}
		if name == "reads at the end" && s.Held() == 0 {
			t.Error("nothing is in a file")
		}
		if name != "reads at once" {
			close(client.allowed)
		}
		if err := p.Close(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if sha256.Sum256(client.got.Bytes()) != sha256.Sum256(all) {
			t.Errorf("%s: the client got %d bytes, want %d, or different ones", name, client.got.Len(), len(all))
		}
	}
}

// TestFilesHaveNoNames checks that other processes cannot find a file, and that a crash
// leaves none behind.
func TestFilesHaveNoNames(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("on Windows files keep their names until they are closed, which deletes them")
	}
	s := open(t, MinLimit)
	client := newPausedClient()
	p := s.Pipe(client)
	if _, err := p.Write(someBytes(1 << 20)); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(s.dir)
	if s.Held() == 0 || len(files) != 0 || err != nil {
		t.Errorf("%d bytes are held, in files %q (%v), want some, in files without names", s.Held(), files, err)
	}
	p.Stop(client.leave)
}

// TestOpenDeletesOldFiles uses a directory with a name that is a pattern that does not match itself.
func TestOpenDeletesOldFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data[1]")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"response-1", "response-abc", "other"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(dir, MinLimit); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || files[0].Name() != "other" {
		t.Errorf("files %q remain (%v), want other", files, err)
	}
}

// TestNoSpace fills the space of a response, that of all responses, and the volume. The
// response then continues while the client reads, and ends with ErrFull after the
// maximum wait.
func TestNoSpace(t *testing.T) {
	for name, c := range map[string]struct {
		limit int64
		free  int64
		fits  int // bytes before the first wait
	}{
		"limit of a response": {2 * MinLimit, 1 << 40, 2 * segmentSize},
		"volume":              {2 * MinLimit, minFree + segmentSize - 1, 0},
	} {
		s := open(t, c.limit)
		s.free = func(string) (int64, error) { return c.free, nil }
		s.maxWait = time.Hour
		client := newPausedClient()
		p := s.Pipe(client)
		all := someBytes(c.fits + 8*bufferSize)
		written := make(chan error, 1)
		go func() {
			_, err := p.Write(all)
			written <- err
		}()
		for range 8 { // the writer waits for each of these reads
			client.allowed <- bufferSize
		}
		close(client.allowed)
		err := errors.Join(<-written, p.Close())
		if err != nil || !bytes.Equal(client.got.Bytes(), all) {
			t.Errorf("%s: the client got %d bytes (%v), want %d", name, client.got.Len(), err, len(all))
		}

		s.maxWait = time.Millisecond
		client = newPausedClient()
		p = s.Pipe(client)
		if _, err := p.Write(append(all, all...)); !errors.Is(err, ErrFull) {
			t.Errorf("%s: writing more than fits: got error %v, want %v", name, err, ErrFull)
		}
		if _, err := p.Write(all); !errors.Is(err, ErrFull) {
			t.Errorf("%s: writing afterwards: got error %v, want %v", name, err, ErrFull)
		}
		if n := s.Aborted(); n != 1 {
			t.Errorf("%s: %d responses were aborted, want 1", name, n)
		}
		p.Stop(client.leave)
	}
}

// TestManyResponsesShareTheSpace checks that several responses together stay below the
// limit.
func TestManyResponsesShareTheSpace(t *testing.T) {
	s := open(t, MinLimit)
	s.maxWait = time.Millisecond
	full := 0
	var stops []func()
	for range responseShare + 2 {
		client := newPausedClient()
		p := s.Pipe(client)
		_, err := p.Write(someBytes(segmentSize / 2))
		if errors.Is(err, ErrFull) {
			full++
		} else if err != nil {
			t.Errorf("writing half a segment: %v", err)
		}
		stops = append(stops, func() { p.Stop(client.leave) })
	}
	if full != 2 || s.Held() != MinLimit {
		t.Errorf("%d responses were full, and %d bytes are held, want 2 and %d", full, s.Held(), MinLimit)
	}
	for _, stop := range stops {
		stop()
	}
}

// TestClientGone checks that writing ends after the client has gone.
func TestClientGone(t *testing.T) {
	s := open(t, MinLimit)
	client := newPausedClient()
	client.leave()
	p := s.Pipe(client)
	var err error
	for err == nil {
		_, err = p.Write(someBytes(1 << 10))
	}
	closeErr := p.Close()
	if !errors.Is(err, errGone) || !errors.Is(closeErr, errGone) {
		t.Errorf("Write: got error %v, Close: %v, want %v of both", err, closeErr, errGone)
	}
}

// TestFileErrors checks that no bytes are lost where no file can be made.
func TestFileErrors(t *testing.T) {
	s := open(t, MinLimit)
	s.maxWait = time.Hour
	if err := os.WriteFile(s.dir, nil, 0o600); err != nil { // instead of the directory
		t.Fatal(err)
	}
	client := newPausedClient()
	close(client.allowed)
	p := s.Pipe(client)
	all := someBytes(4 << 20)
	if _, err := io.Copy(p, bytes.NewReader(all)); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil || !bytes.Equal(client.got.Bytes(), all) {
		t.Errorf("the client got %d bytes (%v), want %d", client.got.Len(), err, len(all))
	}
}

package hostiletest

import (
	"bytes"
	"testing"

	"golang.org/x/net/http2"
)

// TestAwaitsWholeRequest sends two requests at once, of which the first one ends first: it is the one
// to answer.
func TestAwaitsWholeRequest(t *testing.T) {
	var sent, answers bytes.Buffer
	client := http2.NewFramer(&sent, nil)
	for _, id := range []uint32{1, 3} {
		err := client.WriteHeaders(http2.HeadersFrameParam{
			StreamID:      id,
			BlockFragment: block(":method", "POST"),
			EndHeaders:    true,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []uint32{1, 3} {
		err := client.WriteData(id, true, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
	}

	server := &Server{}
	s := &stream2{conn: &Conn{server: server}, framer: http2.NewFramer(&answers, &sent)}
	for _, want := range []uint32{1, 3} {
		if !s.awaitWholeRequest() {
			t.Fatalf("stream %d: no whole request", want)
		}
		if s.id != want {
			t.Errorf("the whole request is that of stream %d, want %d", s.id, want)
		}
	}
	if n := server.Requests(); n != 2 {
		t.Errorf("counted %d requests, want 2", n)
	}
}

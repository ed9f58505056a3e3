package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
)

// failure is the body of an error reply, with % in place of the code.
const failure = `{"ResponseStatus":{` +
	`"ErrorCode":"%",` +
	`"Message":"no good",` +
	`"Errors":[{"ErrorCode":"%","FieldName":"Take","Message":"must be a number"}],` +
	`"Meta":{"RequestId":"id-of-body"}}}`

func TestErrorReplies(t *testing.T) {
	envelope := `{"Offset":0,"Results":[],"Total":0,"Meta":{},` + failure[1:]
	for _, c := range []struct {
		status int
		media  string
		body   string
		kind   client.Kind
		code   string
	}{
		{400, "application/json", failure, client.Rejected, "ArgumentException"},
		{400, "application/json", envelope, client.Rejected, "ArgumentException"},
		{400, "application/x-ndjson", failure + "\n", client.Rejected, "ArgumentException"},
		{401, "application/json", failure, client.Unauthorized, "Unauthorized"},
		{403, "application/json", failure, client.Unauthorized, "Forbidden"},
		{404, "application/json", failure, client.NotFound, "NotFound"},
		{405, "application/json", failure, client.Rejected, "MethodNotAllowed"},
		{409, "application/json", failure, client.Rejected, "Conflict"},
		{413, "application/json", failure, client.Rejected, "RequestTooLarge"},
		{429, "application/json", failure, client.Rejected, "TooManyRequests"},
		{500, "application/json", failure, client.Rejected, "InternalError"},
		{503, "application/json", failure, client.Rejected, "ServiceUnavailable"},
		{504, "application/json", failure, client.TimedOut, "Timeout"},
		{404, "text/html", "<html>not here</html>", client.NotFound, ""},
		{413, "text/html", "<html>too large</html>", client.Rejected, ""},
		{502, "text/html", "<html>bad gateway</html>", client.Failed, ""},
		{502, "", "", client.Failed, ""},
		{302, "text/html", "", client.Failed, ""},
		{200, "text/html", "<html>a start page</html>", client.Failed, ""},
		{200, "application/json", "{}", client.Failed, ""},
	} {
		body := strings.ReplaceAll(c.body, "%", c.code)
		service := serve(t, respond(c.status, c.media, body))
		_, err := service.Rows(t.Context(), client.Query{Kind: kind(t, "SO_Totals")})
		var e *client.Error
		if !errors.As(err, &e) {
			t.Errorf("%d %s: error %v is no *client.Error", c.status, c.media, err)
			continue
		}
		if e.Kind != c.kind || e.Code != c.code || e.Status != c.status || e.Message == "" {
			t.Errorf("%d %s: %+v, want kind %v, code %q", c.status, c.media, e, c.kind, c.code)
		}
		if strings.Contains(e.Message, "<html>") {
			t.Errorf("%d %s: the message has HTML: %s", c.status, c.media, e.Message)
		}
		if c.code == "" {
			continue
		}
		if e.RequestID != "id-of-body" {
			t.Errorf("%d %s: the request ID is %q, want that of the body", c.status, c.media, e.RequestID)
		}
		if len(e.Fields) != 1 || e.Fields[0].FieldName != "Take" {
			t.Errorf("%d %s: the errors of fields are %v, want that of Take", c.status, c.media, e.Fields)
		}
	}
}

func TestErrorsWithoutReply(t *testing.T) {
	ctx := context.Background()
	t.Run("refused", func(t *testing.T) {
		wantKind(t, queryOnce(ctx, t, client.Options{URL: "http://127.0.0.1:1"}), client.Unreachable)
	})
	t.Run("unknown host", func(t *testing.T) {
		wantKind(t, queryOnce(ctx, t, client.Options{URL: "http://no-such-host.invalid:5050"}), client.Unreachable)
	})
	t.Run("untrusted certificate", func(t *testing.T) {
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.Config.ErrorLog = quietLog()
		server.StartTLS()
		t.Cleanup(server.Close)
		wantKind(t, queryOnce(ctx, t, client.Options{URL: server.URL}), client.Unreachable)
	})
	t.Run("closed without reply", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(abort))
		t.Cleanup(server.Close)
		wantKind(t, queryOnce(ctx, t, client.Options{URL: server.URL}), client.Unreachable)
	})
	t.Run("timeout", func(t *testing.T) {
		var err error
		for limit := 20 * time.Millisecond; limit < time.Minute; limit *= 2 { // a busy machine connects later
			err = queryOnce(ctx, t, client.Options{URL: hangingService(t), Timeout: limit})
			if client.Is(err, client.TimedOut) {
				return
			}
		}
		t.Errorf("error %v, want a timeout", err)
	})
	t.Run("deadline", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		wantKind(t, queryOnce(ctx, t, client.Options{URL: hangingService(t)}), client.TimedOut)
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		err := queryOnce(ctx, t, client.Options{URL: hangingService(t)})
		wantKind(t, err, client.Cancelled)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v is not context.Canceled", err)
		}
	})
}

// hangingService returns the address of a service that accepts requests but does not
// reply.
func hangingService(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // otherwise the server does not detect that the client disconnects
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func queryOnce(ctx context.Context, t *testing.T, o client.Options) error {
	t.Helper()
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	_, err = c.Rows(ctx, client.Query{Kind: kind(t, "SO_Totals")})
	return err
}

func wantKind(t *testing.T, err error, want client.Kind) {
	t.Helper()
	if !client.Is(err, want) {
		t.Errorf("error %v is of kind %v, want %v", err, client.KindOf(err), want)
	}
}

func TestKindOfOtherErrors(t *testing.T) {
	for err, want := range map[error]client.Kind{
		context.Canceled:         client.Cancelled,
		context.DeadlineExceeded: client.TimedOut,
		io.ErrUnexpectedEOF:      client.Failed,
	} {
		if got := client.KindOf(err); got != want {
			t.Errorf("KindOf(%v) = %v, want %v", err, got, want)
		}
	}
	if client.Is(nil, client.Failed) {
		t.Error("Is(nil, Failed) is true")
	}
}

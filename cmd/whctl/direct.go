package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// directName begins the names of subscribers that whctl listen --direct makes.
// The host and the number of the process follow, so that those can be found that
// were left behind.
const directName = "whctl listen "

const (
	reachPatience  = 15 * time.Second // for the first message, which shows that the service reaches us
	removePatience = 10 * time.Second // with the service, once the program is to end
)

// direct has the service send to a receiver here, which passes on what comes,
// and gives the service the answer.
func (l *listener) direct() error {
	for _, name := range []string{"subscription", "subscriber", "secret-file"} {
		if l.c.IsSet(name) {
			return cmdline.Usagef("--%s goes without --direct only", name)
		}
	}
	service, err := l.connectToChange(l.c, change{what: "make a subscription for as long as this runs"})
	if err != nil {
		return err
	}
	defer service.Close()
	r := &receiver{listener: l, path: "/" + rand.Text(), reached: make(chan struct{}), done: make(chan error, 1)}
	address, err := r.open(service.URL())
	if err != nil {
		return err
	}
	defer r.server.Close()
	subscriber, err := service.AddSubscriber(l.c.Context, wire.SubscriberRequest{Name: new(directSubscriber()), IsEnabled: new(true)})
	if err != nil {
		return err
	}
	defer l.removeDirect(service, subscriber.RecID)
	event := l.c.String("event")
	if event == "" {
		event = "*"
	}
	subscription, err := service.AddSubscription(l.c.Context, subscriber.RecID, wire.SubscriptionRequest{EventName: &event, URL: new("http://" + address + r.path)})
	if err != nil {
		return unreachable(err, address)
	}
	if _, err := service.TestSubscription(l.c.Context, subscriber.RecID, subscription.RecID); err != nil {
		return err
	}
	return r.run(address, event)
}

// unreachable adds to a refusal of our address what helps.
func unreachable(err error, address string) error {
	var e *client.Error
	if errors.As(err, &e) && e.Status == http.StatusBadRequest {
		e.Message += fmt.Sprintf("; the service was to send to %s: --address names another, webhooks.allow_targets allows it, or leave --direct out", address)
	}
	return err
}

// removeDirect deletes the subscriber even where the program was interrupted.
func (l *listener) removeDirect(service *client.Client, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.c.Context), removePatience)
	defer cancel()
	if err := service.RemoveSubscriber(ctx, id); err != nil {
		l.notice(l.c, "the subscription is not deleted: %s; whctl doctor --fix does it", err)
		return
	}
	l.notice(l.c, "the subscription is deleted")
}

// directSubscriber is the name of the subscriber of this process.
func directSubscriber() string {
	who := "somebody"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	return fmt.Sprintf("%s%s@%s %d", directName, who, hostName(), os.Getpid())
}

func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return strings.ReplaceAll(name, " ", "-")
}

// receiver takes messages from the service.
type receiver struct {
	*listener
	server  http.Server
	path    string // that nobody can guess
	reached chan struct{}
	done    chan error
	turn    sync.Mutex
}

// errEnough ends a receiver that took as many messages as it was to.
var errEnough = errors.New("enough")

// open begins to listen and gives the address at which the service reaches us.
func (r *receiver) open(service string) (string, error) {
	host, port, err := net.SplitHostPort(r.c.String("address"))
	switch {
	case r.c.String("address") == "":
		port = "0"
		host, err = ownHost(service)
	case err != nil:
		return "", cmdline.Usagef("--address must be like 192.0.2.7:8080")
	}
	if err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", ":"+port)
	if err != nil {
		return "", err
	}
	_, port, err = net.SplitHostPort(l.Addr().String())
	r.server.Handler = r
	r.server.ReadHeaderTimeout = forwardTimeout
	go func() { _ = r.server.Serve(l) }() // ends with Close
	return net.JoinHostPort(host, port), err
}

// ownHost is the address of this machine on the way to the service.
func ownHost(service string) (string, error) {
	u, err := url.Parse(service)
	if err != nil {
		return "", err
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme
	}
	way, err := net.Dial("udp", net.JoinHostPort(u.Hostname(), port)) // sends nothing
	if err != nil {
		return "", err
	}
	defer way.Close()
	host, _, err := net.SplitHostPort(way.LocalAddr().String())
	return host, err
}

// run waits for the first message, and then for the end.
func (r *receiver) run(address, event string) error {
	patience := time.NewTimer(reachPatience)
	defer patience.Stop()
	select {
	case <-r.reached:
	case <-patience.C:
		return &client.Error{Kind: client.Unreachable, Message: fmt.Sprintf("the service does not reach http://%s: a firewall here must let it in (Windows: New-NetFirewallRule -DisplayName whctl -Direction Inbound -Protocol TCP -LocalPort PORT -Action Allow), or leave --direct out", address)}
	case <-r.c.Context.Done():
		return context.Cause(r.c.Context)
	}
	r.notice(r.c, "the service sends %s to http://%s, and on to %s; its answers count", event, address, r.forward.to.Redacted())
	select {
	case err := <-r.done:
		if errors.Is(err, errEnough) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(r.c.Context), removePatience)
			defer cancel()
			return r.server.Shutdown(ctx) // the last answer gets to the service
		}
		return err
	case <-r.c.Context.Done():
		return r.c.Context.Err()
	}
}

// ServeHTTP takes a message, passes it on, and answers what the receiver did.
// The test message that begins it all goes no further.
func (r *receiver) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	if in.URL.Path != r.path || in.Method != http.MethodPost {
		http.NotFound(w, in)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, in.Body, maxArgument+1))
	if err != nil {
		return // the service hears that it was not received
	}
	event, id := in.Header.Get("X-Event-Name"), in.Header.Get("Webhook-Id")
	if event == record.TestEvent {
		select {
		case <-r.reached:
		default:
			close(r.reached)
		}
		return
	}
	if err := r.pass(w, in, event, id, body); err != nil {
		select {
		case r.done <- err:
		default: // it ends already
		}
	}
}

// pass sends a message on. One at a time, so that what is printed stays in
// order.
func (r *receiver) pass(w http.ResponseWriter, in *http.Request, event, id string, body []byte) error {
	r.turn.Lock()
	defer r.turn.Unlock()
	if err := r.tellSent(event, id); err != nil {
		return err
	}
	header := in.Header.Clone()
	for _, name := range []string{"Connection", "Content-Length", "Accept-Encoding"} {
		header.Del(name)
	}
	got, err := r.forward.send(in.Context(), header, body)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
	} else {
		for _, name := range []string{"Retry-After", "Webhook-Delivery", "Content-Type"} {
			if value := got.header.Get(name); value != "" {
				w.Header().Set(name, value)
			}
		}
		w.WriteHeader(got.status)
		_, _ = w.Write(got.body) // the service that has gone away sends again
	}
	if err := r.tellAnswer(event, id, got, err); err != nil {
		return err
	}
	if r.count++; r.count == r.most {
		return errEnough
	}
	return nil
}

package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
)

// local has the methods that send no request.
var local = []string{"Close", "SentRequests", "URL", "WithSessionOf"}

// TestReadOnlyRejectsChanges covers all methods of Client by reflection, including future
// ones: those that can change something send nothing, all others do.
func TestReadOnlyRejectsChanges(t *testing.T) {
	methods := reflect.TypeFor[*client.Client]()
	changes := 0
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if slices.Contains(local, name) {
			continue
		}
		sent, _ := callMethod(t, name, client.Options{})
		if len(sent) == 0 {
			t.Errorf("%s sends no request without ReadOnly", name)
			continue
		}
		sentReadOnly, err := callMethod(t, name, client.Options{ReadOnly: true})
		isRejected := client.Is(err, client.ReadOnly)
		if isSafe(sent[0]) {
			if isRejected || len(sentReadOnly) == 0 {
				t.Errorf("%s (%s) of a read-only client is rejected: %v", name, sent[0], err)
			}
			continue
		}
		changes++
		if !isRejected || len(sentReadOnly) > 0 {
			t.Errorf("%s of a read-only client sent %v with the error %v, want that nothing is sent",
				name, sentReadOnly, err)
		}
	}
	if changes < 10 {
		t.Errorf("only %d methods change something, want 10 or more", changes)
	}
}

// isSafe reports whether a request, as a method and a path, changes nothing but a session.
func isSafe(request string) bool {
	method, path, _ := strings.Cut(request, " ")
	isQuery := strings.HasPrefix(path, "/Queries/")
	return method == http.MethodGet || isQuery || strings.HasPrefix(path, "/auth")
}

// TestReadOnlyAllowsDryRuns: a dry run of a bulk change only counts messages.
func TestReadOnlyAllowsDryRuns(t *testing.T) {
	var bodies []string
	c := serveWith(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		respond(http.StatusOK, "application/json", `{"Matched":7,"Retried":5,"Deleted":5}`)(w, r)
	}, client.Options{ReadOnly: true})
	dryRun := url.Values{"Status": {"3"}, "DryRun": {"true"}}
	if _, err := c.RetryMessages(t.Context(), dryRun); err != nil {
		t.Errorf("a dry run of RetryMessages: %v", err)
	}
	if _, err := c.DeleteMessages(t.Context(), dryRun); err != nil {
		t.Errorf("a dry run of DeleteMessages: %v", err)
	}
	for _, members := range []url.Values{
		{"DryRun": {"false"}},
		{"DryRun": {"true", "false"}},
		{"dryrun": {"true"}},
		{"All": {"true"}},
		nil,
	} {
		if _, err := c.RetryMessages(t.Context(), members); !client.Is(err, client.ReadOnly) {
			t.Errorf("RetryMessages with %v: got error %v, want that of a read-only client", members, err)
		}
		if _, err := c.DeleteMessages(t.Context(), members); !client.Is(err, client.ReadOnly) {
			t.Errorf("DeleteMessages with %v: got error %v, want that of a read-only client", members, err)
		}
	}
	const body = `{"DryRun":"true","Status":"3"}`
	if !slices.Equal(bodies, []string{body, body}) {
		t.Errorf("sent %q, want twice %s", bodies, body)
	}
}

// callMethod calls a method with generated arguments and returns the requests that
// arrived.
func callMethod(t *testing.T, name string, o client.Options) (sent []string, err error) {
	c := serveWith(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		sent = append(sent, r.Method+" "+r.URL.Path)
		respond(http.StatusInternalServerError, "application/json", `{}`)(w, r)
	}, o)
	method := reflect.ValueOf(c).MethodByName(name)
	arguments := []reflect.Value{reflect.ValueOf(t.Context())}
	for i := 1; i < method.Type().NumIn(); i++ {
		arguments = append(arguments, argumentOf(t, method.Type().In(i)))
	}
	call := method.Call
	if method.Type().IsVariadic() {
		call = method.CallSlice
	}
	for _, result := range call(arguments) {
		err = errors.Join(err, firstError(result))
	}
	return sent, err
}

// firstError returns a result if it is an error, or the first error of a sequence.
func firstError(result reflect.Value) (err error) {
	if result.Kind() == reflect.Func {
		yield := reflect.MakeFunc(result.Type().In(0), func(arguments []reflect.Value) []reflect.Value {
			for _, argument := range arguments {
				err = errors.Join(err, firstError(argument))
			}
			return []reflect.Value{reflect.ValueOf(false)}
		})
		result.Call([]reflect.Value{yield})
		return err
	}
	err, _ = result.Interface().(error)
	return err
}

// argumentOf returns a valid argument of a type.
func argumentOf(t *testing.T, parameter reflect.Type) reflect.Value {
	if parameter == reflect.TypeFor[client.Query]() {
		return reflect.ValueOf(client.Query{Kind: kind(t, "SO_Totals")})
	}
	if parameter == reflect.TypeFor[*record.Kind]() {
		return reflect.ValueOf(kind(t, "SO_Totals"))
	}
	if parameter == reflect.TypeFor[io.Writer]() {
		return reflect.ValueOf(io.Discard)
	}
	value := reflect.New(parameter).Elem()
	switch parameter.Kind() {
	case reflect.String:
		value.SetString("json")
	case reflect.Struct:
		for i := range parameter.NumField() {
			if field := value.Field(i); field.Kind() == reflect.String && field.CanSet() {
				field.SetString("x")
			}
		}
	}
	return value
}

func TestDryRunReportsRequestWithoutSecrets(t *testing.T) {
	var shown client.Request
	unexpected := func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") }
	c := serveWith(t, unexpected, client.Options{
		Token:    "canary",
		ReadOnly: true,
		DryRun:   func(r client.Request) { shown = r },
	})
	if err := c.RemoveUser(t.Context(), "Ann"); !errors.Is(err, client.ErrNotSent) {
		t.Errorf("error %v, want ErrNotSent", err)
	}
	if want := c.URL() + "/Users/Ann"; shown.Method != http.MethodDelete || shown.URL != want {
		t.Errorf("DryRun got the request %s %s, want DELETE %s", shown.Method, shown.URL, want)
	}
	if got := shown.Header.Get("Authorization"); got != "Bearer ***" {
		t.Errorf("DryRun got the authorization %q, want Bearer ***", got)
	}

	_, err := c.Rows(t.Context(), client.Query{Kind: kind(t, "SO_Totals"), Strict: true})
	if !errors.Is(err, client.ErrNotSent) {
		t.Errorf("error %v, want ErrNotSent", err)
	}
	if want := `{"Strict":true}`; string(shown.Body) != want {
		t.Errorf("DryRun got the body %s, want %s", shown.Body, want)
	}
	if _, isShown := shown.Header["X-Idempotency-Key"]; isShown {
		t.Errorf("DryRun got the header %v, want it without the mark of a read", shown.Header)
	}
}

// With DryRunReads, a lookup is sent before the change that is not.
func TestDryRunSendsReads(t *testing.T) {
	var sent, shown []string
	c := serveWith(t, func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Method)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, "[]")
	}, client.Options{DryRunReads: true, DryRun: func(r client.Request) { shown = append(shown, r.Method) }})
	if _, err := c.Users(t.Context()); err != nil {
		t.Errorf("a read: %v", err)
	}
	if err := c.RemoveUser(t.Context(), "Ann"); !errors.Is(err, client.ErrNotSent) {
		t.Errorf("a change: got error %v, want ErrNotSent", err)
	}
	if !slices.Equal(sent, []string{"GET"}) {
		t.Errorf("sent the requests %q, want only the read", sent)
	}
	if !slices.Equal(shown, []string{"DELETE"}) {
		t.Errorf("DryRun got the requests %q, want only the change", shown)
	}
}

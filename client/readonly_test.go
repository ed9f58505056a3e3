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
var local = []string{"Close", "URL", "WithSessionOf"}

// TestReadOnlyRejectsChanges covers all methods of Client by reflection, including future
// ones: those that can change something send nothing, all others do.
func TestReadOnlyRejectsChanges(t *testing.T) {
	methods := reflect.TypeFor[*client.Client]()
	changes := 0
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if strings.Contains(strings.Join(local, " "), name) {
			continue
		}
		sent, _ := callMethod(t, name, client.Options{})
		if len(sent) == 0 {
			t.Errorf("%s sends no request without ReadOnly", name)
			continue
		}
		method, path, _ := strings.Cut(sent[0], " ")
		safe := method == http.MethodGet || strings.HasPrefix(path, "/Queries/") || strings.HasPrefix(path, "/auth")
		after, err := callMethod(t, name, client.Options{ReadOnly: true})
		if safe {
			if len(after) == 0 || client.Is(err, client.ReadOnly) {
				t.Errorf("%s (%s) is rejected: %v", name, sent[0], err)
			}
			continue
		}
		changes++
		if len(after) > 0 || !client.Is(err, client.ReadOnly) {
			t.Errorf("%s sent %v although the client is read-only: %v", name, after, err)
		}
	}
	if changes < 10 {
		t.Errorf("only %d methods change something, want 10 or more", changes)
	}
}

// TestReadOnlyAllowsDryRuns: a dry run of a bulk change only counts messages.
func TestReadOnlyAllowsDryRuns(t *testing.T) {
	var bodies []string
	c := serveWith(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		respond(http.StatusOK, "application/json", `{"Matched":7,"Retried":5,"Deleted":5}`)(w, r)
	}, client.Options{ReadOnly: true})
	for _, members := range []url.Values{{"Status": {"3"}, "DryRun": {"true"}}, {"DryRun": {"false"}}, {"DryRun": {"true", "false"}}, {"dryrun": {"true"}}, {"All": {"true"}}, nil} {
		_, errRetry := c.RetryMessages(t.Context(), members)
		_, errDelete := c.DeleteMessages(t.Context(), members)
		for _, err := range []error{errRetry, errDelete} {
			if allowed := members.Get("Status") != ""; allowed && err != nil || !allowed && !client.Is(err, client.ReadOnly) {
				t.Errorf("%v: %v", members, err)
			}
		}
	}
	if want := `{"DryRun":"true","Status":"3"}`; !slices.Equal(bodies, []string{want, want}) {
		t.Errorf("sent %q", bodies)
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
	c := serveWith(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") }, client.Options{
		Token: "canary", ReadOnly: true, DryRun: func(r client.Request) { shown = r },
	})
	if err := c.RemoveUser(t.Context(), "Ann"); !errors.Is(err, client.ErrNotSent) {
		t.Errorf("error %v, want ErrNotSent", err)
	}
	if shown.Method != http.MethodDelete || shown.URL != c.URL()+"/Users/Ann" || shown.Header.Get("Authorization") != "Bearer ***" {
		t.Errorf("%+v", shown)
	}
	if _, err := c.Rows(t.Context(), client.Query{Kind: kind(t, "SO_Totals"), Strict: true}); !errors.Is(err, client.ErrNotSent) {
		t.Errorf("error %v", err)
	}
	if _, marked := shown.Header["X-Idempotency-Key"]; marked || string(shown.Body) != `{"Strict":true}` {
		t.Errorf("%+v", shown)
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
	_, err := c.Users(t.Context())
	failed := c.RemoveUser(t.Context(), "Ann")
	if err != nil || !errors.Is(failed, client.ErrNotSent) || !slices.Equal(sent, []string{"GET"}) || !slices.Equal(shown, []string{"DELETE"}) {
		t.Errorf("%v, %v, sent %v, shown %v", err, failed, sent, shown)
	}
}

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
)

// local are the methods that ask the service nothing.
var local = []string{"Close", "URL"}

// Every method that can change something is refused before anything is sent;
// all others go through. Methods are found by reflection, so that none that is
// added later is forgotten.
func TestReadOnly(t *testing.T) {
	methods := reflect.TypeFor[*client.Client]()
	changes := 0
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if strings.Contains(strings.Join(local, " "), name) {
			continue
		}
		sent, _ := callMethod(t, name, client.Options{})
		if len(sent) == 0 {
			t.Errorf("%s sends nothing when it may", name)
			continue
		}
		method, path, _ := strings.Cut(sent[0], " ")
		harmless := method == http.MethodGet || strings.HasPrefix(path, "/Queries/") || strings.HasPrefix(path, "/auth")
		after, err := callMethod(t, name, client.Options{ReadOnly: true})
		switch {
		case harmless && (len(after) == 0 || client.Is(err, client.ReadOnly)):
			t.Errorf("%s (%s) is refused: %v", name, sent[0], err)
		case !harmless && (len(after) > 0 || !client.Is(err, client.ReadOnly)):
			t.Errorf("%s sent %v although the client is read-only: %v", name, after, err)
		}
		if !harmless {
			changes++
		}
	}
	if changes < 10 {
		t.Errorf("only %d methods change something", changes)
	}
}

// A dry run of what is done to many messages only counts.
func TestReadOnlyCounts(t *testing.T) {
	var asked []string
	c := serveWith(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, string(body))
		answer(http.StatusOK, "application/json", `{"Matched":7,"Retried":5,"Deleted":5}`)(w, r)
	}, client.Options{ReadOnly: true})
	for _, members := range []url.Values{{"Status": {"3"}, "DryRun": {"true"}}, {"DryRun": {"false"}}, {"DryRun": {"true", "false"}}, {"dryrun": {"true"}}, {"All": {"true"}}, nil} {
		_, retried := c.RetryMessages(t.Context(), members)
		_, deleted := c.DeleteMessages(t.Context(), members)
		for _, err := range []error{retried, deleted} {
			if counts := members.Get("Status") != ""; counts && err != nil || !counts && !client.Is(err, client.ReadOnly) {
				t.Errorf("%v: %v", members, err)
			}
		}
	}
	if want := `{"DryRun":"true","Status":"3"}`; !slices.Equal(asked, []string{want, want}) {
		t.Errorf("sent %q", asked)
	}
}

// callMethod calls a method with made-up arguments and gives what arrived.
func callMethod(t *testing.T, name string, o client.Options) (sent []string, err error) {
	c := serveWith(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		sent = append(sent, r.Method+" "+r.URL.Path)
		answer(http.StatusInternalServerError, "application/json", `{}`)(w, r)
	}, o)
	method := reflect.ValueOf(c).MethodByName(name)
	arguments := []reflect.Value{reflect.ValueOf(t.Context())}
	for i := 1; i < method.Type().NumIn(); i++ {
		arguments = append(arguments, madeUp(t, method.Type().In(i)))
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

// firstError is a result that is an error, or the first error of a sequence.
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

// madeUp is a value that a method may be called with.
func madeUp(t *testing.T, of reflect.Type) reflect.Value {
	if of == reflect.TypeFor[client.Query]() {
		return reflect.ValueOf(client.Query{Kind: kind(t, "SO_Totals")})
	}
	if of == reflect.TypeFor[io.Writer]() {
		return reflect.ValueOf(io.Discard)
	}
	value := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.String:
		value.SetString("json")
	case reflect.Struct:
		for i := range of.NumField() {
			if field := value.Field(i); field.Kind() == reflect.String && field.CanSet() {
				field.SetString("x")
			}
		}
	}
	return value
}

// A dry run shows the request, without secrets, and sends nothing.
func TestDryRun(t *testing.T) {
	var shown client.Request
	c := serveWith(t, func(http.ResponseWriter, *http.Request) { t.Error("the service was asked") }, client.Options{
		Token: "canary", ReadOnly: true, DryRun: func(r client.Request) { shown = r },
	})
	if err := c.RemoveUser(t.Context(), "Ann"); !errors.Is(err, client.ErrNotSent) {
		t.Errorf("error %v", err)
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

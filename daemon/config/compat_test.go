package config

import "testing"

// compatValues are the values of the settings that compat changes, and their origins.
type compatValues struct {
	today, keyInURL bool
	publish         string

	todayFrom, keyFrom, publishFrom Origin
}

func TestCompat(t *testing.T) {
	const on = "compat = 'servicestack-5'\n"
	unchanged := compatValues{false, false, "required", byDefault, byDefault, byDefault}
	changed := compatValues{true, true, "anonymous", byCompat, byCompat, byCompat}

	keyInFile := changed
	keyInFile.keyInURL = false
	keyInFile.keyFrom = "file whd.toml:3"
	publishInVariable := changed
	publishInVariable.publish = "required"
	publishInVariable.publishFrom = "variable WHD_WEBHOOKS_PUBLISH"
	todayInFile := changed
	todayInFile.todayFrom = "file whd.toml:3"

	for _, c := range []struct {
		name  string
		in    input
		want  compatValues
		risks int // settings that compat changed
	}{
		{"none", input{}, unchanged, 0},
		{"explicit none", withFile("compat = 'none'\n"), unchanged, 0},
		{"flag", input{args: "--compat servicestack-5"}, changed, 3},
		{"variable", input{env: []string{"WHD_COMPAT=servicestack-5"}}, changed, 3},
		{
			"flag over file",
			input{args: "--config whd.toml --compat none", files: file(on)},
			unchanged, 0,
		},
		{"file", withFile(on), changed, 3},
		{"explicit in file", withFile(on + "[auth]\nkey_in_url = false\n"), keyInFile, 2},
		{
			"explicit in variable",
			input{
				args:  "--config whd.toml",
				files: file(on),
				env:   []string{"WHD_WEBHOOKS_PUBLISH=required"},
			},
			publishInVariable, 2,
		},
		{"explicit, same value", withFile(on + "[requestlog]\ntoday = true\n"), todayInFile, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			loaded, err := c.in.load()
			if err != nil {
				t.Fatal(err)
			}
			got := compatValues{
				today:       loaded.RequestLog.Today,
				keyInURL:    loaded.Auth.KeyInURL,
				publish:     loaded.Webhooks.Publish,
				todayFrom:   loaded.Origin("requestlog.today"),
				keyFrom:     loaded.Origin("auth.key_in_url"),
				publishFrom: loaded.Origin("webhooks.publish"),
			}
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if risks := loaded.Risks(); len(risks) != c.risks {
				t.Errorf("got risks %v, want %d", risks, c.risks)
			}
		})
	}
}

// TestCompatDefaults checks that each row changes a live setting to a valid value other
// than its default. A reload could not change others together with compat.
func TestCompatDefaults(t *testing.T) {
	for _, r := range compatDefaults {
		s, ok := settingNamed(r.Setting)
		if !ok || !s.Live {
			t.Errorf("%s is not a live setting", r.Setting)
			continue
		}
		if s.Default == r.Value || r.Text == "" {
			t.Errorf("%+v has the default %q or no text", r, s.Default)
		}
		if err := s.assign(new(Config), r.Value); err != nil {
			t.Errorf("assigning %s to %s: %v", r.Value, r.Setting, err)
		}
	}
}

package config

import "testing"

func TestCompat(t *testing.T) {
	const on = "compat = 'servicestack-5'\n"
	type values struct {
		today, keyInURL bool
		publish         string
	}
	for name, c := range map[string]struct {
		in      input
		want    values
		origins [3]Origin // of requestlog.today, auth.key_in_url and webhooks.publish
		risks   int
	}{
		"none":                 {input{}, values{false, false, "required"}, [3]Origin{byDefault, byDefault, byDefault}, 0},
		"explicit none":        {withFile("compat = 'none'\n"), values{false, false, "required"}, [3]Origin{byDefault, byDefault, byDefault}, 0},
		"flag":                 {input{args: "--compat servicestack-5"}, values{true, true, "anonymous"}, [3]Origin{byCompat, byCompat, byCompat}, 3},
		"variable":             {input{env: []string{"WHD_COMPAT=servicestack-5"}}, values{true, true, "anonymous"}, [3]Origin{byCompat, byCompat, byCompat}, 3},
		"flag over file":       {input{args: "--config whd.toml --compat none", files: file(on)}, values{false, false, "required"}, [3]Origin{byDefault, byDefault, byDefault}, 0},
		"file":                 {withFile(on), values{true, true, "anonymous"}, [3]Origin{byCompat, byCompat, byCompat}, 3},
		"explicit in file":     {withFile(on + "[auth]\nkey_in_url = false\n"), values{true, false, "anonymous"}, [3]Origin{byCompat, "file whd.toml:3", byCompat}, 2},
		"explicit in variable": {input{args: "--config whd.toml", files: file(on), env: []string{"WHD_WEBHOOKS_PUBLISH=required"}}, values{true, true, "required"}, [3]Origin{byCompat, byCompat, "variable WHD_WEBHOOKS_PUBLISH"}, 2},
		"explicit, same value": {withFile(on + "[requestlog]\ntoday = true\n"), values{true, true, "anonymous"}, [3]Origin{"file whd.toml:3", byCompat, byCompat}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.in.load()
			if err != nil {
				t.Fatal(err)
			}
			if v := (values{got.RequestLog.Today, got.Auth.KeyInURL, got.Webhooks.Publish}); v != c.want {
				t.Errorf("got %+v, want %+v", v, c.want)
			}
			if o := [3]Origin{got.Origin("requestlog.today"), got.Origin("auth.key_in_url"), got.Origin("webhooks.publish")}; o != c.origins {
				t.Errorf("origins %q, want %q", o, c.origins)
			}
			if risks := got.Risks(); len(risks) != c.risks {
				t.Errorf("risks: %v, want %d", risks, c.risks)
			}
		})
	}
}

// TestCompatDefaults checks that each row changes a live setting to a valid value other
// than its default. A reload could not change others together with compat.
func TestCompatDefaults(t *testing.T) {
	for _, r := range compatDefaults {
		s, known := settingNamed(r.Setting)
		if !known || !s.Live || s.Default == r.Value || s.assign(new(Config), r.Value) != nil || r.Text == "" {
			t.Errorf("invalid row %+v", r)
		}
	}
}

package config

// compatServiceStack is the value of the setting compat for clients of ServiceStack 5.
const compatServiceStack = "servicestack-5"

// byCompat is the origin of defaults that the setting compat changed.
const byCompat Origin = "compat"

// compatDefaults are the defaults with compat = servicestack-5. The second challenge of a
// 401, for Basic, is not among them: every program gets it, and no browser.
var compatDefaults = []Risk{
	{
		Setting: "requestlog.today",
		Value:   "true",
		Text:    "queries of the request log without a time do not show errors of earlier days",
	},
	{
		Setting: "auth.key_in_url",
		Value:   "true",
		Text:    "proxies and other programs between client and service may log API keys in URLs",
	},
	{
		Setting: "webhooks.publish",
		Value:   "anonymous",
		Text: "every program in the networks of webhooks.publish_from, if any," +
			" can publish events without a login",
	},
}

// Risk is the risk of a setting's value.
type Risk struct{ Setting, Value, Text string }

// compatLayer returns the defaults with a value of compat.
func compatLayer(value string) (l Layer) {
	if value != compatServiceStack {
		return nil
	}
	for _, r := range compatDefaults {
		s, _ := settingNamed(r.Setting)
		l = append(l, assignment{setting: s, text: r.Value, origin: byCompat})
	}
	return l
}

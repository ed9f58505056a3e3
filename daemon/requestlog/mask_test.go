package requestlog

import "testing"

const someID = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"

func TestMaskQuery(t *testing.T) {
	for raw, want := range map[string]string{
		"":                             "",
		"Take=1&InvoiceID=A+B%20C":     "Take=1&InvoiceID=A+B%20C",
		"a=1&password=s3cret&b=2":      "a=1&password=***&b=2",
		"PASSWORD=s3cret":              "PASSWORD=***",
		"NewPassword=s3cret":           "NewPassword=***",
		"P%61ssword=s3cret":            "Password=***",
		"User%4Eame=ann&RememberMe=1":  "UserName=***&RememberMe=1",
		"ApiKey=s3cret":                "ApiKey=***",
		"api\u212Aey=s3cret":           "***", // the Kelvin sign, which folds to k
		"Headers=[{Name:X}]":           "Headers=***",
		"HeadersContains=x":            "HeadersContains=***",
		"x=1;Password=s3cret":          "***",
		"{\"Password\":\"s3cret\"}":    "***",
		"Password":                     "Password=***",
		"a=%zz":                        "***",
		"api_key=s3cret&a=1":           "api_key=***&a=1",
		"api-key=s3cret":               "api-key=***",
		"passwd=s3cret":                "passwd=***",
		"key=s3cret&Pass=s3cret":       "key=***&Pass=***",
		"monkey=1&keys=2&a=key":        "monkey=1&keys=2&a=key",
		"m%C3%BCnkey=1&passage=2":      "m%C3%BCnkey=1&passage=2",
		"x=1;key=s3cret":               "***",
		"{\"key\" : \"s3cret\"}":       "***",
		"RecID=" + someID:              "RecID=" + someID, // of a record
		"to=/x%3FRecID%3D" + someID:    "to=/x%3FRecID%3D" + someID,
		"to=/Subscribers?RecID=" + "x": "***",
		"to=/Subscribers/" + someID:    "***",
		"SubscriberID=" + someID:       "SubscriberID=1b4e28ba***",
		"SubscriberID=1b4e28ba***":     "SubscriberID=1b4e28ba***",
		"SubscriberID=short":           "SubscriberID=***",
		"SubscriberID=%26%26%26%26%26%26%26%26%26%26%26%26%26%26%26%26%26": "SubscriberID=***",
	} {
		if got := MaskQuery("/Queries/DB_Class", raw); got != want {
			t.Errorf("%q becomes %q, want %q", raw, got, want)
		}
	}
}

// TestMaskQueryOfSubscribers checks that the RecID in requests for subscribers is masked.
func TestMaskQueryOfSubscribers(t *testing.T) {
	queries := map[string]string{
		"RecID":   "RecID=1b4e28ba***",
		"recidIn": "recidIn=1b4e28ba***",
		"Name":    "Name=" + someID,
	}
	for _, path := range []string{"/Webhooks/Subscribers", "/api/addsubscriber"} {
		for name, want := range queries {
			if got := MaskQuery(path, name+"="+someID); got != want {
				t.Errorf("%s?%s becomes %q, want %q", path, name, got, want)
			}
		}
	}
}

// TestMaskQueryOfEvents checks that keys of events are shown, and their bodies are not.
func TestMaskQueryOfEvents(t *testing.T) {
	for path, queries := range map[string]map[string]string{
		"/Webhooks/Events": {
			"EventName=debtor.created&Body=canary&Key=D1": "EventName=debtor.created&Body=***&Key=D1",
			"b%6Fdy=canary":      "body=***",
			"Body[Card]=canary":  "***",
			"Body":               "Body=***",
			"Key=whd_canary":     "***",
			"Key=Password%3Dx":   "***",
			"TheBody=1&BodyID=2": "TheBody=1&BodyID=2",
			"apikey=canary":      "apikey=***",
			"Key=A%2FB&EventX=1": "Key=A%2FB&EventX=1",
		},
		"/erp/Webhooks/Why.json/":                      {"key=D1": "key=D1"},
		"/json/reply/Why":                              {"Key=D1": "Key=D1"},
		"/api/RaiseEvent[]":                            {"Key=D1&Body=canary": "Key=D1&Body=***"},
		"/csv/reply/WebhooksEventsPOSTRequest":         {"Key=D1&Body=canary": "Key=D1&Body=***"},
		"/Webhooks/Subscribers/x/Subscriptions/y/Test": {"Body=canary&Key=canary": "Body=***&Key=***"},
		"/Queries/Why":                                 {"Password=canary": "Password=***"},
	} {
		for raw, want := range queries {
			got := MaskQuery(path, raw)
			if got != want {
				t.Errorf("%s?%s becomes %q, want %q", path, raw, got, want)
			}
			if repeated := MaskQuery(path, got); repeated != got {
				t.Errorf("%s?%s becomes %q when it is masked again", path, got, repeated)
			}
		}
	}
}

func TestMaskPath(t *testing.T) {
	for path, want := range map[string]string{
		"":                          "",
		"/json/reply/DB_ClassQuery": "/json/reply/DB_ClassQuery",
		"/a%2Fb%0Ac":                "/a%2Fb%0Ac",
		"/Webhooks/Subscribers":     "/Webhooks/Subscribers",
		"/Webhooks/Subscribers/":    "/Webhooks/Subscribers/",
		"/Webhooks/Subscribers/" + someID + "/Subscriptions": "/Webhooks/Subscribers/1b4e28ba***/Subscriptions",
		"//webhooks//SUBSCRIBERS//" + someID:                 "//webhooks//SUBSCRIBERS//1b4e28ba***",
		"/webhooks/%73ubscribers/" + someID + ".json":        "/webhooks/%73ubscribers/1b4e28ba***",
		"/erp/Webhooks/Subscribers/1b%34e28ba-2fa1":          "/erp/Webhooks/Subscribers/***",
		"/json/reply/Password=s3cret":                        "/json/reply/***",
		"/json/reply/%50assword%3Ds3cret":                    "/json/reply/***",
		"/Queries/a=b":                                       "/Queries/a=b",
		"/api/whd_s3cret":                                    "/api/***",
		"/Queries/WHSEC%5Fs3cret/x":                          "/Queries/***/x",
	} {
		got := MaskPath(path)
		if got != want {
			t.Errorf("%q becomes %q, want %q", path, got, want)
		}
		if repeated := MaskPath(got); repeated != got {
			t.Errorf("%q becomes %q when it is masked again", got, repeated)
		}
	}
}

func TestMaskURL(t *testing.T) {
	for text, want := range map[string]string{
		"": "",
		"https://erp.example/metadata?op=X#Password=s3cret":     "https://erp.example/metadata?op=X",
		"https://ann:s3cret@erp.example/":                       "https://erp.example/",
		"https://erp.example/auth?UserName=ann&Password=s3cret": "https://erp.example/auth?UserName=***&Password=***",
		"http://[::1]:80/Webhooks/Subscribers/" + someID:        "http://[::1]:80/Webhooks/Subscribers/1b4e28ba***",
		"/page?a=1":                              "/page?a=1",
		"mailto:s3cret":                          "mailto:***",
		"http://%zz/s3cret":                      "***",
		"http://erp.example/Webhooks/Why?Key=D1": "http://erp.example/Webhooks/Why?Key=D1",
	} {
		if got := MaskURL(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

package rest

import (
	"strconv"
	"strings"

	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
)

// choice is everything that a request may say about the format it wants.
type choice struct {
	prefix   string // of a reply route
	suffix   string // of the path
	callback string
	format   string // ?format=
	accept   string
}

// negotiate decides the format: on reply routes the prefix, overridden by
// ?format= and ?callback=; elsewhere suffix, callback, ?format=, Accept, JSON.
// Its error still comes with a format to write it in.
func negotiate(c choice) (reply, error) {
	json, _ := encode.ByName("json")
	r := reply{format: json}
	var err error
	name := c.suffix
	switch {
	case c.callback != "":
		r.callback, name = safeCallback(c.callback), "json"
	case c.prefix != "":
		if name = c.prefix; c.format != "" {
			name = c.format
		}
	case name == "":
		name = c.format
	}
	if name == "" {
		r.format = accepted(c.accept)
	} else if f, ok := encode.ByName(name); ok {
		r.format = f
	} else if c.prefix == name {
		err = fault.New(fault.NotFound, "there is no format %s; formats: %s", clean(name), formatNames())
	} else {
		err = &fault.Error{Kind: fault.Invalid, Message: "format must be one of " + formatNames(),
			Fields: []fault.Field{{Name: query.Format, Message: "must be one of " + formatNames()}}}
	}
	r.html = r.format.Name == "html"
	return r, err
}

func formatNames() string {
	var names []string
	for _, f := range encode.Formats() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// safeCallback replaces what could be more than a function's name.
func safeCallback(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == '.' || r == '_' || r == '$' {
			return r
		}
		return '_'
	}, name)
}

// accepted picks the format of an Accept header: the highest quality, and
// among equals the one named first. Wildcards mean JSON, and so does a header
// that names nothing we have: the service never answers 406.
func accepted(accept string) encode.Format {
	formats := encode.Formats()
	best, quality := formats[0], 0.0
	for part := range strings.SplitSeq(accept, ",") {
		media, parameters, _ := strings.Cut(part, ";")
		f, ok := byMedia(formats, strings.ToLower(strings.TrimSpace(media)))
		if q := qualityOf(parameters); ok && q > quality {
			best, quality = f, q
		}
	}
	return best
}

func byMedia(formats []encode.Format, media string) (encode.Format, bool) {
	if media == "*/*" || media == "application/*" {
		return formats[0], true
	}
	for _, f := range formats {
		for _, m := range f.MediaTypes {
			if m == media {
				return f, true
			}
		}
	}
	return encode.Format{}, false
}

func qualityOf(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		name, text, _ := strings.Cut(strings.TrimSpace(p), "=")
		if strings.EqualFold(name, "q") {
			if q, err := strconv.ParseFloat(text, 64); err == nil && q >= 0 && q <= 1 {
				return q
			}
			return 0
		}
	}
	return 1
}

package edge

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
)

// FormatRequest is everything in a request that selects a format.
type FormatRequest struct {
	Prefix   string // prefix of a reply route
	Suffix   string // suffix of the path
	Callback string
	Format   string // ?format=
	Accept   string
}

// ResponseFormat is the negotiated format.
type ResponseFormat struct {
	encode.Format
	BOM      bool   // CSV starts with a byte order mark
	callback string // function name of JSONP
}

// Open starts a JSONP response, which is a script.
func (r ResponseFormat) Open(h http.Header, buf []byte) []byte {
	if r.callback == "" {
		return buf
	}
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	return append(append(buf, r.callback...), '(')
}

// Close ends a JSONP response.
func (r ResponseFormat) Close(buf []byte) []byte {
	if r.callback == "" {
		return buf
	}
	return append(buf, ')')
}

// Negotiate selects the format. On reply routes it is the prefix, overridden by
// ?callback= and ?format=; elsewhere suffix, callback, ?format=, Accept, JSON. It
// returns a format for the error response even if it fails.
func Negotiate(c FormatRequest) (ResponseFormat, error) {
	r := ResponseFormat{Format: AcceptedFormat(c.Accept)}
	suffix := c.Suffix
	if c.Prefix != "" {
		prefixed, ok := encode.ByName(c.Prefix)
		if !ok || prefixed.Binary {
			return r, fault.New(fault.NotFound, "unknown format %s; formats: %s",
				Clean(c.Prefix), strings.Join(encode.PathNames(), ", "))
		}
		r.Format = prefixed
		suffix = ""
	}
	switch {
	case suffix != "" && suffix != "json":
		r.Format, _ = encode.ByName(suffix)
	case c.Callback != "":
		r.Format = JSONFormat()
		r.callback = safeCallback(c.Callback)
	case suffix != "":
		r.Format = JSONFormat()
	case c.Format != "":
		requested, ok := encode.ByName(c.Format)
		if !ok {
			text := "must be one of " + strings.Join(encode.Names(), ", ")
			return r, &fault.Error{
				Kind:    fault.Invalid,
				Message: query.Format + " " + text,
				Fields:  []fault.Field{{Name: query.Format, Message: text}},
			}
		}
		r.Format = requested
	}
	return r, nil
}

// JSONFormat returns JSON, the default format.
func JSONFormat() encode.Format { return encode.Formats()[0] }

// safeCallback replaces characters that are not part of a function name.
func safeCallback(name string) string {
	return strings.Map(func(r rune) rune {
		if isAlphanumeric(r) || strings.ContainsRune("._$", r) {
			return r
		}
		return '_'
	}, name)
}

// AcceptedFormat returns the format of an Accept header: the one with the highest
// quality, the first of equals. Wildcards and headers without a known format select
// JSON: the service never responds 406.
func AcceptedFormat(accept string) encode.Format {
	formats := encode.Formats()
	best, quality := formats[0], 0.0
	for part := range strings.SplitSeq(accept, ",") {
		media, parameters, _ := strings.Cut(part, ";")
		f, ok := byMedia(formats, strings.ToLower(strings.TrimSpace(media)))
		q := qualityOf(parameters)
		if ok && q > quality {
			best, quality = f, q
		}
	}
	return best
}

// JSConfig has the options of JSON that a client selects by the parameter jsconfig of
// ServiceStack, such as eccn,dh:iso8601.
type JSConfig struct {
	ISODates  bool     // dates of webhooks in ISO 8601
	CamelCase bool     // names of members
	Ignored   []string // names of the other options
}

// ReadJSConfig reads the parameter. Options are name:value, or a name alone for true, and have
// a short and a long name.
func ReadJSConfig(text string) (c JSConfig) {
	for option := range strings.SplitSeq(strings.Trim(text, "{} "), ",") {
		name, value, hasValue := strings.Cut(strings.TrimSpace(option), ":")
		value = strings.ToLower(value)
		isOff := hasValue && (value == "false" || value == "0")
		switch strings.ToLower(name) {
		case "":
		case "eccn", "emitcamelcasenames":
			c.CamelCase = c.CamelCase || !isOff
		case "tc", "textcase":
			c.textCase(name, value)
		case "dh", "datehandler":
			if value != "iso8601" {
				c.ignore(name)
				continue
			}
			c.ISODates = true
		default:
			c.ignore(name)
		}
	}
	return c
}

// Apply returns a format with the options, and the names of those that have no effect.
func (c JSConfig) Apply(f encode.Format) (_ encode.Format, unused []string) {
	if c.ISODates {
		f = f.WithISODates()
	}
	if c.CamelCase && !f.HasCamelCase() {
		c.ignore("eccn")
	}
	if c.CamelCase {
		f = f.WithCamelCase()
	}
	return f, c.Ignored
}

// textCase reads the option for the letter case of names. The default of the service is PascalCase.
func (c *JSConfig) textCase(name, value string) {
	switch value {
	case "cc", "camelcase":
		c.CamelCase = true
	case "d", "default", "pc", "pascalcase":
		c.CamelCase = false
	default:
		c.ignore(name)
	}
}

// maxIgnoredOptions is the maximum number of options that are reported.
const maxIgnoredOptions = 20

// ignore reports an option that has no effect.
func (c *JSConfig) ignore(name string) {
	name = query.JSConfig + "=" + ShownName(name)
	if len(c.Ignored) < maxIgnoredOptions && !slices.Contains(c.Ignored, name) {
		c.Ignored = append(c.Ignored, name)
	}
}

// ShownName returns a member name for a response. Text that is not a name is
// replaced: it is probably a body in the wrong place, and may contain a password.
func ShownName(name string) string {
	const maxLength = 60
	isOdd := func(r rune) bool { return !isAlphanumeric(r) && !strings.ContainsRune("_-.", r) }
	if len(name) > maxLength || strings.ContainsFunc(name, isOdd) {
		return "***"
	}
	return name
}

// isAlphanumeric reports whether a character is a digit or a letter of ASCII.
func isAlphanumeric(r rune) bool {
	switch {
	case '0' <= r && r <= '9':
		return true
	case 'A' <= r && r <= 'Z':
		return true
	default:
		return 'a' <= r && r <= 'z'
	}
}

// byMedia returns the format with a media type, JSON for a wildcard.
func byMedia(formats []encode.Format, media string) (encode.Format, bool) {
	if media == "*/*" || media == "application/*" {
		return formats[0], true
	}
	for _, f := range formats {
		if slices.Contains(f.MediaTypes, media) {
			return f, true
		}
	}
	return encode.Format{}, false
}

// qualityOf returns the parameter q of an item of an Accept header: 1 if there is none, and 0 if it
// is invalid.
func qualityOf(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		name, text, _ := strings.Cut(strings.TrimSpace(p), "=")
		if !strings.EqualFold(name, "q") {
			continue
		}
		q, err := strconv.ParseFloat(text, 64)
		isValid := err == nil && q >= 0 && q <= 1
		if !isValid {
			return 0
		}
		return q
	}
	return 1
}

package config

import (
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/webhook"
)

// OutboundConfig configures the way to receivers.
type OutboundConfig struct {
	Proxy           ProxyURL
	ProxyResolves   bool
	NoProxy         Hosts
	CAFile          string
	Client          TLSConfig // the client certificate
	ClientCertHosts HostNames
}

// Outbound returns the way to receivers. It reads the file of certificates; open opens the client
// certificate, if there is one.
func (o OutboundConfig) Outbound(
	open func(TLSConfig) (webhook.ClientCertificate, error),
) (webhook.Outbound, error) {
	roots, err := rootsOf(o.CAFile)
	if err != nil {
		return webhook.Outbound{}, fmt.Errorf("webhooks.ca_file: %w", err)
	}
	outbound := webhook.Outbound{
		Proxy:            o.Proxy.url(),
		ProxyResolves:    o.ProxyResolves,
		NoProxy:          webhook.Hosts(o.NoProxy),
		RootCAs:          roots,
		CertificateHosts: o.ClientCertHosts,
	}
	if o.Client.Cert == "" {
		return outbound, nil
	}
	files := o.Client
	files.prefix = "webhooks.client_"
	outbound.Certificate, err = open(files)
	return outbound, err
}

// rootsOf returns the certificates of the system and of a file; nil for no file.
func rootsOf(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("%s has no certificate in PEM format", file)
	}
	return roots, nil
}

// ProxyURL is the URL of a proxy. All common ways of printing it mask the user and password.
type ProxyURL string

// url returns the parsed URL; nil if it is empty.
func (p ProxyURL) url() *url.URL {
	u, err := url.Parse(string(p))
	if p == "" || err != nil {
		return nil
	}
	return u
}

// String returns the URL with masked credentials.
func (p ProxyURL) String() string {
	u := p.url()
	if u == nil {
		return ""
	}
	masking := ""
	if u.User != nil {
		masking = masked + "@"
	}
	return u.Scheme + "://" + masking + u.Host
}

// GoString returns String, for %#v.
func (p ProxyURL) GoString() string { return p.String() }

// LogValue returns String, for slog.
func (p ProxyURL) LogValue() slog.Value { return slog.StringValue(p.String()) }

// MarshalText returns String, for encoding/json and other encoders.
func (p ProxyURL) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// checkProxy accepts the URL of a proxy. Its errors do not quote it, since it may have a password.
func checkProxy(text string) error {
	invalid := errors.New("it is not the URL of a proxy such as http://proxy.example:3128; " +
		"the scheme is http, https or socks5")
	u, err := url.Parse(text)
	if err != nil {
		return invalid
	}
	hasExtras := strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != ""
	if !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) || u.Hostname() == "" || hasExtras {
		return invalid
	}
	return nil
}

// Hosts is a list of networks and host names.
type Hosts webhook.Hosts

// UnmarshalText parses networks such as 10.0.0.0/8, addresses and names such as corp.example.
func (h *Hosts) UnmarshalText(text []byte) error {
	var parsed Hosts
	for _, item := range splitList(string(text)) {
		network, err := parseNetwork(item)
		if err == nil {
			parsed.Networks = append(parsed.Networks, network)
			continue
		}
		name, err := parseHostName(strings.TrimPrefix(strings.TrimPrefix(item, "*"), "."))
		if err != nil {
			return fmt.Errorf("%q is neither a network such as 10.0.0.0/8 nor a name such as corp.example", item)
		}
		parsed.Names = append(parsed.Names, name)
	}
	*h = parsed
	return nil
}

// String returns a form that UnmarshalText parses.
func (h Hosts) String() string {
	networks := joined[netip.Prefix](h.Networks)
	names := joined(h.Names)
	if networks == "" || names == "" {
		return networks + names
	}
	return networks + "," + names
}

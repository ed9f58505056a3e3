package service

import "strings"

// Unit returns the systemd unit of the service for an executable and a settings file.
func Unit(executable, config string) string {
	return strings.NewReplacer(
		"EXECUTABLE", quoted(executable),
		"CONFIG", quotedArgument(config),
	).Replace(unit)
}

// quoted quotes the path of the program for a unit's command line.
func quoted(path string) string {
	path = strings.ReplaceAll(path, "%", "%%")
	if strings.ContainsAny(path, " \t'\"\\$") {
		path = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
	}
	return path
}

// quotedArgument quotes an argument: systemd replaces variables in arguments, but not in
// the path of the program.
func quotedArgument(text string) string {
	return strings.ReplaceAll(quoted(text), "$", "$$")
}

const unit = `# The service whd for systemd. To change it, use: systemctl edit whd

[Unit]
Description=whd, queries and webhooks over the records of a business
Documentation=https://github.com/bizhook/whd
Wants=network-online.target
After=network-online.target
# Restart without limit: the database server may be down for hours.
StartLimitIntervalSec=0

[Service]
# The second line is for systemd 253 and later, which waits for the end of a reload and
# also sends the signal of ExecReload. Older versions warn about the second line and use
# the first.
Type=notify
Type=notify-reload
ExecStart=EXECUTABLE serve --config CONFIG
ExecReload=/bin/sh -c 'kill -HUP $MAINPID'
TimeoutStartSec=5min
# whd sends watchdog notifications while its own health check succeeds.
WatchdogSec=30s
Restart=on-failure
RestartSec=5s
# Status 2 means invalid settings: do not retry. A panicking Go program exits with the
# same status, except with GOTRACEBACK=crash.
RestartPreventExitStatus=2
Environment=GOTRACEBACK=crash
LimitCORE=0

User=whd
Group=whd
# /var/lib/whd, and /etc/whd for the settings.
StateDirectory=whd
StateDirectoryMode=0700
ConfigurationDirectory=whd
ConfigurationDirectoryMode=0750
UMask=0077
LimitNOFILE=65536

# Secrets, in files that only root can read, or encrypted with systemd-creds (then use
# LoadCredentialEncrypted). Each has the name of its setting.
#LoadCredential=erp:/etc/whd/erp.secret
#LoadCredential=erp.read_dsn:/etc/whd/erp.read_dsn.secret
#LoadCredential=store:/etc/whd/store.secret
#LoadCredential=admin_password:/etc/whd/admin_password.secret

# Sandboxing.
CapabilityBoundingSet=
# For a port below 1024, instead of the line above and of PrivateUsers:
#AmbientCapabilities=CAP_NET_BIND_SERVICE
#CapabilityBoundingSet=CAP_NET_BIND_SERVICE
PrivateUsers=yes
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateIPC=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RemoveIPC=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
# AF_NETLINK is required to list this machine's addresses, to which webhooks are not sent.
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`

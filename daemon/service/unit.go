package service

import "strings"

// Unit is the text of systemd's unit for a service that an executable is, with a
// file of settings.
func Unit(executable, config string) string {
	return strings.NewReplacer("EXECUTABLE", quoted(executable), "CONFIG", quoted(config)).Replace(unit)
}

// quoted is a path as a word of a unit's command line.
func quoted(path string) string {
	path = strings.ReplaceAll(path, "%", "%%")
	if strings.ContainsAny(path, " \t'\"\\$") {
		path = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", "$$").Replace(path) + `"`
	}
	return path
}

const unit = `# The service whd for systemd. To change it, use: systemctl edit whd

[Unit]
Description=whd, queries and webhooks over the records of a business
Documentation=https://github.com/bizhook/whd
Wants=network-online.target
After=network-online.target
# Try for as long as it takes: the database server may be away for hours.
StartLimitIntervalSec=0

[Service]
# The second line is for systemd 253 and later, where a reload is over when whd has
# read its settings; it sends the signal of ExecReload itself, too. An older one warns
# of the second and goes by the first.
Type=notify
Type=notify-reload
ExecStart=EXECUTABLE serve --config CONFIG
ExecReload=/bin/sh -c 'kill -HUP $MAINPID'
TimeoutStartSec=5min
# From whd itself, while it answers requests of its own.
WatchdogSec=30s
Restart=on-failure
RestartSec=5s
# Settings that are wrong do not get better by trying again. A program in Go that
# breaks down has the same status, unless it is told to end as crashed.
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

# Secrets that nobody else on the machine can read, in files that only root can,
# or encrypted with systemd-creds and then as LoadCredentialEncrypted. Each has the
# name of its setting.
#LoadCredential=store:/etc/whd/store.secret
#LoadCredential=store.read_dsn:/etc/whd/store.read_dsn.secret
#LoadCredential=admin_password:/etc/whd/admin_password.secret

# What whd cannot do, even if somebody takes it over.
CapabilityBoundingSet=
# For a port below 1024, in place of the line above and of PrivateUsers:
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
# AF_NETLINK tells which addresses are this machine's own, where no webhook goes.
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`

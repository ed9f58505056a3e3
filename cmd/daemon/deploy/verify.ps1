<#
.SYNOPSIS
Checks on a Windows machine, since Wine cannot show them: the account and the start of the service, the
firewall, the event log, a console, a failed upgrade. Prints ok or failed for each.

.DESCRIPTION
Installs and removes whd: use a machine without it, such as a fresh virtual one, and a PowerShell
that was opened as administrator. Settings and data are removed in the end.

.EXAMPLE
.\verify.ps1 -Installer .\whd_1.0.0_windows_amd64.msi -Newer .\whd_1.1.0_windows_amd64.msi

.EXAMPLE
.\verify.ps1 -AfterRestart

.PARAMETER Installer
The installer to check.

.PARAMETER Newer
The installer of a later version, for the upgrade and the failed upgrade.

.PARAMETER Keep
Leave whd installed, to restart the machine and run the script with -AfterRestart.

.PARAMETER AfterRestart
Check only that the service has started by itself.
#>
param(
    [string] $Installer,
    [string] $Newer,
    [switch] $Keep,
    [switch] $AfterRestart
)
Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'

$programs = Join-Path $env:ProgramFiles 'whd'
$data = Join-Path $env:ProgramData 'whd'
$whd = Join-Path $programs 'whd.exe'
$whctl = Join-Path $programs 'whctl.exe'
$failures = 0

# Check runs a block, which returns true, or else a description of the problem.
function Check([string] $name, [scriptblock] $block) {
    try {
        $result = & $block | Select-Object -Last 1
    } catch {
        $result = $_.Exception.Message
    }
    if ($result -is [bool] -and $result) {
        Write-Output "ok      $name"
        return
    }
    $script:failures++
    Write-Output "failed  ${name}: $result"
}

# Install-Package runs an installer silently and returns its exit code. Arguments with values that
# have blanks are quoted by the caller.
function Install-Package([string] $action, [string] $file, [string] $log, [string[]] $properties) {
    $path = (Resolve-Path $file).Path
    $arguments = @($action, "`"$path`"", '/qn', '/norestart', '/l*v', "`"$log`"") + $properties
    (Start-Process msiexec.exe -ArgumentList $arguments -Wait -PassThru).ExitCode
}

# Get-State returns nothing if there is no service. Strict mode does not allow a property of nothing.
function Get-State { Get-Service whd -ErrorAction SilentlyContinue | Select-Object -ExpandProperty Status }

# Wait-Running waits until the service runs.
function Wait-Running([int] $seconds) {
    for ($i = 0; $i -lt $seconds; $i++) {
        if ((Get-State) -eq 'Running') { return $true }
        Start-Sleep 1
    }
    "after $seconds s the service is: $(Get-State)"
}

# Test-Question waits for an answer at the console.
function Test-Question([string] $question) {
    if ((Read-Host "$question (y/n)") -eq 'y') { return $true }
    'the answer was no'
}

$identity = [Security.Principal.WindowsPrincipal] [Security.Principal.WindowsIdentity]::GetCurrent()
if (-not $identity.IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)) {
    throw 'Open PowerShell as administrator.'
}

if ($AfterRestart) {
    Check 'the service has started with the machine (up to 3 minutes, since the start is delayed)' { Wait-Running 180 }
    exit $failures
}
if (-not $Installer) { throw 'Name the installer: -Installer FILE' }
if ((Get-State) -or (Test-Path $data)) { throw "whd, or its data in $data, is already on this machine." }

$logs = Join-Path $env:TEMP 'whd verify'
New-Item -ItemType Directory -Force $logs | Out-Null

Check 'a connection string gets into the settings only' {
    $code = Install-Package '/i' $Installer "$logs\secret.log" @('START=0', 'ERPDSN="sqlserver://sa:canary-7@127.0.0.1:1?database=x"')
    if ($code -ne 0) { return "msiexec returned $code" }
    if (-not (Select-String -Path "$data\whd.toml" -SimpleMatch 'canary-7' -Quiet)) { return 'it is not in the settings' }
    if (Select-String -Path "$logs\secret.log" -SimpleMatch 'canary-7' -Quiet) { return 'it is in the log' }
    $true
}
Check 'removal with its data' {
    $code = Install-Package '/x' $Installer "$logs\purge.log" @('PURGE=1')
    if ($code -ne 0) { return "msiexec returned $code" }
    if (Test-Path $data) { return "$data is left" }
    if (Test-Path $programs) { return "$programs is left" }
    $true
}
# Test-Refused installs, and expects a refusal whose reason in the event log names the remedy.
function Test-Refused([string] $log) {
    $start = Get-Date
    $code = Install-Package '/i' $Installer $log @('LISTEN=127.0.0.1:5050', 'START=0')
    if ($code -ne 1603) { return "msiexec returned $code, want 1603" }
    if (Get-State) { return 'the service is left' }
    $entries = Get-WinEvent -FilterHashtable @{ LogName = 'Application'; ProviderName = 'whd'; Id = 301; StartTime = $start }
    if (-not ($entries | Where-Object { $_.Message -like '*rename the directory*' })) { return "the event log has: $($entries.Message)" }
    $true
}
Check 'a data directory of others is refused' {
    New-Item -ItemType Directory $data | Out-Null
    icacls.exe $data /setowner '*S-1-5-32-545' | Out-Null
    try { Test-Refused "$logs\owner.log" } finally { Remove-Item -Recurse $data }
}
Check 'a data directory with settings that others can change is refused' {
    New-Item -ItemType Directory $data | Out-Null
    Set-Content "$data\whd.toml" 'listen = "127.0.0.1:5050"' -Encoding ascii
    icacls.exe "$data\whd.toml" /grant '*S-1-5-32-545:M' | Out-Null
    try { Test-Refused "$logs\content.log" } finally { Remove-Item -Recurse $data }
}
Check 'a junction in place of the data directory is refused' {
    New-Item -ItemType Directory "$logs\target" -Force | Out-Null
    New-Item -ItemType Junction -Path $data -Target "$logs\target" | Out-Null
    try { Test-Refused "$logs\junction.log" } finally { [IO.Directory]::Delete($data) }
}
Check 'an installation that fails leaves nothing' {
    # The new service cannot start, because its port is in use.
    $listener = New-Object Net.Sockets.TcpListener([Net.IPAddress]::Loopback, 5055)
    $listener.Start()
    try {
        $code = Install-Package '/i' $Installer "$logs\first.log" @('LISTEN=127.0.0.1:5055', 'FIREWALL=1', 'ERPDSN="sqlserver://sa:canary-7@127.0.0.1:1?database=x"')
    } finally {
        $listener.Stop()
    }
    if ($code -ne 1603) { return "msiexec returned $code, want 1603" }
    if (Get-State) { return 'the service is left' }
    if (Test-Path "$data\whd.toml") { return 'the settings are left' }
    if (Test-Path $programs) { return "$programs is left" }
    if (Get-NetFirewallRule -DisplayName whd -ErrorAction SilentlyContinue) { return 'the rule of the firewall is left' }
    if (Test-Path $data) { Remove-Item -Recurse $data }
    $true
}
# MsiHiddenProperties, which Wine ignores, hides ERPDSN and the data of InstallService and
# UndoInstallService. A failed installation logs all properties.
Check 'no log of the installer has the connection string' {
    $leaks = @(Select-String -Path "$logs\*.log" -SimpleMatch 'canary-7' -List)
    if ($leaks.Count -gt 0) { return "$($leaks.Path)" }
    foreach ($log in "$logs\secret.log", "$logs\first.log") {
        if (-not (Select-String -Path $log -SimpleMatch 'ERPDSN = **********' -Quiet)) { return "$log does not show ERPDSN as hidden" }
    }
    $true
}
Check 'the registry and the event log do not have the connection string' {
    reg.exe query 'HKLM\Software\whd' /s /f 'canary-7' | Out-Null
    if ($LASTEXITCODE -eq 0) { return 'HKLM\Software\whd has it' }
    reg.exe query 'HKLM\Software\Microsoft\Windows\CurrentVersion\Installer' /s /f 'canary-7' | Out-Null
    if ($LASTEXITCODE -eq 0) { return 'the registry of the installer has it' }
    $entries = @(Get-WinEvent -FilterHashtable @{ LogName = 'Application'; StartTime = (Get-Date).AddHours(-1) } | Where-Object { $_.Message -like '*canary-7*' })
    if ($entries.Count -gt 0) { return "an entry of $($entries[0].ProviderName) has it" }
    $true
}
Check 'installation' {
    $code = Install-Package '/i' $Installer "$logs\install.log" @('LISTEN=127.0.0.1:5050', 'FIREWALL=1', 'ERPDSN=demo')
    if ($code -ne 0) { return "msiexec returned $code" }
    Wait-Running 60
}

$service = Get-CimInstance Win32_Service -Filter "Name = 'whd'"
Check 'the account is NT SERVICE\whd' { if ($service.StartName -eq 'NT SERVICE\whd') { $true } else { $service.StartName } }
Check 'the start is automatic and delayed' {
    if ($service.StartMode -eq 'Auto' -and $service.DelayedAutoStart) { $true } else { "$($service.StartMode), delayed $($service.DelayedAutoStart)" }
}
Check 'three restarts after failures' {
    # Windows translates the names of actions, but not their delays.
    $actions = @(sc.exe qfailure whd | Select-String '\b(5000|30000|60000)\b')
    if ($actions.Count -eq 3) { $true } else { "$($actions.Count) restarts" }
}
Check 'a process that ends is started again' {
    Stop-Process -Id $service.ProcessId -Force
    Start-Sleep 2
    Wait-Running 30
}
Check 'the data is accessible to the service, the system and administrators only' {
    $acl = Get-Acl $data
    $names = @($acl.Access | ForEach-Object { $_.IdentityReference.Translate([Security.Principal.SecurityIdentifier]).Value })
    $others = @($names | Where-Object { $_ -ne 'S-1-5-18' -and $_ -ne 'S-1-5-32-544' -and $_ -notlike 'S-1-5-80-*' })
    if ($others.Count -gt 0 -or -not $acl.AreAccessRulesProtected) { return "others: $others" }
    $owner = $acl.GetOwner([Security.Principal.SecurityIdentifier]).Value
    if ($owner -ne 'S-1-5-32-544') { return "it belongs to $owner" }
    $true
}
Check 'the service can read its settings, but not change them' {
    $acl = Get-Acl "$data\whd.toml"
    $rule = $acl.Access | Where-Object { $_.IdentityReference.Value -eq 'NT SERVICE\whd' }
    if ($acl.AreAccessRulesProtected -and "$($rule.FileSystemRights)" -eq 'Read, Synchronize') { $true } else { "$($rule.FileSystemRights)" }
}
Check 'a file in the data directory has its permissions' {
    $acl = Get-Acl "$data\whd.db"
    $names = @($acl.Access | ForEach-Object { $_.IdentityReference.Translate([Security.Principal.SecurityIdentifier]).Value })
    $others = @($names | Where-Object { $_ -ne 'S-1-5-18' -and $_ -ne 'S-1-5-32-544' -and $_ -notlike 'S-1-5-80-*' })
    if ($others.Count -gt 0) { "others: $others" } else { $true }
}
Check 'whd check finds no permissions of others' {
    $report = & $whd check --format json | ConvertFrom-Json
    $problems = @($report.Results | Where-Object { $_.Name -eq 'permissions' })
    if ($problems.Count -gt 0) { "$($problems.Detail)" } else { $true }
}
Check 'a rule of the firewall for the domain and private networks' {
    $rule = Get-NetFirewallRule -DisplayName whd
    if ($rule.Enabled -ne 'True' -or $rule.Direction -ne 'Inbound' -or $rule.Action -ne 'Allow') { return "$($rule.Enabled) $($rule.Direction) $($rule.Action)" }
    if ("$($rule.Profile)" -ne 'Domain, Private') { return "for $($rule.Profile)" }
    $true
}
Check 'the event log has the start, with its text' {
    $entry = Get-WinEvent -FilterHashtable @{ LogName = 'Application'; ProviderName = 'whd'; Id = 100 } -MaxEvents 1
    if ($entry.Message -like 'whd serves*' -or $entry.Message -like 'whd *http*') { $true } else { $entry.Message }
}
Check 'the event log has the stop of a restart' {
    & $whd service restart
    $entry = Get-WinEvent -FilterHashtable @{ LogName = 'Application'; ProviderName = 'whd'; Id = 102 } -MaxEvents 1
    if ($entry.Message -like 'whd *') { $true } else { $entry.Message }
}
$long = Get-ItemProperty 'HKLM:\SYSTEM\CurrentControlSet\Control\FileSystem' -Name LongPathsEnabled -ErrorAction SilentlyContinue
if ($long -and $long.LongPathsEnabled -eq 1) {
    Check 'a data directory with a path of over 260 characters' {
        # Windows PowerShell would not escape a backslash before the quote at the end.
        $directory = "$logs\" + (@('x' * 100) * 3 -join '\')
        & $whd migrate --config= --data-dir $directory
        if ($LASTEXITCODE -eq 0) { $true } else { "exit code $LASTEXITCODE" }
    }
} else {
    Write-Output '        long paths are not enabled in Windows, so they are not checked'
}
Check 'the directory of the programs is in PATH' {
    $path = [Environment]::GetEnvironmentVariable('Path', 'Machine') -split ';' | ForEach-Object { $_.TrimEnd('\') }
    if ($path -contains $programs) { $true } else { 'it is not' }
}
Check 'the files have a version' {
    $version = (Get-Item $whd).VersionInfo.ProductVersion
    if ($version) { $true } else { 'there is none' }
}
Write-Output "        signature of whd.exe: $((Get-AuthenticodeSignature $whd).Status)"

$env:WHCTL_URL = 'http://127.0.0.1:5050'
$env:WHCTL_USER = 'admin'
Check 'a query' {
    $env:WHCTL_PASSWORD = (Get-Content "$data\admin-password" -Raw).Trim()
    & $whctl query SO_Totals --take 1 --csv | Out-Null
    if ($LASTEXITCODE -eq 0) { $true } else { "exit code $LASTEXITCODE" }
}
Check 'whctl tui on this console' {
    Read-Host 'whctl tui opens now: resize the window, press ? and q, then q to quit. Enter to start' | Out-Null
    Start-Process $whctl -ArgumentList 'tui' -NoNewWindow -Wait
    Test-Question 'Were the frames, colours and the resized screen right, and is the prompt as before?'
}
Check 'the event viewer' {
    Start-Process eventvwr.msc
    Test-Question 'Do the entries of the source whd in Windows Logs, Application, show their text?'
}

Check 'a repair installs a removed service with its first account, not that of a property' {
    & $whd service uninstall | Out-Null
    $code = Install-Package '/fa' $Installer "$logs\repair.log" @('SERVICEACCOUNT=LocalSystem')
    if ($code -ne 0) { return "msiexec returned $code" }
    $account = Get-CimInstance Win32_Service -Filter "Name = 'whd'" | Select-Object -ExpandProperty StartName
    if ($account -ne 'NT SERVICE\whd') { return "the account is $account" }
    if (-not (Get-NetFirewallRule -DisplayName whd -ErrorAction SilentlyContinue)) { return 'the rule of the firewall is gone' }
    Wait-Running 60
}
if ($Newer) {
    $settings = Get-FileHash "$data\whd.toml" | Select-Object -ExpandProperty Hash
    Check 'an upgrade that fails leaves the old version running' {
        # The new version cannot start, because its lock is held.
        $before = & $whd version | Select-Object -First 1
        & $whd service stop
        $lock = [IO.File]::Open("$data\serve.lock", 'OpenOrCreate', 'ReadWrite', 'None')
        try {
            $code = Install-Package '/i' $Newer "$logs\failing.log" @()
        } finally {
            $lock.Close()
        }
        if ($code -ne 1603) { return "msiexec returned $code, want 1603" }
        $after = & $whd version | Select-Object -First 1
        if ($after -ne $before) { return "the version is $after, want $before" }
        & $whd service start
        Wait-Running 60
    }
    Check 'an upgrade' {
        $code = Install-Package '/i' $Newer "$logs\upgrade.log" @()
        if ($code -ne 0) { return "msiexec returned $code" }
        if ((Get-FileHash "$data\whd.toml").Hash -ne $settings) { return 'the settings have changed' }
        Wait-Running 60
    }
    $Installer = $Newer
}

if ($Keep) {
    Write-Output 'whd stays installed. Restart the machine, and run: .\verify.ps1 -AfterRestart'
    exit $failures
}
Check 'removal: settings and data stay' {
    $code = Install-Package '/x' $Installer "$logs\remove.log" @()
    if ($code -ne 0) { return "msiexec returned $code" }
    if (Get-State) { return 'the service is left' }
    if (Test-Path $programs) { return "$programs is left" }
    if (Get-NetFirewallRule -DisplayName whd -ErrorAction SilentlyContinue) { return 'the rule of the firewall is left' }
    if (-not (Test-Path "$data\whd.db")) { return 'the data is gone' }
    Remove-Item -Recurse $data
    $true
}
Write-Output "$failures failed; logs of the installer are in $logs"
exit $failures

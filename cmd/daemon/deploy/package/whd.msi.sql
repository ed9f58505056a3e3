-- Additions to whd.wxs for which wixl has no elements. Each line other than comments is a
-- statement for msibuild -q, with the version of the installer for @NUMBER@.

-- PATH is extended at its end, and shortened again at the removal.
CREATE TABLE `Environment` (`Environment` CHAR(72) NOT NULL, `Name` CHAR(255) NOT NULL LOCALIZABLE, `Value` CHAR(255) LOCALIZABLE, `Component_` CHAR(72) NOT NULL PRIMARY KEY `Environment`)
INSERT INTO `Environment` (`Environment`, `Name`, `Value`, `Component_`) VALUES ('Path', '=-*PATH', '[~];[INSTALLDIR]', 'whctl.exe')

-- ERPDSN has a password: neither its value nor the command line with it may be logged. The names
-- of deferred actions are those of properties with their data. Wine ignores MsiHiddenProperties
-- and logs all properties in the end, so ERPDSN is deleted when it is not needed any more.
INSERT INTO `Property` (`Property`, `Value`) VALUES ('MsiHiddenProperties', 'ERPDSN;InstallService;UndoInstallService')
UPDATE `Property` SET `Value` = 'ERPDSN;LISTEN;FIREWALL;SERVICEACCOUNT;START;PURGE;CURRENTPRODUCT;SERVICEPATH;WIX_UPGRADE_DETECTED;WIX_DOWNGRADE_DETECTED' WHERE `Property` = 'SecureCustomProperties'

-- 512 also finds a version with the same number, such as that of the commit before. REINSTALLMODE
-- replaces all files, regardless of versions and times.
DELETE FROM `Upgrade` WHERE `ActionProperty` = 'WIX_UPGRADE_DETECTED'
INSERT INTO `Upgrade` (`UpgradeCode`, `VersionMax`, `Attributes`, `ActionProperty`) VALUES ('{54B2DF43-5A37-4E7B-9F0B-9A4A5FD4F9D6}', '@NUMBER@', 513, 'WIX_UPGRADE_DETECTED')
INSERT INTO `Property` (`Property`, `Value`) VALUES ('REINSTALLMODE', 'amus')

-- A silent installation would restart the machine if a program is in use, such as whctl tui in another
-- session. The status 3010 reports it instead.
INSERT INTO `Property` (`Property`, `Value`) VALUES ('REBOOT', 'ReallySuppress')

-- The command lines of the actions below have these properties in double quotes, which a double quote
-- or a backslash at the end would change. Conditions have no other way to name a double quote.
INSERT INTO `Property` (`Property`, `Value`) VALUES ('DoubleQuote', '"')
INSERT INTO `LaunchCondition` (`Condition`, `Description`) VALUES ('Installed OR NOT (ERPDSN >< DoubleQuote OR LISTEN >< DoubleQuote OR SERVICEACCOUNT >< DoubleQuote OR ERPDSN >> "\" OR LISTEN >> "\" OR SERVICEACCOUNT >> "\")', 'ERPDSN, LISTEN and SERVICEACCOUNT may not contain a double quote or end with a backslash. Set erp.dsn in the settings file instead.')

-- A service that was installed from the archive would be removed with a failed installation.
INSERT INTO `LaunchCondition` (`Condition`, `Description`) VALUES ('Installed OR WIX_UPGRADE_DETECTED OR NOT SERVICEPATH', 'The service whd was installed without this installer. Remove it first, as administrator: whd service uninstall. Its settings and data are kept.')

-- Actions: 18 runs an installed program, 34 a command line, 51 sets a property; 1024 defers,
-- 1024 + 256 runs if a later step fails, 1024 + 512 after success, all with 2048 as the system;
-- 64 ignores failures, and 8192 keeps the command line out of the log.
INSERT INTO `CustomAction` (`Action`, `Type`, `Source`, `Target`) VALUES ('FirewallFlag', 51, 'FirewallArgument', '--firewall')
INSERT INTO `CustomAction` (`Action`, `Type`, `Source`, `Target`) VALUES ('ForgetERPDSN', 51, 'ERPDSN', '{}')
INSERT INTO `CustomAction` (`Action`, `Type`, `Source`, `Target`) VALUES ('ClearERPDSN', 51, 'ERPDSN', '{}')
INSERT INTO `CustomAction` (`Action`, `Type`, `Source`, `Target`) VALUES ('ClearFIREWALL', 51, 'FIREWALL', '{}')
INSERT INTO `CustomAction` (`Action`, `Type`, `Source`, `Target`) VALUES ('ClearLISTEN', 51, 'LISTEN', '{}')
INSERT INTO `CustomAction` (`Action`, `Type`, `Source`, `Target`) VALUES ('ClearSERVICEACCOUNT', 51, 'SERVICEACCOUNT', '{}')
INSERT INTO `CustomAction` (`Action`, `Type`, `Source`, `Target`) VALUES ('RestartService', 3410, 'whd.exe', 'service start')
INSERT INTO `CustomAction` (`Action`, `Type`, `Source`, `Target`) VALUES ('UndoUninstallService', 3410, 'whd.exe', 'service install --account "[SERVICEACCOUNT]" [FirewallArgument]')
INSERT INTO `CustomAction` (`Action`, `Type`, `Source`, `Target`) VALUES ('UninstallService', 3090, 'whd.exe', 'service uninstall')
INSERT INTO `CustomAction` (`Action`, `Type`, `Source`, `Target`) VALUES ('UndoInstallService', 11602, 'whd.exe', 'service undo-install --account "[SERVICEACCOUNT]" --listen "[LISTEN]" --erp "[ERPDSN]" [FirewallArgument]')
INSERT INTO `CustomAction` (`Action`, `Type`, `Source`, `Target`) VALUES ('InstallService', 11282, 'whd.exe', 'service install --account "[SERVICEACCOUNT]" --listen "[LISTEN]" --erp "[ERPDSN]" [FirewallArgument]')
INSERT INTO `CustomAction` (`Action`, `Type`, `Source`, `Target`) VALUES ('UndoUpgradeStore', 3410, 'whd.exe', 'service upgrade --undo')
INSERT INTO `CustomAction` (`Action`, `Type`, `Source`, `Target`) VALUES ('UpgradeStore', 3090, 'whd.exe', 'service upgrade')
INSERT INTO `CustomAction` (`Action`, `Type`, `Source`, `Target`) VALUES ('UndoStartService', 3410, 'whd.exe', 'service stop')
INSERT INTO `CustomAction` (`Action`, `Type`, `Source`, `Target`) VALUES ('StartService', 3090, 'whd.exe', 'service start')
INSERT INTO `CustomAction` (`Action`, `Type`, `Source`, `Target`) VALUES ('RemoveData', 3682, 'ProgramFiles64Folder', '"[System64Folder]cmd.exe" /c rd /s /q "[CommonAppDataFolder]whd"')

-- Every user may start a repair, with values for these properties, and its actions run as the system.
-- So they are deleted before AppSearch reads those of the installation again. Windows would skip it
-- after an AppSearch in the user's process.
DELETE FROM `InstallUISequence` WHERE `Action` = 'AppSearch'
DELETE FROM `InstallUISequence` WHERE `Action` = 'LaunchConditions'
INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`) VALUES ('ClearERPDSN', 'Installed', 10)
INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`) VALUES ('ClearFIREWALL', 'Installed', 11)
INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`) VALUES ('ClearLISTEN', 'Installed', 12)
INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`) VALUES ('ClearSERVICEACCOUNT', 'Installed', 13)

-- The old version is removed after the new one runs, so that a failed upgrade leaves it alone. Its
-- removal leaves the service to the new version, which CURRENTPRODUCT names; Wine does
-- not set UPGRADINGPRODUCTCODE. RestartService is the last action of a rollback, when the files of the
-- old version are back.
UPDATE `InstallExecuteSequence` SET `Sequence` = 6601 WHERE `Action` = 'RemoveExistingProducts'
INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`) VALUES ('FirewallFlag', 'FIREWALL="1"', 1001)
INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`) VALUES ('RestartService', 'WIX_UPGRADE_DETECTED AND NOT START="0"', 1899)
INSERT INTO `InstallExecuteSequence` (`Action`, `Sequence`) VALUES ('RemoveEnvironmentStrings', 3300)
INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`) VALUES ('UndoUninstallService', 'REMOVE="ALL" AND NOT UPGRADINGPRODUCTCODE AND (NOT CURRENTPRODUCT OR CURRENTPRODUCT=ProductCode)', 3401)
INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`) VALUES ('UninstallService', 'REMOVE="ALL" AND NOT UPGRADINGPRODUCTCODE AND (NOT CURRENTPRODUCT OR CURRENTPRODUCT=ProductCode)', 3402)
INSERT INTO `InstallExecuteSequence` (`Action`, `Sequence`) VALUES ('WriteEnvironmentStrings', 5200)
INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`) VALUES ('UndoInstallService', 'NOT SERVICEPATH AND NOT REMOVE', 5801)
INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`) VALUES ('InstallService', 'NOT SERVICEPATH AND NOT REMOVE', 5802)
INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`) VALUES ('UndoUpgradeStore', 'WIX_UPGRADE_DETECTED', 5803)
INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`) VALUES ('UpgradeStore', 'WIX_UPGRADE_DETECTED', 5804)
INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`) VALUES ('UndoStartService', '(WIX_UPGRADE_DETECTED OR REINSTALL OR ERPDSN) AND NOT REMOVE AND NOT START="0"', 5805)
INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`) VALUES ('StartService', '(WIX_UPGRADE_DETECTED OR REINSTALL OR ERPDSN) AND NOT REMOVE AND NOT START="0"', 5806)
INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`) VALUES ('RemoveData', 'REMOVE="ALL" AND NOT UPGRADINGPRODUCTCODE AND (NOT CURRENTPRODUCT OR CURRENTPRODUCT=ProductCode) AND PURGE="1"', 6599)
INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`) VALUES ('ForgetERPDSN', 'ERPDSN', 6602)

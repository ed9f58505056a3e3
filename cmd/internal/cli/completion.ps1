# PowerShell completion of PROGRAM:  PROGRAM completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName 'PROGRAM', 'PROGRAM.exe' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
    $cursor = $words.Count - 1
    if ($wordToComplete -eq '') { $cursor = $words.Count }
    $given = @($words | ForEach-Object { $_.Trim('"''') })
    & $given[0] __complete powershell $cursor @given 2>$null | ForEach-Object {
        $value, $meaning = $_ -split "`t", 2
        $text = $value
        if ($value -match '[ <>]') { $text = '"' + $value + '"' }
        if (-not $meaning) { $meaning = $value }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $meaning)
    }
}

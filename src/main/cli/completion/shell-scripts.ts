/** Asks for completions. Takes the words before the cursor, then the word at the cursor followed by a dot. */
export const COMPLETE_COMMAND = '__complete'

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const

export type Shell = (typeof SHELLS)[number]

// Each script passes the words to `sluice __complete` and shows what that prints (complete-words.ts). The dot
// keeps the word at the cursor from being empty, which PowerShell would drop.

// Also runs in the bash 3.2 of macOS. Readline splits words at `=` and `:`; they are joined again, and only
// what follows the last of these is replaced.
const BASH = String.raw`# bash completion for sluice. Written by: sluice completion bash
_sluice() {
  local words=() glue= word i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ -n $glue || $word =~ ^[=:]+$ ]] && ((\${#words[@]} > 0)); then
      words[\${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    if [[ $word =~ ^[=:]+$ ]]; then glue=1; else glue=; fi
  done
  local tail=\${COMP_WORDS[COMP_CWORD]}
  [[ $tail =~ ^[=:]+$ ]] && tail=
  local current=\${words[\${#words[@]}-1]}
  local head=\${current%"$tail"}
  unset "words[\${#words[@]}-1]"
  local paths= value
  COMPREPLY=()
  while IFS=$'\t' read -r value _; do
    # Names may have spaces.
    if [[ -z $paths ]]; then paths=$value; else COMPREPLY+=("$(printf %q "\${value#"$head"}")"); fi
  done < <("$1" ${COMPLETE_COMMAND} \${words[@]+"\${words[@]}"} "$current." 2>/dev/null)
  local flag=
  [[ $paths == files ]] && flag=-f
  [[ $paths == folders ]] && flag=-d
  if [[ -n $flag ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen "$flag" -- "$tail")
  fi
}
complete -F _sluice sluice
`.replaceAll('\\$', '$')

const ZSH = String.raw`#compdef sluice
# zsh completion for sluice. Written by: sluice completion zsh
_sluice() {
  local -a lines described
  local line value
  lines=("\${(@f)$("$words[1]" ${COMPLETE_COMMAND} "\${(@Q)words[2,CURRENT-1]}" "\${(Q)words[CURRENT]}." 2>/dev/null)}")
  for line in "\${(@)lines[2,-1]}"; do
    value=\${line%%$'\t'*}
    described+=("\${value//:/\\:}:\${line#*$'\t'}")
  done
  (( $#described )) && _describe -V 'sluice' described
  compset -P '--*='
  case $lines[1] in
    files) _files ;;
    folders) _files -/ ;;
  esac
}
if [[ $funcstack[1] == _sluice ]]; then _sluice "$@"; else compdef _sluice sluice; fi
`.replaceAll('\\$', '$')

const FISH = String.raw`# fish completion for sluice. Written by: sluice completion fish
function __sluice_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] ${COMPLETE_COMMAND} $words[2..-1] "$current." 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path "$current"
        case folders
            __fish_complete_directories "$current" ''
    end
    test (count $lines) -gt 1; and printf '%s\n' $lines[2..-1]
end
complete -c sluice -f -a '(__sluice_complete)'
`

const POWERSHELL = String.raw`# PowerShell completion for sluice. Written by: sluice completion powershell
Register-ArgumentCompleter -Native -CommandName sluice -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text.Trim("'", '"') })
    # Where only paths fit, nothing is returned, and PowerShell offers paths.
    & sluice ${COMPLETE_COMMAND} @words "$wordToComplete." 2>$null | Select-Object -Skip 1 | ForEach-Object {
        $value, $about = $_ -split "\t", 2
        if (-not $about) { $about = $value }
        # Names may have spaces.
        $text = if ($value -match '^[\w./:=@%+,-]+$') { $value } else { "'" + $value.Replace("'", "''") + "'" }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $about)
    }
}
`.replaceAll('"\\t"', '"`t"')

/** The script that a shell reads to complete `sluice`. */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: BASH,
  zsh: ZSH,
  fish: FISH,
  powershell: POWERSHELL,
}

import { Argument, type Command } from 'commander'
import { EXIT } from '../../../shared/messages/error-entry.ts'
import { COMPLETION_SCRIPTS, SHELLS, type Shell } from '../completion/shell-scripts.ts'
import type { CliContext } from '../context.ts'
import { addExamples } from '../options/shared-options.ts'

/** Adds `completion SHELL`: a script that completes commands, options, files, runs and connections. */
export function addCompletionCommand(program: Command, context: CliContext): void {
  const command = program
    .command('completion')
    .addArgument(new Argument('<shell>', SHELLS.join(', ')).choices(SHELLS))
    .description(
      'Prints a script that adds completion to your shell: commands, options, files, runs and connections. It works with the ' +
        'installed `sluice`. To install it:\n\n' +
        '  bash        sluice completion bash > ~/.local/share/bash-completion/completions/sluice\n' +
        '  zsh         sluice completion zsh > "$fpath[1]/_sluice"\n' +
        '  fish        sluice completion fish > ~/.config/fish/completions/sluice.fish\n' +
        '  PowerShell  sluice completion powershell >> $PROFILE\n\n' +
        'Then start a new shell.',
    )
    .action(async (shell: Shell) => {
      await context.out.write(COMPLETION_SCRIPTS[shell])
      context.exitCode = EXIT.ok
    })
  addExamples(command, ['completion bash', 'completion powershell'])
}

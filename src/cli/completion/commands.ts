import { oneOf } from '../command-line/value-kinds.ts'
import { defineCommand } from '../command-line/define-command.ts'
import type { CliCommand } from '../command.ts'
import { required } from '../options.ts'

/** Declares `facegate completion` for all commands. */
export function completionCommand(commands: () => readonly CliCommand[]): CliCommand {
  return defineCommand({
    name: 'completion',
    summary: 'print a script that completes commands, options and values in a shell',
    hasJson: false,
    arguments: {
      shell: required('<shell>', 'the shell', oneOf(['bash', 'zsh', 'fish'])),
    },
    description: [
      'bash: add the line `source <(facegate completion bash)` to ~/.bashrc.',
      'zsh: add the line `source <(facegate completion zsh)` to ~/.zshrc, after compinit.',
      'fish: run `facegate completion fish > ~/.config/fish/completions/facegate.fish`.',
    ].join('\n'),
    examples: ['source <(facegate completion bash)'],
    run: async ({ shell }) => {
      const { completionScript } = await import('./completion-script.ts')
      console.log(await completionScript(shell, commands()))
    },
  })
}

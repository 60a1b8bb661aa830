import type { CliCommand } from '../../../src/cli/command.ts'
import {
  argumentLines,
  formatUsage,
  optionLines,
  type HelpLine,
} from '../../../src/cli/command-line/format-help.ts'
import { commands } from '../../../src/cli/commands.ts'
import { markdownTable } from './markdown-table.ts'

/** Returns `docs/reference/cli.md`: every command, from its declaration. */
export function cliPage(): string {
  return `${[
    introduction,
    markdownTable(
      ['Command', 'What it does'],
      commands.map(({ name, summary }) => [`[\`facegate ${name}\`](#facegate-${name})`, summary]),
    ),
    exitCodes,
    completion,
    ...commands.flatMap((command) => sections(command, [command.name])),
  ].join('\n\n')}\n`
}

const introduction = `# Command line

Generated from the declarations of the commands by \`npm run docs\`; do not edit.

\`npx facegate <command>\` in the folder of the installation, or \`facegate <command>\` where the package or the image provides it. Commands read the settings of the environment ([configuration.md](../configuration.md)) as the service does: with another \`DATA_DIR\` or \`DATABASE_URL\`, pass the same to both. \`import\` alone uses the HTTP API, so it runs on any machine.

\`-h\` or \`--help\` after a command prints its options and examples, \`--version\` the version. A mistyped name is answered with the nearest one. With \`--json\` a command prints one JSON value for scripts; messages and progress go to standard error.`

const exitCodes = `## Exit codes

| Code | Meaning |
|---|---|
| 0 | The command succeeded. |
| 1 | The command failed, or a part of its work was refused; the reason is on standard error. |
| 2 | The command line is not valid: one line on standard error. Nothing was changed. |
| 130 | Ctrl-C ended the command. |`

const completion = `## Completion

\`\`\`sh skip="changes the shell of the reader"
source <(facegate completion bash)     # in ~/.bashrc
source <(facegate completion zsh)      # in ~/.zshrc, after compinit
facegate completion fish > ~/.config/fish/completions/facegate.fish
\`\`\`

The scripts complete commands, options, names of actions, permissions and error codes, and files. They start no process.`

/** Returns the section of a command, and those of the commands of a group. */
function sections(command: CliCommand, path: readonly string[]): string[] {
  const { summary, description, examples } = command
  const name = ['facegate', ...path].join(' ')
  const lines = [
    ...argumentLines(command),
    ...(command.commands.length > 0 ? [] : optionLines(command)),
  ]
  const own = [
    `${path.length === 1 ? '##' : '###'} ${name}`,
    `${capitalize(summary)}.`,
    command.commands.length > 0 ? '' : codeBlock(formatUsage(command, path)),
    lines.length > 0 ? table(lines) : '',
    ...description.split('\n').map(toMarkdown),
    examples.length > 0 ? `Examples:\n\n${codeBlock(examples.join('\n'))}` : '',
  ]
  return [
    ...own.filter((block) => block !== ''),
    ...command.commands.flatMap((inner) => sections(inner, [...path, inner.name])),
  ]
}

function table(lines: readonly HelpLine[]): string {
  return markdownTable(
    ['Option', 'Meaning'],
    lines.map(([name, text]) => [`\`${name}\``, toMarkdown(text)]),
  )
}

function codeBlock(text: string): string {
  return `\`\`\`text\n${text.replaceAll(/^ {2}/gmu, '')}\n\`\`\``
}

/** Escapes `<`, which would begin an element of HTML, and formats options as code, except in code spans. */
function toMarkdown(text: string): string {
  return text.replaceAll(/`[^`]*`|<|(?<=\s|^)--?[a-z][a-z-]*/gu, (part) => {
    if (part === '<') return '&lt;'
    return part.startsWith('`') ? part : `\`${part}\``
  })
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

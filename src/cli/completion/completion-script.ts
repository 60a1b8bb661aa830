import type { CliCommand } from '../command.ts'
import { bashScript } from './bash-script.ts'
import { completionNodes } from './completion-nodes.ts'
import { fishScript } from './fish-script.ts'
import { zshScript } from './zsh-script.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

/** Returns the completion script of a shell for all commands. */
export async function completionScript(
  shell: keyof typeof scripts,
  commands: readonly CliCommand[],
): Promise<string> {
  return scripts[shell](await completionNodes(commands))
}

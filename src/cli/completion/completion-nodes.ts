import { resolveChoices } from '../command-line/value-kinds.ts'
import type { CliCommand, ValueDeclaration } from '../command.ts'

export type CompletedValue = NonNullable<Awaited<ReturnType<typeof toValue>>>

export type CompletedOption = {
  readonly name: string
  readonly summary: string
  /** Undefined for an option without a value. */
  readonly value: CompletedValue | undefined
}

/** What a shell completes after the names of a command. */
export type CompletionNode = {
  /** The names of the command, separated by spaces; empty for `facegate` alone. */
  readonly path: string
  /** The commands of a group. */
  readonly commands: readonly Pick<CliCommand, 'name' | 'summary'>[]
  readonly options: readonly CompletedOption[]
  /** The first argument; undefined if there is none. */
  readonly argument: CompletedValue | undefined
}

/** Returns a node for `facegate`, for each group and for each command. */
export async function completionNodes(commands: readonly CliCommand[]) {
  const root: CompletionNode = {
    path: '',
    commands: [...commands, { name: 'help', summary: 'print the help of a command' }],
    options: [helpOption, { name: 'version', summary: 'print the version', value: undefined }],
    argument: undefined,
  }
  return [root, ...(await nodesOf(commands, ''))]
}

async function nodesOf(commands: readonly CliCommand[], parent: string): Promise<CompletionNode[]> {
  const nodes: CompletionNode[] = []
  for (const command of commands) {
    const path = `${parent} ${command.name}`.trim()
    nodes.push(await toNode(command, path), ...(await nodesOf(command.commands, path)))
  }
  return nodes
}

const helpOption: CompletedOption = { name: 'help', summary: 'print help', value: undefined }

async function toNode(command: CliCommand, path: string): Promise<CompletionNode> {
  const options: CompletedOption[] = []
  for (const [name, declaration] of Object.entries(command.options))
    options.push({ name, summary: declaration.summary, value: await toValue(declaration) })
  const [argument] = Object.values(command.arguments)
  return {
    path,
    commands: command.commands,
    options: [...options, helpOption],
    argument: argument && (await toValue(argument)),
  }
}

/** Returns what a shell completes as a value. */
async function toValue(declaration: ValueDeclaration) {
  const { form, choices = [], isList = false, completes } = declaration
  if (form === undefined) return undefined
  return { choices: await resolveChoices(choices), isList, completes }
}

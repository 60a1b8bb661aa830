import { readFile } from 'node:fs/promises'
import { resolveChoices } from '../command-line/value-kinds.ts'
import type { CliCommand, ValueDeclaration } from '../command.ts'

/**
 * Returns the completion script of a shell for all commands. The script of bash uses nothing of the
 * package bash-completion; that of zsh can be sourced or put in a folder of fpath.
 */
export async function completionScript(
  shell: 'bash' | 'zsh' | 'fish',
  commands: readonly CliCommand[],
): Promise<string> {
  const nodes = await completionNodes(commands)
  const parts: ScriptParts =
    shell === 'fish'
      ? {
          PATHS: commandPaths(nodes).map(quoteFish).join(' '),
          COMPLETIONS: nodes.flatMap(fishCompletions).join('\n'),
        }
      : caseParts(nodes, shell)
  const script = await readFile(new URL(`facegate.${shell}`, import.meta.url), 'utf8')
  return script.trimEnd().replaceAll(/@(\w+)@/gu, (_, part: string) => parts[part] ?? '')
}

/** The text of each `@PART@` of a script. */
type ScriptParts = Readonly<Record<string, string>>

/** The patterns of the `case` statements of bash and zsh. */
function caseParts(nodes: readonly CompletionNode[], shell: 'bash' | 'zsh'): ScriptParts {
  const syntax = shell === 'bash' ? bash : zsh
  return {
    PATHS: commandPaths(nodes).map(quoteText).join('|'),
    OPTION_VALUES: nodes.flatMap(optionValues).join('\n'),
    ARGUMENTS: nodes.flatMap(argumentsOf).join('\n'),
    OPTIONS: nodes
      .map((node) => `      ${quoteText(node.path)}) ${syntax.options(node)} ;;`)
      .join('\n'),
  }

  function optionValues({ path, options }: CompletionNode): string[] {
    return options.flatMap(({ name, value }) =>
      value ? [`    ${quoteText(`${path} --${name}`)}) ${syntax.value(value)}return ;;`] : [],
    )
  }

  /** The completion of what is not an option: commands, or the first argument. */
  function argumentsOf(node: CompletionNode): string[] {
    const { path, commands, argument } = node
    if (commands.length > 0) return [`      ${quoteText(path)}) ${syntax.commands(node)} ;;`]
    return argument ? [`      ${quoteText(path)}) ${syntax.value(argument)}return ;;`] : []
  }
}

/** The statements that complete the values, commands or options of a node. */
type ShellSyntax = {
  readonly value: (value: CompletedValue) => string
  readonly commands: (node: CompletionNode) => string
  readonly options: (node: CompletionNode) => string
}

const bash: ShellSyntax = {
  value: ({ choices, isList, completes }) => {
    if (completes !== undefined)
      return `_facegate_files ${completes === 'file' ? '-f' : '-d'} "$cur"; `
    if (choices.length === 0) return ''
    const words = quoteText(choices.join(' '))
    return isList ? `_facegate_list ${words} "$cur"; ` : `_facegate_add -W ${words} -- "$cur"; `
  },
  commands: ({ commands }) => `words=${quoteText(commands.map(({ name }) => name).join(' '))}`,
  options: ({ options }) => `words=${quoteText(options.map(({ name }) => `--${name}`).join(' '))}`,
}

const zsh: ShellSyntax = {
  value: ({ choices, isList, completes }) => {
    if (completes !== undefined) return completes === 'file' ? '_files; ' : '_files -/; '
    if (choices.length === 0) return ''
    const words = choices.map(quoteText).join(' ')
    return isList ? `compset -P '*,'; compadd -S '' -- ${words}; ` : `compadd -- ${words}; `
  },
  commands: ({ commands }) => {
    const items = commands.map(({ name, summary }) => quoteText(`${name}:${summary}`)).join(' ')
    return `items=(${items}); _describe command items`
  },
  options: ({ options }) => {
    const items = options.map(({ name, summary }) => quoteText(`--${name}:${summary}`)).join(' ')
    return `items=(${items}); _describe -o option items`
  },
}

/** Returns the paths of all commands, each as the path of its group, a space and its name. */
function commandPaths(nodes: readonly CompletionNode[]): string[] {
  return nodes.flatMap(({ path, commands }) => commands.map(({ name }) => `${path} ${name}`))
}

/** Returns a text in single quotes for bash and zsh. */
function quoteText(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** Returns the statements that complete the commands, options and argument of a node. */
function fishCompletions({ path, commands, options, argument }: CompletionNode): string[] {
  const condition = `complete -c facegate -n ${quoteFish(`__facegate_is '${path}'`)}`
  return [
    ...commands.map(
      ({ name, summary }) => `${condition} -a ${quoteFish(name)} -d ${quoteFish(summary)}`,
    ),
    ...options.map((option) => `${condition} ${optionParts(option)}`),
    ...(argument ? [`${condition}${valueParts(argument)}`] : []),
  ]
}

function optionParts({ name, summary, value }: CompletedOption): string {
  const short = name === 'help' ? ' -s h' : ''
  const takesValue = value === undefined ? '' : ` -r${valueParts(value)}`
  return `-l ${name}${short} -d ${quoteFish(summary)}${takesValue}`
}

function valueParts({ choices, isList, completes }: CompletedValue): string {
  if (completes === 'file') return ' -F'
  if (completes === 'folder') return ` -a ${quoteFish('(__fish_complete_directories)')}`
  if (choices.length === 0) return ' -f'
  const words = choices.map((choice) => (choice === '*' ? String.raw`\*` : choice)).join(' ')
  if (!isList) return ` -f -a ${quoteFish(words)}`
  return ` -f -a ${quoteFish(`(__fish_complete_list , 'string split " " -- "${choices.join(' ')}"')`)}`
}

/** Returns a text in single quotes for fish. */
function quoteFish(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`
}

type CompletedValue = NonNullable<Awaited<ReturnType<typeof toValue>>>

type CompletedOption = {
  readonly name: string
  readonly summary: string
  /** Undefined for an option without a value. */
  readonly value: CompletedValue | undefined
}

/** What a shell completes after the names of a command. */
type CompletionNode = {
  /** The names of the command, separated by spaces; empty for `facegate` alone. */
  readonly path: string
  /** The commands of a group. */
  readonly commands: readonly Pick<CliCommand, 'name' | 'summary'>[]
  readonly options: readonly CompletedOption[]
  /** The first argument; undefined if there is none. */
  readonly argument: CompletedValue | undefined
}

/** Returns a node for `facegate`, for each group and for each command. */
async function completionNodes(commands: readonly CliCommand[]) {
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

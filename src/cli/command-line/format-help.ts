import type { CliCommand, ValueDeclaration } from '../command.ts'

/** Columns of a line of help, so that it fits a terminal of the usual width. */
const columnsMax = 90

/** A name of an option or a command with its explanation. */
export type HelpLine = readonly [name: string, text: string]

/** Returns the help of the whole command line: the list of commands. */
export function formatOverview(commands: readonly CliCommand[], version: string): string {
  return joinBlocks([
    `facegate ${version}: a self-hosted face recognition service`,
    `Usage:\n  facegate <command> [options]`,
    `Commands:\n${formatLines(commandLines(commands))}`,
    `Options:\n${formatLines([helpLine, ['-v, --version', 'print the version']])}`,
    'Run facegate <command> --help for the options and examples of a command.',
  ])
}

/** Returns the help of a command or a group. @param path its names, without `facegate`. */
export function formatHelp(command: CliCommand, path: readonly string[]): string {
  const { summary, description, examples, commands } = command
  const name = ['facegate', ...path].join(' ')
  return joinBlocks([
    wrap(`${name}: ${summary}`, columnsMax).join('\n'),
    `Usage:\n${formatUsage(command, path)}`,
    commands.length > 0 ? `Commands:\n${formatLines(commandLines(commands))}` : '',
    section('Arguments', argumentLines(command)),
    section('Options', optionLines(command)),
    description
      .split('\n')
      .map((paragraph) => wrap(paragraph, columnsMax).join('\n'))
      .join('\n\n'),
    examples.length > 0 ? `Examples:\n${examples.map((line) => `  ${line}`).join('\n')}` : '',
    commands.length > 0 ? `Run ${name} <command> --help for the options of a command.` : '',
  ])
}

/** Returns the form of a command, with two leading spaces and wrapped. */
export function formatUsage(command: CliCommand, path: readonly string[]): string {
  const name = ['facegate', ...path].join(' ')
  const parts = command.commands.length > 0 ? ['<command>', '[options]'] : usageParts(command)
  const indent = ' '.repeat(Math.min(name.length + 3, 24))
  return wrapParts(parts, columnsMax - indent.length)
    .map((line, index) => (index === 0 ? `  ${name} ${line}` : `${indent}${line}`).trimEnd())
    .join('\n')
}

/** Returns the arguments of a command with their explanations. */
export function argumentLines(command: CliCommand): HelpLine[] {
  return Object.values(command.arguments).map((declaration) => [
    declaration.form ?? '',
    explain(declaration),
  ])
}

/** Returns the options of a command with their explanations, `--help` last. */
export function optionLines(command: CliCommand): HelpLine[] {
  const lines = Object.entries(command.options).map(([name, declaration]): HelpLine => [
    optionForm(name, declaration),
    explain(declaration),
  ])
  return [...lines, helpLine]
}

const helpLine: HelpLine = ['-h, --help', 'print this help']

function commandLines(commands: readonly CliCommand[]): HelpLine[] {
  return commands.map(({ name, summary }) => [name, summary])
}

function optionForm(name: string, { form }: ValueDeclaration): string {
  return form === undefined ? `--${name}` : `--${name} ${form}`
}

/** Returns the summary with what the declaration adds to it. */
function explain(declaration: ValueDeclaration): string {
  const { summary, rule, completes, isRequired, isRepeatable, form } = declaration
  const notes = [
    ...(isRequired && form?.startsWith('<') === true ? ['required'] : []),
    ...(rule === undefined || completes !== undefined ? [] : [rule]),
    ...(declaration.default === undefined ? [] : [`default: ${declaration.default}`]),
    ...(isRepeatable ? ['may be repeated'] : []),
  ]
  return notes.length === 0 ? summary : `${summary} (${notes.join('; ')})`
}

function usageParts(command: CliCommand): string[] {
  const positionals = Object.values(command.arguments).map((declaration) => {
    const form = `${declaration.form}${declaration.isRepeatable ? '…' : ''}`
    return declaration.isRequired ? form : `[${form}]`
  })
  const options = Object.entries(command.options)
  const isRequired = ([, declaration]: (typeof options)[number]): boolean => declaration.isRequired
  return [
    ...positionals,
    ...options.filter(isRequired).map(([name, declaration]) => optionForm(name, declaration)),
    ...options
      .filter((option) => !isRequired(option))
      .map(([name, declaration]) => `[${optionForm(name, declaration)}]`),
  ]
}

function section(title: string, lines: readonly HelpLine[]): string {
  return lines.length === 0 ? '' : `${title}:\n${formatLines(lines)}`
}

/** The widest name that shares a line with its explanation. */
const nameColumnsMax = 30

function formatLines(lines: readonly HelpLine[]): string {
  const width = Math.min(nameColumnsMax, Math.max(...lines.map(([name]) => name.length)))
  const indent = ' '.repeat(width + 4)
  return lines
    .flatMap(([name, text]) => {
      const wrapped = wrap(text, columnsMax - indent.length)
      const [first = '', ...others] = name.length > width ? ['', ...wrapped] : wrapped
      return [
        `  ${name.padEnd(width)}  ${first}`.trimEnd(),
        ...others.map((line) => `${indent}${line}`),
      ]
    })
    .join('\n')
}

function wrap(text: string, columns: number): string[] {
  return wrapParts(text.split(' '), columns)
}

/** Joins parts with spaces into lines of at most `columns`; a part is never divided. */
function wrapParts(parts: readonly string[], columns: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const part of parts) {
    if (line !== '' && line.length + 1 + part.length > columns) {
      lines.push(line)
      line = part
    } else line = line === '' ? part : `${line} ${part}`
  }
  return [...lines, line]
}

function joinBlocks(blocks: readonly string[]): string {
  return blocks.filter((block) => block !== '').join('\n\n')
}

import { backup } from './backup.ts'
import { budget } from './budget.ts'
import { UsageError, type Command } from './command.ts'
import { consoleLink } from './console.ts'
import { deletions } from './deletions.ts'
import { evaluate } from './evaluate.ts'
import { importFaces } from './import.ts'
import { key } from './key.ts'
import { keys } from './keys.ts'
import { ledger } from './ledger.ts'
import { log } from './log.ts'
import { migrate } from './migrate.ts'
import { models } from './models.ts'
import { price } from './price.ts'
import { project } from './project.ts'
import { restore } from './restore.ts'
import { serve } from './serve.ts'
import { wallet } from './wallet.ts'

const commands: readonly Command[] = [
  serve,
  importFaces,
  project,
  key,
  keys,
  consoleLink,
  wallet,
  budget,
  price,
  log,
  models,
  migrate,
  ledger,
  backup,
  restore,
  deletions,
  evaluate,
]

const [name, ...args] = process.argv.slice(2)
process.exitCode = await main(name, args)

async function main(name: string | undefined, args: readonly string[]): Promise<number> {
  if (name === undefined || name === '--help' || name === 'help') {
    console.log(overview())
    return name === undefined ? 2 : 0
  }
  const command = commands.find((candidate) => candidate.name === name)
  if (!command) return complain(`there is no command ${name}; see facegate --help`, 2)
  if (args.includes('--help')) {
    console.log(`${command.summary}\n\n${command.usage}`)
    return 0
  }
  try {
    await command.run(args)
    return 0
  } catch (error) {
    const isUsage = error instanceof UsageError || isParseArgsError(error)
    const hint = isUsage ? `; see facegate ${name} --help` : ''
    return complain(`${messageOf(error)}${hint}`, isUsage ? 2 : 1)
  }
}

function overview(): string {
  const width = Math.max(...commands.map((command) => command.name.length))
  const lines = commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`)
  return `facegate <command>\n\n${lines.join('\n')}\n\nfacegate <command> --help tells more.`
}

function complain(message: string, exitCode: number): number {
  console.error(`facegate: ${message}`)
  return exitCode
}

function isParseArgsError(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
  )
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
